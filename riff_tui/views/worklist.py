"""Show what to work on: weakest flows, weakest segments, root-cause states, each a place to drill to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import ge, gt, lt
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_store.filters.predicates import Predicate, Term, all_of, conjuncts
from riff_store.measure import (
    GUARD_ERRORS,
    HEALTHY_PROGRESS,
    HIGH,
    LONG_DWELL,
    OFTEN_SLOW,
    SLOW,
    THIN,
    is_mean,
    is_thin,
    mean,
)
from riff_store.vocabulary import NONE_FOUND
from riff_tui.filters.filter import render
from riff_tui.shapes import TEXT, list_of
from riff_tui.table import BOUNDS, DRILL, NOT_MEASURED, Bounds, Column, Row, Section, Severity, Table, in_one_step
from riff_tui.text.numbers import excluded_text, fixed, percent
from riff_tui.view_query import EVERYTHING, FilterParts, ViewQuery
from riff_tui.views.parts import cells, columns
from riff_tui.views.parts.cells import what_is_first
from riff_tui.views.spec import EMPTY_STORE, Filters, Screen, ViewSpec, Words
from riff_tui.views.states import record_of, segment_marks

if TYPE_CHECKING:
    from riff_store.filters.dimensions import Names
    from riff_store.queries.flows import FlowCell
    from riff_store.queries.states import SegmentCell, StateCell
    from riff_store.queries.worklist import Worklist

RANKING = "ranking segments and states"
FLOWS_ALONE = "Segments and states are still being ranked."
_STATES = ("flow", "state")
_NAMED = 3
Cell: TypeAlias = "FlowCell | SegmentCell | StateCell"
TITLE = "What to work on (flow → segment → state)"
_COLUMNS = (
    Column("list", "List", kind="name", help="Which of the three lists the row is in."),
    Column("rank", "Rank", kind="count", help="Its rank in that list, the most urgent first; thin places come last."),
    *columns.keys(("flow", "agent", "segment", "state")),
    columns.FAILED,
    columns.N,
    columns.share("share", "share", better="lower", shown=False, help="The share of these calls that failed there."),
    Column("reasons", "Reasons", kind="object", help="What is wrong there."),
    columns.CORRECTNESS,
    columns.SUCCESS,
    *columns.STATE_METRICS,
    *columns.STEPS,
    columns.WORST_STATE,
)


def _of(keys: str) -> tuple[Column, ...]:
    found = {column.key: column for column in _COLUMNS}
    return tuple(found[key]._replace(strong=False, shown=True) for key in keys.split())


_OF_FLOWS = _of("flow agent failed n success_rate correctness")
_OF_WHOLE_FLOWS = _of("flow failed n success_rate correctness")
_OF_SEGMENTS = _of("flow segment failed n stall escalation progress worst_state")
_OF_STATES = (*_of("flow state failed n"), Column("why", "why", kind="text"))
"""The columns of the tables that are pasted."""


def show(query: ViewQuery) -> Table:
    """Return the three ranked lists, as many of each as requested; if that takes long, a screen sees flows first."""
    from riff_store.queries.sums import takes_long
    from riff_store.queries.worklist import worklist as asked

    def table(whole: bool) -> Table:
        def build(parts: FilterParts) -> Table:
            # Of everything, beside what is asked for, rows are only counted. If they are chosen by what they say, all
            # have to be made.
            limit = 0 if parts is EVERYTHING else query.limit if parts.rows is None else None
            answer = asked(query.store, parts.calls, limit, whole=whole)
            return worklist(answer, parts.calls, query.request.store, query.bounds)

        return query.result(query.parts(), build)

    if query.is_slow_on_screen and query.request.sort is None and takes_long(query.store, query.parts().calls, _STATES):
        flows = table(False)
        if flows.rows:
            return flows._replace(
                total=None,
                matched=None,
                notes=[FLOWS_ALONE],
                sections=flows.sections[:1],
                deferred=partial(in_one_step, RANKING, partial(table, True)),
            )
    return table(True)


def worklist(answer: Worklist, scope: Predicate | None = None, store: str = "", bounds: Bounds = BOUNDS) -> Table:
    """Return three ranked lists, as the query ranked and cut them (docs/metrics.md, section 6).

    `scope` is the filter of the calls, and `store` is named by the command that leads further down.
    """
    flows = [_flow(rank, cell, answer.blamed, bounds) for rank, cell in enumerate(answer.flows, 1)]
    segments = [_segment(rank, cell, answer.measured) for rank, cell in enumerate(answer.segments, 1)]
    states = [_state(rank, cell) for rank, cell in enumerate(answer.states, 1)]
    segments += [
        _nowhere("segment", rank, *each) for rank, each in enumerate(answer.nowhere.items(), len(segments) + 1)
    ]
    states += [_nowhere("state", rank, *each) for rank, each in enumerate(answer.nowhere.items(), len(states) + 1)]
    rows = states or segments or flows
    flow = answer.first.flow if answer.first else rows[0].record["flow"] if rows else None
    totals, by_agent = answer.totals, any("agent" in cell.keys for cell in answer.flows)
    excluded = [f"Excluded: {excluded_text(totals.excluded, totals.caller_failed)}."] if totals.excluded else []
    return Table(
        view="worklist",
        title=TITLE,
        **what_is_first(answer.first, totals, render(scope)),
        columns=_COLUMNS,
        rows=[*flows, *segments, *states],
        matched=None if answer.listed is None else sum(answer.listed) + 2 * len(answer.nowhere),
        notes=[
            *_by_steps(answer),
            *excluded,
            *([f"{DRILL}{_drill(flow, scope, store)}"] if rows else []),
            *([] if totals.calls or totals.excluded or scope is not None else [EMPTY_STORE]),
        ],
        sections=[
            Section("Weakest flows", "x", tuple(row.id for row in flows), _OF_FLOWS if by_agent else _OF_WHOLE_FLOWS),
            Section("Weakest segments", "!", tuple(row.id for row in segments), _OF_SEGMENTS),
            Section("Root-cause states", "*", tuple(row.id for row in states), _OF_STATES),
        ],
    )


def _drill(flow: str | None, scope: Predicate | None, store: str) -> str:
    """Return the command that prints the states of a flow, within the same filter and store."""
    from riff_tui.catalog import Request, dump_command

    of_flow = Term("flow", "=", flow or "")
    rest = [part for part in conjuncts(scope) if part != of_flow]
    return dump_command("states", Request(where=render(all_of([of_flow, *rest])), store=store))


def reason_texts(cell: StateCell) -> dict[str, str]:
    """Return why a state is on the list: the metric or kind of failure behind each reason, and its meaning.

    Where tasks ask for steps, a state that a call ended in shows nothing of why it failed (docs/metrics.md, section 9).
    """
    found = {metric: said(cell) for metric, (holds, said) in _REASONS.items() if holds(cell)}
    ends_told = "stall" in found or "escalation" in found
    lacks = "missed" in found or "wrong_args" in found
    told = (*(_LACKING if lacks else ()), *(_ENDS if ends_told else ()))
    kinds = [(kind, n) for kind, n in cell.blames.items() if kind not in told]
    return {**{kind: f"{kind} {n:,}" for kind, n in kinds}, **found}


def _share(cell: StateCell, metric: str) -> str:
    return fixed(mean(cell.measures, metric), 2, trim=True)


def _tenths(cell: StateCell, metric: str) -> str:
    return fixed(mean(cell.measures, metric), 1)


_ENDS = ("dead end", "hand-off")
"""The kinds of failure that a state's shares of stalls and escalations show as well."""
_LACKING = ("missing action", "missing step", "wrong arguments")
"""The kinds of failure that the counts of a step show as well."""


