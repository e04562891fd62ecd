"""Give scripts the rows of a view, as JSON has them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from riff_store.database import Store, open_store
from riff_tui.catalog import Request, show
from riff_tui.output.sinks.json import dumped
from riff_tui.output.sinks.parts import Options


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
    measured is `None`. Raises `RiffError` for what makes no sense.
    """
    if not isinstance(store, Store):
        with open_store(os.fspath(store)) as opened:
            return ask(opened, view, where, by, limit, sort=sort, aspect=aspect, sides=sides)
    keys = (by,) if isinstance(by, str) else tuple(by or ())
    request = Request(
        where or "", keys, sort, limit, text=True, trend=True, sides=sides, aspect=aspect, store=store.location
    )
    with store.snapshot():
        table = show(store, view, request)
        return [json.loads(dumped(table.record_of(row), Options())) for row in table.rows]
