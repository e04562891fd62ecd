"""Choose the keys to mention, in the hint line by what was done last, and write the help of a screen and of errors."""

from __future__ import annotations

from collections.abc import Sequence

from riff_tui.charts.lane_marks import glossary
from riff_tui.charts.lanes import Lanes
from riff_tui.errors import describe, trace
from riff_tui.table import Column
from riff_tui.text.column_fit import wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.safe_text import cell_width, fit, padded
from riff_tui.tui.actions.action import Action, Controls, reason_against
from riff_tui.tui.navigation.history import is_folded
from riff_tui.tui.navigation.location import noun
from riff_tui.tui.render.columns import shown, title, visible_columns
from riff_tui.tui.render.styled_lines import Line, LineWriter, Palette
from riff_tui.views.parts import columns
from riff_tui.views.spec import ScreenKind

READING_LIST = "sample"
HINTS = 6
SCREEN_KEYS = 10
_ALWAYS = ("help", "quit_or_back")
_FAILING = ("view:failure-matrix", "view:causes", "view:edits")
"""What asks why calls fail at a place on the way down from a flow."""
_USUAL: dict[ScreenKind, tuple[str, ...]] = {
    "list": ("open", "filter", "sort", "view:worklist", "view:timeline", "view:runs"),
    "state": ("view:neighbors", *_FAILING, "open", "filter", "dump"),
    "conversation": ("next_bad", "view:neighbors", "next", "pass", "fail", "copy", "filter", "dump", "case"),
}
_NOTING = ("pass", "fail", "code", "next_unread", "note", "take_back")
_FURTHER = (
    "open", "close", "filter", "sort", "pane", "mark", "compare", "view:worklist", "since_last_run", "view:timeline",
    "view:runs", *_NOTING, "view:conversations", "view:disputes", "columns", "pick_flow", "copy",
)  # fmt: skip
_CHANGES = ("filter", "sort", "reverse", "clear_marks")
_UP = ("open", "view:timeline", "view:runs", "since_last_run")
_SORTED = ("last_view", "keep_order", "reverse", "columns")
_AFTER: dict[str, tuple[str, ...]] = {
    "open": ("open", "view:conversations", "view:timeline", "since_last_run"),
    "close": _UP,
    "quit_or_back": _UP,
    "back": _UP,
    "view:flows": ("open", "view:worklist", "since_last_run", "view:judges"),
    "view:worklist": ("open", "since_last_run", "view:timeline", "view:disputes"),
    "view:timeline": ("mark", "since_last_run", "view:runs", "open"),
    "view:runs": ("mark", "since_last_run", "view:judges", "view:disputes"),
    "view:judges": ("open", "view:disputes", "view:agreement", "mark"),
    "view:disputes": ("open", "view:judges", "view:agreement", "filter"),
    "since_last_run": ("open", "compare", "view:timeline", "view:runs"),
    "filter": ("close", "open", "view:timeline", "write"),
    "sort": _SORTED,
    "reverse": _SORTED,
    "clear_marks": ("mark", "since_last_run", "view:runs", "open"),
}
"""What people want next after an action, so that the whole of the explorer is met by and by."""


def hints(controls: Controls) -> list[tuple[str, str]]:
    """Return at most six (key, word) pairs that apply, `?` and `q` first."""
    ids = (*_ALWAYS, *(_begun(controls) or (*_next(controls), *_USUAL[controls.here.kind])))
    found = [controls.actions[id] for id in dict.fromkeys(ids)]
    chosen = [each for each in found if each.keys and not _reason_against_hint(each, controls)]
    return [(each.keys[0], each.label_in(controls)) for each in chosen[:HINTS]]


def first_words(controls: Controls) -> str:
    """Return what to show to somebody who opens a store for the first time."""
    wanted = {"open": "goes into a row", "view:worklist": "what to fix first", "help": "help"}
    said = [f"{key} {wanted[id]}" for id in wanted for key in controls.actions[id].keys[:1]]
    return f"New here: {' · '.join(said)}"


def _reason_against_hint(each: Action, controls: Controls) -> str:
    # The line stays as it is while the cursor moves, on to a mark and off it.
    if each.hinted is not None and controls.here.kind in each.kinds:
        return each.hinted(controls)
    return reason_against(each, controls)


def screen_keys(controls: Controls) -> list[Action]:
    """Return the ten actions that matter most on a screen, those of the hint line first."""
    ids = (*_begun(controls), *_next(controls), *_USUAL[controls.here.kind], *_FURTHER, *controls.actions)
    found = [controls.actions[id] for id in dict.fromkeys(ids)]
    apply = (each for each in found if each.keys and not _reason_against_hint(each, controls))
    return [each for each in apply if each.group not in ("Move", "Help and quit")][:SCREEN_KEYS]


