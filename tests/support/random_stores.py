"""Small stores made by chance, and what the tests compute from the same facts without any database."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.support.facts import call, fresh, grouped_by, put, state, verdict
from tests.surface.ingest import Turn
from tests.surface.store import (
    CALL_NAMES,
    SAID_FIELDS,
    And,
    ConversationFacts,
    EventColumns,
    ExpectedStep,
    InState,
    JudgedScore,
    Not,
    Or,
    Predicate,
    StateAspects,
    Store,
    Term,
    ToolAspects,
    field_of,
    matches,
    open_store,
    read_text,
    spell,
)
from tests.surface.store import VOCABULARY_COMPUTED as COMPUTED

GROUPINGS: tuple[tuple[str, ...], ...] = (("flow",), ("flow", "agent"), ("run", "flow"), ("flow", "persona"))
CALL_FILTERS: dict[str, Callable[[ConversationFacts], bool]] = {
    "": lambda facts: True,
    "flow=dental": lambda facts: facts.flow == "dental",
    "run=night-2 agent=gemini": lambda facts: (facts.run_id, facts.agent_model) == ("night-2", "gemini"),
    "persona:h": lambda facts: "h" in (facts.persona or ""),
}
"""Filters of calls of a `world`, each with which of them it leaves."""

FLOWS = ("dental", "DENTAL-2", "straße 50%_\\")
AGENTS = ("gemini", "o'brien")
RUNS = ("night-1", "night-2", "night-3")
PERSONAS = (None, "hurried", "Überlegt", "日本")
STATES = ("greet", "collect", "confirm", "book")
SEGMENTS = ("opening", "collect")
JUDGES = (("codex", None), ("gemini", "aaaaaa1"), ("gemini", "aaaaaa2"), ("gemini", "b7"))
SHOWN = ("codex", "gemini#aaaaaa1", "gemini#aaaaaa2", "gemini#b7")
ASPECTS = ("correctness", "completion", "errors", "latency_p95", "turn_count")
TOOLS = ("find", "user:pay", "book/now")
LABELS = (None, "terminal", "max_turns")
SAID = (
    "", "My STRASSE is straße 50%_\\", "İstanbul, ıŞIK", "日本語で お願いします", "שלום, über alles", 'she said "no"',
    "back\\slash/es", "two\nlines\tand \x01 more", "300 \N{KELVIN SIGN}, \N{LATIN SMALL LETTER LONG S}o", "Dental",
    "é", "ÉÉ",
)  # fmt: skip


class World:
    """Facts, and the verdicts on them by call."""

    def __init__(self, calls: list[ConversationFacts], verdicts: list[JudgedScore]) -> None:
        self.calls = calls
        self.verdicts = verdicts
        self._stored: bytes | None = None

    def store(self, path: Path) -> Store:
        """A store that has them, opened for reading only."""
        if self._stored is None:
            with fresh(path) as store:
                put(store, "calls.jsonl", self.calls)
                if self.verdicts:
                    put(store, "verdicts.jsonl", self.verdicts)
            self._stored = path.read_bytes()
        else:
            path.write_bytes(self._stored)
        return open_store(path)

    def copy(self) -> World:
        """The same calls, which may be changed before they are stored."""
        return World(deepcopy(self.calls), self.verdicts)

    def judged(self, facts: ConversationFacts) -> dict[str, float | None]:
        """Each judge's score of a call, by the name that is shown."""
        return {
            SHOWN[JUDGES.index((score.judge, score.prompt_hash))]: score.score
            for score in self.verdicts
            if (score.run, score.conversation) == (facts.run_id, facts.conversation_id)
        }


@lru_cache(maxsize=16)
def world(seed: int, size: int = 24) -> World:
    """Calls of every kind, the same for the same seed; nobody changes them."""
    chance = random.Random(seed)
    calls = [_call(chance, number) for number in range(size)]
    verdicts = [
        verdict(facts.conversation_id, chance.choice((None, 2.0, 5.5, 8.25)), run=facts.run_id, judge=judge,
                prompt_hash=prompt, line=line * len(JUDGES) + index)
        for line, facts in enumerate(calls)
        for index, (judge, prompt) in enumerate(JUDGES)
        if chance.random() < 0.4
    ]  # fmt: skip
    # Every judge is known, so that the versions of a name are distinguished.
    verdicts += [
        verdict("nowhere", 1.0, judge=judge, prompt_hash=prompt, line=100_000 + index)
        for index, (judge, prompt) in enumerate(JUDGES)
    ]
    return World(calls, verdicts)


