"""Draw what is above the rows of a location: a state's graph and metrics, a conversation's timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.style import Style

from riff_tui.charts.ego_graph import Drawing, EgoGraph, Spot
from riff_tui.charts.lanes import Lanes
from riff_tui.charts.neighbor_figure import drawing
from riff_tui.charts.sparklines import Sparklines
from riff_tui.table import Row, Table
from riff_tui.text.column_fit import wrap
from riff_tui.text.safe_text import cell_width, fit
from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.navigation.location import Location, calls_of_step, center_on, heading
from riff_tui.tui.navigation.stacks import place_name
from riff_tui.tui.render.columns import shown
from riff_tui.tui.render.headers import (
    Canvas,
    Fold,
    LanesHeader,
    conversation_lines,
    next_fold,
    pooled_of,
    state_header_lines,
)
from riff_tui.tui.render.styled_lines import Line, Piece, colored, width_of
from riff_tui.tui.widgets.bars import Bar
from riff_tui.views.compare import Pair
from riff_tui.watching.growing_run import HeadLine

if TYPE_CHECKING:
    from riff_store.queries.latencies import PooledLatency
    from riff_tui.charts.failure_grid import FailureGrid

LEFT_FOR_LATER = "latencies are not read yet"
_LEAST_ROWS = 7
_TALL = 30
_TALL_FOR_CALL = 36
"""From so many lines on a call's head shows all that it has, until it is folded."""
_FRAME = 4
"""The cells of a line that the frame of the graph takes, which are left free without it."""
_LEAST_FRAMED = 5
_CENTRE = 2
_OUT = _CENTRE + 2
_ENTER = "Enter puts a state in the middle, and lists the calls of a step or an end"
"""The same wherever the cursor is: a line of the frame costs more than all else that a move does."""
_LEAST_OF_CALL = 3 / 8
"""The share of the screen that is left to what was said."""


