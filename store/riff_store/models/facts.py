"""Define calls and all that hangs on them, with keys in place of names."""

from __future__ import annotations

import peewee as pw

from riff_store.interaction import EVENTS, TIMED
from riff_store.models.dimensions import (
    Agent,
    Aspect,
    BaseModel,
    Caller,
    Flow,
    Judge,
    Label,
    Persona,
    Run,
    Scenario,
    Segment,
    State,
)
from riff_store.models.inputs import SourceFile


class Conversation(BaseModel):
    """Hold one call; `started_at` is microseconds since the epoch, `duration_s` seconds.

    `success` says if it was correct and complete, `quality` is operability of this call alone, `computed_quality`
    the same without what judges say of it (docs/metrics.md, section 5); `lost` says if it ended without being served.
    One whose caller failed is not `caller_ok` and errored, whatever its line says of the latter. `filled` says how much
    of what its source may tell is filled in.
    """

    id = pw.AutoField()
    run = pw.ForeignKeyField(Run, index=False)
    name = pw.TextField()
    flow = pw.ForeignKeyField(Flow, index=False)
    agent = pw.ForeignKeyField(Agent, index=False)
    persona = pw.ForeignKeyField(Persona, null=True, index=False)
    scenario = pw.ForeignKeyField(Scenario, null=True, index=False)
    trial = pw.IntegerField()
    started_at = pw.BigIntegerField(null=True)
    duration_s = pw.DoubleField(null=True)
    completed = pw.BooleanField(null=True)
    stop_reason = pw.ForeignKeyField(Label, null=True, index=False)
    final_state = pw.ForeignKeyField(Label, null=True, index=False)
    final_status = pw.ForeignKeyField(Label, null=True, index=False)
    errored = pw.BooleanField()
    error = pw.TextField(null=True)
    error_count = pw.IntegerField()
    defects = pw.IntegerField()
    origin = pw.TextField(null=True)  # null: observed
    source_file = pw.ForeignKeyField(SourceFile)
    line = pw.IntegerField()
    success = pw.IntegerField(null=True)
    quality = pw.DoubleField(null=True)
    computed_quality = pw.DoubleField(null=True)
    lost = pw.IntegerField(null=True)
    caller = pw.ForeignKeyField(Caller, null=True, index=False)
    caller_ok = pw.BooleanField(null=True)
    filled = pw.IntegerField(constraints=[pw.SQL("DEFAULT 0")])

    class Meta:
        indexes = ((("run", "name", "flow", "agent", "trial"), True), (("flow", "agent", "run"), False))


class AspectScore(BaseModel):
    conversation = pw.ForeignKeyField(Conversation, on_delete="CASCADE", index=False)
    aspect = pw.ForeignKeyField(Aspect, index=False)
    judge = pw.ForeignKeyField(Judge, index=False)
    value = pw.DoubleField(null=True)

    class Meta:
        primary_key = pw.CompositeKey("conversation", "aspect", "judge")
        without_rowid = True


class JudgedScore(BaseModel):
    """Hold every verdict that was read; the latest of a judge is copied into `AspectScore`.

    `flow_name`, `agent_name` and `trial` say which call of its run it means, where several go by one name;
    `conversation` is that call, null where there is none or what is said does not decide between several.
    """

    source_file = pw.ForeignKeyField(SourceFile, on_delete="CASCADE", index=False)
    line = pw.IntegerField()
    run = pw.ForeignKeyField(Run, index=False)
    conversation_name = pw.TextField()
    judge = pw.ForeignKeyField(Judge, index=False)
    aspect = pw.ForeignKeyField(Aspect, index=False)
    score = pw.DoubleField(null=True)
    judged_at = pw.BigIntegerField(null=True)
    model = pw.TextField(null=True)
    rationale = pw.TextField(null=True)
    prompt_version = pw.TextField(null=True)
    evidence = pw.TextField(null=True)  # a JSON list of turn numbers
    flow_name = pw.TextField(null=True)
    agent_name = pw.TextField(null=True)
    trial = pw.IntegerField(null=True)
    conversation = pw.ForeignKeyField(Conversation, null=True, index=False)

    class Meta:
        primary_key = pw.CompositeKey("source_file", "line")
        without_rowid = True
        indexes = ((("run", "conversation_name"), False),)


