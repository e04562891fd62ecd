"""Define the columns that views share, and the figures of how the sides of voice calls shared the line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from riff_store.interaction import FEW_EVENTS, SUMS, Interaction, panel
from riff_store.metrics import COMPUTED, OF_CALLS, OF_STATES, POOLED, Metric, metric_of
from riff_tui.shapes import COUNT, NUMBER, TEXT, Shape, numbers, or_null, record
from riff_tui.table import NOT_MEASURED, Column
from riff_tui.text.numbers import counted, fixed, screen_text

if TYPE_CHECKING:
    from riff_store.queries.flows import FlowCell


FLOW = Column("flow", "Flow", kind="name", help="The dialogue that the agent has to lead the caller through.")
AGENT = Column("agent", "Agent", kind="name", help="The model that led the call.")
STATE = Column("state", "State", kind="name", help="A node of the flow's state machine.")
TOOL = Column("tool", "Tool", kind="name", help="What the agent called; `user:` marks a tool of the caller.")
SEGMENT = Column("segment", "Segment", kind="name", help="The phase of the call that the state belongs to.")
PERSONA = Column("persona", "Persona", kind="name", help="Who the simulated caller was.")
RUN = Column("run", "Run", kind="name", help="The evaluation run that the calls came from.")
SCENARIO = Column("scenario", "Scenario", kind="name", help="What the caller wanted.")
CALLER = Column("caller", "Caller", kind="name", help="What played the caller: a script, a model or a program.")
ARCHETYPE = Column("archetype", "Archetype", kind="name", help="The family of flows: booking, dispatch, inquiry, …")
COMMIT = Column("commit", "Commit", kind="name", help="The commit that the run was made from.")
CONVERSATION = Column(
    "conversation", "Conversation", kind="name", help="The call's id, of which a run may have several calls."
)
STARTED = Column("started_at", "Started (UTC)", kind="time", help="When the first call of the run started.")
FLOWS = Column("flows", "flows", kind="count", help="Flows that the run called.")
BUILT_FROM = Column("commit", "Commit", kind="text", help="The commit that was evaluated.")
WORST_STATE = Column(
    "worst_state", "worst member", kind="text", help="The state of the segment that a mean would hide."
)
INTERVAL = "intervals."
_NAMES = (FLOW, AGENT, TOOL, STATE, SEGMENT, PERSONA, RUN, SCENARIO, CALLER, ARCHETYPE, COMMIT)
KEYS = {column.key: column for column in _NAMES}
HIDDEN_SEGMENT = SEGMENT._replace(shown=False)

N = Column("n", "n", kind="count", thin=True, help="Calls behind the row; below 5 it is thin and carries `~`.")
FAILED = Column(
    "failed", "failed", kind="count", better="lower", strong=True,
    help="Calls that were not served, correct and complete, as far as that is known.",
)  # fmt: skip
FAILED_HERE = FAILED._replace(pasted=False, help="Failed calls that are blamed on this place: what went wrong first.")
MEASURED = Column(
    "measured", "measured", kind="count", shown=False, help="Calls of which it is known whether they succeeded."
)
EXCLUDED = Column(
    "excluded",
    "excluded",
    kind="count",
    shown=False,
    help="Errored calls, not counted in averages: they are not the flow's fault.",
)

CALLER_FAILED = Column(
    "caller_failed",
    "caller failed",
    kind="count",
    shown=False,
    short="clr fail",
    help="Calls among the excluded ones whose caller failed: that is not the agent's fault.",
)


def column_of(metric: Metric) -> Column:
    """Return the column of a metric."""
    return Column(
        metric.key, metric.title, kind="count" if metric.unit == "calls" else "number",
        unit=metric.unit, better=metric.better, decimals=metric.decimals, trim=metric.trim,
        strong=metric.strong, strong_title=metric.strong_title, shown=metric.shown, help=metric.help,
        pasted=metric.pasted, short=metric.short,
    )  # fmt: skip


def share(key: str, title: str, *, trim: bool = True, **given: Any) -> Column:
    """Return the column of a share of calls."""
    return Column(key, title, unit="share", decimals=2, trim=trim, **given)


OPERABILITY = column_of(OF_CALLS["operability"])
BLEND = column_of(OF_CALLS["blend"])
SUCCESS = column_of(OF_CALLS["success_rate"])._replace(decimals=2, trim=True, graded=True)
OVERALL = SUCCESS._replace(
    key="success_overall",
    title="overall",
    short="",
    shown=False,
    strong=False,
    help="The success rate with the calls whose caller failed counted as they ended; success leaves them out.",
)
QUALITY = column_of(OF_CALLS["quality"])
CORRECTNESS = column_of(OF_CALLS["correctness"])
COMPLETION = column_of(OF_CALLS["completion"])
ASPECTS: Sequence[Column] = tuple(column_of(OF_CALLS[key]) for key in COMPUTED if not OF_CALLS[key].optional)
STATE_METRICS: Sequence[Column] = tuple(column_of(metric) for metric in OF_STATES.values())
LOST = next(column for column in STATE_METRICS if column.key == "lost")
STATE_METRIC_KEYS = tuple(column.key for column in STATE_METRICS)

EXPECTED = Column("expected", "expected", kind="count", short="exp", help="Calls whose task asks for this step.")
MISSED = share("missed", "missed", better="lower", help="Calls that never took this step, of those that had to.")
WRONG_ARGS = share(
    "wrong_args", "wrong_args", better="lower", short="wrong",
    help="Calls that took this step with other arguments than the reference, of those that had to take it.",
)  # fmt: skip
BY = Column("by", "by", kind="name", shown=False, help="Who has to take this step: the agent or the caller.")
EXPECTED_FAILED = Column(
    "expected_failed", "exp failed", kind="count", shown=False,
    help="Calls whose task asks for this step and that were not correct.",
)  # fmt: skip
MISSED_FAILED = share(
    "missed_failed", "missed failed", better="lower", shown=False,
    help="Failed calls that never took this step, of those that had to.",
)  # fmt: skip
WRONG_FAILED = share(
    "wrong_failed", "wrong failed", better="lower", shown=False,
    help="Failed calls that took this step with other arguments, of those that had to take it.",
)  # fmt: skip
STEPS: Sequence[Column] = (EXPECTED, MISSED, WRONG_ARGS, BY, EXPECTED_FAILED, MISSED_FAILED, WRONG_FAILED)
TO_STATES = Column(
    "to_states", "to_states", kind="object", shown=False, help="Where the state led to, with the count of each."
)


STEP: Mapping[str, Shape] = {
    **numbers(("missed", "wrong_args", "missed_failed", "wrong_failed")),
    **dict.fromkeys(("expected", "expected_failed"), or_null(COUNT)),
    "by": or_null(TEXT),
}
"""What JSON has of a step, by the keys of its columns."""


def judge(name: str) -> Column:
    """Return the column of one judge's mean."""
    metric = OF_CALLS["humanness"]
    return Column(
        f"{metric.key}.{name}", f"{metric.short}:{name}", unit=metric.unit, better=metric.better,
        path=(metric.key, name), help=metric.help.format(judge=name), short=name,
    )  # fmt: skip


