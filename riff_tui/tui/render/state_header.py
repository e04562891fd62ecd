"""Head a state's conversations with its graph, its metrics, its latencies, and what starves if it breaks.

If there is no room for all of it, what the fold names comes first and the rest is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from riff_store.answers.cells import PooledLatency
from riff_tui.charts import histogram
from riff_tui.table import Column, Row, Table
from riff_tui.text.column_fit import wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import fixed, percent
from riff_tui.tui.render.columns import shown, title
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.styled_lines import Line, Piece, cut, width_of
from riff_tui.views.neighbors import SHARES, StateFigure, latency_reason
from riff_tui.views.parts import cells, columns

Fold: TypeAlias = Literal["all", "graph", "latencies", "list"]
_TALL = 5
_TALLEST = 12
_BLAST = 2


@dataclass(frozen=True, slots=True)
class Canvas:
    """Hold how much room there is, and what to draw with."""

    width: int
    room: int
    glyphs: Glyphs
    palette: Palette


def next_fold(fold: Fold, table: Table | None) -> Fold:
    """Return the fold after this one: graph, latencies if there are any, the list alone, and all of it again."""
    order: list[Fold] = ["all", "graph", "latencies", "list"]
    if not has_latencies(table):
        order.remove("latencies")
    return order[(order.index(fold) + 1) % len(order)] if fold in order else "list"


def has_latencies(table: Table | None) -> bool:
    """Return whether there are latencies to show, or will be."""
    pooled = pooled_of(table)
    return bool(table is not None and (table.deferred is not None or (pooled is not None and pooled.buckets)))


def pooled_of(table: Table | None) -> PooledLatency | None:
    """Return the pooled latencies of a `neighbors` table."""
    figure = table.figure if table is not None else None
    return figure.pooled if isinstance(figure, StateFigure) else None


def state_header_lines(
    fold: Fold, graph: Sequence[Line], table: Table, pooled: PooledLatency | None, doing: str, canvas: Canvas
) -> list[Line]:
    """Return the lines that fit; `doing` says that latencies are being loaded, if they are."""
    if fold == "list":
        return []
    metrics = state_lines(table.extras, canvas.width, canvas.glyphs, canvas.palette)[: canvas.room]
    about = _LatencyLines(table.extras, pooled, doing, canvas)
    left = canvas.room - len(metrics)
    if fold == "latencies":
        return [*metrics, *about.latencies(min(left, _TALLEST))]
    if fold == "graph":
        # The cursor is in it.
        shown = list(graph[: canvas.room])
        metrics = metrics[: canvas.room - len(shown)]
    else:
        # Half a graph tells nothing.
        shown = list(graph) if len(graph) <= left - about.least else []
    left = canvas.room - len(shown) - len(metrics)
    blast = blast_lines(table.extras, canvas.width, canvas.glyphs, canvas.palette)[:_BLAST]
    kept = 1 if blast and left > about.least else 0
    latencies = about.latencies(min(left - kept, _TALL + 1))
    return [*shown, *metrics, *latencies, *blast[: left - len(latencies)]]


class _LatencyLines:
    """Write the lines about latencies."""

    def __init__(self, known: Mapping[str, Any], pooled: PooledLatency | None, doing: str, canvas: Canvas) -> None:
        metrics = known.get("metrics")
        self._n = metrics["n"] if isinstance(metrics, Mapping) else 0
        self._pooled = pooled
        self._doing = doing
        self._canvas = canvas

    @property
    def least(self) -> int:
        """Return how many lines they take at least."""
        return 1 if self._n and (self._pooled is not None or self._doing) else 0

    def latencies(self, room: int) -> list[Line]:
        """Return the percentiles and, if there is room, a histogram below them."""
        if room < self.least or not self.least:
            return []
        faint = self._canvas.palette.faint
        if self._pooled is None or not self._pooled.turns:
            said = self._doing if self._pooled is None else f"latency {latency_reason(self._pooled)}"
            # Columns will come, and what stands below them shall not jump then.
            awaited = room - 1 if self._pooled is None and room > histogram.LEAST_HEIGHT else 0
            return [cut([(f" {said}", faint)], self._canvas.width - 1, self._canvas.glyphs), *[()] * awaited]
        columns = self._columns(room - 1) if room > histogram.LEAST_HEIGHT else []
        return [self._caption(self._pooled, spark=not columns), *columns]

    def _caption(self, pooled: PooledLatency, *, spark: bool) -> Line:
        palette, glyphs = self._canvas.palette, self._canvas.glyphs
        figures: list[Piece] = []
        for share in SHARES:
            seconds = getattr(pooled, share)
            severity = cells.latency_mark(seconds)
            figures += [(f"  {share} ", palette.faint)]
            figures += [(f"{glyphs.mark(severity).strip()}{fixed(seconds, 1)}", palette.of(severity))]
        figures.append((" s", palette.faint))
        if spark:
            figures.append((f"   {histogram.sparkline(pooled.buckets, glyphs)}", palette.accent))
        calls = f"{pooled.kept:,} of {self._n:,} calls" if pooled.kept < self._n else f"{self._n:,} calls"
        said = [f" latency of all {pooled.turns:,} turns of {calls}", f" {pooled.turns:,} turns of {calls}"]
        room = self._canvas.width - 1 - width_of(figures)
        words = next((each for each in said if len(each) <= room), said[-1])
        return cut([(words, palette.faint), *figures], self._canvas.width - 1, glyphs)

    def _columns(self, height: int) -> list[Line]:
        """Return a histogram in the colours of what latencies mean to a caller."""
        assert self._pooled is not None
        palette, ascii_only = self._canvas.palette, self._canvas.glyphs.ascii_only
        width = self._canvas.width - 2
        drawn = histogram.draw(self._pooled.buckets, ascii_only=ascii_only, width=width, height=height)
        placed = histogram.bars(self._pooled.buckets, width)
        if not placed:
            return []
        lines: list[Line] = [((f" {drawn[0]}", palette.faint),)]
        for text in drawn[1:-1]:
            pieces: list[Piece] = [(" ", None)]
            done = 0
            for bar in placed:
                style = palette.of(cells.latency_mark(bar.bucket.low)) or palette.accent
                pieces += [(text[done : bar.start], None), (text[bar.start : bar.end], style)]
                done = bar.end
            lines.append(pieces)
        return [*lines, ((f" {drawn[-1]}", palette.faint),)]


def state_lines(known: Mapping[str, Any], width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return the metrics of a state with their intervals; `known` are the extras of its `neighbors` table.

    Of a state that no call has been in they are those of the step that tasks ask for, if they do.
    """
    metrics, step = known.get("metrics"), known.get("step")
    if not isinstance(metrics, Mapping):
        if not isinstance(step, Mapping):
            return []
        row = Row("", step, severity=cells.step_marks(step))
        said: list[Piece] = [(f"no call took this step of the {step['by']}", palette.faint)]
        return _flowed([said, *_metrics(columns.STEPS, row, glyphs, palette)], width - 1)
    row = Row("", metrics, severity=cells.state_marks(metrics), thin=cells.is_thin(metrics["n"]))
    return _flowed(_metrics([columns.N, *columns.STATE_METRICS, *columns.STEPS], row, glyphs, palette), width - 1)


