"""Show how long callers waited in a state, over all its turns at once: in words, in JSON and as a drawing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from riff_tui.charts import histogram, neighbor_graph
from riff_tui.text.numbers import fixed

if TYPE_CHECKING:
    from riff_store.answers.cells import PooledLatency

SHARES = ("p50", "p95", "p99")
_TITLE = "Turns by latency, pooled over all {turns:,} of {calls:,} calls"


@dataclass(frozen=True, slots=True)
class StateFigure:
    """Draw the graph of a state, its blast radius and, where latencies are known, how they spread."""

    around: neighbor_graph.EgoFigure
    pooled: PooledLatency | None = None

    @property
    def graph(self) -> neighbor_graph.EgoGraph:
        """Return the graph without latencies."""
        return self.around.graph

    def draw(self, *, ascii_only: bool = False, width: int = neighbor_graph.WIDTH) -> list[str]:
        """Return the lines of all of it, none wider than `width` cells or 78."""
        lines = self.around.draw(ascii_only=ascii_only, width=width)
        if self.pooled is None or not self.pooled.buckets:
            return lines
        title = _TITLE.format(turns=self.pooled.turns, calls=self.pooled.calls)
        columns = histogram.draw(self.pooled.buckets, ascii_only=ascii_only, width=width)
        return [*lines, "", title[:width], *columns]

    def to_dot(self, *, ascii_only: bool = False) -> str:
        """Return the graph for Graphviz."""
        return self.around.to_dot(ascii_only=ascii_only)

    def to_mermaid(self, *, ascii_only: bool = False) -> str:
        """Return the graph for Mermaid."""
        return self.around.to_mermaid(ascii_only=ascii_only)


def latency_text(pooled: PooledLatency, n: int) -> str:
    """Return the percentiles, or why there are none; `n` calls have been in the state."""
    if not pooled.turns:
        return f"lat(s) {reason(pooled)}"
    figures = ", ".join(f"{share} {fixed(getattr(pooled, share), 2, trim=True)}" for share in SHARES)
    missing = f" (of {n} calls {pooled.kept} transcripts were kept)" if pooled.kept < n else ""
    return f"lat(s) pooled over all {pooled.turns} turns of {pooled.calls} calls{missing}: {figures}"


def reason(pooled: PooledLatency) -> str:
    """Return why there are no percentiles."""
    if pooled.too_many:
        return f"pooled over all turns: not read for more than {pooled.kept - 1:,} calls; narrow the filter"
    if not pooled.kept:
        return "pooled over all turns: not available, no transcripts were kept"
    return "pooled over all turns: not measured, the kept transcripts hold no latency"


def extras(pooled: PooledLatency | None) -> Mapping[str, Any]:
    """Return the keys of the JSON form: the 95th percentile, and all else that is known."""
    if pooled is None or not pooled.turns:
        return {"pooled_latency_p95": None, "pooled_latency": None}
    spread = [{"from": each.low, "to": each.high, "turns": each.count} for each in pooled.buckets]
    known = {share: getattr(pooled, share) for share in SHARES}
    known |= {"turns": pooled.turns, "calls": pooled.calls, "kept": pooled.kept, "buckets": spread}
    return {"pooled_latency_p95": pooled.p95, "pooled_latency": known}
