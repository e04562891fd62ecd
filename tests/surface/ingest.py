"""Name what tests use of riff_ingest, so that its modules can be moved by changing this page alone."""

from __future__ import annotations

from riff_ingest import json_members, lines, loader, pipeline
from riff_ingest.blame import LONGEST_MESSAGE, blame_of, error_class
from riff_ingest.conversation import (
    DERIVED,
    HIGHEST,
    SCHEMA,
    Contract,
    Conversation,
    ExpectedAnswer,
    ReferenceStep,
    StateContract,
    ToolCall,
    Turn,
)
from riff_ingest.driver import Driver
from riff_ingest.edits import (
    LAST_SECOND,
    BadPattern,
    EditHistory,
    GitProblem,
    NoHistory,
    Repository,
    literal,
    parse_pattern,
    read_edits,
)
from riff_ingest.edits import flow_of as patterns_flow_of
from riff_ingest.eva.context import MetricContext, Segments, latencies
from riff_ingest.eva.derived import (
    CallClock,
    Derived,
    derive,
    error_of,
    expected_steps,
    guessed_type,
    is_transfer,
    tool_types,
)
from riff_ingest.eva.derived import segment_of_tool as derived_segment_of_tool
from riff_ingest.eva.directories import (
    SET_ASIDE,
    Identity,
    claims,
    conversations,
    identity_of,
    is_archived,
    natural,
    record_and_trial,
    run_name,
    run_of,
)
from riff_ingest.eva.history import HistoryEvent, Warnings
from riff_ingest.eva.history_pipeline import Voiced, reconcile, spoken_only
from riff_ingest.eva.history_pipeline import spoken_part as history_pipeline_spoken_part
from riff_ingest.eva.logs import LogLine, framework_events, simulator_events
from riff_ingest.eva.logs import events_of as logs_events_of
from riff_ingest.eva.metrics import composites, read_files
from riff_ingest.eva.metrics.compute import (
    ACCURACY,
    COMPUTED,
    EXPERIENCE,
    composite_verdicts,
    compute_metrics,
    counts_in_trials,
    pass_at_k,
    pass_power_k,
    pass_rates,
    theoretical_power_k,
)
from riff_ingest.eva.metrics.compute import verdicts as compute_verdicts
from riff_ingest.eva.metrics.conversation_end import (
    agent_timed_out,
    conversation_completed_on_time,
    conversation_correctly_finished,
    conversation_valid_end,
    last_audio_speaker,
)
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.registry import METRICS, applies, higher_is_better, named, own_score, threshold
from riff_ingest.eva.metrics.scenario_outcome import authentication_success, task_completion
from riff_ingest.eva.metrics.score import NO_TURNS, MetricScore
from riff_ingest.eva.metrics.stt_wer import TurnErrors, normalised_english, stt_wer, turn_errors
from riff_ingest.eva.metrics.tool_call_validity import INVALID, tool_call_validity
from riff_ingest.eva.metrics.turn_taking import turn_taking
from riff_ingest.eva.metrics.turn_timing import (
    FIRST,
    TODAY,
    count_value,
    overlap_value,
    response_speed,
    rules_of,
    yield_value,
)
from riff_ingest.eva.run_inputs import (
    NONE_GIVEN,
    RunInputs,
    agent_at,
    aliases_beside,
    configuration,
    filled,
    near,
    played_record,
    records_of,
)
from riff_ingest.eva.scenario_db import (
    UNORDERED,
    database_hash,
    databases_differ,
    normalised,
    plain_hash,
    stored_form,
    summary,
    values_differ,
)
from riff_ingest.eva.stored_metrics import LONGEST_RATIONALE, stored_metrics, stored_pass, stored_scores
from riff_ingest.eva.stored_metrics import verdicts as stored_metrics_verdicts
from riff_ingest.eva.to_conversation import CallAspects, aspects_of, outcome_of
from riff_ingest.eva.trace import GENERIC_ERROR, LABELS, LoggedEntry, label_interruptions
from riff_ingest.eva.turns import PipelineType, Turns
from riff_ingest.events import LONGEST as EVENTS_LONGEST
from riff_ingest.events import (
    Event,
    EventBus,
    GuardEvaluated,
    SlotFilled,
    StateEntered,
    StateExited,
    Subscriber,
    TurnComplete,
)
from riff_ingest.facts import LONGEST_RESULT, event_columns, facts_of
from riff_ingest.flow_aspects import compute_flow_aspects
from riff_ingest.json_members import Member, read_members
from riff_ingest.lenient_json import clean, is_deep, loads, parse_time
from riff_ingest.library import SourceReader
from riff_ingest.lines import BrokenInput, Limits, digest, limits, read_start, read_whole, set_limits
from riff_ingest.lines import read_lines as lines_read_lines
from riff_ingest.loader import InputPlan, Item, load, loaded, plan_inputs, plan_of, read_input, scored
from riff_ingest.pipeline import IngestSummary, Progress, ingest
from riff_ingest.platforms import CallRecord, Candidate, joined, parted, read_call_records, with_times
from riff_ingest.private_values import PrivateValues, addresses_in
from riff_ingest.segments import SEGMENTS, ToolSegments, hands_over, segment_by_name, segment_of
from riff_ingest.segments import segment_of_tool as segments_segment_of_tool
from riff_ingest.slot_values import contradicts
from riff_ingest.source import DirectoryInput, FileHead, ReadContext, ReadItem, Source
from riff_ingest.sources import registry
from riff_ingest.sources.annotations import LONGEST as ANNOTATIONS_LONGEST
from riff_ingest.sources.annotations import MOST_LABELS, NEEDED, line_of, time_text
from riff_ingest.sources.annotations import read_line as annotations_read_line
from riff_ingest.sources.annotations import read_lines as annotations_read_lines
from riff_ingest.sources.bland import SOURCE as BLAND_SOURCE
from riff_ingest.sources.elevenlabs import SOURCE as ELEVENLABS_SOURCE
from riff_ingest.sources.eva import NO_DIRECTORY, NOTHING_LEFT
from riff_ingest.sources.flow_files.config import is_flow_config, read_config
from riff_ingest.sources.flow_files.flow import NO_FLOW, FlowFile
from riff_ingest.sources.flow_files.flow import flow_of as flow_files_flow_of
from riff_ingest.sources.flow_files.flow import read as flow_files_read
from riff_ingest.sources.flow_files.forms import NATIVE as NATIVE_FORM
from riff_ingest.sources.flow_files.forms import CallScenario, Simulation, StateScript, ToolKinds, ToolScript, Weakness
from riff_ingest.sources.humanness import read as humanness_read
from riff_ingest.sources.inspect_log import SOURCE as INSPECT_LOG_SOURCE
from riff_ingest.sources.inspect_log import archive, to_conversation
from riff_ingest.sources.livekit import SOURCE as LIVEKIT_SOURCE
from riff_ingest.sources.livekit import read as livekit_read
from riff_ingest.sources.livekit_history import SOURCE as LIVEKIT_HISTORY_SOURCE
from riff_ingest.sources.pipecat_evals import SOURCE as PIPECAT_EVALS_SOURCE
from riff_ingest.sources.pipecat_evals.results import TOLD_ELSEWHERE
from riff_ingest.sources.rasa import SOURCE as RASA_SOURCE
from riff_ingest.sources.registry import Detected, Registry, claimed_kind, detect, find_inputs, source_of, sources
from riff_ingest.sources.retell import SOURCE as RETELL_SOURCE
from riff_ingest.sources.retell import read as retell_read
from riff_ingest.sources.retell.to_conversation import NO_FLOW_FILE
from riff_ingest.sources.tau.calls import Reference, family_of, is_of_another_task, matches, steps_of
from riff_ingest.sources.tau.interaction import (
    YIELD_WINDOWS,
    agent_interruptions,
    interaction_of,
    longest_unanswered,
    over_kind,
)
from riff_ingest.sources.tau.interaction import events_of as interaction_events_of
from riff_ingest.sources.tau.judged import run_judged, score_of
from riff_ingest.sources.tau.judges import UNREADABLE, Ending, Spoken, ending_of, final_status, spoken, turn_at
from riff_ingest.sources.tau.judges import verdicts as judges_verdicts
from riff_ingest.sources.tau.marks import SpokenTurn, turns_of
from riff_ingest.sources.tau.records import Action, AgentInfo, AudioConfig, Criteria, Info, Task, agent_name, label_of
from riff_ingest.sources.tau.results import run_at
from riff_ingest.sources.tau.ticks import (
    SpokenTicks,
    Stretch,
    Tick,
    read_ticks,
    script_of,
    spoken_ticks,
    text_of,
    tick_seconds,
    without_stop_signal,
)
from riff_ingest.sources.tau.walk import phase_of, tool_of, writes
from riff_ingest.sources.tau_bench import SOURCE as TAU_BENCH_SOURCE
from riff_ingest.sources.tau_notes import read as tau_notes_read
from riff_ingest.sources.tau_verdicts import SOURCE as TAU_VERDICTS_SOURCE
from riff_ingest.sources.tau_verdicts import read as tau_verdicts_read
from riff_ingest.sources.transcripts import PROGRESS_FILE, RUN_FILE
from riff_ingest.sources.transcripts import read as transcripts_read
from riff_ingest.sources.transcripts import read_line as transcripts_read_line
from riff_ingest.sources.vapi import SOURCE as VAPI_SOURCE
from riff_ingest.sources.vapi import read as vapi_read
from riff_ingest.state_aspects import compute_state_aspects, read_stream
from riff_ingest.tool_states import ToolStates, answers_in_order
from riff_ingest.tool_states import changes as tool_changes
from riff_ingest.transcript_writer import LineFile, encode_line, transcript_document, write_transcripts
from riff_ingest.yaml_document import load_yaml
