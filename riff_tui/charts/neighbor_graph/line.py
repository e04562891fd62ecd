"""Write a line of a drawing."""

from __future__ import annotations

from riff_tui.charts.neighbor_graph.graph import Direction, EgoGraph, Spot
from riff_tui.text.numbers import percent
from riff_tui.text.safe_text import cell_width, padded


class Line:
    """Write a line from left to right and remember where states stand on it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.text = ""
        self.spots: list[Spot] = []

    def add(self, text: str) -> None:
        """Write on."""
        self.text += text

    def add_name(self, text: str, width: int, side: Direction, state: str | None, *, right: bool = False) -> None:
        """Write a state's name in `width` cells, at their left or `right`; without a state it is only text."""
        start = len(self.text) + (max(0, width - cell_width(text)) if right else 0)
        self.text += padded(text, width, right=right)
        if state is not None:
            self.spots.append(Spot(self.number, start, start + len(text), side, state))


def loops_text(graph: EgoGraph) -> str:
    """Return the steps from the state to itself, in words."""
    return f"self {graph.loops}" + (f" ({percent(graph.loops_share)})" if graph.loops_share is not None else "")
