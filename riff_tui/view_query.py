"""Ask the store for a view: split the filter, build the table, filter rows, sort, limit, note what was left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from riff_store.filters.matching import compile_predicate
from riff_store.filters.predicates import Predicate, all_of, asks_for_words, conjuncts, terms
from riff_store.measure import THIN
from riff_store.metrics import is_optional
from riff_store.vocabulary import ALIASES, FIELDS, split_name
from riff_tui.errors import UsageError
from riff_tui.filters import split, take_judges
from riff_tui.table import BOUNDS, NOT_MEASURED, Bounds, Column, LazyRows, Row, Steps, Table, begun, in_one_step
from riff_tui.text.numbers import excluded_text, listed

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.filters.said import Search
    from riff_tui.catalog import Request
    from riff_tui.views.spec import ViewSpec


class FilterParts(NamedTuple):
    """Describe what a filter reports of the calls behind the rows, of the rows, and of judges."""

    calls: Predicate | None = None
    rows: Predicate | None = None
    judges: Predicate | None = None

    def of_rows_alone(self) -> FilterParts:
        """Return the parts where a name that is in rows chooses rows alone.

        It may narrow the calls too, which would change what shares in the rows are of.
        """
        rows = conjuncts(self.rows)
        return self._replace(calls=all_of([part for part in conjuncts(self.calls) if part not in rows]))


QUICK_CALLS = 100_000
"""So many calls are looked at before anybody notices."""
QUICKLY_SEARCHED = 2_000
"""The transcripts of so many calls are searched before anybody notices."""
FIRST_FOUND = 1024
"""So many calls at most are shown before all are searched."""
_NAMES = ("archetype", "flow", "agent", "run")
EVERYTHING = FilterParts()
MOST_UNFOLDED = 40
"""With more rows than these, a matrix that can be regrouped begins with a row for each of its first names."""
Made = TypeVar("Made")
BuildTable: TypeAlias = Callable[[FilterParts], Table]


class MadeRows(LazyRows):
    """Make rows of what is in hand, each once, when it is looked at.

    What rows are found, chosen, sorted and counted by is in the `outline` of each: its id and filter, the figures of
    its record, and whether it is thin. `whole` adds what else is shown of it.
    """

    def __init__(
        self, count: int, outline: Callable[[int], Row], whole: Callable[[int, Row], Row] = lambda at, outline: outline
    ) -> None:
        self.outline = cache(outline)
        self._made = cache(lambda at: whole(at, self.outline(at)))
        super().__init__(count, lambda start, n: [self._made(at) for at in range(start, start + n)])

    def __iter__(self) -> Iterator[Row]:
        return map(self._made, range(len(self)))

    def _row(self, place: int) -> Row:
        return self._made(place)


def outlines(rows: Sequence[Row]) -> Iterable[Row]:
    """Return rows as far as they are found, chosen, sorted and counted by what they say."""
    return map(rows.outline, range(len(rows))) if isinstance(rows, MadeRows) else rows


def _chosen(rows: Sequence[Row], places: Sequence[int]) -> Sequence[Row]:
    """Return the rows at some places, in that order."""
    if isinstance(rows, MadeRows):
        return MadeRows(len(places), lambda at: rows.outline(places[at]), lambda at, outline: rows[places[at]])
    every = list(rows)
    return [every[place] for place in places]


class ViewQuery(NamedTuple):
    """Describe what is asked of one view: the store, the request, its filter as a predicate, and when to mark."""

    store: Store
    spec: ViewSpec
    request: Request
    predicate: Predicate | None = None
    bounds: Bounds = BOUNDS

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names by which the rows are distinguished: what `--by` sets as well, or instead."""
        own = () if self.spec.regroups and self.request.by else self.spec.keys
        return tuple(dict.fromkeys((*own, *self.request.by)))

    @property
    def row_fields(self) -> set[str]:
        """Return the keys of the records, without the names in whose place `--by` has put others."""
        return set(self.spec.row_fields) - (set(self.spec.keys) - set(self.keys)) | set(self.request.by)

    def folded(self) -> ViewQuery:
        """Return the query, or the one whose rows `fold` distinguishes, if a count of rows shows that they are many."""
        fold = self.request.fold
        if not fold or self.request.by:
            return self
        from riff_store.filters.dimensions import Grouping
        from riff_store.filters.sql import needs
        from riff_store.queries.sums import call_counts

        parts = self.parts()
        if parts.rows is not None or needs(parts.calls, self.keys) == "base":
            return self
        found = call_counts(self.store, parts.calls, Grouping(self.keys))
        places = [self.keys.index(name) for name in fold]
        if not MOST_UNFOLDED < len(found) > len({tuple(names[place] for place in places) for names in found}):
            return self
        return self._replace(request=self.request._replace(by=fold))

    def kept(self, ask: Callable[..., Made], *asked: Any, **wanted: Any) -> Made:
        """Return what the store answers to a question, the same as before if nobody has written to it.

        So rows are sorted, chosen and opened again without it.
        """
        key = ask, asked, tuple(wanted.items())
        return self.store.lasting(key, lambda: ask(self.store, *asked, **wanted))

    def table(self) -> Table:
        """Return the table that is asked for, all of it from one state of the store.

        A screen has it later where many transcripts have to be searched first.
        """
        with self.store.snapshot():
            if self.spec.show is None:
                raise TypeError(f"the view {self.spec.name} has no function that shows it")
            if self.request.defer and self.spec.screen.kind == "list" and asks_for_words(self.predicate):
                from riff_store.filters.said import Search

                search = Search(self.store, self.parts().calls)
                if search.calls > QUICKLY_SEARCHED:
                    return self._of_found([])._replace(deferred=partial(self._searching, search))
            return self.spec.show(self)

    def _searching(self, search: Search) -> Steps:
        """Search what was said; of calls show those first that are found, as they come."""
        found: list[int] = []
        total = f"{search.calls:,} calls"
        yield f"searched 0 of {total}"
        for searched, calls in search.found():
            if calls and len(found) < FIRST_FOUND and self.spec.of_calls is not None:
                found += calls[: FIRST_FOUND - len(found)]
                yield self._of_found(found)
            yield f"searched {searched:,} of {total}"
        return self._replace(request=self.request._replace(defer=False)).table()

    def _of_found(self, calls: Sequence[int]) -> Table:
        """Return a table of the calls that were found so far, which is empty if rows are something else."""
        if self.spec.of_calls is not None:
            return self.spec.of_calls(self, calls)
        return Table(self.spec.name, self.spec.title, self.spec.columns, ())

    def parts(self) -> FilterParts:
        """Split the filter; raises `FilterError` or `UsageError` if it makes no sense for the view."""
        judges, rest = take_judges(self.predicate) if self.spec.judges else (None, self.predicate)
        added: set[str] = set()
        if self.spec.filters.added_aspects:
            # Not every store has these aspects, so no column shows them.
            named = {term.field: split_name(term.field)[0] for term in terms(rest) if term.field}
            added = {field for field, base in named.items() if base not in FIELDS or is_optional(base)}
        calls, rows = split(rest, self.row_fields | added)
        if calls is not None and self.spec.filters.refusal:
            raise UsageError(f"{self.spec.name} can be filtered by {', '.join(self.spec.row_fields)} only")
        return FilterParts(calls, rows, judges)

    def result(
        self,
        parts: FilterParts,
        build: BuildTable,
        *,
        recounts: bool = True,
        count: Callable[[], int] | None = None,
    ) -> Table:
        """Build a table; filter its rows, sort and limit them, and note what was left out.

        One that has made the first of its rows alone shows how many it `matched`. Rows that are gone for want of calls,
        or of judges where these choose rows, count in its total if it `recounts`: `count` does that without them.
        """
        table = build(parts)
        fewer = parts.calls is not None or (parts.judges is not None and self.spec.judges == "rows")
        total = table.counts.matched
        if fewer and recounts:
            total = self._total(count) if count else build(EVERYTHING).counts.matched
        every, table = table, table._replace(rows=matching(table, parts.rows))
        matched = every.counts.matched if parts.rows is None else len(table.rows)
        table = self.arranged(table._replace(total=total, matched=matched))
        table = _with_columns_asked_for(table, parts.rows)
        notes = [*table.notes, *left_out(table, self.keys)]
        if parts.rows is not None and every.rows and not table.matched:
            from riff_tui.filters.nearest_names import unknown_values

            notes = [*unknown_values(every, parts.rows), *notes]
        if self.spec.words.empty_store and not total and (recounts or (not fewer and parts.rows is None)):
            notes.append(self.spec.words.empty_store)
        return table._replace(notes=notes)

    def _total(self, count: Callable[[], int]) -> int:
        """Return how many rows there are without a filter, counted once for as long as nobody writes to the store."""
        totals: dict[object, int] = self.store.lasting(ViewQuery, dict)
        key = self.spec.name, self.request._replace(where="", predicate=None, sort=None, limit=None)
        if key not in totals:
            totals[key] = count()
        return totals[key]

    @property
    def is_slow_on_screen(self) -> bool:
        """Return whether a screen waits, and the calls are so many that it would notice."""
        if not self.request.defer:
            return False
        from riff_store.queries.conversations import count_conversations

        return count_conversations(self.store) > QUICK_CALLS

    def in_two_parts(self, table: Callable[[bool], Table], doing: str, later: Collection[str]) -> Table:
        """Return for a screen, of very many calls, a table that is not whole yet, and for all else the whole one.

        `table` is shown whether to be whole, and `doing` shows what takes long. If the rows are chosen or sorted by
        columns that come `later` there is nothing to show before.
        """
        if not self.is_slow_on_screen or any(term.field in later for term in terms(self.predicate)):
            return table(True)
        first = table(False)
        if first.sort.removeprefix("-") in later:
            return table(True)
        return begun(first, later)._replace(deferred=partial(in_one_step, doing, partial(table, True)))

    @property
    def limit(self) -> int | None:
        """Return how many rows are to be listed at most, in each list if there are several."""
        return self.spec.limit if self.request.limit is None else self.request.limit

    def first(self, parts: FilterParts) -> int | None:
        """Return how many rows are shown at most where these are the first of an answer, `None` if any can be."""
        return self.limit if parts.rows is None and self.request.sort is None else None

    def arranged(self, table: Table) -> Table:
        """Sort and limit the rows of a table."""
        if self.request.sort is not None:
            table = ordered(table, self.request.sort, self.spec.words.ranked)
        return limited(table, self.limit)


