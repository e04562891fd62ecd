"""Walk through a call in its order, whatever it was made of, and collect what happened in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from riff_ingest.conversation import ROLES
from riff_ingest.sources.lenient_json import is_deep, too_deep
from riff_ingest.tau.judges import Spoken
from riff_ingest.tau.records import Call, Message
from riff_ingest.tau.tools import phase_of, tool_of
from riff_ingest.tool_states import ToolStates
from riff_store.interaction import Interaction
from riff_store.voice import Voice

LONGEST_ERROR = 1000
"""Characters that are kept of what a tool said went wrong."""


@dataclass(slots=True)
class Walked:
    """Hold what happened in a call: what was said and called as `states`, and what only voice has.

    `kinds` are those of the tools that checks tell of, by name; `spoken` says where each turn stands, `last_words` are
    the caller's last, with what steers the simulation. `duration_s` is the length of the call in seconds where its
    record has a clock of its own.
    """

    states: ToolStates
    kinds: Mapping[str, str] = field(default_factory=dict)
    spoken: list[Spoken] = field(default_factory=list)
    last_words: str | None = None
    has_caller: bool = False
    duration_s: float | None = None
    voice: Voice | None = None
    interaction: Interaction | None = None
    defects: Counter[str] = field(default_factory=Counter)

    def call(self, call: Call, answer: Message | None, role: str, t: float | None) -> None:
        """Take a call of a tool by a side, `t` seconds after the call started, with what the tool answered."""
        if not call.name:
            self.defects["call of a tool without a name"] += 1
            return
        arguments = call.arguments
        if is_deep(arguments):
            self.defects[f"arguments {too_deep()}"] += 1
            arguments = None
        tool = tool_of(call.name, arguments)
        said = answer.content if answer else None
        failed = answer is not None and answer.error is True
        self.states.call(
            call.name,
            by=ROLES.get(call.requestor or role, "agent"),
            t=t,
            arguments=arguments,
            result=None if failed else said,
            error=(said or "error")[:LONGEST_ERROR] if failed else None,
            state=tool,
            segment=phase_of(tool, self.kinds.get(tool)),
        )


def answers_to(calls: Sequence[Call], answers: Sequence[Message]) -> Sequence[Message | None]:
    """Return the answer to each call: the one with its id, where none has it the next that is nobody else's."""
    if len(calls) == len(answers) == 1:
        return answers
    left = list(answers)
    found: list[Message | None] = []
    for call in calls:
        place = next((at for at, answer in enumerate(left) if answer.id == call.id), None)
        found.append(None if place is None else left.pop(place))
    known = {call.id for call in calls}
    spare = iter([answer for answer in left if answer.id not in known])
    return [next(spare, None) if answer is None else answer for answer in found]
