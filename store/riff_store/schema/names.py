"""Define the tables of names, and of the files that were read."""

from __future__ import annotations

import peewee as pw


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
