"""Head a conversation: how it ended and what it scored, and the lanes of a voice call around the cursor's turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

from rich.style import Style

from riff_store.metrics import METRICS
from riff_tui.charts.lane_painter import Tone
from riff_tui.charts.lanes import Lanes
from riff_tui.table import Row, Table
from riff_tui.text.column_fit import hanging
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import fixed
from riff_tui.text.safe_text import fit
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.styled_lines import Line, Piece, cut, width_of
from riff_tui.views.conversations import caller_texts, failure_text
from riff_tui.views.parts import columns, moment_details, notes

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


def conversation_lines(table: Table, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return a line on how the call ended and who took part, and what it scored, in as many as that takes."""
    call = table.extras.get("call")
    if not isinstance(call, Mapping):
        return [((f" {fit(shown(note, glyphs), width - 2, glyphs.ellipsis)}", None),) for note in list(table.notes)[:2]]
    where = f" in {call['final_state']}" if call.get("final_state") else ""
    ended = f"{call.get('stop_reason') or 'ended'}{where}"
    good = call.get("completed")
    style = palette.bad if good is False else None
    mark = glyphs.bad if good is False else " "
    caller, failed_caller = caller_texts(call), call.get("caller_ok") is False
    said = caller if failed_caller else []
    said += [f"status {call['final_status']}"] if call.get("final_status") else []
    is_broken = call.get("errored") and not failed_caller
    said += [f"errored: {call.get('error') or 'the agent or its backend was broken'}"] if is_broken else []
    said += [] if failed_caller else caller
    failed = failure_text(call) if call.get("failure") else ""
    said += [failed[0].lower() + failed[1:]] if failed else []
    said += [f"{key} {call[key]}" for key in ("persona", "scenario", "flow", "agent", "run") if call.get(key)]
    first = [(f"{mark}{shown(ended, glyphs)}", style), (shown(f" · {' · '.join(said)}", glyphs), None)]
    steps, missed = moment_details.step_text(table)
    style = palette.bad if missed else None
    lines = [first, *_scores(table, width - 1, glyphs, palette)]
    lines += [[(f" {line}", style)] for line in _broken(shown(steps, glyphs), width - 3, glyphs)] if steps else []
    noted = notes.told(table)
    lines += [[(f" {shown(noted, glyphs)}", palette.head)]] if noted else []
    return [cut(line, width - 1, glyphs) for line in lines]


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
        styles = _styles(palette)
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
    """Return what judges said, each judge with what it judged where that is neither humanness nor its own name."""
    pieces: list[Piece] = []
    before = None
    for verdict in sorted(verdicts, key=lambda verdict: str(verdict.get("judge"))):
        judge, aspect = str(verdict.get("judge")), verdict.get("aspect")
        names = [] if aspect in (None, _HUMANNESS, judge) else [str(aspect)]
        names = names if names and judge == before else [judge, *names]
        before = judge
        score = "unscored" if verdict.get("score") is None else fixed(verdict["score"], 1)
        pieces += [(f"{shown(' '.join(names), glyphs)} ", palette.faint), (f"{score}  ", None)]
    return pieces


def _computed(computed: Mapping[str, Any], palette: Palette) -> list[Piece]:
    pieces: list[Piece] = []
    for key, word in _ASPECTS:
        pieces += [(f"{word} ", palette.faint), (f"{fixed(computed.get(key), 1)}  ", None)]
    for metric in _OPTIONAL:
        value = computed.get(metric.key)
        if value is not None and not (metric.rate_of and value >= metric.bounds[1]):  # a yes is no news
            pieces += [
                (f"{metric.short or metric.title} ", palette.faint),
                (f"{fixed(value, metric.decimals)}  ", None),
            ]
    return pieces


def _styles(palette: Palette) -> Mapping[Tone, Style | None]:
    return {
        "faint": palette.faint,
        "caller": palette.accent,
        "agent": palette.good,
        "both": palette.bad,
        "bad": palette.bad,
        "warn": palette.warn,
        "tool": palette.head,
        "here": palette.cursor,
    }
