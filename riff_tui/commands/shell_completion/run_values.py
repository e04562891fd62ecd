"""Find what completes the options of commands that make calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

FORMS: Mapping[str, tuple[str, ...]] = {
    "agent": ("openai:", "command:", "python:"),
    "caller": ("scripted", "frozen", "openai:", "command:"),
    "tools": ("stubbed", "command:"),
}
LISTS = ("flows", "personas", "scenarios")


def values_of(option: str, value: str, words: Sequence[str]) -> Iterator[str]:
    """Yield what an option can be given, behind the last comma where it takes several."""
    if option in FORMS:
        yield from FORMS[option]
    elif option in LISTS:
        head = value[: value.rfind(",") + 1]
        taken = head.split(",")
        yield from (f"{head}{name}" for name in _names(option, words) if name not in taken)


def _names(option: str, words: Sequence[str]) -> Iterable[str]:
    if option == "flows":
        from riff_runner.simulate import flow_names

        return flow_names()
    if option == "personas":
        from riff_runner.simulate.cast import personas

        return ["all", *(persona.name for persona in personas())]
    from riff_runner.run.flows.flow_files import load_flows

    named = [after for word, after in pairwise(words) if word == "--flows"]
    named += [word.removeprefix("--flows=") for word in words if word.startswith("--flows=")]
    flows = load_flows([name for part in named for name in part.split(",") if name])
    return ["all", *dict.fromkeys(scenario.name for flow in flows for scenario in flow.scenarios)]