def _with_columns_asked_for(table: Table, rows: Predicate | None) -> Table:
    """Show the figures that rows are sorted or filtered by, where these are columns to choose, before all others."""
    asked = {term.field for term in terms(rows)} | {table.sort.removeprefix("-")}
    hidden = {column.key for column in table.columns if not column.shown and column.kind in ("number", "count")} & asked
    columns = [column._replace(shown=True) if column.key in hidden else column for column in table.columns]
    return table._replace(columns=columns, first=tuple(column.key for column in columns if column.key in hidden))


def matching(table: Table, predicate: Predicate | None) -> Sequence[Row]:
    """Return the rows that a filter of rows leaves."""
    if predicate is None:
        return table.rows
    holds = compile_predicate(predicate, [column.key for column in table.columns if column.kind == "name"])
    return _chosen(table.rows, [at for at, row in enumerate(outlines(table.rows)) if holds(row.record)])


def ordered(table: Table, sort: str, ranked: str = "") -> Table:
    """Sort the rows: `KEY` upwards, `-KEY` downwards, what is not measured last; rows alike keep their order."""
    if ranked:
        raise UsageError(f"{table.view} cannot be sorted: its lists are ranked {ranked}")
    down = sort.startswith("-")
    column = sort_column(table.columns, sort)
    values = [column.value(row.record) for row in outlines(table.rows)]
    measured = [at for at, value in enumerate(values) if value is not None]
    measured.sort(key=lambda at: _place(values[at]), reverse=down)
    places = measured + [at for at, value in enumerate(values) if value is None]
    return table._replace(rows=_chosen(table.rows, places), sort=f"{'-' if down else ''}{column.key}")


