"""Write all that is known of one row, or of one turn of a voice call, in lines for the detail pane."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.style import Style

from riff_store.measure import GUARD_ERRORS, HEALTHY_PROGRESS, HIGH, LONG_DWELL, OFTEN_SLOW, SLOW, THIN
from riff_tui.charts.neighbor_figure import drawing
from riff_tui.charts.transcript import side_lines
from riff_tui.table import Column, Row, Severity, Table, as_read, label
from riff_tui.text.column_fit import fitted, name_cut, wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import SHARE, answered_text, fixed, interval_text, percent, ranked, value_text
from riff_tui.text.safe_text import cell_width, padded
from riff_tui.tui.data.lists import INTERVAL, is_ranked
from riff_tui.tui.render.columns import PLACE, TREND, is_trend, shown, text_of
from riff_tui.tui.render.styled_lines import Line, LineWriter, Palette, Piece, colored, cut, transcript_lines, width_of
from riff_tui.views.parts.cells import (
    ALIGNED,
    BAD_SCORE,
    FAIR,
    HARDLY,
    LATE,
    MOSTLY_SLOW,
    SLIGHT,
    UNALIGNED,
    WATCHED,
    WEAK_SCORE,
)

EXCERPT = 12
"""So many lines of a call stand around the moment where it opens."""
MOST_SUSPICIOUS = 3
FINEST = 3
_WIDEST_TITLE = 16
_FIGURE = 8
_UNIT = 7
_MOST_ITEMS = 40
_UNTOLD = frozenset({"intervals", "list"})


def detail_lines(
    table: Table, row: Row, width: int, glyphs: Glyphs, palette: Palette, preview: Table | None = None
) -> list[Line]:
    """Return what the row leads to, and its whole record: why it is marked, each value with its unit and interval.

    `preview` is the funnel of a flow, the neighbours of a state, or a call, of which what was said follows.
    """
    writer = _DetailWriter(width, glyphs, palette)
    if preview is not None:
        writer.preview(preview, is_of_part=row.record.get("segment") is not None)
    writer.marks(table, row)
    writer.record(table, row)
    if preview is not None and preview.view == "conversation":
        writer.lines.append(())
        writer.rule("transcript")
        writer.lines += [each.line for each in transcript_lines(preview.rows, (), width, glyphs, palette)]
    return writer.lines


def funnel_lines(table: Table, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return the states of a funnel: how many calls came to each, as a bar too, and how many failed there in red."""
    rows = as_read(table).rows
    names = [shown(row.display.get("state") or str(row.record.get("state") or ""), glyphs) for row in rows]
    column = min(max(map(cell_width, names), default=0), max(8, width // 2 - 4))
    room = max(0, width - column - 14)
    cut = name_cut(names, column, glyphs.ellipsis, most=0)
    lines: list[Line] = []
    for row, name in zip(rows, names, strict=True):
        bar, failed = row.bars.get("bar"), row.record.get("failed") or 0
        drawn = padded("" if bar is None else glyphs.parted_bar(bar.share, bar.hatched, room), room)
        figure = padded(f"{failed:,}" if failed else "", 5, right=True)
        whole = drawn.rstrip(glyphs.hatched + " ")
        lines.append(
            (
                (f" {padded(cut.text(name), column)} ", None),
                (padded(f"{row.record.get('reached'):,}", 6, right=True), palette.quiet),
                (f" {whole}", None),
                (drawn[len(whole) :], palette.bad),
                (figure, palette.of(row.severity.get("failed"))),
            )
        )
    return lines


def heading(table: Table, row: Row, glyphs: Glyphs) -> str:
    """Return what the row is called, as safe text."""
    return text_of(PLACE, row, glyphs) if row.display.get("place") else shown(label(table, row), glyphs)


class _DetailWriter(LineWriter):
    _room = 0

    def preview(self, table: Table, *, is_of_part: bool = False) -> None:
        """Write of a flow its funnel, of a state its graph, of a call the lines around the moment where it opens."""
        before = len(self.lines)
        if table.view == "funnel":
            if is_of_part and len(table.rows):
                flow = shown(str(table.rows[0].record["flow"]), self._glyphs)
                self._text(f"Whole flow {flow}: calls · failed", self._palette.quiet)
            self.lines += funnel_lines(table, self._width, self._glyphs, self._palette)
        elif table.view == "neighbors":
            graph = getattr(table.figure, "graph", None)
            drawn = drawing(graph, ascii_only=self._glyphs.ascii_only, width=self._width - 2).lines if graph else ()
            self.lines += [((f" {line}", None),) for line in drawn]
            self._suspicions(table)
        else:
            self._excerpt(table)
        if len(self.lines) > before:
            self.rule("details")

    def _suspicions(self, table: Table) -> None:
        """Write which steps around a state go most with failing, if that is known."""
        known = [row for row in table.rows if row.record.get("suspicion") is not None and row.record.get("state")]
        known.sort(key=lambda row: -row.record["suspicion"])
        here = str(table.extras.get("state") or "")
        said = []
        for row in known[:MOST_SUSPICIOUS]:
            other, figure = str(row.record["state"]), fixed(row.record["suspicion"], 2)
            step = f"{other} → {here}" if row.record["direction"] == "in" else f"{here} → {other}"
            said.append(f"{step} {figure}")
        if said:
            self._text(shown(f"suspicion of steps: {' · '.join(said)}", self._glyphs), self._palette.quiet)

    def _excerpt(self, table: Table) -> None:
        said = transcript_lines(table.rows, (), self._width, self._glyphs, self._palette)
        begin = next((place for place, row in enumerate(table.rows) if row.id == table.begin), 0)
        at = next((number for number, line in enumerate(said) if line.row == begin), 0)
        first = max(0, min(at - EXCERPT * 2 // 3, len(said) - EXCERPT))
        self.lines += [each.line for each in said[first : first + EXCERPT]]

    def marks(self, table: Table, row: Row) -> None:
        """Write why cells are marked, the gravest first."""
        found: dict[tuple[Severity, str], list[str]] = {}
        for severity, title, why in reasons(table, row):
            found.setdefault((severity, why), []).append(shown(title, self._glyphs))
        for (severity, why), titles in found.items():
            self._text(f"{self._glyphs.mark(severity)} {', '.join(titles)}: {why}", self._palette.of(severity))
        if thinness(row):
            self._text(f"{self._glyphs.thin} thin: {thinness(row)}", self._palette.quiet)
        if self.lines:
            self.lines.append(())

    def record(self, table: Table, row: Row) -> None:
        """Write every value of the record under its column's title, then what belongs to no column.

        An interval is beside its value, and so has no line of its own.
        """
        columns = [column for column in table.columns if not column.key.startswith(INTERVAL)]
        columns += _further(table, row)
        # What no column shows unasked is left out of a row that has nothing of it.
        columns = [
            column
            for column in columns
            if (column.shown and not is_ranked(table)) or column.value(row.record) is not None
        ]
        titles = [cell_width(shown(column.title, self._glyphs)) for column in columns]
        self._room = min(_WIDEST_TITLE, max(titles, default=0))
        intervals = row.record.get("intervals") or {}
        for column in columns:
            self._value(column, row, intervals.get(column.key))

    def rule(self, word: str) -> None:
        """Write a rule with a word in it."""
        rule = self._glyphs.box["ew"]
        self.lines.append(((f"{rule * 2} {word} {rule * (self._width - len(word) - 4)}", self._palette.quiet),))

    def _value(self, column: Column, row: Row, interval: Sequence[float] | None) -> None:
        value = column.value(row.record)
        if is_trend(column):
            shares = " ".join(percent(share) for share in value)
            self._words(column, [f"{text_of(column, row, self._glyphs)} {shares}"], None)
        elif column.kind in ("number", "count", "flag") and not isinstance(value, str):
            self._number(column, row, value, interval)
        elif isinstance(value, Mapping):
            said = [f"{key} {value_text(column, each) if each is not None else '·'}" for key, each in ranked(value)]
            more = len(said) - _MOST_ITEMS
            self._words(column, [*said[:_MOST_ITEMS], *([f"{more} more"] if more > 0 else [])], None)
        elif value not in (None, "", []):
            text = row.display.get(column.key) if isinstance(value, list | tuple) else None
            self._words(column, [text or value_text(column, value)], row.severity.get(column.key))

    def _number(self, column: Column, row: Row, value: Any, interval: Sequence[float] | None) -> None:
        severity = row.severity.get(column.key)
        said = self._mark(severity) + self._figure(column, row, value)
        line: list[Piece] = [
            (f" {self._title(column)} ", self._palette.quiet),
            (padded(said, _FIGURE, right=True), self._palette.of(severity)),
        ]
        times, unit, coarser = _scale(column)
        if value is not None and (column.unit or interval):
            line.append((f" {padded('' if unit else shown(column.unit, self._glyphs), _UNIT)}", self._palette.quiet))
        if interval:
            low, high = (end * times for end in interval)
            decimals = max(2, column.decimals) - coarser
            # A value so small that its interval rounds to nothing would be outside of that.
            if value is not None and not round(low, decimals) <= value * times <= round(high, decimals):
                decimals = max(FINEST - coarser, decimals)
            ends = shown(interval_text((low, high), decimals, trim=True) + unit, self._glyphs)
            if width_of(line) + cell_width(ends) + 1 > self._width:
                self.lines.append(tuple(line))
                line = [(" " * (self._width - cell_width(ends) - 2), None)]
            line.append((f" {ends}", self._palette.quiet))
        self.lines.append(tuple(line))

    def _figure(self, column: Column, row: Row, value: Any) -> str:
        if isinstance(value, int | float) and column.kind == "number":
            times, unit, coarser = _scale(column)
            decimals = max(FINEST, column.decimals) - coarser if column.decimals else 0
            return fixed(value * times, decimals, trim=True) + unit
        return text_of(column, row, self._glyphs)

    def _words(self, column: Column, texts: Sequence[str], severity: Severity | None) -> None:
        """Write raw texts at the right of a title, each from a new line."""
        title: Piece = (f" {self._title(column)}  ", self._palette.quiet)
        indent = cell_width(title[0])
        pieces = [piece for text in texts for piece in wrap(shown(text, self._glyphs), self._width - indent - 1)]
        for number, piece in enumerate(pieces):
            said = f"{self._mark(severity) if not number else ''}{piece}"
            self.lines.append((title if not number else (" " * indent, None), (said, self._palette.of(severity))))

    def _text(self, text: str, style: Style | None) -> None:
        first, *more = wrap(text, self._width - 3)
        self.lines += [((f" {first}", style),), *(((f"   {piece}", style),) for piece in more)]

    def _title(self, column: Column) -> str:
        return fitted(shown(column.title, self._glyphs), self._room, self._glyphs.ellipsis)

    def _mark(self, severity: Severity | None) -> str:
        return self._glyphs.mark(severity).strip()


def _scale(column: Column) -> tuple[int, str, int]:
    """Return what to multiply figures of a column by, their sign, and how many decimals fewer that takes."""
    return (100, "%", 2) if column.unit == SHARE else (1, "", 0)


def _further(table: Table, row: Row) -> Iterator[Column]:
    """Return a column for each value of the record that has none in the table."""
    covered = {step for column in table.columns for step in (column.key, *(column.path or ())[:1])}
    for key, value in row.record.items():
        if key == TREND.key and value:
            yield TREND
        elif key not in covered and key not in _UNTOLD and not key.startswith(INTERVAL):
            number = isinstance(value, int | float) and not isinstance(value, bool)
            yield Column(key, key, kind="number" if number else "object")


_TURN_ROOM = 8
_TURN_FIGURE = 10


def turn_heading(row: Row, glyphs: Glyphs) -> str:
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


class _TurnWriter(LineWriter):
    def side(self, role: str, rows: Sequence[Row]) -> None:
        """Write the intended text of a side above its transcript."""
        said = next((row for row in rows if row.record.get("role") == role and row.record.get("kind") == "turn"), None)
        if said is None:
            return
        room = self._width - _TURN_ROOM - 2
        sides = side_lines(said, room, self._glyphs)
        if sides:
            self._rule(role)
        for name, lines in sides:
            for number, line in enumerate(lines):
                title = padded("" if number else name, _TURN_ROOM)
                self.lines.append(((f" {title}", self._palette.quiet), *colored(line, self._palette)))

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
            self.words("latency", answered_text(turn["latency"], 3, trim=True))
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
        pieces = wrap(f"{mark}{shown(text, self._glyphs)}", self._width - (_TURN_ROOM if title else 0) - 2)
        for number, piece in enumerate(pieces):
            head = (f" {padded('' if number else title, _TURN_ROOM)}" if title else " ", self._palette.quiet)
            self.lines.append((head, (piece, self._palette.of(severity))))

    def _figure(self, name: str, value: object) -> None:
        if isinstance(value, bool):
            said = "yes" if value else "no"
        else:
            said = fixed(value, 3, trim=True) if isinstance(value, int | float) else str(value)
        figure = (padded(shown(said, self._glyphs), _TURN_FIGURE, right=True), None)
        line = (figure, (f" {shown(name.replace('_', ' '), self._glyphs)}", self._palette.quiet))
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


def reasons(table: Table, row: Row) -> Iterator[tuple[Severity, str, str]]:
    """Yield for each marked cell of a row its severity, the column's title and why; the gravest first."""
    columns = {column.key: column for column in table.columns}
    for wanted in ("bad", "warn"):
        for key, severity in row.severity.items():
            text = reason(key, severity, table.view) if key in columns else ""
            if severity == wanted and text:
                yield severity, columns[key].title, text


def thinness(row: Row) -> str:
    """Return why a row is thin, nothing if it is not."""
    behind = "groups" if "groups" in row.record else "calls"
    return f"fewer than {THIN} {behind} are behind it" if row.thin else ""


def reason(key: str, severity: Severity, view: str = "") -> str:
    """Return the bound that a cell passed, by its column's key, which counts something else in some views."""
    if severity not in ("bad", "warn"):
        return ""
    bad, watched = (
        _REASONS_IN.get((view, key)) or _REASONS.get(key) or (_SCORE if key.startswith("humanness.") else ("", ""))
    )
    return bad if severity == "bad" else watched


def _number(value: float) -> str:
    return fixed(value, 2, trim=True)


_SCORE = (f"{BAD_SCORE} or less of 10", f"below {WEAK_SCORE} of 10")
_LATENCY = (f"above {_number(SLOW)} s", f"above {_number(LATE)} s")
_SHARE = (f"{percent(HIGH)} or more of the calls", f"{percent(WATCHED)} or more of the calls")
_SLOW_GOING = f"while progress is below {percent(HEALTHY_PROGRESS)}"
_ENTRIES = f"above {_number(LONG_DWELL)} turns an entry"
_OTHERWISE = "took it with other arguments than the task's"
_NEVER = "never took it"
_OF_TOOL = (f"{percent(HIGH)} or more of the calls of the tool", f"{percent(WATCHED)} or more of the calls of the tool")
_REASONS_IN: Mapping[tuple[str, str], tuple[str, str]] = {
    **dict.fromkeys((("tools", key) for key in ("errors", "unrecovered", "bad_arguments")), _OF_TOOL),
    ("tools", "failed"): (f"{_SHARE[0]} that called it", f"{_SHARE[1]} that called it"),
}
_REASONS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("operability", "correctness", "completion", "errors", "worst_operability"), _SCORE),
    **dict.fromkeys(("latency_p95", "latency_mean", "latency_ms"), _LATENCY),
    **dict.fromkeys(("stall", "escalation"), _SHARE),
    "slow": (f"{percent(MOSTLY_SLOW)} or more of the turns", f"{percent(OFTEN_SLOW)} or more of the turns"),
    "missed": (f"{percent(HIGH)} or more of the failed calls {_NEVER}", f"some failed calls {_NEVER}"),
    "wrong_args": (f"{percent(HIGH)} or more of the failed calls {_OTHERWISE}", f"some failed calls {_OTHERWISE}"),
    "progress": (f"below {percent(HARDLY)}", f"below {percent(HEALTHY_PROGRESS)}"),
    "dwell_turns": (f"{_ENTRIES} {_SLOW_GOING}", _ENTRIES),
    "guard_error": (f"{_number(GUARD_ERRORS)} or more a call", "some guards raised"),
    "slot_fill_rate": (f"below {percent(HARDLY)} {_SLOW_GOING}", f"below {percent(HEALTHY_PROGRESS)} {_SLOW_GOING}"),
    "kappa": (
        f"below {_number(SLIGHT)}: hardly more than by chance",
        f"below {_number(FAIR)}: little more than by chance",
    ),
    **dict.fromkeys(
        ("tpr", "tnr"),
        (
            f"the whole 95 % interval is below {percent(UNALIGNED)}",
            f"the whole 95 % interval is below {percent(ALIGNED)}",
        ),
    ),
    "flaky": (f"{percent(HIGH)} or more of the groups", f"{percent(WATCHED)} or more of the groups"),
    # These say the same, bad or worth a look.
    **{
        key: (words, words)
        for key, words in (
            ("effect", "its 95 % interval is on the worse side of 0"),
            ("change", "success fell against the run before by more than chance"),
            ("success_change", "success fell against the run before the edit by more than chance"),
            ("moved", "flows fell against the run before by more than chance"),
            ("completed", "the flow did not run to its own end"),
            ("caller_ok", "the caller failed: the call is not counted in averages"),
            ("errored", "a broken agent or backend: the call is not counted in averages"),
            ("error_count", "there were errors during the call"),
            ("detail", "it raised or failed"),
            ("direction", "b does worse than a"),
        )
    },
}
"""Why a cell is marked bad or worth a look: the bound that it passed, in a few words, by its column's key."""
