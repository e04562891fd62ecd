"""Run the explorer as a Textual application: colours, signals, saving, an end that leaves the terminal as it was."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TextIO

from rich.console import RenderableType
from textual import events
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.reactive import Reactive
from textual.screen import Screen
from textual.timer import Timer

from riff_store.signals import ENDED_BY, exit_code_of, handlers_given_back
from riff_tui.browser import PLACE, is_in_browser
from riff_tui.errors import ExitCode, OutputError, UsageError, writing
from riff_tui.notes.notebook import Notebook
from riff_tui.settings import Settings, commands, keys, state_directory, store_place, store_to_name, wants_color
from riff_tui.text.glyphs import UNICODE, Glyphs, glyphs
from riff_tui.text.palette import MONO
from riff_tui.tui.actions.action import Action, textual_keys
from riff_tui.tui.actions.own import listing, with_own
from riff_tui.tui.actions.registry import BY_ID
from riff_tui.tui.data.backend import Backend, CaseText, KnownNames, NotesOfCalls, StoreWatcher
from riff_tui.tui.data.query_worker import Work
from riff_tui.tui.data.session import SessionFile, session_path
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import START, Stack
from riff_tui.tui.navigation.stacks import is_place, open_link
from riff_tui.tui.render.styled_lines import PALETTES, Palette
from riff_tui.tui.screen import ExplorerScreen
from riff_tui.tui.terminal.textual_internals import QuietApp, TerminalDriver, write_meta, write_sequence
from riff_tui.tui.widgets.field import TextField
from riff_tui.watching.growing_run import GrowingRun

MOST_REPEATED = 3
# So much later what changed is written, together with what changes meanwhile.
SAVED_AFTER_S = 2.0


class Explorer(QuietApp, inherit_bindings=False):
    """Walk the tables that a `backend` returns; `on_page` is it where a browser draws it."""

    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "riff-tui"
    CSS = """
    * { scrollbar-size: 0 0; }
    """
    # A theme that comes later has all styles parsed and applied once more.
    theme: Reactive[str] = Reactive("ansi-dark", init=False)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+z", "suspend", show=False, priority=True),
    ]

    def __init__(
        self,
        backend: Backend,
        *,
        start: Stack = START,
        palette: Palette = PALETTES["ansi"],
        glyphs: Glyphs = UNICODE,
        on_page: bool = False,
        actions: Mapping[str, Action] = BY_ID,
    ) -> None:
        super().__init__(ansi_color=True)
        leading = [key for each in actions.values() if each.group != "Move" for key in each.keys]
        self._leading = {textual_keys([key]) for key in leading}
        self.animation_level = "none"
        self.session = backend.session
        self.worker = backend.worker
        self.is_unsaved = False
        backend = replace(backend, send=self.send)
        if on_page:
            backend = replace(backend, deliver=self._deliver, told=self._tell_page)
        self._explorer = ExplorerScreen(backend, History((start,)), palette, glyphs, actions)
        self._save_timer: Timer | None = None

    def write_pending_notes(self) -> list[str]:
        """Write the notes that were on their way when the explorer ended; return what there is to report about each."""
        writer = self._explorer.controls.note_writer
        return writer.finish() if writer is not None else []

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's own driver, but for the way it finds the size of a terminal."""
        found = super().get_driver_class()
        return TerminalDriver if found.__name__ == "LinuxDriver" else found

    def get_default_screen(self) -> Screen[None]:
        """Return the one screen that everything else is on."""
        return self._explorer

    @property
    def field(self) -> TextField | None:
        return self.focused if isinstance(self.focused, TextField) else None

    def type(self, event: events.Key) -> bool:
        field, letter = self.field, event.character
        if field is None or letter is None or not event.is_printable:
            return False
        field.type(letter)
        return True

    def is_opening(self, *, waited: bool) -> bool:
        controls = self._explorer.controls
        is_awaited = controls.navigator.is_coming if waited else controls.navigator.is_arriving
        return controls.opening.is_loading or is_awaited

    def is_repeated(self, key: str, waiting: Sequence[str]) -> bool:
        """Return whether a key that goes elsewhere is kept down: it would go on long after it is let go."""
        opening = self._explorer.controls.opening
        is_text = opening.is_loading and opening.is_for_text
        # Where others wait as well, it may be a letter of what they open.
        return key in self._leading and not is_text and len(waiting) >= MOST_REPEATED and set(waiting) == {key}

    def cancel_opening(self) -> bool:
        return self._explorer.controls.opening.stop()

    def has_failed_to_open(self) -> bool:
        controls = self._explorer.controls
        return any([controls.opening.take_failure(), controls.navigator.take_failure()])

    async def on_explorer_screen_opened(self) -> None:
        if not gc.isenabled():
            # What was made until the first rows lasts. Lines and tables that are shown no more refer to each other, and
            # only a search for garbage takes them.
            gc.freeze()
            gc.set_threshold(4_000, 5, 2)
            gc.enable()
        await self.answer_typed_ahead()

    async def run_async(self, **options: Any) -> Any:
        """Run until the end; what signals do is as it was before."""
        with handlers_given_back():
            return await super().run_async(**options)

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in ENDED_BY:  # also where a hang-up is ignored, for without a terminal there is nothing to do
            # If the loop is not the main thread's, signals are somebody else's business.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._end, int(exit_code_of(number)))
        self.session.changed = self._save_soon
        # Whoever had the terminal meanwhile drew over it.
        self.app_resume_signal.subscribe(self, lambda _: self.draw_anew())

    def on_resize(self) -> None:
        # A terminal that was another size in between has lost what it showed, also where it is as large as before.
        self.draw_anew()

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
        self.run_worker(write, group="saving", description="saving", exit_on_error=False)

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

    def action_suspend(self) -> None:
        """Go back to the shell, whatever is over the screen."""
        self._explorer.action_do("suspend")

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


