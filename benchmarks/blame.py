"""How often the blame of a failed call agrees with people, beside the plainest guess: the tool that was called last.

usage: python -m benchmarks.blame [DIR]

DIR has results of tau-bench v1 in files of JSON, each a list of calls with `task_id`, `trial`, `reward`, `info` and
`traj`, and `labels.json`, a list of `{task_id, step, category, who}`: `step` is the message of `traj`, counted from 1,
in which people say that the call first went unrecoverably wrong. Of a task that was tried several times a label names
the `trial` as well.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from riff_ingest import store_conversations
from riff_ingest.conversation import Conversation
from riff_ingest.events import StateEntered
from riff_ingest.facts import facts_of
from riff_ingest.sources.tau.trajectories import RunName
from riff_ingest.sources.tau.trajectories import conversation_of as trajectory
from riff_store import ask, open_store

LABELLED = Path(__file__).parents[2] / "shared" / "data" / "agentrx"
LABELS = "labels.json"
NEAR = 2
"""Steps by which a named step may be off."""

MEASURES = ("state", "state or the next", "step", f"within {NEAR} steps")


class Label(msgspec.Struct, frozen=True):
    """Describe where people say that a call went wrong, of which kind it was and whose fault."""

    task_id: int | str
    step: int
    category: str = ""
    who: str = ""
    trial: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Name a state of a call and a step, the number of a message."""

    state: str | None
    step: float | None


@dataclass(frozen=True, slots=True)
class LabelledCall:
    """Describe a call, in which state it was after each message, and its label."""

    conversation: Conversation
    states: Sequence[str]
    label: Label

    @property
    def last_tool(self) -> Place:
        """Return where the last tool was called."""
        called = self.conversation.tool_calls[-1:]
        return Place(called[0].state, called[0].t) if called else Place(None, None)

    @property
    def blamed(self) -> Place:
        """Return where the call went wrong, as it is stored."""
        failure = facts_of(self.conversation, default_run="")[0].failure
        return Place(failure.first_failed, failure.t) if failure else Place(None, None)

    def hits(self, place: Place) -> tuple[bool, ...]:
        """Tell by each measure whether a place is the labelled one."""
        after = self.states[self.label.step - 1 :]
        state = after[0] if after else None
        following = next((other for other in after if other != state), state)
        off = None if place.step is None else abs(place.step - self.label.step)
        named = place.state is not None
        return (
            named and place.state == state,
            named and place.state in (state, following),
            off == 0,
            off is not None and off <= NEAR,
        )


def labelled_calls(folder: Path) -> Iterator[LabelledCall]:
    """Yield the calls of a directory that have a label, in the order of the labels."""
    results: dict[tuple[str, int | None], tuple[str, Mapping[str, Any]]] = {}
    for path in sorted(folder.glob("*.json")):
        if path.name != LABELS:
            for result in json.loads(path.read_bytes()):
                for trial in (None, result.get("trial")):
                    results.setdefault((str(result["task_id"]), trial), (path.stem, result))
    for label in msgspec.json.decode((folder / LABELS).read_bytes(), type=list[Label]):
        flow, result = results[str(label.task_id), label.trial]
        conversation, states = conversation_of(flow, result)
        yield LabelledCall(conversation, states, label)


def conversation_of(flow: str, result: Mapping[str, Any]) -> tuple[Conversation, Sequence[str]]:
    """Return the conversation of a call of tau-bench v1, and the states that it was in after each message.

    Its clock are the numbers of the messages, from 1, and its flow is the file.
    """
    conversation = trajectory(result, RunName(), clock=float)
    conversation.flow = flow
    entered = [(event.t, event.state) for event in conversation.events if isinstance(event, StateEntered)]
    places = range(1, len(result["traj"]) + 1)
    return conversation, [[state for t, state in entered if t is not None and t <= place][-1] for place in places]


def report(calls: Sequence[LabelledCall]) -> str:
    """Return how often the blame and the last tool are where people say, as tables of Markdown."""
    blamed = [call.blamed for call in calls]
    complete = sum(place.state is not None and place.step is not None for place in blamed)
    ways = {"the blame": blamed, "the last tool": [call.last_tool for call in calls]}
    by_label = defaultdict(list)
    for call, place in zip(calls, blamed, strict=True):
        by_label[call.label.category, call.label.who].append(call.hits(place))
    rows = [
        [f"of {len(calls)} calls", *MEASURES],
        *([way, *_counts(map(LabelledCall.hits, calls, places))] for way, places in ways.items()),
    ]
    parts = [
        ["people say", "of whom", "calls", *MEASURES],
        *(
            [category, who, str(len(hits)), *_counts(hits)]
            for (category, who), hits in sorted(by_label.items(), key=lambda part: (-len(part[1]), part[0]))
        ),
    ]
    groups = f"{complete} of {len(calls)} calls have a blame and a moment, in {_groups(calls)} groups of causes."
    return f"{_table(rows)}\n{_table(parts)}\n{groups}\n"


def _counts(hits: Iterable[Sequence[bool]]) -> list[str]:
    return [str(sum(each)) for each in zip(*hits, strict=True)]


def _groups(calls: Sequence[LabelledCall]) -> int:
    """Return in how many groups `causes` puts the calls."""
    with TemporaryDirectory(prefix="blame-") as folder:
        store = Path(folder) / "calls.db"
        store_conversations(store, (call.conversation for call in calls))
        with open_store(store) as opened:
            return len(ask(opened, "causes"))


def _each(calls: Iterable[LabelledCall]) -> str:
    """Return a row for each call: where people say that it went wrong, and where it is blamed."""
    rows = [["call", "people say", "state then", "blamed", "step", "kind", "detail"]]
    for call in calls:
        failure = facts_of(call.conversation, default_run="")[0].failure
        told = (failure.first_failed, failure.t, failure.kind, failure.detail) if failure else (None,) * 4
        then = call.states[call.label.step - 1]
        said = ["·" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in told]
        rows.append([str(call.label.task_id), str(call.label.step), then, *said])
    return _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ("| " + " | ".join(row) + " |\n" for row in rows)
    return "".join((head, "|" + "---|" * len(rows[0]) + "\n", *body))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, then the calls one by one."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.blame", description=__doc__)
    parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, default=LABELLED, help="labelled calls")
    calls = list(labelled_calls(parser.parse_args(arguments).folder))
    print(report(calls), _each(calls), sep="\n", end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
