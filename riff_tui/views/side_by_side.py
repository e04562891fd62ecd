"""Show two rows of one table side by side, metric by metric, what differs most first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from riff_store.measure import THIN
from riff_store.scoring import SLOWEST
from riff_tui.table import NOT_MEASURED, Column, Row, Severity, Table
from riff_tui.text.numbers import fixed, interval_text, value_text
from riff_tui.text.safe_text import fit, one_line
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

VIEW = "side_by_side"
RULE = (
    "Largest difference first, each on its own scale: 10 for scores, 1 for shares, errors, entries and yes or no,"
    " 15 s for latencies, else the larger of the two values, at least 10. Δ is what b has more than a."
    " What one side lacks comes last."
)
CHANCE = "Intervals hold 95 %: where those of a and b overlap, the difference may be chance."
UNTESTED = "Nothing here is tested, so b is higher or lower, not better or worse: compare A B tests two runs or agents."
# They tell rows apart or count repeats, and are no measure of anything.
_NO_METRICS = frozenset({"n", "trial", "rank", "line"})
_SCALES = {"0-10": 10.0, "share": 1.0, "errors": 1.0, "entries": 1.0, "correlation": 1.0, "kappa": 1.0, "points": 10.0}
# What has no end is compared with itself, but a step from 0 to 1 is no revolution.
_LEAST = 10.0
_FINEST = 2
_LONGEST = 24

_COLUMNS: Sequence[Column] = (
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
    Column("interval_a", "95% of a", kind="object", help="The 95 % interval of a, where there is one."),
    Column("interval_b", "95% of b", kind="object", help="The 95 % interval of b, where there is one."),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Draw the names of both rows, as two lines above what is compared."""

    a: str
    b: str

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Return a line each; the names are raw text."""
        return [fit(f"{side}  {one_line(named)}", width) for side, named in (("a", self.a), ("b", self.b))]


def refusal(spec: ViewSpec) -> str:
    """Return why rows of a view cannot be compared, an empty text where they can."""
    if spec.comparable:
        return ""
    return "its rows are of unlike kinds" if spec.words.ranked else f"rows of {spec.name} hold nothing to compare"


def side_by_side(table: Table, a: Row, b: Row) -> Table:
    """Return one row per metric of the table's columns: a, b, b - a, who is better, n and intervals of both.

    Ordered by the difference on the metric's own scale; a record holds unrounded values.
    """
    sides = (a, b)
    metrics = [column for column in table.columns if _is_metric(column)]
    measured = [column for column in metrics if all(_number(column, row) is not None for row in sides)]
    lacking = [column for column in metrics if column not in measured]
    texts = [column for column in table.columns if column.kind in ("name", "text", "time") or column.key == "trial"]
    measured.sort(key=lambda column: -_size(column, *(_number(column, row) or 0.0 for row in sides)))
    named = [column.key for column in _naming(table, a, b)]
    differing = [column for column in texts if column.key not in named and _differ(column, a, b)]
    rows = [
        *(_metric_row(column, a, b) for column in measured),
        *(_text_row(column, a, b) for column in differing if _known(column, a, b)),
        *(_text_row(column, a, b) for column in differing if not _known(column, a, b)),
        *(_missing_row(column, a, b) for column in lacking),
    ]
    pair = [label(table, row, sides) for row in sides]
    left_out: tuple[str, ...] = () if all("n" in row.record for row in sides) else ("n_a", "n_b")
    left_out += () if any(row.record.get("intervals") for row in sides) else ("interval_a", "interval_b")
    return Table(
        view=VIEW,
        title=f"{pair[0]} against {pair[1]}",
        columns=[column for column in _COLUMNS if column.key not in left_out],
        rows=rows,
        notes=list(_notes(a, b)),
        extras={"of": table.view, **{side: _names(table, row) for side, row in zip("ab", sides, strict=True)}},
        figure=Pair(*(_whole(table, row) for row in sides)),
    )


def label(table: Table, row: Row, among: Sequence[Row] = ()) -> str:
    """Return what tells a row from the others: the names that are not the same in all of them."""
    columns = _naming(table, *among) if among else _identity(table)
    return _joined(columns or _identity(table), row)


def _whole(table: Table, row: Row) -> str:
    n = row.record.get("n")
    counted = f"   n {n}{'~' if row.thin else ''}" if n is not None else ""
    return _joined(_identity(table), row) + counted


def _joined(columns: Sequence[Column], row: Row) -> str:
    text = ""
    for column in columns:
        name = row.display.get(column.key) or column.value(row.record)
        if name is not None:
            text += ("" if not text else " @ " if column.key == "agent" else " › ") + str(name).strip()
    return text or row.id


def _identity(table: Table) -> list[Column]:
    keys = table.identity
    return [
        column for column in table.columns if (column.key in keys if keys else column.kind == "name" and column.shown)
    ]


def _naming(table: Table, *rows: Row) -> list[Column]:
    """Return the columns whose names tell these rows apart."""
    columns = _identity(table)
    found = [column for column in columns if len({str(column.value(row.record)) for row in rows}) > 1]
    return found or columns


def _names(table: Table, row: Row) -> dict[str, Any]:
    return {column.key: column.value(row.record) for column in _identity(table)}


def _is_metric(column: Column) -> bool:
    return column.kind in ("number", "count", "flag") and column.key not in _NO_METRICS


def _number(column: Column, row: Row) -> float | None:
    value = column.value(row.record)
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _size(column: Column, a: float, b: float) -> float:
    """Return how large a difference is on the metric's own scale; 1 is from one end of it to the other."""
    scale = 1.0 if column.kind == "flag" else _SCALES.get(column.unit)
    if scale is None and column.key.startswith("latency"):
        scale = SLOWEST * (1000 if column.unit == "ms" else 1)
    return abs(b - a) / (scale or max(abs(a), abs(b), _LEAST))


