"""Open the explorer on a store, in the colours of its terminal and with what earlier sessions left."""

from __future__ import annotations

from dataclasses import dataclass, replace

from riff_tui.browser import is_in_browser
from riff_tui.errors import OutputError, UsageError
from riff_tui.settings import Settings, state_directory, store_place, store_to_name
from riff_tui.tui.app import Explorer
from riff_tui.tui.backend import CaseText
from riff_tui.tui.data.notes_of_calls import NotesOfCalls
from riff_tui.tui.data.store_watcher import KnownNames, StoreWatcher
from riff_tui.tui.navigation.links import open_link
from riff_tui.tui.navigation.location import Stack
from riff_tui.tui.navigation.moments import is_place
from riff_tui.tui.render.palette import PALETTES
from riff_tui.tui.session.session_file import SessionFile, session_path
from riff_tui.tui.terminal.capabilities import detect_capabilities
from riff_tui.watching.growing_run import GrowingRun


@dataclass(frozen=True, slots=True)
class StartOptions:
    """Hold where to open, at the last location where no view is given; `fresh` ignores what earlier sessions left.

    `sides` are compared, `by` tells rows apart, and `at` is the moment of a call to begin at: `turn:7`, `state:NAME`.
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
    from riff_tui.notes.kept_notes import open_to_read, told_of_kept_notes
    from riff_tui.notes.notebook import Notebook
    from riff_tui.output.streams import say

    if start.at and not is_place(start.at):
        raise UsageError(f"--at {start.at}: it takes turn:N, such as turn:7, or state:NAME")
    if settings.theme is not None and settings.theme not in PALETTES:
        raise UsageError(f"no theme is called {settings.theme!r}; there are {', '.join(PALETTES)}")
    wanted = open_link(start.view or "flows", start.where, start.aspect, sides=start.sides, by=start.by, at=start.at)
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
    explorer = Explorer(
        watcher.show,
        watcher.age,
        start=_begin(session, start, wanted),
        palette=found.palette,
        glyphs=found.glyphs,
        session=session,
        watcher=watcher,
        names=KnownNames(opened_store),
        notes=NotesOfCalls(opened_store),
        notebook=None if start.read_only else Notebook(place, settings.author),
        notice=told_of_kept_notes(opened_store),
        case_text=case_text,
        growing=GrowingRun(opened_store),
        paused=settings.live is False,
        store=named,
        on_page=is_in_browser(),
    )
    explorer.run(mouse=found.mouse)
    for said in explorer.write_pending_notes():
        say(said)
    if explorer.failure is None:
        # What ended the explorer against its will is no place to come back to.
        _write(session, said=explorer.is_unsaved)
    # Where a query is still on its way, the process ends without waiting for it; the store was only read.
    if explorer.worker.idle:
        watcher.close()
    if explorer.failure is not None:
        raise explorer.failure
    return explorer.return_code or 0


def _write(session: SessionFile, *, said: bool) -> None:
    """Write what lasts; where that fails, a line says so, unless it was `said` before."""
    from riff_tui.output.streams import say

    try:
        session.write()
    except OutputError as error:
        if not said:
            say(f"The session was not saved: {error}")


def _begin(session: SessionFile, start: StartOptions, wanted: Stack) -> Stack:
    """Return the location that was asked for, else the last one."""
    if start.sort is not None:
        wanted = (*wanted[:-1], replace(wanted[-1], sort=start.sort))
    if start.view is None and session.state.stack:
        return session.state.stack
    session.opened(wanted)
    return wanted
