"""The tools that a task is expected to call, held against those that were called (metrics.md, section 9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from riff_ingest.conversation import ReferenceStep
from riff_ingest.eva.tool_types import tool_name

_NAMES = ("tool_name", "tool", "name", "function")
_ARGUMENTS = ("parameters", "tool_parameters", "arguments", "args", "params")


def expected_steps(trace: Iterable[Any] | None, called: Iterable[Mapping[str, Any]]) -> list[ReferenceStep]:
    """The reference steps of a dataset's `expected_trace`; entries that are no calls of tools are passed over.

    `called` are a context's `tool_params`. A step without arguments matches nothing and misses nothing.
    """
    given = [(tool_name(call.get("tool_name")), call.get("tool_parameters")) for call in called]
    steps = []
    for entry in trace or ():
        name = _name(entry)
        if name is None:
            continue
        wanted = _arguments(entry)
        tried = [arguments for tool, arguments in given if tool.lower() == name.lower()]
        # The state of a step is that of the call, however the dataset spells its name.
        spelled = next((tool for tool, _ in given if tool.lower() == name.lower()), name)
        matched = None if wanted is None else wanted in tried
        steps.append(ReferenceStep(spelled, called=bool(tried), matched=matched))
    return steps


def _name(entry: Any) -> str | None:
    if isinstance(entry, str):
        return entry or None
    if not isinstance(entry, Mapping) or "tool_response" in entry or entry.get("type") == "tool_response":
        return None
    return next((entry[key] for key in _NAMES if isinstance(entry.get(key), str) and entry[key]), None)


def _arguments(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return None
    return next((entry[key] for key in _ARGUMENTS if isinstance(entry.get(key), Mapping)), None)
