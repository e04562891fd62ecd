"""Lead from a request to a table, the same way for dumps and for the screen, and name the command that prints it."""

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_store.location import without_secrets
from riff_store.vocabulary import DETAIL_IS_SAID
from riff_tui.errors import RiffError, UsageError, ViewFailed
from riff_tui.settings import bounds
from riff_tui.table import Row, Table, with_deferred
from riff_tui.text.safe_text import shell_quoted
from riff_tui.view_registry import origin_of, resolve, spec_of, views
from riff_tui.views.spec import BY, ViewSpec

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.filters.predicates import Predicate
    from riff_tui.view_query import ViewQuery


_SAID_FIELDS = ("failure_error", "failure_detail", "error", "code")
"""The fields of a filter whose values may be words."""


class Request(NamedTuple):
    """Describe what is wanted of a view: a filter, further keys, a column to sort by, how many rows.

    `text` puts into a conversation what was said in it, `redact` takes out of that what points at a person. `trend`
    adds to each row its values in its last runs, oldest first. With `defer` the table leaves to its `deferred` load
    what would keep a screen waiting. `sides` are the two runs, or agents, of a comparison. `store` is the one that
    commands name, empty if it is the default one. `aspect` is explained instead of quality, `k` repeats of a call are
    drawn at a time. In an `outline`, which people read, what too many rows have in common may represent them; names to
    `fold` by distinguish rows where these are too many. With `proposal` a view adds the file that it can propose.
    `predicate` is `where` parsed, if it is so already. A `wordless` table has nothing of what people, models and
    programs said; of a call no more than so many rows `around` what is blamed are shown. A `bare` one is its rows,
    without what is above them.
    """

    where: str = ""
    by: tuple[str, ...] = ()
    sort: str | None = None
    limit: int | None = None
    text: bool = False
    redact: bool = False
    trend: bool = False
    defer: bool = False
    sides: tuple[str, str] | None = None
    aspect: str | None = None
    k: int | None = None
    outline: bool = False
    fold: tuple[str, ...] = ()
    proposal: bool = False
    store: str = ""
    predicate: "Predicate | None" = None
    wordless: bool = False
    around: int | None = None
    bare: bool = False


def open_to_read(location: str) -> "Store":
    """Open a store for reading, with the notes that are kept beside the settings if it cannot be written.

    Raises as `open_store` does.
    """
    from riff_store.database import open_store

    store = open_store(location)
    if not store.can_be_written():
        from riff_tui.notes.kept_notes import read_kept
        from riff_tui.settings import kept_notes_file

        store.kept_notes = read_kept(kept_notes_file())
    return store


def show(store: "Store", name: str, request: Request) -> Table:
    """Return the table of a view as requested.

    Raises `UsageError` or `FilterError` for a request that makes no sense, `ViewFailed` where the code of another
    distribution fails, and the store's errors.
    """
    from riff_tui.filters import Filter
    from riff_tui.view_query import ViewQuery

    spec = resolve(name)
    check_request(spec, request)
    query = ViewQuery(store, spec, request, request.predicate or Filter(request.where).predicate, bounds())
    try:
        query = query.folded()
        table = with_deferred(query.table(), partial(_signed, query))
        return with_deferred(table, _wordless) if request.wordless else table
    except RiffError as error:
        raise _with_names(query, error) from error.__cause__
    except Exception as error:
        origin = origin_of(spec)
        if not origin:
            raise
        failed = f"the view {spec.name} ({origin}) failed with {type(error).__name__}"
        raise ViewFailed(failed, "run it again with --debug to see where") from error


def _with_names(query: "ViewQuery", error: RiffError) -> RiffError:
    """Return the error; one on sides that a filter left no call of with the names that are near those in the filter."""
    from riff_store.queries.sides import NoCallLeft

    unknown = _notes_on_unknown_names(query) if isinstance(error, NoCallLeft) else []
    return NoCallLeft(error.message, "; ".join(said.rstrip(".") for said in unknown)) if unknown else error


class _Below(NamedTuple):
    """Make what leads below a row of a table of a store that was asked for with a filter."""

    where: str
    store: str

    def __call__(self, table: Table, row: Row, /) -> dict[str, Any] | None:
        from riff_tui import descent  # what has no use for it need not load it

        return descent.drill(table, row, self.where, self.store)


def naming(note: str, store: str) -> str:
    """Return a sentence whose commands that fill a store fill the one that is named, if one is."""
    named = f" --store {shell_quoted(without_secrets(store))}" if store else ""
    return _FILLING.sub(lambda command: command[0] + named, note) if named else note


_FILLING = re.compile(r"riff-tui (?:ingest PATH\.\.\.|sample --n 100|edits --repo DIR --flows '[^']*')")


def _signed(query: "ViewQuery", table: Table) -> Table:
    """Add to a table what was asked for, and in front of its notes which names were asked for in vain."""
    spec, request = query.spec, query.request
    return table._replace(
        filter=request.where.strip(),
        notes=[*_notes_on_unknown_names(query, table), *(naming(note, request.store) for note in table.notes)],
        dump=dump_command(spec.name, request),
        drill=_Below(request.where, request.store),
        first=(*table.first, *spec.first),
        last=table.last or spec.last,
    )


