"""Say what is wanted of a view, and which command prints it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from riff_store.predicates import Predicate


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

    `at` is the place of the cursor, `store` is named if it is not empty.
    """
    from riff_tui.views.parts.cells import shell_quoted

    parts = [f"riff-tui ui {name}"]
    if request.where.strip():
        parts += ["--where", shell_quoted(request.where.strip())]
    if request.aspect:
        parts += ["--aspect", _quoted(request.aspect)]
    if request.sort:
        parts += ["--sort", _quoted(request.sort)]
    if at:
        parts += ["--at", _quoted(at)]
    if store:
        parts += ["--store", shell_quoted(store)]
    return " ".join(parts)


def _with_sides(command: str, sides: tuple[str, str]) -> str:
    """Return the command of a comparison with both sides in the place of A and B."""
    # What begins like an option would be taken for one.
    named = " ".join(_quoted(f"run:{side}" if side.startswith("-") else side) for side in sides)
    return command.replace("A B", named)


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)
