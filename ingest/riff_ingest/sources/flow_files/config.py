"""Read the flows of pipecat: FlowConfig, and the older form of pipecat-flows.

Both come out as nodes and what leads from one to another. What does not fit is left out and named.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

from riff_ingest.conversation import Exits
from riff_ingest.lines import BrokenInput

NodeEnd: TypeAlias = Literal["success", "escalation", "end"]
_OLDER_KEYS = frozenset({"handler", "input_schema", "next_node_id", "parameters", "properties"})
_SHOWN = 60
LONGEST_REASON = 200
"""As many characters of the words of an edge are kept as the reason why a call left a node."""
_NODE_ENDS: tuple[NodeEnd, ...] = ("success", "escalation", "end")


@dataclass(frozen=True, slots=True)
class Way:
    """Describe where a function leads: always where `field` is `None`, else for these values of its result's field.

    `()` represents every other value.
    """

    to: str
    field: str | None = None
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeFunction:
    """Describe a function of a node; one `by_choice` has no code and does nothing but lead to another node."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    required: tuple[str, ...] = ()
    ways: tuple[Way, ...] = ()
    by_choice: bool = False


@dataclass(frozen=True, slots=True)
class FlowNode:
    """Describe a node: its instructions, what the model may do, and whether the call ends there.

    It does after an action that shows it, and if nothing is left to do, but not where it begins. `mark` is the value of
    `riff` of the node or of one of its actions: `terminal`, `segment`, `required_slots`, `completion_slots`, `tool`,
    `required_tools`, `tools`.
    """

    name: str
    role: str = ""
    task: str = ""
    functions: tuple[NodeFunction, ...] = ()
    ends: bool = False
    mark: Mapping[str, Any] = field(default_factory=dict)

    @property
    def end(self) -> NodeEnd | None:
        """Return what end of the call the node is marked as."""
        return next((end for end in _NODE_ENDS if end == self.mark.get("terminal")), None)


@dataclass(slots=True)
class FlowConfig:
    """Describe a flow of pipecat; `problems` are sentences on what of it does not fit and is left out."""

    initial: str = ""
    nodes: dict[str, FlowNode] = field(default_factory=dict)
    global_functions: tuple[NodeFunction, ...] = ()
    problems: list[str] = field(default_factory=list)

    def edges(self) -> list[tuple[str, str]]:
        """Return every way from a node to another, each once."""
        found: dict[tuple[str, str], None] = {}
        for node in self.nodes.values():
            for function in (*node.functions, *self.shared_by(node)):
                found |= dict.fromkeys((node.name, way.to) for way in function.ways)
        return list(found)

    def shared_by(self, node: FlowNode) -> Iterator[NodeFunction]:
        """Yield the global functions as they are offered in a node that does not end the call."""
        if node.ends:
            return
        for function in self.global_functions:
            if not function.by_choice or any(way.to != node.name for way in function.ways):
                yield function


class PlatformFlow(NamedTuple):
    """Describe the flow of a platform's agent, and what its document has that shows its form.

    It is called by the first of `names`; calls may know any of them. `ids` are those of nodes by name. `exits` show
    when a node is left, by its name, that of the next one and the id of the edge. `remarks` show what is odd in a flow
    that can be run all the same.
    """

    form: str
    names: list[str]
    config: FlowConfig
    ids: Mapping[str, str]
    exits: Exits | None = None
    remarks: Sequence[str] = ()


def shown(name: str) -> str:
    """Return the name of a node as sentences have it, cut if it is long."""
    return name if len(name) <= _SHOWN else f"{name[: _SHOWN - 1]}…"


class NoFlow(BrokenInput):
    """Report that a file describes an agent that has no flow, so that nothing is missed if it is not taken."""


def by_choice(led: Iterable[tuple[str, str]]) -> Iterator[NodeFunction]:
    """Yield what does nothing but lead to these nodes, each with when it does."""
    taken: Counter[str] = Counter()
    for to, words in led:
        taken[to] += 1
        number = f" {taken[to]}" if taken[to] > 1 else ""
        yield NodeFunction(f"to {to}{number}", words, ways=(Way(to),), by_choice=True)