def _is_stuck(cell: StateCell) -> bool:
    return is_mean(lt, HEALTHY_PROGRESS, cell.measures, "progress")


_REASONS: Mapping[str, tuple[Callable[[StateCell], bool], Callable[[StateCell], str]]] = {
    "stall": (
        lambda cell: not cell.asks_steps and is_mean(ge, HIGH, cell.measures, "stall"),
        lambda cell: f"stall {_share(cell, 'stall')}",
    ),
    "escalation": (
        lambda cell: not cell.asks_steps and is_mean(ge, HIGH, cell.measures, "escalation"),
        lambda cell: f"escalates {_share(cell, 'escalation')}",
    ),
    "missed": (
        lambda cell: cell.steps is not None and cell.steps.missed_failed > 0,
        lambda cell: "" if cell.steps is None else cells.missed_step_text(cell.steps),
    ),
    "wrong_args": (
        lambda cell: cell.steps is not None and cell.steps.wrong_failed > 0,
        lambda cell: "" if cell.steps is None else cells.wrong_step_text(cell.steps),
    ),
    "dwell_turns": (
        lambda cell: is_mean(gt, LONG_DWELL, cell.measures, "dwell_turns"),
        lambda cell: f"dwell {_tenths(cell, 'dwell_turns')}",
    ),
    "latency_p95": (
        lambda cell: not cell.typed and is_mean(gt, SLOW, cell.measures, "latency_p95"),
        lambda cell: f"lat_p95 {_tenths(cell, 'latency_p95')} s",
    ),
    "slow": (
        lambda cell: is_mean(ge, OFTEN_SLOW, cell.measures, "slow"),
        lambda cell: f"slow {_share(cell, 'slow')}",
    ),
    "guard_error": (
        lambda cell: is_mean(ge, GUARD_ERRORS, cell.measures, "guard_error"),
        lambda cell: f"guard errors {_share(cell, 'guard_error')}",
    ),
    # With healthy progress a slot that stays empty is one that the caller had filled before.
    "slot_fill_rate": (
        lambda cell: _is_stuck(cell) and is_mean(lt, HEALTHY_PROGRESS, cell.measures, "slot_fill_rate"),
        lambda cell: f"slot_fill {_tenths(cell, 'slot_fill_rate')} (stuck, {_percent(cell, 'progress')} move on)",
    ),
}
"""When a metric is a reason, and what it says then."""


