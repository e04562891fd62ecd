"""Ask for a line of text at the foot of the screen, edited with the keys of a shell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple, Protocol

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from riff_tui.errors import FilterError
from riff_tui.filters.parser import parse
from riff_tui.table import Severity
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width, fit, one_line
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.styled_lines import PALETTES, Palette, Piece, strip_of
from riff_tui.tui.widgets.bars import Bar, BottomLine, Dialog

LONGEST = 10_000


class EditedLine(NamedTuple):
    """Keep a text and the index of the cursor in it, from 0 to the length of the text."""

    text: str = ""
    at: int = 0

    @classmethod
    def of(cls, text: str) -> EditedLine:
        """Return a text with the cursor behind it."""
        return cls(text, len(text))

    def insert(self, text: str) -> EditedLine:
        """Insert text at the cursor, as much of it as a line may contain."""
        text = text[: max(0, LONGEST - len(self.text))]
        return EditedLine(self.text[: self.at] + text + self.text[self.at :], self.at + len(text))

    def replace(self, start: int, end: int, text: str) -> EditedLine:
        """Replace a part, and move the cursor behind it."""
        return EditedLine(self.text[:start] + text + self.text[end:], start + len(text))

    def move(self, letters: int) -> EditedLine:
        """Move the cursor some letters to the right, or to the left where negative."""
        return EditedLine(self.text, max(0, min(len(self.text), self.at + letters)))

    def to_word(self, direction: int) -> EditedLine:
        """Move the cursor to the beginning of this word or the one before (-1), or of the next one (1)."""
        at = self.at
        if direction < 0:
            return EditedLine(self.text, self._word_start())
        while at < len(self.text) and not self.text[at].isspace():
            at += 1
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return EditedLine(self.text, at)

    def delete(self, letters: int) -> EditedLine:
        """Delete the letters behind the cursor, or before it where negative."""
        return self._without(self.at, self.move(letters).at)

    def delete_word(self) -> EditedLine:
        """Delete the word before the cursor, back to the blank before it."""
        return self._without(self._word_start(), self.at)

    def delete_to(self, end: int) -> EditedLine:
        """Delete everything before the cursor (-1) or behind it (1)."""
        return self._without(0, self.at) if end < 0 else self._without(self.at, len(self.text))

    def _without(self, one: int, other: int) -> EditedLine:
        start, end = sorted((one, other))
        return EditedLine(self.text[:start] + self.text[end:], start)

    def _word_start(self) -> int:
        at = self.at
        while at and self.text[at - 1].isspace():
            at -= 1
        while at and not self.text[at - 1].isspace():
            at -= 1
        return at


def printable(text: str) -> str:
    """Return pasted text as it may be on a line, without what controls a terminal or cannot be seen."""
    flat = " ".join(text[: 4 * LONGEST].split())
    return "".join(character for character in flat if one_line(character) == character)


_CURSOR = Style(reverse=True)


class TextField(Widget, can_focus=True):
    """Edit what is being typed, and post every change."""

    DEFAULT_CSS = """
    TextField { height: 1; width: 1fr; background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        Binding("ctrl+left,alt+b", "word(-1)", show=False),
        Binding("ctrl+right,alt+f", "word(1)", show=False),
        Binding("home", f"move({-(10**6)})", show=False),
        Binding("end,ctrl+e", f"move({10**6})", show=False),
        Binding("backspace", "delete(-1)", show=False),
        Binding("delete,ctrl+d", "delete(1)", show=False),
        Binding("ctrl+w,alt+backspace", "delete_word", show=False),
        Binding("ctrl+u", "delete_to(-1)", show=False),
        Binding("ctrl+k", "delete_to(1)", show=False),
        Binding("enter", "enter", show=False),
    ]
    typed: reactive[EditedLine] = reactive(EditedLine(), layout=False)

    class Changed(Message):
        """Report that the text changed."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Entered(Changed):
        """Report that Enter was pressed."""

    def __init__(self, *, glyphs: Glyphs = UNICODE, id: str | None = "field") -> None:
        super().__init__(id=id)
        self.glyphs = glyphs
        self._first = 0

    @property
    def value(self) -> str:
        """Return the text."""
        return self.typed.text

    def set(self, text: str) -> None:
        """Take another text, the cursor at its end, without posting it."""
        self._first = 0
        self.set_reactive(TextField.typed, EditedLine.of(text))
        self._look()
        self.refresh()

    def edit(self, typed: EditedLine) -> None:
        """Take the result of an edit, and post it if the text changed."""
        before = self.typed.text
        self.typed = typed
        self._look()
        if typed.text != before:
            self.post_message(self.Changed(typed.text))

    def type(self, letter: str) -> None:
        """Put a letter where the cursor is."""
        self.edit(self.typed.insert(letter if letter == " " else printable(letter)))

    def cell_of(self, place: int) -> int:
        """Return the cell of this line in which a letter of the text begins."""
        return cell_width(shown(self.typed.text[:place], self.glyphs)) - self._first

    # Keys

    def on_paste(self, event: events.Paste) -> None:
        # What is pasted may contain control characters, which no filter takes and no terminal should get.
        event.stop()
        event.prevent_default()
        self.edit(self.typed.insert(printable(event.text)))

    def action_move(self, letters: int) -> None:
        self.edit(self.typed.move(letters))

    def action_word(self, direction: int) -> None:
        self.edit(self.typed.to_word(direction))

    def action_delete(self, letters: int) -> None:
        self.edit(self.typed.delete(letters))

    def action_delete_word(self) -> None:
        self.edit(self.typed.delete_word())

    def action_delete_to(self, end: int) -> None:
        self.edit(self.typed.delete_to(end))

    def action_enter(self) -> None:
        self.post_message(self.Entered(self.typed.text))

    def on_click(self, event: events.Click) -> None:
        places = range(len(self.typed.text) + 1)
        self.edit(self.typed.move(max((at for at in places if self.cell_of(at) <= event.x), default=0) - self.typed.at))

    # Line

    def render_line(self, y: int) -> Strip:
        text, at = self.typed.text, self.typed.at
        before, under, after = (
            shown(part, self.glyphs) for part in (text[:at], text[at : at + 1] or " ", text[at + 1 :])
        )
        line: list[Piece] = [(before, None), (under, _CURSOR if self.has_focus else None), (after, None)]
        width = self.size.width
        whole = sum(cell_width(piece) for piece, _ in line)
        return strip_of(line, max(whole, self._first + width)).crop(self._first, self._first + width)

    def on_resize(self) -> None:
        self._look()
        # It was drawn at its new width before it learned of it.
        self.refresh()

    def on_focus(self) -> None:
        self._look()

    def _look(self) -> None:
        """Scroll as far as it takes to see the cursor, and put the terminal's cursor there."""
        width = self.size.width
        if not width:
            return
        at = self.cell_of(self.typed.at) + self._first
        under = cell_width(shown(self.typed.text[self.typed.at : self.typed.at + 1], self.glyphs)) or 1
        # A line that has room for all of what is before its end begins as far left as it can.
        whole = self.cell_of(len(self.typed.text)) + self._first + 1
        self._first = max(min(self._first, at, max(0, whole - width)), at + under - width, 0)
        if self.has_focus:
            # An input method draws what it composes there.
            self.app.cursor_position = Offset(self.region.x + at - self._first, self.region.y)


