"""Keep in mind what a caller has to say in a call, and what of it was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from riff_runner.run.callers.utterance import Utterance, slot_words
from riff_runner.run.cases.case import CallCase
from riff_runner.run.flows.flow import FlowState, in_words
from riff_runner.simulate.lexicon import Pool, pools
from riff_store.facts import Item
from riff_store.vocabulary import step_text

PLAIN_SAYINGS = 3
"""Words from which on what a caller says of a slot stands for itself, where no pool has a clause for it."""


class Agenda:
    """Keep the facts and the tasks of a caller; `told` counts how often each fact was said."""

    def __init__(self, case: CallCase) -> None:
        self.told: Counter[str] = Counter()
        self._case = case
        known = pools()
        questions = {slot: known[pool].question for slot, pool in case.scenario.pools.items() if pool in known}
        self._words = {slot: slot_words(slot, questions.get(slot, "")) for slot in case.facts}
        self._stages = [[slot for slot in stage if slot in case.facts] for stage in _stages(case)]
        self._tasks = list(case.scenario.tasks)
        self._hub_entered: int | None = None
        self._taken = 0

    @property
    def untold(self) -> list[str]:
        """Return the facts that this call takes and that were not said yet."""
        return [slot for stage in self._stages for slot in stage if not self.told[slot]]

    @property
    def due(self) -> list[str]:
        """Return what of it has to be said before the next task is named."""
        return [slot for stage in self._stages[: self._taken + 1] for slot in stage if not self.told[slot]]

    @property
    def stage(self) -> Sequence[str]:
        """Return the facts of the task that was named last, or of what comes before the first."""
        return self._stages[self._taken]

    def may_tell(self, slot: str) -> bool:
        """Return whether an agent of unknown state may mean this slot; a menu of tasks names some that it does not."""
        return not self.has_tasks or slot in self.due or slot in self.stage

    def known(self, slots: Iterable[str]) -> list[str]:
        """Return those of some slots of which the caller knows what they have."""
        return [slot for slot in slots if slot in self._case.facts]

    def asked_for(self, heard: Utterance) -> list[str]:
        """Return what the agent plainly asks for and the caller knows."""
        return self.known(heard.asked_for(self._words, self.told))

    @property
    def has_tasks(self) -> bool:
        """Return whether the caller names its tasks one by one in this flow."""
        return len(self._stages) > 1

    @property
    def _has_task(self) -> bool:
        return bool(self._tasks) and self._taken + 1 < len(self._stages)

    def task_at_hub(self, entered: int) -> str | None:
        """Return the task to name in a state that leads to tasks; the last one is done if the agent left since."""
        if self._hub_entered is not None and entered != self._hub_entered and self._tasks:
            self._tasks.pop(0)
        self._hub_entered = entered
        return self._tasks[0] if self._tasks else None

    def is_offered_task(self, heard: Utterance) -> bool:
        """Return whether the agent names the task that is next, as one of a menu."""
        return self._has_task and not self.due and self._tasks[0].casefold() in heard.text

    def take_task(self) -> str | None:
        """Return the next task that the caller has to name, which counts as done from then on."""
        if not self._has_task:
            return None
        self._taken += 1
        return self._tasks.pop(0)


def word_pools(case: CallCase) -> dict[str, Pool]:
    """Return the words for each fact of a case: those of its pool, else such as fit the name of the slot."""
    everything = pools()
    found = {}
    for slot, fact in case.facts.items():
        pool = everything.get(case.scenario.pools.get(slot, ""))
        words = in_words(slot)
        stands_alone = len(fact.say.split()) >= PLAIN_SAYINGS
        found[slot] = pool or Pool([], ["{}" if stands_alone else f"the {words} is {{}}"], words)
    return found


def openings(case: CallCase) -> Sequence[str]:
    """Return what the caller may say to show why it calls."""
    return case.scenario.says or (f"I'm calling about {case.flow.name.replace('_', ' ')}.",)


def way(case: CallCase) -> list[FlowState]:
    """Return the states of a call that goes well as far as the flow shows, in order."""
    flow, tasks = case.flow, list(case.scenario.tasks)
    path: list[FlowState] = []
    state = flow.states.get(flow.initial)
    while state is not None and len(path) <= len(flow.states) * (len(case.scenario.tasks) + 1):
        path.append(state)
        state = flow.states.get(_following(state, tasks))
    return path


def touchable(case: CallCase) -> set[Item]:
    """Return what a call of a case touches if it goes well: on the caller's way, and where its lines once were said."""
    said = [line.state for line in case.scenario.script if line.state is not None]
    found: set[Item] = set()
    for states in ([state.name for state in way(case)], [name for name, _ in groupby(said)]):
        known = [case.flow.states[name] for name in states if name in case.flow.states]
        for state in known:
            # What ends a call without being its goal or a hand-off is a state as others are.
            found.add(("state" if state.outcome in (None, "end") else "terminal", state.name))
            found |= {("slot", slot) for slot in state.required_slots if slot in case.facts}
            found |= {("tool", tool) for tool in state.tools}
        for state, after in pairwise(known):
            found.add(("edge", step_text(state.name, after.name)))
            if state.guard:
                found.add(("guard", f"passed {state.guard}"))
    return found


def _following(state: FlowState, tasks: list[str]) -> str:
    if isinstance(state.forward, str):
        return state.forward
    task = "done" if not tasks else tasks.pop(0) if state.hub else tasks[0]
    return state.forward.get(task, "")


def _stages(case: CallCase) -> list[list[str]]:
    """Return the slots that a call takes, in order, those behind each state that leads to tasks apart."""
    path = way(case)
    stages: list[list[str]] = [[]]
    for state in path:
        stages[-1] += state.required_slots
        if state.hub:
            stages.append([])
    if not path or path[-1].outcome is None or not any(stages):
        return [list(case.flow.slots)]
    return [list(dict.fromkeys(stage)) for stage in stages]
