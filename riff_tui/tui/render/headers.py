"""Head the conversations of a state with its graph and metrics, and a conversation with how it ended and its lanes.

If there is no room for all of it, what the fold names comes first and the rest is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from rich.style import Style

from riff_store.metrics import METRICS
from riff_tui.charts import histogram
from riff_tui.charts.lanes import Lanes, Tone
from riff_tui.table import Column, Row, Table
from riff_tui.text.column_fit import hanging, shared_prefix, wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import SHARE, ends_text, fixed, interval_text, percent
from riff_tui.text.safe_text import cell_width, fit
from riff_tui.tui.render.columns import shown, title
from riff_tui.tui.render.styled_lines import Line, Palette, Piece, add_style, cut, width_of
from riff_tui.views.conversations import caller_texts, failure_text
from riff_tui.views.neighbors import SHARES, StateFigure, latency_reason, never_reached
from riff_tui.views.parts import cells, columns, moment_details, notes

if TYPE_CHECKING:
    from riff_store.queries.latencies import PooledLatency

Fold: TypeAlias = Literal["all", "graph", "latencies", "list"]
_TALL = 5
_TALLEST = 12
_PART, _OF_ROOM = 2, 3
"""The part of what may stand above the rows of a state that does, where its graph is not looked at."""
_DECIDING = ("n", "stall", "escalation", "slow", "slot_fill_rate", "guard_error", "revisit", "dwell_turns", "progress")
"""The metrics of a state in the order in which they are told where there is little room."""


class Canvas(NamedTuple):
    """Describe how much room there is, and what to draw with."""

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
    fold: Fold,
    graph: Callable[[int], Sequence[Line]],
    table: Table,
    pooled: PooledLatency | None,
    doing: str,
    canvas: Canvas,
) -> list[Line]:
    """Return the lines that fit; `graph` draws itself in some lines, `doing` shows that latencies are being loaded."""
    if fold == "list":
        return []
    width, glyphs, palette = canvas.width, canvas.glyphs, canvas.palette
    about = _LatencyLines(table.extras, pooled, doing, canvas)
    if fold == "latencies":
        metrics = state_lines(table.extras, width, glyphs, palette)[: canvas.room]
        return [*metrics, *about.latencies(min(canvas.room - len(metrics), _TALLEST))]
    said = _said_lines(table.lead, table.extras, width, glyphs, palette)
    lost = shown(never_reached(table.extras.get("blast") or ()), glyphs)
    missed = [((f" {fit(lost, width - 2, glyphs.ellipsis)}", palette.quiet),)] if lost else []
    short = state_lines(table.extras, width, glyphs, palette, first=_DECIDING)[:1]
    # Rows keep most of the screen, unless the cursor is in the graph.
    room = canvas.room if fold == "graph" else canvas.room * _PART // _OF_ROOM
    found: dict[str, Sequence[Line]] = dict.fromkeys(("said", "graph", "missed", "metrics", "latencies"), ())

    def left() -> int:
        return room - sum(map(len, found.values()))

    # What decides comes first, and half a graph shows nothing.
    ranked = {"graph": graph(room)} if fold == "graph" else {}
    ranked |= {"metrics": short, "said": said} if fold == "all" else {"said": said, "metrics": short}
    for part, lines in ranked.items():
        found[part] = lines[: left()] if len(lines) <= left() or part == "graph" else ()
    least = about.latencies(about.least)
    if fold == "all":
        drawn = graph(left() - len(least) - len(missed))
        drawn = drawn if len(drawn) <= left() - len(least) else graph(left() - len(least))
        found["graph"] = drawn if len(drawn) <= left() - len(least) else ()
    found["latencies"] = least if len(least) <= left() else ()
    found["missed"] = missed if len(missed) <= left() else ()
    whole = state_lines(table.extras, width, glyphs, palette)
    if fold == "all" and found["metrics"] and left() >= len(whole) - 1 + _TALL:
        found["metrics"] = whole
        found["latencies"] = about.latencies(min(left() + len(least), _TALL + 1))
    return [line for part in found.values() for line in part]


class _LatencyLines:
    """Write the lines about latencies."""

    def __init__(self, known: Mapping[str, Any], pooled: PooledLatency | None, doing: str, canvas: Canvas) -> None:
        metrics = known.get("metrics")
        self._n = metrics["n"] if isinstance(metrics, Mapping) else 0
        self._typed = "typed" in known
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
        faint = self._canvas.palette.quiet
        if self._pooled is None or not self._pooled.turns:
            said = self._doing if self._pooled is None else f"latency {latency_reason(self._pooled)}"
            # Columns will come, and what is below them shall not jump then.
            awaited = room - 1 if self._pooled is None and room > histogram.LEAST_HEIGHT else 0
            return [cut([(f" {said}", faint)], self._canvas.width - 1, self._canvas.glyphs), *[()] * awaited]
        columns = self._columns(room - 1) if room > histogram.LEAST_HEIGHT else []
        return [self._caption(self._pooled, spark=not columns), *columns]

    def _caption(self, pooled: PooledLatency, *, spark: bool) -> Line:
        palette, glyphs = self._canvas.palette, self._canvas.glyphs
        figures: list[Piece] = []
        for share in SHARES:
            seconds = getattr(pooled, share)
            severity = None if self._typed else cells.latency_mark(seconds)
            figures += [(f"  {share} ", palette.quiet)]
            figures += [(f"{glyphs.mark(severity).strip()}{fixed(seconds, 1)}", palette.of(severity))]
        figures.append((" s", palette.quiet))
        if spark:
            figures.append((f"   {histogram.sparkline(pooled.buckets, glyphs)}", palette.place))
        calls = f"{pooled.kept:,} of {self._n:,} calls" if pooled.kept < self._n else f"{self._n:,} calls"
        said = [f" latency of all {pooled.turns:,} turns of {calls}", f" {pooled.turns:,} turns of {calls}"]
        room = self._canvas.width - 1 - width_of(figures)
        words = next((each for each in said if len(each) <= room), said[-1])
        return cut([(words, palette.quiet), *figures], self._canvas.width - 1, glyphs)

    def _columns(self, height: int) -> list[Line]:
        """Return a histogram in the colours of what latencies mean to a caller."""
        assert self._pooled is not None
        palette, ascii_only = self._canvas.palette, self._canvas.glyphs.ascii_only
        width = self._canvas.width - 2
        drawn = histogram.draw(self._pooled.buckets, ascii_only=ascii_only, width=width, height=height)
        placed = histogram.bars(self._pooled.buckets, width)
        if not placed:
            return []
        lines: list[Line] = [((f" {drawn[0]}", palette.quiet),)]
        for text in drawn[1:-1]:
            pieces: list[Piece] = [(" ", None)]
            done = 0
            for bar in placed:
                mark = None if self._typed else cells.latency_mark(bar.bucket.low)
                style = palette.of(mark) or palette.place
                pieces += [(text[done : bar.start], None), (text[bar.start : bar.end], style)]
                done = bar.end
            lines.append(pieces)
        return [*lines, ((f" {drawn[-1]}", palette.quiet),)]


def state_lines(
    known: Mapping[str, Any], width: int, glyphs: Glyphs, palette: Palette, first: Sequence[str] = ()
) -> list[Line]:
    """Return the metrics of a state with their intervals; `known` are the extras of its `neighbors` table.

    Of a state that no call has been in they are those of the step that tasks ask for, if they do. Those that are named
    `first` come first.
    """
    metrics, step = known.get("metrics"), known.get("step")
    if not isinstance(metrics, Mapping):
        if not isinstance(step, Mapping):
            return []
        row = Row("", step, severity=cells.step_marks(step))
        said: list[Piece] = [(f"no call took this step of the {step['by']}", palette.quiet)]
        return _flowed([said, *_metrics(columns.STEPS, row, glyphs, palette)], width - 1)
    row = Row(
        "", metrics, severity=cells.state_marks(metrics, typed="typed" in known), thin=cells.is_thin(metrics["n"])
    )
    some = [columns.N, *columns.STATE_METRICS, *columns.STEPS]
    some.sort(key=lambda column: first.index(column.key) if column.key in first else len(first))
    return _flowed(_metrics(some, row, glyphs, palette), width - 1)


def _said_lines(lead: str, known: Mapping[str, Any], width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return the sentence to read first, with how many calls fail in the colour of that."""
    said: list[str] = []
    # A sentence that has no room beside the one before it begins a line.
    for sentence in re.split(r"(?<=\.) ", shown(lead, glyphs)) if lead else ():
        if said and len(said[-1]) + len(sentence) + 2 <= width:
            said[-1] += f" {sentence}"
        else:
            said += wrap(sentence, width - 1)
    lines: list[Line] = [((f" {line}", palette.head),) for line in said]
    metrics = known.get("metrics")
    fails, colon, _ = lead.partition(":")
    if lines and colon and isinstance(metrics, Mapping):
        style = add_style(palette.head, palette.of(cells.stall_mark(metrics["failed"] / max(1, metrics["n"]))))
        lines[0] = ((f" {fails}", style), (lines[0][0][0][len(fails) + 1 :], palette.head))
    return lines


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
        pieces: list[Piece] = [(f"{title(column, glyphs, short=True)} ", palette.quiet), (text, palette.of(severity))]
        if column.key in intervals:
            found_ends = intervals[column.key]
            ends = ends_text(column, found_ends) if column.unit == SHARE else ""
            ends = ends.removesuffix("%") or interval_text(found_ends, column.decimals, trim=column.trim)
            if len(set(re.split(" to |–", ends))) > 1:
                pieces.append((f" [{shown(ends, glyphs)}]", palette.quiet))
        found.append(pieces)
    return found