JudgedScore.add_index(
    JudgedScore.run,
    JudgedScore.conversation_name,
    where=JudgedScore.conversation.is_null(),
    name="judged_score_of_no_call",
)


class StateScore(BaseModel):
    """Hold the metrics of a state in a call; `position` is the place of its first visit among the call's visits."""

    conversation = pw.ForeignKeyField(Conversation, on_delete="CASCADE", index=False)
    state = pw.ForeignKeyField(State, index=False)
    segment = pw.ForeignKeyField(Segment, index=False)
    progress = pw.IntegerField()
    stall = pw.IntegerField(null=True)
    escalation = pw.IntegerField()
    revisit = pw.IntegerField()
    dwell_turns = pw.DoubleField()
    latency_p95_ms = pw.DoubleField(null=True)
    guard_error = pw.IntegerField()
    slot_fill_rate = pw.DoubleField(null=True)
    lost = pw.IntegerField(null=True)
    position = pw.IntegerField(null=True)

    class Meta:
        primary_key = pw.CompositeKey("conversation", "state")
        without_rowid = True


class OutcomeVisit(BaseModel):
    """Say at which place among its visits a call first came to a terminal that ends the work."""

    conversation = pw.ForeignKeyField(Conversation, on_delete="CASCADE", index=False)
    state = pw.ForeignKeyField(State, index=False)
    position = pw.IntegerField()

    class Meta:
        primary_key = pw.CompositeKey("conversation", "state")
        without_rowid = True


class CallFailure(BaseModel):
    """Say where a call that was not served first went wrong (docs/metrics.md, section 15).

    `last_ok` is the state before, null at the start; `first_failed` is null where no event tells. `kind` is what
    went wrong there, `detail` the guard or tool, `error` its message without numbers, ids and quotes.
    """

    conversation = pw.ForeignKeyField(Conversation, primary_key=True, on_delete="CASCADE")
    last_ok = pw.ForeignKeyField(State, null=True, index=False)
    first_failed = pw.ForeignKeyField(State, null=True, index=False)
    kind = pw.TextField()
    detail = pw.ForeignKeyField(Label, null=True, index=False)
    error = pw.ForeignKeyField(Label, null=True, index=False)


class Transition(BaseModel):
    conversation = pw.ForeignKeyField(Conversation, on_delete="CASCADE", index=False)
    from_state = pw.ForeignKeyField(State, index=False)
    to_state = pw.ForeignKeyField(State, index=False)
    n = pw.IntegerField()

    class Meta:
        primary_key = pw.CompositeKey("conversation", "from_state", "to_state")
        without_rowid = True


class ExpectedStep(BaseModel):
    """Describe a reference action of a call's task, in the order of the task."""

    conversation = pw.ForeignKeyField(Conversation, on_delete="CASCADE", index=False)
    position = pw.IntegerField()
    state = pw.ForeignKeyField(State, index=False)
    by = pw.TextField()
    called = pw.BooleanField()
    matched = pw.BooleanField(null=True)

    class Meta:
        primary_key = pw.CompositeKey("conversation", "position")
        without_rowid = True


class CallInteraction(BaseModel):
    """Sum how the sides of a voice call shared the line: what `Interaction` has, latencies in seconds."""

    conversation = pw.ForeignKeyField(Conversation, primary_key=True, on_delete="CASCADE")


for _event in EVENTS:
    CallInteraction._meta.add_field(_event, pw.DoubleField() if _event in TIMED else pw.IntegerField())


class TextDictionary(BaseModel):
    """Hold a zstd dictionary that was trained on transcripts; those that it compressed are read with it."""

    id = pw.AutoField()
    body = pw.BlobField()


class Transcript(BaseModel):
    """Hold turns and events of one call, compressed with zstd, and by which dictionary (null: by none)."""

    conversation = pw.ForeignKeyField(Conversation, primary_key=True, on_delete="CASCADE")
    body = pw.BlobField()
    dictionary = pw.ForeignKeyField(TextDictionary, null=True, index=False)
