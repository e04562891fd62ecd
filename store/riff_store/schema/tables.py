"""Define the tables of calls and what hangs on them by keys, of notes, flow files, edits, and chunks of columns."""

from __future__ import annotations

from typing import Any

import peewee as pw

from riff_store.interaction import EVENTS, TIMED
from riff_store.schema.names import (
    EDITS,
    Agent,
    Aspect,
    BaseModel,
    Caller,
    Flow,
    Judge,
    Label,
    Path,
    Persona,
    Run,
    Scenario,
    Segment,
    SkippedInput,
    SourceFile,
    State,
)
from riff_store.schema.sums import SUMMED


# Define calls and all that hangs on them, with keys in place of names.
class Conversation(BaseModel):
    """Keep one call; `started_at` is microseconds since the epoch, `duration_s` seconds.

    `success` shows whether it was correct and complete, `quality` is operability of this call alone, `computed_quality`
    the same without what judges say about it (docs/metrics.md, section 5); `lost` shows whether it ended without being
    served. One whose caller failed is not `caller_ok` and errored, whatever its line reports of the latter. `filled`
    shows how much of what its source may give is filled in. `typed` is above 0 if most of its turns took as long as
    typing does.
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
    source_file = pw.ForeignKeyField(SourceFile, index=False)
    line = pw.IntegerField()
    success = pw.IntegerField(null=True)
    quality = pw.DoubleField(null=True)
    computed_quality = pw.DoubleField(null=True)
    lost = pw.IntegerField(null=True)
    caller = pw.ForeignKeyField(Caller, null=True, index=False)
    caller_ok = pw.BooleanField(null=True)
    typed = pw.IntegerField(null=True)
    filled = pw.IntegerField(constraints=[pw.SQL("DEFAULT 0")])
    path = pw.ForeignKeyField(Path, null=True, index=False)

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
    """Keep every verdict that was read; the latest of a judge is copied into `AspectScore`.

    `conversation` is the call that it is of, null if there is none or what is given does not decide between several:
    only then `run` and `conversation_name` are kept, which the call has too. `flow_name`, `agent_name` and `trial` show
    which call of its run it means, where several go by one name.
    """

    source_file = pw.ForeignKeyField(SourceFile, on_delete="CASCADE", index=False)
    line = pw.IntegerField()
    run = pw.ForeignKeyField(Run, null=True, index=False)
    conversation_name = pw.TextField(null=True)
    judge = pw.ForeignKeyField(Judge, index=False)
    aspect = pw.ForeignKeyField(Aspect, index=False)
    score = pw.DoubleField(null=True)
    judged_at = pw.BigIntegerField(null=True)
    rationale = pw.TextField(null=True)
    prompt_version = pw.TextField(null=True)
    evidence = pw.TextField(null=True)  # a JSON list of turn numbers
    flow_name = pw.TextField(null=True)
    agent_name = pw.TextField(null=True)
    trial = pw.IntegerField(null=True)
    conversation = pw.ForeignKeyField(Conversation, null=True)

    class Meta:
        primary_key = pw.CompositeKey("source_file", "line")
        without_rowid = True


JudgedScore.add_index(
    JudgedScore.run,
    JudgedScore.conversation_name,
    where=JudgedScore.conversation.is_null(),
    name="judged_score_of_no_call",
)


class StateScore(BaseModel):
    """Keep the metrics of a state in a call; `position` is the place of its first visit among the call's visits."""

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
    slow = pw.DoubleField(null=True)

    class Meta:
        primary_key = pw.CompositeKey("conversation", "state")
        without_rowid = True


class ToolScore(BaseModel):
    """Keep how a tool fared in a state of a call; `state` is the key of it, 0 if it is not known."""

    conversation = pw.ForeignKeyField(Conversation, on_delete="CASCADE", index=False)
    tool = pw.ForeignKeyField(Label, index=False)
    state = pw.IntegerField()
    n = pw.IntegerField()
    errors = pw.IntegerField()
    unrecovered = pw.IntegerField()
    bad_arguments = pw.IntegerField(null=True)
    latency_p95_ms = pw.DoubleField(null=True)
    failed = pw.IntegerField()

    class Meta:
        primary_key = pw.CompositeKey("conversation", "tool", "state")
        without_rowid = True


class OutcomeVisit(BaseModel):
    """Record at which place among its visits a call first came to a terminal that ends the work."""

    conversation = pw.ForeignKeyField(Conversation, on_delete="CASCADE", index=False)
    state = pw.ForeignKeyField(State, index=False)
    position = pw.IntegerField()

    class Meta:
        primary_key = pw.CompositeKey("conversation", "state")
        without_rowid = True


