"""Name what tests use of the explorer, so that its modules can be moved by changing this page alone."""

from __future__ import annotations

from riff_tui.descent import about_calls, fixed_fields, keep_steps, narrow
from riff_tui.tui.actions import copying
from riff_tui.tui.actions.action import KINDS, Action, Controls, ControlsHost, action_for, textual_keys
from riff_tui.tui.actions.copying import FILE_NAME, CopyMenu, copy, markdown
from riff_tui.tui.actions.help import HINTS, SCREEN_KEYS, error_lines, help_lines, hints, screen_keys
from riff_tui.tui.actions.listing import offering
from riff_tui.tui.actions.noting import spot_at
from riff_tui.tui.actions.own import arguments, listing, name_of, with_own
from riff_tui.tui.actions.registry import ACTIONS, BY_ID, action
from riff_tui.tui.actions.writing import Exists, ExportStopped, FileExport, default_name, export_table, parse_target
from riff_tui.tui.app import Explorer, detect_capabilities
from riff_tui.tui.controllers import detail, prompt, refresh
from riff_tui.tui.controllers.search import count_matches, moment_test, row_test
from riff_tui.tui.data.backend import Backend, KnownNames, NotesOfCalls, ShowView, StoreWatcher, ago
from riff_tui.tui.data.lists import (
    AS_IT_IS,
    PAGE,
    ColumnChoice,
    ListState,
    PagedRows,
    all_loaded,
    index_of,
    is_loaded,
    list_of,
)
from riff_tui.tui.data.loader import LoadedView, load, load_pair, pair_ids, pair_location, swapped
from riff_tui.tui.data.query_worker import QueryWorker
from riff_tui.tui.data.session import (
    FORM,
    LARGEST,
    MOST_FILTERS,
    MOST_MARKS,
    SessionFile,
    SessionState,
    Unreadable,
    decoded,
    encoded,
    session_path,
)
from riff_tui.tui.host import Host
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import (
    SIDE_BY_SIDE,
    START,
    Location,
    Stack,
    below,
    calls_of_step,
    center_on,
    crumbs,
    descend,
    fixed_value,
    is_within,
    recentred,
    scope_of,
    sides_of,
    state_of,
)
from riff_tui.tui.navigation.location import heading as location_heading
from riff_tui.tui.navigation.stacks import (
    address_of,
    begins_at,
    calls_around,
    choose,
    is_place,
    link,
    link_to,
    open_link,
    pick,
    picked_name,
    place_of,
    row_at,
    set_name,
    take_off,
    widening,
    without_field,
)
from riff_tui.tui.render.columns import (
    NARROWEST_FIRST,
    WHY,
    ColumnWidths,
    all_columns,
    count_text,
    empty_text,
    layout_columns,
    scroll_to_column,
    text_of,
    visible_columns,
)
from riff_tui.tui.render.details import detail_lines, funnel_lines, reason, reasons, thinness, turn_lines
from riff_tui.tui.render.details import heading as details_heading
from riff_tui.tui.render.headers import (
    SHORTEST_S,
    Canvas,
    Fold,
    LanesHeader,
    conversation_lines,
    next_fold,
    pooled_of,
    state_header_lines,
    state_lines,
)
from riff_tui.tui.render.styled_lines import PALETTES, Fuzzy, FuzzyMatch, Line, next_palette, transcript_lines, width_of
from riff_tui.tui.screen import ExplorerScreen
from riff_tui.tui.terminal import textual_internals
from riff_tui.tui.terminal.textual_internals import InputParser, SentCells, TerminalWriter
from riff_tui.tui.widgets.bars import BottomLine, TopLine
from riff_tui.tui.widgets.field import LONGEST, EditedLine, Field, printable
from riff_tui.tui.widgets.line_table import LineTable
from riff_tui.tui.widgets.menu import ChoiceList, Menu, MenuItem
from riff_tui.tui.widgets.pane import Pane, Reader
from riff_tui.view_query import MOST_UNFOLDED
