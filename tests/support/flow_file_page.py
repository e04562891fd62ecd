"""docs/flow-file.md: every key of a native flow file, as the types that read it have them, with an example of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from tests.surface.ingest import (
    NATIVE_FORM,
    CallScenario,
    Contract,
    Simulation,
    StateContract,
    StateScript,
    ToolKinds,
    ToolScript,
    Weakness,
)

_BARE = {str: "text", bool: "true or false", float: "number", int: "number", Any: "anything"}

PARTS: Mapping[str, tuple[type[msgspec.Struct], str]] = {
    "": (Contract, "At the top"),
    "states.NAME": (StateContract, "The contract of a state"),
    "tools": (ToolKinds, "For tools whose names mislead"),
    "simulate": (Simulation, "For `riff-tui run` and `riff-tui simulate`"),
    "simulate.states.NAME": (StateScript, "Words and tools of a state"),
    "simulate.tools.NAME": (ToolScript, "A tool as an agent sees it"),
    "simulate.scenarios": (CallScenario, "Why somebody calls; one `[[simulate.scenarios]]` each"),
    "planted": (Weakness, "A weakness for `riff-tui simulate`; one `[[planted]]` each"),
}
"""The tables of a flow file: the type that reads each, and what it is for."""

BESIDES: Mapping[str, Mapping[str, str]] = {
    "": {
        "flow": "text",
        "$schema": "text",
        "edges": "list of pairs, or of tables",
        "tools": "table",
        "simulate": "table",
        "planted": "list of tables",
    },
    "states.NAME": {"guard": "text"},
}
"""Keys of the file's form that no type of its own has, and what each holds."""

KEYS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "": {
        "flow": ("name of the flow; else the file's name", '"table_booking"'),
        "$schema": ("for editors; not read", '"https://example.org/flow.json"'),
        "archetype": ("family of flows", '"booking"'),
        "other_names": ("what calls may call the flow besides", '["bookings-v2"]'),
        "edges": (
            "ways between states; a call begins where the first one does",
            '[["greet", "ask"], {from = "ask", to = "escalated", when = "They insist."}]',
        ),
        "success_terminals": ("ends that reach the goal", '["booked"]'),
        "escalation_terminals": (
            "ends that hand over to a human; without the key `escalated` and `escalate`, none if empty",
            '["escalated"]',
        ),
        "final_statuses": ("allowed final statuses", '["booked"]'),
        "required_slots": ("slots that every call must fill", '["person"]'),
        "completion_slots": ("slots that a success needs besides", '["day"]'),
        "required_tools": ("tools that every call must call well", '["book_table"]'),
        "changing_tools": ("the same as `tools.changing`", '["check_in"]'),
        "reading_tools": ("the same as `tools.reading`", '["fetch"]'),
        "states": ("by name, see below", '{greet = {segment = "opening"}}'),
        "tools": ("see below", '{reading = ["fetch"]}'),
        "simulate": ("see below", '{initial = "greet"}'),
        "planted": ("see below", '[{state = "ask", kind = "stall", strength = 0.3}]'),
    },
    "states.NAME": {
        "segment": ("phase of the state; else by its name", '"collect"'),
        "required_slots": ("slots that the state must fill", '["person"]'),
        "tool": ("the tool, or tools, that it is there to call", '"book_table"'),
        "guard": ("condition under which it is left; coverage asks for it", '"has_person"'),
        "id": ("what the platform calls it", '"node-17"'),
        "exits": ("when it is left, by next state and id of the edge", '{booked = {e1 = "The caller agrees."}}'),
    },
    "tools": {
        "changing": ("tools that change something", '["check_in"]'),
        "reading": ("tools that only read", '["fetch"]'),
    },
    "simulate": {
        "initial": ("state in which a call begins; else that of the first edge", '"greet"'),
        "role": ("who the agent is", '"You take bookings for a restaurant."'),
        "slots": ("pool of made-up values for a slot; else the pool of its name", '{contact = "person"}'),
        "states": ("by name, see below", '{ask = {prompt = "Ask for the name."}}'),
        "tools": ("by name, see below", '{book_table = {description = "Books a table."}}'),
        "scenarios": ("see below", '[{name = "dinner"}]'),
    },
    "simulate.states.NAME": {
        "prompt": ("what a real agent is to do; else the first of `say`", '"Find out who is calling."'),
        "say": ("what the simulated agent says; `{person}` is a slot", '["Who may I book for?"]'),
        "replies": ("what a scripted caller says if nothing is asked for", '["Yes, please."]'),
        "next": ("next state, or by task", '{booking = "ask", cancelling = "cancel"}'),
        "hub": ("takes the caller's next task on every entry, and `done` at the end", "true"),
        "back": ("state to which a correction leads", '"ask"'),
        "guard": ("condition under which it is left: its required slots are known", '"has_person"'),
        "tool": ("tool that is offered in this state alone", '"book_table"'),
        "mishap": ("share of simulated visits that lead to `mishap_to`", "0.05"),
        "mishap_to": ("dead end of these", '"lost"'),
    },
    "simulate.tools.NAME": {
        "description": ("what it does", '"Books a table."'),
        "parameters": ("JSON schema of its arguments", '{type = "object", properties = {day = {type = "string"}}}'),
        "returns": ('results, of which the call\'s seed picks one; else `{"ok": true}`', "[{id = 7}, {id = 8}]"),
    },
    "simulate.scenarios": {
        "name": ("name of the scenario", '"dinner"'),
        "says": ("how the call opens", '["A table for two, please."]'),
        "tasks": ("tasks that `next` and `hub` turn on", '["booking"]'),
        "clarifies": ("what the caller says when asked to repeat", '["For dinner, I mean."]'),
        "goal": ("what a model that plays the caller wants", '"A table for tonight."'),
        "facts": ("values that the caller has to give", '{person = {value = "ana", say = "Ana, with one n"}}'),
        "slots": ("pools of its own", '{day = "day"}'),
        "persona": ("who calls; else the personas take turns", '"hurried"'),
    },
    "planted": {
        "state": ("state with the weakness", '"ask"'),
        "kind": ("what happens there", '"stall"'),
        "strength": (
            "share of visits (`stall`, `escalation`), turns (`dwell`), seconds (`latency`), errors (`guard_error`)",
            "0.3",
        ),
        "agents": ("agents that have it; else all", '["gpt-5-mini"]'),
    },
}
"""What each key is, and an example of it in TOML."""

