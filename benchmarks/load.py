"""Calls for load: native transcript lines of about 7 kB, the same for the same seed, made quickly.

The calls walk a small machine with detours, so that states are revisited, stall and escalate at
rates that differ by flow and agent. Words come up as often as in a language (Zipf's law), so that
texts do not compress better than what people say. A night plays every task (a scenario with a persona) once with each
agent in each flow, and three judges score its calls, a few of which they leave unscored.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec

FLOWS = 24
AGENTS = ("gemini-2.5-flash", "qwen-flash", "gpt-4.1-mini", "llama-4-scout")
PERSONAS = ("hurried", "chatty", "elderly", "hesitant", "hostile")
SCENARIOS = 19
RUNS = 20
NIGHTS = 110
"""Runs of the load that figures are headed by, a file of calls and a file of scores each."""
JUDGES = ("judge-0", "judge-1", "judge-2")
STATES = ("greet", "triage", "collect_name", "collect_date", "collect_details", "confirm_details", "book_visit")
SLOTS = {"collect_name": ("name", "phone"), "collect_date": ("date",), "collect_details": ("address", "problem")}

_START = datetime(2026, 3, 2, 2, 0, tzinfo=UTC)
_SYLLABLES = [first + last for first in "bcdfghklmnprstvw" for last in "aeiou"]


@dataclass(frozen=True, slots=True)
class Shape:
    """Describe how many there are of what a store can grow along beside its calls."""

    flows: int = FLOWS
    agents: int = len(AGENTS)
    runs: int = RUNS
    states: int = len(STATES)
    personas: int = len(PERSONAS)
    judges: int = len(JUDGES)
    exchanges: int = 1
    """What both say in turn, so often in place of once."""
    wordy: bool = True
    """Whether people speak in sentences; a word each is enough for questions that look at no text."""


@dataclass(slots=True)
class _Call:
    turns: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    slots: dict[str, Any] = field(default_factory=dict)
    t: float = 0.0
    stopped: str = "terminal"
    state: str = "greet"


class Load:
    """A stream of calls; the same seed gives the same calls, whatever was drawn from another stream.

    They are all of one `night`, or spread over the runs of the `shape`.
    """

    def __init__(self, seed: int, night: int | None = None, shape: Shape = Shape()) -> None:
        self._night, self._shape = night, shape
        self._random = random.Random(seed)
        self._words = _vocabulary(random.Random(0))
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))
        self._encoder = msgspec.json.Encoder()
        more: dict[str, Any] = {_drawn(number): {} for number in range(shape.states - len(STATES))}
        self._contract = {**_CONTRACT, "states": {**_CONTRACT["states"], **more}}

    def lines(self, conversations: int) -> Iterator[bytes]:
        """The calls as lines of a transcript file, without line ends."""
        for number in range(conversations):
            yield self._encoder.encode(self._document(number))

    def _document(self, number: int) -> dict[str, Any]:
        shape = self._shape
        flow, agent = number % shape.flows, number // shape.flows % shape.agents
        run = number * 7919 % shape.runs if self._night is None else self._night
        call = self._walk(skill=0.97 - 0.02 * (flow % 7) - 0.03 * (agent % len(AGENTS)))
        started = _START + timedelta(days=run, seconds=number % 20_000)
        errored = number % 97 == 50
        completed = call.state == "booked" and not errored
        return {
            "schema": "riff.flow-transcript/1",
            "conversation_id": f"c-{number:07d}",
            "run_id": run_name(run),
            "commit": f"{(run + 1) * 2654435761 % 2**28:07x}",
            "flow": f"flow_{flow:02d}",
            "archetype": ("booking", "dispatch", "inquiry")[flow % 3],
            "agent_model": _named(AGENTS, agent),
            "persona": _named(PERSONAS, number % shape.personas),
            "scenario": f"scenario_{number // (shape.flows * shape.agents) % SCENARIOS:02d}",
            "started_at": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "duration_s": round(call.t, 2),
            "completed": completed,
            "stop_reason": "error" if errored else call.stopped,
            "final_state": call.state,
            "final_status": "confirmed" if completed else None,
            "errored": errored,
            "errors": [],
            "contract": self._contract,
            "slots": call.slots,
            "turns": call.turns,
            "events": call.events,
        }

    def _walk(self, skill: float) -> _Call:
        draw, call = self._random, _Call()
        path, place = self._path(), 0
        for _ in range(14):
            call.state = path[place]
            target = self._visit(call, path, place, skill)
            if target is None:
                call.stopped = "max_turns"
                return call
            call.events.append({"type": "state_exited", "t": _s(call), "state": call.state, "to_state": target})
            if target in ("booked", "escalated"):
                call.events.append({"type": "state_entered", "t": _s(call), "state": target})
                call.state = target
                return call
            place = path.index(target)
        call.stopped = "loop" if draw.random() < 0.5 else "hangup"
        return call

    def _path(self) -> Sequence[str]:
        """Return the states on a call's way; if there are more than a call can see, some of these are drawn."""
        more = self._shape.states - len(STATES)
        if more <= 0:
            return STATES
        drawn = self._random.sample(range(more), min(3, more))
        return (*STATES[:2], *map(_drawn, drawn), *STATES[2:])

    def _visit(self, call: _Call, path: Sequence[str], place: int, skill: float) -> str | None:
        """Play one visit and name the next state, `None` if the call ends here."""
        draw, state = self._random, path[place]
        call.events.append({"type": "state_entered", "t": _s(call), "state": state})
        for _ in range(self._shape.exchanges * (1 + (draw.random() < 0.75) + (draw.random() < 0.3))):
            self._exchange(call, state)
        met = draw.random() < skill
        guard = {"type": "guard_evaluated", "t": _s(call), "guard": f"{state}_done", "result": met, "error": None}
        if not met and draw.random() < 0.1:
            guard["error"] = "KeyError: 'slot'"
        call.events.append(guard)
        if met:
            for slot in SLOTS.get(state, ()):
                value = draw.choice(self._words)
                call.slots[slot] = value
                call.events.append({"type": "slot_filled", "t": _s(call), "slot": slot, "value": value, "state": state})
            return path[place + 1] if place + 1 < len(path) else "booked"
        fate = draw.random()
        if fate < 0.25:
            return None
        if fate < 0.5:
            return "escalated"
        return path[max(0, place - 1)]

    def _exchange(self, call: _Call, state: str) -> None:
        draw = self._random
        latency = round(draw.gammavariate(4.0, 350.0))
        said, heard = self._sentence(8, 22), self._sentence(3, 18)
        call.turns.append({"role": "agent", "text": said, "t": _s(call), "state": state, "latency_ms": latency})
        call.t += latency / 1000 + len(said) / 16
        call.events.append({"type": "turn_complete", "t": _s(call), "latency_ms": latency})
        call.turns.append({"role": "caller", "text": heard, "t": _s(call)})
        call.t += len(heard) / 14 + 0.4

    def _sentence(self, least: int, most: int) -> str:
        many = self._random.randrange(least, most) if self._shape.wordy else 1
        words = self._random.choices(self._words, cum_weights=self._weights, k=many)
        return " ".join(words).capitalize() + "."


