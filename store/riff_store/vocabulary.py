"""List the words of a filter: each field's kind, and whether it speaks of calls, of states or of shown rows."""

from collections.abc import Collection, Iterable, Mapping
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

from riff_store import metrics

FieldKind: TypeAlias = Literal["name", "number", "flag", "time"]
Level: TypeAlias = Literal["call", "state", "row"]

START, NONE_FOUND, SEVERAL = "(start)", "(none found)", "(several)"
UNKNOWN_SEGMENT = "other"
"""The segment of states of which nothing tells another."""
FAILURES_OF_STEPS = (
    "wrong action", "refused action", "missing action", "missing answer", "missing step", "wrong arguments"
)  # fmt: skip
"""The kinds of what goes wrong that are about the task; `missing action` is also of a state that names a tool."""
MARKED = "marked"
"""The kind of what a person said went wrong first; the code that it was given is its detail."""

COMPUTED = "(computed)"
"""Quality in the eyes of no judge: humanness left out."""

QUALITY = "quality"
"""The response unless an aspect is asked for: operability of a call in the eyes of one judge."""

PERSON = "human:"
"""What the name of a judge begins with that is a person; the author follows."""


class Field(NamedTuple):
    """Describe a word that a filter knows.

    `level` shows what has it: a call, a state's row of a call, or nothing but the rows of some view. A field that
    `spreads` has a value for each of several names (a judge's mean for each judge): bare it speaks of any of them, with
    a suffix (`humanness.codex`) of one. A `share` of 0 to 1 can be written in percent.
    """

    name: str
    kind: FieldKind
    level: Level
    spreads: bool = False
    share: bool = False


TOOL_FIELDS = ("tool", "tool_error")
"""The names of tools: those that were called, those of which a call failed; `STATE/TOOL` is one in a state."""

SAID_FIELDS = {"said": None, "agent_said": "agent", "caller_said": "caller"}
"""What was said in a call, by anybody or by one side: the transcripts are searched for it."""

STEP_FIELDS = ("expected_step", "missed_step", "wrong_step")
"""The names of steps of a call's task: all of them, those never taken, those taken with other arguments."""


WAYS = {"went_to": ("from_state", "to_state"), "came_from": ("to_state", "from_state")}
"""The states that a call went to from a state, or came from: which end of a step is that state, and which the other.

`went_to=·` is where it ended there, and `came_from=·` where it began there: it was in it once more than it took steps.
"""

TOUCHED_FIELDS = ("visited", "edge", "slot", "guard")
"""The names of what a call touched of its flow: states and outcomes that it came to, steps (`A > B`), slots, guards.

A guard has how it turned out before its name: `passed`, `failed` or `error`.
"""

CoverageKind: TypeAlias = Literal["state", "edge", "slot", "guard", "terminal", "tool"]
FIELD_OF_KIND: Mapping[CoverageKind, str] = {
    "state": "visited", "edge": "edge", "slot": "slot", "guard": "guard", "terminal": "visited", "tool": "tool"
}  # fmt: skip
"""The field that names the calls that touched an item of a flow, by the kind of the item."""

NOTE_FIELDS = ("code", "verdict", "noted_by")
"""The names that people gave a call: codes, pass or fail, and who gave them."""
BARE_FLAGS = frozenset(("noted",))
"""Flags that are true where a filter names them by the bare word; in quotes it is text to look for."""
HOMONYMS = frozenset(("verdict",))
"""Fields of calls whose name some views give to something else, that is of their rows alone."""


def _fields(level: Level, kind: FieldKind, names: str | Iterable[str]) -> list[Field]:
    return [Field(name, kind, level) for name in (names.split() if isinstance(names, str) else names)]


