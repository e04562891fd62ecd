"""Around a state: what columns say of the calls there is what their rows say, in whatever order these came."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from tests.support.facts import call, fresh, put, state
from tests.support.neighborhoods import neighborhood
from tests.support.packed_stores import set_small_groups
from tests.surface.store import ConversationFacts, LatencyReading, Store, Writer
from tests.surface.tui import parse

STATES = ("greet", "listen", "groom", "booked", "escalated", "nowhere")
FILTERS = ("", "agent=model-a", "agent=nobody", "persona=hurried", "stall=1", "agent=model-b persona=none")


def facts() -> list[ConversationFacts]:
    """Sixty calls on their ways through two flows, some of an order that is not known, some with their turns."""
    chance = random.Random(3)
    found = []
    for number in range(60):
        way = chance.sample(STATES[:3], chance.randrange(1, 4))
        ordered, lost = chance.random() < 0.9, chance.choice((None, *way))
        end = chance.choice(("booked", "escalated", None))
        events = [{"type": "state_entered", "state": way[0]}, {"type": "turn_complete", "latency_ms": float(number)}]
        states = [
            state(
                each, progress=int(each != lost), lost=int(each == lost) if chance.random() < 0.9 else None,
                stall=chance.randrange(2), position=place if ordered else None,
                to={after: chance.randrange(1, 3) for after in (*way, end) if after and chance.random() < 0.5},
            )
            for place, each in enumerate(way)
        ]  # fmt: skip
        found.append(call(
            f"c-{number}", flow=chance.choice(("viewing", "walk_in")), agent=chance.choice(("model-a", "model-b")),
            persona=chance.choice(("hurried", None)), errored=chance.random() < 0.1, states=states,
            terminals={"booked": "success", "escalated": "escalation"},
            outcome_positions={end: chance.randrange(len(way) + 1)} if end and chance.random() < 0.9 else {},
            transcript=json.dumps({"turns": [], "events": events}).encode() if chance.random() < 0.6 else None,
        ))  # fmt: skip
    return found


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """The same calls, packed and not."""
    folder = tmp_path_factory.mktemp("visits")
    with (
        fresh(folder / "packed.db") as columns,
        fresh(folder / "rows.db") as rows,
        pytest.MonkeyPatch.context() as patch,
    ):
        for store in (columns, rows):
            put(store, "calls.jsonl", facts())
        set_small_groups(patch)
        Writer(columns).pack()
        yield columns, rows


@pytest.mark.parametrize("expression", FILTERS)
@pytest.mark.parametrize("name", STATES)
def test_the_neighbours_of_a_state_are_the_same_in_columns(
    name: str, expression: str, stores: tuple[Store, Store]
) -> None:
    columns, rows = (neighborhood(store, "viewing", name, parse(expression)) for store in stores)
    assert columns == rows


def test_calls_end_where_they_are_said_to(stores: tuple[Store, Store]) -> None:
    columns, _ = (neighborhood(store, "viewing", "greet") for store in stores)
    assert {victim.state for victim in columns.blast.victims} == {"listen", "groom", "booked"}


@pytest.mark.parametrize("expression", FILTERS)
def test_the_latencies_of_a_state_are_the_same_in_columns(expression: str, stores: tuple[Store, Store]) -> None:
    found = []
    for store in stores:
        reading = LatencyReading(store, "viewing", "greet", parse(expression))
        found.append((list(reading.steps()), reading.answer()))
    assert found[0] == found[1]
