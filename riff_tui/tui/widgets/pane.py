"""Draw lines that follow something else, lay them out with rows and transcript, and show lines to read on a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip

from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.text.safe_text import cell_width, fit, padded
from riff_tui.tui.render.styled_lines import PALETTES, Line, Palette, strip_of
from riff_tui.tui.terminal.partial_repaint import Wheel
from riff_tui.tui.widgets.bars import Drawn
from riff_tui.tui.widgets.field import Field, FieldRequest
from riff_tui.tui.widgets.line_table import LineTable
from riff_tui.tui.widgets.transcript import Transcript

Make = Callable[[int], tuple[str, Sequence[Line]]]


class Pane(Drawn, Wheel):
    """Draw what `make` gives for a width: a heading as safe text, and lines under it that can be scrolled.

    `at_right` draws an edge at the left, for a pane at the right of something.
    """

    DEFAULT_CSS = """
    Pane { display: none; background: ansi_default; color: ansi_default; }
    """

    def __init__(self, *, palette: Palette = PALETTES["ansi"], glyphs: Glyphs = UNICODE, id: str | None = None) -> None:
        super().__init__(palette=palette, glyphs=glyphs, id=id)
        self.at_right = False
        self._make: Make = lambda width: ("", ())
        self._head = ""
        self._lines: Sequence[Line] = ()
        self._top = 0

    def show(self, make: Make, *, keep: bool = False) -> None:
        """Show something else, from its first line on unless its place is to be kept."""
        self._make, self._top = make, self._top if keep else 0
        self._remake()
        self.refresh()

    def move(self, lines: int) -> None:
        """Scroll by some lines, as far as there are any."""
        top = max(0, min(self._top + lines, len(self._lines) - self._inside))
        if top != self._top:
            self._top = top
            self.refresh()

    def page(self, pages: int) -> None:
        """Scroll by whole pages but for a line."""
        self.move(pages * max(1, self._inside - 1))

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""
        self.palette = palette
        self._remake()
        self.refresh()

    def on_resize(self) -> None:
        self._remake()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        return strip_of(self._line(y), self.size.width)

    @property
    def _inside(self) -> int:
        return max(1, self.size.height - 1)

    def _remake(self) -> None:
        width = self.size.width - (1 if self.at_right else 0)
        if width > 0:
            self._head, self._lines = self._make(width)
            self._top = max(0, min(self._top, len(self._lines) - self._inside))

    def _line(self, y: int) -> Line:
        edge = ((self.glyphs.box["ns"], self.palette.quiet),) if self.at_right else ()
        if y == 0:
            return (*edge, *self._title())
        index = self._top + y - 1
        return (*edge, *(self._lines[index] if index < len(self._lines) else ()))

    def _title(self) -> Line:
        """Return the heading, with signs if there is more above or below."""
        width = self.size.width - (1 if self.at_right else 0)
        above, below = self._top > 0, self._top + self._inside < len(self._lines)
        more = f" {self.glyphs.rising if above else ' '}{self.glyphs.falling if below else ' '}"
        rule = self.glyphs.box["ew"]
        lead = "" if self.at_right else f"{rule}{rule}"
        head = fit(f"{lead} {self._head} ", width - cell_width(more) - 1, self.glyphs.ellipsis)
        rest = width - cell_width(head) - cell_width(more)
        filled = rule * rest if not self.at_right else padded("", rest)
        return ((head, self.palette.head), (filled, self.palette.quiet), (more, self.palette.quiet))


class Body(Vertical):
    """Lay out the rows and the pane: `-right`, `-below` or `-full` shows where the pane is, none that it is closed.

    With `-conversation` the transcript is shown instead of the rows.
    """

    DEFAULT_CSS = """
    Body { height: 1fr; }
    Body.-right { layout: horizontal; }
    Body.-right LineTable, Body.-right Transcript { width: 1fr; }
    Body.-right Pane { display: block; height: 1fr; }
    Body.-below Pane { display: block; }
    Body.-full Pane { display: block; height: 1fr; }
    Body.-full LineTable { display: none; }
    Body Transcript { display: none; }
    Body.-conversation Transcript { display: block; }
    Body.-conversation LineTable { display: none; }
    Body.-full.-conversation Transcript { display: none; }
    """

    def __init__(self, table: LineTable, transcript: Transcript, pane: Pane) -> None:
        super().__init__(id="body")
        self.table = table
        self.transcript = transcript
        self.pane = pane

    def compose(self) -> ComposeResult:
        yield self.table
        yield self.transcript
        yield self.pane


_FAR = 100_000


class Pages(ScrollView, Wheel, can_focus=True):
    """Show the lines that `make` gives for a width, and find a word in them."""

    DEFAULT_CSS = """
    Pages { height: 1fr; overflow: hidden hidden; background: ansi_default; }
    """

    def __init__(self, make: Callable[[int], list[Line]], palette: Palette) -> None:
        super().__init__()
        self._make = make
        self._palette = palette
        self._lines: list[Line] = []
        self._found: int | None = None

    def on_resize(self) -> None:
        self._take(self._make(self.size.width))

    def find(self, word: str, step: int = 0) -> str:
        """Go to the first line from here on that has a word, or with a step to the next (1) or the previous (-1) one.

        Return which of how many that is, in words.
        """
        folded = word.strip().casefold()
        texts = ["".join(text for text, _ in line).casefold() for line in self._lines]
        lines = [index for index, text in enumerate(texts) if folded and folded in text]
        before, self._found = self._found, None
        if lines:
            here = before if step and before is not None else self.scroll_offset.y
            later = [index for index in lines if index > here or (not step and index == here)]
            earlier = [index for index in lines if index < here]
            self._found = (earlier or lines)[-1] if step < 0 else (later or lines)[0]
            self.scroll_to(y=self._found - self.size.height // 3, animate=False, force=True)
        self.refresh()
        return f"{lines.index(self._found) + 1} of {len(lines)} lines" if self._found is not None else "not found"

    def renew(self) -> None:
        """Show the lines as they are made by now, from the first one where they say something else."""
        lines = self._make(self.size.width)
        if lines != self._lines:
            self._take(lines)
            self.move(-_FAR)

    def _take(self, lines: list[Line]) -> None:
        self._lines, self._found = lines, None
        self.virtual_size = Size(self.size.width, len(lines))
        self.refresh()

    def move(self, lines: int) -> None:
        """Scroll by some lines."""
        self.scroll_to(y=self.scroll_offset.y + lines, animate=False, force=True)

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        line = self._lines[index] if index < len(self._lines) else ()
        return strip_of(line, self.size.width, self._palette.cursor if index == self._found else None)


class Reader(ModalScreen[None], inherit_bindings=False):
    """Show the lines that `make` gives for a width; any of its closing keys goes back."""

    DEFAULT_CSS = """
    Reader { layers: default top; background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,exclamation_mark,backspace,enter", "dismiss", show=False),
        Binding("j,down", "turn(1)", show=False),
        Binding("k,up", "turn(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("g,home", f"turn({-_FAR})", show=False),
        Binding("G,end", f"turn({_FAR})", show=False),
        Binding("slash", "find", show=False),
        Binding("n", "step(1)", show=False),
        Binding("N", "step(-1)", show=False),
        Binding("Q", "app.quit", show=False),
    ]

    def __init__(self, make: Callable[[int], list[Line]], palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._pages = Pages(make, palette)
        self._field = Field(palette=palette, glyphs=glyphs)

    def compose(self) -> ComposeResult:
        yield self._pages
        yield self._field

    def action_find(self) -> None:
        """Ask for a word, and go to it while it is typed."""

        def remark(typed: str) -> str:
            return self._pages.find(typed) if typed else ""

        hint = "a word in these lines; Enter, then n and N go on"
        self._field.ask(FieldRequest("find", "", hint, lambda typed: None, remark=remark))

    def action_step(self, step: int) -> None:
        """Go to the next or the previous line that has the word."""
        self._pages.find(self._field.field.value, step)

    def renew(self) -> None:
        """Show the lines as they are made by now."""
        self._pages.renew()

    def action_turn(self, lines: int) -> None:
        """Scroll by some lines."""
        self._pages.move(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by whole pages but for a line."""
        self._pages.move(pages * (self.app.size.height - 1))