def _pasted(cell: StateCell, found: Iterable[str]) -> dict[str, str]:
    """Return those of the reasons that are written in percent where they are pasted."""
    words = {"stall": "stall", "escalation": "handed over", "slow": "slow"}
    return {metric: f"{words[metric]} {percent(mean(cell.measures, metric))}" for metric in found if metric in words}


def _percent(cell: StateCell, metric: str) -> str:
    return percent(mean(cell.measures, metric)).replace("%", " %")


def _flow(rank: int, cell: FlowCell, blamed: Mapping[Names, Mapping[str, int]], bounds: Bounds) -> Row:
    names = {key: cell.keys.get(key) for key in ("flow", "agent")}
    correctness, success = mean(cell.aspects, "correctness"), cell.success.mean
    of_states = list(blamed.get(tuple(cell.keys.values()), {}).items())[:1]
    reasons = [
        *([f"correctness {fixed(correctness, 1)}"] if correctness is not None else [f"success {percent(success)}"]),
        *(f"{n:,} in {state}" for state, n in of_states),
    ]
    by = f"agent {names['agent']}, " if "agent" in cell.keys else ""
    return _row(
        "flows",
        rank,
        cell,
        {**names, "segment": None, "state": None},
        reasons,
        {"correctness": correctness, "success_rate": success},
        n=cell.success.n,
        display={"success_rate": percent(success)},
        severity=cells.with_errored(cells.success_marks(cell, bounds), *cells.errored_marks([cell])),
        place=names["flow"] or "",
        summary=f"{reasons[0]}  ({by}n {_count(cell)})  {cell.failed:,} failed"
        + "".join(f", {reason}" for reason in reasons[1:]),
    )