def _figure(column: Column, value: object, glyphs: Glyphs) -> str:
    if not isinstance(value, int | float):
        return shown(str(value), glyphs)
    if column.unit == SHARE:
        return percent(value)
    return fixed(value, 0 if column.kind == "count" else column.decimals, trim=column.trim)


def _flowed(groups: Sequence[list[Piece]], width: int) -> list[Line]:
    """Put groups of pieces side by side on as few lines as fit them."""
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


Nearness: TypeAlias = Literal["all", "part", "nearest"]

STEP = 2
SHORTEST_S = 2.0
MOST_LEGEND_LINES = 2
MOST_STEP_LINES = 2
_HUMANNESS = "humanness"
_A_SCORE = 2
"""The pieces of a line that a score takes: who gave it, and what it is."""
_ASPECTS = [(metric.key, metric.short) for metric in METRICS if metric.kind == "call" and metric.shown]
_OPTIONAL = [metric for metric in METRICS if metric.optional]


def conversation_lines(
    table: Table, width: int, glyphs: Glyphs, palette: Palette, *, is_short: bool = False
) -> list[Line]:
    """Return a line on how the call ended and who took part, and what it scored, in as many as that takes.

    A short head has one line on where the call failed, or how it ended, and what judges say, and one on steps of its
    task that were missed.
    """
    call = table.extras.get("call")
    if not isinstance(call, Mapping):
        return [((f" {fit(shown(note, glyphs), width - 2, glyphs.ellipsis)}", None),) for note in list(table.notes)[:2]]
    first = _first_line(table, call, width - 1, glyphs, palette, is_short=is_short)
    steps, missed = moment_details.step_text(table)
    steps = steps if missed or not is_short else ""
    style = palette.bad if missed else None
    lines = [first] if is_short else [first, *_scores(table, width - 1, glyphs, palette)]
    lines += [[(f" {line}", style)] for line in _broken(shown(steps, glyphs), width - 3, glyphs)] if steps else []
    noted = notes.told(table)
    lines += [[(f" {shown(noted, glyphs)}", palette.head)]] if noted else []
    return [cut(line, width - 1, glyphs) for line in lines]


