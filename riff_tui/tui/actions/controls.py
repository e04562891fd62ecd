"""Hold what the handlers of actions work with, and read off it what decides which keys apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from textual.screen import Screen

from riff_tui.table import Row, Table
from riff_tui.text.glyphs import Glyphs
from riff_tui.tui.actions.context import ActionContext
from riff_tui.tui.actions.note_writer import NoteWriter
from riff_tui.tui.backend import Backend
from riff_tui.tui.data.auto_refresh import AutoRefresh
from riff_tui.tui.data.deferred_load import DeferredLoad
from riff_tui.tui.data.opening import Opening
from riff_tui.tui.data.paged_rows import PageLoader
from riff_tui.tui.data.run_watch import RunWatch
from riff_tui.tui.find.finder import Finder
from riff_tui.tui.find.prompt_controller import PromptController
from riff_tui.tui.find.search import Search
from riff_tui.tui.host import Host
from riff_tui.tui.navigation.folding import is_folded
from riff_tui.tui.navigation.location import below, noun, state_of
from riff_tui.tui.navigation.navigator import Navigator
from riff_tui.tui.panes.body import Body
from riff_tui.tui.panes.detail_controller import DetailController
from riff_tui.tui.panes.header import Header
from riff_tui.tui.panes.pane import Pane
from riff_tui.tui.panes.transcript import Transcript
from riff_tui.tui.render.columns import has_order
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.state_header import Fold
from riff_tui.tui.render.turn_lines import is_voice
from riff_tui.tui.session.column_choice import offered
from riff_tui.tui.session.list_state import ListState
from riff_tui.tui.widgets.bars import BottomLine, TopLine
from riff_tui.tui.widgets.check_list import CheckList
from riff_tui.tui.widgets.file_prompt import FilePrompt
from riff_tui.tui.widgets.line_prompt import LinePrompt
from riff_tui.tui.widgets.line_table import LineTable
from riff_tui.tui.widgets.picker import Picker
from riff_tui.tui.widgets.prompt import Prompt
from riff_tui.view_registry import spec_of

READING_LIST = "sample"
_FOLDS: dict[Fold, str] = {"all": "all of it", "graph": "neighbours", "latencies": "latencies", "list": "list only"}


class ControlsHost(Host, Protocol):
    """Offer the handlers of actions what no controller needs."""

    done: str
    """The id of the last action that was more than a move."""

    @property
    def is_calm(self) -> bool:
        """Return whether rows may change: nothing is loaded, nothing is typed, nothing covers them."""
        ...

    def push(self, screen: Screen[Any]) -> None:
        """Show another screen over this one."""
        ...

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""
        ...

    def answer_keys(self) -> None:
        """Answer what was typed while something was about to open."""
        ...

    def leave(self) -> None:
        """End the explorer."""
        ...


@dataclass(frozen=True, slots=True)
class Controls:
    """Hold the screen as a host, its widgets and its controllers."""

    host: ControlsHost
    backend: Backend

    top: TopLine
    header: Header
    body: Body
    table: LineTable
    transcript: Transcript
    bottom: BottomLine
    prompt: Prompt
    picker: Picker
    check_list: CheckList
    file_prompt: FilePrompt
    line_prompt: LinePrompt

    auto_refresh: AutoRefresh
    deferred_load: DeferredLoad
    opening: Opening
    detail: DetailController
    finder: Finder
    list_state: ListState
    navigator: Navigator
    note_writer: NoteWriter | None
    page_loader: PageLoader
    prompt_controller: PromptController
    run_watch: RunWatch
    search: Search


def build_controls(host: ControlsHost, backend: Backend, palette: Palette, glyphs: Glyphs) -> Controls:
    """Build the widgets and the controllers of a screen; it mounts the widgets."""
    table = LineTable(palette=palette, glyphs=glyphs, id="table")
    transcript = Transcript(palette=palette, glyphs=glyphs, id="transcript")
    body = Body(table, transcript, Pane(palette=palette, glyphs=glyphs, id="pane"))
    header = Header(palette=palette, glyphs=glyphs, id="head")
    bottom = BottomLine(palette=palette, glyphs=glyphs, id="bottom")
    prompt = Prompt(palette=palette, glyphs=glyphs, id="prompt")
    picker = Picker(palette=palette, glyphs=glyphs, id="picker")
    finder = Finder(host)
    search = Search(host, finder, table, transcript)
    navigator = Navigator(host, prompt, backend.watcher, host.answer_keys)
    auto_refresh = AutoRefresh(host, table, backend, may_show=lambda: host.is_calm)
    opening = Opening(host, bottom, navigator, host.answer_keys)
    return Controls(
        host=host,
        backend=backend,
        top=TopLine(palette=palette, glyphs=glyphs, id="top"),
        header=header,
        body=body,
        table=table,
        transcript=transcript,
        bottom=bottom,
        prompt=prompt,
        picker=picker,
        check_list=CheckList(palette=palette, glyphs=glyphs, id="checks"),
        file_prompt=FilePrompt(backend.worker, palette=palette, glyphs=glyphs, id="write-to"),
        line_prompt=LinePrompt(palette=palette, glyphs=glyphs, id="line"),
        auto_refresh=auto_refresh,
        deferred_load=DeferredLoad(host, header, bottom),
        opening=opening,
        detail=DetailController(host, body),
        finder=finder,
        list_state=ListState(backend.session),
        navigator=navigator,
        note_writer=NoteWriter(host, navigator, backend, backend.notebook) if backend.notebook is not None else None,
        page_loader=PageLoader(host),
        prompt_controller=PromptController(
            host,
            prompt,
            search=search,
            navigator=navigator,
            picker=picker,
            opening=opening,
            transcript=transcript,
            names=backend.names,
        ),
        run_watch=RunWatch(host, header, backend.growing, may_look=lambda: host.is_calm and not auto_refresh.paused),
        search=search,
    )


def context_of(controls: Controls) -> ActionContext:
    """Return the context in which a key would be pressed."""
    host, header, refresh = controls.host, controls.header, controls.auto_refresh
    history, loaded = host.history, host.loaded
    location, table = history.here, loaded.main if loaded else None
    row = host.body.row if loaded else None
    column = controls.table.under if location.kind != "conversation" and table is not None else None
    position = controls.navigator.position() if location.kind == "conversation" else None
    state = location if location.kind == "state" else None
    state = state_of(location, table, row) if location.kind == "list" else state
    marked = controls.list_state.marks(location)
    notebook, writer = controls.backend.notebook, controls.note_writer
    searched = controls.search.expression if location.kind == "conversation" else controls.search.filter
    return ActionContext(
        view=location.view,
        kind=location.kind,
        rows=len(table.rows) if table is not None else 0,
        below=_below(table, row, closes=controls.detail.is_visible),
        column=column.title if column and table is not None and has_order(column, table) else "",
        done=host.done,
        scoped=bool(location.scope),
        folded=is_folded(location),
        sorted=bool(location.chosen_order),
        order_kept=controls.list_state.kept_order(location) is not None,
        filtered=bool(location.filter),
        depth=len(history.stack),
        back=history.at > 0,
        forward=history.at < len(history.stacks) - 1,
        graph=header.focused_graph,
        fold=_FOLDS[header.next_fold] if location.kind == "state" else "",
        neighbors=state is not None,
        siblings=position[1] if position else 0,
        dump=bool(loaded and loaded.source.dump),
        stored=controls.backend.case_text is not None,
        failed=host.last_error is not None,
        loading=is_loading(controls),
        live=refresh.watcher is not None,
        paused=refresh.paused,
        searched=bool(searched),
        marks=len(marked),
        at_mark=row is not None and row.id in marked,
        unlike=spec_of(table.view).unlike if table is not None else "",
        pair=bool(location.pair),
        sided=bool(location.sides),
        pane=controls.detail.is_visible,
        covered=controls.detail.covers,
        last=history.last is not None,
        notebook=writer is not None,
        written=writer is not None and (writer.is_writing or (notebook is not None and notebook.can_undo)),
        noting=_is_noting(controls),
        lanes=header.lanes.nearness if header.lanes is not None else "",
        choosable=table is not None and bool(offered(table, table.columns)),
    )


def is_loading(controls: Controls) -> bool:
    """Return whether something is being loaded or searched that Esc would stop."""
    return controls.navigator.is_loading or controls.deferred_load.is_loading or controls.finder.is_searching


def _is_noting(controls: Controls) -> bool:
    """Return whether one is reading calls to note what one finds: some was written, or a reading list leads here."""
    writer = controls.note_writer
    return writer is not None and (
        writer.wrote or any(each.view == READING_LIST for each in controls.host.history.stack)
    )


def _below(table: Table | None, row: Row | None, *, closes: bool) -> str:
    """Return what Enter opens: what lies below a row, of a moment of a voice call the pane of details."""
    if is_voice(table) and row is not None:
        return "close details" if closes else "details"
    if table is not None and row is not None and not row.id and spec_of(table.view).row_kind == "call":
        return noun("conversation")  # its page is on the way
    return noun(below(table, row)) if table is not None else ""