class Asking(Dialog):
    """Show a sign, the line that is typed after it, and what is below."""

    DEFAULT_CSS = """
    Asking { dock: bottom; layout: vertical; }
    Asking Horizontal { height: 1; }
    """
    foot: Bar

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(palette=palette, glyphs=glyphs, id=id)
        self.sign = Bar(palette=palette, glyphs=glyphs)
        self.field = TextField(glyphs=glyphs)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self.sign
            yield self.field
        yield self.foot

    def begin(self, sign: str, text: str) -> None:
        """Open with a sign, as safe text, and with a text to edit."""
        self.sign.styles.width = cell_width(sign)
        self.sign.lines = (((sign, self.palette.place),),)
        self.field.set(text)
        self.open(self.field)

    def changed(self, text: str) -> None:
        """Follow what is typed."""

    def entered(self, text: str) -> None:
        """Take what was typed."""

    def on_text_field_changed(self, event: TextField.Changed) -> None:
        event.stop()
        self.changed(event.text)

    def on_text_field_entered(self, event: TextField.Entered) -> None:
        event.stop()
        self.entered(event.text)


_WIDEST_SIGN = 30


class FieldRequest(NamedTuple):
    """Describe what is before the line, the text to begin with, the words below it, and whom to notify.

    `done` gets what was typed once the field is closed, unless it `stays` open until that closes it; `left` gets what
    was there when it was closed without an answer. `stop` stops what is under way and returns whether anything was:
    then it is not closed. `remark` shows for a text what Enter would do with it, nothing for what `hint` shows.
    """

    sign: str
    text: str
    hint: str
    done: Callable[[str], None]
    left: Callable[[str], None] = lambda text: None
    remark: Callable[[str], str] = lambda text: ""
    stays: bool = False
    stop: Callable[[], bool] = lambda: False


