"""Show what two runs, two agents or two rows differ in; of runs and agents also whether it is more than chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_store.filters.predicates import all_of, conjuncts, terms
from riff_store.interaction import FEW_EVENTS
from riff_store.measure import THIN
from riff_store.metrics import unit_of
from riff_store.scoring import SLOWEST
from riff_tui.filters import render, take_judges
from riff_tui.table import (
    DRILL,
    NOT_MEASURED,
    Column,
    Row,
    Severity,
    Table,
    identity_columns,
    joined_names,
    label,
    naming_columns,
)
from riff_tui.text.numbers import (
    SHARE,
    counted,
    ends_text,
    fixed,
    interval_text,
    listed,
    percent,
    points_text,
    signed,
    value_text,
)
from riff_tui.text.safe_text import fit, one_line
from riff_tui.views import failures
from riff_tui.views.parts import cells, columns
from riff_tui.views.routes import shared_states
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.comparison import Comparison, Difference
    from riff_tui.view_query import FilterParts, ViewQuery

UNITS = (
    "Units: success_rate share of calls · quality, completion, correctness, errors, humanness 0-10"
    " · latency_p95 seconds, lower is better · turn_count turns"
)
IN_UNITS = "B − A is in the unit of its row; low, high: its 95 % interval."
NOISE = "noise: p adj. is above 0.05, so a difference as large may well be chance"
EVENTS = "Figures over the events of all calls are tested by permuting calls: the events of one have much in common."
_FINEST = 2
_MARKS: Mapping[str, Severity] = {"worse": "bad", "better": "good", "differs": "warn"}
_NEWLY = {"broken": "failing", "mended": "passing"}
_FAILED = "of the pairs, for rates"
_FEW, _EVENTS = f"below {FEW_EVENTS} they are few and carry `~`", ("events_a", "events_b")
_COLUMNS: Sequence[Column] = (
    columns.FLOW,
    Column("aspect", "Aspect", kind="name", help="What is compared; hum:NAME is humanness as that judge gave it."),
    Column("judge", "Judge", kind="name", shown=False, help="Who judged it; computed aspects have no judge."),
    Column(
        "verdict", "B is", kind="text",
        help="Worse or better than A (newly failing or passing: its success rate, between runs); differs, if no way"
        " is the good one; noise, if it may be chance.",
    ),
    Column("newly", "newly", kind="name", shown=False, help="Newly failing or passing: the success rate fell or rose."),
    Column("a", "A", decimals=_FINEST, help="The rate or mean of A."),
    Column("b", "B", decimals=_FINEST, help="The rate or mean of B."),
    Column("effect", "B − A", decimals=_FINEST, strong=True, help="What B has more, in the row's unit."),
    Column("n_a", "n(A)", kind="count", help=f"Calls of A behind the row; below {THIN} it is thin and carries `~`."),
    Column("n_b", "n(B)", kind="count", help=f"Calls of B behind the row; below {THIN} it is thin and carries `~`."),
    Column("events_a", "events(A)", kind="count", shown=False, help=f"Events of A behind the figure; {_FEW}."),
    Column("events_b", "events(B)", kind="count", shown=False, help=f"Events of B behind the figure; {_FEW}."),
    Column("p_adjusted", "p adj.", decimals=3, help="p corrected across all rows of the comparison."),
    Column("low", "low", decimals=_FINEST, help="Where the 95 % interval of B − A begins."),
    Column("high", "high", decimals=_FINEST, help="Where the 95 % interval of B − A ends."),
    Column("p", "p", decimals=3, shown=False, help="The two-sided p of this row's test alone."),
    Column("pairs", "pairs", kind="count", help="Pairs of calls of the same task; · where the calls are not paired."),
    Column("only_a", "only A failed", kind="count", help=f"Only A's call failed, {_FAILED}."),
    Column("only_b", "only B failed", kind="count", help=f"Only B's call failed, {_FAILED}."),
    Column("both", "both failed", kind="count", help=f"Both calls failed, {_FAILED}."),
    Column("up", "up", kind="count", help="Pairs in which B has more, for means."),
    Column("down", "down", kind="count", help="Pairs in which B has less, for means."),
    Column("neither", "neither", kind="count", shown=False, help=f"Neither call failed, {_FAILED}."),
    Column("test", "test", kind="text", shown=False, help="The test that p comes from."),
    Column("unit", "unit", kind="text", shown=False, help="The unit of A, B and B − A."),
    Column("alone_a", "alone(A)", kind="count", shown=False, help="Calls of A left out for want of a partner."),
    Column("alone_b", "alone(B)", kind="count", shown=False, help="Calls of B left out for want of a partner."),
)  # fmt: skip

NOTHING_SHARED = "No flow has calls of both sides that count, so nothing is compared."
SIDE_BY_SIDE = "side_by_side"
RULE = (
    "Success first, then the largest difference, each on its own scale: 10 for scores, 1 for shares, errors, entries"
    " and yes or no, 15 s for latencies, else the larger of the two values, at least 10. Δ is what b has more than a."
    " What one side lacks comes last."
)
CHANCE = "Intervals are of 95 %: if those of a and b overlap, the difference may be chance."
UNTESTED = "Nothing here is tested, so b is higher or lower, not better or worse: compare A B tests two runs or agents."
# They distinguish rows or count repeats, and are no measure of anything.
_NO_METRICS = frozenset({"n", "trial", "rank", "line"})
_SCALES = {"0-10": 10.0, "share": 1.0, "errors": 1.0, "entries": 1.0, "correlation": 1.0, "kappa": 1.0, "points": 10.0}
# What has no end is compared with itself, but a step from 0 to 1 is not a revolution.
_LEAST, _LONGEST = 10.0, 24
_OF_ROWS: Sequence[Column] = (
    Column("metric", "Metric", kind="name", help="What is compared."),
    Column("unit", "Unit", kind="text", shown=False, help="Its unit."),
    Column("a", "a", decimals=_FINEST, trim=True, help="The first of the two rows."),
    Column("b", "b", decimals=_FINEST, trim=True, help="The second of the two rows."),
    Column(
        "delta", "Δ", decimals=_FINEST, trim=True, strong=True, help="What b has more than a, in the metric's own unit."
    ),
    Column(
        "direction", "b is", kind="flag", help="Higher or lower than a, or other: nothing here is tested for chance."
    ),
    Column("n_a", "n(a)", kind="count", help=f"Calls behind a; below {THIN} it is thin and carries `~`."),
    Column("n_b", "n(b)", kind="count", help=f"Calls behind b; below {THIN} it is thin and carries `~`."),
    Column("interval_a", "95% of a", kind="object", help="The 95 % interval of a, if there is one."),
    Column("interval_b", "95% of b", kind="object", help="The 95 % interval of b, if there is one."),
)


def show(query: ViewQuery) -> Table:
    """Return the differences of both sides, with the command that lists the calls that failed."""
    from riff_store.queries.comparison import compare as asked
    from riff_tui.catalog import Request, dump_command

    a, b = failures.sides_of(query)
    whole = query.parts()
    # A flow in the filter hides the others' rows; it must not make p-values smaller by forgetting them.
    calls = all_of([part for part in conjuncts(whole.calls) if part not in conjuncts(whole.rows)])
    _, rest = take_judges(query.predicate)
    within = failures.within_flows(calls, rest)
    # What of the filter chooses the calls behind the rows that it leaves.
    fields, kept = failures.SPEC.row_fields, conjuncts(calls)
    parts = [part for part in conjuncts(rest) if part in kept or all(term.field in fields for term in terms(part))]
    failed = render(all_of(parts))

    def built(parts: FilterParts) -> Table:
        found = asked(query.store, a, b, parts.calls, whole.judges, within=within)
        # By their names: what is looked into may leave other runs to be the latest two.
        sides = failures.side_argument(found.a.kind, found.a.name), failures.side_argument(found.b.kind, found.b.name)
        return compare(
            found,
            scope=render(within),
            drill=dump_command("failures", Request(where=failed, sides=sides, store=query.request.store)),
        )

    return query.result(whole._replace(calls=calls), built, recounts=False)


def compare(answer: Comparison, *, scope: str = "", drill: str = "") -> Table:
    """Return one row per flow, aspect and judge, as they are answered.

    `scope` is the filter that the comparison is within, `drill` the command that lists failures.
    """
    pooled = any(difference.events_a is not None for difference in answer.differences)
    failing = {each.flow for each in answer.differences if each.only_a or each.only_b or each.both}
    return Table(
        view="compare",
        title=f"Compare: B {answer.b.name} against A {answer.a.name}{f' where {scope}' if scope else ''}"
        f" ({'newly failing and passing' if answer.a.kind == 'run' else 'worst'} first)",
        columns=[column._replace(shown=True) if pooled and column.key in _EVENTS else column for column in _COLUMNS],
        rows=[_row(difference, leads=difference.flow in failing) for difference in answer.differences],
        lead="" if answer.solved is None else failures.solved_text(answer.solved),
        notes=[*_notes(answer), *([f"{DRILL}{drill}"] if drill and answer.differences else [])],
        extras={
            "a": failures.side_record(answer.a),
            "b": failures.side_record(answer.b),
            "tested": answer.tested,
            "flows": [cells.values_of(flow, "flow n_a n_b excluded_a excluded_b pairs") for flow in answer.flows],
            "solved": None if answer.solved is None else cells.values_of(answer.solved, "more a b n_a n_b p"),
            "pairs": None if answer.counts is None else failures.pairs_record(answer.counts),
            "only_in_a": dict(answer.only_in_a),
            "only_in_b": dict(answer.only_in_b),
        },
    )


def _row(difference: Difference, *, leads: bool) -> Row:
    low, high = difference.interval or (None, None)
    record: dict[str, Any] = {
        **cells.values_of(difference, "flow aspect judge verdict newly"),
        "a": difference.a.mean,
        "b": difference.b.mean,
        "effect": difference.effect,
        "low": low,
        "high": high,
        **cells.values_of(difference, "p_adjusted p pairs"),
        "n_a": difference.a.n,
        "n_b": difference.b.n,
        **cells.values_of(difference, "events_a events_b only_a only_b both neither up down test"),
        "unit": unit_of(difference.aspect, difference.judge),
        **cells.values_of(difference, "better alone_a alone_b"),
        "intervals": cells.intervals(
            {"a": difference.a, "b": difference.b}, difference.aspect if difference.judge is None else "humanness"
        ),
    }
    where = cells.where({"flow": difference.flow})
    mark = _MARKS.get(difference.verdict)
    return Row(
        f"{difference.aspect} {difference.judge or ''}: {where}",
        record,
        display={
            **_display(difference),
            **{key: _difference(record, key) for key in ("effect", "low", "high") if record[key] is not None},
            **({key: percent(record[key]) for key in ("a", "b")} if record["unit"] == SHARE else {}),
        },
        severity={} if mark is None else {"verdict": mark, "": mark},
        thin=cells.is_thin(min(difference.a.n, difference.b.n))
        or any(_are_few(getattr(difference, key)) for key in _EVENTS),
        where=where if leads else "",
    )


def _difference(record: Mapping[str, Any], key: str) -> str:
    return points_text(record[key]) if record["unit"] == SHARE else signed(record[key], _FINEST)


def _display(difference: Difference) -> dict[str, str]:
    aspect = "hum" if difference.judge and difference.aspect == "humanness" else difference.aspect
    shown = {"aspect": aspect if difference.judge is None else f"{aspect}:{difference.judge}"}
    if difference.newly:
        shown["verdict"] = f"newly {_NEWLY[difference.newly]}"
    for key, measure in (("n_a", difference.a), ("n_b", difference.b)):
        if cells.is_thin(measure.n):
            shown[key] = f"{measure.n}~"
    for key in _EVENTS:
        events = getattr(difference, key)
        shown[key] = "" if events is None else f"{events}~" if _are_few(events) else f"{events}"
    # A sign in each cell would say that something is missing.
    shown |= dict.fromkeys(() if difference.rate else ("only_a", "only_b", "both", "neither"), "")
    shown |= dict.fromkeys(("up", "down") if difference.rate or difference.events_a is not None else (), "")
    return shown


def _are_few(events: int | None) -> bool:
    return events is not None and events < FEW_EVENTS


def _notes(answer: Comparison) -> Iterator[str]:
    found = [difference.verdict for difference in answer.looked_at]
    if found and answer.a.kind == "run":
        yield _newly(answer)
    if found:
        counts = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in dict.fromkeys(found))
        yield f"B is, in {counted(len(found), 'row')}: {counts}."
    yield from failures.side_notes(answer.a, answer.b)
    if not answer.looked_at:
        yield NOTHING_SHARED
    else:
        more = columns.units_of(each.aspect for each in answer.looked_at if each.judge is None)
        yield f"{UNITS}{more}. {IN_UNITS}"
        yield _pairing(answer)
        if any(difference.events_a is not None for difference in answer.looked_at):
            yield EVENTS
        yield f"{NOISE}. p is corrected across {counted(answer.tested, 'row')} (Benjamini-Hochberg)."
    for side, flows in (("A", answer.only_in_a), ("B", answer.only_in_b)):
        if flows:
            counts = listed([f"{name} {n}" for name, n in sorted(flows.items())])
            yield f"Called by {side} alone, so not compared: {counts}."


def _newly(answer: Comparison) -> str:
    flows = {what: [each.flow for each in answer.looked_at if each.newly == what] for what in _NEWLY}
    if not any(flows.values()):
        return "Nothing is newly failing or passing: no success rate changed beyond chance."
    return " ".join(f"Newly {_NEWLY[what]}: {listed(names) or 'nothing'}." for what, names in flows.items())


def _pairing(answer: Comparison) -> str:
    within = "agent" if answer.a.kind == "run" else "run, where they share one"
    paired = sum(difference.pairs is not None for difference in answer.looked_at)
    if not paired:
        return (
            f"Unpaired: too few calls of the same flow, scenario or persona, trial and {within};"
            " Fisher's exact test for rates, permutations of calls for means."
        )
    alone = [sum(flow.n_a - flow.pairs for flow in answer.flows), sum(flow.n_b - flow.pairs for flow in answer.flows)]
    rest = len(answer.looked_at) - paired
    pairs = counted(sum(flow.pairs for flow in answer.flows), "pair")
    others = f" {rest} {'row is' if rest == 1 else 'rows are'} unpaired (Fisher, permutations)." if rest else ""
    return (
        f"Paired by flow, scenario or persona, trial and {within}: {pairs},"
        f" tested by McNemar's exact test for rates, by flips of signs for means."
        f" Without a partner, so left out of paired rows: {alone[0]} of A, {alone[1]} of B.{others}"
    )


class Pair(NamedTuple):
    """Draw the names of both rows or sides, as two lines above what is compared."""

    named: Iterable[str]
    signs: Sequence[str] = ("a", "b")

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Return a line each; the names are raw text."""
        named = zip(self.signs, self.named, strict=True)
        return [fit(f"{sign}  {one_line(name)}", width) for sign, name in named]


