"""Give scripts the rows of a view, as JSON has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from riff_tui.catalog import show
from riff_tui.output.sinks.json import dumped
from riff_tui.output.sinks.parts import Options
from riff_tui.request import Request

if TYPE_CHECKING:
    from riff_store.database import Store


def records(
    store: Store,
    view: str,
    where: str,
    by: tuple[str, ...],
    limit: int | None,
    sort: str | None,
    aspect: str | None,
    sides: tuple[str, str] | None,
) -> list[dict[str, Any]]:
    """Return the records of a view's rows; raises `UsageError`, `FilterError` and the store's errors."""
    request = Request(where, by, sort, limit, text=True, trend=True, sides=sides, aspect=aspect)
    with store.snapshot():
        table = show(store, view, request)
        return [json.loads(dumped(row.record, Options())) for row in table.rows]
