"""Show a list over the screen: typing narrows it, Enter takes what the cursor is on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width, fit
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.matching import Fuzzy, FuzzyMatch
from riff_tui.tui.render.styled_lines import PALETTES, Palette
from riff_tui.tui.widgets.bars import Bar, BottomLine
from riff_tui.tui.widgets.choice_list import ChoiceList, ListItem
from riff_tui.tui.widgets.text_field import TextField

_SIGN = ">"
_LEFT_OF_THE_PLACE = 5
_FEWEST, _MOST = 3, 20


@dataclass(frozen=True, slots=True)
class PickRequest:
    """Hold the choices, and what to call with the one that was taken.

    `on_pick` gets the index of what was chosen. `verb` is what Enter does, for the line of hints; `at` is
    where the cursor starts; `uncounted` is how many of the first choices are none of what is counted. What was typed
    can be taken as it is where `new` makes a choice of it: then `on_new` gets it.
    """

    title: str
    choices: Sequence[ListItem]
    on_pick: Callable[[int], None]
    verb: str
    at: int = 0
    uncounted: int = 0
    new: Callable[[str], ListItem | None] = lambda typed: None
    on_new: Callable[[str], None] = lambda typed: None


_NOTHING = PickRequest("", (), lambda index: None, "")


class Picker(Vertical):
    """Lie over the foot of the screen while something is chosen."""

    DEFAULT_CSS = """
    Picker { layer: top; dock: bottom; height: auto; display: none; background: ansi_default; color: ansi_default; }
    Picker Horizontal { height: 1; }
    Picker #picking { width: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n,tab", "move(1)", show=False),
        Binding("up,ctrl+p,shift+tab", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self._request = _NOTHING
        self._before: Widget | None = None
        self._fuzzy = Fuzzy(())
        self._count = ""
        self._new: ListItem | None = None

    def compose(self) -> ComposeResult:
        palette, glyphs = self.palette, self.glyphs
        yield Bar(palette=palette, glyphs=glyphs, id="picking-head")
        with Horizontal():
            yield Bar(palette=palette, glyphs=glyphs, id="picking")
            yield TextField(glyphs=glyphs, id="picking-field")
        yield ChoiceList(palette=palette, glyphs=glyphs)
        yield BottomLine(palette=palette, glyphs=glyphs, id="picking-foot")

    def on_mount(self) -> None:
        self.head = self.query_one("#picking-head", Bar)
        self.field = self.query_one(TextField)
        self.list = self.query_one(ChoiceList)
        self.foot = self.query_one(BottomLine)

    @property
    def is_open(self) -> bool:
        """Return whether it is open."""
        return bool(self.display)

    def ask(self, request: PickRequest) -> None:
        """Show the choices; whatever had the focus gets it back."""
        self._request, self._before, self._new = request, self.screen.focused, None
        self.list.offer(request.choices)
        self._fuzzy = Fuzzy(self.list.texts, [f"{each.lead} {each.more} {each.also}" for each in request.choices])
        self.query_one("#picking", Bar).lines = (((f" {_SIGN} ", self.palette.accent),),)
        self.field.set("")
        self._make_room()
        self._find(request.at)
        self.foot.say("")
        self.foot.hint([("Enter", request.verb), ("Esc", "leave")])
        self.display = True
        self.screen.set_focus(self.field)

    def close(self) -> None:
        """Close without a choice."""
        self.display = False
        self.screen.set_focus(self._before)

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""
        for widget in (self, self.head, self.list, self.foot):
            widget.palette = palette

    def on_resize(self) -> None:
        self._make_room()
        self._tell()

    def _make_room(self) -> None:
        """Make it as tall as the list, but leave the first lines of the screen in view."""
        most = self.app.size.height - _LEFT_OF_THE_PLACE - 3
        self.list.styles.height = max(_FEWEST, min(len(self._request.choices), most, _MOST))

    def _find(self, cursor: int = 0) -> None:
        found = self._fuzzy.find(self.field.value)
        self._offer_new(self._request.new(self.field.value))
        if self._new is None:
            self.list.show(found, cursor)
        else:
            shown = [FuzzyMatch(0, frozenset()), *(FuzzyMatch(each.index + 1, each.letters) for each in found)]
            # A name that holds what was typed is meant more often than a new one that is alike.
            self.list.show(shown, 1 if found and self._holds(found[0].index) else 0)
        count = sum(each.index >= self._request.uncounted for each in found)
        whole = len(self._request.choices) - self._request.uncounted
        self._count = f"{count:,} of {whole:,}" if self.field.value.strip() else f"{whole:,}"
        self._tell()

    def _offer_new(self, new: ListItem | None) -> None:
        """Put what was typed before the choices, or take it away."""
        if new != self._new:
            self._new = new
            self.list.offer([*([new] if new is not None else []), *self._request.choices])

    def _holds(self, index: int) -> bool:
        """Return whether a choice has what was typed in it as it was typed."""
        return self.field.value.strip().casefold() in self._request.choices[index].text.casefold()

    def _tell(self) -> None:
        line, width = self.glyphs.box["ew"], self.app.size.width
        left, right = f"{line * 2} {shown(self._request.title, self.glyphs)} ", f" {self._count} {line * 2}"
        left = fit(left, width - cell_width(right), self.glyphs.ellipsis)
        rule = line * (width - cell_width(left) - cell_width(right))
        self.head.lines = (((left + rule + right, self.palette.faint),),)

    def on_text_field_changed(self, event: TextField.Changed) -> None:
        event.stop()
        self.foot.say("")
        self._find()

    def on_text_field_entered(self, event: TextField.Entered) -> None:
        event.stop()
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

    def action_leave(self) -> None:
        """Close without a choice."""
        self.close()

    def action_move(self, lines: int) -> None:
        """Move the cursor by some lines."""
        self.foot.say("")
        self.list.move(lines)

    def action_page(self, pages: int) -> None:
        """Move the cursor by whole pages."""
        self.foot.say("")
        self.list.page(pages)
