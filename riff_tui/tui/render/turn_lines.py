"""Write all that is known of one turn of a voice call: both sides' words, timing, sound, tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from riff_tui.charts.transcript import side_lines
from riff_tui.table import Row, Severity, Table
from riff_tui.text.column_fit import wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import fixed
from riff_tui.text.safe_text import padded
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.styled_lines import Line, cut
from riff_tui.tui.render.transcript_lines import colored

_ROOM = 8
_FIGURE = 10


def is_voice(table: Table | None) -> bool:
    """Return whether a table shows a voice call."""
    return table is not None and table.view == "conversation" and "voice" in table.extras


def heading(row: Row, glyphs: Glyphs) -> str:
    """Return what a moment is called, as safe text."""
    turn, role, t = (row.record.get(key) for key in ("turn", "role", "t"))
    kind = "" if row.record.get("kind") == "turn" else str(row.record.get("kind") or "")
    when = f"{fixed(t, 1)} s" if t is not None else ""
    named = [f"turn {turn}" if turn is not None else "", kind or str(role or ""), when]
    return shown(" · ".join(part for part in named if part), glyphs)


def turn_lines(table: Table, row: Row, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return the row under the cursor, then its turn: intended text and transcript, timing, sound, tools."""
    writer = _TurnWriter(width, glyphs, palette)
    turn, at_tool = row.record.get("turn"), row.record.get("kind") in ("tool", "answer")
    if row.record.get("detail") and not at_tool:
        writer.words("", str(row.record["detail"]), row.severity.get("detail"))
    if turn is None:
        return writer.lines
    rows = [each for each in table.rows if each.record.get("turn") == turn]
    voice = table.extras.get("voice")
    known = voice if isinstance(voice, Mapping) else {}
    found: Mapping[str, Any] = next((each for each in known.get("turns") or () if each.get("turn") == turn), {})
    tools = [each for each in known.get("trace") or () if each.get("turn") == turn and each.get("tool")]
    if at_tool:
        writer.tools(tools)
    for role in ("caller", "agent"):
        writer.side(role, rows)
    writer.timing(found, rows)
    writer.sound(known, turn)
    if not at_tool:
        writer.tools(tools)
    return writer.lines


class _TurnWriter:
    def __init__(self, width: int, glyphs: Glyphs, palette: Palette) -> None:
        self.lines: list[Line] = []
        self._width = width
        self._glyphs = glyphs
        self._palette = palette

    def side(self, role: str, rows: Sequence[Row]) -> None:
        """Write the intended text of a side above its transcript."""
        said = next((row for row in rows if row.record.get("role") == role and row.record.get("kind") == "turn"), None)
        if said is None:
            return
        room = self._width - _ROOM - 2
        sides = side_lines(said, room, self._glyphs)
        if sides:
            self._rule(role)
        for name, lines in sides:
            for number, line in enumerate(lines):
                title = padded("" if number else name, _ROOM)
                self.lines.append(((f" {title}", self._palette.faint), *colored(line, self._palette)))

    def timing(self, turn: Mapping[str, Any], rows: Sequence[Row]) -> None:
        """Write the score of turn-taking with its reason, and the figures that it comes from."""
        score, reason = turn.get("turn_taking"), turn.get("reason")
        if score is None and turn.get("latency") is None:
            return
        self._rule("turn-taking")
        marks = [row.severity["turn_taking"] for row in rows if "turn_taking" in row.severity]
        if score is not None:
            said = f"{fixed(score, 2, trim=True)} of 1" + (f", for {reason}" if reason else "")
            self.words("score", said, marks[0] if marks else None)
        if turn.get("latency") is not None:
            self.words("latency", f"{fixed(turn['latency'], 3, trim=True)} s")
        evidence = turn.get("evidence")
        for name, value in evidence.items() if isinstance(evidence, Mapping) else ():
            self._figure(str(name), value)

    def sound(self, voice: Mapping[str, Any], turn: object) -> None:
        """Write when each side could be heard."""
        spans = [(role, span) for role in ("caller", "agent") for span in voice.get(role) or () if span["turn"] == turn]
        if spans:
            self._rule("sound")
        for role, span in spans:
            start, end = span["start"], span["end"]
            self.words(role, f"{fixed(start, 2)} to {fixed(end, 2)} s ({fixed(end - start, 2)} s)")

    def tools(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Write the arguments and the answers of tools, whole."""
        for entry in entries:
            called = entry.get("kind") == "tool_call"
            self._rule(f"{entry.get('tool')} {'called' if called else 'answered'}")
            for line in _value_lines(entry.get("value")):
                self.words("", line)

    def words(self, title: str, text: str, severity: Severity | None = None) -> None:
        """Write raw text at the right of a title."""
        mark = self._glyphs.mark(severity).strip()
        pieces = wrap(f"{mark}{shown(text, self._glyphs)}", self._width - (_ROOM if title else 0) - 2)
        for number, piece in enumerate(pieces):
            head = (f" {padded('' if number else title, _ROOM)}" if title else " ", self._palette.faint)
            self.lines.append((head, (piece, self._palette.of(severity))))

    def _figure(self, name: str, value: object) -> None:
        if isinstance(value, bool):
            said = "yes" if value else "no"
        else:
            said = fixed(value, 3, trim=True) if isinstance(value, int | float) else str(value)
        figure = (padded(shown(said, self._glyphs), _FIGURE, right=True), None)
        line = (figure, (f" {shown(name.replace('_', ' '), self._glyphs)}", self._palette.faint))
        self.lines.append(cut(line, self._width, self._glyphs))

    def _rule(self, word: str) -> None:
        if self.lines:
            self.lines.append(())
        head: Line = ((f" {shown(word, self._glyphs)}", self._palette.head),)
        self.lines.append(cut(head, self._width, self._glyphs))


def _value_lines(value: object) -> Iterator[str]:
    """Return a value as lines, one for each field of an object."""
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield f"{key}: {json.dumps(item, ensure_ascii=False, default=str)}"
    else:
        yield json.dumps(value, ensure_ascii=False, default=str)