class Field(Asking):
    """Ask for one line, which scrolls if it is longer than the screen is wide."""

    DEFAULT_CSS = """
    Field { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(palette=palette, glyphs=glyphs, id=id)
        self.foot: BottomLine = BottomLine(palette=palette, glyphs=glyphs)
        self._request: FieldRequest | None = None

    def ask(self, request: FieldRequest) -> None:
        """Ask for a line; an answer closes the field unless the request shows that it stays."""
        self._request = request
        self.foot.palette = self.palette
        self.changed(request.text)
        sign = fit(f" {shown(request.sign, self.glyphs)}: ", _WIDEST_SIGN, self.glyphs.ellipsis)
        self.begin(sign, request.text)

    def say(self, text: str, severity: Severity | None = None) -> None:
        """Show something below the line until another text is typed; `text` is raw."""
        self.foot.say(text, severity)

    def changed(self, text: str) -> None:
        if self._request is not None:
            self.say(self._request.remark(text) or self._request.hint)

    def entered(self, text: str) -> None:
        request = self._request
        if request is not None:
            if not request.stays:
                self.close()
            request.done(text)

    def leave(self) -> None:
        request = self._request
        if request is None or not request.stop():
            self.close()
            if request is not None:
                request.left(self.field.value)


_FILTER_SIGN = "/"


class PromptHandler(Protocol):
    """Handle what is typed into a prompt."""

    def changed(self, expression: str) -> None:
        """Try an expression that is complete; it may be empty."""

    def entered(self, expression: str) -> None:
        """Apply the expression."""

    def close(self) -> None:
        """Close the prompt, whatever was typed."""

    def recall(self, steps: int) -> None:
        """Bring back what was typed earlier (-1) or later (1)."""

    def complete(self, steps: int) -> None:
        """Complete what is before the cursor with the next (1) or the previous (-1) candidate."""

    def look_back(self) -> None:
        """Show everything typed earlier, to choose from."""


class Prompt(Asking):
    """Ask for a filter or a search; an error is shown under its position."""

    DEFAULT_CSS = """
    Prompt { layer: over; width: 1fr; height: 2; overflow: hidden hidden; }
    """
    handler: PromptHandler
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+p", "recall(-1)", show=False),
        Binding("down,ctrl+n", "recall(1)", show=False),
        Binding("tab", "complete(1)", show=False),
        Binding("shift+tab", "complete(-1)", show=False),
        Binding("ctrl+r", "look_back", show=False),
    ]

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(palette=palette, glyphs=glyphs, id=id)
        self.foot = Bar(palette=palette, glyphs=glyphs)

    def ask(self, expression: str, hint: str) -> None:
        """Open with an expression to edit and a hint on what can be typed."""
        self.begin(_FILTER_SIGN, expression)
        self.tell(hint)

    def close(self) -> None:
        """Close without applying anything; who opened it shows what gets the focus."""
        self.display = False

    def leave(self) -> None:
        self.handler.close()

    def tell(self, text: str) -> None:
        """Show a raw text under the line."""
        self.foot.lines = (((" " + shown(text, self.glyphs), self.palette.quiet),),)

    def offer(self, names: Sequence[str], at: int) -> None:
        """Show the candidates for completion, the present one highlighted; the names are raw."""
        width = self.size.width - 1
        texts = [shown(name, self.glyphs) for name in names]
        count = f" {at + 1} of {len(texts)} "
        first = at
        # As many of those before it as leave half of the line to it and to those after it.
        while first and sum(cell_width(text) + 2 for text in texts[first - 1 : at]) < width // 3:
            first -= 1
        line: list[Piece] = [(count, self.palette.quiet)]
        for index, text in enumerate(texts[first:], first):
            line += [(" ", None), (f" {text} ", self.palette.cursor if index == at else None)]
            if sum(cell_width(piece) for piece, _ in line) > width:
                break
        self.foot.lines = (tuple(line),)

    def complain(self, error: FilterError) -> None:
        """Show what is wrong, with a caret under its position."""
        at = 1 + max(0, self.field.cell_of(max(0, error.position)))
        words = shown(error.message, self.glyphs)
        text = f"^ {words}"
        if at + cell_width(text) > self.size.width:
            # No room at the right of the caret: the words are before it.
            text = f"{words} ^" if cell_width(words) < at else text
            at = max(0, at - cell_width(words) - 1) if cell_width(words) < at else at
        self.foot.lines = (((" " * at + text, self.palette.bad),),)

    def changed(self, text: str) -> None:
        if self.is_open and self._makes_sense(text):
            self.handler.changed(text)

    def entered(self, text: str) -> None:
        if self._makes_sense(text):
            self.handler.entered(text)

    def _makes_sense(self, text: str) -> bool:
        try:
            parse(text)
        except FilterError as error:
            self.complain(error)
            return False
        return True

    def action_recall(self, steps: int) -> None:
        self.handler.recall(steps)

    def action_complete(self, steps: int) -> None:
        self.handler.complete(steps)

    def action_look_back(self) -> None:
        self.handler.look_back()
