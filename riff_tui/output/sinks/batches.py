"""Make lines of batches: a text once for each value, joined once for what rows share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from riff_tui.batch import Batch
from riff_tui.table import Column


def lines_of(
    batch: Batch, columns: Sequence[Column], text: Callable[[Column, Any], str], separator: str
) -> Iterator[str]:
    """Yield the line of each row: the text of a value in each column, and a separator between them."""
    parts: list[Iterable[str]] = []
    for is_shared, some in groupby(columns, key=lambda column: column.key in batch.shared):
        held = batch.shared if is_shared else batch.single
        cells = [_texts(column, held[column.key], text) for column in some]
        joined = map(separator.join, zip(*cells, strict=True))
        parts.append(batch.spread(joined) if is_shared else joined)
    return map(separator.join, zip(*parts, strict=True))


def _texts(column: Column, values: Sequence[Any], text: Callable[[Column, Any], str]) -> Iterable[str]:
    texts = {value: text(column, value) for value in set(values)}
    if column.kind == "number" and 0.0 in texts:
        texts[0.0] = text(column, 0.0)  # and not that of -0.0, which is equal
    return map(texts.__getitem__, values)
