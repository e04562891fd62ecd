"""Describe the context in which a key is pressed."""

from __future__ import annotations

from dataclasses import dataclass

from riff_tui.view_registry import spec_of
from riff_tui.views.spec import ScreenKind, ViewSpec

KINDS: tuple[ScreenKind, ...] = ("list", "state", "conversation")


@dataclass(frozen=True, slots=True)
class ActionContext:
    """Hold what decides whether a key applies.

    `done` is the id of the last action that was more than a move, `scoped` says that the location is narrowed,
    `folded` that its rows are folded into flows.
    `below` names what Enter opens, `column` the column under the cursor if it has an order; `sorted` says that another
    order than the view's own was chosen, `order_kept` that one is kept for the view; `siblings` counts the
    rows of the list that a conversation was opened from; `graph` says that the cursor is in the neighbour graph,
    `fold` names what can be shown of a state next; `neighbors` that there is a graph to go to; `stored` that cases can
    be made of calls; `failed` that something went wrong; `loading` that something is being loaded or searched;
    `searched` that there is something to go to the next match of; `live` that the store is followed, `paused` that it
    is not just now.

    `marks` counts the marked rows of the list, `at_mark` says that the cursor is on one, `unlike` why its rows cannot
    be compared, `pair` that two are being compared, `sided` that two runs or agents are; `choosable` that there are
    columns to show or hide, `pane` that the detail pane is there, `covered` that it hides the rows, `last` that
    another view was left. `lanes` says how much of a voice call's lanes is shown: `all`, a `part` or the `nearest`.

    `notebook` says that notes can be written, `written` that some were in this session and can be taken back, `noting`
    that one is at it: some were written, or the call came from the reading list.
    """

    view: str = "flows"
    kind: ScreenKind = "list"
    rows: int = 0
    below: str = ""
    column: str = ""
    done: str = ""
    scoped: bool = False
    folded: bool = False
    sorted: bool = False
    order_kept: bool = False
    filtered: bool = False
    depth: int = 1
    back: bool = False
    forward: bool = False
    graph: bool = False
    fold: str = ""
    neighbors: bool = False
    siblings: int = 0
    dump: bool = False
    stored: bool = False
    failed: bool = False
    loading: bool = False
    live: bool = False
    paused: bool = False
    searched: bool = False
    marks: int = 0
    at_mark: bool = False
    unlike: str = ""
    pair: bool = False
    sided: bool = False
    choosable: bool = False
    pane: bool = False
    covered: bool = False
    last: bool = False
    notebook: bool = False
    written: bool = False
    noting: bool = False
    lanes: str = ""

    @property
    def spec(self) -> ViewSpec:
        """Return the description of the view."""
        return spec_of(self.view)

    @property
    def noun(self) -> str:
        """Return what people call the view."""
        return self.spec.words.noun or self.view
