"""Ask for the name of a file and write the location into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.timer import Timer

from riff_tui.errors import UsageError, describe
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.tui.actions.file_export import Exists, ExportStopped, FileExport
from riff_tui.tui.data.query_worker import QueryWorker, Work
from riff_tui.tui.render.styled_lines import PALETTES, Palette
from riff_tui.tui.widgets.bars import Bar, BottomLine
from riff_tui.tui.widgets.overlay import Overlay
from riff_tui.tui.widgets.text_field import TextField

_SIGN = "write to: "
FORMATS_HINT = "the ending sets the format: .md .txt .csv .json .jsonl .svg · Enter writes"
_TOLD_EVERY_S = 0.5


@dataclass(frozen=True, slots=True)
class FileRequest:
    """Hold the name proposed for a file, how it is written, what to call with its path, and what to say below it.

    `write` belongs on another thread; it gets what was typed and whether a file may be overwritten.
    """

    name: str
    write: Callable[[str, FileExport, bool], Path]
    done: Callable[[Path], None]
    hint: str = FORMATS_HINT


class FilePrompt(Overlay):
    """Ask in the lines at the foot; an existing file is only replaced by a second Enter."""

    DEFAULT_CSS = """
    FilePrompt { dock: bottom; height: auto; layout: vertical; }
    FilePrompt Horizontal { height: 1; }
    FilePrompt #writing { width: 11; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(
        self,
        worker: QueryWorker,
        *,
        palette: Palette = PALETTES["ansi"],
        glyphs: Glyphs = UNICODE,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self._worker = worker
        self._request: FileRequest | None = None
        self._overwritable = ""
        self._writing: FileExport | None = None
        self._telling: Timer | None = None

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Bar(palette=self.palette, glyphs=self.glyphs, id="writing")
            yield TextField(glyphs=self.glyphs, id="writing-field")
        yield BottomLine(palette=self.palette, glyphs=self.glyphs, id="writing-foot")

    def on_mount(self) -> None:
        self.field = self.query_one(TextField)
        self.foot = self.query_one(BottomLine)

    def ask(self, request: FileRequest) -> None:
        """Ask where to write it."""
        self._request, self._overwritable = request, ""
        self.query_one("#writing", Bar).lines = (((f" {_SIGN}", self.palette.accent),),)
        self.foot.palette = self.palette
        self.field.set(request.name)
        self.foot.say(request.hint)
        self.open(self.field)

    def on_text_field_changed(self, event: TextField.Changed) -> None:
        event.stop()
        self._overwritable = ""
        self.foot.say(self._request.hint if self._request is not None else FORMATS_HINT)

    def on_text_field_entered(self, event: TextField.Entered) -> None:
        event.stop()
        if self._writing is None and self._request is not None:
            self._writing = FileExport()
            self.foot.say("writing …")
            self._telling = self.set_interval(_TOLD_EVERY_S, self._tell)
            work: Work = partial(self._write, event.text, self._request, self._writing)
            self.run_worker(work, group="write", exit_on_error=False)

    def action_leave(self) -> None:
        """Close, or first stop what is being written."""
        self.leave()

    def leave(self) -> None:
        if self._writing is not None:
            self._writing.stop()
        else:
            self.close()

    def _tell(self) -> None:
        writing = self._writing
        if writing is not None and writing.rows:
            self.foot.say(f"writing row {writing.rows:,} of {writing.of:,} … Esc stops it")

    async def _write(self, typed: str, request: FileRequest, writing: FileExport) -> None:
        over = self._overwritable == typed
        try:
            path = await self._worker.ask(lambda: request.write(typed, writing, over))
        except Exists:
            self._overwritable = typed
            self.foot.say("this file exists: press Enter again to overwrite it, or type another name", "warn")
        except ExportStopped:
            self.foot.say("stopped; nothing was written")
        except UsageError as error:
            self.foot.say(str(error), "warn")
        except Exception as error:  # said, and another name can be tried
            self.foot.say(describe(error)[1], "bad")
        else:
            self.close()
            request.done(path)
        finally:
            self._writing = None
            if self._telling is not None:
                self._telling.stop()
