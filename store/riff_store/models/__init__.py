"""Define the tables of the store.

Text names live in dimension tables, facts hold integer keys. Models are not bound to a
database: a query is executed on the `Store` that asks.
"""

from __future__ import annotations

from riff_store import orm as orm
from riff_store.models.annotations import Annotation, Sample, SampledCall
from riff_store.models.columns import ColumnChunk
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
from riff_store.models.facts import (
    AspectScore,
    CallFailure,
    CallInteraction,
    Conversation,
    ExpectedStep,
    JudgedScore,
    OutcomeVisit,
    StateScore,
    TextDictionary,
    Transcript,
    Transition,
)
from riff_store.models.flow_files import (
    DescribedEdge,
    DescribedState,
    FlowContract,
    FlowEdit,
    HistoryNode,
    KnownCommit,
    Repository,
)
from riff_store.models.inputs import SkippedInput, SourceFile
from riff_store.models.sums import (
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