def _segment(rank: int, cell: SegmentCell, measured_calls: Mapping[str, int]) -> Row:
    """Return the row of a segment: of the calls of its flow, since one call has several of its states."""
    flow, segment = cell.keys.get("flow"), cell.keys.get("segment")
    worst, n = cell.worst.keys.get("state"), measured_calls.get(flow or "", 0)
    stall = mean(cell.worst.measures, "stall")
    measured = {key: mean(cell.measures, key) for key in ("stall", "escalation", "progress")}
    shares = [
        f"{word} {fixed(measured[key], 2, trim=True)}"
        for key, word in (("stall", "stall"), ("escalation", "escal"), ("progress", "progress"))
        if measured[key] is not None
    ]
    shares_in_percent = [
        f"{word} {percent(measured[key])}"
        for key, word in (("stall", "stall"), ("escalation", "handed over"), ("progress", "move on"))
        if measured[key] is not None
    ]
    kinds = [f"{kind} {n:,}" for kind, n in cell.blames.items() if kind not in _ENDS]
    thin = f", n {_count(cell)}" if is_thin(cell) else ""
    return _row(
        "segments",
        rank,
        cell,
        {"flow": flow, "agent": None, "segment": segment, "state": None},
        [*shares, *kinds],
        {**measured, "worst_state": worst},
        n=n,
        display={
            **{key: percent(value) for key, value in measured.items() if value is not None},
            "worst_state": f"{worst} (stall {percent(stall)}{thin})" if stall is not None else str(worst),
            "why": " · ".join((f"worst {worst}", *(shares_in_percent), *kinds)),
        },
        severity=segment_marks(cell, record_of(cell)),
        place=f"{flow}/{segment}",
        summary="  ".join((*shares, *kinds)) + f"  (worst: {worst}{thin})" + _failed(cell.failed, n),
    )


def _state(rank: int, cell: StateCell) -> Row:
    from riff_store.queries.worklist import lacking, weight

    flow, state = cell.keys.get("flow"), cell.keys.get("state")
    found, failed, n = reason_texts(cell), weight(cell), cell.n
    measured: dict[str, Any] = {key: cell.figure(key) for key in columns.STATE_METRIC_KEYS if key in found}
    if "slot_fill_rate" in found:
        measured["progress"] = mean(cell.measures, "progress")
    lacks = cell.steps is not None and lacking(cell.steps) == failed > 0
    if cell.steps is not None and ("missed" in found or "wrong_args" in found):
        measured |= cells.step_record(cell.steps)
        # Calls that missed a step were never in its state.
        n = max(n, cell.steps.expected)
    thin = f" (n {n}~)" if n < THIN else ""
    return _row(
        "states",
        rank,
        cell,
        {"flow": flow, "agent": None, "segment": cell.segment, "state": state},
        list(found.values()),
        measured,
        failed=failed,
        n=max(n, failed),
        display={"why": " · ".join({**found, **_pasted(cell, found)}.values()) or NOT_MEASURED},
        severity=cells.state_marks(record_of(cell) | cells.step_record(cell.steps), typed=cell.typed),
        place=f"{flow}/{state}",
        summary=" · ".join(found.values()) + thin + ("" if lacks else _failed(failed, n)),
        leads=(cells.missed_step_filter({"flow": flow, "state": state}, cell.steps) if lacks else "")
        or (cells.where({"flow": flow, "first_failed": state}) if failed else ""),
    )


def _nowhere(kind: str, rank: int, flow: str, failed: int) -> Row:
    """Return the failed calls of a flow that nothing is blamed for: they have no events."""
    where, said = cells.where({"flow": flow, "failure": "none"}), "no events show where"
    names = {"flow": flow, "agent": None, "segment": None, "state": None, kind: NONE_FOUND}
    record = {"list": f"{kind}s", "rank": rank, **names, "failed": failed, "n": failed, "share": 1.0, "reasons": [said]}
    return Row(
        f"{kind}s: {where}",
        record,
        display={"place": f"{flow}/{NONE_FOUND}", "summary": f"{said}{_failed(failed, failed)}", "reasons": said},
        where=cells.where({"flow": flow}),
        leads=where,
    )


