"""Print for people where a run is: its head, the calls under way, and what came of each flow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from riff_tui.text.column_fit import NameCut, wrap
from riff_tui.text.glyphs import UNICODE, Glyphs, in_ascii
from riff_tui.text.numbers import counted, percent
from riff_tui.text.safe_text import cell_width, fit, one_line, padded
from riff_tui.watching import early_verdict
from riff_tui.watching.growing_run import SEPARATOR, whole_head_line

if TYPE_CHECKING:
    from riff_runner.run.prices import Cost, SpentTokens
    from riff_runner.run.status.run_reader import RunReader
    from riff_runner.run.status.run_status import CallCounts, RunStatus, WatchedCall
    from riff_tui.gate.decision import Check
    from riff_tui.watching.early_verdict import EarlyVerdict


UNCUT = 10_000
"""The width of lines that no terminal cuts."""
_LEAST_CALLS = 4
_MOST_FLOWS = 8
_WORSE = 3
_REASONS = 2
_NAMES = (14, 40)
_FIGURES = 18
_STANDING = 28
_GAP = "  "


@dataclass(frozen=True, slots=True)
class WatchedRun:
    """Describe what is reported about a run: where it is, the calls to list, and what a comparison shows so far.

    `said` are the words that ended calls, by flow and conversation id, where those were asked for.
    """

    status: RunStatus
    calls: Sequence[WatchedCall] = ()
    verdict: EarlyVerdict | None = None
    cost: Cost | None = None
    said: Mapping[tuple[str, str], tuple[str, str]] = field(default_factory=dict)


def report(run: WatchedRun, width: int = UNCUT, height: int | None = None, glyphs: Glyphs = UNICODE) -> list[str]:
    """Return safe lines of at most `width` cells, at most `height` of them if there is a height."""
    head = list(_head(run, width))
    flows = _flow_lines(run, _MOST_FLOWS if height else len(run.status.flows))
    room = None if height is None else max(_LEAST_CALLS, height - len(head) - len(flows) - 2)
    calls = _call_lines(run, width, room, glyphs)
    lines = [*head, "", *calls, *([""] if calls else []), *flows]
    drawn = [fit(in_ascii(line) if glyphs.ascii_only else line, width, glyphs.ellipsis).rstrip() for line in lines]
    return drawn if height is None else drawn[:height]


def _head(run: WatchedRun, width: int) -> Iterator[str]:
    status = run.status
    yield from wrap(whole_head_line(status), width)
    about = [_side("agent", status.agent, status.agent_tokens), _side("caller", status.caller, status.caller_tokens)]
    if status.spent:
        cost = "unknown" if run.cost is None else f"{run.cost.amount:.4f} {one_line(run.cost.currency)}"
        about.append(f"cost {cost}")
    if status.counts.retried:
        about.append(f"{status.counts.retried} retried")
    if status.counts.caller_failed:
        about.append(f"{status.counts.caller_failed} errored by their caller")
    yield from wrap(SEPARATOR.join(about), width)
    for reason, calls in status.reasons[:_REASONS]:
        yield fit(f"{calls} errored: {cut_words(reason)}", width)
    if run.verdict is not None and (run.verdict.decision or run.verdict.why):
        yield from wrap(one_line(early_verdict.sentence(run.verdict)), width)
        for check in run.verdict.worse[:_WORSE]:
            yield f"  {_worse_text(run.verdict, check)}"


def _worse_text(verdict: EarlyVerdict, check: Check) -> str:
    from riff_tui.gate.messages import change, moved

    return f"{moved(check)} ({change(check)}; n {check.n_candidate})"


def _side(side: str, name: str, tokens: SpentTokens | None) -> str:
    told = "" if tokens is None else f" ({_short(tokens.input)} tokens in, {_short(tokens.output)} out)"
    return f"{side} {fit(one_line(name), _NAMES[1])}{told}"


def _short(count: int | None) -> str:
    if count is None:
        return UNICODE.not_measured
    return str(count) if count < 10_000 else f"{count // 1000}k" if count < 10_000_000 else f"{count // 1_000_000}M"


def _call_lines(run: WatchedRun, width: int, room: int | None, glyphs: Glyphs) -> list[str]:
    if not run.calls:
        return []
    shown = run.calls if room is None or len(run.calls) <= room - 1 else run.calls[: max(1, room - 2)]
    standings = [_standing(run, call) for call in shown]
    states = _width_of(call.state or "" for call in shown)
    # What a call waits for shows more than the end of its name.
    told = min(_STANDING, max(cell_width(each) for each in standings))
    left = width - states - _FIGURES - told
    names = max(_NAMES[0], min(_width_of(call.conversation_id for call in shown), left))
    lines = [f"{padded('call', names)}{_GAP}{padded('state', states)}{_GAP}turn{_GAP}  idle{_GAP}status"]
    now = run.status.as_of
    lines += [
        _call_line(call, call.idle_s(now), names, states, glyphs) + standing
        for call, standing in zip(shown, standings, strict=True)
    ]
    if len(shown) < len(run.calls):
        lines.append(f"and {counted(len(run.calls) - len(shown), 'more call')}")
    return lines


def _standing(run: WatchedRun, call: WatchedCall) -> str:
    """Return the status of a call, why it has it, and what was said last if that is asked for."""
    said = run.said.get((call.flow, call.conversation_id))
    words = None if said is None else f"{one_line(said[0])}: {one_line(said[1])}"
    about = SEPARATOR.join(part for part in (cut_words(call.why), words) if part)
    return f"{call.status}: {about}" if about else call.status


def _call_line(call: WatchedCall, idle: float | None, names: int, states: int, glyphs: Glyphs) -> str:
    turn = glyphs.not_measured if call.turn is None else str(call.turn)
    return _GAP.join(
        (
            _cell(call.conversation_id, names, glyphs),
            _cell(call.state or glyphs.not_measured, states, glyphs),
            padded(turn, 4, right=True),
            padded(idle_text(idle) or glyphs.not_measured, 6, right=True),
            "",
        )
    )


def idle_text(seconds: float | None) -> str:
    """Write how long a call gave no sign, in steps of 5 s and of minutes, so that a line seldom changes."""
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{int(seconds // 5) * 5} s" if seconds >= 5 else "<5 s"
    return f"{int(seconds // 60)} min" if seconds < 6000 else ">99 min"


def _flow_lines(run: WatchedRun, most: int) -> list[str]:
    flows = run.status.flows
    if not flows:
        return []
    shown = list(flows)[: most if len(flows) <= most else most - 1]
    names = _width_of(shown)
    compared = run.verdict is not None and run.verdict.decision is not None
    title = f"{padded('flow', names)}{_GAP} done{_GAP}   ok{_GAP}errored{_GAP}open"
    lines = [f"{title}{_GAP}success so far" if compared else title]
    lines += [
        _flow_line(flow, flows[flow], names) + (_GAP + _success_text(run, flow) if compared else "") for flow in shown
    ]
    if len(shown) < len(flows):
        lines.append(f"and {counted(len(flows) - len(shown), 'more flow')}")
    return lines


def _flow_line(flow: str, counts: CallCounts, names: int) -> str:
    cells = ((counts.done, 5), (counts.completed, 5), (counts.errored, 7), (counts.running + counts.retrying, 4))
    return _GAP.join((_cell(flow, names), *(padded(str(count), wide, right=True) for count, wide in cells)))


def _success_text(run: WatchedRun, flow: str) -> str:
    """Return the success rate of a flow so far and of the baseline; `~` marks one of few calls."""
    verdict = run.verdict
    check = verdict.success(flow) if verdict is not None else None
    if verdict is None or check is None:
        return UNICODE.not_measured
    thin = UNICODE.thin if verdict.is_thin(check) else ""
    return f"{percent(check.candidate)}{thin} (n {check.n_candidate}), was {percent(check.baseline)}"


def _width_of(names: Iterable[str]) -> int:
    least, most = _NAMES
    return min(most, max([least, *(cell_width(one_line(name)) for name in names)]))


def _cell(name: str, width: int, glyphs: Glyphs = UNICODE) -> str:
    """Return a name in so many cells; of a long one its ends distinguish it from others."""
    text = NameCut(width, tail=width // 2, ellipsis=glyphs.ellipsis).text(one_line(name))
    return padded(text, width)


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
    """Return where a run is, with its calls or those that changed `since`; `text` adds what was said last.

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
        "flows": [{"flow": flow, **counts._asdict()} for flow, counts in status.flows.items()],
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
