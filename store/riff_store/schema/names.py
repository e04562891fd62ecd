"""Define the tables of names, of the files that were read, and of the history of flow files."""

from __future__ import annotations

import peewee as pw

SCHEMA_VERSION = 1
OLDEST_SCHEMA = 1
COMPUTED_JUDGE = 1


class BaseModel(pw.Model):
    class Meta:
        legacy_table_names = False
        primary_key = False  # each table names its own; one to inherit would be copied for every table


class Named(BaseModel):
    id = pw.AutoField()
    name = pw.TextField(unique=True)


class Flow(Named):
    archetype = pw.TextField(null=True)


class Agent(Named):
    pass


class Persona(Named):
    pass


class Scenario(Named):
    pass


class Caller(Named):
    """Name what played the caller: a script, a model, a program."""


class Segment(Named):
    pass


class Aspect(Named):
    pass


class Label(Named):
    """Keep stop reasons, final states and statuses, what failed first, and tools."""


class Run(Named):
    """Name a run; `written_by` shows who stored its calls: a user at a host, or the address of a CI job."""

    label = pw.TextField(null=True)
    commit = pw.TextField(null=True)
    branch = pw.TextField(null=True)
    written_by = pw.TextField(null=True)


class Judge(BaseModel):
    """Describe a judge: one model behind a name, in one version of its prompt; `(computed)` is one too."""

    id = pw.AutoField()
    name = pw.TextField()
    prompt_hash = pw.TextField(default="")
    model = pw.TextField(default="")

    class Meta:
        indexes = ((("name", "model", "prompt_hash"), True),)


class State(BaseModel):
    """Describe a state of a flow; `outcome` is `success` or `escalation` for terminals that end the work."""

    id = pw.AutoField()
    flow = pw.ForeignKeyField(Flow, index=False)
    name = pw.TextField()
    outcome = pw.TextField(null=True)

    class Meta:
        indexes = ((("flow", "name"), True),)


class Path(BaseModel):
    """Describe what calls touched of their flow: calls that touched the same share one.

    `route` names the states and outcomes in the order in which a call first came to them, null if that is not known,
    and `touched` is a `facts.Touched` as JSON. `digest` represents both.
    """

    id = pw.AutoField()
    digest = pw.BlobField(unique=True)
    route = pw.TextField(null=True)
    touched = pw.TextField()


# Define what was read, and what of it was left out.
class SourceFile(BaseModel):
    """Describe a file that was read; the calls with keys from `first_call` to `last_call` are all that it has."""

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
    first_call = pw.IntegerField(default=0)
    last_call = pw.IntegerField(default=-1)


class SkippedInput(BaseModel):
    """Note what was skipped or changed; of a `replaced` call also what distinguishes it."""

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


# Define what the history of flow files says.
class FlowEdit(BaseModel):
    """Describe a commit that touched the file of a flow, in the order of its repository's history.

    `repository` is the commit that its history begins with. The flow is kept by name, since it may have no calls yet.
    `time` is the author's, in microseconds since the epoch. `merged` shows whether the branch that was checked out
    contains it.
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

    `parents` is a JSON list; a merge that is not an edit has no `commit` here.
    """

    repository = pw.ForeignKeyField(Repository, index=False)
    position = pw.IntegerField()
    commit = pw.BlobField(null=True)
    parents = pw.TextField()

    class Meta:
        primary_key = pw.CompositeKey("repository", "position")
        without_rowid = True


class KnownCommit(BaseModel):
    """Describe which node of its repository has all edits that a commit contains, null if it contains none.

    Ids are bytes, so that those that begin alike are side by side.
    """

    commit = pw.BlobField(primary_key=True)
    repository = pw.ForeignKeyField(Repository, index=False)
    node = pw.IntegerField(null=True)

    class Meta:
        without_rowid = True


EDITS = (FlowEdit, Repository, HistoryNode, KnownCommit)