class CallFailure(BaseModel):
    """Keep what went wrong first in a failed call and was not made good (docs/metrics.md, section 15).

    The columns are the fields of `facts.Failure`; `state`, which is blamed, is null if nothing shows.
    """

    conversation = pw.ForeignKeyField(Conversation, primary_key=True, on_delete="CASCADE")
    last_ok = pw.ForeignKeyField(State, null=True, index=False)
    state = pw.ForeignKeyField(State, null=True, index=False)
    kind = pw.TextField()
    detail = pw.ForeignKeyField(Label, null=True, index=False)
    error = pw.ForeignKeyField(Label, null=True, index=False)
    who = pw.TextField()
    tool = pw.ForeignKeyField(Label, null=True, index=False)
    segment = pw.ForeignKeyField(Segment, null=True, index=False)
    turn = pw.IntegerField(null=True)
    t = pw.DoubleField(null=True)
    list = pw.TextField(null=True)
    place = pw.IntegerField(null=True)


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
    """Keep a zstd dictionary that was trained on transcripts; those that it compressed are read with it."""

    id = pw.AutoField()
    body = pw.BlobField()


class Transcript(BaseModel):
    """Keep turns and events of one call, compressed with zstd, and by which dictionary (null: by none)."""

    conversation = pw.ForeignKeyField(Conversation, primary_key=True, on_delete="CASCADE")
    body = pw.BlobField()
    dictionary = pw.ForeignKeyField(TextDictionary, null=True, index=False)


class ForgottenCall(BaseModel):
    """Remember a call that was taken out of the store, by digests of what names it, so that no file brings it back.

    `keeps_notes` shows whether what people wrote on it stayed.
    """

    conversation = pw.BlobField()
    run = pw.BlobField()
    flow = pw.BlobField()
    agent = pw.BlobField()
    trial = pw.IntegerField()
    keeps_notes = pw.BooleanField()

    class Meta:
        primary_key = pw.CompositeKey("conversation", "run", "flow", "agent", "trial")
        without_rowid = True


# Define what people wrote on calls, and the calls that were drawn for them to read.
class Annotation(BaseModel):
    """Keep what a person wrote on a call or a place in it.

    The call is kept by name, since it may come later, or be replaced: what people wrote stays. `labels` is a JSON list.
    `source_file` is the file that it was read from, null if it was written here.
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
    """Keep how the reading list was drawn; there is one at most. `mix` is a JSON object of counts by stratum."""

    id = pw.IntegerField(primary_key=True)
    n = pw.IntegerField()
    mix = pw.TextField()
    seed = pw.IntegerField()
    expression = pw.TextField()
    drawn_at = pw.BigIntegerField()


class SampledCall(BaseModel):
    """Keep a call of the reading list by its names, so that it is found again once it was replaced.

    The `figure` of an outlier is what it is far out in, `value` and `median` that of the call and of its flow.
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


# Define what flow files say.
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
    """Keep the contract that a flow file gives, as JSON, for transcripts that bring none."""

    flow = pw.ForeignKeyField(Flow, index=False)
    source_file = pw.ForeignKeyField(SourceFile, on_delete="CASCADE")
    body = pw.TextField()

    class Meta:
        primary_key = pw.CompositeKey("flow", "source_file")
        without_rowid = True


# Define the column chunks: facts of calls kept once more, packed by column (`riff_store.arrays`).
class ColumnChunk(BaseModel):
    """Keep one column of the `n` rows that a row group has: the calls of a range of keys, or rows that hang on them.

    `name` shows of which rows and what: `call.success`, `score.5.2` (aspect 5, judge 2), `state.dwell_turns`.
    """

    name = pw.TextField()
    row_group = pw.IntegerField()
    n = pw.IntegerField()
    body = pw.BlobField()

    class Meta:
        primary_key = pw.CompositeKey("name", "row_group")
        indexes = ((("row_group",), False),)


DIMENSIONS = (Flow, Agent, Persona, Scenario, Caller, Segment, Aspect, Label, Run, Judge, State, Path)
SOURCES = (SourceFile, SkippedInput, ForgottenCall)
OF_CALLS = (
    AspectScore, StateScore, ToolScore, OutcomeVisit, CallFailure, Transition, ExpectedStep, CallInteraction, Transcript
)  # fmt: skip
FACTS = (Conversation, JudgedScore, TextDictionary, *OF_CALLS)
ANNOTATIONS = (Annotation, Sample, SampledCall)
DESCRIBED = (DescribedState, DescribedEdge, FlowContract)
ROWS = (*DIMENSIONS, *SOURCES, *FACTS, *ANNOTATIONS, *DESCRIBED, *EDITS)
"""The tables of all that is neither summed nor packed from the rows of others."""
ROLLUPS: tuple[Any, ...] = tuple(of for each in SUMMED for of in (each.rollup, each.total) if of is not None)
ALL: tuple[Any, ...] = (*ROWS, *ROLLUPS, ColumnChunk)