def _call(chance: random.Random, number: int) -> ConversationFacts:
    errored, caller = chance.random() < 0.2, random.Random(number)
    flow = chance.choice(FLOWS)
    rows = [_state(chance, name) for name in STATES if chance.random() < 0.6]
    return call(
        f"{chance.choice(('c', 'C', 'é', 'x_%'))}-{number:03}",
        run=chance.choice(RUNS),
        commit={"night-1": "abc", "night-2": None, "night-3": "abd"}[RUNS[number % 3]] if number < 3 else None,
        flow=flow,
        archetype={"dental": "booking", "DENTAL-2": "booking"}.get(flow),
        agent=chance.choice(AGENTS),
        persona=chance.choice(PERSONAS),
        scenario=chance.choice((None, "s1", "s2")),
        trial=chance.randrange(3),
        started_at=chance.choice((None, 1_782_000_000_000_000 + chance.randrange(3) * 86_400_000_000)),
        duration_s=chance.choice((None, 12.5)),
        completed=chance.choice((None, True, False)),
        stop_reason=chance.choice(LABELS),
        final_state=chance.choice((None, *STATES)),
        errored=errored,
        caller=caller.choice((None, "scripted", "GPT")),
        caller_ok=caller.choice((None, True, False)) if errored else caller.choice((None, True)),
        error_count=chance.randrange(3),
        aspects={name: chance.choice((0.0, 4.2, 1 / 3, 10.0)) for name in ASPECTS if chance.random() < 0.8},
        states=rows,
        tools=_tools(random.Random(number)),
        terminals={"booked": "success"},
        expected=[_step(chance) for _ in range(chance.randrange(3))],
        transcript=_transcript(random.Random(number)),
    )


def _transcript(chance: random.Random) -> bytes | None:
    """What was said, spelled in one of the ways that stores have; of some calls it is not kept."""
    turns = [
        {"role": chance.choice(("agent", "caller", "narrator")), "text": chance.choice(SAID)}
        for _ in range(chance.randrange(4))
    ]
    way = chance.randrange(5)
    if way < 2:
        return None if way else json.dumps({"turns": turns, "events": []}).encode()
    return spell([Turn(turn["role"], turn["text"]) for turn in turns], EventColumns(), {})


def said_by(facts: ConversationFacts, role: str | None) -> list[str]:
    """What one side, or anybody, said in a call."""
    turns = [] if facts.transcript is None else read_text(facts.transcript)["turns"]
    return [turn["text"] for turn in turns if turn["text"] and role in (None, turn["role"])]


def _state(chance: random.Random, name: str) -> StateAspects:
    return state(
        name,
        segment=chance.choice(SEGMENTS),
        to={target: chance.randrange(1, 4) for target in (*STATES, "booked") if chance.random() < 0.3},
        progress=chance.randrange(2),
        stall=chance.randrange(2),
        escalation=chance.randrange(2),
        revisit=chance.randrange(3),
        dwell_turns=chance.choice((1.0, 7 / 3, 5.5)),
        latency_p95_ms=chance.choice((None, 333.3, 1234.5)),
        guard_error=chance.randrange(3),
        slot_fill_rate=chance.choice((None, 0.0, 2 / 3)),
        slow=chance.choice((None, 0.0, 1 / 3, 1.0)),
    )


def _tools(chance: random.Random) -> list[ToolAspects]:
    """Rows of tools as a call has them: those that were called, and perhaps one that is to blame."""
    places = [(tool, where) for tool in TOOLS for where in (None, *STATES) if chance.random() < 0.2]
    blamed = chance.choice((None, *places))
    return [_tool(chance, tool, where, failed=int((tool, where) == blamed)) for tool, where in places]


def _tool(chance: random.Random, tool: str, where: str | None, failed: int) -> ToolAspects:
    n = chance.randrange(1 - failed, 4)
    errors = chance.randint(0, n)
    bad = None if chance.random() < 0.5 else chance.randint(0, n)
    latency = chance.choice((None, 250.0, 1333.3)) if n else None
    return ToolAspects(tool, where, n, errors, chance.randint(0, errors), bad if n else None, latency, failed)


def _step(chance: random.Random) -> ExpectedStep:
    return ExpectedStep(
        chance.choice(("book", "pay")), "agent", chance.random() < 0.5, chance.choice((None, True, False))
    )


# what a filter reports of the same facts


def record_of(facts: ConversationFacts, judged: Mapping[str, float | None]) -> dict[str, Any]:
    """A call as a row."""
    return {
        **{
            name: grouped_by(facts, name)
            for name in ("run", "conversation", "flow", "agent", "persona", "scenario", "caller")
        },
        **{name: grouped_by(facts, name) for name in ("stop_reason", "final_state", "final_status")},
        **{name: grouped_by(facts, name) for name in ("trial", "started_at", "duration_s", "completed", "errored")},
        "caller_ok": facts.caller_ok,
        "archetype": {"dental": "booking", "DENTAL-2": "booking"}.get(facts.flow),
        "error_count": facts.error_count,
        "tool": _placed(row for row in facts.tools if row.n),
        "tool_error": _placed(row for row in facts.tools if row.errors),
        **{name: said_by(facts, role) for name, role in SAID_FIELDS.items()},
        **facts.aspects,
        "humanness": judged,
        "judge": [name for shown in judged for name in {shown, shown.partition("#")[0]}],
    }