def side_by_side(table: Table, a: Row, b: Row) -> Table:
    """Return a row per metric of the table's columns, by the difference on its own scale; records are unrounded."""
    sides = (a, b)
    numbers = (column for column in table.columns if column.kind in ("number", "count", "flag"))
    metrics = [column for column in numbers if column.key not in _NO_METRICS]
    measured = [column for column in metrics if all(_number(column, row) is not None for row in sides)]
    lacking = [column for column in metrics if column not in measured]
    texts = [column for column in table.columns if column.kind in ("name", "text", "time") or column.key == "trial"]
    measured.sort(key=lambda column: -_size(column, *(_number(column, row) or 0.0 for row in sides)))
    named = [column.key for column in naming_columns(table, a, b)]
    differing = [
        column for column in texts if column.key not in named and column.value(a.record) != column.value(b.record)
    ]
    known = [column for column in differing if all(column.value(row.record) is not None for row in sides)]
    rows = [
        *(_metric_row(column, a, b) for column in measured),
        *(_row_of_both(column, a, b, None, "other", {"delta": "", "direction": "other"}) for column in known),
        *(_row_of_both(column, a, b) for column in (*differing, *lacking) if column not in known),
    ]
    pair = [label(table, row, sides) for row in sides]
    left_out: tuple[str, ...] = () if all("n" in row.record for row in sides) else ("n_a", "n_b")
    left_out += () if any(row.record.get("intervals") for row in sides) else ("interval_a", "interval_b")
    return Table(
        view=SIDE_BY_SIDE,
        title=f"{pair[0]} against {pair[1]}",
        columns=[column for column in _OF_ROWS if column.key not in left_out],
        rows=rows,
        notes=list(_notes_on_rows(a, b)),
        extras={
            "of": table.view,
            **{
                side: {column.key: column.value(row.record) for column in identity_columns(table)}
                for side, row in (("a", a), ("b", b))
            },
        },
        figure=Pair([joined_names(identity_columns(table), row) + _behind(row) for row in sides]),
    )


