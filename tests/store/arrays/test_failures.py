"""Failed calls and repeats: what is packed and what the rows say is the same, also where people marked calls."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.facts import call, fresh, put, state
from tests.support.packed_stores import set_small_groups
from tests.surface.arrays import count, numbered, read_calls
from tests.surface.store import (
    FAILURE,
    FAILURE_KINDS,
    KINDS_OF_FAILURE,
    Annotation,
    Conversation,
    ConversationFacts,
    Failure,
    Scope,
    Store,
    Writer,
    add_notes,
    causes,
    failure_matrix,
    repeats,
)
from tests.surface.tui import parse

FILTERS = [
    "",
    "flow=viewing",
    "persona=hurried",
    "correctness<10",
    "failure=marked",
    "failed=1",
    "failed=0",
    "persona=nobody",
]


def marked(store: Store) -> Store:
    """Have three failed calls marked by a person, one without a code."""
    failed = store.execute_sql(
        "SELECT c.name, r.name, s.name FROM call_failure f JOIN conversation c ON c.id = f.conversation_id"
        " JOIN run r ON r.id = c.run_id JOIN state_score x ON x.conversation_id = c.id AND x.position = 0"
        " JOIN state s ON s.id = x.state_id WHERE NOT c.errored ORDER BY r.name, c.name LIMIT 3"
    )
    codes = ("wrong day", "wrong day", None)
    add_notes(store, [
        Annotation(str(at), call, "ann", run=run, state=state, verdict="fail", code=code, at=at)
        for at, ((call, run, state), code) in enumerate(zip(failed, codes, strict=True), 1)
    ])  # fmt: skip
    return store


def facts() -> list[ConversationFacts]:
    """Seventy calls, most of which failed in one of a few ways."""
    chance = random.Random(5)
    ways = [
        None,
        Failure("greet", "collect", "dead end"),
        Failure("greet", "collect", "tool error", "find", "timeout after * s"),
        Failure(None, "greet", "guard error", "has_date"),
        Failure(None, None, "none"),
        Failure("greet", "collect", "missing step", None, None, "caller", "pay"),
    ]
    states = [state("greet", to={"collect": 1}, position=0), state("collect", position=1)]
    return [
        call(
            f"c-{number}", run=chance.choice(("early", "late")), flow=chance.choice(("viewing", "walk_in")),
            agent=chance.choice(("model-a", "model-b")), persona=chance.choice(("hurried", None)),
            scenario=chance.choice(("s1", "s2", None)), stop_reason=chance.choice(("hangup", "max_turns")),
            duration_s=chance.choice((10.0, 20.5, None)), errored=chance.random() < 0.1, failure=chance.choice(ways),
            aspects={"turn_count": float(chance.randrange(3, 6)), "correctness": float(chance.randrange(11))},
            states=states[: chance.randrange(1, 3)], terminals={},
        )
        for number in range(70)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """The same calls, packed and not."""
    folder = tmp_path_factory.mktemp("failures")
    with (
        fresh(folder / "rows.db") as rows,
        fresh(folder / "packed.db") as columns,
        pytest.MonkeyPatch.context() as patch,
    ):
        put(rows, "calls.jsonl", facts())
        put(columns, "calls.jsonl", facts())
        set_small_groups(patch)
        Writer(columns).pack()
        assert columns.execute_sql("SELECT 1 FROM column_chunk WHERE name = 'failure.kind'")
        yield marked(columns), marked(rows)


@pytest.mark.parametrize("expression", FILTERS)
def test_answers_are_the_same_from_columns_and_from_rows(expression: str, stores: tuple[Store, Store]) -> None:
    columns, rows = stores
    calls = parse(expression) if expression else None
    matrix = failure_matrix(columns, calls)
    assert matrix == failure_matrix(rows, calls)
    for by_flow in (matrix.states, matrix.failed, matrix.calls):
        assert list(by_flow) == sorted(by_flow)
    assert causes(columns, calls) == causes(rows, calls)
    for by in (("flow", "agent"), ("run", "flow")):
        assert repeats(columns, calls, by) == repeats(rows, calls, by)


@pytest.mark.parametrize(
    "said",
    ["=·", "!=·", ":e", '!="dead end"', '="(start)"', "=none", "=marked", "=agent", "=pay", "=greet", '!="wrong day"'],
)
@pytest.mark.parametrize("field", ["failure", "who", *FAILURE])
def test_a_filter_on_where_calls_failed_finds_the_same_calls_in_columns(
    field: str, said: str, stores: tuple[Store, Store]
) -> None:
    asked, store = parse(f"{field}{said}"), stores[0]
    with store.snapshot():
        found = read_calls(store, asked, errored=True).keys("id").tolist()
        wanted = store.execute(Conversation.select(Conversation.id).where(Scope(store).condition(asked)))
    assert found == sorted(key for (key,) in wanted)


def test_what_people_marked_groups_by_its_code(stores: tuple[Store, Store]) -> None:
    for store in stores:
        found = [cause for cause in causes(store).groups if cause.kind == "marked"]
        assert sum(cause.n for cause in found if cause.detail is None) == 1
        assert sum(cause.n for cause in found if cause.detail == "wrong day") == 2
        assert sum(cell.kinds.get("marked", 0) for cell in failure_matrix(store).cells) == 3


def test_every_kind_of_failure_has_a_number() -> None:
    assert set(KINDS_OF_FAILURE) == set(FAILURE_KINDS)


@pytest.mark.parametrize("many", [-1000, 2**17])
def test_combinations_are_counted_and_numbered(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riff_store.arrays.grouping._MANY_CODES", many)
    first, second = np.array([3, 0, 3, 3]), np.array([7, 1, 7, 0])
    rows, number = numbered([first, second])
    assert [(int(first[row]), int(second[row])) for row in rows] == [(0, 1), (3, 0), (3, 7)]
    assert number.tolist() == [2, 0, 2, 1]
    counts: dict[tuple[int, ...], int] = {(3, 7): 1}
    count(counts, first, second)
    assert counts == {(0, 1): 1, (3, 0): 1, (3, 7): 3}
    rows, number = numbered([first[:0], second[:0]])
    assert (rows.size, number.size) == (0, 0)