def _first_line(
    table: Table, call: Mapping[str, Any], width: int, glyphs: Glyphs, palette: Palette, *, is_short: bool
) -> list[Piece]:
    """Return where a call failed, or how it ended, and what is known besides, of which all that has room is whole."""
    where = f" in {call['final_state']}" if call.get("final_state") else ""
    ended = f"{call.get('stop_reason') or 'ended'}{where}"
    caller, failed_caller = caller_texts(call), call.get("caller_ok") is False
    is_bad = bool(call.get("kind")) or call.get("completed") is False
    said = failure_text(call, is_short=True) if call.get("kind") else ended
    must = caller if failed_caller else []
    if call.get("errored") and not failed_caller:
        must = [f"errored: {call.get('error') or 'the agent or its backend was broken'}"]
    ended = ended if call.get("final_state") != call.get("first_failed") else ended.removesuffix(where)
    more = [ended] if call.get("kind") and str(call.get("stop_reason")) not in said else []
    if is_short:
        verdicts = table.extras.get("aspects", {}).get("judged") or ()
        judged = [each for each in verdicts if each["aspect"] == _HUMANNESS and each["score"] is not None]
        alike = shared_prefix(str(each["judge"]) for each in judged)
        more += [f"{str(each['judge']).removeprefix(alike)} {fixed(each['score'], 1)}" for each in judged]
    else:
        more += [f"status {call['final_status']}"] if call.get("final_status") else []
        more += [] if failed_caller else caller
    more += [f"{key} {call[key]}" for key in ("persona", "scenario", "flow", "agent", "run") if call.get(key)]
    head = shown(f"{glyphs.bad if is_bad else ' '}{said}", glyphs)
    rest = shown("".join(f" · {each}" for each in must), glyphs)
    for part in (shown(f" · {each}", glyphs) for each in more):
        if cell_width(head + rest + part) > width:
            break
        rest += part
    return [(head, palette.bad if is_bad else None), (rest, None)]


