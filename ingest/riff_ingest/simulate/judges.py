"""Simulate judges: named as such, and blunt about it in their `model`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from random import Random
from typing import TypedDict

from riff_ingest.conversation import Conversation

MODEL = "simulated"


class VerdictLine(TypedDict):
    """Hold a line of a humanness file (docs/formats.md, section 2)."""

    run_id: str | None
    conversation_id: str
    judge: str
    score: float | None
    judged_at: str
    rationale: str
    prompt_hash: str
    model: str


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """Describe a judge who leans `bias` points one way, wavers by `spread`, and leaves a share `unscored`."""

    name: str
    prompt: str
    bias: float
    spread: float
    unscored: float
    prompt_hash: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompt_hash", hashlib.sha256(self.prompt.encode()).hexdigest()[:12])


JUDGES = (
    SimulatedJudge("sim-warm", "Would you have enjoyed this call?", 0.8, 0.5, 0.02),
    SimulatedJudge("sim-strict", "List what a careful person would have said differently.", -1.3, 0.6, 0.03),
    SimulatedJudge("sim-wavering", "Rate from 0 to 10 how human the agent sounds.", -0.1, 1.5, 0.06),
)


def verdicts(conversation: Conversation, seed: int, judged_at: str) -> list[VerdictLine]:
    """Yield what each simulated judge says of a call, from what was said and how long it took."""
    rng = Random(f"{seed}/judges/{conversation.run_id}/{conversation.conversation_id}")
    merit, remark = _impression(conversation)
    return [_verdict(judge, conversation, rng, merit, remark, judged_at) for judge in JUDGES]


def _verdict(
    judge: SimulatedJudge, conversation: Conversation, rng: Random, merit: float, remark: str, judged_at: str
) -> VerdictLine:
    waver, silent = rng.gauss(0.0, judge.spread), rng.random() < judge.unscored
    score = None
    if conversation.errored:
        remark = "The call broke off before there was anything to judge."
    elif silent:
        remark = "The answer was not in the expected form."
    else:
        score = round(min(10.0, max(0.0, merit + judge.bias + waver)), 1)
    return {
        "run_id": conversation.run_id,
        "conversation_id": conversation.conversation_id,
        "judge": judge.name,
        "score": score,
        "judged_at": judged_at,
        "rationale": remark,
        "prompt_hash": judge.prompt_hash,
        "model": MODEL,
    }


def _impression(conversation: Conversation) -> tuple[float, str]:
    said = [turn for turn in conversation.turns if turn.role == "agent"]
    repeats = len(said) - len({turn.text for turn in said})
    slowest = max((turn.latency_ms or 0.0 for turn in said), default=0.0) / 1000
    stalled = not conversation.completed and conversation.final_status is None
    losses = {
        "Leaves the caller without help and does not notice.": 2.4 if stalled else 0.0,
        "Says the same sentence again instead of listening.": 1.2 * min(repeats, 4),
        "Long silences before it answers.": min(2.5, 0.3 * max(0.0, slowest - 2.0)),
        "Hands over politely, but gives up early.": 0.9 if conversation.final_status == "transferred" else 0.0,
    }
    worst = max(losses, key=lambda remark: losses[remark])
    return 8.0 - sum(losses.values()), worst if losses[worst] >= 0.5 else "Friendly, clear and to the point."