def _next(controls: Controls) -> tuple[str, ...]:
    """Return the ids for what was done last; after the key of a view that is narrowed, the same key widens it."""
    here, done = controls.here, controls.host.done
    has_rare = controls.shown is not None and bool(controls.shown.folded)
    is_narrowed = here.scope and done == f"view:{here.view}"
    after = _AFTER.get(done, ()) if here.kind == "list" else ()
    if here.view in ("segments", "states") and done not in _CHANGES:
        after = ("open", *_FAILING)
    if here.view == "codes" and done not in _CHANGES:
        after = ("open", "rename_code", "take_back_rename", "view:failure-matrix", "view:conversations")
    return (
        *((done,) if is_narrowed else ()),
        *(("open", "fold") if is_folded(here) or has_rare else ()),
        *after,
    )


def _begun(controls: Controls) -> tuple[str, ...]:
    """Return the ids for what was begun, none if nothing was."""
    here = controls.here
    if controls.header.focused_graph:
        return ("open", "view:neighbors", *_FAILING)
    writer, stack = controls.note_writer, controls.host.history.stack
    # One reads calls to note what one finds where some was written, or a reading list leads here.
    if controls.is_call and writer is not None and (writer.wrote or any(each.view == READING_LIST for each in stack)):
        return _NOTING
    if controls.header.lanes is not None:
        return ("open", "zoom_in", "zoom_out", "next")
    if controls.detail.covers:
        return ("open", "down", "page_down", "pane")
    if here.pair:
        return ("open", "compare", "sort", "pane", "write")
    if here.sides and not controls.is_call:
        return ("open", "compare", "filter", "sort")
    if controls.marks and not controls.is_call:
        return ("compare", "next_mark", "clear_marks", "open")
    if controls.spec.aspects:
        return ("open", "aspect", "filter", "sort", "view:worklist")
    return ()


_IN_STATE = (
    "Below are the conversations that came through the state, those that stalled in it first.",
    "What has no room is left out: v shows the graph, where Enter goes on to a neighbour, then the latencies,"
    " the conversations alone, and all of it again.",
    "Latencies are pooled: every turn in the state counts the same. p95 among the metrics is the mean over calls.",
)
_GRAMMAR = (
    ("dent", "any name with these letters"),
    ("flow:dent", "a name with them"),
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
    ("Up Down", "earlier and later filters with what was typed"),
    ("ctrl+r", "all earlier filters, to choose from"),
    ("ctrl+w ctrl+u ctrl+k", "delete the word before the cursor, everything before it, everything after it"),
    ("Enter Esc", "apply it, cancel"),
)
_MOST_ABOUT = 3
"""So many lines say what a screen is, so that its keys and signs are on the first page with them."""
_ASCII_KEYS = {"↓": "Down", "↑": "Up", "←": "Left", "→": "Right"}
_WIDEST = 24


def help_lines(controls: Controls, width: int) -> list[Line]:
    """Return the whole help of what is shown in lines of at most `width` cells.

    The first 24 show what it is, the ten keys that matter and the signs.
    """
    table, glyphs, loaded = controls.shown, controls.table.glyphs, controls.host.loaded
    writer = _HelpWriter(width, glyphs, controls.table.palette)
    writer.head(noun(controls.here.view), "/ finds, j and k scroll, Esc closes")
    about = [*controls.spec.help, *(_IN_STATE if controls.here.kind == "state" else ())]
    first, rest = _first_of(about, width - 3)
    writer.paragraphs([first])
    writer.head("Keys of this screen")
    keys = [(writer.keys_of(each, most=1), each.label_in(controls), each.help) for each in screen_keys(controls)]
    short = [(key, shown(f"{word}: {_in_short(told, controls.here.kind)}", glyphs)) for key, word, told in keys]
    writer.pairs(short, short=True)
    writer.head("Signs")
    writer.row(_signs(controls.here.kind, glyphs))
    writer.section("More about this screen", rest)
    if table is not None and loaded is not None:
        if controls.here.kind == "state":
            writer.glossary("Metrics, with their 95 % intervals", [columns.N, *columns.STATE_METRICS])
        if isinstance(table.figure, Lanes):
            writer.head("Signs on the lanes")
            writer.pairs(glossary(table.figure.marks, glyphs))
        writer.glossary("Columns", [*visible_columns(table), *table.columns])
        writer.section("Notes", table.notes)
        writer.section("Prints the same", loaded.dumps)
    writer.keys(controls)
    writer.head("Filter")
    writer.pairs([(shown(term, glyphs), meaning) for term, meaning in _GRAMMAR])
    writer.head("While typing")
    writer.pairs([(shown(keys, glyphs), meaning) for keys, meaning in _TYPING])
    return writer.lines


def _first_of(sentences: Sequence[str], width: int) -> tuple[str, Sequence[str]]:
    """Return the first sentences, as many as a few lines have room for, in one text; and the others."""
    count = len(sentences)
    while count > 1 and len(wrap(" ".join(sentences[:count]), width)) > _MOST_ABOUT:
        count -= 1
    return " ".join(sentences[:count]), sentences[count:]


_HERE: dict[ScreenKind, tuple[str, ...]] = {
    "list": ("In a list, ",),
    "state": ("in a state, ", "In a list, "),
    "conversation": ("in a call, ", "In a call, ", "in a conversation, ", "From a call, "),
}
"""What begins the part of a sentence that is about a screen."""


