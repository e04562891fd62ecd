"""Say what is wanted of a view, and which command prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from riff_store.filters.predicates import Predicate


@dataclass(frozen=True, slots=True)
class Request:
    """Hold what is wanted of a view: a filter, further keys, a column to sort by, how many rows.

    `text` puts into a conversation what was said in it, `redact` takes out of that what points at a person.
    `trend` adds to each row its values in its last runs, oldest first. With `defer` the table leaves to its
    `deferred` load what would keep a screen waiting. `sides` are the two runs, or agents, of a comparison.
    `aspect` is explained instead of quality, `k` repeats of a call are drawn at a time. `predicate` is what `where`
    says, if that is parsed already.
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
    predicate: Predicate | None = None


def dump_command(name: str, request: Request) -> str:
    """Return the command that prints a view as requested."""
    from riff_tui.views.parts.cells import shell_quoted

    spec = spec_of(name)
    parts = [f"riff-tui dump {name}" if request.sides is None else _with_sides(spec.command, request.sides)]
    if request.where.strip():
        parts += ["--where", shell_quoted(request.where.strip())]
    parts += [f"--by {key}" for key in request.by]
    if request.sort is not None:
        parts += ["--sort", _quoted(request.sort)]
    if request.limit is not None:
        parts.append(f"--limit {request.limit}")
    if request.aspect is not None:
        parts += ["--aspect", _quoted(request.aspect)]
    if request.k is not None:
        parts.append(f"--k {request.k}")
    if request.text and spec.text and request.sides is None:
        parts.append("--text")
    return " ".join(parts)


def ui_command(name: str, request: Request, *, at: str = "", store: str = "") -> str:
    """Return the command that opens the explorer on a view as requested.

    `at` is the moment of a call that the cursor is on, `store` is named if it is not empty.
    """
    from riff_tui.views.parts.cells import shell_quoted

    parts = [f"riff-tui ui {name}", *map(_side, request.sides or ())]
    if request.where.strip():
        parts += ["--where", shell_quoted(request.where.strip())]
    if request.aspect:
        parts += ["--aspect", _quoted(request.aspect)]
    parts += [f"--by {key}" for key in request.by]
    if request.sort:
        parts += ["--sort", _quoted(request.sort)]
    if at:
        parts += ["--at", _quoted(at)]
    if store:
        parts += ["--store", shell_quoted(store)]
    return " ".join(parts)


def _with_sides(command: str, sides: tuple[str, str]) -> str:
    """Return the command of a comparison with both sides in the place of A and B."""
    return command.replace("A B", " ".join(map(_side, sides)))


def _side(side: str) -> str:
    """Return a side as a word; what begins like an option would be taken for one."""
    return _quoted(f"run:{side}" if side.startswith("-") else side)


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)
