"""Define the rollups: sums of billionths, so that they are whole numbers and add up the same in any order.

Keys are declared before sums: SQLite 3.40 checks NOT NULL of a table without rowid wrongly otherwise.
"""

from __future__ import annotations

import peewee as pw

from riff_store.models.dimensions import Agent, Aspect, BaseModel, Flow, Judge, Run, Segment, State


class _Pair(BaseModel):
    flow = pw.ForeignKeyField(Flow, index=False)
    agent = pw.ForeignKeyField(Agent, index=False)


class _Cell(_Pair):
    run = pw.ForeignKeyField(Run, index=False)


class CallRollup(_Cell):
    """Sum the calls of a cell: `n` count, `excluded` are errored; the first of all started `first_at`.

    Of `success_n` calls `success` were correct and complete, of `lost_n` so many were `lost`; quality is known of
    `quality_n`. Of the excluded ones `caller_failed` are those whose caller failed; of `caller_success_n` of these it
    is known how they ended, and `caller_success` were correct and complete all the same.
    """

    n = pw.IntegerField()
    excluded = pw.IntegerField()
    first_at = pw.BigIntegerField(null=True)
    success_n = pw.IntegerField()
    success = pw.IntegerField()
    lost_n = pw.IntegerField()
    lost = pw.IntegerField()
    quality_n = pw.IntegerField()
    quality = pw.BigIntegerField()
    quality_squares = pw.DoubleField()
    computed_quality = pw.BigIntegerField()
    computed_quality_squares = pw.DoubleField()
    caller_failed = pw.IntegerField()
    caller_success_n = pw.IntegerField()
    caller_success = pw.IntegerField()

    class Meta:
        primary_key = pw.CompositeKey("flow", "agent", "run")
        without_rowid = True


class InteractionRollup(_Cell):
    """Sum how the sides shared the line in the voice calls of a cell, errored ones apart; latencies are billionths."""

    errored = pw.BooleanField()
    calls = pw.IntegerField()
    response = pw.IntegerField()
    no_response = pw.IntegerField()
    response_latency = pw.BigIntegerField()
    yielded = pw.IntegerField()
    no_yield = pw.IntegerField()
    yield_latency = pw.BigIntegerField()
    backchannel_correct = pw.IntegerField()
    backchannel_error = pw.IntegerField()
    vocal_tic_correct = pw.IntegerField()
    vocal_tic_error = pw.IntegerField()
    non_directed_correct = pw.IntegerField()
    non_directed_error = pw.IntegerField()
    agent_interruptions = pw.IntegerField()

    class Meta:
        primary_key = pw.CompositeKey("flow", "agent", "run", "errored")
        without_rowid = True


class _AspectSums(BaseModel):
    aspect = pw.ForeignKeyField(Aspect, index=False)
    judge = pw.ForeignKeyField(Judge, index=False)
    n = pw.IntegerField()
    total = pw.BigIntegerField()
    squares = pw.DoubleField()
    top = pw.IntegerField()
    unscored = pw.IntegerField()


class AspectRollup(_Cell, _AspectSums):
    """Sum one aspect of a (flow, agent, run); `top` counts values of 10, `unscored` the nulls."""

    class Meta:
        primary_key = pw.CompositeKey("flow", "agent", "run", "aspect", "judge")
        without_rowid = True


class AspectTotal(_Pair, _AspectSums):
    """Sum one aspect of a (flow, agent) over all runs."""

    class Meta:
        primary_key = pw.CompositeKey("flow", "agent", "aspect", "judge")
        without_rowid = True


class _StateSums(BaseModel):
    state = pw.ForeignKeyField(State, index=False)
    segment = pw.ForeignKeyField(Segment, index=False)
    n = pw.IntegerField()
    progress = pw.IntegerField()
    stall_n = pw.IntegerField()
    stall = pw.IntegerField()
    lost_n = pw.IntegerField()
    lost = pw.IntegerField()
    escalation = pw.IntegerField()
    revisit = pw.IntegerField()
    revisit_squares = pw.DoubleField()
    dwell = pw.BigIntegerField()
    dwell_squares = pw.DoubleField()
    latency_n = pw.IntegerField()
    latency = pw.BigIntegerField()
    latency_squares = pw.DoubleField()
    guard_error = pw.IntegerField()
    guard_error_squares = pw.DoubleField()
    slot_n = pw.IntegerField()
    slot = pw.BigIntegerField()
    slot_squares = pw.DoubleField()


class StateRollup(_Cell, _StateSums):
    """Sum the state rows of a (flow, state, agent, run); latency in seconds."""

    class Meta:
        primary_key = pw.CompositeKey("flow", "agent", "run", "state", "segment")
        without_rowid = True


class StateTotal(_Pair, _StateSums):
    """Sum the state rows of a (flow, state, agent) over all runs."""

    class Meta:
        primary_key = pw.CompositeKey("flow", "agent", "state", "segment")
        without_rowid = True


class _TransitionSums(BaseModel):
    from_state = pw.ForeignKeyField(State, index=False)
    to_state = pw.ForeignKeyField(State, index=False)
    n = pw.IntegerField()


class TransitionRollup(_Cell, _TransitionSums):
    """Count the transitions of a (flow, agent, run)."""

    class Meta:
        primary_key = pw.CompositeKey("flow", "agent", "run", "from_state", "to_state")
        without_rowid = True


class TransitionTotal(_Pair, _TransitionSums):
    """Count the transitions of a (flow, agent) over all runs."""

    class Meta:
        primary_key = pw.CompositeKey("flow", "agent", "from_state", "to_state")
        without_rowid = True


def _sums(table: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.name for field in table._meta.sorted_fields if not isinstance(field, pw.ForeignKeyField))


CALL_SUMS = tuple(name for name in _sums(CallRollup) if name != "first_at")
ASPECT_SUMS = _sums(AspectTotal)
STATE_SUMS = _sums(StateTotal)
"""The columns of sums, in the order in which queries and rollups name them."""