def _behind(row: Row) -> str:
    return "" if (n := row.record.get("n")) is None else f"   n {n}{'~' if row.thin else ''}"


def _number(column: Column, row: Row) -> float | None:
    value = column.value(row.record)
    return value if isinstance(value, int | float) and math.isfinite(value) else None


def _size(column: Column, a: float, b: float) -> float:
    """Return how large a difference is on the metric's own scale, from one end of it to the other 1; success leads."""
    if column.key in ("success_rate", "success"):
        return math.inf
    scale = 1.0 if column.kind == "flag" else _SCALES.get(column.unit)
    if scale is None and column.key.startswith("latency"):
        scale = SLOWEST * (1000 if column.unit == "ms" else 1)
    return abs(b - a) / (scale or max(abs(a), abs(b), _LEAST))


def _metric_row(column: Column, a: Row, b: Row) -> Row:
    first, second = _number(column, a) or 0.0, _number(column, b) or 0.0
    delta, flag = second - first, column.kind == "flag"
    # What no share can be may be too large to be written as points.
    is_share = column.unit == SHARE and math.isfinite(delta * 100)
    text = fixed(delta * (100 if is_share else 1), 1) if column.unit == SHARE else _figure(column, delta)
    same = float(text) == 0
    text += " pp" if is_share else ""
    direction = "same" if same else "other" if flag else "higher" if delta > 0 else "lower"
    display = {"delta": "" if flag else "0" if same else f"+{text}" if delta > 0 else text}
    return _row_of_both(column, a, b, delta, direction, display)


