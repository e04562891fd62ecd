"""Compose and wire the one screen of the explorer: a location on top of a stack of locations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from riff_tui.errors import describe
from riff_tui.filters import Filter
from riff_tui.table import Severity, row_number
from riff_tui.text.glyphs import Glyphs
from riff_tui.tui.actions.action import Action, Controls, perform, textual_keys
from riff_tui.tui.actions.help import first_words, hints
from riff_tui.tui.actions.registry import ACTIONS, BY_ID
from riff_tui.tui.controllers import refresh
from riff_tui.tui.controllers.detail import DetailController
from riff_tui.tui.controllers.loading import DeferredLoad, Navigator, Opening, PageLoader
from riff_tui.tui.controllers.notes import NoteWriter
from riff_tui.tui.controllers.prompt import PromptController
from riff_tui.tui.controllers.refresh import AutoRefresh, RunWatch
from riff_tui.tui.controllers.search import Finder, Search
from riff_tui.tui.data.backend import Backend
from riff_tui.tui.data.lists import ListState, PagedRows
from riff_tui.tui.data.loader import LoadedView, is_begun
from riff_tui.tui.data.query_worker import Work
from riff_tui.tui.navigation.history import History, with_folding
from riff_tui.tui.navigation.location import Location, crumbs, fixed_columns, noun
from riff_tui.tui.navigation.stacks import address_of, begins_at, is_place, missing, row_at
from riff_tui.tui.render.columns import count_text, empty_text, shown
from riff_tui.tui.render.styled_lines import Palette
from riff_tui.tui.terminal.textual_internals import SettledScreen, rebind
from riff_tui.tui.widgets.bars import TOO_SMALL, BottomLine, Dialog, TopLine
from riff_tui.tui.widgets.field import Field, Prompt
from riff_tui.tui.widgets.header import Header
from riff_tui.tui.widgets.line_table import FIRST, LineTable
from riff_tui.tui.widgets.menu import CheckList, Menu
from riff_tui.tui.widgets.pane import Body, Pane, Reader
from riff_tui.tui.widgets.transcript import Transcript
from riff_tui.views.spec import is_of_empty_store

SMALLEST = (60, 10)
_UNITS = "Units: "
"""How a note begins that is read in the help, beside what columns mean."""
UNSEEN = ("quit", "suspend")
"""The actions that a screen obeys on which nothing can be seen."""


def bindings_of(actions: Iterable[Action]) -> Iterator[Binding]:
    """Yield a binding for each key of the actions."""
    for each in actions:
        for key in each.keys:
            yield Binding(textual_keys([key]), f"screen.do({each.id!r}, {key!r})", each.title, show=False)


class ExplorerScreen(SettledScreen, inherit_bindings=False):
    """Show a location and serve as the `Host` of its controllers; the store is only queried from another thread."""

    DEFAULT_CSS = """
    ExplorerScreen { layout: vertical; layers: default over top; background: ansi_default; color: ansi_default; }
    ExplorerScreen #too-small { display: none; }
    ExplorerScreen.-too-small > * { display: none; }
    ExplorerScreen.-too-small > #too-small { display: block; }
    """
    # What had the focus may be hidden, and so may be what would be given it: then the screen itself has the keys.
    AUTO_FOCUS = ""
    # Nothing looks different where the focus is elsewhere, so nothing is to be sent again.
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(ACTIONS)]

    class Opened(Message):
        """Report that a location or a dialog opened, or does not so soon: what was typed meanwhile is answered."""

    def __init__(
        self,
        backend: Backend,
        history: History,
        palette: Palette,
        glyphs: Glyphs,
        actions: Mapping[str, Action] = BY_ID,
    ) -> None:
        super().__init__()
        if actions is not BY_ID:
            rebind(self, bindings_of(actions.values()))
        self.loaded: LoadedView | None = None
        self.last_error: Exception | None = None
        self.notice = backend.session.complaint or backend.notice
        self.worker = backend.worker
        self.session = backend.session
        self.show_view = backend.show_view
        self.controls = self._built(backend, palette, glyphs, actions)
        self._backend = backend
        self._glyphs = glyphs
        self._history = history
        self.done = ""
        self._remark = ""
        self._too_small = Static("", id="too-small", markup=False)

    def _built(self, backend: Backend, palette: Palette, glyphs: Glyphs, actions: Mapping[str, Action]) -> Controls:
        """Build the widgets, which `compose` mounts, and the controllers."""
        table = LineTable(palette=palette, glyphs=glyphs, id="table")
        transcript = Transcript(palette=palette, glyphs=glyphs, id="transcript")
        body = Body(table, transcript, Pane(palette=palette, glyphs=glyphs, id="pane"))
        header = Header(palette=palette, glyphs=glyphs, id="head")
        bottom = BottomLine(palette=palette, glyphs=glyphs, id="bottom")
        prompt = Prompt(palette=palette, glyphs=glyphs, id="prompt")
        menu = Menu(palette=palette, glyphs=glyphs, id="menu")
        finder = Finder(self)
        search = Search(self, finder, table, transcript)
        navigator = Navigator(self, prompt, backend.watcher, self.answer_keys)
        auto_refresh = AutoRefresh(self, table, backend, may_show=lambda: self.may_refresh)
        opening = Opening(self, bottom, navigator, self.answer_keys)
        notebook = backend.notebook
        return Controls(
            host=self,
            backend=backend,
            actions=actions,
            top=TopLine(palette=palette, glyphs=glyphs, id="top"),
            header=header,
            body=body,
            table=table,
            transcript=transcript,
            bottom=bottom,
            prompt=prompt,
            menu=menu,
            check_list=CheckList(palette=palette, glyphs=glyphs, id="checks"),
            field=Field(palette=palette, glyphs=glyphs, id="line"),
            auto_refresh=auto_refresh,
            deferred_load=DeferredLoad(self, header, bottom),
            opening=opening,
            detail=DetailController(self, body),
            finder=finder,
            list_state=ListState(backend.session),
            navigator=navigator,
            note_writer=NoteWriter(self, navigator, backend, notebook) if notebook is not None else None,
            page_loader=PageLoader(self),
            prompt_controller=PromptController(
                self,
                prompt,
                search=search,
                navigator=navigator,
                menu=menu,
                opening=opening,
                names=backend.names,
            ),
            run_watch=RunWatch(
                self, header, backend.growing, may_look=lambda: self.may_refresh and not auto_refresh.paused
            ),
            search=search,
        )

    def compose(self) -> ComposeResult:
        controls = self.controls
        # What is over the rest comes first: then the rest is not drawn again when it comes and goes.
        yield from (controls.menu, controls.check_list, controls.field, controls.prompt)
        yield self._too_small
        yield from (controls.top, controls.header, controls.body, controls.bottom)

    def on_mount(self) -> None:
        self.controls.table.focus()
        if self._backend.watcher is not None:
            self.set_interval(self.controls.auto_refresh.period, self.controls.auto_refresh.tick)
        if self._backend.growing is not None:
            self.set_interval(refresh.PERIOD_S, self.controls.run_watch.tick)
        self.visit(self._history)

    def on_resize(self) -> None:
        width, height = self.app.size
        if self._is_too_small:
            needed = f"riff-tui needs {SMALLEST[0]} × {SMALLEST[1]} cells; here are {width} × {height}."
            said = f"{needed} {self.controls.key_of('quit')} quits."
            self._too_small.update(shown(said, self._glyphs))
            self.set_focus(None)
        elif self.dialog is not None:
            # It lost the keys while it was hidden.
            self.call_after_refresh(self.dialog.take_keys)
        self.set_class(self._is_too_small, TOO_SMALL)
        self.controls.header.draw()
        self.controls.detail.place()

    # What is on the screen

    @property
    def _is_too_small(self) -> bool:
        return any(cells < least for cells, least in zip(self.app.size, SMALLEST, strict=True))

    @property
    def body(self) -> LineTable | Transcript:
        """Return the widget that the cursor is in."""
        return self.controls.transcript if self._history.here.kind == "conversation" else self.controls.table

    @property
    def dialog(self) -> Dialog | None:
        """Return what is over the location and has the keys."""
        return next((each for each in self.query(Dialog) if each.is_open), None)

    @property
    def history(self) -> History:
        """Return the way to the location that is shown, with its cursor where it is."""
        return self._history.alter(self.location)

    @property
    def here(self) -> Location:
        return self._history.here

    @property
    def location(self) -> Location:
        """Return the location that is shown, with its cursor where it is."""
        return self._history.here if self.loaded is None else self._with_cursor(self._history.here)

    def _with_cursor(self, location: Location) -> Location:
        controls = self.controls
        if self.loaded is not None and (self.loaded.is_awaited or (not self.body.row and is_begun(self.loaded.main))):
            return replace(location, graph=controls.header.focused_graph)
        row, column = self.body.row, controls.table.under
        # Rows that are still to come may be before the first one, which the cursor then stays on.
        is_first = not self.body.cursor and self.loaded is not None and is_begun(self.loaded.main)
        return replace(
            location,
            row=row.id if row and not is_first else "",
            index=self.body.cursor,
            column=column.key if column else "",
            graph=controls.header.focused_graph,
        )

    @property
    def may_refresh(self) -> bool:
        """Return whether rows may change: nothing is on its way, nothing is typed, nothing covers them."""
        return not self.is_typing and self.app.screen is self and not self.controls.is_loading

    @property
    def is_typing(self) -> bool:
        return self.focused not in (None, self.controls.table, self.controls.transcript)

    # Going somewhere

    def visit(self, history: History, *, again: bool = False, other: bool = False, remark: str = "") -> None:
        self._remark = remark
        self.controls.auto_refresh.suspend()
        self.controls.page_loader.suspend()
        self.controls.deferred_load.suspend()
        self.controls.navigator.go(history, again=again, other=other)

    def show(self, history: History, loaded: LoadedView) -> None:
        with self.app.batch_update():
            self.controls.prompt_controller.close()
            self._draw(history, loaded)
            greeting = first_words(self.controls) if self.session.greets() else ""
            self.say(self.notice or self._remark or greeting, "warn" if self.notice else None)
            self.notice = self._remark = ""
            self.body.focus()
            self.update_lines()
            for over in self.app.screen_stack:
                if isinstance(over, Reader):
                    over.renew()
        stack = self.history.stack
        self.session.set_stack(self._history.stack)
        self._backend.told(address_of(stack, loaded.main), noun(stack[-1].view))

    def resume_loading(self) -> None:
        if not self.controls.navigator.is_loading:
            self.controls.deferred_load.resume()

    def renew(self, loaded: LoadedView, *, changed: bool = True) -> None:
        if changed:
            self.controls.navigator.forget(self._history)
        if loaded == self.loaded:
            self.loaded = loaded
            self.controls.navigator.keep(self._history, loaded)
            self.update_lines()
            return
        with self.app.batch_update():
            self._draw(self._history, loaded)
            self.update_lines()

    def _draw(self, history: History, loaded: LoadedView) -> None:
        controls = self.controls
        before = self._history.here
        again = self.loaded is not None and history.here.cache_key == before.cache_key
        there = history.here
        # Whatever is filtered, a cursor can stay where it is among rows of the same kind.
        is_here = (there.view, there.scope, there.sort, there.by) == (before.view, before.scope, before.sort, before.by)
        if is_here and self.loaded:
            # Keys went on working while the store was queried.
            history = history.alter(self._with_cursor(history.here))
        history = with_folding(history, loaded.main)
        self._history, self.loaded = history, loaded
        location = history.here
        controls.navigator.keep(history, loaded)
        controls.body.set_class(location.kind == "conversation", "-conversation")
        controls.header.show(location, loaded)
        if location.kind == "conversation":
            self._draw_conversation(location, loaded, again=again)
        else:
            self._draw_rows(location, loaded, again=again)
        controls.table.activate(not controls.header.focused_graph)
        controls.detail.arrived()
        controls.deferred_load.begin(loaded)

    def _draw_conversation(self, location: Location, loaded: LoadedView, *, again: bool) -> None:
        controls = self.controls
        row = location.row
        if is_place(row):
            found = row_at(loaded.main.rows, row)
            self._remark, row = (self._remark, found.id) if found is not None else (missing(row), "")
        above = self._history.stack[-2].where.predicate if len(self._history.stack) > 1 else None
        controls.transcript.load(loaded.main, row=row, begin=begins_at(loaded.main, above), again=again)
        controls.search.arrived(location, again=again)
        controls.header.follow(controls.transcript.row)

    def _draw_rows(self, location: Location, loaded: LoadedView, *, again: bool) -> None:
        controls = self.controls
        rows = loaded.main.rows
        if isinstance(rows, PagedRows):
            rows.missing = partial(controls.page_loader.load, rows, then=controls.table.refreshed)
        controls.table.load(
            loaded.main,
            hide=fixed_columns(location),
            sort=location.order or None,
            leading=location.reason.removeprefix("-") if location.lists_calls else "",
            row=location.row or loaded.main.begin,
            index=location.index,
            column=location.column,
            empty=empty_text(location, loaded.main.notes, awaited=loaded.is_awaited or is_begun(loaded.main)),
            marked=controls.list_state.marks(location),
            choice=controls.list_state.columns(location),
            is_told=lambda note: is_of_empty_store(note) or note.startswith(_UNITS) or controls.header.tells(note),
            again=again,
        )

    # What is said

    def update_lines(self) -> None:
        controls = self.controls
        age = self._backend.age() if len(self._history.stack) == 1 else ""
        position, counts = self._position(), self._counts()
        unit, *counted = counts.split(" · ")
        if position is None and unit.startswith(" ") and self.loaded is not None:
            unit = f"{len(self.loaded.main.rows):,}{unit}"
        call = self.loaded.main.extras.get("call") if self.loaded is not None else None
        failed = "FAILED" if isinstance(call, Mapping) and call.get("failed") else ""
        told = [part for part in (unit, failed, controls.auto_refresh.status, *counted, age) if part]
        controls.top.show(crumbs(self._history.stack), position, told)
        controls.bottom.hint(hints(controls), self.loaded.main.legend if self.loaded else "")

    def _position(self) -> tuple[int, int] | None:
        """Return which of how many rows the cursor is on; of a conversation, which of its list it is."""
        if self.loaded is None:
            return None
        if self._history.here.kind == "conversation":
            return self.controls.navigator.position()
        table, cursor = self.loaded.main, self.controls.table.cursor
        # What to fix first is not a row of the list.
        return None if cursor == FIRST or not len(table.rows) else row_number(table, cursor)

    def _counts(self) -> str:
        controls = self.controls
        location, loaded = self._history.here, self.loaded
        if loaded is None:
            return ""
        if location.kind == "conversation":
            listed = controls.navigator.list_above()
            return " so far" if listed is not None and is_begun(listed) else ""
        unfiltered = controls.navigator.cached(replace(location, filter=Filter())) if location.filter else None
        whole = len(unfiltered.rows) if unfiltered is not None and not is_begun(unfiltered) else None
        return count_text(location, loaded.main, whole, len(controls.list_state.marks(location)))

    def say(self, text: str, severity: Severity | None = None) -> None:
        self.controls.bottom.say(text, severity)

    def fail(self, error: Exception) -> None:
        self.last_error = error
        self.say(f"{describe(error)[1].removesuffix('; run it again with --debug to see where')} (! shows more)", "bad")

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""
        controls = self.controls
        bars = (controls.top, controls.header, controls.bottom)
        for widget in (*bars, *self.query(Dialog)):
            widget.palette = palette
        for drawn in (controls.table, controls.transcript, controls.detail.pane):
            drawn.restyle(palette)
        controls.header.draw()
        self.update_lines()

    # Work and keys

    def push(self, screen: Screen[Any]) -> None:
        self.app.push_screen(screen)

    def leave(self) -> None:
        self.app.exit()

    def suspend(self) -> None:
        self.app.action_suspend_process()

    def run(self, work: Work, group: str, *, exclusive: bool = False) -> Worker[Any]:
        # Without a description Textual spells out all that the work contains.
        return self.run_worker(work, group=group, description=group, exclusive=exclusive, exit_on_error=False)

    def answer_keys(self) -> None:
        self.post_message(self.Opened())

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and isinstance(event.worker.error, Exception):
            self.fail(event.worker.error)

    def action_do(self, id: str, key: str = "") -> None:
        """Perform what a key represents by the registry, or report why it does not apply."""
        controls = self.controls
        if self._is_too_small and id not in UNSEEN:
            return
        controls.auto_refresh.note_key()
        if self.dialog is not None and id != "suspend":
            if id == "close":
                self.dialog.leave()
            return
        if controls.finder.is_searching and id != "close":
            controls.finder.stop(silent=True)
        controls.bottom.say("")
        perform(controls, id, key)

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Give the keys to a widget; rows, which ask for them late, take none from what is over them by then."""
        if widget is not self.body or self.dialog is None:
            super().set_focus(widget, scroll_visible, from_app_focus)

    def interrupt(self) -> bool:
        """Leave what is over the location; return whether anything did."""
        if self.dialog is None or self._is_too_small:
            return False
        self.dialog.leave()
        return True

    def on_line_table_opened(self) -> None:
        self.action_do("open")

    def on_line_table_headed(self) -> None:
        self.action_do("sort")

    def on_bottom_line_pressed(self, event: BottomLine.Pressed) -> None:
        self.app.simulate_key(textual_keys([event.key]))

    def on_line_table_moved(self) -> None:
        if self._history.here.kind != "conversation":
            position = self._position()
            if position is None or self.controls.top.position is None:
                self.update_lines()
            else:
                self.controls.top.move_to(position[0])
            if callable(self.controls.spec.screen.below):
                # What Enter opens is another thing from row to row.
                self.controls.bottom.hint(hints(self.controls), self.controls.bottom.legend)
        self.controls.detail.moved()

    def on_transcript_moved(self) -> None:
        self.controls.header.follow(self.controls.transcript.row)
        self.controls.detail.moved()
