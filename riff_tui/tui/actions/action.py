"""Describe what a key of the explorer does, when it applies, and what it does that with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from textual.screen import Screen

from riff_tui.table import Table
from riff_tui.tui.controllers.detail import DetailController
from riff_tui.tui.controllers.loading import DeferredLoad, Navigator, Opening, PageLoader
from riff_tui.tui.controllers.notes import NoteWriter
from riff_tui.tui.controllers.prompt import PromptController
from riff_tui.tui.controllers.refresh import AutoRefresh, RunWatch
from riff_tui.tui.controllers.search import Finder, Search
from riff_tui.tui.data.backend import Backend
from riff_tui.tui.data.lists import ListState
from riff_tui.tui.host import Host
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.render.styled_lines import Palette
from riff_tui.tui.widgets.bars import BottomLine, TopLine
from riff_tui.tui.widgets.field import Field, Prompt
from riff_tui.tui.widgets.header import Header
from riff_tui.tui.widgets.line_table import LineTable
from riff_tui.tui.widgets.menu import CheckList, Menu
from riff_tui.tui.widgets.pane import Body
from riff_tui.tui.widgets.transcript import Transcript
from riff_tui.view_registry import spec_of
from riff_tui.views.spec import ScreenKind, ViewSpec

KINDS: tuple[ScreenKind, ...] = ("list", "state", "conversation")
IN_LISTS: tuple[ScreenKind, ...] = ("list", "state")
IN_CALLS: tuple[ScreenKind, ...] = ("conversation",)
NOT_READ = "the rows are not read yet"

Group: TypeAlias = Literal["Move", "Go", "Find", "Mark", "Note", "Look", "Own", "Help and quit"]

NAMED_KEYS = {
    "↓": "down",
    "↑": "up",
    "←": "left",
    "→": "right",
    "PgDn": "pagedown",
    "PgUp": "pageup",
    "Home": "home",
    "End": "end",
    "Space": "space",
    "Enter": "enter",
    "Esc": "escape",
    "Backspace": "backspace",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "/": "slash",
    "!": "exclamation_mark",
    "?": "question_mark",
    "#": "number_sign",
    "%": "percent_sign",
    "@": "at",
    "_": "underscore",
    "-": "minus",
    "=": "equals_sign",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    ",": "comma",
    ".": "full_stop",
}
"""The names that Textual has for keys, by how people read them."""


def textual_keys(keys: Sequence[str]) -> str:
    """Return keys as people read them as a binding of Textual names them."""
    return ",".join(NAMED_KEYS.get(key, key) for key in keys)


class ControlsHost(Host, Protocol):
    """Offer actions what no controller needs."""

    done: str
    """The id of the last action that was more than a move."""

    @property
    def here(self) -> Location:
        """Return the location that is shown, with its cursor where it was when one came."""

    def push(self, screen: Screen[Any]) -> None:
        """Show another screen over this one."""

    def restyle(self, palette: Palette) -> None:
        """Take other colours."""

    def leave(self) -> None:
        """End the explorer."""

    def suspend(self) -> None:
        """Go back to the shell, which can continue the explorer."""


class Controls(NamedTuple):
    """Offer the screen as a host, its widgets and its controllers, and all `actions` by their ids in order."""

    host: ControlsHost
    backend: Backend
    actions: Mapping[str, Action]

    top: TopLine
    header: Header
    body: Body
    table: LineTable
    transcript: Transcript
    bottom: BottomLine
    prompt: Prompt
    menu: Menu
    check_list: CheckList
    field: Field

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

    @property
    def here(self) -> Location:
        """Return the location that is shown, whose cursor is in the widgets."""
        return self.host.here

    @property
    def shown(self) -> Table | None:
        """Return the rows that are shown, `None` before the first ones have come."""
        loaded = self.host.loaded
        return loaded.main if loaded is not None else None

    def key_of(self, id: str) -> str:
        """Return the key of an action as sentences name it, of one without a key how the palette finds it."""
        each = self.actions[id]
        return each.keys[0] if each.keys else f"{each.title} (in the palette)"

    @property
    def has_rows(self) -> bool:
        """Return whether any rows are shown."""
        return self.shown is not None and len(self.shown.rows) > 0

    @property
    def spec(self) -> ViewSpec:
        """Return the description of the view that is shown."""
        return spec_of(self.here.view)

    @property
    def is_call(self) -> bool:
        """Return whether a conversation is shown."""
        return self.here.kind == "conversation"

    @property
    def is_loading(self) -> bool:
        """Return whether something is being loaded or searched that Esc would stop."""
        return self.navigator.is_loading or self.deferred_load.is_loading or self.finder.is_searching

    @property
    def searched(self) -> str:
        """Return what there is to go to the next match of: what was searched for in calls, or the last filter."""
        return self.search.expression if self.is_call else self.search.filter

    @property
    def marks(self) -> tuple[str, ...]:
        """Return the ids of the marked rows of the list."""
        return self.list_state.marks(self.here)


Run: TypeAlias = Callable[[Controls], None]
Condition: TypeAlias = Callable[[Controls], str]
"""Return why a key does not apply, an empty text where it does."""


def always(controls: Controls) -> str:
    """Return no reason against an action."""
    return ""


class Action(NamedTuple):
    """Describe something that a key does.

    `title` is what the hint line reports, unless `label` finds a better word for what is shown. `run` does it;
    `enabled` returns the reason why it does not apply, an empty text if it does. `hinted` returns the same for the hint
    line where that would change with every move of the cursor. The palette finds it by the words in `also` as well.
    Actions may share a key where no screen is in the `kinds` of both. The registry shows which `group` each belongs to.
    """

    id: str
    keys: tuple[str, ...]
    title: str
    help: str
    run: Run
    enabled: Condition = always
    label: Callable[[Controls], str] | None = None
    kinds: tuple[ScreenKind, ...] = KINDS
    hinted: Condition | None = None
    also: str = ""
    group: Group = "Look"

    def label_in(self, controls: Controls) -> str:
        """Return the word for the hint line."""
        return self.label(controls) if self.label else self.title


def reason_against(each: Action, controls: Controls) -> str:
    """Return why an action does not apply, also for one that belongs to other screens; an empty text if it does."""
    if controls.here.kind not in each.kinds:
        return f"only in a {' or a '.join(each.kinds)}"
    return each.enabled(controls)


def action_for(id: str, controls: Controls, key: str = "") -> Action:
    """Return the action that a key represents on a screen, among those that share it with the one of that id.

    Without a key it is any of the action's.
    """
    bound, kind = controls.actions[id], controls.here.kind
    if kind in bound.kinds:
        return bound
    keys = {key} if key else set(bound.keys)
    sharing = (each for each in controls.actions.values() if kind in each.kinds and set(each.keys) & keys)
    return next(sharing, bound)


def perform(controls: Controls, id: str, key: str = "") -> None:
    """Perform what the key of an action represents on this screen, or report why it does not apply."""
    chosen = action_for(id, controls, key)
    reason = reason_against(chosen, controls)
    if reason:
        controls.host.say(f"{' '.join((*([key] if key else chosen.keys[:1]), chosen.title))}: {reason}", "warn")
        return
    here = controls.here
    if chosen.group != "Move":
        controls.host.done = chosen.id
    chosen.run(controls)
    if controls.host.done == chosen.id and controls.here == here:
        # The hints are of what was done last, also if nothing else on the screen changes.
        controls.host.update_lines()


def needs_rows(controls: Controls) -> str:
    if controls.has_rows:
        return ""
    return NOT_READ if controls.is_loading else "there are no rows here"


def needs_siblings(controls: Controls) -> str:
    if not controls.is_call:
        return "only in a conversation"
    position = controls.navigator.position()
    is_alone = position is None or position[1] <= 1
    return "no other call in this list" if is_alone else ""


def needs_unpaired(controls: Controls) -> str:
    return "a comparison of two rows cannot be filtered; Esc goes back to the list" if controls.here.pair else ""


def needs_order(controls: Controls) -> str:
    """Return why rows cannot be in another order."""
    return "a call is shown in the order in which it happened" if controls.is_call else ""


def needs_notebook(controls: Controls) -> str:
    is_open = controls.note_writer is not None
    return "" if is_open else "nothing is noted here: the explorer was opened with --read-only"


def needs_written(controls: Controls) -> str:
    reason = needs_notebook(controls)
    if reason:
        return reason
    writer, notebook = controls.note_writer, controls.backend.notebook
    is_written = writer is not None and (writer.is_writing or (notebook is not None and notebook.can_undo))
    return "" if is_written else "nothing to take back: nothing was noted so far"
