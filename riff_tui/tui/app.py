"""Run the explorer as a Textual application: signals, saving, and an end that leaves the terminal as it was."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from rich.console import RenderableType
from textual import events
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.timer import Timer

from riff_store.signals import ENDED_BY, exit_code_of, handlers_given_back
from riff_tui.browser import PLACE
from riff_tui.errors import ExitCode, OutputError
from riff_tui.notes.notebook import Notebook
from riff_tui.text.glyphs import UNICODE, Glyphs
from riff_tui.tui.actions.registry import ACTIONS
from riff_tui.tui.backend import Backend, CaseText, NameSource, NoteSource, ShowView
from riff_tui.tui.data.query_worker import QueryWorker, Work
from riff_tui.tui.data.store_watcher import StoreWatcher
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import START, Stack
from riff_tui.tui.render.palette import PALETTES, Palette
from riff_tui.tui.screens.explorer import ExplorerScreen
from riff_tui.tui.session.session_file import SessionFile
from riff_tui.tui.terminal.keys import textual_keys
from riff_tui.tui.terminal.textual_internals import QuietApp, TerminalDriver, write_meta, write_sequence
from riff_tui.tui.widgets.text_field import TextField
from riff_tui.watching.growing_run import GrowingRun

MOST_REPEATED = 3
_LEADING = {name for each in ACTIONS if each.group != "Move" for name in textual_keys(each.keys).split(",")}
# So much later what changed is written, together with what changes meanwhile.
SAVED_AFTER_S = 2.0


class Explorer(QuietApp, inherit_bindings=False):
    """Walk the tables that `show` returns; `age` says in a few words how old they are.

    `session` keeps what lasts; `watcher` sees the store change, which is shown at once unless `paused`; `store` is
    what a command has to name to find it, `names` queries the names in it, `notes` what people noted, `notebook`
    writes notes, `case_text` makes cases of its calls, `growing` knows of the run that is being made. `notice` is said
    at first. `on_page` is it where a browser draws it.
    """

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "riff-tui"
    CSS = """
    * { scrollbar-size: 0 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupt", show=False, priority=True)]

    def __init__(
        self,
        show: ShowView,
        age: Callable[[], str] = lambda: "",
        *,
        start: Stack = START,
        palette: Palette = PALETTES["ansi"],
        glyphs: Glyphs = UNICODE,
        session: SessionFile | None = None,
        watcher: StoreWatcher | None = None,
        paused: bool = False,
        store: str = "",
        names: NameSource | None = None,
        case_text: CaseText | None = None,
        notes: NoteSource | None = None,
        notebook: Notebook | None = None,
        notice: str = "",
        growing: GrowingRun | None = None,
        on_page: bool = False,
    ) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self.animation_level = "none"
        self.session = session or SessionFile()
        self.worker = QueryWorker()
        self.is_unsaved = False
        self._backend = Backend(
            show_view=show,
            age=age,
            case_text=case_text,
            names=names,
            notes=notes,
            notebook=notebook,
            notice=notice,
            growing=growing,
            watcher=watcher,
            paused=paused,
            store=store,
            session=self.session,
            worker=self.worker,
            send=self.send,
            deliver=self._deliver if on_page else None,
            told=self._tell_page if on_page else lambda address, title: None,
        )
        self._explorer = ExplorerScreen(self._backend, History((start,)), palette, glyphs)
        self._save_timer: Timer | None = None

    def write_pending_notes(self) -> list[str]:
        """Write the notes that were on their way when the explorer ended; return what there is to say of each."""
        writer = self._explorer.controls.note_writer
        return writer.finish() if writer is not None else []

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's own driver, but for the way it finds the size of a terminal."""
        found = super().get_driver_class()
        return TerminalDriver if found.__name__ == "LinuxDriver" else found

    def get_default_screen(self) -> Screen[None]:
        """Return the one screen that everything else lies on."""
        return self._explorer

    @property
    def field(self) -> TextField | None:
        """Return the line that is being edited, if there is one."""
        return self.focused if isinstance(self.focused, TextField) else None

    def type(self, event: events.Key) -> bool:
        """Put a letter into the line that is being edited, if there is one."""
        field, letter = self.field, event.character
        if field is None or letter is None or not event.is_printable:
            return False
        field.type(letter)
        return True

    def is_opening(self, *, waited: bool) -> bool:
        """Return whether something to type into, or another location, is about to open."""
        controls = self._explorer.controls
        is_awaited = controls.navigator.is_coming if waited else controls.navigator.is_arriving
        return controls.opening.is_loading or is_awaited

    def is_repeated(self, key: str, waiting: Sequence[str]) -> bool:
        """Return whether a key that goes elsewhere is held down: it would go on long after it is let go."""
        opening = self._explorer.controls.opening
        is_text = opening.is_loading and opening.is_for_text
        # Where others wait as well, it may be a letter of what they open.
        return key in _LEADING and not is_text and len(waiting) >= MOST_REPEATED and set(waiting) == {key}

    def cancel_opening(self) -> bool:
        """Give up what is about to open, but for a location; return whether there was anything."""
        return self._explorer.controls.opening.stop()

    def has_failed_to_open(self) -> bool:
        """Return whether what was typed was for something that did not open."""
        controls = self._explorer.controls
        return any([controls.opening.take_failure(), controls.navigator.take_failure()])

    async def on_explorer_screen_opened(self) -> None:
        await self.answer_typed_ahead()

    async def run_async(self, **options: Any) -> Any:
        """Run until the end; what signals do is as it was before."""
        with handlers_given_back():
            return await super().run_async(**options)

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in ENDED_BY:  # also where a hang-up is ignored, for without a terminal there is nothing to do
            # Where the loop is not the main thread's, signals are somebody else's business.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._end, int(exit_code_of(number)))
        self.session.changed = self._save_soon
        # Whoever had the terminal meanwhile drew over it.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))

    def on_resize(self) -> None:
        # A terminal that was another size in between has lost what it showed, also where it is as large as before.
        self.refresh(layout=True)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End, and keep the location to come back to."""
        self._keep_location()
        super().exit(result, return_code, message)

    def _end(self, code: int) -> None:
        """End by a signal: the terminal may be gone already, so what lasts is written before it is restored."""
        self._keep_location()
        with contextlib.suppress(OutputError):
            self.session.write()
        self.exit(None, code)

    def _save_soon(self) -> None:
        if self._save_timer is None:
            self._save_timer = self.set_timer(SAVED_AFTER_S, self._save)

    def _save(self) -> None:
        self._save_timer = None
        self._keep_location()
        write: Work = self._write
        self.run_worker(write, group="saving", exit_on_error=False)

    async def _write(self) -> None:
        try:
            await self.worker.do(self.session.write)
        except OutputError as error:
            # Said once: a home that cannot be written stays so.
            if not self.is_unsaved:
                self._explorer.say(f"the session is not saved: {error}", "warn")
            self.is_unsaved = True

    def _keep_location(self) -> None:
        explorer = self._explorer
        if explorer.loaded is not None:
            self.session.set_stack(explorer.history.stack)

    def on_app_blur(self, event: events.AppBlur) -> None:
        # Nothing looks different in a window without focus, so nothing is to be sent again.
        event.prevent_default()

    def on_app_focus(self, event: events.AppFocus) -> None:
        event.prevent_default()

    def action_interrupt(self) -> None:
        """Leave a list or the prompt, else the explorer."""
        if self.screen is not self._explorer or not self._explorer.interrupt():
            self.exit(return_code=int(ExitCode.INTERRUPTED))

    def _deliver(self, path: Path) -> None:
        """Hand a file to the browser, and leave nothing of it here."""
        file = path.open("rb")
        path.unlink()
        self.deliver_binary(file, save_filename=path.name, mime_type="application/octet-stream")

    def _tell_page(self, address: str, title: str) -> None:
        write_meta(self, {"type": PLACE, "address": address, "title": title})

    def send(self, sequence: str) -> None:
        """Write an escape sequence of our own to the terminal."""
        write_sequence(self, sequence)
