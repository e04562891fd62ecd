"""Define what people wrote on calls, and the calls that were drawn for them to read."""

from __future__ import annotations

import peewee as pw

from riff_store.models.dimensions import BaseModel
from riff_store.models.inputs import SourceFile


class Annotation(BaseModel):
    """Hold what a person wrote on a call or a place in it.

    The call is kept by name, since it may come later, or be replaced: what people wrote stays. `labels` is a JSON list.
    `source_file` is the file that it was read from, null where it was written here.
    """

    id = pw.TextField(primary_key=True)
    source_file = pw.ForeignKeyField(SourceFile, null=True)
    run_name = pw.TextField(null=True)
    flow_name = pw.TextField(null=True)
    agent_name = pw.TextField(null=True)
    conversation_name = pw.TextField()
    trial = pw.IntegerField(null=True)
    turn = pw.IntegerField(null=True)
    state_name = pw.TextField(null=True)
    verdict = pw.TextField(null=True)
    code = pw.TextField(null=True)
    note = pw.TextField(null=True)
    labels = pw.TextField(default="[]")
    author = pw.TextField()
    at = pw.BigIntegerField(null=True)
    supersedes = pw.TextField(null=True)
    deleted = pw.BooleanField()
    editor = pw.TextField(null=True)

    class Meta:
        indexes = ((("conversation_name",), False),)


class Sample(BaseModel):
    """Hold how the reading list was drawn; there is one at most. `mix` is a JSON object of counts by stratum."""

    id = pw.IntegerField(primary_key=True)
    n = pw.IntegerField()
    mix = pw.TextField()
    seed = pw.IntegerField()
    expression = pw.TextField()
    drawn_at = pw.BigIntegerField()


class SampledCall(BaseModel):
    """Hold a call of the reading list by its names, so that it is found again once it was replaced.

    Of an outlier `figure` is what it lies far out in, `value` and `median` that of the call and of its flow.
    """

    position = pw.IntegerField(primary_key=True)
    run_name = pw.TextField()
    flow_name = pw.TextField()
    agent_name = pw.TextField()
    conversation_name = pw.TextField()
    trial = pw.IntegerField()
    stratum = pw.TextField()
    figure = pw.TextField(null=True)
    value = pw.DoubleField(null=True)
    median = pw.DoubleField(null=True)