_ALL = [
    *_fields("call", "name", "run conversation flow agent persona scenario caller archetype commit branch label"),
    *_fields("call", "name", "stop_reason final_state final_status route beginning judge"),
    *_fields("call", "name", "last_ok first_failed failure failure_detail failure_error failed_tool who"),
    *_fields("call", "name", STEP_FIELDS),
    *_fields("call", "name", TOOL_FIELDS),
    *_fields("call", "name", TOUCHED_FIELDS),
    *_fields("call", "name", NOTE_FIELDS),
    *_fields("call", "name", SAID_FIELDS),
    *_fields("call", "number", (*metrics.COMPUTED, *metrics.POOLED)),
    *_fields("call", "number", "trial duration_s error_count defects"),
    *_fields("call", "flag", "completed errored caller_ok success failed noted"),
    *_fields("call", "time", "started_at"),
    Field("humanness", "number", "call", spreads=True),
    Field("quality", "number", "call", spreads=True),
    *_fields("state", "name", ("state", "segment", *WAYS)),
    *_fields("state", "number", (name for name in metrics.OF_STATES if name not in metrics.OF_CALLS)),
    *_fields("row", "name", "first second highest lowest model prompt_hash prompt_version"),
    *_fields("row", "name", "worst_state least_state most_state worst_flow direction list reason reasons"),
    *_fields("row", "name", "path kind aspect"),
    *_fields("row", "number", "off suspicion"),
    *_fields("row", "flag", "new"),
    *_fields("row", "number", "n measured excluded caller_failed operability blend success_rate success_overall flows"),
    *_fields("row", "number", metrics.OF_TURNS),
    *_fields("row", "number", "worst_stall worst_n worst_operability"),
    *_fields("row", "number", "calls unrecovered bad_arguments"),
    *_fields("row", "number", "expected missed wrong_args expected_failed missed_failed wrong_failed"),
    *_fields("row", "number", "count share rank mean unscored line"),
    *_fields("row", "number", "failed_calls cohesion exact kappa kappa_unweighted spearman mean_difference spread"),
    *_fields("row", "number", "tpr tpr_n tnr tnr_n"),
    *_fields("row", "number", "groups trials pass1 pass_k k flaky always_passed always_failed"),
    *_fields("row", "name", "newly test"),
    *_fields("row", "number", "effect p p_adjusted pairs"),
    *_fields("row", "name", "author subject previous_run next_run"),
    *_fields("row", "number", "runs together quality_before quality_after change n_before n_after"),
    *_fields("row", "time", "time"),
    Field("scores", "number", "row", spreads=True),
    *_fields("row", "name", "factor level"),
    *_fields("row", "number", "alone low high observations"),
    Field("to_states", "name", "row", spreads=True),
    Field("agreement", "number", "row", spreads=True),
]

_SHARES = {
    *(
        "success_overall",
        "cohesion",
        "exact",
        "share",
        "missed",
        "wrong_args",
        "missed_failed",
        "wrong_failed",
        "worst_stall",
    ),
    *("tpr", "tnr"),
    *("pass1", "pass_k", "flaky", "always_passed", "always_failed"),
    *(metric.key for metric in metrics.METRICS if metric.unit == "share"),
}
FIELDS = {field.name: field._replace(share=field.name in _SHARES) for field in _ALL}


def _aliases() -> dict[str, str]:
    """Return what represents a field: aliases of metrics, and how their columns are headed where no field is called so.

    A title that heads two metrics represents neither.
    """
    found = {"conv": "conversation", "codes": "code"}
    found |= {alias: each.key for each in metrics.METRICS for alias in each.aliases}
    headed: dict[str, set[str]] = {}
    for metric in metrics.METRICS:
        for title in (metric.title, metric.short):
            headed.setdefault(title, set()).add(metric.key)
    for title, keys in headed.items():
        if len(keys) == 1 and title.isidentifier() and title not in FIELDS:
            found.setdefault(title, *keys)
    return dict(sorted(found.items()))