def _failed(failed: int, n: int) -> str:
    of = f" of {n:,}" if n >= failed else ""
    return f"  {failed:,}{of} failed" if failed else ""


def _row(
    listed: str,
    rank: int,
    cell: Cell,
    names: Mapping[str, str | None],
    texts: list[str],
    measured: Mapping[str, Any],
    *,
    n: int,
    place: str,
    summary: str,
    failed: int | None = None,
    leads: str = "",
    display: Mapping[str, str],
    severity: Mapping[str, Severity],
) -> Row:
    failed = cell.failed if failed is None else failed
    record = {"list": listed, "rank": rank, **names, "failed": failed, "n": n, "share": failed / n if n else None}
    # A state is found by its flow and name alone; its segment would only narrow the way down.
    left_out = "segment" if listed == "states" else ""
    where = cells.where({key: name for key, name in names.items() if name is not None and key != left_out})
    return Row(
        f"{listed}: {where}",
        {**record, "reasons": texts, **measured},
        display={"place": place, "summary": summary, "reasons": "; ".join(texts), **display},
        severity=severity,
        thin=n < THIN,
        where=where,
        leads=leads,
    )


def _count(cell: Cell) -> str:
    return f"{cell.n}~" if is_thin(cell) else str(cell.n)


def _by_steps(answer: Worklist) -> Iterable[str]:
    """Yield in which flows states are ranked by steps and why, and which steps are on no list."""
    if answer.by_steps:
        flows = ", ".join(answer.by_steps[:_NAMED]) + _more(answer.by_steps)
        yield (
            f"Steps: in flows whose tasks ask for steps ({flows}) states are ranked by the failed calls that missed"
            " the step: a stall in a derived state is where a call ended, not why."
        )
    if answer.handovers:
        missed = [
            f"{cell.keys['flow']}/{cell.keys['state']} ({cells.short_step_text(cell.steps)})"
            for cell in answer.handovers
            if cell.steps is not None
        ]
        yield f"Not listed: steps that hand over to a human, {', '.join(missed[:_NAMED])}{_more(missed)}."


def _more(named: Sequence[str]) -> str:
    return f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""


_BELOW = {"flows": "segments", "segments": "states", "states": "neighbors"}
_ALWAYS = {"list", "rank", "flow", "agent", "segment", "state", "failed", "n", "share", "reasons"}
"""What every row has; the figures behind its reasons come with them."""


SPEC = ViewSpec(
    name="worklist",
    title="What to work on",
    help=(
        "The state to fix first, then the flows, segments and states behind most failed calls, ten of each.",
        "Each place shows how many calls failed there and why; thin places come last.",
        "The last line leads further down.",
    ),
    order=10,
    aliases=("analyze",),
    show=show,
    limit=10,
    rows={"reasons": list_of(TEXT), **dict.fromkeys(("list", "flow"), TEXT), **columns.STEP},
    top={"first": cells.FIRST_TO_FIX},
    sometimes=tuple({column.key for column in _COLUMNS} - _ALWAYS),
    columns=_COLUMNS,
    filters=Filters(fields=tuple(column.key for column in columns.STEPS), calls=True),
    words=Words(
        nouns=("entry", "entries"),
        empty="No call that counts failed here.",
        also="todo fix first",
        empty_store="",
        ranked="by what to fix first",
    ),
    screen=Screen(
        key="0",
        help="What to work on: the weakest flows, segments and states.",
        # Of one state, and of failed calls alone, there is nothing to rank.
        leaves=("segment", "state", "last_ok", "first_failed", "failure", "missed_step", "wrong_step", "failed"),
        below=lambda row: "conversations" if row.leads else _BELOW.get(str(row.record.get("list")), ""),
    ),
)