def added(aspects: Iterable[str]) -> list[Column]:
    """Return the columns of those aspects that not every store has; they are there to be chosen."""
    measured = set(aspects)
    own = [key for key, metric in OF_CALLS.items() if metric.optional and key in measured]
    found = (metric_of(aspect) for aspect in (*own, *sorted(measured - OF_CALLS.keys())))
    return [column_of(metric)._replace(shown=False) for metric in found if metric is not None]


def units_of(aspects: Iterable[str]) -> str:
    """Return what a note on units adds for those aspects that not every store has, nothing if there are none."""
    there = set(aspects)
    return "".join(
        f" · {metric.key} {metric.unit}{', lower is better' if metric.better == 'lower' else ''}"
        for key, metric in OF_CALLS.items()
        if metric.optional and key in there
    )


def interval(column: Column) -> Column:
    """Return the column of the 95 % interval of a metric, which is behind it."""
    return Column(
        f"{INTERVAL}{column.key}", "95 %", kind="object", path=("intervals", column.key), unit=column.unit,
        decimals=column.decimals, help=f"The 95 % interval of {column.title}.",
    )  # fmt: skip


def keys(names: Iterable[str]) -> list[Column]:
    """Return the name columns of a view, in the order asked for."""
    return [KEYS[name] for name in names]


_SOUNDS = {"backchannel": "backchannels", "vocal_tic": "vocal tics", "non_directed": "words to others"}
_INTERACTION: Mapping[str, Column] = {key: column_of(OF_CALLS[key]) for key in POOLED}


