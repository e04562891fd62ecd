"""Draw what stands above the rows of a location: a state's graph and metrics, a conversation's timeline."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.style import Style
from textual.geometry import Region

from riff_tui.charts.ego_graph import EgoGraph, Spot
from riff_tui.charts.lanes import Lanes
from riff_tui.charts.neighbor_figure import drawing
from riff_tui.charts.sparklines import Sparklines
from riff_tui.table import Row, Table
from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.navigation.location import Location, center_on, heading
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
from riff_tui.tui.render.styled_lines import Line, Piece, colored
from riff_tui.tui.widgets.bars import Bar
from riff_tui.watching.growing_run import HeadLine

if TYPE_CHECKING:
    from riff_store.queries.latencies import PooledLatency
    from riff_tui.charts.failure_grid import FailureGrid

LEFT_FOR_LATER = "latencies are not read yet"
_LEAST_ROWS = 7
_TALL = 30
_TALL_FOR_CALL = 36
"""From so many lines on a call's head shows all that it has, until it is folded."""
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
    _spots: tuple[Spot, ...] = ()
    _at: int = 0
    lanes: LanesHeader | None = None
    _state_at: str | None = None
    _t_at: float | None = None
    _whole_call: bool = False
    _run_line: HeadLine | None = None

    def show(self, location: Location, loaded: LoadedView) -> None:
        """Show what belongs above the rows of this location, nothing above those of a list."""
        before = self._spot if self.location and self.location.scope == location.scope else None
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
        sides = [spot.side for spot in self._spots]
        self._at = sides.index("out") if "out" in sides else 0
        if before is not None:
            names = [(spot.side, spot.state) for spot in self._spots]
            self._at = names.index((before.side, before.state)) if (before.side, before.state) in names else self._at
        if self.focused_graph:
            self.draw()

    def draw(self) -> None:
        lines = self._lines() if self.loaded and self.location and self.app.size.width else []
        if self.styles.height is None or self.styles.height.value != len(lines):
            self.styles.height = len(lines)
            self.lines = tuple(lines)
            return
        before = self.lines
        self.set_reactive(Bar.lines, tuple(lines))
        for y, (old, new) in enumerate(zip_longest(before, lines)):
            if old != new:
                self.refresh(Region(0, y, self.size.width, 1))

    def show_run(self, line: HeadLine | None) -> None:
        """Show above the flows where a run stands that is being made: safe text of a width, with an ellipsis."""
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
        """Choose another neighbour: on the same side, or the nearest on another one."""
        here = self._spot
        if here is None:
            return
        if columns:
            sides = ("in", "centre", "out")
            side = sides[max(0, min(2, sides.index(here.side) + columns))]
            far = "out" if columns > 0 else "in"
            # A side without any is stepped over.
            found = [spot for spot in self._spots if spot.side == side]
            found = found or [spot for spot in self._spots if spot.side == far] or [here]
            line = here.line
            here = min(found, key=lambda spot: abs(spot.line - line))
        else:
            column = [spot for spot in self._spots if spot.side == here.side]
            here = column[max(0, min(len(column) - 1, column.index(here) + rows))]
        self._at = self._spots.index(here)
        self.draw()

    def chosen(self, location: Location) -> tuple[Location | None, str]:
        """Return the location of the neighbour under the cursor, or why one cannot go there."""
        spot = self._spot
        if spot is None or spot.side == "centre":
            return None, "this state is in the middle already; h and l go to its neighbours"
        row = self._row(spot)
        if row is None or not row.where:
            return None, "the call ends there: an outcome has no neighbours beyond it"
        return center_on(location, spot.state), ""

    @property
    def _spot(self) -> Spot | None:
        return self._spots[self._at] if self._at < len(self._spots) else None

    def _row(self, spot: Spot) -> Row | None:
        """Return the neighbour's row in the table behind the drawing."""
        table = self.loaded.neighbors if self.loaded else None
        wanted = {"in": "in", "out": "out", "centre": "self"}[spot.side]
        rows = table.rows if table else ()
        return next(
            (row for row in rows if row.record.get("direction") == wanted and row.record.get("state") == spot.state),
            None,
        )

    def _lines(self) -> list[Line]:
        assert self.loaded is not None
        assert self.location is not None
        if self.location.kind == "conversation":
            return self._conversation(self.loaded.main)
        if self.location.pair:
            figure, ascii_only = self.loaded.main.figure, self.glyphs.ascii_only
            return self._titled(figure.draw(ascii_only=ascii_only, width=self.app.size.width - 2) if figure else [])
        if self.location.sides:
            return self._titled(heading(self.loaded.main, place_name(self.location.scope.predicate)))
        if self.location.kind == "state" and self.loaded.neighbors is not None:
            canvas = Canvas(self.app.size.width, self._room(), self.glyphs, self.palette)
            graph = self._drawing(canvas.width - 2)
            return state_header_lines(self.fold, graph, self.loaded.neighbors, self.pooled, self.progress, canvas)
        if self.location.view == "flows":
            return self._run()
        figure = self.loaded.main.figure
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
        """Return how many lines may stand here, so that rows keep theirs."""
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
        """Draw the grid of failed calls, where there is room for all of it besides some rows."""
        drawn = grid.draw(ascii_only=self.glyphs.ascii_only, width=self.app.size.width - 2)
        styles = (self.palette.head, *(None for _ in drawn[1:]))
        lines: list[Line] = [
            ((f" {shown(line, self.glyphs)}", style),) for line, style in zip(drawn, styles, strict=True)
        ]
        rule: Line = ((self.glyphs.box["ew"] * self.app.size.width, self.palette.quiet),)
        return [*lines, rule] if len(lines) < self._room() else []

    def _titled(self, lines: Sequence[str]) -> list[Line]:
        return [((f" {shown(line, self.glyphs)}", self.palette.head),) for line in lines]

    def _drawing(self, width: int) -> Sequence[Line]:
        if self._graph is None:
            self._spots = ()
            return []
        drawn = drawing(self._graph, ascii_only=self.glyphs.ascii_only, width=width)
        self._spots = drawn.spots
        return [self._drawn(number, text) for number, text in enumerate(drawn.lines)]

    def _drawn(self, number: int, text: str) -> Line:
        """Draw a line of the graph with its spots in the colours of their health."""
        pieces: list[Piece] = [(" ", None)]
        done = 0
        for spot in sorted((spot for spot in self._spots if spot.line == number), key=lambda spot: spot.start):
            row = self._row(spot)
            style = self.palette.of(row.severity.get("stall")) if row else None
            if self.focused_graph and spot == self._spot:
                style = (style or Style.null()) + self.palette.cursor
            elif spot.side == "centre":
                style = (style or Style.null()) + self.palette.head
            pieces += [(text[done : spot.start], None), (text[spot.start : spot.end], style)]
            done = spot.end
        return (*pieces, (text[done:], None))
