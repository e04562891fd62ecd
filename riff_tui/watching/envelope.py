"""Say where a run stands to programs: one JSON object, without what people said unless that is asked for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from riff_tui.text.safe_text import fit, one_line
from riff_tui.watching import early_verdict

if TYPE_CHECKING:
    from riff_runner.run.prices import Cost, SpentTokens
    from riff_runner.run.status.run_reader import RunReader
    from riff_runner.run.status.run_status import RunStatus, WatchedCall
    from riff_tui.watching.early_verdict import EarlyVerdict

MOST_CALLS = 100
MOST_REASONS = 5
WHY_WIDTH = 200
WORDS_WIDTH = 500


def envelope(
    status: RunStatus,
    reader: RunReader,
    verdict: EarlyVerdict | None,
    *,
    since: float | None = None,
    cost: Cost | None = None,
    text: bool = False,
) -> dict[str, Any]:
    """Return where a run stands, with its calls or those that changed `since`; `text` adds what was said last.

    Why a call waits or failed is what machines said, on one line and cut.
    """
    calls, truncated = reader.calls(status, MOST_CALLS, since)
    return {
        "as_of": moment(status.as_of),
        "run": status.run_id,
        "phase": status.phase,
        "ending": status.ending,
        "agent": status.agent,
        "caller": status.caller,
        "counts": {"planned": status.planned, **status.counts._asdict(), "left": status.left},
        "reasons": [{"error": cut_words(reason), "calls": calls} for reason, calls in status.reasons[:MOST_REASONS]],
        "rate_per_min": status.rate_per_min,
        "eta_s": status.eta_s,
        "tokens": {"agent": _tokens(status.agent_tokens), "caller": _tokens(status.caller_tokens)},
        "cost": None if cost is None else cost.amount,
        "currency": None if cost is None else cost.currency,
        "flows": [{"flow": each.flow, **each.counts._asdict()} for each in status.flows],
        "calls": [_call(call, status, reader, text=text) for call in calls],
        "truncated": truncated,
        "early_verdict": None if verdict is None else early_verdict.document(verdict),
    }


def moment(seconds: float) -> str:
    """Write seconds since the epoch as RFC 3339 with milliseconds."""
    written = datetime.fromtimestamp(int(seconds * 1000) / 1000, UTC)
    return written.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cut_words(text: str | None, width: int = WHY_WIDTH) -> str | None:
    """Return what was said on one line that nothing is hidden in, cut to `width` cells."""
    return None if text is None else fit(one_line(text), width)


def _call(call: WatchedCall, status: RunStatus, reader: RunReader, *, text: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "conversation_id": call.conversation_id,
        "flow": call.flow,
        "state": call.state,
        "turn": call.turn,
        "status": call.status,
        "idle_s": call.idle_s(status.as_of),
        "why": cut_words(call.why),
        "completed": call.completed,
    }
    if text:
        said = reader.last_words(call)
        found["last"] = (
            None if said is None else {"role": one_line(said[0]), "text": fit(one_line(said[1]), WORDS_WIDTH)}
        )
    return found


def _tokens(tokens: SpentTokens | None) -> dict[str, Any] | None:
    return None if tokens is None else tokens._asdict()
