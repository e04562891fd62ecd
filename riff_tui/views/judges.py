"""Show what each judge scored, how it goes with the others, how often it shows what people say, and of each flow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_store.alignment import HUMAN, PASSED, Rates
from riff_store.vocabulary import COMPUTED
from riff_tui.filters import quote
from riff_tui.shapes import COUNT, INTERVALS, NUMBER, TEXT, by_name, list_of, or_null, record
from riff_tui.table import BOUNDS, Bounds, Column, Row, Severity, Table
from riff_tui.text.column_fit import abbreviated
from riff_tui.text.numbers import fixed, percent
from riff_tui.views.agreement import NO_JUDGE_HERE, NO_JUDGES
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words
from riff_tui.views.timeline import DOWN_ONLY

if TYPE_CHECKING:
    from riff_store.measure import Measure
    from riff_store.queries.judges import Alignment, Alignments, JudgeSummary
    from riff_store.queries.quality import FlowQuality, QualityCell
    from riff_tui.view_query import ViewQuery


UNITS_OF_RATES = (
    "Units: tpr share of the calls that people fail which the judge fails too · tnr share of those that they pass which"
    f" it passes too. A judge passes from {fixed(HUMAN, 0)} on, correctness at {fixed(PASSED, 0)}."
)
NOBODY = "People gave no verdict on a call here that was judged: a (pass) and f (fail) give one in a call."
WHOLE = "(all)"
_SAID = 3
"""So many judges are said in words."""
TPR = columns.share(
    "tpr", "tpr", better="higher", strong=True,
    help="True positive rate: of the calls that people fail, the share that the judge fails too.",
)  # fmt: skip
TPR_N = Column(
    "tpr_n", "of fails", kind="count", thin=True, short="fails", help="Calls that people fail and the judge scored."
)
TNR = columns.share(
    "tnr", "tnr", better="higher",
    help="True negative rate: of the calls that people pass, the share that the judge passes too.",
)  # fmt: skip
TNR_N = Column("tnr_n", "of passes", kind="count", short="passes", help="Calls that people pass and the judge scored.")
RATES = (TPR, TPR_N, TNR, TNR_N)
_OF_ALIGNMENT = (
    Column("judge", "Judge", kind="name", help="A judge, in one version of its prompt, or correctness."),
    Column("aspect", "Aspect", kind="name", shown=False, help="What it judges."),
    Column(
        "code", "Code", kind="name", said=True,
        help="What people say is wrong with the calls; (all) with or without a code.",
    ),
    TPR, columns.interval(TPR), TPR_N, TNR, columns.interval(TNR), TNR_N,
)  # fmt: skip


class Shortfall(NamedTuple):
    """Describe what a judge surely does too seldom, as the share that it does otherwise."""

    judge: str
    what: str
    measure: Measure


def show_alignment(query: ViewQuery) -> Table:
    """Return judges beside people; if nobody gave a verdict, how one comes about."""
    from riff_store.queries.judges import alignment as asked

    table = query.result(query.parts(), lambda parts: alignment(asked(query.store, parts.calls, parts.judges)))
    return table if table.counts.total or query.predicate is not None else table._replace(notes=[NOBODY])


def alignment(answer: Alignments) -> Table:
    """Return a row for each judge, followed by one for each code, in the order of the answer."""
    wholes = [(row.judge, row.rates) for row in answer.entries if row.code is None]
    return Table(
        view="alignment",
        title="Judges beside people (who misses most first)",
        columns=_OF_ALIGNMENT,
        rows=[_row_of_rates(row) for row in answer.entries],
        notes=[*shortfalls(wholes), UNITS_OF_RATES, *left_out_for_people(answer.disputed)] if answer.entries else [],
        identity=("judge", "code"),
    )


def shortfalls(judges: Iterable[tuple[str, Rates]]) -> list[str]:
    """Yield for each judge what it surely does too seldom, the worst first."""
    found = [
        Shortfall(name, what, measure)
        for name, rates in judges
        for key, what, measure in (
            ("tpr", "misses {} of what people fail", rates.tpr),
            ("tnr", "fails {} of what people pass", rates.tnr),
        )
        if key in rate_marks(rates)
    ]
    found.sort(key=lambda short: (short.measure.mean or 0.0, short.judge))
    return [_sentence(short) for short in found[:_SAID]]


def left_out_for_people(disputed: int) -> list[str]:
    """Return how many calls are in no rate since people disagree on them."""
    if not disputed:
        return []
    calls, are = ("call", "is") if disputed == 1 else ("calls", "are")
    return [f"{disputed} {calls} on which people disagree {are} left out: judge:human in disputes lists them."]


def rates_record(rates: Rates | None) -> dict[str, Any]:
    """Return the keys of a record that have rates; without any nothing is measured."""
    if rates is None:
        return dict.fromkeys(("tpr", "tpr_n", "tnr", "tnr_n"))
    return {"tpr": rates.tpr.mean, "tpr_n": rates.tpr.n, "tnr": rates.tnr.mean, "tnr_n": rates.tnr.n}


def rate_intervals(rates: Rates | None) -> dict[str, list[float]]:
    """Return the 95 % intervals of rates."""
    return {} if rates is None else cells.intervals({"tpr": rates.tpr, "tnr": rates.tnr})


def rate_marks(rates: Rates | None) -> dict[str, Severity]:
    """Mark a rate whose whole interval is below what judges must reach, where it is of enough calls."""
    if rates is None:
        return {}
    marks: dict[str, Severity] = {}
    for key, measure in (("tpr", rates.tpr), ("tnr", rates.tnr)):
        interval = measure.interval()
        if interval is not None and interval[1] < cells.ALIGNED and not cells.is_thin(measure.n):
            marks[key] = "bad" if interval[1] < cells.UNALIGNED else "warn"
    return marks


def _sentence(short: Shortfall) -> str:
    n, share, interval = short.measure.n, short.measure.mean, short.measure.interval()
    if interval is None or share is None:
        return ""
    count = round((1 - share) * n)
    ends = f"{percent(1 - interval[1])} to {percent(1 - interval[0])}"
    return f"{short.judge} {short.what.format(percent(1 - share))} ({count} of {n}; 95 % interval {ends})."


def _row_of_rates(row: Alignment) -> Row:
    record = cells.values_of(row, "judge aspect code") | rates_record(row.rates)
    record["intervals"] = rate_intervals(row.rates)
    if row.code is not None:
        record["tnr_n"] = None
    marks = rate_marks(row.rates)
    row_mark = cells.worst_of(marks.values())
    return Row(
        cells.where({"judge": row.judge, "code": row.code}),
        record,
        ({} if row.code is not None else {"code": WHOLE}) | cells.interval_texts(_OF_ALIGNMENT, record),
        severity={**marks, "": row_mark} if row_mark else marks,
        thin=cells.is_thin(row.rates.tpr.n),
        where=_way_down(row),
    )


def _way_down(row: Alignment) -> str:
    """Lead to the calls of which the judge says something else than people; of a code to those that it misses."""
    if {row.rates.tpr.mean, row.rates.tnr.mean} <= {1, None}:
        return ""
    failed, passed = "verdict=fail !verdict=pass", "verdict=pass !verdict=fail"
    code = "" if row.code is None else f" code={quote(row.code)}"
    if row.shown and row.aspect != "humanness":
        said = f"{failed}{code}" if code else f"({failed} | {passed})"
        return f"errored=false judge={quote(row.shown)} {said}"
    score = f"humanness.{quote(row.shown)}" if row.shown else row.judge
    bound = fixed(HUMAN if row.shown else PASSED, 0)
    misses = f"{failed} {score}>={bound}"
    return f"errored=false {misses}{code}" if code else f"errored=false ({misses} | {passed} {score}<{bound})"


LOOKING_UP = "looking up the versions of prompts"
UNITS = (
    "Units: mean 0-10, higher is better · agreement is the rank correlation on calls that both scored, -1 to 1."
    " Versions of a judge's prompt are never merged."
)
OWN_CALLS = (
    "A mean is of the judge's own calls, which others may not have scored: dump agreement compares two on theirs."
)
OF_PEOPLE = (
    "human: is a person, whose pass is 10 and fail 0: ten times the share of calls passed. tpr is how much of what"
    " people fail the judge fails too, tnr how much of what they pass it passes: dump alignment has both by code."
)
_COLUMNS = (
    Column("judge", "Judge", kind="name", help="Who scored."),
    Column("model", "Model", kind="text", help="The model behind the judge."),
    Column("prompt_hash", "Prompt", kind="text", help="The hash of its prompt: another prompt is another judge."),
    Column("prompt_version", "Version", kind="text", help="What its prompt calls its own version."),
    columns.N,
    Column("mean", "mean", unit="0-10", better="higher", help="Mean of its scores."),
    *(column._replace(strong=False, thin=False) for column in RATES),
    Column("unscored", "unscored", kind="count", better="lower", help="Calls that it could not score."),
)


def show(query: ViewQuery) -> Table:
    """Return the judges; distinguish calls that nobody judged from a store without any call."""
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.judges import judges as asked

    def table(whole: bool) -> Table:
        return query.result(query.parts(), lambda parts: judges(asked(query.store, parts.calls, whole=whole)))

    found = query.in_two_parts(table, LOOKING_UP, ("prompt_version",))
    if found.counts.total or query.predicate is not None or not count_conversations(query.store):
        return found
    return found._replace(notes=[NO_JUDGES])


def judges(answers: Sequence[JudgeSummary]) -> Table:
    """Return one row per judge and version of its prompt, with a column of agreement per other judge."""
    others = sorted({name for judge in answers for name in judge.agreement})
    rated = [(judge.judge, judge.rates) for judge in answers if judge.rates is not None]
    people = len(rated) < len(answers)
    # The column of versions is shown once a prompt says one, rates once people gave verdicts.
    shown = dict.fromkeys((column.key for column in RATES), people)
    shown["prompt_version"] = any(judge.prompt_version for judge in answers)
    return Table(
        view="judges",
        title="Judges and how they agree",
        columns=[
            *(column._replace(shown=shown.get(column.key, column.shown)) for column in _COLUMNS),
            *(_agreement(name) for name in others),
        ],
        rows=[_row(judge, others) for judge in answers],
        notes=[
            *([*shortfalls(rated), OF_PEOPLE, *left_out_for_people(answers[0].disputed)] if people else []),
            UNITS,
            *([OWN_CALLS] if _differ_in_calls(answers) else []),
        ],
    )


def _differ_in_calls(answers: Sequence[JudgeSummary]) -> bool:
    """Return whether a judge scored calls that another one of the same aspect did not."""
    names = {judge.judge: judge.aspect for judge in answers}
    return any(n < judge.n for judge in answers for name, n in judge.shared.items() if names.get(name) == judge.aspect)


def _agreement(name: str) -> Column:
    return Column(
        f"agreement.{name}", f"agree:{name}", unit="correlation", better="higher", decimals=2, trim=True,
        path=("agreement", name), help=f"How its ranking of calls goes with {name}'s.",
    )  # fmt: skip


def _row(judge: JudgeSummary, others: Sequence[str]) -> Row:
    record: dict[str, Any] = {
        **cells.values_of(judge, "judge model prompt_hash prompt_version aspect n"),
        "mean": judge.mean.mean,
        "unscored": judge.unscored,
        **rates_record(judge.rates),
        "agreement": {name: judge.agreement.get(name) for name in others},
        "shared": {name: judge.shared.get(name) for name in others},
        "intervals": {**cells.intervals({"mean": judge.mean}, "humanness"), **rate_intervals(judge.rates)},
    }
    names = {"judge": judge.judge, "prompt_hash": judge.prompt_hash}
    where = cells.where({"judge": judge.shown or judge.judge})
    return Row(cells.where(names), record, severity=rate_marks(judge.rates), thin=cells.is_thin(judge.n), where=where)


_NAMELESS = dict.fromkeys(("model", "prompt_hash", "prompt_version"), or_null(TEXT))
_MEANS, _NUMBERS = by_name(or_null(NUMBER)), by_name(COUNT)


SPEC = ViewSpec(
    name="judges",
    title="Judges",
    help=(
        "Who scored how many calls, and the mean of it.",
        "Versions of a judge's prompt are rows of their own and are never merged.",
        "Agreement is the rank correlation on shared calls; drill into a judge with agreement --where 'judge=J'.",
    ),
    order=100,
    show=show,
    rows={
        "aspect": TEXT,
        "agreement": by_name(or_null(NUMBER)),
        "shared": by_name(or_null(COUNT)),
        "intervals": INTERVALS,
        "tpr_n": or_null(COUNT),
        "tnr_n": or_null(COUNT),
        **_NAMELESS,
    },
    columns=_COLUMNS,
    filters=Filters(fields=("aspect", "agreement")),
    order_by="judge",
    comparable=True,
    words=Words(nouns=("judge", "judges"), empty=NO_JUDGE_HERE),
    screen=Screen(
        key="8",
        help="Who scored these calls and how judges agree; press again for more.",
        below="agreement",
    ),
)
ALIGNMENT = ViewSpec(
    name="alignment",
    title="Judges beside people",
    help=(
        "How often each judge fails what people fail (tpr) and passes what they pass (tnr), and so for each code.",
        "What people say of a call is the verdict of all who gave one; calls on which they disagree are left out.",
        "Drill into a row with conversations: the calls of which the judge and people say different things.",
    ),
    order=115,
    show=show_alignment,
    judges="rows",
    rows={"intervals": INTERVALS, "tnr_n": or_null(COUNT), "code": or_null(TEXT)},
    columns=_OF_ALIGNMENT,
    order_by="tpr",
    comparable=True,
    words=Words(nouns=("row", "rows"), empty=NOBODY, empty_store=""),
    screen=Screen(
        key="P",
        help="How often each judge agrees with people, for each code; press again for more.",
        below="conversations",
    ),
)


# Show each flow in the eyes of each judge, for each agent, to calibrate one by the others.
UNITS_OF_FLOWS = (
    "Units: 0-10, higher is better: (computed) is the mean quality of calls without any judge, a judge's column the"
    " mean of its own scores, of so many where not all calls of the row have one; · where it scored none."
)
_COMP = "comp"
_OF_FLOWS = (columns.FLOW, columns.N, columns.EXCLUDED)


def show_flow_table(query: ViewQuery) -> Table:
    """Return the flows of such calls as each judge sees them."""
    from riff_store.queries.quality import flow_table as asked

    return query.result(
        query.parts(), lambda parts: flow_table(asked(query.store, parts.calls, parts.judges), query.bounds)
    )


def flow_table(answers: Sequence[FlowQuality], bounds: Bounds = BOUNDS) -> Table:
    """Return one row per flow, in the order of the answers: the judges over all its calls, then agent by agent."""
    judges = list(dict.fromkeys(cell.judge for flow in answers for cell in flow.pooled))
    pairs = sorted({(cell.agent, cell.judge) for flow in answers for cell in flow.cells if cell.agent is not None})
    return Table(
        view="flow-table",
        title="Flow table: flows × (agent, judge) (worst first)",
        columns=[
            *_OF_FLOWS,
            *(column for judge in judges for column in cells.quality_columns(judge, ("pooled", judge))),
            *_columns_of_pairs(pairs),
        ],
        rows=[_row_of_flow(flow, bounds) for flow in answers],
        notes=[UNITS_OF_FLOWS, DOWN_ONLY],
    )


def _columns_of_pairs(pairs: Sequence[tuple[str, str]]) -> list[Column]:
    agents = abbreviated({agent for agent, _ in pairs})
    judges = abbreviated({judge for _, judge in pairs} - {COMPUTED})
    judges[COMPUTED] = COMPUTED if _COMP in judges.values() else _COMP
    return [
        column
        for agent, judge in pairs
        for column in cells.quality_columns(
            judge, ("quality", agent, judge), f"{agent} {judge}", f"{agents[agent]} {judges[judge]}"
        )
    ]


def _row_of_flow(flow: FlowQuality, bounds: Bounds) -> Row:
    quality: dict[str, dict[str, QualityCell]] = {}
    for cell in flow.cells:
        quality.setdefault(cell.agent or "", {})[cell.judge] = cell
    record: dict[str, Any] = {
        "flow": flow.flow,
        "cells": [
            {"agent": cell.agent, "judge": cell.judge, "quality": cell.quality.mean, "n": cell.quality.n}
            for cell in flow.cells
        ],
        "n": flow.n,
        "excluded": flow.excluded,
        "pooled": {cell.judge: cell.quality.mean for cell in flow.pooled},
        "pooled_n": {cell.judge: cell.quality.n for cell in flow.pooled},
        "quality": {agent: {judge: cell.quality.mean for judge, cell in of.items()} for agent, of in quality.items()},
        "quality_n": {agent: {judge: cell.quality.n for judge, cell in of.items()} for agent, of in quality.items()},
    }
    every = {_key_of(cell): cell.quality for cell in (*flow.pooled, *flow.cells)}
    counts = cells.counts_of(flow.n, every)
    # A judge's scale is its own: what a strict one says about a good flow makes it no worse.
    computed = {_key_of(cell): cell.quality for cell in (*flow.pooled, *flow.cells) if cell.judge == COMPUTED}
    marks = cells.measured_marks(computed, bounds)
    marks[""] = marks.get(f"pooled.{COMPUTED}", "ok")
    where = cells.where({"flow": flow.flow})
    return Row(where, record, severity=marks, thin=cells.is_thin(flow.n), where=where, counts=counts)


def _key_of(cell: QualityCell) -> str:
    return f"pooled.{cell.judge}" if cell.agent is None else f"quality.{cell.agent}.{cell.judge}"


FLOW_TABLE = ViewSpec(
    name="flow-table",
    title="Flow table",
    help=(
        "What each judge says of each flow, over all its calls and for each agent, side by side.",
        "A judge who is far from the others and from (computed) asks to be calibrated.",
        "Drill into a flow with flows --where 'flow=F'.",
    ),
    order=70,
    show=show_flow_table,
    judges="columns",
    rows={
        "cells": list_of(record({"agent": TEXT, "judge": TEXT, "quality": or_null(NUMBER), "n": COUNT})),
        "pooled": _MEANS,
        "pooled_n": _NUMBERS,
        "quality": by_name(_MEANS),
        "quality_n": by_name(_NUMBERS),
    },
    columns=_OF_FLOWS,
    words=Words(label="flow table", nouns=("flow", "flows")),
    screen=Screen(key="6", help="What each judge says of each flow, by agent; press again for more.", below="flows"),
)

SPECS = (SPEC, ALIGNMENT, FLOW_TABLE)
