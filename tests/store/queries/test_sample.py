"""The reading list: which calls can be drawn, and what is found again of those that were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import (
    NONE_FOUND,
    Annotation,
    CallNames,
    ConversationFacts,
    Failure,
    KeptList,
    Sample,
    SampledCall,
    Store,
    add_notes,
    candidates,
    draw,
    keep_list,
    kept_list,
    reading_list,
)
from tests.surface.tui import parse

COUNTS = {"random": 6, "failing": 3, "outlier": 1}
ASKED = Sample(10, COUNTS, 1, "", 1_000_000)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "calls.db") as opened:
        yield opened


def calls_of_a_night() -> list[ConversationFacts]:
    """Forty calls of two flows, of which every fourth failed, and two that were errored."""
    found = []
    for number in range(40):
        flow = "viewing" if number % 3 else "dental"
        turns = {"turn_count": 40.0 if number == 7 else 5.0 + number % 3}
        failed = Failure("stall", "collect" if number % 8 else None, "greet") if number % 4 == 0 else None
        found.append(call(f"c-{number}", flow=flow, aspects=turns, failure=failed, duration_s=60.0))
    return [*found, call("c-40", errored=True), call("c-41", errored=True)]


def drawn(store: Store) -> KeptList:
    return KeptList(ASKED, draw(candidates(store), COUNTS, 1).calls)


def test_a_call_that_is_not_errored_can_be_drawn_with_where_it_failed_and_its_figures(store: Store) -> None:
    put(store, "calls.jsonl", calls_of_a_night())
    found = {each.names.conversation: each for each in candidates(store)}
    assert found.keys() == {f"c-{number}" for number in range(40)}
    assert found["c-4"].names == CallNames("night-1", "viewing", "model-a", "c-4", 0)
    assert [found[name].failed_in for name in ("c-4", "c-8", "c-5")] == ["collect", NONE_FOUND, None]
    assert found["c-7"].figures == {"turn_count": 40.0, "duration_s": 60.0, "latency_p95": None, "error_count": 0}
    assert {each.names.flow for each in candidates(store, parse("flow=dental"))} == {"dental"}


def test_what_people_note_changes_no_draw(store: Store) -> None:
    put(store, "calls.jsonl", calls_of_a_night())
    before = drawn(store)
    add_notes(store, [Annotation("1", "c-4", "ann", state="greet", code="rude", verdict="fail", at=1)])
    assert drawn(store) == before


def test_the_same_calls_are_drawn_whatever_the_order_in_which_they_were_ingested(tmp_path: Path) -> None:
    lists = []
    for seed in range(3):
        calls = calls_of_a_night()
        Random(seed).shuffle(calls)
        with fresh(tmp_path / f"{seed}.db") as store:
            put(store, "first.jsonl", calls[:10])
            put(store, "others.jsonl", calls[10:])
            lists.append(drawn(store))
    assert len(lists[0].calls) == 10
    assert lists[0] == lists[1] == lists[2]


def test_a_kept_list_is_read_as_it_was_drawn_until_another_takes_its_place(store: Store) -> None:
    assert kept_list(store) is None
    put(store, "calls.jsonl", calls_of_a_night())
    keep_list(store, drawn(store))
    assert kept_list(store) == drawn(store)
    other = KeptList(Sample(1, {"random": 1}, 2, "flow=dental", 5), drawn(store).calls[:1])
    keep_list(store, other)
    assert kept_list(store) == other


def test_a_call_is_read_once_anybody_noted_something_on_it(store: Store) -> None:
    put(store, "calls.jsonl", calls_of_a_night())
    keep_list(store, drawn(store))
    names = [each.names.conversation for each in drawn(store).calls]
    outside = next(f"c-{number}" for number in range(40) if f"c-{number}" not in names)
    add_notes(store, [
        Annotation("1", names[3], "ann", code="rude", verdict="fail", at=1),
        Annotation("2", names[5], "bob", note="fine", verdict="pass", at=2),
        Annotation("3", outside, "ann", code="of a call that is not on the list", at=3),
        Annotation("4", names[0], "ann", code="taken back", at=4, deleted=True),
    ])  # fmt: skip
    found = reading_list(store)
    assert found is not None
    assert [each.position for each in found.calls if each.is_read] == [4, 6]
    assert (found.read, found.codes, found.since_new, found.gone) == (2, 1, 1, 0)


def test_calls_that_were_replaced_are_found_again_and_those_that_are_gone_keep_their_place(store: Store) -> None:
    put(store, "calls.jsonl", calls_of_a_night())
    kept = drawn(store)
    keep_list(store, kept)
    keys = [each.call and each.call.id for each in _list(store)]
    first, *others = [each.names.conversation for each in kept.calls]
    put(store, "calls.jsonl", [each for each in calls_of_a_night() if each.conversation_id in others], sha256="bb")
    found = _list(store)
    assert [each.drawn.names.conversation for each in found] == [first, *others]
    assert [each.call is None for each in found] == [True] + [False] * 9
    assert [each.call and each.call.conversation for each in found][1:] == others
    assert [each.call and each.call.id for each in found] != keys


def _list(store: Store) -> list[SampledCall]:
    found = reading_list(store)
    assert found is not None
    return list(found.calls)
