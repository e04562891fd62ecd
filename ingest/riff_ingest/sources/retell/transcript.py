"""Read what was said and done in a call of Retell, with its nodes as states (docs/formats/retell.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from riff_ingest.lenient_json import number_of, object_of, objects_of, text_of, value_in
from riff_ingest.platforms import parted, with_times
from riff_ingest.private_values import PrivateValues
from riff_ingest.segments import ToolSegments
from riff_ingest.tool_states import ObservedStates, ToolStates, answers_in_order, fill, say_aside

AGENT, USER = "agent", "user"
NODE, STATE, INVOCATION, RESULT, DIGIT = (
    "node_transition",
    "state_transition",
    "tool_call_invocation",
    "tool_call_result",
    "dtmf",
)
NO_RESULT = "no result"
STRAY_RESULT = "tool result without its invocation"

_TRANSITIONS = (NODE, STATE)
_BEFORE_THE_FIRST = frozenset({"start", "begin"})
_TRANSITION_TOOL = "transition_to_"
_TRANSFER = "transfer_call"
_EXTRACTION = "extract_dynamic_variable"
_ENDING_TOOLS = frozenset({"agent_swap", "bridge_transfer", "end_call", "transfer_call"})
_SHOWN_DIGITS = 2

Item: TypeAlias = dict[str, Any]


@dataclass
class RetellTranscript:
    """Describe a call as it went; `handing_over` is the node that is a transfer, as its invocation has its name."""

    states: ToolStates
    handing_over: str | None = None
    defects: dict[str, int] = field(default_factory=dict)


def places_of(items: Sequence[Item]) -> set[frozenset[str]]:
    """Return the ids of the nodes, or the names of the states, that a call came through.

    If nothing else shows states, the tools that lead to them do.
    """
    found: set[str] = set()
    for item in items:
        part = {NODE: "node_id", STATE: "state_name"}.get(str(item.get("role")))
        if part is not None:
            ends = (text_of(item.get(f"{end}_{part}")) for end in ("former", "new"))
            found |= {each for each in ends if each and each not in _BEFORE_THE_FIRST}
    found = found or {target for item in items if (target := _leads_to(item))}
    return {frozenset([each]) for each in found}


def _leads_to(item: Item) -> str | None:
    """Return the state that the call of a tool leads to, by the name that Retell gives such tools."""
    name = text_of(item.get("name")) if item.get("role") == INVOCATION else None
    return name.removeprefix(_TRANSITION_TOOL) if name and name.startswith(_TRANSITION_TOOL) else None


def read_transcript(
    items: Sequence[Item],
    private: PrivateValues,
    *,
    segments: ToolSegments,
    names: Mapping[str, str],
    reply_latencies: Sequence[float | None] = (),
) -> RetellTranscript:
    """Return what the items of a transcript show; without transitions the states are the tools that were called.

    `names` are those of nodes by id, `reply_latencies` what Retell measured of the agent's answers, in milliseconds:
    they count where no word has a time, and if there is one for each answer.
    """
    is_told = any(item.get("role") in _TRANSITIONS for item in items)
    has_states = is_told or any(_leads_to(item) in names for item in items)
    states = ObservedStates() if has_states else ToolStates(segments)
    ends = [t for item in items if (t := _last(item)) is not None]
    ordered = with_times([(_first(item), item) for item in items], max(ends, default=None))
    return _Reader(states, private, names, ordered, reply_latencies, is_told=is_told).read()


class _Reader:
    def __init__(
        self,
        states: ToolStates,
        private: PrivateValues,
        names: Mapping[str, str],
        ordered: Sequence[tuple[float | None, Item]],
        reply_latencies: Sequence[float | None],
        *,
        is_told: bool,
    ) -> None:
        self._states = states
        self._is_told = is_told
        known = places_of([item for _, item in ordered]) if is_told else ()
        self._known = {*names, *(name for place in known for name in place)}
        self._private = private
        self._names = names
        self._ordered = ordered
        self._read = RetellTranscript(states)
        self._latencies = _latencies(ordered, reply_latencies)
        tools = [item for _, item in ordered if item.get("role") in (INVOCATION, RESULT)]
        answers = answers_in_order((_key(item), item["role"] == RESULT) for item in tools)
        self._results = {id(tools[call]): tools[answer] for call, answer in answers.items()}
        self._invoked = {key for item in tools if item["role"] == INVOCATION and (key := _key(item))}

    def read(self) -> RetellTranscript:
        takers: dict[str, Callable[[float | None, Item], None]] = {
            AGENT: self._say,
            USER: self._say,
            NODE: self._enter,
            STATE: self._enter,
            INVOCATION: self._call,
            RESULT: self._result,
        }
        self._begin()
        for place, (t, item) in enumerate(self._ordered):
            role = item.get("role")
            if role == DIGIT:
                self._digit(place, t, item)
            elif isinstance(role, str) and role in takers:
                takers[role](t, item)
        return self._read

    def _begin(self) -> None:
        """Enter the node that the first transition leaves, unless that only shows that the call begins."""
        first = next((each for each in self._ordered if each[1].get("role") in _TRANSITIONS), None)
        if first is None or not isinstance(self._states, ObservedStates):
            return
        t, item = first
        former, _ = self._ends(item)
        if former is not None and not self._is_no_node(item):
            self._states.enter(former, None if t is None else 0.0)

    def _is_no_node(self, item: Item) -> bool:
        """Return whether what a transition leaves represents the time before the first node."""
        former, _ = self._ends(item)
        if former is None:
            return True
        if former.lower() not in _BEFORE_THE_FIRST or text_of(item.get("former_node_id")) in self._names:
            return False
        before = takewhile(lambda each: each is not item, (each for _, each in self._ordered))
        return not any(each.get("role") in (AGENT, USER) for each in before)

    def _say(self, t: float | None, item: Item) -> None:
        said = text_of(item.get("content"))
        if said is None or not said.strip():
            return
        role, started = ("agent" if item["role"] == AGENT else "caller"), _first(item)
        if _is_backchannel(item):
            say_aside(self._states, role, self._private.text(said), started)
        else:
            self._states.say(role, self._private.text(said), started, self._latencies.get(id(item)))

    def _enter(self, t: float | None, item: Item) -> None:
        former, new = self._ends(item)
        if new is None or not isinstance(self._states, ObservedStates):
            return
        if not self._states.states:  # what the first one leaves was no node
            former = None
        self._states.enter(new, t, left=former, reason=self._word(item.get("transition_type")))

    def _ends(self, item: Item) -> tuple[str | None, str | None]:
        """Return the states that a transition leads from and to."""
        if item.get("role") == STATE:
            return self._word(item.get("former_state_name")), self._word(item.get("new_state_name"))
        former, new = (
            self._names.get(text_of(item.get(f"{end}_node_id")) or "")
            or self._word(item.get(f"{end}_node_name"))
            or self._word(item.get(f"{end}_node_id"))
            for end in ("former", "new")
        )
        return former, new

    def _word(self, given: Any) -> str | None:
        """Return what something is called."""
        name = text_of(given)
        return None if name is None else self._private.text(name)

    def _lead(self, target: str, t: float | None, item: Item) -> None:
        """Take a tool by which the agent goes on to a state: its arguments are slots of the state that is left."""
        arguments = self._private.value(value_in(item.get("arguments")))
        for slot, value in arguments.items() if isinstance(arguments, dict) else ():
            fill(self._states, slot, value, t)
        if not self._is_told and isinstance(self._states, ObservedStates):
            self._states.enter(self._private.text(target), t)

    def _call(self, t: float | None, item: Item) -> None:
        if (target := _leads_to(item)) in self._known and target is not None:
            self._lead(target, t, item)
            return
        name = self._word(item.get("name")) or self._word(item.get("type")) or "(unnamed tool)"
        kind = text_of(item.get("type")) or name
        result = self._results.get(id(item))
        error = None
        if result is None:
            error = None if kind in _ENDING_TOOLS else NO_RESULT
        elif result.get("successful") is False:
            error = self._private.text(text_of(result.get("content")) or "it was not successful")
        if kind == _TRANSFER and name == self._states.state:
            self._read.handing_over = name
        arguments = self._private.value(value_in(item.get("arguments")))
        answer = None if result is None or error is not None else self._private.value(result.get("content"))
        self._states.call(name, t=t, arguments=arguments, result=answer, error=error)
        if kind == _EXTRACTION and error is None and isinstance(arguments, dict):
            for slot, value in arguments.items():
                fill(self._states, slot, value, t)

    def _result(self, t: float | None, item: Item) -> None:
        if _key(item) not in self._invoked:
            defects = self._read.defects
            defects[STRAY_RESULT] = defects.get(STRAY_RESULT, 0) + 1

    def _digit(self, place: int, t: float | None, item: Item) -> None:
        """Take keys that were pressed: a menu's choice as it is, longer ones, which may be a secret, by their count."""
        if place and self._ordered[place - 1][1].get("role") == DIGIT:
            return
        pressed = []
        for _, each in self._ordered[place:]:
            if each.get("role") != DIGIT:
                break
            pressed.append(text_of(each.get("digit")) or "?")
        shown = "".join(pressed)
        said = f"[pressed {shown}]" if len(shown) <= _SHOWN_DIGITS else f"[pressed {len(shown)} keys]"
        self._states.say("caller", said, number_of(item.get("time_sec")))


