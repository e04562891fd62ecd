"""Play one simulated call from its greeting to its end."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from riff_ingest.conversation import Conversation
from riff_ingest.driver import Driver
from riff_ingest.events import EventBus
from riff_ingest.sources.flow_files.forms import StateScript, WeaknessKind
from riff_runner.simulate.case import AgentVoice, CallerVoice, Case, next_state, route
from riff_runner.simulate.lexicon import phrases
from riff_runner.simulate.machine import Machine

Fate: TypeAlias = Literal["pass", "stall", "escalate"]

ERRORED_SHARE = 0.02
DWELL_LOSS = 0.44
"""The share of callers that a planted dwell loses, half of them to a human."""
BROKEN = (
    "agent websocket closed: 1011 internal error",
    "calendar backend answered 503",
    "speech service unreachable: dial timeout",
    "no audio from the agent for 30 s",
)
TOOL_TROUBLE = "timeout after 5 s"
TROUBLES = (
    ("asr", "empty transcription"),
    ("llm", "invalid tool arguments, retried"),
    ("tts", "buffer underrun"),
)
STOPS = ("hangup", "hangup", "hangup", "hangup", "max_turns", "max_turns", "max_turns", "loop", "loop", "timeout")


class CallOutcome(NamedTuple):
    completed: bool
    stop_reason: str
    final_status: str | None
    error: str | None = None


class SimulatedCall:
    """Play one call; all chance in it comes from its case, so it is the same whenever it is played."""

    def __init__(self, case: Case) -> None:
        rng = Random(f"{case.seed}/{case.stage.flow.flow}/{case.number}")
        self._case = case
        self._stage = case.stage
        self._rng = rng
        self._random = rng.random
        self._phrases = phrases()
        self._caller = CallerVoice(case.persona, case.scenario.says, case.stage.pools[case.scenario.name], rng)
        self._agent = AgentVoice(case, rng, self._caller.notes)
        self._now = 0.0
        self._tasks = list(case.scenario.tasks)
        self._correcting: str | None = None
        self._corrected = False
        self._visits = 0
        self._breaks_at = 1 + int(self._random() * 4) if self._random() < ERRORED_SHARE else 0
        bus = EventBus()
        self._driver = Driver(bus)
        self._machine = Machine(bus, case.stage.flow.simulate.initial, case.stage.successors, lambda: self._now)

    def play(self) -> Conversation:
        """Play the call and return the conversation as its driver collected it."""
        outcome = None
        while outcome is None:
            outcome = self._visit(self._machine.state)
        case, flow = self._case, self._stage.flow
        for slot, value in self._machine.slots.items():
            self._driver.slot(slot, value)
        return self._driver.finish(
            case.conversation_id,
            flow.flow,
            run_id=case.run.id,
            run_label=case.run.label,
            commit=case.run.commit,
            branch=case.run.branch,
            archetype=flow.archetype,
            agent_model=case.agent.name,
            persona=case.persona.name,
            scenario=f"{case.scenario.name}-{case.persona.name}",
            trial=case.trial,
            started_at=case.started_at,
            duration_s=self._now,
            completed=outcome.completed,
            stop_reason=outcome.stop_reason,
            final_status=outcome.final_status,
            errored=outcome.error is not None,
            error=outcome.error,
            contract=self._stage.contract,
            facts=self._caller.facts,
            channel="voice",
        )

    def _visit(self, state: str) -> CallOutcome | None:
        if state in self._stage.successes:
            unclear = self._random() > 1 - (1 - self._case.agent.competence) / 2
            return CallOutcome(True, "terminal", "unclear" if unclear else state)
        if state in self._stage.escalations:
            return CallOutcome(False, "terminal", "transferred")
        self._visits += 1
        script = self._stage.scripts[state]
        fate = self._fate(state, script)
        line, missing = self._open(state, script, hears=fate == "pass")
        if self._visits == self._breaks_at:
            reason = self._caller.pick(BROKEN)
            self._driver.failed("integration", reason, t=self._now)
            return CallOutcome(False, "error", None, reason)
        if not script.next:
            return CallOutcome(False, "terminal", None)
        if fate == "stall":
            return self._stall(line)
        if fate == "escalate":
            self._escalate(state, line)
            return None
        self._work(state, script, line, missing)
        self._leave(state, script)
        return None

    # what a visit is made of

    def _fate(self, state: str, script: StateScript) -> Fate:
        if not script.next:
            return "pass"
        slip = (1 - self._case.agent.competence) / 2
        lost = DWELL_LOSS / 2 if self._weak(state, "dwell") else 0.0
        stall = max(self._weak(state, "stall"), lost, slip)
        chance = self._random()
        if chance < stall:
            return "stall"
        return "escalate" if chance < stall + max(self._weak(state, "escalation"), lost, slip) else "pass"

    def _open(self, state: str, script: StateScript, *, hears: bool) -> tuple[str, list[str]]:
        required = self._stage.required[state]
        missing = [slot for slot in required if slot not in self._machine.heard]
        if self._correcting in required:
            missing = [self._correcting]
            self._correcting = None
            line = self._agent.asks(missing)
        elif not required or len(missing) == len(required):
            line = self._agent.line(state)
        else:
            line = self._agent.asks(missing) if missing else self._agent.recaps(required)
        self._say(self._agent.pick(self._case.agent.lead_ins) + line if self._visits > 2 else line)
        if self._random() < self._case.persona.mishears:
            self._reply(self._caller.pick(self._phrases.mishears))
            self._say(self._agent.says(self._phrases.repeats, line))
        if missing:
            return line, self._answer(missing, hears=hears)
        if self._visits == 1:
            self._reply(self._caller.opens(self._early()))
        else:
            self._reply(self._plain_reply(state, script))
        return line, []

    def _answer(self, slots: list[str], *, hears: bool = True) -> list[str]:
        full = self._case.persona.full_answer
        given = [slot for place, slot in enumerate(slots) if place == 0 or self._random() < full]
        for slot in given:
            value = self._caller.value(slot)
            if hears or self._random() < 0.25:
                self._machine.collect(slot, value.value)
        self._reply(self._caller.answers(given))
        return [slot for slot in slots if slot not in given]

    def _plain_reply(self, state: str, script: StateScript) -> str:
        if script.hub:
            return self._caller.commands(self._tasks[0]) if self._tasks else self._caller.pick(self._phrases.goodbyes)
        if script.replies:
            return self._caller.replies(script.replies)
        clarifies = self._case.scenario.clarifies
        return self._caller.replies(clarifies if clarifies else self._phrases.yes)

    def _work(self, state: str, script: StateScript, line: str, missing: list[str]) -> None:
        agent = self._case.agent
        while missing and self._random() < agent.competence:
            if script.guard:
                self._machine.evaluate(script.guard, self._stage.guards[state])
            self._say(self._agent.asks(missing))
            missing = self._answer(missing)
        if self._random() < agent.repetition * 0.35:
            self._say(line)
            self._reply(self._caller.pick(self._phrases.impatient))
        for _ in range(self._times(self._weak(state, "dwell"))):
            self._say(self._agent.says(self._phrases.details))
            self._reply(self._caller.pick(self._phrases.spells))
        for _ in range(self._times(self._weak(state, "guard_error"))):
            self._machine.evaluate(script.guard or state, _lookup_fails)
            self._say(self._agent.says(self._phrases.waits))
            self._reply(self._caller.pick(self._phrases.fine))
        if self._random() < agent.errors:
            if script.tool is None:
                self._driver.failed(*self._caller.pick(TROUBLES), t=self._now)
            else:
                self._call_tool(script.tool, TOOL_TROUBLE)
                self._driver.failed("tool", f"{script.tool}: {TOOL_TROUBLE}", t=self._now)
        if script.tool:
            self._call_tool(script.tool)
        if script.guard:
            self._machine.evaluate(script.guard, self._stage.guards[state])

    def _leave(self, state: str, script: StateScript) -> None:
        if script.mishap_to and self._random() < script.mishap:
            self._machine.commit_transition(script.mishap_to, "rejected")
        elif script.back and not self._corrected and self._random() < self._case.persona.corrects:
            self._corrected = True
            self._correcting = self._caller.pick(self._stage.required[script.back])
            self._reply(self._caller.pick(self._phrases.corrections))
            self._machine.commit_transition(script.back, "caller_correction")
        else:
            reason = "slots_complete" if self._stage.required[state] else "tool_done" if script.tool else "understood"
            self._machine.commit_transition(next_state(script, self._tasks), reason)

    def _stall(self, line: str) -> CallOutcome:
        stop = self._caller.pick(STOPS)
        for _ in range(2 + int(self._random() * 3)):
            self._say(line if stop == "loop" else self._agent.says(self._phrases.again, line))
            self._reply(self._caller.pick(self._phrases.frustrated))
        if stop == "hangup":
            self._reply(self._caller.pick(self._phrases.gives_up))
        return CallOutcome(False, stop, None)

    def _escalate(self, state: str, line: str) -> None:
        if self._random() < 0.5:
            self._say(self._agent.says(self._phrases.again, line))
        self._reply(self._caller.pick(self._phrases.wants_human))
        self._say(self._agent.says(self._phrases.handovers))
        humans = sorted(self._stage.successors[state] & self._stage.escalations)
        self._machine.commit_transition(self._caller.pick(humans), "escalation")

    # the smallest steps

    def _say(self, text: str) -> None:
        latency = self._latency()
        self._now = round(self._now + latency / 1000, 2)
        self._driver.said("agent", text, t=self._now, latency_ms=latency)
        self._now = round(self._now + 0.3 + len(text) / 17, 2)
        self._machine.turn_complete(latency)

    def _reply(self, text: str) -> None:
        self._now = round(self._now + self._case.persona.pause_s * (0.6 + 0.8 * self._random()), 2)
        self._driver.said("caller", text, t=self._now)
        self._now = round(self._now + 0.3 + len(text) / 15, 2)

    def _latency(self) -> int:
        agent = self._case.agent
        latency = agent.median_ms * self._rng.lognormvariate(0.0, agent.spread)
        if self._random() < agent.tail_share:
            latency *= agent.tail
        slow = self._weak(self._machine.state, "latency")
        return int(latency + (slow * 1000 * (0.8 + 0.4 * self._random()) if slow else 0.0))

    def _call_tool(self, tool: str, error: str | None = None) -> None:
        heard = self._machine.heard
        arguments = {slot: heard[slot] for slot in list(heard)[-3:]}
        self._driver.called(tool, arguments, t=self._now, error=error)

    def _early(self) -> list[str]:
        share = self._case.persona.early
        if not share:
            return []
        slots = [slot for state in route(self._stage, self._case.scenario) for slot in self._stage.required[state]]
        early = [slot for slot in slots if self._random() < share]
        for slot in early:
            self._machine.collect(slot, self._caller.value(slot).value)
        return early

    def _weak(self, state: str, kind: WeaknessKind) -> float:
        return self._case.weak.get((state, kind), 0.0)

    def _times(self, mean: float) -> int:
        whole = int(mean)
        return whole + (1 if self._random() < mean - whole else 0)


def _lookup_fails(heard: Mapping[str, Any]) -> NoReturn:
    raise LookupError("service map has no answer")