def is_flow_config(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a flow of pipecat, in the form of today or the older one."""
    nodes = document.get("nodes")
    return isinstance(document.get("initial_node"), str) and isinstance(nodes, dict)


def read_config(document: Mapping[str, Any]) -> FlowConfig:
    """Return the flow that such a document describes; raises nothing."""
    return _Reader().config(document)


def read_node(name: str, given: Mapping[str, Any]) -> FlowNode:
    """Return the node that an object describes; raises nothing."""
    return _Reader().node(name, given)


class _Reader:
    def __init__(self) -> None:
        self._problems: list[str] = []

    def config(self, document: Mapping[str, Any]) -> FlowConfig:
        nodes = {
            name: self.node(name, given) for name, given in document["nodes"].items() if self._is_node(name, given)
        }
        shared = self.functions(document.get("global_functions"), "global_functions")
        config = FlowConfig(document["initial_node"], nodes, tuple(shared), self._problems)
        if config.initial not in nodes:
            self._problems.append(f"initial_node: there is no node {config.initial!r}{_near(config.initial, nodes)}")
        return self._linked(config)

    def _is_node(self, name: str, given: Any) -> bool:
        if name and isinstance(given, dict):
            return True
        self._problems.append(f"nodes.{name}: it is not a node")
        return False

    def node(self, name: str, given: Mapping[str, Any]) -> FlowNode:
        """Return the node that an object describes."""
        actions = [*_tables(given.get("pre_actions")), *_tables(given.get("post_actions"))]
        functions = self.functions(given.get("functions"), f"nodes.{name}")
        mark: dict[str, Any] = {}
        for holder in (*actions, given):
            mark |= _table(holder.get("riff"))
        node = FlowNode(
            name=name,
            role=_text(given.get("role_message")) or _text(given.get("role_messages")),
            task=_task(given),
            functions=tuple(functions),
            ends=any(action.get("type") == "end_conversation" for action in actions),
            mark=mark,
        )
        if "terminal" in mark and node.end is None:
            self._problems.append(f"nodes.{name}: riff.terminal is none of {', '.join(_NODE_ENDS)}")
        return node

    def functions(self, given: Any, place: str) -> list[NodeFunction]:
        """Return the functions of a list that have a name, each name once."""
        found: dict[str, NodeFunction] = {}
        for entry in _declared(given):
            about = _table(entry.get("function")) or entry
            name = about.get("name")
            if not isinstance(name, str) or not name:
                self._problems.append(f"{place}: a function has no name")
            elif name in found:
                self._problems.append(f"{place}: two functions are called {name!r}")
            else:
                found[name] = self._function(name, about, entry, f"{place}.{name}")
        return list(found.values())

    def _function(self, name: str, about: Mapping[str, Any], entry: Mapping[str, Any], place: str) -> NodeFunction:
        parameters = _parameters(about)
        required = about.get("required") or parameters.get("required")
        ways = [*self._ways(about.get("transition_to", entry.get("transition_to")), place), *_editor_ways(about)]
        older = "function" in entry or not _OLDER_KEYS.isdisjoint(about)
        has_code = bool(about.get("handler") or about.get("decision") or parameters.get("properties") or required)
        by_choice = about.get("transition_only") is True or (older and not has_code and bool(ways))
        if by_choice and not ways:
            self._problems.append(f"{place}: it only leads to another node, and does not name it")
        return NodeFunction(
            name=name,
            description=_text(about.get("description")),
            parameters=parameters or None,
            required=tuple(slot for slot in required if isinstance(slot, str)) if isinstance(required, list) else (),
            ways=tuple(ways),
            by_choice=by_choice,
        )

    def _ways(self, given: Any, place: str) -> list[Way]:
        if given is None:
            return []
        if isinstance(given, str):
            return [Way(given)]
        result, cases = _table(given).get("field"), _table(given).get("cases")
        if not isinstance(result, str) or not isinstance(cases, dict):
            self._problems.append(f"{place}.transition_to: it is neither a node nor a field with cases")
            return []
        by_node: dict[str, list[str]] = {}
        for case, to in cases.items():
            if isinstance(to, str):
                by_node.setdefault(to, []).append(_canonical(case))
            else:
                self._problems.append(f"{place}.transition_to.cases.{case}: it is not a node")
        ways = [Way(to, result, tuple(values)) for to, values in by_node.items()]
        other = given.get("default")
        return [*ways, Way(other, result)] if isinstance(other, str) else ways

    def _linked(self, config: FlowConfig) -> FlowConfig:
        """Leave out what leads to no node."""
        for name, node in config.nodes.items():
            functions = self._with_nodes(node.functions, config, f"nodes.{name}")
            ends = node.ends or (not functions and name != config.initial)
            config.nodes[name] = replace(node, functions=functions, ends=ends)
            for shared in config.global_functions:
                if any(own.name == shared.name for own in node.functions):
                    self._problems.append(f"nodes.{name}: {shared.name!r} is the name of a global function as well")
        config.global_functions = self._with_nodes(config.global_functions, config, "global_functions")
        return config

    def _with_nodes(
        self, functions: tuple[NodeFunction, ...], config: FlowConfig, place: str
    ) -> tuple[NodeFunction, ...]:
        for function in functions:
            for way in function.ways:
                if way.to not in config.nodes:
                    meant = _near(way.to, config.nodes)
                    self._problems.append(
                        f"{place}.{function.name}: it leads to {way.to!r}, which is not a node{meant}"
                    )
        return tuple(
            replace(function, ways=tuple(way for way in function.ways if way.to in config.nodes))
            for function in functions
        )


def _editor_ways(about: Mapping[str, Any]) -> list[Way]:
    """Return where a function of the flow editor leads: to a node, or by what its code decides."""
    decision = _table(about.get("decision"))
    found = [
        Way(to, "result", (_canonical(condition.get("value")),))
        for condition in _tables(decision.get("conditions"))
        if isinstance(to := condition.get("next_node_id"), str)
    ]
    if isinstance(other := decision.get("default_next_node_id"), str):
        return [*found, Way(other, "result")]
    to = about.get("next_node_id")
    return [*found, Way(to)] if isinstance(to, str) and not found else found


def _canonical(value: Any) -> str:
    """Return what a value of a result is compared by, as pipecat does it."""
    text = str(value)
    return text.lower() if text.lower() in ("true", "false") else text


def _declared(functions: Any) -> list[dict[str, Any]]:
    """Return the entries of a list of functions, those that are declared for Gemini each for itself."""
    found = []
    for entry in _tables(functions):
        found += _tables(entry["function_declarations"]) if "function_declarations" in entry else [entry]
    return found


def _parameters(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a function's arguments, empty if there is none; the flow editor keeps it in pieces."""
    whole = _table(about.get("parameters")) or _table(about.get("input_schema"))
    properties = _table(about.get("properties"))
    return whole or ({"type": "object", "properties": properties} if properties else {})


def _task(given: Mapping[str, Any]) -> str:
    """Return what a node is for, and what is said on the way in and out."""
    before = [f"First say: {text}" for text in _said(given.get("pre_actions"))]
    after = [f"At the end say: {text}" for text in _said(given.get("post_actions"))]
    return "\n".join(part for part in (*before, _text(given.get("task_messages")), *after) if part)


def _said(actions: Any) -> list[str]:
    return [
        text for action in _tables(actions) if action.get("type") == "tts_say" and (text := _text(action.get("text")))
    ]


def _text(given: Any) -> str:
    """Return the text of a message, of messages, or of the parts of one."""
    if isinstance(given, str):
        return given.strip()
    if isinstance(given, dict):
        return _text(given.get("content", given.get("text")))
    if isinstance(given, list):
        return "\n".join(text for part in given if isinstance(part, str | dict) and (text := _text(part)))
    return ""


def _near(name: str, nodes: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, nodes, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _tables(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
