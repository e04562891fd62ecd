"""What is asked at every size: each view by itself, and each kind of filter on the views that it narrows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.scale import calls, comparisons, matrices
from benchmarks.scale.question import Question

EVERY = "true"
_COMPARED = ("compare", "agent:qwen-flash", "agent:gpt-4.1-mini")


class View(NamedTuple):
    """Describe one view: the words that ask for it, the keys of its rows, and the peer's words for it."""

    command: tuple[str, ...]
    keys: tuple[str, ...]
    sql: str
    filter: str = ""
    where: str = EVERY
    ordered: bool = False


class Filter(NamedTuple):
    """Describe one kind of filter, in our words and the peer's, and the views that are asked with it."""

    kind: str
    words: str
    where: str
    views: tuple[str, ...]


_FLOW = "flow_id = (SELECT id FROM flow WHERE name = 'flow_03')"
_PLACES = ("last_ok", "first_failed")
VIEWS = {
    "flows": View(("dump", "flows"), ("flow", "agent"), matrices.FLOWS),
    "flows by persona": View(("dump", "flows", "--by", "persona"), ("persona",), matrices.PERSONAS),
    "worklist": View(("dump", "worklist"), ("list", "flow", "agent", "segment", "state"), matrices.WORKLIST),
    "segments": View(("dump", "segments"), ("flow", "segment"), matrices.SEGMENTS),
    "states": View(("dump", "states"), ("flow", "state"), matrices.STATES),
    "funnel": View(("dump", "funnel"), ("flow", "state"), matrices.FUNNEL),
    "neighbors": View(
        ("dump", "neighbors"), ("direction", "state"), matrices.NEIGHBORS, "flow=flow_03 state=triage", _FLOW
    ),
    "timeline": View(("dump", "timeline"), ("run",), matrices.TIMELINE),
    "runs": View(("dump", "runs"), ("run",), matrices.RUNS),
    "judges": View(("dump", "judges"), ("judge",), comparisons.JUDGES),
    "agreement": View(("dump", "agreement"), ("first", "second"), comparisons.AGREEMENT),
    "disputes": View(("dump", "disputes"), ("run", "conversation"), comparisons.DISPUTES, ordered=True),
    "effects": View(("dump", "effects"), ("factor", "level"), comparisons.EFFECTS),
    "compare": View(_COMPARED, ("flow", "aspect", "judge"), comparisons.COMPARE),
    "conversations": View(
        ("dump", "conversations", "--limit", str(calls.LISTED)), ("run", "conversation"), calls.CONVERSATIONS,
        ordered=True,
    ),
    "failure-matrix": View(
        ("dump", "failure-matrix"), ("flow", *_PLACES), calls.FAILURE_MATRIX, "flow=flow_03", _FLOW
    ),
    "causes": View(
        ("dump", "causes"), ("flow", "first_failed", "kind", "detail", "error"), calls.CAUSES
    ),
    "repeats": View(("dump", "repeats"), ("flow", "agent"), calls.REPEATS),
}  # fmt: skip

_SCORED = "id IN (SELECT conversation_id FROM aspect_score WHERE value < 5 AND"
_COMPUTED = "judge_id = (SELECT id FROM judge WHERE name = '(computed)')"
_TEXT = "name LIKE '%00012%'"
_NAMED_BY = {name: name for name in ("run", "flow", "agent", "persona", "scenario")} | dict.fromkeys(
    ("stop_reason", "final_state", "final_status"), "label"
)
_ANY_TEXT = " OR ".join(
    (_TEXT, *(f"{column}_id IN (SELECT id FROM {table} WHERE {_TEXT})" for column, table in _NAMED_BY.items()))
)


def filters(run: str, since: str, since_us: int) -> list[Filter]:
    """Every kind of filter; the run is the last one, and the time is on its day."""
    listed = "conversations"
    return [
        Filter("flow", "flow=flow_03", _FLOW, ("flows", "states")),
        Filter("agent", "agent=qwen-flash", _named("agent", "qwen-flash"), ("flows", "states")),
        Filter("run", f"run={run}", _named("run", run), ("flows", listed)),
        Filter(
            "persona", "persona=hostile", _named("persona", "hostile"),
            ("flows", "states", "funnel", "agreement", listed),
        ),
        Filter("scenario", "scenario=scenario_07", _named("scenario", "scenario_07"), ("flows", "worklist", listed)),
        Filter("status", "final_status=·", "final_status_id IS NULL", ("flows", listed)),
        Filter(
            "number", "correctness<5",
            f"{_SCORED} {_COMPUTED} AND aspect_id = (SELECT id FROM aspect WHERE name = 'correctness'))",
            ("states", listed),
        ),
        Filter("judge's score", "humanness.judge-1<5", f"{_SCORED} {_named('judge', 'judge-1')})", ("states", listed)),
        Filter(
            "state", "stall>0", "id IN (SELECT conversation_id FROM state_score WHERE stall > 0)", ("flows", listed)
        ),
        Filter("time", f"started_at>={since}", f"started_at >= {since_us}", ("flows", listed)),
        Filter("text", "conversation:00012", _TEXT, ("flows",)),
        Filter("text", "00012", f"({_ANY_TEXT})", (listed,)),
    ]  # fmt: skip


def _named(column: str, name: str) -> str:
    return f"{column}_id = (SELECT id FROM {column} WHERE name = '{name}')"


def questions(run: str, since: str, since_us: int) -> Iterator[Question]:
    """Each view by itself, then with each filter that it is asked with."""
    for name, view in VIEWS.items():
        yield _question(name, view)
    for narrowed in filters(run, since, since_us):
        for name in narrowed.views:
            yield _question(name, VIEWS[name], narrowed)


def _question(name: str, view: View, narrowed: Filter | None = None) -> Question:
    words = " ".join(filter(None, (view.filter, narrowed.words if narrowed else "")))
    where = " AND ".join((view.where, narrowed.where if narrowed else EVERY))
    command = [*view.command, *(["--where", words] if words else []), "--format", "json"]
    sql = view.sql.replace("{where}", where)
    if narrowed is None:
        return Question(name, command, view.keys, sql, ordered=view.ordered)
    return Question(name, command, view.keys, sql, narrowed.kind, narrowed.words, view.ordered)
