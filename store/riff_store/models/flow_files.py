"""Define what flow files say, and what the history of these files says."""

from __future__ import annotations

import peewee as pw

from riff_store.models.dimensions import BaseModel, Flow, Named, Segment, State
from riff_store.models.inputs import SourceFile


class DescribedState(BaseModel):
    state = pw.ForeignKeyField(State, index=False)
    source_file = pw.ForeignKeyField(SourceFile, on_delete="CASCADE")
    segment = pw.ForeignKeyField(Segment, index=False)
    required_slots = pw.TextField(default="[]")

    class Meta:
        primary_key = pw.CompositeKey("state", "source_file")
        without_rowid = True


class DescribedEdge(BaseModel):
    from_state = pw.ForeignKeyField(State, index=False)
    to_state = pw.ForeignKeyField(State, index=False)
    source_file = pw.ForeignKeyField(SourceFile, on_delete="CASCADE")

    class Meta:
        primary_key = pw.CompositeKey("from_state", "to_state", "source_file")
        without_rowid = True


class FlowContract(BaseModel):
    """Hold the contract that a flow file gives, as JSON, for transcripts that bring none."""

    flow = pw.ForeignKeyField(Flow, index=False)
    source_file = pw.ForeignKeyField(SourceFile, on_delete="CASCADE")
    body = pw.TextField()

    class Meta:
        primary_key = pw.CompositeKey("flow", "source_file")
        without_rowid = True


class FlowEdit(BaseModel):
    """Describe a commit that touched the file of a flow, in the order of its repository's history.

    `repository` is the commit that its history begins with. The flow is kept by name, since it may have
    no calls yet. `time` is the author's, in microseconds since the epoch. `merged` says whether the branch that
    was checked out contains it.
    """

    repository = pw.TextField()
    flow_name = pw.TextField()
    position = pw.IntegerField()
    commit = pw.TextField()
    time = pw.BigIntegerField()
    author = pw.TextField()
    subject = pw.TextField()
    path = pw.TextField()
    merged = pw.BooleanField(constraints=[pw.SQL("DEFAULT 1")])

    class Meta:
        primary_key = pw.CompositeKey("repository", "flow_name", "position")
        without_rowid = True


class Repository(Named):
    """Name a repository by the commit that its history begins with."""


class HistoryNode(BaseModel):
    """Describe an edit, or a merge of lines with different edits, by the positions of those right before it.

    `parents` is a JSON list; a merge that is no edit has no `commit` here.
    """

    repository = pw.ForeignKeyField(Repository, index=False)
    position = pw.IntegerField()
    commit = pw.BlobField(null=True)
    parents = pw.TextField()

    class Meta:
        primary_key = pw.CompositeKey("repository", "position")
        without_rowid = True


class KnownCommit(BaseModel):
    """Say which node of its repository holds all edits that a commit contains, null where it contains none.

    Ids are bytes, so that those that begin alike lie side by side.
    """

    commit = pw.BlobField(primary_key=True)
    repository = pw.ForeignKeyField(Repository, index=False)
    node = pw.IntegerField(null=True)

    class Meta:
        without_rowid = True