_CONTRACT: dict[str, Any] = {
    "success_terminals": ["booked"],
    "escalation_terminals": ["escalated"],
    "final_statuses": ["confirmed"],
    "required_slots": ["name", "date", "address"],
    "states": {state: ({"required_slots": list(SLOTS[state])} if state in SLOTS else {}) for state in STATES},
}


def _drawn(number: int) -> str:
    return f"ask_{number:03d}"


def _named(names: Sequence[str], number: int) -> str:
    """Return one of these names; of those beyond them, one that is as long."""
    return names[number] if number < len(names) else f"{names[number % len(names)]}-{number // len(names):04d}"


def run_name(night: int) -> str:
    """The run of a night."""
    return f"nightly-{night:03d}"


def _s(call: _Call) -> float:
    return round(call.t, 2)


def _vocabulary(draw: random.Random) -> list[str]:
    words = {"".join(draw.choices(_SYLLABLES, k=draw.randrange(1, 5))) for _ in range(2000)}
    return draw.sample(sorted(words), len(words))


def transcript_file(folder: Path, conversations: int, seed: int = 1, shape: Shape = Shape()) -> Path:
    """A transcript file of that many calls, made once and kept in the folder."""
    of = "" if shape == Shape() else "-" + "-".join(str(getattr(shape, each.name)) for each in fields(shape))
    path = folder / f"flow-transcripts-{conversations}-{seed}{of}.jsonl"
    return _made(path, Load(seed, shape=shape).lines(conversations))


def nightly_files(folder: Path, nights: int, calls: int) -> Path:
    """A folder with so many nights of so many calls, made once and kept."""
    nightly = folder / f"nights-{nights}-{calls}"
    for night in range(nights):
        files_of_a_night(nightly, night, calls)
    return nightly


def files_of_a_night(folder: Path, night: int, calls: int, shape: Shape = Shape()) -> Path:
    """A folder with the transcript file and the score file of a night, made once and kept."""
    run = folder / run_name(night)
    run.mkdir(parents=True, exist_ok=True)
    _made(run / "flow-transcripts.jsonl", Load(night, night, shape).lines(calls))
    _made(run / "humanness-scores.jsonl", score_lines(night, calls))
    return run


def score_lines(night: int, calls: int, judges: int = len(JUDGES)) -> Iterator[bytes]:
    """What judges say about each call of a night: they agree as far as they hear the same call."""
    draw = random.Random(night)
    for number in range(calls):
        heard = draw.gauss(6, 1.5)
        for place in range(judges):
            judge = f"judge-{place}"
            score = round(min(10.0, max(0.0, heard + draw.gauss(0.3 * (place % len(JUDGES)), 1))), 1)
            yield msgspec.json.encode(
                {
                    "schema": "riff.humanness-score/1",
                    "conversation_id": f"c-{number:07d}",
                    "run_id": run_name(night),
                    "judge": judge,
                    "score": None if draw.random() < 0.01 else score,
                }
            )


def _made(path: Path, lines: Iterator[bytes]) -> Path:
    """A file of those lines; one that was there already is as good."""
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("wb") as out:
            out.writelines(line + b"\n" for line in lines)
        part.rename(path)
    return path
