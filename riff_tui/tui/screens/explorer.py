"""The one screen of the explorer: a place on top of a stack of places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from riff_tui.errors import describe
from riff_tui.filters import Filter
from riff_tui.table import Severity, Table
from riff_tui.tui.actions.context import context_of
from riff_tui.tui.actions.registry import ACTIONS, ActionContext, hints, meant
from riff_tui.tui.data.auto_refresh import AutoRefresh
from riff_tui.tui.data.deferred_load import DeferredLoad
from riff_tui.tui.data.loader import LoadedView, ShowView
from riff_tui.tui.data.page_loader import PageLoader
from riff_tui.tui.data.paged_rows import PagedRows
from riff_tui.tui.data.query_worker import QueryWorker
from riff_tui.tui.data.result_cache import ResultCache
from riff_tui.tui.find.find_target import Finder
from riff_tui.tui.find.prompt_controller import PromptController
from riff_tui.tui.find.search import Search
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import Location, crumbs, hidden
from riff_tui.tui.navigation.navigator import Navigator
from riff_tui.tui.panes.body import Body
from riff_tui.tui.panes.detail_controller import DetailController
from riff_tui.tui.panes.header import Header
from riff_tui.tui.panes.transcript import Transcript
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.counts import count_text, empty_text
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.session.column_choice import ColumnChoice
from riff_tui.tui.session.list_state import ListState
from riff_tui.tui.terminal.keys import textual_keys
from riff_tui.tui.widgets.bars import BottomLine, TopLine
from riff_tui.tui.widgets.check_list import CheckList
from riff_tui.tui.widgets.file_prompt import FilePrompt
from riff_tui.tui.widgets.line_table import LineTable
from riff_tui.tui.widgets.overlay import Overlay
from riff_tui.tui.widgets.picker import Picker
from riff_tui.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from riff_tui.tui.app import Explorer

SMALLEST = (60, 10)


class ExplorerScreen(Screen[None], inherit_bindings=False):
    """Shows a place and carries out actions on it; the store is only ever asked from another thread."""

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

    def __init__(
        self, show: ShowView, overview: Callable[[], str] | None, history: History, worker: QueryWorker
    ) -> None:
        super().__init__()
        self.history = history
        self.loaded: LoadedView | None = None
        self.last_error: Exception | None = None
        self.notice = ""
        self.show_view = show
        self._overview = overview
        self._worker = worker
        self._memory = ResultCache()
        self.detail = DetailController(self, show)
        self.list_state = ListState(lambda: self.explorer.session)
        self.navigator = Navigator(self, worker, self._memory)
        self.fetch = PageLoader(self)
        self.finder = Finder(self)
        self.search = Search(self)
        self.prompt_controller = PromptController(self)
        self.deferred_load = DeferredLoad(self)

    # What is on the screen

    @property
    def explorer(self) -> Explorer:
        """The application, with its colours and signs."""
        return cast("Explorer", self.app)

    def compose(self) -> ComposeResult:
        palette, glyphs = self.explorer.palette, self.explorer.glyphs
        # What lies over the rest comes first: then the rest is not drawn again when it comes and goes.
        yield Picker(palette=palette, glyphs=glyphs, id="picker")
        yield CheckList(palette=palette, glyphs=glyphs, id="checks")
        yield FilePrompt(self._worker, palette=palette, glyphs=glyphs, id="write-to")
        yield Prompt(listener=self.prompt_controller, palette=palette, glyphs=glyphs, id="prompt")
        yield Static("", id="too-small", markup=False)
        yield TopLine(palette=palette, glyphs=glyphs, id="top")
        yield Header(palette=palette, glyphs=glyphs, id="head")
        yield Body(palette, glyphs)
        yield BottomLine(palette=palette, glyphs=glyphs, id="bottom")

    def on_mount(self) -> None:
        self.top = self.query_one(TopLine)
        self.head = self.query_one(Header)
        self.table = self.query_one(LineTable)
        self.transcript = self.query_one(Transcript)
        self.prompt = self.query_one(Prompt)
        self.picker = self.query_one(Picker)
        self.bottom = self.query_one("#bottom", BottomLine)
        self.table.focus()
        self.notice = self.explorer.session.complaint
        self.refresher = AutoRefresh(self, self.explorer.watcher, paused=self.explorer.paused)
        self.refresher.start()
        self.visit(self.history)

    def on_resize(self) -> None:
        width, height = self.app.size
        small = width < SMALLEST[0] or height < SMALLEST[1]
        if small:
            sentence = f"riff-tui needs {SMALLEST[0]} × {SMALLEST[1]} cells; here are {width} × {height}."
            self.query_one("#too-small", Static).update(shown(sentence, self.explorer.glyphs))
        self.set_class(small, "-too-small")
        self.query_one(Header).draw()
        self.detail.place()

    @property
    def body(self) -> LineTable | Transcript:
        """What the cursor is in."""
        return self.transcript if self.history.here.kind == "conversation" else self.table

    @property
    def overlay(self) -> Overlay | None:
        """What lies over the place and has the keys."""
        return next((over for over in self.query(Overlay) if over.is_open), None)

    # Going somewhere

    def visit(self, history: History, *, again: bool = False, other: bool = False) -> None:
        """Be at another place as soon as its tables are read; until then this one stays, and its keys work.

        What is known of it holds unless it is to be asked `again`; in `other` data nothing holds.
        """
        self.navigator.set_out(history, again=again, other=other)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR and isinstance(event.worker.error, Exception):
            self.fail(event.worker.error)

    def arrive(self, history: History, reading: LoadedView) -> None:
        """Be at a place that was read."""
        with self.app.batch_update():
            self.prompt_controller.close()
            self._draw(history, reading)
            self.say(self.notice, "warn" if self.notice else None)
            self.notice = ""
            self.body.focus()
            self.tell()
        self.explorer.session.be_at(self.history.stack)

    def renew(self, reading: LoadedView, *, changed: bool = True) -> None:
        """Show this place as it is by now: nothing moves, and nothing else happens."""
        if changed:
            self.navigator.forget(self.history)
        if reading == self.loaded:
            self.loaded = reading
            self._memory.keep(self.history.stack, reading)
            self.tell_top()
            return
        with self.app.batch_update():
            self._draw(self.history, reading)
            self.tell()

    def _draw(self, history: History, reading: LoadedView) -> None:
        again = self.loaded is not None and history.here.question == self.history.here.question
        if (history.here.view, history.here.scope) == (self.history.here.view, self.history.here.scope) and self.loaded:
            # Keys went on working while the store was asked.
            history = history.alter(self._with_cursor(history.here))
        self.history, self.loaded = history, reading
        if isinstance(reading.main.rows, PagedRows):
            reading.main.rows.missing = partial(self.fetch, reading.main.rows, then=self.table.refreshed)
        place = history.here
        self._memory.keep(history.stack, reading)
        self.query_one(Body).set_class(place.kind == "conversation", "-conversation")
        self.head.show(place, reading)
        if place.kind == "conversation":
            self.transcript.load(reading.main, row=place.row, again=again)
            self.search.arrived(again=again)
            self.head.follow(self.transcript.row)
        else:
            self.table.load(
                reading.main,
                hide=hidden(place),
                sort=place.sort,
                row=place.row,
                index=place.index,
                column=place.column,
                empty=empty_text(place),
                marked=self.list_state.marks.of(place),
                choice=self.list_state.choice(place),
                again=again,
            )
        self.table.activate(not self.head.focused_graph)
        self.detail.arrived()
        self.deferred_load.begin(reading)

    def into_graph(self, focused: bool) -> None:
        """Put the cursor into the neighbour graph, or back into the rows."""
        self.history = self.history.alter(replace(self.history.here, graph=focused))
        self.head.focus_graph(focused)
        self.table.activate(not focused)
        self.tell()

    def tell(self) -> None:
        """Bring the line above and the line below up to date."""
        self.tell_top()
        self.bottom.hint(hints(self.context))

    def tell_top(self) -> None:
        """Bring the line above up to date."""
        age = self.age if len(self.history.stack) == 1 else ""
        said = (self.refresher.status, self._counts(), age)
        self.top.show(crumbs(self.history.stack), " · ".join(part for part in said if part))

    @property
    def age(self) -> str:
        """How old the data are, in words that are true now."""
        return self._overview() if self._overview is not None else ""

    def say(self, text: str, severity: Severity | None = None) -> None:
        """Say something in the line below, until the next key; `text` is raw."""
        self.bottom.say(text, severity)

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""
        for widget in (self.top, self.head, self.prompt, self.bottom, self.picker, *self.query(Overlay)):
            widget.palette = palette
        self.table.restyle(palette)
        self.transcript.restyle(palette)
        self.detail.pane.restyle(palette)
        self.head.draw()
        self.tell()

    def fail(self, error: Exception) -> None:
        """Say what went wrong, and keep it for who wants to know more."""
        self.last_error = error
        self.say(f"{describe(error)[1].removesuffix('; run it again with --debug to see where')} (! tells more)", "bad")

    def settle(self) -> None:
        """Remember in the history where the cursor stands."""
        self.history = self.history.alter(self.place)

    @property
    def place(self) -> Location:
        """The place that one is at, with its cursor."""
        return self._with_cursor(self.history.here)

    def _with_cursor(self, place: Location) -> Location:
        row, column = self.body.row, self.table.under
        return replace(place, row=row.id if row else "", index=self.body.cursor, column=column.key if column else "")

    def _counts(self) -> str:
        place, reading = self.history.here, self.loaded
        if reading is None:
            return ""
        if place.kind == "conversation":
            position = self.position()
            return f"{position[0]} of {position[1]}" if position else ""
        whole = self.whole(place) if place.filter else None
        return count_text(place, reading.main, whole, len(self.list_state.marks.of(place)))

    def whole(self, place: Location) -> int | None:
        """How many rows a place has without what was typed, where that is known."""
        found = self.known(replace(place, filter=Filter()))
        return len(found.rows) if found is not None else None

    def known(self, place: Location) -> Table | None:
        """The rows of a place, where they were read lately."""
        reading = self._memory.recall(place)
        return reading.main if reading else None

    def above(self) -> Table | None:
        """The list that this place was opened from."""
        stack = self.history.stack
        reading = self._memory.recall(stack[-2]) if len(stack) > 1 else None
        return reading.main if reading else None

    def position(self) -> tuple[int, int] | None:
        """Which of how many a conversation is in the list that it was opened from."""
        table, stack = self.above(), self.history.stack
        if table is None or not len(table.rows):
            return None
        return stack[-2].index + 1, len(table.rows)

    @property
    def context(self) -> ActionContext:
        """What decides which keys apply."""
        return context_of(self)

    # Doing something

    def action_do(self, id: str) -> None:
        """Carry out an action of the registry, or say why it does not apply."""
        from riff_tui.tui.actions.handlers import HANDLERS

        self.refresher.key()
        if self.prompt.is_open:
            if id == "close":
                self.prompt_controller.close()
            return
        if self.picker.is_open or self.overlay is not None:
            return
        if self.finder.is_under_way and id != "close":
            self.finder.stop(word=False)
        self.bottom.say("")
        context = self.context
        chosen = meant(id, context)
        refusal = chosen.refuse(context)
        if refusal:
            self.say(f"{chosen.keys[0]} {chosen.title}: {refusal}", "warn")
        else:
            HANDLERS[chosen.id](self)

    def on_line_table_opened(self) -> None:
        self.action_do("open")

    def on_line_table_moved(self) -> None:
        self.detail.moved()

    def on_transcript_moved(self) -> None:
        self.head.follow(self.transcript.row)
        self.detail.moved()

    def choose(self, choice: ColumnChoice) -> None:
        """Show the same rows with other columns."""
        self.settle()
        self.list_state.choose(self.history.here, choice)
        if self.loaded is not None:
            self.arrive(self.history, self.loaded)
