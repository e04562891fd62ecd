"""Write a conversation as lines to read: who said what when, and what happened in between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from riff_tui.table import Row, Severity
from riff_tui.text import word_diff
from riff_tui.text.column_fit import fitted, wrap
from riff_tui.text.glyphs import Glyphs, glyphs, in_ascii, readable
from riff_tui.text.numbers import answered_text, fixed
from riff_tui.text.safe_text import block, cell_width, fit, padded

Wording: TypeAlias = Literal["meant", "heard"]
Tone: TypeAlias = Severity | Literal["faint", "accent", "strong"]
Piece: TypeAlias = tuple[str, Tone | None]
Line: TypeAlias = Sequence[Piece]
"""Pieces of safe text, each with what its colour is to say."""


def said_lines(row: Row, width: int, glyphs: Glyphs) -> list[Line]:
    """Return the text of a row with its differing words marked, nothing if none differ or they are not in it."""
    text, meant, heard = (str(row.record.get(key) or "") for key in ("text", "meant", "heard"))
    if not row.record.get("changed"):
        return []
    labels, rest = word_diff.leading_labels(text)
    if not any(word_diff.same_words(rest, each) for each in (meant, heard)):
        return []
    return flowed([(label, "warn") for label in labels] + _marked(meant, heard), width, glyphs)


def changed_lines(row: Row, width: int, glyphs: Glyphs) -> list[Line]:
    """Return where transcript and intended text differ, for a row whose text is neither."""
    meant, heard = (str(row.record.get(key) or "") for key in ("meant", "heard"))
    if not row.record.get("changed") or said_lines(row, width, glyphs):
        return []
    return flowed([("heard", "faint"), *_marked(meant, heard)], width, glyphs)


def side_lines(row: Row, width: int, glyphs: Glyphs) -> list[tuple[str, list[Line]]]:
    """Return the intended text and the transcript, each whole, with the words that the other one lacks marked."""
    meant, heard = (str(row.record.get(key) or "") for key in ("meant", "heard"))
    found: list[tuple[str, list[Line]]] = []
    sides: tuple[tuple[Wording, str], ...] = (("meant", meant), ("heard", heard))
    for side, text in sides:
        if text:
            own = _marked(meant, heard, only=side) if meant and heard else [(text, None)]
            found.append((side, flowed(own, width, glyphs)))
    return found


def flowed(runs: Iterable[tuple[str, Tone | None]], width: int, glyphs: Glyphs) -> list[Line]:
    """Break runs of raw words into lines of at most `width` cells; a word keeps the tone of its run."""
    lines: list[list[Piece]] = []
    used = width + 1
    for text, tone in runs:
        for word in text.split():
            for number, piece in enumerate(wrap(readable(word, glyphs), width)):
                needed = cell_width(piece) + 1
                if number or used + needed > width:
                    lines.append([])
                    used = -1
                line = lines[-1]
                if line and line[-1][1] == tone:
                    line[-1] = (f"{line[-1][0]} {piece}", tone)
                else:
                    line += [(" ", None), (piece, tone)] if line else [(piece, tone)]
                used += needed
    return [tuple(line) for line in lines]


def width_of(line: Iterable[Piece]) -> int:
    """Return the cells that a line takes."""
    return sum(cell_width(text) for text, _ in line)


def _marked(meant: str, heard: str, *, only: Wording | None = None) -> list[tuple[str, Tone | None]]:
    tones: dict[str, Tone | None] = {"same": None, "meant": "bad", "heard": "accent"}
    return [
        (word_diff.marked(change, text), tones[change])
        for change, text in word_diff.parts(meant, heard, only or "heard")
        if only is None or change in ("same", only)
    ]


_TIME = 7
_WHO = 7
_LATENCY = 9
_TURN = 3
_MOST_OF_ANSWER = 2
_FAINT = frozenset({"guard", "answer", "retried", "sound", "line", "silence"})


class TranscriptLine(NamedTuple):
    """Describe a line of the transcript and the row that it belongs to; notes after the last row belong to none."""

    row: int | None
    line: Line


def transcript_lines(rows: Sequence[Row], notes: Sequence[str], width: int, signs: Glyphs) -> list[TranscriptLine]:
    """Return the rows and notes of a `conversation` table in lines of `width` cells."""
    writer = _TranscriptWriter(width, signs, numbered=any(row.record.get("turn") is not None for row in rows))
    lines = [TranscriptLine(index, line) for index, row in enumerate(rows) for line in writer.row(row)]
    if notes:
        lines.append(TranscriptLine(None, ()))
        lines += [TranscriptLine(None, line) for note in notes for line in writer.note(note)]
    return lines


class Transcript(NamedTuple):
    """Read the rows of a call as lines; `head` are the notes that are above its drawing."""

    head: Sequence[str] = ()

    def lines(self, rows: Sequence[Row], *, width: int, ascii_only: bool = False) -> list[Line]:
        """Return the rows in lines of at most `width` cells."""
        return [each.line for each in transcript_lines(rows, (), width, glyphs(ascii_only))]


class _TranscriptWriter:
    def __init__(self, width: int, glyphs: Glyphs, *, numbered: bool) -> None:
        self._width = width
        self._glyphs = glyphs
        self._indent = " " * (_TIME + _WHO + 3 + (_TURN if numbered else 0))
        self._numbered = numbered
        self._turn: object = None

    def row(self, row: Row) -> list[Line]:
        kind = row.record.get("kind")
        if kind == "state":
            lines = [self._entered(row)]
        elif kind == "step":
            lines = self._step(row) if row.record.get("role") else [self._steps(row)]
        else:
            lines = self._said(row) if kind == "turn" else self._happened(row)
        return [*lines, *self._noted(row), *self._ended(row)]

    def _ended(self, row: Row) -> list[Line]:
        """Return how the call ended, below its last moment."""
        said, severity = str(row.record.get("ended") or ""), row.severity.get("ended")
        room = self._width - len(self._indent) - 3
        if not said:
            return []
        pieces = wrap(readable(said, self._glyphs), room)
        signs = [self._glyphs.arrow, *" " * (len(pieces) - 1)]
        return [((f"{self._indent}{sign} {piece}", severity),) for sign, piece in zip(signs, pieces, strict=True)]

    def _noted(self, row: Row) -> list[Line]:
        """Return what people noted on the moment, below it."""
        room = self._width - len(self._indent) - 3
        lines: list[Line] = []
        for note in row.record.get("notes") or ():
            pieces = wrap(readable(str(note), self._glyphs), room)
            signs = [self._glyphs.noted, *" " * (len(pieces) - 1)]
            lines += [
                ((f"{self._indent}{sign} ", "accent"), (piece, "accent"))
                for sign, piece in zip(signs, pieces, strict=True)
            ]
        return lines

    def note(self, note: str) -> list[Line]:
        return [((f" {piece}", "faint"),) for piece in wrap(readable(note, self._glyphs), self._width - 2)]

    def _entered(self, row: Row) -> Line:
        state, detail, blame = (
            readable(str(row.record.get(key) or ""), self._glyphs) for key in ("state", "detail", "blame")
        )
        rule = self._glyphs.box["ew"]
        head = f"{self._time(row)} {rule}{rule} "
        blame = fit(f"{self._glyphs.bad}{blame}", max(8, self._width // 2), self._glyphs.ellipsis) if blame else ""
        ending: Line = ((f" {blame} ", "bad"), (rule * 2, "faint")) if blame else ()
        tail = f" {detail} " if detail else " "
        room = self._width - cell_width(head) - width_of(ending) - 1
        if blame and cell_width(state) + cell_width(tail) > room:
            tail = " "  # what went wrong here shows more than where the call came from
        name = fit(state, max(8, room - cell_width(tail)), self._glyphs.ellipsis)
        rest = rule * max(0, room - cell_width(name) - cell_width(tail))
        return ((head, "faint"), (name, "bad" if blame else "accent"), (f"{tail}{rest}", "faint"), *ending)

    def _steps(self, row: Row) -> Line:
        """Return the rule above the steps that the task asks for."""
        rule = self._glyphs.box["ew"]
        head = f"{' ' * _TIME} {rule}{rule} {readable(str(row.record.get('detail') or ''), self._glyphs)} "
        head = fit(head, self._width - 1, self._glyphs.ellipsis)
        return ((f"{head}{rule * max(0, self._width - 1 - cell_width(head))}", "faint"),)

    def _step(self, row: Row) -> list[Line]:
        mark = self._mark(row.severity.get("detail"))
        room = self._width - len(self._indent) - 2
        first, *more = self._pieces(f"{mark}{' ' if mark else ''}{row.record.get('detail') or ''}", room)
        who = self._who(readable(str(row.record.get("role") or ""), self._glyphs))
        head = f"{self._time(row)}{'' if not self._numbered else ' ' * _TURN}  {who} "
        tone = row.severity.get("detail")
        return [((head, "faint"), (first, tone)), *(((f"{self._indent}  {piece}", tone),) for piece in more)]

    def _said(self, row: Row) -> list[Line]:
        latency = row.record.get("latency_ms")
        figure = answered_text(latency / 1000) if isinstance(latency, int | float) else ""
        figure = f"{self._mark(row.severity.get('latency_ms'))}{figure}"
        figure = padded(figure, max(_LATENCY, cell_width(figure)), right=True)
        who = readable(str(row.record.get("role") or ""), self._glyphs)
        room = self._width - len(self._indent) - cell_width(figure) - 1
        marked = said_lines(row, room, self._glyphs)
        text = str(row.record.get("text") or "")
        # A voice has no paragraphs, whatever the model wrote.
        pieces = self._pieces(" ".join(text.split()) if self._numbered else text, room)
        first, *more = list[Line](marked or [((piece, None),) for piece in pieces])
        if (again := row.record.get("as_at")) is not None:
            said = f"(as at {fixed(again, 1)})"
            if more and width_of(more[-1]) + 2 + len(said) <= room:
                more[-1] = (*more[-1], (f"  {said}", "faint"))
            elif not more and width_of(first) + 2 + len(said) <= room:
                first = (*first, (f"  {said}", "faint"))
            else:
                more.append(((said, "faint"),))
        head: Line = (
            (f"{self._time(row)}{self._number(row)}  ", "faint"),
            (f"{self._who(who)} ", "strong" if who == "agent" else None),
            *first,
            (" " * (room - width_of(first) + 1), None),
            (figure, row.severity.get("latency_ms")),
        )
        more += changed_lines(row, room, self._glyphs)
        severity = row.severity.get("detail")
        detail = f"{self._mark(severity)}{row.record.get('detail') or ''}"
        more += [((piece, severity or "faint"),) for piece in (self._pieces(detail, room) if detail else ())]
        more += self._timing(row, room)
        return [head, *(((self._indent, None), *line) for line in more)]

    def _timing(self, row: Row, room: int) -> list[Line]:
        """Return how badly an answer was timed, nothing if it was not."""
        severity = row.severity.get("turn_taking")
        if severity is None:
            return []
        said = f"{self._mark(severity)}turn-taking {fixed(row.record['turn_taking'], 2, trim=True)} of 1"
        reason = row.record.get("reason")
        pieces = self._pieces(f"{said}: {reason}" if reason else said, room)
        return [((piece, severity),) for piece in pieces]

    def _happened(self, row: Row) -> list[Line]:
        kind = str(row.record.get("kind") or "")
        sign = {"slot": self._glyphs.event, "tool": self._glyphs.arrow}.get(kind, "")
        severity = row.severity.get("detail") or row.severity.get("")
        tone: Tone | None = "faint" if kind in _FAINT and severity is None else severity
        mark = self._mark(row.severity.get("detail")) or sign
        said = f"{mark} {'' if kind == 'slot' else f'{kind} '}".lstrip()
        room = self._width - len(self._indent) - 2
        first, *more = self._pieces(f"{said}{row.record.get('detail') or ''}", room)
        if kind == "answer" and len(more) >= _MOST_OF_ANSWER:
            # The first lines of a tool's answer say what it is.
            more = more[: _MOST_OF_ANSWER - 1]
            more[-1] = fit(f"{more[-1]} {self._glyphs.ellipsis}", room, self._glyphs.ellipsis)
        head = f"{self._time(row)}{self._number(row)}  {' ' * _WHO} "
        return [((head, "faint"), (first, tone)), *(((f"{self._indent}  {piece}", tone),) for piece in more)]

    def _pieces(self, text: object, width: int) -> list[str]:
        safe = block(str(text or ""))
        safe = "\n".join(in_ascii(line) for line in safe.split("\n")) if self._glyphs.ascii_only else safe
        return [piece for line in safe.split("\n") for piece in wrap(line, width)]

    def _time(self, row: Row) -> str:
        t = row.record.get("t")
        return padded(fixed(t, 1) if isinstance(t, int | float) else "", _TIME, right=True)

    def _number(self, row: Row) -> str:
        """Return the number of a voice call's turn on its first row."""
        turn = row.record.get("turn")
        before, self._turn = self._turn, turn
        if not self._numbered:
            return ""
        return fitted(str(turn) if turn is not None and turn != before else "", _TURN, "", right=True)

    def _who(self, who: str) -> str:
        return fitted(who, _WHO, self._glyphs.ellipsis)

    def _mark(self, severity: Severity | None) -> str:
        return self._glyphs.mark(severity).strip()