class Header(Bar):
    """Draw lines above the table; in a state's graph one can choose a neighbour."""

    DEFAULT_CSS = """
    Header { height: 0; }
    """

    loaded: LoadedView | None = None
    location: Location | None = None
    focused_graph: bool = False
    pooled: PooledLatency | None = None
    progress: str = ""
    _aside: Fold = "all"
    _graph: EgoGraph | None = None
    _drawn: Drawing | None = None
    _at: int = 0
    lanes: LanesHeader | None = None
    _state_at: str | None = None
    _t_at: float | None = None
    _whole_call: bool = False
    _run_line: HeadLine | None = None

    def show(self, location: Location, loaded: LoadedView) -> None:
        """Show what belongs above the rows of this location, nothing above those of a list."""
        before = self._target if self.location and self.location.scope == location.scope else None
        before_location = self.location
        self.location, self.loaded = location, loaded
        self.focused_graph = location.graph and loaded.neighbors is not None
        self.progress = LEFT_FOR_LATER if loaded.deferred is not None else ""
        if not self.progress or (before_location is not None and before_location.scope != location.scope):
            self.pooled = pooled_of(loaded.neighbors)
        graph = getattr(loaded.neighbors.figure, "graph", None) if loaded.neighbors else None
        self._graph = graph if isinstance(graph, EgoGraph) else None
        self._at = 0
        self._take_lanes(loaded.main, same=before_location is not None and before_location.scope == location.scope)
        self.draw()
        targets = self._targets
        self._at = next((at for at, target in enumerate(targets) if target.column == _OUT), 0)
        if before is not None:
            same = (at for at, target in enumerate(targets) if target.is_same(before))
            self._at = next(same, self._at)
        if self.focused_graph:
            self.draw()

    def draw(self) -> None:
        lines = self._lines() if self.loaded and self.location and self.app.size.width else []
        if self.styles.height is None or self.styles.height.value != len(lines):
            self.styles.height = len(lines)
        self.lines = tuple(lines)

    def show_run(self, line: HeadLine | None) -> None:
        """Show above the flows where a run is that is being made: safe text of a width, with an ellipsis."""
        if line is not self._run_line:
            self._run_line = line
            self.draw()

    def follow(self, row: Row | None) -> None:
        """Let the turn of another moment of a conversation stand out in the lanes, or show the bar of its state."""
        if self.lanes is not None:
            self.lanes.follow(row)
            self.draw()
            return
        state, t = (row.record.get("state"), row.record.get("t")) if row is not None else (None, None)
        if state is not None and state != self._state_at:
            self._state_at = state
            self._t_at = t
            self.draw()
        elif t is not None and t != self._t_at:
            self._t_at = t
            self.draw()

    def _take_lanes(self, table: Table, *, same: bool) -> None:
        if not isinstance(table.figure, Lanes):
            self.lanes = None
        elif self.lanes is not None and same:
            self.lanes.take(table.figure)
        else:
            self.lanes = LanesHeader(table.figure)

    @property
    def fold(self) -> Fold:
        """Return what is shown of a state; the graph as long as the cursor is in it."""
        return "graph" if self.focused_graph else self._aside

    @property
    def next_fold(self) -> Fold:
        """Return what would be shown next."""
        return next_fold(self.fold, self.loaded.neighbors if self.loaded else None)

    def unfold(self) -> Fold:
        """Go on to what is shown next, of this state and of others; the graph only while the cursor is in it."""
        fold = self.next_fold
        self._aside = "all" if fold == "graph" else fold
        return fold

    @property
    def unfolds_call(self) -> bool:
        """Return whether the head of a call is short, or was, and has more to show."""
        return bool(self.location and self.location.kind == "conversation") and self.lanes is None

    @property
    def is_whole_call(self) -> bool:
        """Return whether a call's head shows all that it has: scores and every state."""
        return self._whole_call != (self.app.size.height >= _TALL_FOR_CALL)

    def unfold_call(self) -> None:
        """Show all of a call's head, or the short one again."""
        self._whole_call = not self._whole_call
        self.draw()

    def set_progress(self, step: str) -> None:
        """Show what is being loaded for what is not shown yet."""
        self.progress = step
        self.draw()

    def focus_graph(self, focused: bool) -> None:
        """Put the cursor into the graph, or give it back to the rows."""
        self.focused_graph = focused
        self.draw()

    def move(self, rows: int, columns: int) -> None:
        """Choose another state or step: on the same side, or the nearest further left or right."""
        here = self._target
        if here is None:
            return
        if columns:
            # A column without any is stepped over.
            beside = [each for each in self._targets if (each.column - here.column) * columns > 0]
            nearest = min((abs(each.column - here.column) for each in beside), default=0)
            found = [each for each in beside if abs(each.column - here.column) == nearest] or [here]
            line = here.spot.line
            here = min(found, key=lambda each: abs(each.spot.line - line))
        else:
            column = [each for each in self._targets if each.column == here.column]
            here = column[max(0, min(len(column) - 1, column.index(here) + rows))]
        self._at = self._targets.index(here)
        self.draw()

    def chosen(self, location: Location) -> tuple[Location | None, str]:
        """Return the location of the neighbour under the cursor, or that of the calls that took the step there.

        If there is none a line shows why.
        """
        target = self._target
        row = self._row(target.spot) if target is not None else None
        if target is None or row is None or not self.enter:
            return None, "this state is in the middle already; h and l go to its neighbours"
        if self.enter == "calls":
            return calls_of_step(location, row), ""
        return center_on(location, target.spot.state), ""

    @property
    def enter(self) -> Literal["centre", "calls", ""]:
        """Return what Enter does in the graph: put a state in the middle, or list the calls of a step or an outcome."""
        target = self._target
        if target is None or target.spot.side == "centre":
            return ""
        row = self._row(target.spot)
        return "centre" if row is not None and row.where and not target.is_arrow else "calls"

    @property
    def _targets(self) -> Sequence[_Target]:
        drawn = self._drawn
        some = ((drawn.spots, False), (drawn.arrows, True)) if drawn is not None else ()
        found = [_Target(spot, is_arrow) for spots, is_arrow in some for spot in spots]
        return sorted(found, key=lambda target: target.spot.line)

    @property
    def _target(self) -> _Target | None:
        targets = self._targets
        return targets[self._at] if self._at < len(targets) else None

    def _row(self, spot: Spot) -> Row | None:
        """Return the neighbour's row in the table behind the drawing."""
        table = self.loaded.neighbors if self.loaded else None
        wanted = ("self" if spot.side == "centre" else spot.side, None if spot.outcome else spot.state)
        rows = table.rows if table else ()
        return next((row for row in rows if (row.record.get("direction"), row.record.get("state")) == wanted), None)

    def _lines(self) -> list[Line]:
        assert self.loaded is not None
        assert self.location is not None
        if self.location.kind == "conversation":
            return self._conversation(self.loaded.main)
        figure, width = self.loaded.main.figure, self.app.size.width - 2
        if isinstance(figure, Pair):
            drawn = figure.draw(ascii_only=self.glyphs.ascii_only, width=width)
            lead = self.loaded.main.lead
            return self._titled([*drawn, *([lead] if lead else ())])
        if self.location.sides:
            return self._titled(heading(self.loaded.main, place_name(self.location.scope.predicate)))
        if self.location.kind == "state" and self.loaded.neighbors is not None:
            canvas = Canvas(self.app.size.width, self._room(), self.glyphs, self.palette)
            return state_header_lines(
                self.fold, self._drawing, self.loaded.neighbors, self.pooled, self.progress, canvas
            )
        if self.location.view == "flows":
            return self._run()
        if self.loaded.main.lead and not self.loaded.main.headline:
            # What is to be read first.
            said = wrap(shown(self.loaded.main.lead, self.glyphs), width)
            return [((f" {piece}", self.palette.head),) for piece in said]
        if figure is None:
            return []
        from riff_tui.charts.failure_grid import FailureGrid

        if isinstance(figure, FailureGrid):
            return self._grid(figure)
        return self._trends(self.loaded.main) if isinstance(figure, Sparklines) else []

    def _run(self) -> list[Line]:
        if self._run_line is None:
            return []
        line = self._run_line(self.app.size.width - 2, self.glyphs.ellipsis)
        return [((f" {shown(line, self.glyphs)}", self.palette.place),)]

    def _room(self) -> int:
        """Return how many lines may be here, so that rows keep theirs."""
        return max(0, self.app.size.height - 2 - _LEAST_ROWS)

    def _conversation(self, table: Table) -> list[Line]:
        from riff_tui.charts.visit_timeline import VisitTimeline

        width, height = self.app.size
        room = max(0, height - 2 - max(_LEAST_ROWS, int(height * _LEAST_OF_CALL)))
        is_short = self.lanes is None and not self.is_whole_call
        lines = conversation_lines(table, width, self.glyphs, self.palette, is_short=is_short)
        if self.lanes is not None:
            is_short = self.app.size.height < _TALL
            lines += self.lanes.lines(width, self.glyphs, self.palette, is_short=is_short)
        elif isinstance(table.figure, VisitTimeline):
            ascii_only, inner = self.glyphs.ascii_only, width - 2
            if is_short:
                drawn = [table.figure.strip(ascii_only=ascii_only, width=inner, at=self._t_at)]
            else:
                left = max(0, room - len(lines))
                drawn = table.figure.lines(ascii_only=ascii_only, width=inner, height=left, at=self._state_at)
            lines += [((" ", None), *colored(line, self.palette)) for line in drawn]
        return [*lines[:room], ((self.glyphs.box["ew"] * width, self.palette.quiet),)]

    def _trends(self, table: Table) -> list[Line]:
        """Draw a line for each judge, where rows have enough room besides."""
        width, height = self.app.size
        drawn = table.figure.draw(ascii_only=self.glyphs.ascii_only, width=width - 2) if table.figure else []
        fits = len(drawn) + len(table.rows) + 3 <= height or (height >= _TALL and len(drawn) <= self._room())
        return [((f" {shown(line, self.glyphs)}", self.palette.place),) for line in drawn] if fits else []

    def _grid(self, grid: FailureGrid) -> list[Line]:
        """Draw the grid of failed calls, if there is room for all of it besides some rows."""
        drawn = grid.draw(ascii_only=self.glyphs.ascii_only, width=self.app.size.width - 2)
        styles = (self.palette.head, *(None for _ in drawn[1:]))
        lines: list[Line] = [
            ((f" {shown(line, self.glyphs)}", style),) for line, style in zip(drawn, styles, strict=True)
        ]
        rule: Line = ((self.glyphs.box["ew"] * self.app.size.width, self.palette.quiet),)
        return [*lines, rule] if len(lines) < self._room() else []

    def tells(self, note: str) -> bool:
        """Return whether all of a note can be read above the rows."""
        return shown(note, self.glyphs) in " ".join("".join(text for text, _ in line).strip() for line in self.lines)

    def _titled(self, lines: Sequence[str]) -> list[Line]:
        """Draw the lines about a comparison, none of it cut if there is room for all; names are raw text."""
        width = self.app.size.width - 2
        safe = [shown(line, self.glyphs) for line in lines]
        whole = [part for line in safe for part in ([line] if cell_width(line) <= width else wrap(line, width))]
        return [((f" {part}", self.palette.head),) for part in (whole if len(whole) <= self._room() else safe)]

    def _drawing(self, height: int) -> Sequence[Line]:
        """Draw the graph in so many lines, in a frame where it has the keys."""
        if self._graph is None:
            self._drawn = None
            return []
        is_framed = self.focused_graph and height >= _LEAST_FRAMED
        width = self.app.size.width - _FRAME
        height -= 2 * is_framed
        self._drawn = drawing(self._graph, ascii_only=self.glyphs.ascii_only, width=width, height=height)
        lines = [self._drawn_line(number, text) for number, text in enumerate(self._drawn.lines)]
        return self._framed(lines, width) if is_framed else [((" ", None), *line) for line in lines]

    def _framed(self, lines: Sequence[Line], width: int) -> list[Line]:
        box, style = self.glyphs.box, self.palette.place
        said = (" graph ", f" {_ENTER} ")
        rules = [fit(f"{box['ew']}{text}", width + 1, self.glyphs.ellipsis) for text in said]
        ruled = [rule + box["ew"] * (width + 2 - cell_width(rule)) for rule in rules]
        return [
            ((f"{box['es']}{ruled[0]}{box['sw']}", style),),
            *(
                ((f"{box['ns']} ", style), *line, (" " * (width + 1 - width_of(line)), None), (box["ns"], style))
                for line in lines
            ),
            ((f"{box['ne']}{ruled[1]}{box['nw']}", style),),
        ]

    def _drawn_line(self, number: int, text: str) -> Line:
        """Draw a line of the graph with its states in the colours of their health, and faint what nobody took."""
        pieces: list[Piece] = []
        done = 0
        here = [target for target in self._targets if target.spot.line == number]
        for target in sorted(here, key=lambda target: target.spot.start):
            spot = target.spot
            row = self._row(spot)
            style = self.palette.of(row.severity.get("stall")) if row and not target.is_arrow else None
            if row and not row.record["count"] and spot.side != "centre":
                style = self.palette.quiet
            if self.focused_graph and target == self._target:
                style = (style or Style.null()) + self.palette.cursor
            elif spot.side == "centre":
                style = (style or Style.null()) + self.palette.head
            pieces += [(text[done : spot.start], None), (text[spot.start : spot.end], style)]
            done = spot.end
        return (*pieces, (text[done:], None))


class _Target(NamedTuple):
    """Describe a place of the graph that the cursor can be on: a state, or the step from it or to it."""

    spot: Spot
    is_arrow: bool

    @property
    def column(self) -> int:
        """Return the column of the graph that it is in, from the left."""
        if self.spot.side in ("centre", "self"):
            return _CENTRE
        return _CENTRE + (2 - self.is_arrow) * (1 if self.spot.side == "out" else -1)

    def is_same(self, other: _Target) -> bool:
        """Return whether it is of the same state or step, wherever that is drawn."""
        one, two = self.spot, other.spot
        same = (one.side, one.state, one.outcome) == (two.side, two.state, two.outcome)
        return same and self.is_arrow == other.is_arrow