def sort_column(columns: Sequence[Column], sort: str) -> Column:
    """Return the column that `KEY` or `-KEY` names, by key, title or short name; raises `UsageError`."""
    key = sort.removeprefix("-")
    known = {column.key: column for column in columns if column.kind != "object"}
    headed = {column.short.lower(): column for column in known.values() if column.short}
    headed |= {column.title.lower(): column for column in known.values()}
    column = known.get(key) or known.get(ALIASES.get(key.lower(), key)) or headed.get(key.lower())
    if column is None:
        raise UsageError(f"--sort: there is no column {key} here; there are {', '.join(known)}")
    return column


def limited(table: Table, limit: int | None) -> Table:
    """Keep at most so many rows; of a table of lists at most so many a list."""
    if limit is None:
        return table
    table = table._replace(limit=limit)
    if not table.sections:
        return table._replace(rows=table.rows[:limit])
    kept: set[str] = set()
    for section in table.sections:
        wanted = frozenset(section.row_ids)
        kept.update([row.id for row in table.rows if row.id in wanted][:limit])
    return table._replace(rows=[row for row in table.rows if row.id in kept])


def left_out(table: Table, keys: Sequence[str] = ()) -> list[str]:
    """Return a sentence each on errored calls, which averages leave out, and on thin rows; `keys` name a row."""
    notes, rows = [], list(outlines(table.rows))
    excluded = [(int(row.record.get("excluded") or 0), row) for row in rows]
    total = sum(count for count, _ in excluded)
    if total:
        where = listed([f"{_name_of(row, table.columns, keys)} {count}" for count, row in excluded if count])
        failed = sum(int(row.record.get("caller_failed") or 0) for row in rows)
        notes.append(f"Excluded: {excluded_text(total, failed)} ({where}).")
    thin = [row.id for row in rows if row.thin]
    if thin:
        few = f"fewer than {THIN} groups" if any("groups" in row.record for row in rows) else f"n < {THIN}"
        folded = len(table.folded.ids.intersection(thin)) if table.folded else 0
        unseen = f", {folded} of them folded" if folded else ""
        notes.append(f"Thin: {len(thin)} {'row has' if len(thin) == 1 else 'rows have'} {few}, marked ~{unseen}.")
    return notes


def _place(value: Any) -> tuple[int, Any, str]:
    """Order numbers before text; text without regard to case, unless nothing else distinguishes it."""
    if isinstance(value, (int, float)):
        return 0, value, ""
    return 1, str(value).casefold(), str(value)


def _name_of(row: Row, columns: Sequence[Column], keys: Sequence[str]) -> str:
    if not keys and not any(key in row.record for key in _NAMES):
        keys = [column.key for column in columns if column.kind == "name"]
    names = (row.record.get(key) for key in dict.fromkeys((*_NAMES, *keys)))
    return " ".join(str(name) for name in names if name) or NOT_MEASURED
