"""Define the tables of the store.

Text names live in dimension tables, facts hold integer keys. Models are not bound to a
database: a query is executed on the `Store` that asks.
"""

from __future__ import annotations

from riff_store import orm as orm
from riff_store.schema.sums import (
    ASPECTS,
    CALLS,
    INTERACTION,
    STATES,
    STEPS,
    SUMMED,
    AspectRollup,
    AspectSums,
    AspectTotal,
    CallRollup,
    CallSums,
    InteractionRollup,
    StateRollup,
    StateSums,
    StateTotal,
    Sum,
    Summed,
    TransitionRollup,
    TransitionTotal,
)
from riff_store.schema.tables import (
    Agent,
    Annotation,
    Aspect,
    AspectScore,
    BaseModel,
    Caller,
    CallFailure,
    CallInteraction,
    ColumnChunk,
    Conversation,
    DescribedEdge,
    DescribedState,
    ExpectedStep,
    Flow,
    FlowContract,
    FlowEdit,
    HistoryNode,
    Judge,
    JudgedScore,
    KnownCommit,
    Label,
    OutcomeVisit,
    Persona,
    Repository,
    Run,
    Sample,
    SampledCall,
    Scenario,
    Segment,
    SkippedInput,
    SourceFile,
    State,
    StateScore,
    TextDictionary,
    Transcript,
    Transition,
)

__all__ = [
    "ALL",
    "ANNOTATIONS",
    "ASPECTS",
    "CALLS",
    "COMPUTED_JUDGE",
    "DESCRIBED",
    "DIMENSIONS",
    "EDITS",
    "FACTS",
    "INTERACTION",
    "OF_CALLS",
    "ROLLUPS",
    "SCHEMA_VERSION",
    "SOURCES",
    "STATES",
    "STEPS",
    "SUMMED",
    "Agent",
    "Annotation",
    "Aspect",
    "AspectRollup",
    "AspectScore",
    "AspectSums",
    "AspectTotal",
    "BaseModel",
    "CallFailure",
    "CallInteraction",
    "CallRollup",
    "CallSums",
    "Caller",
    "ColumnChunk",
    "Conversation",
    "DescribedEdge",
    "DescribedState",
    "ExpectedStep",
    "Flow",
    "FlowContract",
    "FlowEdit",
    "HistoryNode",
    "InteractionRollup",
    "Judge",
    "JudgedScore",
    "KnownCommit",
    "Label",
    "OutcomeVisit",
    "Persona",
    "Repository",
    "Run",
    "Sample",
    "SampledCall",
    "Scenario",
    "Segment",
    "SkippedInput",
    "SourceFile",
    "State",
    "StateRollup",
    "StateScore",
    "StateSums",
    "StateTotal",
    "Sum",
    "Summed",
    "TextDictionary",
    "Transcript",
    "Transition",
    "TransitionRollup",
    "TransitionTotal",
]

SCHEMA_VERSION = 7
COMPUTED_JUDGE = 1

DIMENSIONS = (Flow, Agent, Persona, Scenario, Caller, Segment, Aspect, Label, Run, Judge, State)
SOURCES = (SourceFile, SkippedInput)
OF_CALLS = (
    AspectScore, StateScore, OutcomeVisit, CallFailure, Transition, ExpectedStep, CallInteraction, Transcript
)  # fmt: skip
FACTS = (Conversation, JudgedScore, TextDictionary, *OF_CALLS)
ANNOTATIONS = (Annotation, Sample, SampledCall)
DESCRIBED = (DescribedState, DescribedEdge, FlowContract)
EDITS = (FlowEdit, Repository, HistoryNode, KnownCommit)
ROLLUPS = (
    CallRollup, InteractionRollup, AspectRollup, AspectTotal, StateRollup, StateTotal, TransitionRollup, TransitionTotal
)  # fmt: skip
ALL = (*DIMENSIONS, *SOURCES, *FACTS, *ANNOTATIONS, *DESCRIBED, *EDITS, *ROLLUPS, ColumnChunk)
