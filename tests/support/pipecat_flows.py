"""Flows as pipecat, its older releases and its flow editor keep them; written by hand."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

PIZZA = """
initial_node: greet
nodes:
  greet:
    role_message: You answer for Nonna's. Today is {{ day }}.
    task_messages:
      - {role: developer, content: Greet the caller and ask what they want.}
    functions:
      - name: choose_pizza
        transition_only: true
        description: The caller wants pizza.
        transition_to: pizza
      - name: choose_any
        transition_only: true
        description: The caller does not mind.
        transition_to: pizza
  pizza:
    task_messages:
      - {role: developer, content: Ask for the size.}
      - {role: developer, content: Then for the kind.}
    functions:
      - name: price
      - name: select_order
        transition_to:
          field: in_stock
          cases: {false: sold_out, true: confirm, "yes": confirm}
          default: pizza
  sold_out:
    role_message: You are sorry.
    pre_actions:
      - {type: tts_say, text: "We are out of that, {{ name }}."}
    task_messages: [{role: developer, content: Offer another one.}]
    functions:
      - {name: choose_again, transition_only: true, description: They choose again., transition_to: pizza}
  confirm:
    task_messages: [{role: developer, content: Confirm the order.}]
    functions:
      - {name: place_order, transition_to: thanks}
  thanks:
    task_messages: [{role: developer, content: Thank them.}]
    post_actions: [{type: end_conversation}]
  escalated:
    task_messages: [{role: developer, content: Hand over.}]
  lost:
    task_messages: [{role: developer, content: Apologise.}]
    post_actions:
      - type: end_conversation
        riff: {terminal: end, segment: closing}
global_functions:
  - {name: opening_hours}
  - {name: wants_human, transition_only: true, description: They want a human., transition_to: escalated}
"""


def older(handler: str | None, name: str, to: str | None, required: list[str]) -> dict[str, Any]:
    """Return a function as pipecat-flows 0.0.24 keeps it."""
    about: dict[str, Any] = {"name": name, "description": f"Does {name}.", "parameters": {"type": "object"}}
    if required:
        about["parameters"] = {
            "type": "object", "properties": {slot: {"type": "string"} for slot in required}, "required": required
        }  # fmt: skip
    if handler:
        about["handler"] = f"__function__:{handler}"
    if to:
        about["transition_to"] = to
    return {"type": "function", "function": about}


OLDER: dict[str, Any] = {
    "initial_node": "start",
    "nodes": {
        "start": {
            "role_messages": [{"role": "system", "content": "You take bookings."}],
            "task_messages": [{"role": "system", "content": "Ask who calls and when they come."}],
            "functions": [
                older("save", "save_guest", "confirm", ["name", "date"]),
                older(None, "no_booking", "end", []),
            ],
        },
        "confirm": {
            "task_messages": [{"role": "system", "content": "Read it back."}],
            "functions": [older(None, "is_right", "end", []), older(None, "is_wrong", "start", [])],
            "riff": {"completion_slots": ["date"]},
        },
        "end": {
            "task_messages": [{"role": "system", "content": "Say goodbye."}],
            "functions": [],
            "post_actions": [{"type": "end_conversation"}],
        },
    },
}

_keys = st.sampled_from([
    "initial_node", "nodes", "functions", "function", "name", "transition_to", "transition_only", "field", "cases",
    "default", "riff", "terminal", "pre_actions", "type", "task_messages", "content", "role_message", "parameters",
    "required", "properties", "handler", "a", "b",
])  # fmt: skip
config_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a", "b", "", "end_conversation", "success"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=4),
    max_leaves=12,
)
_names = st.sampled_from(["a", "b"])
_ways = _names | st.fixed_dictionaries(
    {"field": _names, "cases": st.dictionaries(_names, _names, max_size=2)}, optional={"default": _names}
)
_functions = st.fixed_dictionaries(
    {"name": st.sampled_from(["f", "g"])},
    optional={"transition_to": _ways | config_values, "transition_only": st.booleans(), "parameters": config_values},
)
_nodes = st.fixed_dictionaries(
    {}, optional={"functions": st.lists(_functions | config_values, max_size=3), "riff": config_values}
)
flow_configs = st.fixed_dictionaries(
    {
        "initial_node": _names | st.just(""),
        "nodes": st.dictionaries(_names, _nodes) | st.dictionaries(_keys, _nodes | config_values, max_size=4),
    },
    optional={"global_functions": st.lists(_functions, max_size=2) | config_values},
)

_node = st.fixed_dictionaries(
    {"functions": st.lists(
        st.fixed_dictionaries(
            {"name": st.sampled_from(["f", "g", "h"])},
            optional={"transition_to": _ways, "parameters": st.just({"required": ["slot"]}), "handler": st.just("x")},
        ),
        max_size=3,
        unique_by=lambda function: str(function["name"]),
    )},
    optional={"role_message": _names, "riff": st.fixed_dictionaries({"terminal": st.sampled_from(["success", "end"])})},
)  # fmt: skip
runnable_configs = st.fixed_dictionaries(
    {"initial_node": _names, "nodes": st.fixed_dictionaries({"a": _node, "b": _node, "c": _node})},
    optional={"global_functions": st.just([{"name": "shared", "transition_to": "c"}])},
)
