"""Name what tests use of riff_tui but the explorer, so that its modules can be moved by changing this page alone."""

from __future__ import annotations

from riff_tui import catalog, view_query, view_registry
from riff_tui.brief import Night, brief
from riff_tui.browser import DRIVER, is_in_browser
from riff_tui.cases import case_text_at, case_where, with_stand_ins
from riff_tui.catalog import Request, dump_command, open_to_read, show, ui_command
from riff_tui.charts.ego_graph import Drawing, EgoGraph, GraphNeighbor, of_neighborhood
from riff_tui.charts.failure_grid import MOST, FailureGrid
from riff_tui.charts.histogram import LEAST_HEIGHT, bars, edge, sparkline
from riff_tui.charts.histogram import draw as histogram_draw
from riff_tui.charts.lane_marks import HEARD_S, Scale, common, glossary, latency_severity, shares
from riff_tui.charts.lane_marks import merged as lane_marks_merged
from riff_tui.charts.lanes import Lanes
from riff_tui.charts.neighbor_figure import EgoFigure, blast, drawing, legend, to_dot, to_mermaid
from riff_tui.charts.neighbor_figure import draw as neighbor_graph_draw
from riff_tui.charts.sparklines import Sparklines
from riff_tui.charts.transcript import transcript_lines
from riff_tui.charts.visit_timeline import EventMark, VisitTimeline
from riff_tui.cli import run
from riff_tui.command_line import COMMANDS, build, complete
from riff_tui.commands.calls.judge import _reasons as reasons
from riff_tui.commands.calls.judge import _stopped as stopped
from riff_tui.commands.calls.run_session import run_cost
from riff_tui.commands.calls.watch import LiveLines
from riff_tui.commands.gate import SUMMARY_VARIABLE
from riff_tui.commands.ingest import LEFT_OUT, LISTED_FILES, written_by
from riff_tui.commands.notes import PARTS
from riff_tui.commands.schema import named as schema_of
from riff_tui.commands.schema import whole as schema_of_all
from riff_tui.errors import ExitCode, FilterError, OutputError, OutputFull, UsageError, ViewFailed, describe, trace
from riff_tui.filters import Filter, parser, quote, split, take_judges
from riff_tui.filters import render as filters_render
from riff_tui.filters.completion import NAMED, CompletionTarget, fields, named, names, wanted
from riff_tui.filters.parser import parse
from riff_tui.gate import messages, reports
from riff_tui.gate.decision import Check, Decision, MissingFlow, Quarantined
from riff_tui.gate.quarantine import read as read_quarantine
from riff_tui.gate.query import decision_with_commands
from riff_tui.gate.reports import MOST_CHARACTERS, append_summary, commands, comment, short_summary, summary
from riff_tui.gate.rules import ALWAYS, DEFAULTS, Tolerance, configured, decide, read
from riff_tui.gate.rules import merged as rules_merged
from riff_tui.library import ask
from riff_tui.notes import author as notes_author
from riff_tui.notes.author import author as author_author
from riff_tui.notes.author import code_meant
from riff_tui.notes.kept_notes import append_kept, lacking, read_kept
from riff_tui.notes.marks import Mark, Spot, Writer, give_code, give_remark, give_verdict, remark_at
from riff_tui.notes.notebook import Notebook
from riff_tui.notes.selection import lines_where, renamed
from riff_tui.output import progress as output_progress
from riff_tui.output.files import write_whole
from riff_tui.output.formats import FORMATS, Format
from riff_tui.output.progress import ProgressLine, clock_text, counting_text, reading_text, terminal_progress
from riff_tui.output.sinks import csv, json, text
from riff_tui.output.sinks import render as sinks_render
from riff_tui.output.sinks.csv import write_batches as csv_write_batches
from riff_tui.output.sinks.markdown import escape
from riff_tui.output.sinks.parquet import MISSING
from riff_tui.output.sinks.parquet import write_batches as parquet_write_batches
from riff_tui.output.sinks.parts import Options, row_severity
from riff_tui.output.sinks.svg import CELL, LINE, MARGIN
from riff_tui.output.streams import escape_commands, say
from riff_tui.serve.admission import COMPLAINT_BYTES, FONT_SIZE, HEIGHT, WIDTH, Admission, Asked, Keys, Limits
from riff_tui.serve.place import Place, read_place
from riff_tui.serve.server import ExplorerServer, Served, child_environment, is_passed_on, listen
from riff_tui.serve.session import Downloads, Focused, Ping, Resized, Session, Typed, disposition, parse_frame
from riff_tui.settings import (
    Settings,
    bounds,
    limits,
    load,
    state_directory,
    statement_steps,
    store_location,
    wants_color,
)
from riff_tui.settings import commands as settings_commands
from riff_tui.settings import judges as settings_judges
from riff_tui.settings import keys as settings_keys
from riff_tui.shell_completion import SCRIPTS, install, split_line
from riff_tui.table import (
    LATER,
    PAGE,
    Bar,
    Batch,
    Bounds,
    Column,
    ColumnKind,
    Deferred,
    Folded,
    GraphFigure,
    LazyRows,
    Row,
    Section,
    Severity,
    Steps,
    Table,
    as_read,
    label,
    row_number,
    run_steps,
)
from riff_tui.text.column_fit import LEAST, NameCut, abbreviated, fitted, name_cut, shared_prefix, wrap
from riff_tui.text.glyphs import ASCII, UNICODE, Glyphs, glyphs, in_ascii
from riff_tui.text.numbers import (
    answered_text,
    cell_text,
    fixed,
    interval_text,
    is_right,
    percent,
    points_text,
    utc,
    value_text,
)
from riff_tui.text.palette import ANSI, DARK, LIGHT, MONO, ROLES, THEMES, Theme, inked, rgb
from riff_tui.text.redaction import LIMITS, Redactor
from riff_tui.text.safe_text import (
    PasteFilter,
    bare_name,
    block,
    cell_width,
    ending,
    escaped_hidden,
    file_name,
    fit,
    one_line,
    padded,
    steady,
)
from riff_tui.text.word_diff import MOST_WORDS, differing, hunks, length, parts, without_labels
from riff_tui.timeline_events import Moment, VisitSpan, moments, spans
from riff_tui.view_query import ViewQuery, left_out, sort_column
from riff_tui.view_registry import resolve, spec_of, views
from riff_tui.views import conversations as views_conversations
from riff_tui.views import neighbors as views_neighbors
from riff_tui.views.agreement import AGAINST_CORRECTNESS, LISTED, NO_DISPUTES, NO_JUDGES, NONE_HERE, agreement, disputes
from riff_tui.views.causes import causes, phrase
from riff_tui.views.compare import RULE, side_by_side
from riff_tui.views.conversation import NO_TEXT_KEPT, TEXT_LEFT_OUT, conversation
from riff_tui.views.conversations import COLUMNS as CONVERSATIONS_COLUMNS
from riff_tui.views.conversations import conversations as conversations_conversations
from riff_tui.views.conversations import failure_text, row
from riff_tui.views.coverage import coverage as coverage_table
from riff_tui.views.edits import NO_EDITS, NO_PROOF, NO_RUNS, TOGETHER
from riff_tui.views.effects import NO_CALL, effects
from riff_tui.views.export import COLUMNS as EXPORT_COLUMNS
from riff_tui.views.export import batch_of
from riff_tui.views.failure_matrix import failure_matrix
from riff_tui.views.flows import UNITS, archetypes, flows
from riff_tui.views.funnel import funnel, funnel_of_sides
from riff_tui.views.gate import gate
from riff_tui.views.judges import flow_table, rate_marks, shortfalls
from riff_tui.views.judges import judges as judges_judges
from riff_tui.views.neighbors import StateFigure, named_state, never_reached
from riff_tui.views.neighbors import neighbors as neighbors_neighbors
from riff_tui.views.parts import cells, columns
from riff_tui.views.parts.cells import call_where, step_record, where
from riff_tui.views.parts.columns import EXCLUDED, FLOW, PERSONA, column_of, judge
from riff_tui.views.parts.moment_details import SHOWN_RESULT
from riff_tui.views.parts.voice_call import DEEPEST, LONGEST_VALUE, MOST_DIFFERENCES, differences, per_table
from riff_tui.views.reading import codes
from riff_tui.views.reading import progress as sample_progress
from riff_tui.views.repeats import NO_REPEATS, repeats
from riff_tui.views.routes import routes as routes_routes
from riff_tui.views.skipped import skipped
from riff_tui.views.spec import BY, EMPTY_STORE, Screen, ScreenKind, ViewSpec
from riff_tui.views.states import NO_STATES, segments, states, successors
from riff_tui.views.states import SPEC as STATES_SPEC
from riff_tui.views.timeline import LINES, runs, timeline
from riff_tui.views.timeline import RUNS as RUNS_SPEC
from riff_tui.views.tools import NO_TOOLS, tools
from riff_tui.views.worklist import SPEC as WORKLIST_SPEC
from riff_tui.views.worklist import reason_texts, worklist
from riff_tui.watching.growing_run import GrowingRun, head_line, span, whole_head_line
from riff_tui.watching.report import WatchedRun, idle_text, report