class Spoken(NamedTuple):
    """Describe the items of a transcript, whether Retell took personal data out of it, and why not all was taken."""

    items: list[Item]
    is_scrubbed: bool = False
    problem: str | None = None


def spoken(call: Mapping[str, Any], private: PrivateValues) -> Spoken:
    """Return the transcript of a call."""
    problem = None
    for kept, is_scrubbed in kept_under(call, "transcript_with_tool_calls", "transcript_object", "transcript"):
        if isinstance(kept, str):
            said, problem = parted(kept, {AGENT: AGENT, USER: USER}, private)
            items = [{"role": side, "content": text} for side, text in said]
        else:
            items = objects_of(kept)
        if items:
            return Spoken(items, is_scrubbed, problem)
    return Spoken([], problem=problem)


def _first(item: Item) -> float | None:
    """Return when an item begins, in seconds since the call did."""
    words = item.get("words")
    start = _time_of(words, "start") if isinstance(words, list) else None
    return number_of(item.get("time_sec")) if start is None else start


def _last(item: Item) -> float | None:
    """Return when an item ends, in seconds since the call began."""
    words = item.get("words")
    end = _time_of(reversed(words), "end") if isinstance(words, list) else None
    return number_of(item.get("time_sec")) if end is None else end


def _time_of(words: Iterable[Any], end: str) -> float | None:
    """Return the first time among words, of which calls have thousands."""
    for word in words:
        if isinstance(word, dict) and (t := number_of(word.get(end))) is not None:
            return t
    return None


