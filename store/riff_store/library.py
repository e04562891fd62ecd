"""Ask a store for a view from a script."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from riff_store.database import Store, open_store
from riff_store.errors import RiffError

_VIEWS = "riff_tui.records"


def ask(
    store: Store | str | os.PathLike[str],
    view: str,
    where: str | None = None,
    by: str | Sequence[str] | None = None,
    limit: int | None = None,
    *,
    sort: str | None = None,
    aspect: str | None = None,
    sides: tuple[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Return the rows of a view, as `riff-tui dump VIEW --format json` has them.

    `where` is a filter, `by` splits the rows, `sort` orders them (`-` before a column for downwards), `aspect` is what
    `effects` explains and `sides` are what `compare` and `failures` compare. Numbers are unrounded, what is not
    measured is `None`. Raises `RiffError` for what makes no sense and where riff-tui is not installed.
    """
    try:
        views = import_module(_VIEWS)
    except ModuleNotFoundError as error:
        if error.name is None or not _VIEWS.startswith(error.name):
            raise
        raise RiffError("views come with riff-tui, which is not installed", "pip install riff-tui") from error
    if not isinstance(store, Store):
        with open_store(os.fspath(store)) as opened:
            return ask(opened, view, where, by, limit, sort=sort, aspect=aspect, sides=sides)
    keys = (by,) if isinstance(by, str) else tuple(by or ())
    rows: list[dict[str, Any]] = views.records(store, view, where or "", keys, limit, sort, aspect, sides)
    return rows
