"""Play callers by their case alone: the same words for the same answers, at no cost."""

from __future__ import annotations

from collections.abc import Sequence

from riff_runner.protocol import CallerNotes, CallerTurn, CallView, InProcess, StopReason
from riff_runner.run.callers.agenda import Agenda, openings, word_pools
from riff_runner.run.callers.utterance import Utterance
from riff_runner.run.cases.case import CallCase
from riff_runner.run.flows.flow import FlowState
from riff_runner.simulate.case import CallerVoice
from riff_runner.simulate.lexicon import phrases

MISHEARD = 2
"""How often in a call a caller asks to hear something again."""
WAITING = 2
"""How often in a row an agent of unknown state may say something that is no question before the caller says goodbye."""
IMPATIENT, FRUSTRATED = 2, 3
"""How often an agent has to ask for the same again before the caller says what it thinks of it."""


class ScriptedCaller(InProcess):
    """Play the callers of a run; all chance comes from the case."""

    name = "scripted"

    async def begin(self, case: CallCase, notes: CallerNotes) -> ScriptedSession:
        """Begin a call."""
        return ScriptedSession(case)


class ScriptedSession:
    """Speak for the caller of one case.

    If the agent's state is known it shows what the state asks for. Else it goes by the agent's words: what they plainly
    ask for, all that is not said yet, a yes, and goodbye once there is nothing left.
    """

    def __init__(self, case: CallCase) -> None:
        self._case = case
        self._rng = case.random("caller")
        self._agenda = Agenda(case)
        self._voice = CallerVoice(case.persona, openings(case), word_pools(case), self._rng)
        for slot, fact in case.facts.items():
            self._voice.knows(slot, fact.say)
        self._mood = Mood(case.persona.patience)
        self._phrases = phrases()
        self._lines: list[str] = []
        self._told_more = True
        self._misheard = 0
        self._waited = 0
        self._has_parted = False
        self._has_just_named = False
        self._confirmed: int | None = None

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Return what the caller says next."""
        turn = self._opening() if not self._lines else self._turn(heard.strip(), view)
        text = turn.text
        if self._lines[-2:] == [text, text]:
            text = f"{self._new(self._phrases.impatient)} {text}"
        self._lines.append(text)
        return CallerTurn(text, turn.ends, reason=turn.reason)

    async def end(self, reason: StopReason) -> None:
        """Do nothing: nothing is kept."""

    def _opening(self) -> CallerTurn:
        if self._case.scenario.script:
            # As a caller did once, with whatever facts were in that.
            line = self._voice.pick(openings(self._case))
            said = line.casefold()
            self._agenda.told.update(slot for slot, fact in self._case.facts.items() if fact.say.casefold() in said)
            return CallerTurn(line)
        share = self._case.persona.early
        early = [slot for slot in self._agenda.untold if self._rng.random() < share] if share else []
        self._agenda.told.update(early)
        return CallerTurn(self._voice.opens(early))

    def _turn(self, text: str, view: CallView) -> CallerTurn:
        if not text:
            self._mood.silences += 1
            return self._hangs_up() if self._mood.is_over else CallerTurn(self._new(self._phrases.silences))
        heard = Utterance(text)
        state = self._case.flow.states.get(view.state or "")
        slots = self._wanted(heard, view, state)
        again = slots if all(self._agenda.told[slot] for slot in slots) else []
        self._mood.hears(heard, view, told_more=self._told_more, asked_again=again)
        self._told_more = False
        if self._mood.is_over:
            return self._hangs_up()
        if self._mood.is_at_last_try:
            return CallerTurn(self._new(self._phrases.wants_human))
        if self._mishears(heard):
            return CallerTurn(self._new(self._phrases.mishears))
        if slots:
            return CallerTurn(self._complaint() + self._answer(slots))
        return self._in_state(heard, view, state) if state is not None else self._without_state(heard)

    def _hangs_up(self) -> CallerTurn:
        return CallerTurn(self._new(self._phrases.gives_up), ends=True, reason="the agent does not move on")

    # what the agent wants to hear

    def _wanted(self, heard: Utterance, view: CallView, state: FlowState | None) -> list[str]:
        """Return the slots to be said: those that the state is short of, else those that the words ask for."""
        asked = self._agenda.asked_for(heard)
        if state is None:
            return [] if self._agenda.is_offered_task(heard) else [s for s in asked if self._agenda.may_tell(s)]
        if not state.required_slots and not isinstance(state.forward, str):
            return []  # the way on depends on the task, which has words of its own
        short_of = [slot for slot in state.required_slots if slot not in view.collected]
        missing = self._agenda.known(short_of)
        if not missing:
            asks_for_all_again = heard.asks_openly and not short_of
            return asked or (self._agenda.known(state.required_slots) if asks_for_all_again else [])
        plainly = [slot for slot in missing if slot in asked]
        untold = [slot for slot in missing if not self._agenda.told[slot]]
        if plainly:
            return plainly + [slot for slot in untold if slot not in plainly]
        if untold:
            return untold
        if self._confirmed != view.entered and not heard.asks_openly:  # it may have heard all and ask for a yes
            self._confirmed = view.entered
            return []
        return missing

    def _answer(self, slots: Sequence[str]) -> str:
        """Return words for what slots have: the first one, and each of the others as it is this caller's way."""
        everything = self._mood.annoyance > 0 or all(self._agenda.told[slot] for slot in slots)
        self._has_just_named = False
        share = self._case.persona.full_answer
        given = [slot for place, slot in enumerate(slots) if place == 0 or everything or self._rng.random() < share]
        self._told_more = any(not self._agenda.told[slot] for slot in given)
        self._agenda.told.update(given)
        return self._voice.answers(given)

    # what is said if nothing is asked for

    def _in_state(self, heard: Utterance, view: CallView, state: FlowState) -> CallerTurn:
        if state.hub:
            task = self._agenda.task_at_hub(view.entered)
            line = self._new(self._phrases.goodbyes) if task is None else self._voice.commands(task)
            return CallerTurn(self._complaint() + line)
        if heard.farewell and self._mood.idle and Utterance(self._lines[-1]).farewell:
            return CallerTurn(self._new(self._phrases.byes), ends=True, reason="the agent took its leave")
        return CallerTurn(self._complaint() + self._remark(heard, state))

    def _remark(self, heard: Utterance, state: FlowState) -> str:
        scenario = self._case.scenario
        lacks_fact = any(slot not in self._case.facts for slot in state.required_slots)
        if state.replies and not (lacks_fact and heard.asks_openly):
            return self._voice.replies(self._fresh(state.replies))
        is_initial = state.name == self._case.flow.initial
        if scenario.clarifies and (is_initial or not isinstance(state.forward, str)):
            return self._voice.replies(self._fresh(scenario.clarifies))
        if heard.offers_help or (is_initial and heard.asks_openly):
            return self._new(openings(self._case))
        if scenario.clarifies and heard.asks and not heard.anything_else:
            return self._voice.replies(self._fresh(scenario.clarifies))
        return self._small_talk(heard)

    def _without_state(self, heard: Utterance) -> CallerTurn:
        if heard.farewell:
            return CallerTurn(self._new(self._phrases.byes), ends=True)
        has_just_named, self._has_just_named = self._has_just_named, False
        self._waited = 0 if heard.asks else self._waited + 1
        if heard.asks and len(self._lines) == 1 and (line := self._clarification(heard)):
            return CallerTurn(line)
        if self._waited == 1:
            return CallerTurn(self._small_talk(heard))
        if slots := self._agenda.due or (self._agenda.stage if has_just_named else ()):
            return CallerTurn(self._answer(slots))
        if task := self._agenda.take_task():
            self._told_more = self._has_just_named = True
            return CallerTurn(self._voice.commands(task))
        is_asked_for_more = heard.anything_else or (self._agenda.has_tasks and heard.asks_openly)
        if is_asked_for_more or self._waited > WAITING:
            parts = self._has_parted or not heard.asks
            self._has_parted = True
            return CallerTurn(self._new(self._phrases.goodbyes), parts, reason="everything is said" if parts else None)
        return CallerTurn(self._small_talk(heard))

    def _clarification(self, heard: Utterance) -> str:
        """Return what more there is to say about the reason for the call, `""` if there is nothing."""
        if self._case.scenario.clarifies and not heard.offers_help:
            return self._voice.replies(self._case.scenario.clarifies)
        return self._new(openings(self._case)) if heard.offers_help and not self._agenda.told else ""

    def _small_talk(self, heard: Utterance) -> str:
        if heard.anything_else:
            return self._new(self._phrases.goodbyes)
        if heard.farewell:
            return self._new(self._phrases.byes)
        if heard.asks_preference:
            return self._new(self._phrases.no_matter)
        if heard.asks_openly:
            return self._new(self._phrases.unsure)
        return self._voice.replies(self._fresh(self._phrases.yes if heard.asks else self._phrases.fine))

    # manners

    def _complaint(self) -> str:
        if self._mood.annoyance < IMPATIENT:
            return ""
        options = self._phrases.impatient if self._mood.annoyance < FRUSTRATED else self._phrases.frustrated
        return f"{self._new(options)} "

    def _mishears(self, heard: Utterance) -> bool:
        misheard = self._rng.random() < self._case.persona.mishears
        if not misheard or self._mood.annoyance or heard.farewell or self._misheard == MISHEARD:
            return False
        self._misheard += 1
        self._told_more = True  # that the agent says it again is not a fault of the agent
        return True

    def _new(self, options: Sequence[str]) -> str:
        return self._voice.pick(self._fresh(options))

    def _fresh(self, options: Sequence[str]) -> Sequence[str]:
        """Return those of some lines that were not said just before, or all if there is no other."""
        last = " ".join(self._lines[-2:])
        return [option for option in options if option not in last] or options


