"""Describe a view: one value from which commands, the explorer and the documentation take all that they know of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from riff_tui.table import Column, Row, Table

ScreenKind: TypeAlias = Literal["list", "state", "conversation"]
RowKind: TypeAlias = Literal["cell", "run", "call"]

BY = ("flow", "agent", "persona", "run", "archetype", "commit", "scenario", "caller")
"""The names that `--by` can give the rows of a view that `splits` or `regroups`."""
EMPTY_STORE = "The store holds nothing of this yet: riff-tui ingest PATH... fills it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSpec:
    """Describe one view.

    What it is: `name`, `title`, `help` in three lines, `aliases`, and its place in listings (`order`). A view that is
    not `listed` belongs to a command of its own or to the explorer; `command` prints it where `dump` does not.

    Where it comes from: `query` is the function that asks the store, as "module:function", called with the store, the
    predicate on `calls`, `by` if the view splits or regroups and the predicate on `judges` where a filter
    can choose among them, be it `columns` or `rows`. `build` makes the table of its answer; without it the table has
    a row for each answer, which `keys` name, and `notes`. `finish` adds to a table,
    or names a function that takes the store again for it; `show` names one that does all of this. With `recounts`
    rows that are gone for want of calls count in its total; `limit` is how many rows are listed unless it is said.

    What it shows: `columns` are all columns that a store can give it, apart from those that judges and agents name.
    A filter can speak of their keys and of `fields`, further keys of a record; those in `call_fields` narrow the calls
    behind the rows instead, as everything else than `fields` does where it `filters` calls. With `added_aspects` rows
    hold the aspects that other distributions add.

    What can be asked of it: `splits` by `--by`, which names further keys of its rows, or `regroups` them, where it
    names all of them instead of `keys`; compares two `sides`, is about one of several `aspects`, holds the `text` of
    calls, can add a `trend` to each row, `draws` as many calls as `--k` says.

    What people read: `noun` in the breadcrumb and `label` among the actions (else its name), `nouns` for one row and
    for several, `summary` instead of a plain count, `empty` where the explorer has no rows to show, `empty_store`
    where a dump has none.

    Where the explorer shows it: on which `screen`, by which `key` and what that key does (`key_help`), how deep in the
    walk from flows to calls (`depth`). `below` names the view that Enter opens from a row, or finds it by the row.
    `walk` are the steps that lead to it from the flows: chosen by its key, a view on the walk keeps these of the place
    one is in, and any other view keeps all. `rows_of` is the view whose rows its screen walks
    through. `row_kind` says what a row stands for, `comparable` that two rows can be put side by side. Rows are
    `ranked` by something that is said in words and so cannot be sorted; `no_calls` says why they cannot be narrowed to
    a flow, agent or run. Columns in `first` stand behind the names, those in `last` at the right. `order_by` is the
    column (`-` before it for downwards) that the view's own order begins with, if there is one. Rows are `marked` by
    the bounds of the settings, which `build` takes.
    """

    name: str
    title: str
    help: tuple[str, str, str]
    order: int = 1000
    aliases: tuple[str, ...] = ()
    listed: bool = True
    command: str = ""

    query: str = ""
    build: Callable[..., Table] | None = None
    show: str = ""
    finish: str | Callable[[Table], Table] = ""
    keys: tuple[str, ...] = ()
    judges: Literal["", "columns", "rows"] = ""
    recounts: bool = True
    limit: int | None = None
    notes: tuple[str, ...] = ()

    columns: Sequence[Column] = ()
    fields: tuple[str, ...] = ()
    call_fields: tuple[str, ...] = ()
    added_aspects: bool = False
    filters: Literal["rows", "calls"] = "rows"

    splits: bool = False
    regroups: bool = False
    draws: bool = False
    sides: bool = False
    aspects: bool = False
    text: bool = False
    trend: bool = False

    noun: str = ""
    label: str = ""
    nouns: tuple[str, str] = ("row", "rows")
    summary: Callable[[Table], str] | None = None
    empty: str = ""
    empty_store: str = EMPTY_STORE

    screen: ScreenKind = "list"
    key: str = ""
    key_help: str = ""
    depth: int = 1
    below: str | Callable[[Row], str] = ""
    walk: tuple[str, ...] = ()
    rows_of: str = ""
    row_kind: RowKind = "cell"
    comparable: bool = False
    ranked: str = ""
    no_calls: str = ""
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    marked: bool = False
    order_by: str = ""

    @property
    def takes_by(self) -> bool:
        """Say whether `--by` can give the rows other keys."""
        return self.splits or self.regroups

    @property
    def row_fields(self) -> Collection[str]:
        """Return the keys of a record that a filter can name; all else is said of calls."""
        if self.filters == "calls":
            return self.fields
        keys = (*(column.key for column in self.columns), *self.fields)
        return tuple(key for key in dict.fromkeys(keys) if key not in self.call_fields)

    def view_below(self, row: Row) -> str:
        """Return the name of the view that lies below a row, an empty text where none does."""
        return self.below if isinstance(self.below, str) else self.below(row)