def blast_lines(known: Mapping[str, Any], width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return what starves if the state breaks, with the calls that each would have seen more."""
    blast = known.get("blast")
    if not blast:
        return []
    said = "  ".join(f"{shown(str(victim['state']), glyphs)} {_starved(victim, glyphs)}" for victim in blast)
    return [((f" {piece}", palette.faint),) for piece in wrap(f"if it breaks, calls starve: {said}", width - 2)]


def _starved(victim: Mapping[str, Any], glyphs: Glyphs) -> str:
    """Return how many calls a state would have seen more, and how many of its own come this way."""
    if victim["starved"] is None:
        return glyphs.not_measured
    return f"+{fixed(victim['starved'], 0)} ({percent(victim['through'])} this way)"


def _metrics(columns: Sequence[Column], row: Row, glyphs: Glyphs, palette: Palette) -> list[list[Piece]]:
    """Return each metric with its interval, as pieces that stay together."""
    intervals = row.record.get("intervals") or {}
    found: list[list[Piece]] = []
    for column in columns:
        value = column.value(row.record)
        if column.kind not in ("number", "count") or value is None or not (column.shown or value):
            continue
        severity = row.severity.get(column.key)
        text = f"{glyphs.mark(severity).strip()}{_figure(column, value, glyphs)}"
        if column.thin and row.thin:
            text += glyphs.thin
        pieces: list[Piece] = [(f"{title(column, glyphs, short=True)} ", palette.faint), (text, palette.of(severity))]
        if column.key in intervals:
            low, high = (_figure(column, end, glyphs) for end in intervals[column.key])
            if low != high:
                pieces.append((f" [{low} {high}]", palette.faint))
        found.append(pieces)
    return found


def _figure(column: Column, value: object, glyphs: Glyphs) -> str:
    if not isinstance(value, int | float):
        return shown(str(value), glyphs)
    return fixed(value, 0 if column.kind == "count" else column.decimals, trim=column.trim)


def _flowed(groups: Sequence[list[Piece]], width: int) -> list[Line]:
    """Put groups of pieces side by side on as few lines as hold them."""
    lines: list[list[Piece]] = []
    used = width + 1
    for group in groups:
        length = width_of(group) + 3
        if used + length > width:
            lines.append([(" ", None)])
            used = 1
        elif len(lines[-1]) > 1:
            lines[-1].append(("   ", None))
        lines[-1] += group
        used += length
    return [tuple(line) for line in lines]