class StartOptions(NamedTuple):
    """Describe where to open, at the last location where no view is given; `fresh` ignores what earlier sessions left.

    `sides` are compared, `by` distinguishes rows, and `at` is the moment of a call to begin at: `turn:7`, `state:NAME`.
    `read_only` takes no notes.
    """

    view: str | None = None
    where: str = ""
    sort: str | None = None
    fresh: bool = False
    aspect: str = ""
    sides: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    at: str = ""
    read_only: bool = False


def run_explorer(location: str, start: StartOptions, settings: Settings, case_text: CaseText | None = None) -> int:
    """Open the explorer on a store, with `case_text` to make cases of its calls; return the exit code.

    Raises `UsageError`, `FilterError` and the store's errors before the terminal is touched, and afterwards what
    ended the explorer.
    """
    from riff_tui.catalog import open_to_read
    from riff_tui.notes.kept_notes import told_of_kept_notes
    from riff_tui.output.streams import say

    if start.at and not is_place(start.at):
        raise UsageError(f"--at {start.at}: it takes turn:N, such as turn:7, or state:NAME")
    if settings.theme is not None and settings.theme not in PALETTES:
        raise UsageError(f"no theme is called {settings.theme!r}; there are {', '.join(PALETTES)}")
    wanted = open_link(start.view or "flows", start.where, start.aspect, sides=start.sides, by=start.by, at=start.at)
    if start.sort is not None:
        wanted = (*wanted[:-1], replace(wanted[-1], sort=start.sort))
    actions, complaints = own_actions()
    opened_store = open_to_read(location)
    place = store_place(location)
    named = store_to_name(place)
    watcher = StoreWatcher(opened_store, named)
    session = SessionFile(
        session_path(opened_store.location, state_directory()), store_place(opened_store.location), fresh=start.fresh
    )
    found = detect_capabilities(
        theme=settings.theme, remembered=session.state.theme, ascii_only=settings.ascii, mouse=settings.mouse
    )
    if start.view is None and session.state.stack:
        stack = session.state.stack
    else:
        stack = wanted
        session.opened(wanted)
    backend = Backend(
        watcher.show,
        watcher.age,
        case_text=case_text,
        names=KnownNames(opened_store),
        notes=NotesOfCalls(opened_store),
        notebook=None if start.read_only else Notebook(place, settings.author),
        notice="; ".join(filter(None, [*complaints, told_of_kept_notes(opened_store)])),
        growing=GrowingRun(opened_store),
        watcher=watcher,
        paused=settings.live is False,
        store=named,
        place=named or place,
        session=session,
    )
    explorer = Explorer(
        backend,
        start=stack,
        palette=found.palette,
        glyphs=found.glyphs,
        on_page=is_in_browser(),
        actions=actions,
    )
    explorer.run(mouse=found.mouse)
    for said in explorer.write_pending_notes():
        say(said)
    if explorer.failure is None:
        # What ended the explorer against its will is not a place to come back to.
        _write(session, said=explorer.is_unsaved)
    # If a query is still on its way, the process ends without waiting for it; the store was only read.
    if explorer.worker.idle:
        watcher.close()
    if explorer.failure is not None:
        raise explorer.failure
    return explorer.return_code or 0


def own_actions() -> tuple[Mapping[str, Action], list[str]]:
    """Return the actions with keys and commands from the settings file, and what of these makes no sense.

    The person who looks at a page is not at the machine on which commands would run.
    """
    return with_own(keys(), () if is_in_browser() else commands())


def print_keys() -> None:
    """Print what the settings file calls each action, with its keys; on stderr what of that file makes no sense."""
    from riff_tui.output.streams import say, standard_output

    actions, complaints = own_actions()
    with writing("stdout"):
        out = standard_output().stream
        out.writelines(f"{line}\n" for line in listing(actions))
        out.flush()
    for complaint in complaints:
        say(complaint)


def _write(session: SessionFile, *, said: bool) -> None:
    """Write what lasts; where that fails, a line reports it, unless it was `said` before."""
    from riff_tui.output.streams import say

    try:
        session.write()
    except OutputError as error:
        if not said:
            say(f"The session was not saved: {error}")


_NEEDED = "·…›▲█▒─◆●⏎"


class Capabilities(NamedTuple):
    """Describe what to draw with and whether to take the mouse."""

    palette: Palette
    glyphs: Glyphs
    mouse: bool


def detect_capabilities(
    *,
    theme: str | None = None,
    remembered: str | None = None,
    ascii_only: bool | None = None,
    mouse: bool | None = None,
    environ: Mapping[str, str] = os.environ,
    stream: TextIO | None = None,
) -> Capabilities:
    """Return the settings of the environment, overridden by what the user asked for.

    Over SSH the mouse stays with the terminal, and its own colours are taken whatever theme is
    `remembered`. A page is black and has no colours of its own. Without colours there are reverse, bold and the marks.
    """
    remote = bool(environ.get("SSH_CONNECTION"))
    usual = "dark" if is_in_browser(environ) else "ansi"
    theme = theme or (None if remote else remembered)
    named = MONO.name if not wants_color(True, environ) else usual if theme not in PALETTES else str(theme)
    if ascii_only is None:
        ascii_only = environ.get("TERM") == "linux" or not _can_show(stream or sys.stderr)
    return Capabilities(PALETTES[named], glyphs(ascii_only), not remote if mouse is None else mouse)


def _can_show(stream: TextIO) -> bool:
    try:
        _NEEDED.encode(codecs.lookup(stream.encoding or "ascii").name)
    except (LookupError, UnicodeEncodeError, AttributeError):
        return False
    return True