def _row_of_both(
    column: Column,
    a: Row,
    b: Row,
    delta: float | None = None,
    direction: str | None = None,
    display: Mapping[str, str] | None = None,
) -> Row:
    record: dict[str, Any] = {"metric": column.key, "unit": column.unit or None, "better": column.better}
    shown = {"metric": column.title, "unit": column.unit, **(display or {})}
    severity: dict[str, Severity] = {}
    for side, row in (("a", a), ("b", b)):
        value = column.value(row.record)
        record[side] = value
        shown[side] = _cell(column, value)
        if column.key in row.severity:
            severity[side] = row.severity[column.key]
    record |= {"delta": delta, "direction": direction}
    for side, row in (("a", a), ("b", b)):
        n = row.record.get("n")
        record[f"n_{side}"] = n
        if n is not None and row.thin:
            shown[f"n_{side}"] = f"{n}~"
        interval = (row.record.get("intervals") or {}).get(column.key)
        record[f"interval_{side}"] = interval
        # Most metrics of some views have none: a sign in each cell would say nothing.
        shown[f"interval_{side}"] = "" if interval is None else _ends(column, interval)
    return Row(column.key, record, display=shown, severity=severity)


def _cell(column: Column, value: Any) -> str:
    if value is None:
        return NOT_MEASURED
    if column.kind in ("number", "count"):
        return _figure(column, value) if isinstance(value, int | float) else NOT_MEASURED
    return fit(one_line(value_text(column, value)), _LONGEST)


