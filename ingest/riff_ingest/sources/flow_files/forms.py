"""Know the keys of flow files of every form, and find those that nobody reads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from riff_ingest.conversation import Contract, StateContract

WeaknessKind: TypeAlias = Literal["stall", "escalation", "dwell", "latency", "guard_error"]


class Weakness(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe a weakness that was put into a state on purpose.

    `strength` is the share of visits for `stall` and `escalation`, extra turns for `dwell`, extra
    seconds a turn for `latency`, errors a visit for `guard_error`. Without `agents` it hits all of
    them; of several for the same state and kind the last that applies to an agent counts.
    """

    state: str
    kind: WeaknessKind
    strength: float
    agents: list[str] = []


class CallScenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe why a caller calls: the tasks that routing states turn on, how the call opens, pools of its own.

    For calls of a real agent: `goal` is for a caller that is a model, `facts` fixes what slots get (a value, or a table
    of `value` and `say`), `persona` who calls.
    """

    name: str
    tasks: list[str] = []
    says: list[str] = []
    clarifies: list[str] = []
    slots: dict[str, str] = {}
    goal: str = ""
    facts: dict[str, Any] = {}
    persona: str | None = None


class StateScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe what happens in a state.

    `next` is a state or a table of task → state; `hub` takes the caller's next task on every entry, with `done` once
    none is left. `back` is where a correction leads. `mishap` is the share of visits that lead to the dead end
    `mishap_to`. `prompt` instructs a real agent what to do here.
    """

    say: list[str] = []
    prompt: str = ""
    next: str | dict[str, str] = ""
    replies: list[str] = []
    guard: str | None = None
    tool: str | None = None
    back: str | None = None
    hub: bool = False
    mishap: float = 0.0
    mishap_to: str | None = None


class ToolScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe a tool to a real agent: what it does, the JSON schema of its arguments, and results to pick from."""

    description: str = ""
    parameters: dict[str, Any] | None = None
    returns: list[Any] | None = None


class Simulation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe the simulator's part of a flow file: where a call starts, the pool of each slot, the scripts.

    The simulator needs these four; `role` and `tools` are for calls of a real agent.
    """

    initial: str = ""
    slots: dict[str, str] = {}
    scenarios: list[CallScenario] = []
    states: dict[str, StateScript] = {}
    role: str = ""
    tools: dict[str, ToolScript] = {}


class ToolKinds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Name the tools that change something, and those that only read."""

    changing: list[str] | None = None
    reading: list[str] | None = None


class Form(NamedTuple):
    """Describe the keys that an object may have, each with the form of its value, of which `None` shows nothing.

    With `is_each` it is the form of every value of a list or a table. An open one has keys of others as well, so that a
    key is odd there only where it is all but one that is missing.
    """

    keys: Mapping[str, Form | None]
    is_each: bool = False
    is_open: bool = False


class UnknownKey(NamedTuple):
    """Name a key that nobody reads, where it is, and the key that was most likely meant."""

    place: tuple[str | int, ...]
    near: str | None = None

    def __str__(self) -> str:
        """Return the sentence on it."""
        *above, key = self.place
        meant = f"; did you mean {self.near}?" if self.near else ""
        return f"{spelled(above)}{': ' if above else ''}nobody reads the key {key!r}{meant}"


ALIKE = 0.82
"""From what likeness on, of 1, one name is taken for another one that was misspelt."""


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the known name that is most like another one, `None` if none is as like as that (1: the same)."""
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1, cutoff=likeness)), None)


def spelled(place: Sequence[str | int]) -> str:
    """Return a place in a document in one word, items of lists counted from 1."""
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place)
    return "".join(parts).removeprefix(".")


def without_unknown(value: Any, form: Form | None, found: list[UnknownKey], place: tuple[str | int, ...] = ()) -> Any:
    """Return a value as it was meant: keys that nobody reads have the likely name, or are gone; add them to `found`."""
    if form is None or not isinstance(value, dict | list):
        return value
    if form.is_each:
        one = form._replace(is_each=False)
        if isinstance(value, list):
            return [without_unknown(item, one, found, (*place, number)) for number, item in enumerate(value)]
        return {key: without_unknown(item, one, found, (*place, key)) for key, item in value.items()}
    if isinstance(value, list):
        return value
    meant: dict[str, Any] = {}
    for key, item in value.items():
        name = key
        if key not in form.keys:
            near = nearest(key, form.keys.keys() - value.keys(), ALIKE if form.is_open else 0.6)
            if near is not None or not form.is_open:
                found.append(UnknownKey((*place, key), near))
                if near is None or near in meant:
                    continue
                name = near
        meant[name] = without_unknown(item, form.keys.get(name), found, (*place, key))
    return meant


def unknown_keys(document: Mapping[str, Any], form: Form) -> list[UnknownKey]:
    """Return the keys of a document that nobody reads, in its order."""
    found: list[UnknownKey] = []
    without_unknown(document, form, found)
    return found


@cache
def _of(kind: type[msgspec.Struct]) -> Form:
    return Form({each.encode_name: _in(each.type) for each in msgspec.structs.fields(kind)})


