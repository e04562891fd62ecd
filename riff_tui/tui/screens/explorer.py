"""Compose and wire the one screen of the explorer: a location on top of a stack of locations."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from riff_tui.errors import describe
from riff_tui.filters import Filter
from riff_tui.table import Severity
from riff_tui.text.glyphs import Glyphs
from riff_tui.tui.actions.controls import Controls, context_of, is_loading
from riff_tui.tui.actions.registry import ACTIONS, hints
from riff_tui.tui.backend import Backend
from riff_tui.tui.data import auto_refresh
from riff_tui.tui.data.auto_refresh import AutoRefresh
from riff_tui.tui.data.deferred_load import DeferredLoad
from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.data.paged_rows import PagedRows, PageLoader
from riff_tui.tui.data.result_cache import ResultCache
from riff_tui.tui.find.finder import Finder
from riff_tui.tui.find.prompt_controller import PromptController
from riff_tui.tui.find.search import Search
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import Location, crumbs, hidden
from riff_tui.tui.navigation.navigator import Navigator
from riff_tui.tui.panes.body import Body
from riff_tui.tui.panes.detail_controller import DetailController
from riff_tui.tui.panes.header import Header
from riff_tui.tui.panes.pane import Pane
from riff_tui.tui.panes.transcript import Transcript
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.counts import count_text, empty_text
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.session.list_state import ListState
from riff_tui.tui.terminal.keys import textual_keys
from riff_tui.tui.widgets.bars import BottomLine, TopLine
from riff_tui.tui.widgets.check_list import CheckList
from riff_tui.tui.widgets.file_prompt import FilePrompt
from riff_tui.tui.widgets.line_table import LineTable
from riff_tui.tui.widgets.overlay import Overlay
from riff_tui.tui.widgets.picker import Picker
from riff_tui.tui.widgets.prompt import Prompt

SMALLEST = (60, 10)


class ExplorerScreen(Screen[None], inherit_bindings=False):
    """Show a location and serve as the `Host` of its controllers; the store is only queried from another thread."""

    DEFAULT_CSS = """
    ExplorerScreen { layout: vertical; layers: default over top; background: ansi_default; color: ansi_default; }
    ExplorerScreen #too-small { display: none; }
    ExplorerScreen.-too-small > * { display: none; }
    ExplorerScreen.-too-small > #too-small { display: block; }
    """
    # Nothing looks different where the focus is elsewhere, so nothing is to be sent again.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(textual_keys(each.keys), f"screen.do('{each.id}')", each.title, show=False) for each in ACTIONS
    ]

    def __init__(self, backend: Backend, history: History, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self.palette = palette
        self.loaded: LoadedView | None = None
        self.last_error: Exception | None = None
        self.notice = backend.session.complaint
        self.worker = backend.worker
        self.session = backend.session
        self.show_view = backend.show_view
        self._backend = backend
        self._glyphs = glyphs
        self._history = history
        self._cache = ResultCache()
        self._make_widgets()
        self._make_controllers()
        self._controls = self._wire()

    def _make_widgets(self) -> None:
        palette, glyphs = self.palette, self._glyphs
        self.top = TopLine(palette=palette, glyphs=glyphs, id="top")
        self.head = Header(palette=palette, glyphs=glyphs, id="head")
        self.table = LineTable(palette=palette, glyphs=glyphs, id="table")
        self.transcript = Transcript(palette=palette, glyphs=glyphs, id="transcript")
        self.bottom = BottomLine(palette=palette, glyphs=glyphs, id="bottom")
        self.prompt = Prompt(palette=palette, glyphs=glyphs, id="prompt")
        self.picker = Picker(palette=palette, glyphs=glyphs, id="picker")
        self._area = Body(self.table, self.transcript, Pane(palette=palette, glyphs=glyphs, id="pane"))
        self._check_list = CheckList(palette=palette, glyphs=glyphs, id="checks")
        self._file_prompt = FilePrompt(self.worker, palette=palette, glyphs=glyphs, id="write-to")
        self._too_small = Static("", id="too-small", markup=False)

    def _make_controllers(self) -> None:
        backend = self._backend
        self.detail = DetailController(self, self._area)
        self.list_state = ListState(self.session)
        self.navigator = Navigator(self, self._cache, self.prompt, backend.watcher)
        self.page_loader = PageLoader(self)
        self.deferred_load = DeferredLoad(self, self.head, self.bottom)
        self.finder = Finder(self)
        self.search = Search(self, self.finder, self.table, self.transcript)
        self.prompt_controller = PromptController(
            self,
            self.prompt,
            search=self.search,
            navigator=self.navigator,
            picker=self.picker,
            transcript=self.transcript,
            names=backend.names,
        )
        self.refresher = AutoRefresh(
            self,
            self.table,
            backend.watcher,
            age=backend.age,
            may_show=lambda: self._is_calm,
            paused=backend.paused,
        )

    def _wire(self) -> Controls:
        return Controls(
            host=self,
            backend=self._backend,
            header=self.head,
            table=self.table,
            bottom=self.bottom,
            picker=self.picker,
            check_list=self._check_list,
            file_prompt=self._file_prompt,
            auto_refresh=self.refresher,
            deferred_load=self.deferred_load,
            detail=self.detail,
            finder=self.finder,
            list_state=self.list_state,
            navigator=self.navigator,
            page_loader=self.page_loader,
            prompt=self.prompt_controller,
            search=self.search,
            push_screen=lambda screen: self.app.push_screen(screen),
            restyle=self.restyle,
            exit=lambda: self.app.exit(),
        )

    def compose(self) -> ComposeResult:
        # What lies over the rest comes first: then the rest is not drawn again when it comes and goes.
        yield from (self.picker, self._check_list, self._file_prompt, self.prompt, self._too_small)
        yield from (self.top, self.head, self._area, self.bottom)

    def on_mount(self) -> None:
        self.table.focus()
        if self._backend.watcher is not None:
            self.set_interval(auto_refresh.PERIOD_S, self.refresher.tick)
        self.visit(self._history)

    def on_resize(self) -> None:
        width, height = self.app.size
        small = width < SMALLEST[0] or height < SMALLEST[1]
        if small:
            sentence = f"riff-tui needs {SMALLEST[0]} × {SMALLEST[1]} cells; here are {width} × {height}."
            self._too_small.update(shown(sentence, self._glyphs))
        self.set_class(small, "-too-small")
        self.head.draw()
        self.detail.place()

    # What is on the screen

    @property
    def body(self) -> LineTable | Transcript:
        """Return the widget that the cursor is in."""
        return self.transcript if self._history.here.kind == "conversation" else self.table

    @property
    def overlay(self) -> Overlay | None:
        """Return what lies over the location and has the keys."""
        return next((each for each in self.query(Overlay) if each.is_open), None)

    @property
    def history(self) -> History:
        """Return the way to the location that is shown, with its cursor where it stands."""
        return self._history.alter(self.location)

    @property
    def location(self) -> Location:
        """Return the location that is shown, with its cursor where it stands."""
        return self._history.here if self.loaded is None else self._with_cursor(self._history.here)

    def _with_cursor(self, location: Location) -> Location:
        row, column = self.body.row, self.table.under
        return replace(
            location,
            row=row.id if row else "",
            index=self.body.cursor,
            column=column.key if column else "",
            graph=self.head.focused_graph,
        )

    @property
    def _is_calm(self) -> bool:
        """Return whether rows may change: nothing is on its way, nothing is typed, nothing covers them."""
        is_typing = self.focused not in (None, self.table, self.transcript)
        return not is_typing and self.app.screen is self and not is_loading(self._controls)

    # Going somewhere

    def visit(self, history: History, *, again: bool = False, other: bool = False) -> None:
        self.navigator.go(history, again=again, other=other)

    def arrive(self, history: History, loaded: LoadedView) -> None:
        with self.app.batch_update():
            self.prompt_controller.close()
            self._draw(history, loaded)
            self.say(self.notice, "warn" if self.notice else None)
            self.notice = ""
            self.body.focus()
            self.update_lines()
        self.session.be_at(self._history.stack)

    def renew(self, loaded: LoadedView, *, changed: bool = True) -> None:
        if changed:
            self.navigator.forget(self._history)
        if loaded == self.loaded:
            self.loaded = loaded
            self._cache.keep(self._history.stack, loaded)
            self.update_lines()
            return
        with self.app.batch_update():
            self._draw(self._history, loaded)
            self.update_lines()

    def _draw(self, history: History, loaded: LoadedView) -> None:
        before = self._history.here
        again = self.loaded is not None and history.here.question == before.question
        if (history.here.view, history.here.scope) == (before.view, before.scope) and self.loaded:
            # Keys went on working while the store was queried.
            history = history.alter(self._with_cursor(history.here))
        self._history, self.loaded = history, loaded
        location = history.here
        self._cache.keep(history.stack, loaded)
        self._area.set_class(location.kind == "conversation", "-conversation")
        self.head.show(location, loaded)
        if location.kind == "conversation":
            self._draw_conversation(location, loaded, again=again)
        else:
            self._draw_rows(location, loaded, again=again)
        self.table.activate(not self.head.focused_graph)
        self.detail.arrived()
        self.deferred_load.begin(loaded)

    def _draw_conversation(self, location: Location, loaded: LoadedView, *, again: bool) -> None:
        self.transcript.load(loaded.main, row=location.row, again=again)
        self.search.arrived(location, again=again)
        self.head.follow(self.transcript.row)

    def _draw_rows(self, location: Location, loaded: LoadedView, *, again: bool) -> None:
        rows = loaded.main.rows
        if isinstance(rows, PagedRows):
            rows.missing = partial(self.page_loader.load, rows, then=self.table.refreshed)
        self.table.load(
            loaded.main,
            hide=hidden(location),
            sort=location.sort,
            row=location.row,
            index=location.index,
            column=location.column,
            empty=empty_text(location),
            marked=self.list_state.marks(location),
            choice=self.list_state.columns(location),
            again=again,
        )

    # What is said

    def update_lines(self) -> None:
        age = self._backend.age() if len(self._history.stack) == 1 else ""
        parts = (self.refresher.status, self._counts(), age)
        self.top.show(crumbs(self._history.stack), " · ".join(part for part in parts if part))
        self.bottom.hint(hints(context_of(self._controls)))

    def _counts(self) -> str:
        location, loaded = self._history.here, self.loaded
        if loaded is None:
            return ""
        if location.kind == "conversation":
            position = self.navigator.position()
            return f"{position[0]} of {position[1]}" if position else ""
        unfiltered = self.navigator.cached(replace(location, filter=Filter())) if location.filter else None
        whole = len(unfiltered.rows) if unfiltered is not None else None
        return count_text(location, loaded.main, whole, len(self.list_state.marks(location)))

    def say(self, text: str, severity: Severity | None = None) -> None:
        self.bottom.say(text, severity)

    def fail(self, error: Exception) -> None:
        self.last_error = error
        self.say(f"{describe(error)[1].removesuffix('; run it again with --debug to see where')} (! tells more)", "bad")

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""
        self.palette = palette
        for widget in (self.top, self.head, self.prompt, self.bottom, self.picker, *self.query(Overlay)):
            widget.palette = palette
        for drawn in (self.table, self.transcript, self.detail.pane):
            drawn.restyle(palette)
        self.head.draw()
        self.update_lines()

    # Work and keys

    def run(self, work: Coroutine[Any, Any, Any], group: str, *, exclusive: bool = False) -> Worker[Any]:
        return self.run_worker(work, group=group, exclusive=exclusive, exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and isinstance(event.worker.error, Exception):
            self.fail(event.worker.error)

    def action_do(self, id: str) -> None:
        """Perform an action of the registry, or say why it does not apply."""
        from riff_tui.tui.actions.handlers import perform

        self.refresher.note_key()
        if self.prompt.is_open:
            if id == "close":
                self.prompt_controller.close()
            return
        if self.picker.is_open or self.overlay is not None:
            return
        if self.finder.is_searching and id != "close":
            self.finder.stop(silent=True)
        self.bottom.say("")
        perform(self._controls, id)

    def interrupt(self) -> bool:
        """Leave what lies over the location; return whether anything did."""
        if self.picker.is_open:
            self.picker.close()
        elif self.prompt.is_open:
            self.prompt_controller.close()
        elif self.overlay is not None:
            self.overlay.leave()
        else:
            return False
        return True

    def on_line_table_opened(self) -> None:
        self.action_do("open")

    def on_line_table_moved(self) -> None:
        self.detail.moved()

    def on_transcript_moved(self) -> None:
        self.head.follow(self.transcript.row)
        self.detail.moved()
