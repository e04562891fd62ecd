"""Show how often each judge says what people say, over all calls and for each code that they gave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_store.agreement import HUMAN, PASSED
from riff_tui.filters import quote
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import fixed, percent
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.alignment import Rates
    from riff_store.answers.agreement import Alignment, Alignments
    from riff_store.measure import Measure
    from riff_tui.view_query import ViewQuery

UNITS = (
    "Units: tpr share of the calls that people fail which the judge fails too · tnr share of those that they pass which"
    f" it passes too. A judge passes from {fixed(HUMAN, 0)} on, correctness at {fixed(PASSED, 0)}."
)
NOBODY = "People gave no verdict on a call here that was judged: a (pass) and f (fail) give one in a call."
WHOLE = "(all)"
_SAID = 3
"""So many judges are said in words."""
TPR = Column(
    "tpr", "tpr", unit="share", better="higher", decimals=2, trim=True, strong=True,
    help="True positive rate: of the calls that people fail, the share that the judge fails too.",
)  # fmt: skip
TPR_N = Column(
    "tpr_n", "of fails", kind="count", thin=True, short="fails", help="Calls that people fail and the judge scored."
)
TNR = Column(
    "tnr", "tnr", unit="share", better="higher", decimals=2, trim=True,
    help="True negative rate: of the calls that people pass, the share that the judge passes too.",
)  # fmt: skip
TNR_N = Column("tnr_n", "of passes", kind="count", short="passes", help="Calls that people pass and the judge scored.")
RATES = (TPR, TPR_N, TNR, TNR_N)
_COLUMNS = (
    Column("judge", "Judge", kind="name", help="A judge, in one version of its prompt, or correctness."),
    Column("aspect", "Aspect", kind="name", shown=False, help="What it judges."),
    Column("code", "Code", kind="name", help="What people say is wrong with the calls; (all) with or without a code."),
    TPR, columns.interval(TPR), TPR_N, TNR, columns.interval(TNR), TNR_N,
)  # fmt: skip


class Shortfall(NamedTuple):
    """Hold what a judge surely does too seldom, as the share that it does otherwise."""

    judge: str
    what: str
    measure: Measure


def show(query: ViewQuery) -> Table:
    """Return judges beside people; where nobody gave a verdict, how one comes about."""
    from riff_store.queries.alignment import alignment as asked

    table = query.result(query.parts(), lambda parts: alignment(asked(query.store, parts.calls, parts.judges)))
    return table if table.counts.total or query.predicate is not None else replace(table, notes=[NOBODY])


def alignment(answer: Alignments) -> Table:
    """Return a row for each judge, followed by one for each code, in the order of the answer."""
    wholes = [(row.judge, row.rates) for row in answer.entries if row.code is None]
    return Table(
        view="alignment",
        title="Judges beside people (who misses most first)",
        columns=_COLUMNS,
        rows=[_row(row) for row in answer.entries],
        notes=[*shortfalls(wholes), UNITS, *left_out(answer.disputed)] if answer.entries else [],
        identity=("judge", "code"),
    )


def shortfalls(judges: Iterable[tuple[str, Rates]]) -> list[str]:
    """Say of each judge what it surely does too seldom, the worst first."""
    found = [short for name, rates in judges for short in _shortfalls(name, rates)]
    found.sort(key=lambda short: (short.measure.mean or 0.0, short.judge))
    return [_sentence(short) for short in found[:_SAID]]


def left_out(disputed: int) -> list[str]:
    """Say how many calls stand in no rate since people disagree on them."""
    if not disputed:
        return []
    calls, are = ("call", "is") if disputed == 1 else ("calls", "are")
    return [f"{disputed} {calls} on which people disagree {are} left out: judge:human in disputes lists them."]


def record_of(rates: Rates | None) -> dict[str, Any]:
    """Return the keys of a record that hold rates; without any nothing is measured."""
    if rates is None:
        return dict.fromkeys(("tpr", "tpr_n", "tnr", "tnr_n"))
    return {"tpr": rates.tpr.mean, "tpr_n": rates.tpr.n, "tnr": rates.tnr.mean, "tnr_n": rates.tnr.n}


def intervals_of(rates: Rates | None) -> dict[str, list[float]]:
    """Return the 95 % intervals of rates."""
    return {} if rates is None else cells.intervals({"tpr": rates.tpr, "tnr": rates.tnr})


def marks_of(rates: Rates | None) -> dict[str, Severity]:
    """Mark a rate whose whole interval lies below what judges are held to, where it is of enough calls."""
    if rates is None:
        return {}
    marks: dict[str, Severity] = {}
    for key, measure in (("tpr", rates.tpr), ("tnr", rates.tnr)):
        interval = measure.interval()
        if interval is not None and interval[1] < cells.ALIGNED and not cells.is_thin(measure.n):
            marks[key] = "bad" if interval[1] < cells.UNALIGNED else "warn"
    return marks


def _shortfalls(name: str, rates: Rates) -> Iterator[Shortfall]:
    marked = marks_of(rates)
    if "tpr" in marked:
        yield Shortfall(name, "misses {} of what people fail", rates.tpr)
    if "tnr" in marked:
        yield Shortfall(name, "fails {} of what people pass", rates.tnr)


def _sentence(short: Shortfall) -> str:
    n, interval = short.measure.n, short.measure.interval()
    share = short.measure.mean
    if interval is None or share is None:
        return ""
    count = round((1 - share) * n)
    ends = f"{percent(1 - interval[1])} to {percent(1 - interval[0])}"
    return f"{short.judge} {short.what.format(percent(1 - share))} ({count} of {n}; 95 % interval {ends})."


def _row(row: Alignment) -> Row:
    found = intervals_of(row.rates)
    record: dict[str, Any] = {
        "judge": row.judge,
        "aspect": row.aspect,
        "code": row.code,
        **record_of(row.rates),
        "intervals": found,
    }
    if row.code is not None:
        record["tnr_n"] = None
    marks = marks_of(row.rates)
    display = {} if row.code is not None else {"code": WHOLE}
    row_mark = cells.worst_of(marks.values())
    return Row(
        cells.where({"judge": row.judge, "code": row.code}),
        record,
        {**display, **cells.interval_texts(_COLUMNS, record)},
        severity={**marks, "": row_mark} if row_mark else marks,
        thin=cells.is_thin(row.rates.tpr.n),
        where=_way_down(row),
    )


def _way_down(row: Alignment) -> str:
    """Lead to the calls of which the judge says something else than people; of a code to those that it misses."""
    failed, passed = "verdict=fail !verdict=pass", "verdict=pass !verdict=fail"
    code = "" if row.code is None else f" code={quote(row.code)}"
    if row.shown and row.aspect != "humanness":
        said = f"{failed}{code}" if code else f"({failed} | {passed})"
        return f"errored=false judge={quote(row.shown)} {said}"
    score = f"humanness.{quote(row.shown)}" if row.shown else row.judge
    bound = fixed(HUMAN if row.shown else PASSED, 0)
    misses = f"{failed} {score}>={bound}"
    return f"errored=false {misses}{code}" if code else f"errored=false ({misses} | {passed} {score}<{bound})"


SPEC = ViewSpec(
    name="alignment",
    title="Judges beside people",
    help=(
        "How often each judge fails what people fail (tpr) and passes what they pass (tnr), and so for each code.",
        "What people say of a call is the verdict of all who gave one; calls on which they disagree are left out.",
        "Drill into a row with conversations: the calls of which the judge and people say different things.",
    ),
    order=115,
    show=show,
    judges="rows",
    columns=_COLUMNS,
    order_by="tpr",
    comparable=True,
    words=Words(nouns=("row", "rows"), empty=NOBODY, empty_store=""),
    screen=Screen(
        key="P",
        help="How often each judge says what people say, for each code; press again to widen.",
        below="conversations",
    ),
)