def _in(kind: Any) -> Form | None:
    """Return the form of what a field has: a structure, or a list or a table of some."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _of(kind)
    forms = [form for part in get_args(kind) if (form := _in(part)) is not None]
    return forms[0]._replace(is_each=True) if forms else None


def _keys(*names: str, **forms: Form) -> Form:
    return Form({**dict.fromkeys(names), **forms})


def _open(*names: str, **forms: Form) -> Form:
    return _keys(*names, **forms)._replace(is_open=True)


def _each(form: Form) -> Form:
    return form._replace(is_each=True)


def _with(form: Form, *names: str, **forms: Form) -> Form:
    return form._replace(keys={**form.keys, **dict.fromkeys(names), **forms})


NATIVE = _with(
    _of(Contract),
    *("flow", "$schema"),
    edges=_each(_keys("from", "source", "to", "target", "when")),
    states=_each(_with(_of(StateContract), "guard")),
    tools=_of(ToolKinds),
    simulate=_of(Simulation),
    planted=_each(_of(Weakness)),
)

# What riff-tui reads in the nodes of others is closed, wherever it is.
_MARK = _with(
    _keys("terminal", "segment", "required_slots", "completion_slots", "tool", "guard", "required_tools"),
    tools=_of(ToolKinds),
)
_ACTIONS = _each(_open("type", "text", "handler", riff=_MARK))
_LEADS = {"transition_to": _keys("field", "cases", "default")}
_FUNCTION = _keys(
    *("name", "description", "parameters", "input_schema", "properties", "required", "handler", "strict", "type"),
    *("transition_only", "transition_callback", "cancel_on_interruption", "timeout_secs", "next_node_id", "decision"),
    **_LEADS,
)
_FUNCTIONS = _each(_with(_FUNCTION, function=_FUNCTION, function_declarations=_each(_FUNCTION)))
_NODE = _keys(
    *("name", "role_message", "role_messages", "task_messages", "context_strategy", "respond_immediately"),
    functions=_FUNCTIONS,
    pre_actions=_ACTIONS,
    post_actions=_ACTIONS,
    riff=_MARK,
)
CONFIG = _keys("initial_node", "$schema", nodes=_each(_NODE), global_functions=_FUNCTIONS)
EDITOR = _open(
    nodes=_each(_open("id", "type", "label", data=Form(_NODE.keys, is_open=True))),
    edges=_each(_open("id", "source", "target", "label")),
)

# Of others' agents, what is read of them; the names of what they lead to are the ones that count.
_RETELL_EDGE = _open("id", "destination_node_id", "transition_condition", "transition_conditions")
_RETELL_NODE = _open(
    *("id", "name", "type", "instruction", "variables", "variable", "component_id", "global_node_setting"),
    edges=_each(_RETELL_EDGE),
    edge=_RETELL_EDGE,
    always_edge=_RETELL_EDGE,
    else_edge=_RETELL_EDGE,
    skip_response_edge=_RETELL_EDGE,
)
_RETELL_FLOW = _open(
    *("conversation_flow_id", "start_node_id", "global_prompt", "flow", "agent_name", "agent_id"),
    nodes=_each(_RETELL_NODE),
    components=_each(_open("start_node_id", "component_id", nodes=_each(_RETELL_NODE))),
)
_RETELL_STATE = _open(
    *("name", "state_prompt", "tools"),
    edges=_each(_open("destination_state_name", "description", "condition", "parameters")),
)
_RETELL_PROMPTS = _open(
    *("llm_id", "general_prompt", "general_tools", "starting_state", "starting_states"),
    *("flow", "agent_name", "agent_id"),
    states=_each(_RETELL_STATE),
)
_DESTINATION = _open("type", "assistantName", "assistantId", "assistant", "description", "message")
_MEMBER = _open(
    *("assistantId", "assistantOverrides"),
    assistant=_open("name", "model", "tools", "endCallPhrases", "endCallFunctionEnabled", "endCallMessage"),
    assistantDestinations=_each(_DESTINATION),
)
_VAPI_NODE = _open("name", "type", "isStart", "tool", "tools", "toolId", "toolIds", "variableExtractionPlan")
_ELEVENLABS = _open(
    nodes=_each(_open("type", "label", "edge_order")),
    edges=_each(_open("source", "target", "forward_condition", "backward_condition")),
)
_PLATFORMS: tuple[tuple[str, Form], ...] = (
    ("conversationFlow", _open("flow", "agent_name", "agent_id", conversationFlow=_RETELL_FLOW)),
    ("retellLlmData", _open("flow", "agent_name", "agent_id", retellLlmData=_RETELL_PROMPTS)),
    ("start_node_id", _RETELL_FLOW),
    ("conversation_flow_id", _RETELL_FLOW),
    ("conversation_config", _open(workflow=_ELEVENLABS, conversation_config=_open(workflow=_ELEVENLABS))),
    ("workflow", _open(workflow=_ELEVENLABS)),
    ("members", _open("flow", "name", "id", "membersOverrides", members=_each(_MEMBER))),
    ("states", _RETELL_PROMPTS),
    ("nodes", _open("flow", "name", "id", nodes=_each(_VAPI_NODE), edges=_each(_open("from", "to", "condition")))),
)


def platform_form(document: Mapping[str, Any]) -> Form:
    """Return the form of an agent's document, by the keys that show what it is."""
    return next((form for key, form in _PLATFORMS if key in document), Form(MappingProxyType({}), is_open=True))