def _metric_row(column: Column, a: Row, b: Row) -> Row:
    first, second = _number(column, a) or 0.0, _number(column, b) or 0.0
    delta = second - first
    text = _figure(column, delta)
    same = float(text) == 0
    flag = column.kind == "flag"
    direction = "same" if same else "other" if flag else "higher" if delta > 0 else "lower"
    display = {"delta": "" if flag else "0" if same else f"+{text}" if delta > 0 else text}
    return _row(column, a, b, delta, direction, display)


def _missing_row(column: Column, a: Row, b: Row) -> Row:
    return _row(column, a, b, None, None, {})


def _known(column: Column, a: Row, b: Row) -> bool:
    return all(column.value(row.record) is not None for row in (a, b))


def _differ(column: Column, a: Row, b: Row) -> bool:
    return bool(column.value(a.record) != column.value(b.record))


def _text_row(column: Column, a: Row, b: Row) -> Row:
    display = {"delta": "", "direction": "other"} if _known(column, a, b) else {}
    return _row(column, a, b, None, "other" if display else None, display)


def _row(
    column: Column,
    a: Row,
    b: Row,
    delta: float | None,
    direction: str | None,
    display: Mapping[str, str],
) -> Row:
    record: dict[str, Any] = {"metric": column.key, "unit": column.unit or None, "better": column.better}
    shown = {"metric": column.title, "unit": column.unit, **display}
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
        shown[f"interval_{side}"] = "" if interval is None else _interval(column, interval)
    return Row(column.key, record, display=shown, severity=severity)


def _cell(column: Column, value: Any) -> str:
    if value is None:
        return NOT_MEASURED
    if column.kind in ("number", "count"):
        return _figure(column, value) if isinstance(value, int | float) else NOT_MEASURED
    return fit(one_line(value_text(column, value)), _LONGEST)


def _figure(column: Column, value: float) -> str:
    return fixed(value, _decimals(column), trim=True)


def _decimals(column: Column) -> int:
    return 0 if column.kind == "count" or not column.decimals else _FINEST


def _interval(column: Column, interval: Sequence[float]) -> str:
    return interval_text(interval, _decimals(column), trim=True)


def _notes(a: Row, b: Row) -> Iterator[str]:
    yield RULE
    yield UNTESTED
    if any(row.record.get("intervals") for row in (a, b)):
        yield CHANCE
    thin = [side for side, row in (("a", a), ("b", b)) if row.thin]
    if thin:
        few = f"fewer than {THIN} groups" if "groups" in a.record else f"n < {THIN}"
        yield f"Thin: {few} behind {' and '.join(thin)}, marked ~."


SPEC = ViewSpec(
    name=VIEW,
    title="Two rows side by side",
    help=(
        "Two rows side by side, metric by metric: Δ is what b has more than a. Whether that is chance is not tested.",
        "What differs most comes first, each metric measured by its own scale: 10 for scores, 1 for shares, for errors,"
        " for entries and for yes or no, 15 s for latencies, else the larger of the two values, but no less than 10.",
        "Then come names that differ; what one of the two lacks (·) comes last.",
    ),
    listed=False,
    columns=_COLUMNS,
    filters=Filters(calls=True),
    words=Words(noun="comparison", nouns=("metric", "metrics")),
    screen=Screen(depth=4),
)
