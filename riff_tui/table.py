"""Define the table, the one value that every screen and every dump shows.

A view makes a `Table`, a sink prints it, the explorer walks it. Rows keep their unrounded record; columns define how it
is shown.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, repeat
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, overload, runtime_checkable

Better: TypeAlias = Literal["higher", "lower"]
ColumnKind: TypeAlias = Literal["name", "text", "number", "count", "flag", "time", "object", "bar"]
Severity: TypeAlias = Literal["bad", "warn", "ok", "good", "capped"]
"""How a cell is marked; what is `capped` would be larger but for a rule that holds it down."""

NOT_MEASURED = "·"
DRILL = "Drill: "


class Bounds(NamedTuple):
    """Describe the scores of 0 to 10, or ten times the shares, below which a row is marked."""

    bad: float = 5.0
    warn: float = 7.0


BOUNDS = Bounds()


class Column(NamedTuple):
    """Describe how one value of a row is found and shown.

    `path` leads into the record (the key alone unless given, so a judge's mean can be inside the `humanness` object).
    `decimals` is the most that are shown; `trim` drops trailing zeros down to one. The cells of a `strong` column stand
    out, with `strong_title` its title does too. `thin` marks the count that carries `~`. A column that is not `shown`
    is in the data formats and can be chosen on the screen, one that is not `pasted` has no place in the shapes of
    Markdown. `help` is one sentence for the glossary, `short` the title if there is little room. `get` reads the value
    from an answer that has no attribute named like the key. A share that is `graded` has a bar beside it where it is
    walked. What is in a column that is `said` are words of people, models and programs, which a table without words
    does not have.
    """

    key: str
    title: str
    kind: ColumnKind = "number"
    unit: str = ""
    better: Better | None = None
    decimals: int = 1
    trim: bool = False
    strong: bool = False
    thin: bool = False
    shown: bool = True
    pasted: bool = True
    path: tuple[str, ...] = ()
    help: str = ""
    strong_title: bool = False
    short: str = ""
    graded: bool = False
    said: bool = False
    get: Callable[[Any], Any] | None = None

    def value(self, record: Mapping[str, Any]) -> Any:
        """Return the unrounded value in a row's record, `None` if it is not measured."""
        found: Any = record
        for step in self.path or (self.key,):
            if not isinstance(found, Mapping):
                return None
            found = found.get(step)
        return found


class Bar(NamedTuple):
    """Describe the share of a bar that is filled, and the part of it that is hatched, both of the whole."""

    share: float
    hatched: float = 0.0


class OwnCount(NamedTuple):
    """Describe how many calls a value was measured of, and whether these are too few to trust it."""

    n: int
    is_thin: bool


class Row(NamedTuple):
    """Describe one line: a stable id, the record that JSON prints, and how it differs from a plain line.

    `display` overrides what a column shows, and `posted` that in the shapes of Markdown. `severity` marks cells by
    column key; the key `""` marks the row. `where` is the filter expression that leads from here to what is below,
    `order` the column (`-` before it for downwards) by which the calls there show why the row is listed. What is below
    may be other calls than those that the row is about: `leads` is the filter that leads there then. `counts` has, by
    column, how many calls a value was measured of, where these are fewer than the row's. `bars` has, by columns of that
    kind, the share that a bar fills and how much of it is hatched, both of the whole. `folds` counts the rows that it
    represents where people read.
    """

    id: str
    record: Mapping[str, Any]
    display: Mapping[str, str] = {}
    severity: Mapping[str, Severity] = {}
    thin: bool = False
    where: str = ""
    order: str = ""
    leads: str = ""
    counts: Mapping[str, OwnCount] = {}
    bars: Mapping[str, Bar] = {}
    posted: Mapping[str, str] = {}
    folds: int = 0

    def is_thin(self, key: str) -> bool:
        """Return whether too few calls are behind the value of a column."""
        return self.thin or (key in self.counts and self.counts[key].is_thin)


class Figure(Protocol):
    """Draw what is above the rows: a graph, a histogram, lanes."""

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Return the lines of the drawing, none wider than `width` cells; data in it is raw text."""
        ...


@runtime_checkable
class GraphFigure(Figure, Protocol):
    """Draw a graph, which programs that draw graphs can have as well."""

    def to_dot(self, *, ascii_only: bool = False) -> str:
        """Return the graph in Graphviz's language."""
        ...

    def to_mermaid(self, *, ascii_only: bool = False) -> str:
        """Return the graph in Mermaid's language."""
        ...


class Prose(Protocol):
    """Read rows as lines, for people who read them one after the other.

    `head` are those of the notes that are above the drawing.
    """

    @property
    def head(self) -> Sequence[str]:
        """Return the notes that are first."""
        ...

    def lines(
        self, rows: Sequence[Row], *, width: int, ascii_only: bool = False
    ) -> Sequence[Sequence[tuple[str, str | None]]]:
        """Return lines of at most `width` cells: pieces of safe text, each with its tone."""
        ...


class Below(Protocol):
    """Make what leads below a row of a table."""

    def __call__(self, table: Any, row: Row, /) -> Mapping[str, Any] | None:
        """Return the view, its filter and the command, `None` if nothing is below the row."""
        ...


LATER = "…"
"""What stands where a figure is still to come."""

Steps: TypeAlias = Generator["str | Table", None, "Table"]
"""Steps that say what is being done, or hand over the rows that are there so far, and end with a table."""
Deferred: TypeAlias = Callable[[], Steps]
"""A load that was left for later: its steps end with the same table with nothing left out."""


class Section(NamedTuple):
    """Group rows under a heading, such as one list of the worklist.

    A table with sections is printed as lists: `marker`, the row's `display["place"]`, then its `display["summary"]`. If
    it has `columns` Markdown prints it as a table of these, with the sign of each row where they are `signed`.
    """

    title: str
    marker: str
    row_ids: tuple[str, ...]
    columns: tuple[Column, ...] = ()
    signed: bool = True


class Folded(NamedTuple):
    """Describe which rows are one where people read: those of these `ids`, in one row for each of the names in `by`.

    It counts the values of the column `of`, `noun` each, and adds up the column `counts`.
    """

    ids: frozenset[str]
    by: tuple[str, ...]
    of: str
    counts: str
    noun: str


_MORE = "+ "


class RowCounts(NamedTuple):
    """Count the rows of a view: those that are shown, that the filter leaves, and that there are without it."""

    shown: int
    matched: int
    total: int

    @property
    def hidden(self) -> int:
        """Return how many rows a filter or a limit took away."""
        return self.total - self.shown


class Table(NamedTuple):
    """Describe a view's answer, ready to be printed or walked.

    `rows` may be any sequence, so that a long list can be a window over a query. `extras` are further top-level keys of
    the JSON form. `lead` is the one sentence to read first, `strong` the name in it that stands out, `headline` its
    beginning for if there is little room. `notes` explain units and what was left out, a sentence each; one that begins
    with `DRILL` ends in a command. `first_row` is what a cursor is on where it is on that sentence: it leads to what
    the sentence is about. `legend` is when rows have their marks, in few words. `total` counts the rows without the
    filter and `matched` those that it leaves, `None` if these are all of `rows`; `limit` is how many were to be listed
    at most, in each of the `sections`. `identity` are the columns that distinguish rows if these are not all that are
    shown of kind `name`; those in `first` decide, those in `last` matter least. `commands` open what rows rest on: what
    that is, and the command, raw and to be pasted as it is. Rows that are `folded` are one where people read. `prose`
    is how text reads in the place of columns. `begin` is the id of the row that a cursor begins on, else the first one.
    `sort` is the column that rows are sorted by if that was asked for, with `-` downwards. `files` are the texts that
    it alone has, by the names of their formats, where they were asked for. `dump` is the command that prints the same,
    `drill` makes what leads below a row. `deferred` begins the load of what was left for later because it takes long.
    """

    view: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    filter: str = ""
    lead: str = ""
    strong: str = ""
    headline: str = ""
    first_row: Row | None = None
    legend: str = ""
    notes: Sequence[str] = ()
    commands: Sequence[tuple[str, str]] = ()
    total: int | None = None
    matched: int | None = None
    limit: int | None = None
    extras: Mapping[str, Any] = {}
    figure: Figure | None = None
    prose: Prose | None = None
    sections: Sequence[Section] = ()
    identity: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    folded: Folded | None = None
    begin: str = ""
    sort: str = ""
    files: Mapping[str, str] = {}
    dump: str = ""
    drill: Below | None = None
    deferred: Deferred | None = None

    @property
    def counts(self) -> RowCounts:
        """Return how many rows are shown, are left by the filter, and are there without it."""
        shown = len(self.rows)
        matched = max(shown, self.matched or 0)
        return RowCounts(shown, matched, max(matched, self.total or 0))

    def record_of(self, row: Row) -> Mapping[str, Any]:
        """Return what data formats that are no grid print of a row: its record, and what leads below it."""
        below = None if self.drill is None else self.drill(self, row)
        return row.record if below is None else {**row.record, "drill": below}

    def column(self, key: str) -> Column | None:
        """Return the column of that key, if there is one."""
        return next((column for column in self.columns if column.key == key), None)


def as_read(table: Table) -> Table:
    """Return a table as people read it: folded rows are one row, where the last of them was."""
    folded, blocks = table.folded, dict[tuple[Any, ...], list[Row]]()
    if folded is None:
        return table
    for row in table.rows:
        if row.id in folded.ids:
            blocks.setdefault(tuple(row.record[key] for key in folded.by), []).append(row)
    lines = {some[-1].id: _line(table, folded, names, some) for names, some in blocks.items()}
    rows = [lines.get(row.id, row) for row in table.rows if row.id not in folded.ids or row.id in lines]
    return table._replace(rows=rows)


def row_number(table: Table, index: int) -> tuple[int, int]:
    """Return which row a table as it is read has at a place, and how many there are, with all that are folded."""
    if table.folded is None:
        return index + 1, len(table.rows)
    stood_for = [max(1, row.folds) for row in table.rows]
    return sum(stood_for[:index]) + 1, sum(stood_for)


def _line(table: Table, folded: Folded, names: Sequence[Any], rows: Sequence[Row]) -> Row:
    """Return the row that shows how many rows are folded, and adds up what they count."""
    _, by, of, counts, noun = folded
    n = len({str(row.record[of]) for row in rows})
    record = {**dict(zip(by, names, strict=True)), of: None, counts: sum(row.record[counts] for row in rows)}
    display = {column.key: "" for column in table.columns if column.key not in record}
    said = f"{_MORE}{n:,} {noun}{'' if n == 1 else 's'}"
    return Row(f"{_MORE}{' '.join(map(str, names))}", record, {**display, of: said}, folds=len(rows))


def run_steps(steps: Steps) -> Table:
    """Run steps to their end and return the table."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: Table = end.value
            return found


def with_deferred(table: Table, change: Callable[[Table], Table]) -> Table:
    """Change a table, and in the same way the one that its deferred load ends with."""

    def steps(load: Deferred) -> Steps:
        with closing(load()) as going:
            while True:
                try:
                    step = next(going)
                except StopIteration as end:
                    return with_deferred(end.value, change)
                yield change(step) if isinstance(step, Table) else step

    deferred = None if table.deferred is None else partial(steps, table.deferred)
    return change(table)._replace(deferred=deferred)


def begun(table: Table, later: Collection[str]) -> Table:
    """Return a table of which some columns are still to be counted: they say so, not that nothing was measured."""
    display = dict.fromkeys(later, LATER)
    rows = [row._replace(display={**row.display, **display}) for row in table.rows]
    return table._replace(rows=rows, notes=[f"{LATER} is still being counted.", *table.notes])


def in_one_step(doing: str, make: Callable[[], Table]) -> Steps:
    """Return what is being done, and end with the table that `make` returns."""
    yield doing
    return make()


Value = TypeVar("Value")


class Batch(NamedTuple):
    """Keep rows by the keys of their columns, in groups of so many `counts`; times are microseconds since the epoch.

    Columns that are `shared` have a value for each group, those that are `single` one for each row.
    """

    counts: Sequence[int]
    shared: Mapping[str, Sequence[Any]]
    single: Mapping[str, Sequence[Any]]

    @property
    def size(self) -> int:
        """Return how many rows there are."""
        return sum(self.counts)

    def spread(self, values: Iterable[Value]) -> Iterator[Value]:
        """Repeat what groups share for each of their rows."""
        return chain.from_iterable(map(repeat, values, self.counts))


PAGE = 256
KEPT_PAGES = 16


class LazyRows(Sequence[Row]):
    """Fetch `count` rows a page at a time as they come into view; the pages used last are kept.

    `keys` name the rows, so that a row of another window can be found in this one, with `find` where they can.
    """

    def __init__(
        self,
        count: int,
        fetch: Callable[[int, int], Sequence[Row]],
        keys: Sequence[int] | None = None,
        find: Callable[[int], int | None] | None = None,
    ) -> None:
        self._count = count
        self._fetch = fetch
        self._keys = keys
        self._find = find or self._search
        self._pages: OrderedDict[int, Sequence[Row]] = OrderedDict()

    def place_of(self, other: "LazyRows", place: int) -> int | None:
        """Return where the row is that is at a place of another window, if it is here."""
        if self._keys is None or other._keys is None or not 0 <= place < len(other):
            return None
        key = other._keys[place]
        if place < len(self) and self._keys[place] == key:
            return place
        return self._find(key)

    def _search(self, key: int) -> int | None:
        return next((place for place, each in enumerate(self._keys or ()) if each == key), None)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self._row(place) for place in range(*index.indices(self._count))]
        place = index + self._count if index < 0 else index
        if not 0 <= place < self._count:
            raise IndexError(index)
        return self._row(place)

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, self._count, PAGE):
            yield from self._page(start // PAGE)

    def _row(self, place: int) -> Row:
        page, offset = divmod(place, PAGE)
        return self._page(page)[offset]

    def _page(self, number: int) -> Sequence[Row]:
        page = self._pages.get(number)
        if page is None:
            start = number * PAGE
            page = self._fetch(start, min(PAGE, self._count - start))
            self._pages[number] = page
            if len(self._pages) > KEPT_PAGES:
                self._pages.popitem(last=False)
        else:
            self._pages.move_to_end(number)
        return page


def label(table: Table, row: Row, among: Sequence[Row] = ()) -> str:
    """Return what distinguishes a row from the others: the names that are not the same in all of them."""
    columns = naming_columns(table, *among) if among else identity_columns(table)
    return joined_names(columns or identity_columns(table), row)


def joined_names(columns: Sequence[Column], row: Row) -> str:
    text = ""
    for column in columns:
        name = row.display.get(column.key) or column.value(row.record)
        if name is not None:
            text += ("" if not text else " @ " if column.key == "agent" else " › ") + str(name).strip()
    return text or row.id


def identity_columns(table: Table) -> list[Column]:
    keys = table.identity
    return [
        column for column in table.columns if (column.key in keys if keys else column.kind == "name" and column.shown)
    ]


def naming_columns(table: Table, *rows: Row) -> list[Column]:
    """Return the columns whose names show these rows apart."""
    columns = identity_columns(table)
    found = [column for column in columns if len({str(column.value(row.record)) for row in rows}) > 1]
    return found or columns