ALIASES = _aliases()
DEAD_END = "dead end"
CLASSES_OF_FAILURE = {
    MARKED: MARKED,
    "wrong action": "action", "refused action": "action", "missing action": "action",
    "missing answer": "answer",
    "missing step": "step", "wrong arguments": "step",
    "guard error": "tool or guard", "tool error": "tool or guard",
    "wrong slot": "slot", "missing slot": "slot",
    "loop": DEAD_END, "hand-off": DEAD_END, DEAD_END: DEAD_END,
    "off contract": DEAD_END,
    "none": "none",
}  # fmt: skip
"""What can go wrong in a failed call, with the class by which causes are grouped.

`none` is where nothing tells, `marked` where a person did.
"""
DIVIDED_BY_DETAIL = ("tool or guard", "slot")
DETAIL_IS_SAID = (MARKED, "missing answer")
"""The kinds of failure of which the detail is in words of people."""
"""The classes of failures of which the detail is a name that several calls share."""
FAILURE_KINDS = tuple(CLASSES_OF_FAILURE)
WHO = ("agent", "caller", "backend")
"""Whose fault a failed call can be."""
SPELLED = {"failure": ("kind", FAILURE_KINDS), "who": ("who", WHO)}
"""What is said of a failed call in one of a few words: the column that holds it, and the words."""
CALL_NAMES = (
    "run", "conversation", "flow", "agent", "persona", "scenario", "stop_reason", "final_state", "final_status"
)  # fmt: skip
"""The name columns of the list of calls, which a bare word looks through."""


def add_row_field(name: str, kind: FieldKind, *, share: bool = False) -> None:
    """Let a filter speak of a field that nothing but the rows of a view has; a word that is known stays what it is."""
    if name not in ALIASES:
        FIELDS.setdefault(name, Field(name, kind, "row", share=share))


def split_name(name: str) -> tuple[str, str | None]:
    """Return a field's name and the suffix that picks one of the values it spreads over."""
    base, dot, suffix = name.partition(".")
    return base, suffix if dot else None


def field_named(word: str) -> Field | None:
    """Return the field that a word or an alias represents, `None` for no field; other distributions are asked last."""
    known = FIELDS.get(ALIASES.get(word, word))
    if known is not None:
        return known
    return next(
        (_added(each) for each in metrics.plugins().metrics.values() if word in (each.key, *each.aliases)), None
    )


def share_of_flag(flag: str) -> Field | None:
    """Return the field that has the share of calls of which a flag is true, `None` if there is none."""
    shares = (each.key for each in metrics.METRICS if each.rate_of == flag and each.key != flag)
    return next((FIELDS[key] for key in shares), None)


def flag_of_share(name: str) -> str:
    """Return the flag of a call whose share a field has, an empty text if it has none."""
    metric = metrics.OF_CALLS.get(name)
    return metric.rate_of if metric is not None and FIELDS[metric.rate_of or name].kind == "flag" else ""


def aspect_named(name: str) -> str:
    """Return the key of the aspect that a name or an alias represents, the name itself where it represents none."""
    if name in metrics.OF_CALLS:
        return name
    listed = (metrics.OF_CALLS, metrics.plugins().metrics)
    known = (metric for each in listed for metric in each.values() if metric.is_aspect)
    return next((metric.key for metric in known if name in metric.aliases), name)


def added_fields() -> dict[str, Field]:
    """Return the fields of the aspects that other distributions add."""
    return {key: _added(metric) for key, metric in metrics.plugins().metrics.items()}


def _added(metric: metrics.Metric) -> Field:
    return Field(metric.key, "number", "call", share=metric.unit == "share")


def field_of(name: str) -> Field:
    """Return the field of a term's name, with or without a suffix; raises `KeyError` for no word at all."""
    base = split_name(name)[0]
    known = FIELDS.get(base)
    return known if known is not None else _added(metrics.plugins().metrics[base])


# Write routes as text: the states and outcomes of a call in the order in which it first came to them.
ROUTE = " > "
"""What stands between the states of a route."""


def route_text(states: Collection[str]) -> str | None:
    """Return states as one text, another one for every other route whatever they are called; `None` of no state."""
    return ROUTE.join(state.replace(">", "\\>") for state in states) if states else None


def step_text(start: str, end: str) -> str:
    """Return a step from one state to another as text, as it is in routes."""
    return f"{route_text((start,))}{ROUTE}{route_text((end,))}"


def beginnings(route: str) -> list[str]:
    """Return the routes that one begins with, the shortest first and itself last."""
    return list(accumulate(route.split(ROUTE), f"{{}}{ROUTE}{{}}".format))
