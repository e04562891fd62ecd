"""Lead from a request to a table, the same way for dumps and for the screen."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from riff_tui.errors import RiffError, UsageError, ViewFailed
from riff_tui.request import Request, dump_command
from riff_tui.settings import bounds
from riff_tui.table import Table, with_deferred
from riff_tui.view_registry import origin_of, resolve, views
from riff_tui.views.spec import BY, ViewSpec

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.view_query import ViewQuery


def show(store: Store, name: str, request: Request) -> Table:
    """Return the table of a view as requested.

    Raises `UsageError` or `FilterError` for a request that makes no sense, `ViewFailed` where the code of another
    distribution fails, and the store's errors.
    """
    from riff_tui.filters import parse
    from riff_tui.view_query import ViewQuery

    spec = resolve(name)
    check_request(spec, request)
    query = ViewQuery(store, spec, request, request.predicate or parse(request.where), bounds())
    try:
        return with_deferred(query.table(), partial(_signed, query))
    except RiffError as error:
        raise _with_names(query, error) from error.__cause__
    except Exception as error:
        origin = origin_of(spec)
        if not origin:
            raise
        failed = f"the view {spec.name} ({origin}) failed with {type(error).__name__}"
        raise ViewFailed(failed, "run it again with --debug to see where") from error


def _with_names(query: ViewQuery, error: RiffError) -> RiffError:
    """Return the error; one on sides that a filter left no call of with the names that are near those in the filter."""
    from riff_store.queries.sides import NoCallLeft

    unknown = _asked_in_vain(query) if isinstance(error, NoCallLeft) else []
    return NoCallLeft(error.message, "; ".join(said.rstrip(".") for said in unknown)) if unknown else error


def _signed(query: ViewQuery, table: Table) -> Table:
    """Add to a table what was asked for, and in front of its notes which names were asked for in vain."""
    spec, request = query.spec, query.request
    return replace(
        table,
        filter=request.where.strip(),
        notes=[*_asked_in_vain(query, table), *table.notes],
        dump=dump_command(spec.name, request),
        first=(*table.first, *spec.first),
        last=spec.last,
    )


def _asked_in_vain(query: ViewQuery, table: Table | None = None) -> list[str]:
    if query.predicate is None:
        return []
    from riff_tui.filters.nearest_names import unknown_names

    return unknown_names(query.store, query.predicate, table)


def check_request(spec: ViewSpec, request: Request) -> None:
    """Raise `UsageError` for a request that a view cannot answer, whatever the store holds."""
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
    if request.limit is not None and request.limit < 0:
        raise UsageError("--limit cannot be below 0")
    if spec.sides and request.sides is None:
        command = f"{spec.command}, where A and B are runs or agent:NAME"
        raise UsageError(f"{spec.name} needs two sides: {command}")