def _in_short(help: str, kind: ScreenKind) -> str:
    """Return what a sentence reports of a screen, else its first sentence; the whole of it is among all keys."""
    parts = help.removesuffix(".").split("; ")
    found = ((part, begin) for part in parts for begin in _HERE[kind] if part.startswith(begin))
    part, begin = next(found, (parts[0], ""))
    words = part.removeprefix(begin)
    return f"{words[:1].upper()}{words[1:]}"


def _named(each: Action) -> str:
    """Return what an action does, behind its title if that is not among the words: `/` finds it by either."""
    return each.help if each.title.casefold() in each.help.casefold() else f"{each.title}: {each.help}"


def _signs(kind: ScreenKind, glyphs: Glyphs) -> list[str]:
    """Return what the signs on a screen represent."""
    marks = {glyphs.bad: "bad", glyphs.warn: "warning", glyphs.not_measured: "not measured", glyphs.thin: "few calls"}
    if kind == "conversation":
        more = {glyphs.event: "slot filled", glyphs.arrow: "tool", glyphs.noted: "note"}
    else:
        more = {
            glyphs.capped: "capped",
            glyphs.marked: "marked",
            f"{glyphs.rising} {glyphs.falling}": "the order",
            glyphs.crumb.strip(): "more columns",
        }
    if kind == "state":
        more |= {glyphs.success: "success", glyphs.escalation: "to a human", glyphs.both_sides: "on both sides"}
    return [f"{sign} {meaning}" for sign, meaning in (marks | more).items()]


def error_lines(error: Exception, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """Return what went wrong and where it came from, without values that could contain callers' words."""
    writer = _HelpWriter(width, glyphs, palette)
    writer.head("What went wrong", "Esc closes")
    writer.paragraphs([describe(error)[1]])
    writer.section("Where it came from", trace(error).split("\n"))
    return writer.lines


class _HelpWriter(LineWriter):
    def head(self, text: str, more: str = "") -> None:
        """Write a heading, after a blank line unless it is the first."""
        if self.lines:
            self.lines.append(())
        self.lines.append(((f" {shown(text, self._glyphs)}", self._palette.head), (f"   {more}", self._palette.quiet)))

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

    def row(self, pieces: Sequence[str]) -> None:
        """Write safe pieces one behind the other, as many as a line has room for."""
        line = ""
        for piece in pieces:
            longer = f"{line}   {piece}" if line else f"  {piece}"
            if cell_width(longer) > self._width - 1:
                self.lines.append(((line, None),))
                longer = f"  {piece}"
            line = longer
        self.lines.append(((line, None),))

    def pairs(
        self, pairs: Sequence[tuple[str, str]], faint: frozenset[int] = frozenset(), *, short: bool = False
    ) -> None:
        """Write safe words at the left and what they mean at the right, in a line each where they are to be `short`.

        `faint` shows which do not apply.
        """
        room = min(_WIDEST, max((cell_width(left) for left, _ in pairs), default=0))
        for number, (left, right) in enumerate(pairs):
            style = self._palette.quiet if number in faint else None
            right = fit(right, self._width - room - 5, self._glyphs.ellipsis) if short else right
            first, *more = wrap(right, self._width - room - 5)
            self.lines.append(((f"  {padded(left, room)}  ", self._palette.place), (first, style)))
            self.lines += [((" " * (room + 4) + piece, style),) for piece in more]

    def glossary(self, head: str, columns: Sequence[Column]) -> None:
        """Write what columns mean, in which unit, and which way is good."""
        pairs = []
        for column in {column.key: column for column in columns if column.help}.values():
            short, full = (title(column, self._glyphs, short=each) for each in (True, False))
            good = f" {column.better.capitalize()} is better." if column.better else ""
            unit = f" [{column.unit}]" if column.unit else ""
            meaning = shown(f"{column.help}{good}{unit}", self._glyphs)
            pairs.append((full if short == full else f"{short} ({full})", meaning))
        if pairs:
            self.head(head)
            self.pairs(pairs)

    def keys(self, controls: Controls) -> None:
        """Write every action by its group, with the reason if one does not apply."""
        actions = controls.actions.values()
        for group in dict.fromkeys(each.group for each in actions):
            self.head(group)
            members = [each for each in actions if each.group == group]
            reasons = [each.enabled(controls) for each in members]
            said = [
                f"{_named(each)} (not now: {reason})" if reason else _named(each)
                for each, reason in zip(members, reasons, strict=True)
            ]
            spelled = [self.keys_of(each) for each in members]
            faint = frozenset(number for number, reason in enumerate(reasons) if reason)
            self.pairs([*zip(spelled, (shown(text, self._glyphs) for text in said), strict=True)], faint)

    def keys_of(self, each: Action, most: int | None = None) -> str:
        """Return the keys of an action, or the first ones."""
        return " ".join(_ASCII_KEYS.get(key, key) if self._glyphs.ascii_only else key for key in each.keys[:most])
