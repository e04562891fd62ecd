"""Copy a store into another one, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from riff_store import schema
from riff_store.database import Store
from riff_store.errors import UsageError

AT_ONCE = 5000
BODIES_AT_ONCE = 100
"""How many rows are held at once: of tables with packed bodies, each of which may be large, far fewer."""
_HELD = ("conversation", "judged_score", "flow", "flow_edit", "annotation", "source_file", "forgotten_call")


def copy_store(
    source: Store, target: Store, *, replace: bool = False, progress: Callable[[int], None] = lambda rows: None
) -> int:
    """Copy all rows of a store, keys and all, in one transaction; return how many there are.

    What the target contained before is deleted. Raises `UsageError` if it has anything, unless `replace` is true.
    `progress` is called with the number of rows that were copied since it was called last.
    """
    copied = 0
    with source.snapshot(), target.writing():
        if not replace and _holds_anything(target):
            raise UsageError(f"{target.location}: the store is not empty", "add --replace to overwrite it")
        for model in reversed(schema.ALL):
            target.connection.execute(f'DELETE FROM "{model._meta.table_name}"')
        for model in schema.ALL:
            for rows in _chunks(source, model):
                target.connection.insert(model, list(chain.from_iterable(rows)))
                copied += len(rows)
                progress(len(rows))
        target.engine.settle()
    return copied


def row_count(store: Store) -> int:
    """Count all rows of a store."""
    with store.snapshot():
        # SQLite counts a table without a condition in one step, which nothing ends.
        counting = 'SELECT COUNT(*) FROM "{}" WHERE TRUE'
        counts = (store.execute_sql(counting.format(model._meta.table_name)) for model in schema.ALL)
        return sum(int(count) for ((count,),) in counts)


def _chunks(store: Store, model: type[schema.BaseModel]) -> Iterator[list[Sequence[Any]]]:
    fields = ", ".join(f'"{field.column_name}"' for field in model._meta.sorted_fields)
    keys = ", ".join(f'"{field.column_name}"' for field in model._meta.get_primary_keys())
    at_once = BODIES_AT_ONCE if any(each.field_type == "BLOB" for each in model._meta.sorted_fields) else AT_ONCE
    rows = store.engine.stream(f'SELECT {fields} FROM "{model._meta.table_name}" ORDER BY {keys}', at_once)
    while chunk := list(islice(rows, at_once)):
        yield chunk


def _holds_anything(store: Store) -> bool:
    held = " UNION ALL ".join(f"SELECT 1 FROM {table}" for table in _HELD)
    return bool(store.execute_sql(f"SELECT 1 FROM ({held}) held LIMIT 1"))
