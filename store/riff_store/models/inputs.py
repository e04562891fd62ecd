"""Define what was read, and what of it was left out."""

from __future__ import annotations

import peewee as pw

from riff_store.models.dimensions import BaseModel


class SourceFile(BaseModel):
    id = pw.AutoField()
    path = pw.TextField(unique=True)
    kind = pw.TextField()
    sha256 = pw.TextField()
    size = pw.IntegerField()
    reader = pw.IntegerField()
    with_text = pw.BooleanField()
    context = pw.TextField(default="")
    conversations = pw.IntegerField(default=0)
    scores = pw.IntegerField(default=0)
    skipped = pw.IntegerField(default=0)


class SkippedInput(BaseModel):
    """Note what was not taken as it stood; of a `replaced` call also what tells it apart."""

    id = pw.AutoField()
    source_file = pw.ForeignKeyField(SourceFile, on_delete="CASCADE")
    kind = pw.TextField()
    line = pw.IntegerField(null=True)
    reason = pw.TextField()
    run = pw.TextField(null=True)
    conversation = pw.TextField(null=True)
    flow = pw.TextField(null=True)
    agent = pw.TextField(null=True)
    trial = pw.IntegerField(null=True)


SkippedInput.add_index(SkippedInput.source_file, where=SkippedInput.kind == "replaced", name="skipped_input_replaced")