def _ends(column: Column, interval: Sequence[float]) -> str:
    if column.unit == SHARE:
        return ends_text(column, interval)
    return interval_text(interval, _decimals(column), trim=True)


def _figure(column: Column, value: float) -> str:
    if column.unit == SHARE:
        return percent(value)
    return fixed(value, _decimals(column), trim=True)


def _decimals(column: Column) -> int:
    return 0 if column.kind == "count" or not column.decimals else _FINEST


def _notes_on_rows(a: Row, b: Row) -> Iterator[str]:
    if all(row.record.get("route") for row in (a, b)):
        yield _parting(a, b)
    yield RULE
    yield UNTESTED
    if any(row.record.get("intervals") for row in (a, b)):
        yield CHANCE
    thin = [side for side, row in (("a", a), ("b", b)) if row.thin]
    if thin:
        few = f"fewer than {THIN} groups" if "groups" in a.record else f"n < {THIN}"
        yield f"Thin: {few} behind {' and '.join(thin)}, marked ~."


def _parting(a: Row, b: Row) -> str:
    """Return where two routes part, and what success is behind each."""
    one, other = (row.record["route"] for row in (a, b))
    shared = shared_states(one, other)
    said = []
    for side, row, states in (("a", a, one), ("b", b, other)):
        goes = f"goes on to {states[shared]}" if len(states) > shared else "ends"
        said.append(
            f"{side} {goes} ({percent(row.record['success_rate'])} of {cells.calls_text(row.record['n'])} succeed)"
        )
    return f"{f'They part after {one[shared - 1]}' if shared else 'They part at once'}: {', '.join(said)}."


