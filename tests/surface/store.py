"""Name what tests use of riff_store, so that its modules can be moved by changing this page alone."""

from __future__ import annotations

from riff_store import chunks, metrics, migrations, schema
from riff_store.alignment import Rates, rates, reference_of
from riff_store.annotations import counted, decisive, merged, new_id, place_in_time, standing
from riff_store.chunks import KINDS_OF_FAILURE, groups_between, packed_groups
from riff_store.database import BUSY_SECONDS, Store, is_writable, open_store
from riff_store.edit_graph import EditGraph, contained_by, edit_graph, heads
from riff_store.engines import sqlite_connection, sqlite_schema
from riff_store.engines.engine import APPLICATION_ID, Connection
from riff_store.engines.postgresql_connection import PostgresqlConnection
from riff_store.engines.sqlite import LONGEST, SqliteEngine
from riff_store.engines.sqlite_connection import connect
from riff_store.engines.sqlite_schema import KNOWN, digest
from riff_store.engines.statements import spelled
from riff_store.errors import (
    NO_ROOM,
    DiskFull,
    ExitCode,
    Interrupted,
    NewerStore,
    NotAStore,
    OlderStore,
    OutputError,
    RiffError,
    StoreBusy,
    StoreError,
    StoreMissing,
    StoreReadOnly,
    Terminated,
    UsageError,
    how_to_install,
)
from riff_store.facts import (
    Annotation,
    Commit,
    ConversationFacts,
    DescribedFlow,
    DescribedState,
    EditsResult,
    ExpectedStep,
    Failure,
    FileResult,
    FlowEdit,
    JudgedScore,
    Skipped,
    SourceFile,
    StateAspects,
    ToolAspects,
    Touched,
)
from riff_store.filters import said as transcripts_said
from riff_store.filters.dimensions import FAILURE, Grouping, judges_shown, run_order, unique_names
from riff_store.filters.disputes import AspectSpreads, Order, holds_of
from riff_store.filters.matching import fold, matches, satisfies
from riff_store.filters.notes import Note, marks, notes_by_call
from riff_store.filters.predicates import And, InState, Not, Or, Predicate, Term, conjuncts, of_calls, terms, undecided
from riff_store.filters.said import Heard, Patterns, Search, heard_of, probe, said_in
from riff_store.filters.sql import Scope, needs
from riff_store.health import Health, examine
from riff_store.interaction import KINDS, SUMS, Interaction, panel
from riff_store.interruption import Interruption, check_interrupted
from riff_store.location import without_secrets
from riff_store.measure import UNIT, Measure, PooledMeasure, percentile, student_t, wilson
from riff_store.metrics import COMPUTED as METRICS_COMPUTED
from riff_store.metrics import (
    INTERACTION_METRICS,
    METRICS,
    OF_CALLS,
    OF_STATES,
    POOLED,
    Metric,
    metric_of,
    plugins,
    unit_of,
)
from riff_store.migrations import Step, backup_path, migrate
from riff_store.plugins import load_plugins, name_refusal
from riff_store.queries import calls as call_list
from riff_store.queries import latencies, scores
from riff_store.queries.agreement import Dispute, Disputes, FoundDisputes, PairAgreement
from riff_store.queries.agreement import agreement as agreement_agreement
from riff_store.queries.calls import CallList, Example, names_of_calls, told_by
from riff_store.queries.causes import Cause, Causes, Lift, causes
from riff_store.queries.comparison import Comparison, Difference, FlowPairs, compare
from riff_store.queries.contents import RunSummary, SkippedEntry, counted_names, known_names, runs, skipped
from riff_store.queries.conversation import AskedStep, CallDetail, Verdict, VisitedState, call_interaction, conversation
from riff_store.queries.conversations import (
    PLAIN,
    Call,
    calls_of,
    conversation_ids,
    conversations,
    count_conversations,
    ordered_ids,
)
from riff_store.queries.edits import edit_effects
from riff_store.queries.effects import FACTORS, Effects, JudgeOverlap, UnknownAspect, effects
from riff_store.queries.failures import FailureCell, FailureMatrix, failure_matrix, failure_shifts, failures
from riff_store.queries.flows import ArchetypeCell, FlowCell, archetypes, flow_cells
from riff_store.queries.funnel import (
    FlowRoutes,
    Funnel,
    FunnelRow,
    Route,
    Shift,
    Suspicion,
    compared_states,
    funnels,
    routes,
    suspicions,
)
from riff_store.queries.judges import Alignments, JudgeSummary, alignment, judges
from riff_store.queries.last_edits import Edits, Histories, LastEdit
from riff_store.queries.latencies import MOST, Bucket, LatencyReading, PooledLatency, buckets
from riff_store.queries.neighbors import BlastRadius, Neighbor, Neighborhood, Terminus, Victim, begun, completed
from riff_store.queries.quality import (
    ChangeVerdict,
    FlowChange,
    FlowQuality,
    QualityCell,
    RunChanges,
    RunQuality,
    SuccessChange,
    Timeline,
    flow_table,
    timeline,
)
from riff_store.queries.reading import Code, Codes, SampledCall, calls_since_new_code, candidates, codes, reading_list
from riff_store.queries.repeats import LISTED, RepeatCell, all_pass, repeats
from riff_store.queries.scores import PAGE, ScoredCall, ScorePage, score_pages
from riff_store.queries.sides import Side, SideError, side
from riff_store.queries.states import (
    SegmentCell,
    StateCell,
    ToolCell,
    segment_cells,
    state_cells,
    tool_cells,
    worst_first,
)
from riff_store.queries.steps import Coverage, CoveredItem, StepCounts, coverage, is_handover
from riff_store.queries.sums import (
    NO_ROWS,
    aspect_sums,
    blame_counts,
    call_counts,
    call_sums,
    lost_in_states,
    rows_of_sums,
    state_sums,
    step_counts,
)
from riff_store.queries.worklist import FirstToFix, Totals, Worklist, chance_of, first_to_fix, lacking, worklist
from riff_store.reading_list import KeptList, Sample, keep_list, kept_list
from riff_store.sampling import FAILING, OUTLIER, RANDOM, STRATA, Candidate, Drawn, counts_of, draw
from riff_store.schema import ALL, ASPECTS, ROLLUPS, SCHEMA_VERSION, SUMMED, Conversation, Run, Summed
from riff_store.schema.sums import CallSums as SumsCallSums
from riff_store.scoring import humanness_score, latency_score, operability, succeeded
from riff_store.statement_limit import STEPS_PER_BYTE, set_steps_per_byte
from riff_store.statistics import agreement as statistics_agreement
from riff_store.statistics import intervals, ratios, significance
from riff_store.statistics import pairing as samples
from riff_store.statistics.agreement import (
    Pairs,
    Scores,
    Weights,
    pairs_of,
    rounded,
    scores_at,
    scores_of,
    spearman,
    spreads_of,
)
from riff_store.statistics.designs import Confounding
from riff_store.statistics.distributions import (
    fair_binomial,
    hypergeometric,
    student_quantile,
    student_tail,
    sums_of_subsets,
    surely_likelier,
)
from riff_store.statistics.linear_model import FactorEffect, LevelEffect, LinearModel, compare_judges, fit, overlap
from riff_store.statistics.observations import MOST_LEVELS, Factor, Observations
from riff_store.statistics.pairing import Places, Tasks, by_key, compared, paired, pairs_by_key
from riff_store.statistics.ratios import CallSums as RatiosCallSums
from riff_store.statistics.ratios import RatioTest
from riff_store.statistics.significance import MOST_OUTCOMES, Stratum, fisher, rate_change, stratified_fisher
from riff_store.transcript_columns import EVENTS, EventColumns, compressor, is_spelled, read_text, spell
from riff_store.transcripts import LARGEST, LARGEST_DICTIONARY, Transcripts, unpack_transcript
from riff_store.vocabulary import (
    ALIASES,
    CALL_NAMES,
    FAILURE_KINDS,
    FIELDS,
    NONE_FOUND,
    SAID_FIELDS,
    aspect_named,
    beginnings,
    field_named,
    field_of,
    route_text,
)
from riff_store.vocabulary import COMPUTED as VOCABULARY_COMPUTED
from riff_store.voice import NOISES, SOUNDS, Mark, Span, Task, TraceEntry, Voice, VoiceTurn, voice_of
from riff_store.write import rollups, writer
from riff_store.write import rows as written_rows
from riff_store.write.copying import copy_store
from riff_store.write.forgetting import forget, going_with, prepare
from riff_store.write.names import CallNames, encodable
from riff_store.write.notes import add_notes, encoded, notes_of_no_call, read_notes
from riff_store.write.rows import CHUNK, CHUNK_BYTES
from riff_store.write.text_compression import SAMPLES
from riff_store.write.writer import Item, Writer