_COUNTED = (
    "n_simulations response_total yield_total backchannel_total vocal_tic_total non_directed_total"
    " agent_interrupts_count"
)
PANEL: Mapping[str, Shape] = {**numbers(POOLED), "counts": record(dict.fromkeys(_COUNTED.split(), COUNT))}
"""What JSON has of a panel of how the sides shared the line."""
INTERACTION_OF_CALL = or_null(record({**PANEL, "sums": record(dict.fromkeys(SUMS, NUMBER))}))


def interaction_columns(answers: Sequence[FlowCell]) -> list[Column]:
    """Return the columns, which are there to be chosen, none if no call has a record of who spoke when."""
    return list(_INTERACTION.values()) if any(cell.interaction_all for cell in answers) else []


def interaction_values(cell: FlowCell, found: Sequence[Column]) -> dict[str, Any]:
    """Return the values of such columns, and both panels with their counts."""
    shown, every = panel(cell.interaction), panel(cell.interaction_all)
    figures = {column.key: shown[column.key] if shown else None for column in found}
    return {**figures, "interaction": shown, "interaction_all": every}


def interaction_texts(sums: Interaction | None) -> dict[str, str]:
    """Return each figure that has events behind it as a cell: its value, and in brackets their number."""
    return {key: _with_events(key, sums) for key, figure in POOLED.items() if sums is not None and sums.events(figure)}


def interaction_record(sums: Interaction | None) -> dict[str, Any] | None:
    """Return the panel of one call, with the sums behind it, as the data formats print it."""
    figures = panel(sums)
    return figures and {**figures, "sums": {name: getattr(sums, name) for name in SUMS}}


def interaction_text(record: Mapping[str, Any] | None) -> str:
    """Return what such a record of one call reports, in counts, since a call has few events; empty without a record."""
    if not record:
        return ""
    sums = Interaction(**record["sums"])
    parts = [
        _of_events("answered", sums.response, sums.response_total, sums.response_latency),
        _of_events("yielded", sums.yielded, sums.yield_total, sums.yield_latency),
        f"interrupted {sums.agent_interruptions}×" if sums.agent_interruptions else "",
    ]
    sounds = ((getattr(sums, f"{kind}_correct"), sums.total(kind), noun) for kind, noun in _SOUNDS.items())
    unmoved = ", ".join(f"{correct}/{total} {noun}" for correct, total, noun in sounds if total)
    parts.append(f"unmoved by {unmoved}" if unmoved else "")
    return " · ".join(part for part in parts if part) or "no event"


def interaction_notes(answers: Sequence[FlowCell]) -> Iterator[str]:
    """Yield the figures of all rows together, and those that errored calls would change."""
    without = _pooled([cell.interaction for cell in answers])
    every = _pooled([cell.interaction_all for cell in answers])
    if every is None:
        return
    calls = counted(0 if without is None else without.calls, "voice call")
    figures = " · ".join(f"{_INTERACTION[key].title} {text}" for key, text in interaction_texts(without).items())
    yield (
        f"Interaction, over all events of {calls} (their number in brackets, ~ below {FEW_EVENTS}):"
        f" {figures or NOT_MEASURED}."
    )
    without = without or Interaction()
    if every.calls > without.calls:
        more = counted(every.calls - without.calls, "errored call")
        differ = (key for key in interaction_texts(every) if _pooled_value(key, without) != _pooled_value(key, every))
        changed = " · ".join(f"{_INTERACTION[key].title} {_with_events(key, every)}" for key in differ)
        yield f"Interaction with {more} as well: {changed or 'the same figures'}."


def _of_events(verb: str, count: int, total: int, seconds: float) -> str:
    if not total:
        return ""
    return f"{verb} {count}/{total}" + (f" after {fixed(seconds / count, 2)} s" if count else "")


def _pooled(found: Sequence[Interaction | None]) -> Interaction | None:
    there = [sums for sums in found if sums is not None]
    return reduce(add, there) if there else None


def _with_events(key: str, sums: Interaction) -> str:
    events = sums.events(POOLED[key])
    return f"{_pooled_value(key, sums)} ({events}{'~' if events < FEW_EVENTS else ''})"


def _pooled_value(key: str, sums: Interaction) -> str:
    unit = " s" if _INTERACTION[key].unit == "s" else ""
    return f"{screen_text(_INTERACTION[key], sums.value(POOLED[key]))}{unit}"


def several_flows(named: Iterable[Mapping[str, str | None]], by: Sequence[str] = ()) -> str:
    """Return what a title calls the rows of several flows: how many these are, and what else they are split by."""
    flows = counted(len({names["flow"] for names in named}), "flow")
    return " by ".join((flows, *(key for key in by if key != "flow")))