SPEC = ViewSpec(
    name="compare",
    title="Compare two runs or agents",
    help=(
        "What B differs in from A, flow by flow: paired where both called the same task, and tested for chance.",
        "noise: a difference as large may well be chance. Between runs, flows whose success rate changed"
        " beyond that come first: newly failing, newly passing; then worse, better, noise.",
        "Drill into the calls that only one side failed with compare A B --failures.",
    ),
    order=190,
    aliases=("significance",),
    command="riff-tui compare A B",
    show=show,
    judges="rows",
    rows=failures.COMPARED_ROW,
    top=failures.COMPARED,
    columns=_COLUMNS,
    filters=Filters(call_fields=("judge",)),  # among those whose rows are shown
    sides=True,
    words=Words(
        noun="significance",
        empty=f"{NOTHING_SHARED} In a flow (f), L compares its last two runs; = on the first screen any two of a list.",
        empty_store="",
    ),
    screen=Screen(depth=4, below="failures"),
)
ROWS = ViewSpec(
    name=SIDE_BY_SIDE,
    title="Two rows side by side",
    help=(
        "Two rows side by side, metric by metric: Δ is what b has more than a. Whether that is chance is not tested.",
        "Success comes first, then what differs most on each metric's own scale: 10 for scores, 1 for shares, errors,"
        " entries and yes or no, 15 s for latencies, else the larger of the two values, but no less than 10.",
        "Then come names that differ; what one of the two lacks (·) comes last.",
    ),
    listed=False,
    columns=_OF_ROWS,
    filters=Filters(calls=True),
    words=Words(noun="comparison", nouns=("metric", "metrics")),
    screen=Screen(depth=4),
)
SPECS = (SPEC, ROWS)
