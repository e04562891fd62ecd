"""Define the column chunks: facts of calls kept once more, packed by column (`riff_store.arrays`)."""

from __future__ import annotations

import peewee as pw

from riff_store.models.dimensions import BaseModel


class ColumnChunk(BaseModel):
    """Hold one column of the `n` rows that a row group has: the calls of a range of keys, or rows that hang on them.

    `name` says of which rows and what: `call.success`, `score.5.2` (aspect 5, judge 2), `state.dwell_turns`.
    """

    name = pw.TextField()
    row_group = pw.IntegerField()
    n = pw.IntegerField()
    body = pw.BlobField()

    class Meta:
        primary_key = pw.CompositeKey("name", "row_group")
        indexes = ((("row_group",), False),)
