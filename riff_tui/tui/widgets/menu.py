"""Show lists over the screen: one to choose from, which typing narrows, and a box of items to tick."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from riff_tui.text.column_fit import NameCut, fitted, name_cut
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.numbers import percent
from riff_tui.text.safe_text import cell_width, fit, padded
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.styled_lines import PALETTES, Fuzzy, FuzzyMatch, Line, Palette, Piece, emphasised, strip_of
from riff_tui.tui.terminal.partial_repaint import Wheel
from riff_tui.tui.widgets.bars import Bar, BottomLine, Dialog
from riff_tui.tui.widgets.field import Asking

_WIDEST_LEAD = 14


class MenuItem(NamedTuple):
    """Describe an item of the list, all of it raw text.

    `text` is matched letter by letter; `lead` is before it and `more` after it. `also` is matched as it is written, and
    not shown. `refusal` shows why it cannot be chosen.
    """

    text: str
    more: str = ""
    lead: str = ""
    also: str = ""
    refusal: str = ""


def with_calls(found: Sequence[tuple[str, int]], success: Sequence[float | None] = ()) -> list[MenuItem]:
    """Return an item for each name, with how many calls it has and, if that is known, which share is a success."""
    counts = [f"{n:,} {'call' if n == 1 else 'calls'}" for _, n in found]
    width = max(map(len, counts), default=0)
    shares = [f"  {percent(share):>4} success" for share in success] or [""] * len(found)
    return [
        MenuItem(name, f"{count:>{width}}{share}")
        for (name, _), count, share in zip(found, counts, shares, strict=True)
    ]


class ChoiceList(ScrollView, Wheel):
    """Show the choices that match, with a cursor that stays on its line."""

    DEFAULT_CSS = """
    ChoiceList { height: 1; overflow: hidden hidden; background: ansi_default; color: ansi_default; }
    """

    cursor: reactive[int] = reactive(0, repaint=False)

    class Clicked(Message):
        """Report that a line was clicked."""

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self.palette = palette
        self.glyphs = glyphs
        self.choices: Sequence[MenuItem] = ()
        self.texts: list[str] = []
        self._leads: list[str] = []
        self._found: Sequence[FuzzyMatch] = ()
        self._lead = self._text = 0
        self._cuts: dict[int, NameCut] = {}

    def offer(self, choices: Sequence[MenuItem]) -> None:
        """Take other choices to show; `texts` has them for matching."""
        self.choices = choices
        self.texts = [shown(choice.text, self.glyphs) for choice in choices]
        self._leads = [shown(choice.lead, self.glyphs) for choice in choices]
        self._lead = min(_WIDEST_LEAD, max(map(cell_width, self._leads), default=0))
        self._text = max(map(cell_width, self.texts), default=0)
        self._cuts.clear()

    def show(self, found: Sequence[FuzzyMatch], cursor: int = 0) -> None:
        """Show what was found, the cursor on one of it."""
        self._found = found
        self.virtual_size = Size(self.size.width, len(found))
        self.set_reactive(ChoiceList.cursor, max(0, min(cursor, len(found) - 1)))
        self.scroll_to(y=0, animate=False, force=True)
        self._reveal()
        self.refresh()

    @property
    def chosen(self) -> int | None:
        """Return the index, among all choices, of the one under the cursor."""
        return self._found[self.cursor].index if self._found else None

    def move(self, lines: int) -> None:
        """Move the cursor by some lines."""
        self.cursor += lines

    def page(self, pages: int) -> None:
        """Move the cursor by whole pages."""
        self.cursor += pages * max(1, self.size.height)

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._found) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self._reveal()
        for index in (old, new):
            self.refresh(Region(0, index - self.scroll_offset.y, self.size.width, 1))

    def on_resize(self) -> None:
        self._reveal()

    def _reveal(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if height and not top <= self.cursor < top + height:
            self.scroll_to(y=self.cursor if self.cursor < top else self.cursor - height + 1, animate=False, force=True)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        index, width = self.scroll_offset.y + y, self.size.width
        if index >= len(self._found):
            return Strip.blank(width)
        at_cursor = index == self.cursor
        line = self._line(self._found[index], width - 1, at_cursor)
        return strip_of(line, width, self.palette.cursor if at_cursor else None)

    def _line(self, found: FuzzyMatch, width: int, at_cursor: bool) -> list[Piece]:
        choice = self.choices[found.index]
        style = self.palette.quiet if choice.refusal else None
        lead_style = style or (None if at_cursor else self.palette.place)
        line: list[Piece] = [(" ", None)]
        if self._lead:
            lead = fitted(self._leads[found.index], self._lead, self.glyphs.ellipsis)
            line.append((f" {lead}  ", lead_style))
        room = width - sum(cell_width(text) for text, _ in line)
        column = min(self._text, room if not choice.more else max(room // 2, room - cell_width(choice.more) - 2))
        name = self.texts[found.index]
        if column not in self._cuts:
            self._cuts[column] = name_cut(self.texts, column, self.glyphs.ellipsis, most=0)
        text = self._cuts[column].text(name)
        begin = next((at for at, (one, other) in enumerate(zip(name, text, strict=False)) if one != other), len(text))
        tail = len(text) - begin - len(self.glyphs.ellipsis) if text != name and text[-1:] == name[-1:] else 0
        gone = len(name) - len(text)
        letters = [at - gone * (at >= begin) for at in found.letters if at < begin or at >= len(name) - tail]
        line += emphasised(text, letters, style)
        blanks = " " * (column - cell_width(text) + 2)
        more = fit(shown(choice.more, self.glyphs), room - column - 2, self.glyphs.ellipsis)
        line.append((blanks + more if more else "", self.palette.quiet))
        return line

    def on_click(self, event: events.Click) -> None:
        index = self.scroll_offset.y + event.y
        if index < len(self._found):
            self.cursor = index
            self.post_message(self.Clicked())


_SIGN = " > "
_LEFT_OF_THE_PLACE = 5
_FEWEST, _MOST = 3, 20


class MenuRequest(NamedTuple):
    """Describe the choices, and what to call with the one that was taken.

    `on_pick` gets the index of what was chosen. `verb` is what Enter does, for the line of hints; `at` is
    where the cursor starts; `uncounted` is how many of the first choices are none of what is counted. What was typed
    can be taken as it is where `new` makes a choice of it: then `on_new` gets it.
    """

    title: str
    choices: Sequence[MenuItem]
    on_pick: Callable[[int], None]
    verb: str
    at: int = 0
    uncounted: int = 0
    new: Callable[[str], MenuItem | None] = lambda typed: None
    on_new: Callable[[str], None] = lambda typed: None


_NOTHING = MenuRequest("", (), lambda index: None, "")


class Menu(Asking):
    """Cover the foot of the screen while something is chosen."""

    DEFAULT_CSS = """
    Menu { width: 1fr; height: auto; overflow: hidden hidden; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n,tab", "move(1)", show=False),
        Binding("up,ctrl+p,shift+tab", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(palette=palette, glyphs=glyphs, id=id)
        self.head = Bar(palette=palette, glyphs=glyphs)
        self.list = ChoiceList(palette=palette, glyphs=glyphs)
        self.foot: BottomLine = BottomLine(palette=palette, glyphs=glyphs)
        self._request = _NOTHING
        self._fuzzy = Fuzzy(())
        self._count = ""
        self._new: MenuItem | None = None

    def compose(self) -> ComposeResult:
        yield self.head
        with Horizontal():
            yield self.sign
            yield self.field
        yield self.list
        yield self.foot

    def ask(self, request: MenuRequest) -> None:
        """Show the choices; whatever had the focus gets it back."""
        self._request, self._new = request, None
        self.list.offer(request.choices)
        self._fuzzy = Fuzzy(self.list.texts, [f"{each.lead} {each.more} {each.also}" for each in request.choices])
        self.field.set("")
        self._make_room()
        self._find(request.at)
        self.foot.say("")
        self.foot.hint([("Enter", request.verb), ("Esc", "cancel")])
        self.begin(_SIGN, "")

    def on_resize(self) -> None:
        self._make_room()
        self._tell()

    def _make_room(self) -> None:
        """Make it as tall as the list, but leave the first lines of the screen in view."""
        most = self.app.size.height - _LEFT_OF_THE_PLACE - 3
        self.list.styles.height = max(_FEWEST, min(len(self._request.choices), most, _MOST))

    def _find(self, cursor: int = 0) -> None:
        found = self._fuzzy.find(self.field.value)
        new = self._request.new(self.field.value)
        if new != self._new:
            self._new = new
            self.list.offer([*([new] if new is not None else []), *self._request.choices])
        if self._new is None:
            self.list.show(found, cursor)
        else:
            shown = [FuzzyMatch(0, frozenset()), *(FuzzyMatch(each.index + 1, each.letters) for each in found)]
            # A name that has what was typed is meant more often than a new one that is alike.
            typed = self.field.value.strip().casefold()
            is_held = bool(found) and typed in self._request.choices[found[0].index].text.casefold()
            self.list.show(shown, 1 if is_held else 0)
        count = sum(each.index >= self._request.uncounted for each in found)
        whole = len(self._request.choices) - self._request.uncounted
        self._count = f"{count:,} of {whole:,}" if self.field.value.strip() else f"{whole:,}"
        self._tell()

    def _tell(self) -> None:
        line, width = self.glyphs.box["ew"], self.app.size.width
        left, right = f"{line * 2} {shown(self._request.title, self.glyphs)} ", f" {self._count} {line * 2}"
        left = fit(left, width - cell_width(right), self.glyphs.ellipsis)
        rule = line * (width - cell_width(left) - cell_width(right))
        self.head.lines = (((left + rule + right, self.palette.quiet),),)

    def changed(self, text: str) -> None:
        self.foot.say("")
        self._find()

    def entered(self, text: str) -> None:
        self._take()

    def on_choice_list_clicked(self, event: ChoiceList.Clicked) -> None:
        event.stop()
        self._take()

    def _take(self) -> None:
        chosen = self.list.chosen
        if chosen is not None and self._new is not None:
            chosen -= 1
        if chosen is None:
            self.foot.say("nothing matches what was typed; Backspace deletes letters", "warn")
        elif chosen < 0:
            self.close()
            self._request.on_new(self.field.value)
        elif self._request.choices[chosen].refusal:
            self.foot.say(self._request.choices[chosen].refusal, "warn")
        else:
            self.close()
            self._request.on_pick(chosen)

    def action_move(self, lines: int) -> None:
        """Move the cursor by some lines."""
        self.foot.say("")
        self.list.move(lines)

    def action_page(self, pages: int) -> None:
        """Move the cursor by whole pages."""
        self.foot.say("")
        self.list.page(pages)


_FRAME = 2
_FAR = 10_000
_KEYS = "Space shows or hides · Enter applies · r resets · Esc cancels"


class CheckItem(NamedTuple):
    """Describe an item to tick: its key, and safe words about it; a `faint` one makes no difference here."""

    key: str
    title: str
    about: str
    faint: bool = False


class CheckRequest(NamedTuple):
    """Describe the box's safe title and items, what is ticked, what is `usual`, and what to call with the choice."""

    title: str
    items: Sequence[CheckItem]
    ticked: Collection[str]
    usual: Collection[str]
    on_apply: Callable[[Collection[str]], None]


_NOTHING_TO_TICK = CheckRequest("", (), (), (), lambda ticked: None)


class CheckList(Dialog, can_focus=True):
    """Let items be ticked by key, as `[x]` or `[ ]`; the lines scroll if they do not fit."""

    DEFAULT_CSS = """
    CheckList { dock: right; width: 90; max-width: 100%; max-height: 100%; margin: 1 0 1 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("g,home", f"move({-_FAR})", show=False),
        Binding("G,end", f"move({_FAR})", show=False),
        Binding("space,x", "tick", show=False),
        Binding("r", "restore", show=False),
        Binding("enter", "apply", show=False),
        Binding("escape,q,backspace,c", "leave", show=False),
    ]
    cursor: reactive[int] = reactive(0, repaint=False)

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(palette=palette, glyphs=glyphs, id=id)
        self.ticked: set[str] = set()
        self._request = _NOTHING_TO_TICK
        self._room = 0

    def ask(self, request: CheckRequest) -> None:
        """Show what there is to tick."""
        self._request, self.ticked = request, set(request.ticked)
        self._room = max((cell_width(item.title) for item in request.items), default=0)
        self.set_reactive(CheckList.cursor, 0)
        self.styles.height = len(request.items) + _FRAME
        self.open()

    def action_move(self, rows: int) -> None:
        """Move the cursor."""
        self.cursor += rows

    def action_tick(self) -> None:
        """Tick or untick the item under the cursor."""
        self.ticked ^= {self._request.items[self.cursor].key}
        self._refresh_item(self.cursor)

    def action_restore(self) -> None:
        """Tick the usual items and no others."""
        self.ticked = set(self._request.usual)
        self.refresh()

    def action_apply(self) -> None:
        """Take what is ticked."""
        self.close()
        self._request.on_apply(self.ticked)

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self._request.items) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        if self._top(old) != self._top(new):
            self.refresh()
        else:
            self._refresh_item(old)
            self._refresh_item(new)

    def render_line(self, y: int) -> Strip:
        width, box = self.size.width, self.glyphs.box
        if y == 0:
            return self._edge(self._request.title, box["es"], box["sw"])
        if y == self.size.height - 1:
            return self._edge(_KEYS if not self.glyphs.ascii_only else _KEYS.replace("·", "-"), box["ne"], box["nw"])
        index = self._top(self.cursor) + y - 1
        if index >= len(self._request.items):
            return strip_of(((box["ns"] + " " * (width - 2) + box["ns"], None),), width)
        item = self._request.items[index]
        tick = "[x]" if item.key in self.ticked else "[ ]"
        text = fitted(f"{tick} {padded(item.title, self._room)}  {item.about}", width - 4, self.glyphs.ellipsis)
        style = self.palette.quiet if item.faint else None
        style = self.palette.cursor if index == self.cursor else style
        return strip_of(((box["ns"], None), (f" {text} ", style), (box["ns"], None)), width)

    def on_click(self, event: events.Click) -> None:
        index = self._top(self.cursor) + event.y - 1
        if 0 < event.y < self.size.height - 1 and index < len(self._request.items):
            self.cursor = index
            self.action_tick()

    def on_resize(self) -> None:
        self.refresh()

    def _top(self, cursor: int) -> int:
        """Return the first item in view, with the cursor in the middle if it can be."""
        inside = max(1, self.size.height - _FRAME)
        return max(0, min(cursor - inside // 2, len(self._request.items) - inside))

    def _refresh_item(self, index: int) -> None:
        self.refresh(Region(0, index - self._top(self.cursor) + 1, self.size.width, 1))

    def _edge(self, text: str, left: str, right: str) -> Strip:
        rule, width = self.glyphs.box["ew"], self.size.width
        said = fit(f" {text} ", width - 4, self.glyphs.ellipsis)
        line: Line = (
            (left + rule, None),
            (said, self.palette.head if left == self.glyphs.box["es"] else self.palette.quiet),
            (rule * (width - 3 - cell_width(said)) + right, None),
        )
        return strip_of(line, width)