def _wordless(table: Table) -> Table:
    """Return a table without what was said, and without the ways down whose filter quotes it."""
    said = {column.key for column in table.columns if column.said}

    def row_of(row: Row) -> Row:
        record = {key: value for key, value in row.record.items() if key not in said}
        display = {key: text for key, text in row.display.items() if key not in said}
        if record.get("kind") in DETAIL_IS_SAID and record.get("detail"):
            record, display = {**record, "detail": None}, {key: display[key] for key in display if key != "kind"}
        quotes = any(field in f"{row.where} {row.leads}" for field in _SAID_FIELDS)
        row = row._replace(record=record, display=display)
        return row._replace(where="", leads="") if quotes else row

    call = table.extras.get("call")
    return table._replace(
        columns=[column for column in table.columns if column.key not in said],
        rows=[row_of(row) for row in table.rows],
        extras=table.extras if call is None else {**table.extras, "call": {**call, "codes": None}},
    )


def _notes_on_unknown_names(query: "ViewQuery", table: Table | None = None) -> list[str]:
    if query.predicate is None:
        return []
    from riff_tui.filters.nearest_names import unheard, unknown_names

    said = [] if table is not None and table.deferred is not None else unheard(query.store, query.predicate)
    return [*said, *unknown_names(query.store, query.predicate, table)]


def check_request(spec: ViewSpec, request: Request) -> None:
    """Raise `UsageError` for a request that a view cannot answer, whatever the store has."""
    unknown = [key for key in request.by if key not in BY]
    if unknown:
        raise UsageError(f"--by: rows cannot be split by {unknown[0]!r}; by one of {', '.join(BY)}")
    if request.by and not spec.takes_by:
        able = ", ".join(view.name for view in views() if view.takes_by)
        raise UsageError(f"--by: the rows of {spec.name} cannot be split; those of {able} can")
    if request.aspect is not None and not spec.aspects:
        able = ", ".join(view.name for view in views() if view.aspects)
        raise UsageError(f"--aspect: {spec.name} is not about one aspect; {able} can be")
    if request.k is not None and not spec.draws:
        able = ", ".join(view.name for view in views() if view.draws)
        raise UsageError(f"--k: {spec.name} draws no repeats; {able} does")
    if request.k is not None and request.k < 1:
        raise UsageError("--k cannot be below 1")
    if request.around is not None and not spec.text:
        able = ", ".join(view.name for view in views() if view.text)
        raise UsageError(f"--around: {spec.name} is not one call; {able} is")
    if request.limit is not None and request.limit < 0:
        raise UsageError("--limit cannot be below 0")
    if spec.sides and request.sides is None:
        command = f"{spec.command}, where A and B are runs or agent:NAME"
        raise UsageError(f"{spec.name} needs two sides: {command}")


def dump_argv(name: str, request: Request) -> list[str]:
    """Return the command that prints a view as requested, as the arguments of a process."""
    spec = spec_of(name)
    argv = (spec.command if request.sides else f"riff-tui dump {name}").split()
    if request.sides:
        argv[argv.index("A") : argv.index("B") + 1] = map(_side, request.sides)
    if request.where.strip():
        argv += ["--where", request.where.strip()]
    for key in request.by:
        argv += ["--by", key]
    if request.sort is not None:
        argv += ["--sort", request.sort]
    if request.limit is not None:
        argv += ["--limit", str(request.limit)]
    if request.aspect is not None:
        argv += ["--aspect", request.aspect]
    if request.k is not None:
        argv += ["--k", str(request.k)]
    if request.text and spec.text and request.sides is None:
        argv.append("--text")
    if request.store:
        argv += ["--store", without_secrets(request.store)]
    return argv


def dump_command(name: str, request: Request) -> str:
    """Return the command that prints a view as requested, as it is typed."""
    return _typed(dump_argv(name, request))


def ui_argv(name: str, request: Request, *, at: str = "", store: str = "") -> list[str]:
    """Return the command that opens the explorer on a view as requested, as the arguments of a process.

    `at` is the moment of a call that the cursor is on, `store` is named if it is not empty.
    """
    argv = ["riff-tui", "ui", name, *map(_side, request.sides or ())]
    if request.where.strip():
        argv += ["--where", request.where.strip()]
    if request.aspect:
        argv += ["--aspect", request.aspect]
    for key in request.by:
        argv += ["--by", key]
    if request.sort:
        argv += ["--sort", request.sort]
    if at:
        argv += ["--at", at]
    if store:
        argv += ["--store", store]
    return argv


def ui_command(name: str, request: Request, *, at: str = "", store: str = "") -> str:
    """Return the command that opens the explorer on a view as requested, as it is typed."""
    return _typed(ui_argv(name, request, at=at, store=store))


def _side(side: str) -> str:
    """Return a side as a word; what begins like an option would be taken for one."""
    return f"run:{side}" if side.startswith("-") else side


def _typed(argv: Sequence[str]) -> str:
    """Return a command as it is typed."""
    # People change what they paste: a filter and a store are in quotes, whatever is in them.
    quoted = {place + 1 for place, word in enumerate(argv) if word in ("--where", "--store")}
    return " ".join(shell_quoted(word) if place in quoted else _quoted(word) for place, word in enumerate(argv))


def _quoted(word: str) -> str:
    if word.replace("-", "").isalnum() and word.isascii():
        return word
    import shlex  # most dumps need none

    return shlex.quote(word)
