"""Where people marked that calls first went wrong: what counts, and that it shows wherever events told it before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, detail_of, fresh, put, state
from tests.support.recorded_queries import recorded_queries
from tests.surface.store import (
    Annotation,
    ConversationFacts,
    Failure,
    Store,
    add_notes,
    causes,
    conversations,
    failure_matrix,
    failure_shifts,
    marks,
)
from tests.surface.tui import parse

STALL = Failure("collect", "book", "tool error", "find", "timeout")
GREET, COLLECT = state("greet", to={"collect": 1}, position=0), state("collect", to={"greet": 1, "book": 1}, position=1)
BOOK = state("book", stall=1, lost=1, position=3)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "calls.db") as opened:
        yield opened


def failed(name: str, **given: Any) -> ConversationFacts:
    settings: dict[str, Any] = {"failure": STALL, "states": [GREET, COLLECT, BOOK], "terminals": {}}
    return call(name, **(settings | given))


def note(conversation: str, state: str | None, author: str = "ann", **given: Any) -> Annotation:
    return Annotation(f"{conversation} {state} {author} {given}", conversation, author, state=state, **given)


def places(store: Store, where: str = "", sort: str | None = None) -> list[tuple[str | None, ...]]:
    found = conversations(store, parse(where), sort)
    return [(each.conversation, each.last_ok, each.first_failed, each.failure, each.failure_detail) for each in found]


@pytest.mark.parametrize(
    ("notes", "wanted"),
    [
        ([note("c", "collect", code="wrong day")], ("greet", "collect", "marked", "wrong day")),
        ([note("c", "greet", verdict="fail")], ("(start)", "greet", "marked", None)),
        # What was marked earlier in the call is fixed first, whoever marked it, and whenever.
        ([note("c", "collect", code="late", at=1), note("c", "greet", "bo", code="early", at=2)],
         ("(start)", "greet", "marked", "early")),
        ([note("c", "collect", verdict="fail", turn=1), note("c", "collect", code="b", turn=3),
          note("c", "collect", "bo", code="a", turn=2)], ("greet", "collect", "marked", "a")),
        # The third visit was to collect again, from where alone it went on to book.
        ([note("c", "book", code="x")], ("collect", "book", "marked", "x")),
        ([note("c", "book", note="a remark"), note("c", "greet", verdict="pass"), note("c", None, code="nowhere"),
          note("c", "pay", code="not visited")], ("collect", "book", "tool error", "find")),
        # Whoever passes a call says of no state that it went wrong there.
        ([note("c", "greet", code="curt"), note("c", None, verdict="pass"), note("c", "collect", "bo", code="late")],
         ("greet", "collect", "marked", "late")),
    ],
)  # fmt: skip
def test_a_mark_says_where_a_call_first_went_wrong(
    store: Store, notes: list[Annotation], wanted: tuple[str | None, ...]
) -> None:
    put(store, "calls.jsonl", [failed("c")])
    add_notes(store, notes)
    assert places(store) == [("c", *wanted)]
    detail = detail_of(store, "night-1", "c")
    assert detail is not None
    assert detail.call.first_failed == wanted[1]


def test_only_failed_calls_are_marked_and_nothing_computed_changes(store: Store) -> None:
    put(store, "calls.jsonl", [call("good"), failed("bad"), failed("stalled"), failed("broken", errored=True)])
    before = failure_matrix(store)
    add_notes(store, [note(name, "collect", code="wrong day") for name in ("good", "bad", "broken", "later")])
    assert places(store) == [
        ("bad", "greet", "collect", "marked", "wrong day"),
        ("broken", None, None, None, None),
        ("good", None, None, None, None),
        ("stalled", "collect", "book", "tool error", "find"),
    ]
    after = failure_matrix(store)
    assert (after.failed, after.calls) == (before.failed, before.calls) == ({"viewing": 2}, {"viewing": 3})
    assert [(cell.last_ok, cell.first_failed, cell.kinds) for cell in after.cells] == [
        ("collect", "book", {"tool error": 1}),
        ("greet", "collect", {"marked": 1}),
    ]


def test_a_mark_that_is_taken_back_no_longer_counts(store: Store) -> None:
    put(store, "calls.jsonl", [failed("c")])
    mark = note("c", "collect", code="wrong day", at=1)
    add_notes(store, [mark, Annotation("later", "c", "ann", at=2, supersedes=mark.id, deleted=True)])
    assert places(store) == [("c", "collect", "book", "tool error", "find")]


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("first_failed=collect", ["a"]),
        ("first_failed=book", ["b"]),
        ("last_ok=greet", ["a"]),
        ("failure=marked", ["a"]),
        ("failure!=marked", ["b"]),
        ('failure="tool error"', ["b"]),
        ('failure_detail="wrong day"', ["a"]),
        ("failure_detail=find", ["b"]),
        ("failure_error=·", ["a", "good"]),
        ("!first_failed=book", ["a", "good"]),
        ("failure=·", ["good"]),
        ("state=collect first_failed=collect", ["a"]),
    ],
)
def test_filters_speak_of_marks(store: Store, where: str, wanted: list[str]) -> None:
    put(store, "calls.jsonl", [call("good"), failed("a"), failed("b")])
    add_notes(store, [note("a", "collect", code="wrong day")])
    assert [each.conversation for each in conversations(store, parse(where))] == wanted


@pytest.mark.parametrize("column", ["last_ok", "first_failed", "failure", "failure_detail", "failure_error"])
def test_calls_are_sorted_by_what_is_shown(store: Store, column: str) -> None:
    put(store, "calls.jsonl", [call("good"), *(failed(name) for name in "abcd")])
    add_notes(store, [note("a", "collect", code="x"), note("c", "greet", code="a"), note("d", "book", verdict="fail")])
    for sort in (column, f"-{column}"):
        found = [getattr(each, column) for each in conversations(store, sort=sort)]
        measured = [value for value in found if value is not None]
        assert measured == sorted(measured, reverse=sort.startswith("-"))
        assert found[len(measured) :] == [None] * (len(found) - len(measured))


def test_causes_group_by_the_code_however_the_calls_ended(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [failed(name, stop_reason=stop) for name, stop in zip("abcd", (None, "loop", "hangup", "loop"), strict=True)],
    )
    add_notes(store, [note(name, "book", code="x") for name in "ab"] + [note("c", "book", verdict="fail")])
    found = [(each.kind, each.detail, each.error, each.stop_reasons, each.n) for each in causes(store).groups]
    assert found == [
        ("marked", "x", None, {None: 1, "loop": 1}, 2),
        ("marked", None, None, {"hangup": 1}, 1),
        ("tool error", "find", "timeout", {"loop": 1}, 1),
    ]
    add_notes(store, [note(name, "book", code="x") for name in "cd"])
    (group,) = causes(store).groups
    assert (group.detail, group.stop_reasons, group.n) == ("x", {"loop": 2, None: 1, "hangup": 1}, 4)


def test_two_sides_are_compared_by_marks(store: Store) -> None:
    put(store, "calls.jsonl", [failed(name, run=run) for run in ("one", "two") for name in "ab"])
    add_notes(store, [note("a", "greet", code="x", run="two"), note("b", "greet", code="x", run="two")])
    found = {
        (cell.last_ok, cell.first_failed): (cell.n_a, cell.n_b) for cell in failure_shifts(store, "one", "two").cells
    }
    assert found == {("collect", "book"): (2, 0), ("(start)", "greet"): (0, 2)}


def test_a_state_that_ends_the_work_can_be_marked(store: Store) -> None:
    gone = {"terminals": {"escalated": "escalation"}, "outcome_positions": {"escalated": 2}}
    put(store, "calls.jsonl", [failed("c", states=[GREET, COLLECT], **gone)])
    add_notes(store, [note("c", "escalated", code="too soon")])
    assert places(store) == [("c", "collect", "escalated", "marked", "too soon")]


def test_a_store_without_notes_is_asked_for_nothing_but_notes(store: Store) -> None:
    put(store, "calls.jsonl", [failed("c")])
    with recorded_queries(store) as asked:
        assert marks(store) == {}
    assert asked == []