def _latencies(
    ordered: Sequence[tuple[float | None, Item]], measured: Sequence[float | None]
) -> dict[int, float | None]:
    """Return the latencies of the agent's answers by the identity of their items, in milliseconds.

    One that began before the caller had ended has none.
    """
    replies: list[tuple[int, float | None, float | None]] = []
    heard_until: float | None = None
    is_owed = False
    for _, item in ordered:
        role = item.get("role")
        if role not in (AGENT, USER) or _is_backchannel(item):
            continue
        if role == USER:
            ends = [each for each in (heard_until if is_owed else None, _last(item)) if each is not None]
            heard_until, is_owed = max(ends, default=None), True
        elif is_owed:
            replies.append((id(item), _first(item), heard_until))
            is_owed = False
    if any(start is not None and until is not None for _, start, until in replies):
        return {key: _between(until, start) for key, start, until in replies}
    if len(measured) != len(replies):
        return {}
    return {key: latency for (key, _, _), latency in zip(replies, measured, strict=True)}


def _between(until: float | None, start: float | None) -> float | None:
    if until is None or start is None or start < until:
        return None
    return round((start - until) * 1000, 3)


def _is_backchannel(item: Item) -> bool:
    return object_of(item.get("metadata")).get("is_backchannel") is True


def _key(item: Item) -> str | None:
    return text_of(item.get("tool_call_id"))


def reply_latencies(call: Mapping[str, Any]) -> list[float | None]:
    """Return what Retell measured between the caller's end and the agent's begin, in milliseconds."""
    values = object_of(object_of(call.get("latency")).get("e2e")).get("values")
    return [number_of(value) for value in values] if isinstance(values, list) else []


# Prefer what Retell keeps without personal data to what it represents: `scrubbed_` and the name of the other.
_SCRUBBED = "scrubbed_"


def kept_under(holder: Mapping[str, Any], *keys: str) -> Iterator[tuple[Any, bool]]:
    """Yield what is kept under some keys, and whether it was scrubbed: all that was before any that was not."""
    for prefix in (_SCRUBBED, ""):
        for key in keys:
            if value := holder.get(f"{prefix}{key}"):
                yield value, bool(prefix)


def preferred(holder: Mapping[str, Any], key: str) -> tuple[Any, bool]:
    """Return what is kept under a key, `None` for nothing, and whether it was scrubbed."""
    return next(kept_under(holder, key), (None, False))