IDLE_TURNS = 12
"""Turns without anything new, whatever is said in them, after which a caller ends the call."""
_SAME = 2
_OTHER = 1


class Mood:
    """Weigh every turn in which nothing moves: one in which the agent asks for the same again weighs double."""

    def __init__(self, patience: int) -> None:
        self.silences = 0
        self.idle = 0
        self._patience = patience
        self._weight = 0
        self._heard: set[str] = set()
        self._asked: Sequence[str] = ()
        self._mark: tuple[int, int] | None = None

    @property
    def annoyance(self) -> int:
        """Return how often the agent has asked for the same again without coming any further."""
        return self._weight // _SAME

    @property
    def is_at_last_try(self) -> bool:
        """Return whether the next turn that leads nowhere is the last one."""
        return self.annoyance == self._patience - 1

    @property
    def is_over(self) -> bool:
        """Return whether the caller has had enough."""
        return max(self.annoyance, self.silences - 1) >= self._patience or self.idle >= IDLE_TURNS

    def hears(self, heard: Utterance, view: CallView, *, told_more: bool, asked_again: Sequence[str]) -> None:
        """Take in what the agent said to a line in which the caller told something new, or did not.

        `asked_again` are the slots that the agent wants to hear though all of them were told.
        """
        self.silences = 0
        mark = (view.entered, len(view.collected))
        moved = self._mark is not None and mark != self._mark
        same = heard.words in self._heard or (bool(asked_again) and asked_again == self._asked)
        self._mark, self._asked = mark, asked_again
        self._heard.add(heard.words)
        self.idle = 0 if moved or told_more else self.idle + 1
        if moved or (told_more and not same):
            self._weight = 0
        elif same and not told_more:
            self._weight += _SAME
        elif asked_again:
            self._weight += _OTHER