class LanesHeader:
    """Show `lanes` whole, or a part of them that stays around the turn under the cursor."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self._times = 1
        self._centre = sum(lanes.extent) / 2

    @property
    def nearness(self) -> Nearness:
        """Return how near the view is."""
        if self._times == 1 and not self._can_near:
            return "nearest"
        return "all" if self._times == 1 else "part" if self._can_near else "nearest"

    def take(self, lanes: Lanes) -> None:
        """Take the lanes of the same call, reloaded; the part that is shown stays."""
        self.lanes = replace(lanes, window=self.lanes.window, at=self.lanes.at)

    def follow(self, row: Row | None) -> None:
        """Highlight the turn of the row under the cursor, and scroll to it."""
        turn = row.record.get("turn") if row is not None else None
        if turn == self.lanes.at:
            return
        focus = self.lanes.focus(turn) if isinstance(turn, int) else None
        start, end = self.lanes.shown
        if focus is not None and not start <= focus <= end:
            self._centre = focus
        self._show(turn if isinstance(turn, int) else None)

    def zoom(self, nearer: bool) -> None:
        """Zoom in on where the agent answers in the turn under the cursor, or out."""
        focus = self.lanes.focus(self.lanes.at) if self.lanes.at is not None else None
        start, end = self.lanes.shown
        if focus is not None and start <= focus <= end:
            self._centre = focus
        self._times = self._times * STEP if nearer else max(1, self._times // STEP)
        self._show(self.lanes.at)

    def pan(self, direction: int) -> None:
        """Show what comes before (-1) or after (1), half of it new."""
        start, end = self.lanes.shown
        self._centre = (start + end) / 2 + direction * (end - start) / 2
        self._show(self.lanes.at)

    def lines(self, width: int, glyphs: Glyphs, palette: Palette, *, is_short: bool = False) -> list[Line]:
        """Return the lanes in lines of at most `width` cells, with a legend of one line on short screens."""
        styles: Mapping[Tone, Style | None] = {
            "faint": palette.quiet,
            "caller": palette.caller,
            "agent": palette.agent,
            "both": palette.bad,
            "bad": palette.bad,
            "warn": palette.warn,
            "tool": palette.tool,
            "here": palette.cursor,
        }
        drawn = self.lanes.painted(
            ascii_only=glyphs.ascii_only, width=width - 2, legend_lines=1 if is_short else MOST_LEGEND_LINES
        )
        return [((" ", None), *((text, styles.get(tone) if tone else None) for text, tone in line)) for line in drawn]

    @property
    def _can_near(self) -> bool:
        first, last = self.lanes.extent
        return (last - first) / (self._times * STEP) >= SHORTEST_S

    def _show(self, at: int | None) -> None:
        first, last = self.lanes.extent
        half = (last - first) / self._times / 2
        self._centre = max(first + half, min(last - half, self._centre))
        window = (self._centre - half, self._centre + half) if self._times > 1 else None
        self.lanes = replace(self.lanes, window=window, at=at)


def _broken(text: str, width: int, glyphs: Glyphs) -> list[str]:
    """Return a text in at most `MOST_STEP_LINES` lines."""
    lines = hanging(text, width, 2)
    rest = " ".join(line.strip() for line in lines[MOST_STEP_LINES - 1 :])
    return [*lines[: MOST_STEP_LINES - 1], *([fit(f"  {rest}", width, glyphs.ellipsis)] if rest else [])]


def _scores(table: Table, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    aspects = table.extras.get("aspects")
    aspects = aspects if isinstance(aspects, Mapping) else {}
    judged = _judged(aspects.get("judged") or (), glyphs, palette)
    heard = columns.interaction_text(table.extras.get("interaction"))
    lines: list[list[Piece]] = [[(" ", None), *_computed(aspects.get("computed") or {}, palette)]]
    for pieces in (judged, [(shown(heard, glyphs), None)] if heard else []):
        if pieces and width_of([*lines[-1], *pieces]) > width:
            lines.append([(" ", None)])
        for start in range(0, len(pieces), _A_SCORE):
            if width_of([*lines[-1], *pieces[start : start + _A_SCORE]]) > width and len(lines[-1]) > 1:
                lines.append([(" ", None)])
            lines[-1] += pieces[start : start + _A_SCORE]
    return [tuple(line) for line in lines]


def _judged(verdicts: Iterable[Mapping[str, Any]], glyphs: Glyphs, palette: Palette) -> list[Piece]:
    """Return what judges said, each judge with what it judged if that is neither humanness nor its own name."""
    pieces: list[Piece] = []
    before = None
    for verdict in sorted(verdicts, key=lambda verdict: str(verdict.get("judge"))):
        judge, aspect = str(verdict.get("judge")), verdict.get("aspect")
        names = [] if aspect in (None, _HUMANNESS, judge) else [str(aspect)]
        names = names if names and judge == before else [judge, *names]
        before = judge
        score = "unscored" if verdict.get("score") is None else fixed(verdict["score"], 1)
        pieces += [(f"{shown(' '.join(names), glyphs)} ", palette.quiet), (f"{score}  ", None)]
    return pieces


def _computed(computed: Mapping[str, Any], palette: Palette) -> list[Piece]:
    pieces: list[Piece] = []
    for key, word in _ASPECTS:
        pieces += [(f"{word} ", palette.quiet), (f"{fixed(computed.get(key), 1)}  ", None)]
    for metric in _OPTIONAL:
        value = computed.get(metric.key)
        if value is not None and not (metric.rate_of and value >= metric.bounds[1]):  # a yes is not news
            pieces += [
                (f"{metric.short or metric.title} ", palette.quiet),
                (f"{fixed(value, metric.decimals)}  ", None),
            ]
    return pieces
