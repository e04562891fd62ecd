"""Asks for the name of a file and writes the place into it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.timer import Timer

from riff_tui.errors import UsageError, describe
from riff_tui.tui.widgets.bars import Bar, BottomLine
from riff_tui.tui.widgets.field import Field
from riff_tui.tui.written import Exists, Stopped, Writing, proposed, target, to_write

if TYPE_CHECKING:
    from riff_tui.tui.reading import Reading
    from riff_tui.tui.screens.explorer import ExplorerScreen

_SIGN = "write to: "
_ASKED = "its ending says the format: .md .txt .csv .json .jsonl .svg · Enter writes"
_TOLD_EVERY_S = 0.5


class WriteTo(ModalScreen[None], inherit_bindings=False):
    """Asks in the bottom lines; the place stays in view. A file that is there is only replaced by a second Enter."""

    DEFAULT_CSS = """
    WriteTo { background: transparent; color: ansi_default; }
    WriteTo Vertical { dock: bottom; height: auto; background: ansi_default; color: ansi_default; }
    WriteTo Horizontal { height: 1; }
    WriteTo #asking { width: 11; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(self, screen: ExplorerScreen, reading: Reading) -> None:
        super().__init__()
        self._from, self._reading, self._place = screen, reading, screen.trail.here
        self._over = ""
        self._writing: Writing | None = None
        self._telling: Timer | None = None

    def compose(self) -> ComposeResult:
        palette, glyphs = self._from.explorer.palette, self._from.explorer.glyphs
        with Vertical():
            with Horizontal():
                yield Bar(palette=palette, glyphs=glyphs, id="asking")
                yield Field(glyphs=glyphs)
            yield BottomLine(palette=palette, glyphs=glyphs)

    def on_mount(self) -> None:
        self.foot = self.query_one(BottomLine)
        self.query_one("#asking", Bar).lines = (((f" {_SIGN}", self.foot.palette.accent),),)
        field = self.query_one(Field)
        field.set(proposed(self._place))
        field.focus()
        self.foot.say(_ASKED)

    def on_field_changed(self, event: Field.Changed) -> None:
        event.stop()
        self._over = ""
        self.foot.say(_ASKED)

    def on_field_entered(self, event: Field.Entered) -> None:
        event.stop()
        if self._writing is None:
            self._writing = Writing()
            self.foot.say("writing …")
            self._telling = self.set_interval(_TOLD_EVERY_S, self._tell)
            self.run_worker(self._write(event.text, self._writing), group="write", exit_on_error=False)

    def action_leave(self) -> None:
        """Leave, or first stop what is being written."""
        if self._writing is not None:
            self._writing.stop()
        else:
            self.dismiss()

    def _tell(self) -> None:
        writing = self._writing
        if writing is not None and writing.rows:
            self.foot.say(f"writing row {writing.rows:,} of {writing.of:,} … Esc stops it")

    async def _write(self, typed: str, writing: Writing) -> None:
        explorer, over = self._from.explorer, self._over == typed
        choice = self._from.shelf.choice(self._place)

        def write() -> str:
            path, form = target(typed, self._reading.source)
            table = to_write(self._from.show_view, self._place, self._reading, choice, form)
            writing.write(table, path, form, over=over, ascii_only=False)
            return str(path)

        try:
            path = await explorer.asker.ask(write)
        except Exists:
            self._over = typed
            self.foot.say("a file of that name is there: Enter again overwrites it, another name does not", "warn")
        except Stopped:
            self.foot.say("stopped; nothing was written")
        except UsageError as error:
            self.foot.say(str(error), "warn")
        except Exception as error:  # said, and another name can be tried
            self.foot.say(describe(error)[1], "bad")
        else:
            self.dismiss()
            self._from.say(f"written to {path}")
        finally:
            self._writing = None
            if self._telling is not None:
                self._telling.stop()
