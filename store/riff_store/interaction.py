"""Count how the two sides of voice calls shared the line, and draw figures from the counts (tau3-bench's panel 1.0).

Figures are always of the events of all calls together, never means of figures of calls.
"""

from typing import Any, NamedTuple

from riff_store.metrics import POOLED, Pooled


class Interaction(NamedTuple):
    """Describe the sums over voice calls; latencies are seconds, all else counts of events.

    `calls` have a record of who spoke when. A turn of the caller got a `response` or `no_response`; to a caller who
    broke in the agent gave way (`yielded`) or did not (`no_yield`). Backchannels, vocal tics and words to others
    (`non_directed`) are `correct` where the agent went on, `error` where it stopped or answered.
    """

    calls: int = 0
    response: int = 0
    no_response: int = 0
    response_latency: float = 0.0
    yielded: int = 0
    no_yield: int = 0
    yield_latency: float = 0.0
    backchannel_correct: int = 0
    backchannel_error: int = 0
    vocal_tic_correct: int = 0
    vocal_tic_error: int = 0
    non_directed_correct: int = 0
    non_directed_error: int = 0
    agent_interruptions: int = 0

    def __add__(self, other: "Interaction") -> "Interaction":  # type: ignore[override]  # sums add up
        return Interaction(*(getattr(self, name) + getattr(other, name) for name in SUMS))

    @property
    def response_total(self) -> int:
        """Return the turns of callers that were to be answered."""
        return self.response + self.no_response

    @property
    def yield_total(self) -> int:
        """Return how often callers broke in."""
        return self.yielded + self.no_yield

    def total(self, kind: str) -> int:
        """Return the events of a kind: `backchannel`, `vocal_tic` or `non_directed`."""
        return int(getattr(self, f"{kind}_correct") + getattr(self, f"{kind}_error"))

    def part(self, figure: Pooled) -> float:
        """Return what a figure divides by its events: a count, or seconds."""
        return float(getattr(self, figure.part))

    def events(self, figure: Pooled) -> int:
        """Return how many events are behind a figure."""
        return sum(getattr(self, name) for name in figure.whole)

    def value(self, figure: Pooled) -> float | None:
        """Return a figure, `None` without any event."""
        events = self.events(figure)
        return self.part(figure) / events if events else None


SUMS = Interaction._fields
"""The sums in the order in which rows hold them."""
EVENTS = SUMS[1:]
"""Those that a call has of its own: `calls` is 1 of each."""
TIMED = tuple(name for name, none in Interaction._field_defaults.items() if isinstance(none, float))
"""Those that are seconds; the others count."""
KINDS = ("backchannel", "vocal_tic", "non_directed")
"""The sounds of a caller that ask for no answer."""
FEW_EVENTS = 10
"""Below so many events a figure is shown, but not trusted; those who publish such figures hide it."""


def panel(sums: Interaction | None) -> dict[str, Any] | None:
    """Return the figures of sums, `None` if a denominator is 0, and their counts; `None` without any call."""
    if sums is None or not sums.calls:
        return None
    return {
        **{key: sums.value(figure) for key, figure in POOLED.items()},
        "counts": {
            "n_simulations": sums.calls,
            "response_total": sums.response_total,
            "yield_total": sums.yield_total,
            **{f"{kind}_total": sums.total(kind) for kind in KINDS},
            "agent_interrupts_count": sums.agent_interruptions,
        },
    }
