"""Write the help of a location (purpose, ten keys, columns, all keys, filter grammar), and what is known of errors."""

from __future__ import annotations

from collections.abc import Sequence

from riff_tui.charts.lane_marks import glossary
from riff_tui.charts.lanes import Lanes
from riff_tui.errors import describe, trace
from riff_tui.table import Column, Table
from riff_tui.text.column_fit import wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.safe_text import cell_width, padded
from riff_tui.tui.actions.action import Action
from riff_tui.tui.actions.context import ActionContext
from riff_tui.tui.actions.hints import screen_keys
from riff_tui.tui.actions.registry import ACTIONS
from riff_tui.tui.render.columns import shown, title, visible_columns
from riff_tui.tui.render.styled_lines import Line, Palette
from riff_tui.view_registry import spec_of
from riff_tui.views.parts import columns

_IN_STATE = (
    "Below are the conversations that came through the state, those that stalled in it first.",
    "What has no room is left out: v shows the graph, where Enter goes on to a neighbour, then the latencies,"
    " the conversations alone, and all of it again.",
    "Latencies are pooled: every turn in the state counts the same. p95 among the metrics is the mean over calls.",
)
_GRAMMAR = (
    ("dent", "any name that holds these letters"),
    ("flow:dent", "a name that holds them"),
    ("flow=dental_clinic", "a name that is just this"),
    ("stall>0.3", "a number; also < <= >= = !="),
    ("slot_fill_rate=·", "not measured"),
    ("!x", "not"),
    ("a b", "both"),
    ("a | b", "one or the other"),
    ("(state=triage stall=1)", "together, of one state"),
    ("/re/", "a regular expression"),
)
_TYPING = (
    ("Tab", "complete a field or a name; press again for the next one, Shift+Tab for the one before"),
    ("Up Down", "earlier and later filters that hold what was typed"),
    ("ctrl+r", "all earlier filters, to choose from"),
    ("ctrl+w ctrl+u ctrl+k", "delete the word before the cursor, everything before it, everything after it"),
    ("Enter Esc", "apply it, cancel"),
)
_ASCII_KEYS = {"↓": "Down", "↑": "Up", "←": "Left", "→": "Right"}
_WIDEST = 24


def help_lines(
    table: Table | None,
    context: ActionContext,
    width: int,
    glyphs: Glyphs,
    palette: Palette,
    dumps: Sequence[str] = (),
) -> list[Line]:
    """Return the whole help in lines of at most `width` cells; `dumps` replace the table's own command."""
    writer = _HelpWriter(width, glyphs, palette)
    writer.head(context.noun, "Esc closes, j and k scroll")
    writer.paragraphs(_about(context))
    writer.head("Keys of this screen")
    writer.pairs(
        [
            (writer.spelled(each), f"{shown(each.label_in(context), glyphs)}: {each.help}")
            for each in screen_keys(context)
        ]
    )
    if table is not None:
        if context.kind == "state":
            writer.glossary("Metrics, with their 95 % intervals", [columns.N, *columns.STATE_METRICS])
        if isinstance(table.figure, Lanes):
            writer.head("Signs on the lanes")
            writer.pairs(glossary(table.figure.marks, glyphs))
        writer.glossary("Columns", [*visible_columns(table), *table.columns])
        writer.section("Notes", table.notes)
        writer.section("Prints the same", [dump for dump in dumps or [table.dump] if dump])
    writer.keys(context)
    writer.head("Filter")
    writer.pairs([(shown(term, glyphs), meaning) for term, meaning in _GRAMMAR])
    writer.head("While typing")
    writer.pairs([(shown(keys, glyphs), meaning) for keys, meaning in _TYPING])
    return writer.lines


def error_lines(error: Exception, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return what went wrong and where it came from, without values that could hold callers' words."""
    writer = _HelpWriter(width, glyphs, palette)
    writer.head("What went wrong", "Esc closes")
    writer.paragraphs([describe(error)[1]])
    writer.section("Where it came from", trace(error).split("\n"))
    return writer.lines


class _HelpWriter:
    def __init__(self, width: int, glyphs: Glyphs, palette: Palette) -> None:
        self.lines: list[Line] = []
        self._width = width
        self._glyphs = glyphs
        self._palette = palette

    def head(self, text: str, more: str = "") -> None:
        """Write a heading, after a blank line unless it is the first."""
        if self.lines:
            self.lines.append(())
        self.lines.append(((f" {shown(text, self._glyphs)}", self._palette.head), (f"   {more}", self._palette.faint)))

    def paragraphs(self, texts: Sequence[str]) -> None:
        """Write raw texts, each from a new line."""
        for text in texts:
            pieces = wrap(shown(text, self._glyphs), self._width - 3)
            self.lines += [((f"  {piece}", None),) for piece in pieces]

    def section(self, head: str, texts: Sequence[str]) -> None:
        """Write a heading over texts, nothing if there are none."""
        if texts:
            self.head(head)
            self.paragraphs(texts)

    def pairs(self, pairs: Sequence[tuple[str, str]], faint: frozenset[int] = frozenset()) -> None:
        """Write safe words at the left and what they mean at the right; `faint` says which do not apply."""
        room = min(_WIDEST, max((cell_width(left) for left, _ in pairs), default=0))
        for number, (left, right) in enumerate(pairs):
            style = self._palette.faint if number in faint else None
            first, *more = wrap(right, self._width - room - 5)
            self.lines.append(((f"  {padded(left, room)}  ", self._palette.accent), (first, style)))
            self.lines += [((" " * (room + 4) + piece, style),) for piece in more]

    def glossary(self, head: str, columns: Sequence[Column]) -> None:
        """Write what columns mean, in which unit, and which way is good."""
        found = {column.key: column for column in columns if column.help}
        if found:
            self.head(head)
            self.pairs([(self._titles(column), self._meaning(column)) for column in found.values()])

    def keys(self, context: ActionContext) -> None:
        """Write every action by its group, with the reason if one does not apply."""
        for group in dict.fromkeys(each.group for each in ACTIONS):
            self.head(group)
            members = [each for each in ACTIONS if each.group == group]
            reasons = [each.unavailable(context) for each in members]
            said = [
                f"{each.help} (not now: {reason})" if reason else each.help
                for each, reason in zip(members, reasons, strict=True)
            ]
            spelled = [self.spelled(each) for each in members]
            faint = frozenset(number for number, reason in enumerate(reasons) if reason)
            self.pairs([*zip(spelled, (shown(text, self._glyphs) for text in said), strict=True)], faint)

    def spelled(self, each: Action) -> str:
        """Return the keys of an action."""
        return " ".join(self._key(key) for key in each.keys)

    def _key(self, key: str) -> str:
        return _ASCII_KEYS.get(key, key) if self._glyphs.ascii_only else key

    def _titles(self, column: Column) -> str:
        short, full = (title(column, self._glyphs, short=each) for each in (True, False))
        return full if short == full else f"{short} ({full})"

    def _meaning(self, column: Column) -> str:
        good = f" {column.better.capitalize()} is better." if column.better else ""
        unit = f" [{column.unit}]" if column.unit else ""
        return shown(f"{column.help}{good}{unit}", self._glyphs)


def _about(context: ActionContext) -> Sequence[str]:
    about = spec_of(context.view).help
    return (*about, *_IN_STATE) if context.kind == "state" else about