HEAD = """\
# Flow file

A flow file describes a flow apart from its calls: its states, its ends, and what a call must fill and do. It is TOML or
JSON. riff-tui also reads [flow files of pipecat, Retell, Vapi, ElevenLabs and Bland](formats/flow-files.md).

## Example

`riff-tui init` writes one like this, and `riff-tui flows check FILE` checks it.

```toml
flow = "table_booking"
success_terminals = ["booked"]
escalation_terminals = ["escalated"]
required_slots = ["person"]
edges = [["greet", "ask"], ["ask", "booked"], ["ask", "escalated"]]

[states.ask]
required_slots = ["person"]
guard = "has_person"
tool = "book_table"

[simulate]
role = "You take bookings for a restaurant."

[simulate.states.ask]
prompt = "Ask for the name and book."

[simulate.tools.book_table]
description = "Books a table."

[[simulate.scenarios]]
name = "dinner"
says = ["A table for two, please."]
facts = { person = "Ana" }
```

`ingest` uses it as the contract of calls without one, and shows states that no call has seen. `run` makes calls with
it: a call begins in `greet` and ends in `booked` or `escalated`.

## Rules

- Every key is optional. `flow` together with `edges`, `states` or another key of the contract makes it a flow file.
- A key that nobody reads is a finding of `flows check`, a defect for `ingest` and a warning of `run`. Below `simulate`
  `run` refuses it.
- Without scenarios a run has one, `default`, which calls about the name of the flow.
- [Metrics](metrics.md#4-calls) shows how a call is scored by these keys.
"""


def flow_file_page() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *(line for place in PARTS for line in _part(place))]) + "\n"


def keys_of(place: str) -> dict[str, str]:
    """Return the keys that a table of a flow file may have, with what each has."""
    kind, _ = PARTS[place]
    return {
        **{each.encode_name: _holds(each.type) for each in msgspec.structs.fields(kind)},
        **BESIDES.get(place, {}),
    }


def form_at(place: str) -> set[str]:
    """Return the keys that are read there, as the form by which unknown ones are found has them."""
    form: Any = NATIVE_FORM
    for part in place.split(".") if place else ():
        if part != "NAME":
            form = form.keys[part]
    return set(form.keys)


def type_of(place: str, key: str) -> Any:
    """Return the type of a key, `None` if no type has it."""
    return {each.encode_name: each.type for each in msgspec.structs.fields(PARTS[place][0])}.get(key)


def _part(place: str) -> Iterator[str]:
    yield f"## {f'`[{place}]`' if place else 'The file'}\n"
    yield f"{PARTS[place][1]}.\n"
    yield "| key | value | what it is | example |\n|---|---|---|---|"
    holds = keys_of(place)
    for key, (meaning, example) in KEYS[place].items():
        yield f"| `{key}` | {holds[key]} | {meaning} | `{example}` |"
    yield ""


def _holds(kind: Any) -> str:
    if kind in _BARE:
        return _BARE[kind]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return "table"
    parts = [part for part in get_args(kind) if part is not NoneType]
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return " or ".join(map(_holds, parts))
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    if origin is list:
        return f"list of {_several(parts[0])}"
    return f"table of {_several(parts[1])}"


def _several(kind: Any) -> str:
    first, *rest = _holds(kind).split(" ")
    return " ".join([first if kind is Any else f"{first}s", *rest])
