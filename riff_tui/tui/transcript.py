"""A conversation's moments as lines to read: who said what when, and what happened in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style

from riff_tui.glyphs import Glyphs, in_ascii
from riff_tui.numbers import fixed
from riff_tui.safe_text import block, cell_width, fit, padded
from riff_tui.table import Row, Severity
from riff_tui.tui.columns import shown
from riff_tui.tui.lines import Line, wrapped
from riff_tui.tui.palette import Palette

_TIME = 7
_WHO = 7
_LATENCY = 9


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the transcript and the row that it belongs to; notes after the last row belong to none."""

    row: int | None
    line: Line


def tell(rows: Sequence[Row], notes: Sequence[str], width: int, glyphs: Glyphs, palette: Palette) -> list[Told]:
    """The rows and notes of a `conversation` table in lines of `width` cells."""
    teller = _Teller(width, glyphs, palette)
    told = [Told(index, line) for index, row in enumerate(rows) for line in teller.row(row)]
    if notes:
        told.append(Told(None, ()))
        told += [Told(None, line) for note in notes for line in teller.note(note)]
    return told


class _Teller:
    def __init__(self, width: int, glyphs: Glyphs, palette: Palette) -> None:
        self._width = width
        self._glyphs = glyphs
        self._palette = palette

    def row(self, row: Row) -> list[Line]:
        kind = row.record.get("kind")
        if kind == "state":
            return [self._entered(row)]
        return self._said(row) if kind == "turn" else self._happened(row)

    def note(self, note: str) -> list[Line]:
        return [((f" {piece}", self._palette.faint),) for piece in wrapped(shown(note, self._glyphs), self._width - 2)]

    def _entered(self, row: Row) -> Line:
        state, detail = (shown(str(row.record.get(key) or ""), self._glyphs) for key in ("state", "detail"))
        rule = self._glyphs.box["ew"]
        head = f"{self._time(row)} {rule}{rule} "
        tail = f" {detail} " if detail else " "
        room = self._width - cell_width(head) - cell_width(tail) - 1
        name = fit(state, max(8, room), self._glyphs.ellipsis)
        line = f"{tail}{rule * max(0, room - cell_width(name))}"
        return ((head, self._palette.faint), (name, self._palette.accent), (line, self._palette.faint))

    def _said(self, row: Row) -> list[Line]:
        latency = row.record.get("latency_ms")
        figure = f"{fixed(latency / 1000, 1)} s" if isinstance(latency, int | float) else ""
        mark = self._mark(row.severity.get("latency_ms"))
        who = shown(str(row.record.get("role") or ""), self._glyphs)
        style = Style(bold=True) if who == "agent" else None
        pieces = self._pieces(row.record.get("text"), self._width - _TIME - _WHO - _LATENCY - 4)
        room = self._width - _TIME - _WHO - _LATENCY - 4
        head: list[Line] = [
            (
                (f"{self._time(row)}  ", self._palette.faint),
                (self._who(who), style),
                (f" {padded(pieces[0], room)} ", None),
                (padded(f"{mark}{figure}", _LATENCY, right=True), self._palette.of(row.severity.get("latency_ms"))),
            )
        ]
        indent = " " * (_TIME + _WHO + 3)
        named = self._pieces(row.record["detail"], room) if row.record.get("detail") else []
        lines = [(piece, None) for piece in pieces[1:]] + [(piece, self._palette.faint) for piece in named]
        return head + [((indent + piece, style),) for piece, style in lines]

    def _happened(self, row: Row) -> list[Line]:
        kind = str(row.record.get("kind") or "")
        sign = {"slot": self._glyphs.event, "tool": self._glyphs.arrow}.get(kind, "")
        severity = row.severity.get("detail") or row.severity.get("")
        style = self._palette.faint if kind == "guard" and severity is None else self._palette.of(severity)
        mark = self._mark(row.severity.get("detail")) or sign
        said = f"{mark} {'' if kind == 'slot' else f'{kind} '}".lstrip()
        indent = " " * (_TIME + _WHO + 3)
        pieces = self._pieces(f"{said}{row.record.get('detail') or ''}", self._width - len(indent) - 1)
        first: Line = ((f"{self._time(row)}  {' ' * _WHO} ", self._palette.faint), (pieces[0], style))
        return [first, *(((f"{indent}  {piece}", style),) for piece in pieces[1:])]

    def _pieces(self, text: object, width: int) -> list[str]:
        safe = block(str(text or ""))
        safe = "\n".join(in_ascii(line) for line in safe.split("\n")) if self._glyphs.ascii_only else safe
        return [piece for line in safe.split("\n") for piece in wrapped(line, width)]

    def _time(self, row: Row) -> str:
        t = row.record.get("t")
        return padded(fixed(t, 1) if isinstance(t, int | float) else "", _TIME, right=True)

    def _who(self, who: str) -> str:
        return padded(fit(who, _WHO, self._glyphs.ellipsis), _WHO)

    def _mark(self, severity: Severity | None) -> str:
        return self._glyphs.mark(severity).strip()
