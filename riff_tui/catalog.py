"""Lead from a request to a table, the same way for dumps and for the screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from riff_tui.errors import UsageError
from riff_tui.table import Table, throughout
from riff_tui.view_registry import resolve, spec_of, views
from riff_tui.views.spec import BY, ViewSpec

if TYPE_CHECKING:
    from riff_store.database import Store


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted of a view: a filter, further keys, a column to sort by, how many rows.

    `text` puts into a conversation what was said in it, `redact` takes out of that what points at a person.
    `trend` adds to each row of the flow matrix its operability in its last runs, oldest first. A
    `hurried` one leaves to the table's `rest` what would keep a screen waiting. `sides` are the two
    runs, or agents, of a comparison. `aspect` is explained instead of quality.
    """

    where: str = ""
    by: tuple[str, ...] = ()
    sort: str | None = None
    limit: int | None = None
    text: bool = False
    redact: bool = False
    trend: bool = False
    hurried: bool = False
    sides: tuple[str, str] | None = None
    aspect: str | None = None


def show(store: Store, name: str, request: Request) -> Table:
    """Ask the store for a view and arrange it as requested.

    Raises `UsageError` or `FilterError` for a request that makes no sense, and the store's errors.
    """
    from riff_tui import view_queries
    from riff_tui.filters import parse

    view = resolve(name)
    _check(view, request)
    table = view_queries.ask(store, view.name, request, parse(request.where))
    signed = partial(replace, filter=request.where.strip(), dump=dump_command(view.name, request))
    return throughout(table, signed)


def dump_command(name: str, request: Request) -> str:
    """The command that prints the same."""
    from riff_tui.views.parts.cells import shell_quoted

    if request.sides is not None:
        return _comparing(name, request, request.sides)
    parts = ["riff-tui dump", name]
    if request.where.strip():
        parts += ["--where", shell_quoted(request.where.strip())]
    parts += [f"--by {key}" for key in request.by]
    if request.sort is not None:
        import shlex

        parts += ["--sort", shlex.quote(request.sort)]
    if request.limit is not None:
        parts.append(f"--limit {request.limit}")
    if request.aspect is not None:
        import shlex

        parts += ["--aspect", shlex.quote(request.aspect)]
    if request.text and spec_of(name).text:
        parts.append("--text")
    return " ".join(parts)


def _comparing(name: str, request: Request, sides: tuple[str, str]) -> str:
    """The command that compares the same, which is one of its own."""
    import shlex

    options = dump_command(name, replace(request, sides=None)).removeprefix(f"riff-tui dump {name}")
    # What begins like an option would be taken for one.
    named = " ".join(shlex.quote(f"run:{side}" if side.startswith("-") else side) for side in sides)
    return f"{spec_of(name).command.replace('A B', named)}{options}"


def _check(view: ViewSpec, request: Request) -> None:
    unknown = [key for key in request.by if key not in BY]
    if unknown:
        raise UsageError(f"--by: rows cannot be split by {unknown[0]!r}; by one of {', '.join(BY)}")
    if request.by and not view.splits:
        able = ", ".join(view.name for view in views() if view.splits)
        raise UsageError(f"--by: the rows of {view.name} cannot be split; those of {able} can")
    if request.aspect is not None and not view.aspects:
        able = ", ".join(view.name for view in views() if view.aspects)
        raise UsageError(f"--aspect: {view.name} is not about one aspect; {able} can be")
    if request.limit is not None and request.limit < 0:
        raise UsageError("--limit cannot be below 0")
