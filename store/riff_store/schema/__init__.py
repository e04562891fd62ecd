"""Define the tables of the store.

Text names live in dimension tables, facts hold integer keys. Models are not bound to a
database: a query is executed on the `Store` that asks.
"""

from __future__ import annotations

from riff_store import orm as orm
from riff_store.schema.sums import ASPECTS as ASPECTS
from riff_store.schema.sums import CALLS as CALLS
from riff_store.schema.sums import INTERACTION as INTERACTION
from riff_store.schema.sums import STATES as STATES
from riff_store.schema.sums import STEPS as STEPS
from riff_store.schema.sums import SUMMED as SUMMED
from riff_store.schema.sums import AspectRollup as AspectRollup
from riff_store.schema.sums import AspectSums as AspectSums
from riff_store.schema.sums import AspectTotal as AspectTotal
from riff_store.schema.sums import CallRollup as CallRollup
from riff_store.schema.sums import CallSums as CallSums
from riff_store.schema.sums import InteractionRollup as InteractionRollup
from riff_store.schema.sums import StateRollup as StateRollup
from riff_store.schema.sums import StateSums as StateSums
from riff_store.schema.sums import StateTotal as StateTotal
from riff_store.schema.sums import Sum as Sum
from riff_store.schema.sums import Summed as Summed
from riff_store.schema.sums import TransitionRollup as TransitionRollup
from riff_store.schema.sums import TransitionTotal as TransitionTotal
from riff_store.schema.tables import Agent as Agent
from riff_store.schema.tables import Annotation as Annotation
from riff_store.schema.tables import Aspect as Aspect
from riff_store.schema.tables import AspectScore as AspectScore
from riff_store.schema.tables import BaseModel as BaseModel
from riff_store.schema.tables import Caller as Caller
from riff_store.schema.tables import CallFailure as CallFailure
from riff_store.schema.tables import CallInteraction as CallInteraction
from riff_store.schema.tables import ColumnChunk as ColumnChunk
from riff_store.schema.tables import Conversation as Conversation
from riff_store.schema.tables import DescribedEdge as DescribedEdge
from riff_store.schema.tables import DescribedState as DescribedState
from riff_store.schema.tables import ExpectedStep as ExpectedStep
from riff_store.schema.tables import Flow as Flow
from riff_store.schema.tables import FlowContract as FlowContract
from riff_store.schema.tables import FlowEdit as FlowEdit
from riff_store.schema.tables import HistoryNode as HistoryNode
from riff_store.schema.tables import Judge as Judge
from riff_store.schema.tables import JudgedScore as JudgedScore
from riff_store.schema.tables import KnownCommit as KnownCommit
from riff_store.schema.tables import Label as Label
from riff_store.schema.tables import OutcomeVisit as OutcomeVisit
from riff_store.schema.tables import Persona as Persona
from riff_store.schema.tables import Repository as Repository
from riff_store.schema.tables import Run as Run
from riff_store.schema.tables import Sample as Sample
from riff_store.schema.tables import SampledCall as SampledCall
from riff_store.schema.tables import Scenario as Scenario
from riff_store.schema.tables import Segment as Segment
from riff_store.schema.tables import SkippedInput as SkippedInput
from riff_store.schema.tables import SourceFile as SourceFile
from riff_store.schema.tables import State as State
from riff_store.schema.tables import StateScore as StateScore
from riff_store.schema.tables import TextDictionary as TextDictionary
from riff_store.schema.tables import Transcript as Transcript
from riff_store.schema.tables import Transition as Transition

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