def _placed(rows: Iterable[ToolAspects]) -> list[str]:
    """The names of tools, alone and in their states."""
    return [name for row in rows for name in (row.tool, f"{row.state or '(none found)'}/{row.tool}")]


def rows_of(facts: ConversationFacts) -> list[dict[str, Any]]:
    """The state rows of a call."""
    names = ("state", "segment", "progress", "stall", "escalation", "revisit", "dwell_turns", "guard_error")
    return [
        {**{name: getattr(row, name) for name in names}, "slot_fill_rate": row.slot_fill_rate} for row in facts.states
    ]


def about_states(predicate: Predicate) -> bool:
    """Return whether a part speaks of some row of states."""
    match predicate:
        case Term(name):
            return name is not None and field_of(name).level == "state"
        case Not() | InState():
            return False
        case And(parts) | Or(parts):
            return all(about_states(part) for part in parts)


def holds(predicate: Predicate | None, record: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a call is as the predicate asks; parts side by side about states speak of one row."""
    match predicate:
        case None:
            return True
        case Term():
            if about_states(predicate):
                return any(matches(predicate, row, ()) for row in rows)
            return matches(predicate, record, CALL_NAMES)
        case Not(part):
            return not holds(part, record, rows)
        case InState(part):
            return any(matches(part, row, ()) for row in rows)
        case Or(parts):
            return any(holds(part, record, rows) for part in parts)
        case And(parts):
            same = [part for part in parts if not isinstance(part, And) and about_states(part)]
            found = not same or any(all(matches(part, row, ()) for part in same) for row in rows)
            return found and all(holds(part, record, rows) for part in parts if part not in same)


def selected(made: World, predicate: Predicate | None) -> list[ConversationFacts]:
    """The calls that a predicate leaves."""
    return [facts for facts in made.calls if holds(predicate, record_of(facts, made.judged(facts)), rows_of(facts))]


def grouped(
    calls: Iterable[ConversationFacts], key: Callable[[ConversationFacts], Any]
) -> dict[Any, list[ConversationFacts]]:
    """Calls by a key."""
    found: dict[Any, list[ConversationFacts]] = {}
    for facts in calls:
        found.setdefault(key(facts), []).append(facts)
    return found


def billionths(values: Iterable[float | None]) -> tuple[int, int]:
    """Return how many values are measured, and their sum as the rollups keep it."""
    measured = [value for value in values if value is not None]
    return len(measured), sum(int(value * 1e9 + 0.5) for value in measured)


def call_quality(facts: ConversationFacts, scores: Iterable[float | None] = ()) -> float | None:
    """Quality of a call as docs/metrics.md words it in section 5, with the median of some scores of humanness."""
    parts = {name: facts.aspects.get(name) for name in ("correctness", "completion", "errors")}
    if parts["correctness"] is None:
        return None
    seconds, human = facts.aspects.get("latency_p95"), [score for score in scores if score is not None]
    parts["latency"] = None if seconds is None else min(10.0, max(0.0, 10 - 10 * seconds / 15))
    parts["humanness"] = median(human) if human else None
    weights = {"correctness": 35, "completion": 20, "errors": 15, "latency": 10, "humanness": 20}
    known = [(weights[name], value) for name, value in parts.items() if value is not None]
    blend = sum(weight * value for weight, value in known) / sum(weight for weight, _ in known)
    if parts["correctness"] < 10:
        return min(blend, 4.0)
    return min(blend, 6.0) if parts["completion"] is not None and parts["completion"] < 10 else blend


def quality(made: World, calls: Iterable[ConversationFacts], judge: str | None = None) -> list[float]:
    """What is behind a mean: each call's quality, or with `(computed)` that without judges; a judge's own scores."""
    counted = [facts for facts in calls if not facts.errored]
    if judge is None:
        found = [call_quality(facts, made.judged(facts).values()) for facts in counted]
    elif judge == COMPUTED:
        found = [call_quality(facts) for facts in counted]
    else:
        return [score for facts in counted if (score := made.judged(facts).get(judge)) is not None]
    if 2 * sum(value is not None for value in found) < len(found):
        return []
    return [value for value in found if value is not None]


def successes(calls: Iterable[ConversationFacts]) -> list[bool]:
    """Return which of the calls that count were a success, as far as that is known."""
    return [facts.success for facts in calls if not facts.errored and facts.success is not None]


def close(found: float | None, wanted: float | None) -> bool:
    return found is wanted if wanted is None or found is None else found == pytest.approx(wanted, abs=1e-8)
