"""Compare what a call did with the reference actions of its task (docs/metrics.md, section 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from riff_ingest.conversation import ROLES, ReferenceStep, ToolCall
from riff_ingest.sources.lenient_json import is_deep
from riff_ingest.tau.records import Action, Simulation, Task
from riff_ingest.tau.tools import DISCOVERED, first_word, tool_of, writes

NO_WRITE, SEVERAL = "no-write", "multi"


class Reference(NamedTuple):
    """Hold a reference action of the task that a call was to do.

    `matched` and `kind` (of its tool) are as the call's checks say, `None` without checks.
    """

    action: Action
    matched: bool | None = None
    kind: str | None = None

    @property
    def name(self) -> str:
        """Return the tool that the action calls."""
        return tool_of(self.action.name or "", self.action.arguments)

    @property
    def by(self) -> str:
        """Return the side that is to do it."""
        return ROLES.get(self.action.requestor or "assistant", "agent")


def references_of(simulation: Simulation, task: Task | None) -> list[Reference]:
    """Return the reference actions that a call was checked by, where it was not those of its task."""
    checks = simulation.reward_info.action_checks if simulation.reward_info else None
    checked = [
        Reference(check.action, check.action_match, check.tool_type)
        for check in checks or ()
        if check.action is not None and check.action.name
    ]
    return checked or [Reference(action) for action in actions_of(task)]


def actions_of(task: Task | None) -> list[Action]:
    """Return the reference actions of a task."""
    criteria = task.evaluation_criteria if task else None
    return [action for action in (criteria.actions if criteria else None) or () if action.name]


def is_of_another_task(references: Sequence[Reference], task: Task | None) -> bool:
    """Tell whether a call was checked by other actions than those of the task that it names."""
    named = [(action.name, action.arguments) for action in actions_of(task)]
    return task is not None and [(each.action.name, each.action.arguments) for each in references] != named


def family_of(task_id: str | None, references: Sequence[Reference]) -> str:
    """Return the family of a task: the word in square brackets before its id, else what its references do."""
    if task_id and task_id.startswith("[") and (end := task_id.find("]")) > 1:
        return task_id[1:end]
    verbs = {first_word(each.name) for each in references if writes(each.name, each.kind)}
    if len(verbs) == 1:
        return verbs.pop()
    return SEVERAL if verbs else NO_WRITE


def steps_of(references: Sequence[Reference], calls: Sequence[ToolCall], *, solo: bool) -> list[ReferenceStep]:
    """Return which reference actions were called, by whom, and whether the arguments were those.

    A step is of the side that it asks for, but of the other one where only that called the tool, and of the agent
    where there was nobody else.
    """
    called = {(call.name, call.by) for call in calls}
    called |= {(tool_of(call.name, call.arguments), call.by) for call in calls if call.name == DISCOVERED}
    found = []
    for each in references:
        name, by, arguments = each.name, "agent" if solo else each.by, each.action.arguments
        other = "caller" if by == "agent" else "agent"
        if not solo and (name, by) not in called and (name, other) in called:
            by = other
        matched = each.matched if each.matched is not None else any(matches(each.action, call) for call in calls)
        found.append(ReferenceStep(name, by, (name, by) in called, matched, None if is_deep(arguments) else arguments))
    return found


def matches(action: Action, call: ToolCall) -> bool:
    """Tell whether a call is a reference action, as the benchmark compares them.

    The arguments are compared that the action names, else those that the call gives: one that it leaves out differs
    in nothing, and a call without any is the action.
    """
    if action.name != call.name:
        return False
    given, wanted = _arguments(call.arguments), _arguments(action.arguments)
    keys = given.keys() if action.compare_args is None else set(action.compare_args)
    if not keys:
        return True
    return {key: given[key] for key in given if key in keys} == {key: wanted[key] for key in wanted if key in keys}


def _arguments(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
