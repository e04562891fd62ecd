"""Describe a view: one value from which commands, the explorer and the documentation take all that they know of it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from riff_store.vocabulary import FIELDS
from riff_tui.shapes import ANY, COUNT, FLAG, NUMBER, TEXT, TIME, Shape, or_null
from riff_tui.table import Column, Row, Table

if TYPE_CHECKING:
    from riff_tui.view_query import ViewQuery

ScreenKind: TypeAlias = Literal["list", "state", "conversation"]
RowKind: TypeAlias = Literal["cell", "run", "call"]

BY = ("flow", "agent", "persona", "run", "archetype", "commit", "scenario", "caller")
"""The names that `--by` can give the rows of a view that `splits` or `regroups`."""
EMPTY_STORE = "The store has nothing of this yet: riff-tui ingest PATH... fills it."
_EMPTY = EMPTY_STORE.partition(":")[0]


def is_of_empty_store(note: str) -> bool:
    """Return whether a note shows that the store has nothing, whichever store its command names."""
    return note.startswith(_EMPTY)


def _counts_calls(column: Column) -> bool:
    """Return whether a column counts the calls of which a flag is true: its name asks for these calls."""
    field = FIELDS.get(column.key)
    return column.kind == "count" and field is not None and field.kind == "flag"


_OF_KIND: Mapping[str, Shape] = {
    "name": or_null(TEXT),
    "text": or_null(TEXT),
    "number": or_null(NUMBER),
    "count": COUNT,
    "flag": or_null(FLAG),
    "time": or_null(TIME),
    "object": ANY,
}


def shapes_of(columns: Sequence[Column], further: Mapping[str, Shape], named: Collection[str] = ()) -> dict[str, Shape]:
    """Return what JSON has of a row by its keys: what columns are of, or what is `further` said; `named` always is."""
    found = {column.key: _OF_KIND[column.kind] for column in columns if column.kind in _OF_KIND and not column.path}
    return found | dict.fromkeys((key for key in named if key in found), TEXT) | dict(further)


class Filters(NamedTuple):
    """Describe what a filter can speak of besides the columns.

    `fields` are further keys of a record. Those of the keys that are in `call_fields` narrow the calls behind the rows
    instead, as all but `fields` do where rows are `calls`. With `added_aspects` rows have the aspects that other
    distributions add. `refusal` is why rows cannot be narrowed to a flow, agent or run.
    """

    fields: tuple[str, ...] = ()
    call_fields: tuple[str, ...] = ()
    calls: bool = False
    added_aspects: bool = False
    refusal: str = ""


class Words(NamedTuple):
    """Describe what people read: what the view is called, its rows, and why there are none.

    `noun` is in the breadcrumb and `label` among the actions (else the view's name), which are found by the words in
    `also` as well. `nouns` are for one row and for several, `summary` is in place of a plain count, `empty` where the
    explorer has no rows to show, `empty_store` where a dump has none, `unopened` why Enter opens nothing from some
    rows. Rows are `ranked` by something in words that so cannot be sorted.
    """

    noun: str = ""
    label: str = ""
    nouns: tuple[str, str] = ("row", "rows")
    summary: Callable[[Table], str] | None = None
    empty: str = ""
    also: str = ""
    empty_store: str = EMPTY_STORE
    unopened: str = ""
    ranked: str = ""


class Screen(NamedTuple):
    """Describe where the explorer shows a view.

    `kind` is the screen it is on, `key` leads to it and `help` is what that key does; `depth` is how deep it is in the
    walk from flows to calls. `below` names the view that Enter opens from a row, or finds it by the row. `walk` are the
    steps that lead to it from the flows: chosen by its key, a view on the walk keeps these of the place one is in, and
    any other view keeps all but the terms of fields that it `leaves`. `rows_of` is the view whose rows its screen walks
    through. `of_row` are the names in the row under the cursor to which its key narrows it. A view that `compares` is
    split by two runs or agents where these are marked or compared.
    """

    kind: ScreenKind = "list"
    key: str = ""
    help: str = ""
    depth: int = 1
    below: str | Callable[[Row], str] = ""
    walk: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()
    rows_of: str = ""
    of_row: tuple[str, ...] = ()
    compares: bool = False


class ViewSpec(NamedTuple):
    """Describe one view.

    What it is: `name`, `title`, `help` in three lines, `aliases`, and its place in listings (`order`). A view that is
    not `listed` belongs to a command of its own or to the explorer; `command` prints it where `dump` does not.

    If it comes from: `show` asks the store and returns the table. `keys` name its rows, of which `limit` are listed
    unless it is said. A filter can choose among `judges` where it declares so, be it `columns` or `rows`. Where rows
    are calls, `of_calls` makes a table of some by their keys, for a screen that waits for the others.

    What it shows: `columns` are all columns that a store can give it, apart from those that judges and agents name;
    `filters` shows what else a filter can speak of. `order_by` is the column (`-` before it for downwards) that the
    view's own order begins with, if there is one. On a screen columns in `first` are behind the names, those in `last`
    at the right. `row_kind` shows what a row represents, `comparable` that two rows can be put side by side.

    What its JSON contains: a key for each column, of the form of its kind. `rows` are further keys of a row, and those
    of which that is not the whole truth; `top` those of the whole. `sometimes` names the keys that may be missing.

    What can be asked of it: `splits` by `--by`, which names further keys of its rows, or `regroups` them, where it
    names all of them instead of `keys`; compares two `sides`, is about one of several `aspects`, has the `text` of
    calls, can add a `trend` to each row, `draws` as many calls as `--k` says.
    """

    name: str
    title: str
    help: tuple[str, str, str]
    order: int = 1000
    aliases: tuple[str, ...] = ()
    listed: bool = True
    command: str = ""

    show: "Callable[[ViewQuery], Table] | None" = None
    keys: tuple[str, ...] = ()
    limit: int | None = None
    of_calls: "Callable[[ViewQuery, Sequence[int]], Table] | None" = None
    judges: Literal["", "columns", "rows"] = ""

    columns: Sequence[Column] = ()
    rows: Mapping[str, Shape] = {}
    top: Mapping[str, Shape] = {}
    sometimes: Collection[str] = ()
    filters: Filters = Filters()
    order_by: str = ""
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    row_kind: RowKind = "cell"
    comparable: bool = False

    splits: bool = False
    regroups: bool = False
    draws: bool = False
    sides: bool = False
    aspects: bool = False
    text: bool = False
    trend: bool = False

    words: Words = Words()
    screen: Screen = Screen()

    @property
    def takes_by(self) -> bool:
        """Return whether `--by` can give the rows other keys."""
        return self.splits or self.regroups

    @property
    def row_fields(self) -> Collection[str]:
        """Return the keys of a record that a filter can name; all else is about calls."""
        if self.filters.calls:
            return self.filters.fields
        keys = (*(column.key for column in self.columns if not _counts_calls(column)), *self.filters.fields)
        return tuple(key for key in dict.fromkeys(keys) if key not in self.filters.call_fields)

    def view_below(self, row: Row) -> str:
        """Return the name of the view that is below a row, an empty text if none does."""
        below = self.screen.below
        return below if isinstance(below, str) else below(row)

    @property
    def unlike(self) -> str:
        """Return why two rows cannot be put side by side, an empty text if they can."""
        if self.comparable:
            return ""
        return "its rows are of unlike kinds" if self.words.ranked else f"rows of {self.name} have nothing to compare"
