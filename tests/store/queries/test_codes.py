"""Codes: which calls have each, and what share that is of those that people failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.facts import call, fresh, put
from tests.surface.store import (
    UNIT,
    Annotation,
    Code,
    Codes,
    Example,
    Measure,
    Note,
    Store,
    add_notes,
    calls_since_new_code,
    codes,
    conversations,
    notes_by_call,
)
from tests.surface.tui import parse

CALLS = [
    call("c-1", aspects={"turn_count": 9.0}),
    call("c-2", aspects={"turn_count": 4.0}, agent="model-b"),
    call("c-3", flow="dental"),
    call("c-4", errored=True),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "calls.db") as opened:
        put(opened, "calls.jsonl", CALLS)
        yield opened


def said(call: int, code: str | None, at: int, author: str = "ann", **given: Any) -> Annotation:
    return Annotation(f"{at:03}", f"c-{call}", author, code=code, at=at, **({"verdict": "fail"} | given))


def test_a_code_counts_calls_whoever_gave_it(store: Store) -> None:
    add_notes(store, [
        said(1, "wrong day", 1, state="collect"),
        said(1, "wrong day", 2, "bob", state="greet"),
        said(2, "wrong day", 3, state="collect"),
        said(2, "rude", 4),
        said(3, None, 5),
    ])  # fmt: skip
    found = codes(store)
    assert found.codes[0] == Code(
        code="wrong day", n=2, errored=0, failed_calls=2, share=Measure(3, 2 * UNIT, 2.0, rate=True),
        states={"collect": 2, "greet": 1}, agents={"model-a": 1, "model-b": 1}, flows={"viewing": 2},
        authors={"ann": 2, "bob": 1}, first_at=1, last_at=3, example=Example("night-1", "c-2"),
    )  # fmt: skip
    assert [(each.code, each.n, each.states) for each in found.codes[1:]] == [("rude", 1, {None: 1})]
    assert (found.read, found.failed, found.uncoded, found.errored) == (3, 3, 1, 0)


def test_errored_calls_are_in_no_share(store: Store) -> None:
    add_notes(store, [said(4, "backend away", 1), said(4, "rude", 2), said(1, "rude", 3)])
    found = codes(store)
    assert [(each.code, each.n, each.errored, each.share.mean) for each in found.codes] == [
        ("rude", 1, 1, 1.0), ("backend away", 0, 1, 0.0),
    ]  # fmt: skip
    assert (found.failed, found.errored) == (1, 1)
    assert [each.example.conversation for each in found.codes] == ["c-1", "c-4"]


def test_a_code_without_a_verdict_fails_a_call_and_a_pass_keeps_it(store: Store) -> None:
    add_notes(store, [said(1, "rude", 1, verdict=None), said(2, "rude", 2, verdict="pass")])
    (rude,) = codes(store).codes
    assert (rude.n, rude.failed_calls, rude.share.n) == (2, 1, 1)


def test_a_filter_narrows_the_calls(store: Store) -> None:
    add_notes(store, [said(1, "rude", 1), said(3, "rude", 2, "bob"), said(3, "slow", 3)])
    assert [each.code for each in codes(store, parse("flow=dental")).codes] == ["rude", "slow"]
    assert codes(store, parse("noted_by=bob")).failed == 1
    assert codes(store, parse("agent=nobody")) == Codes([], 0, 0, 0, 0, 0)


def notes(*given: tuple[int | None, Sequence[str | None]]) -> dict[int, list[Note]]:
    """Calls, each with the time of its first note and its codes."""
    return {
        place: [Note(f"{place}{number}", "ann", at, None, code=code) for number, code in enumerate(codes)]
        for place, (at, codes) in enumerate(given)
    }


def test_calls_are_counted_since_one_brought_a_new_code() -> None:
    assert calls_since_new_code({}) == 0
    assert calls_since_new_code(notes((1, [None]), (2, [None]))) == 2
    assert calls_since_new_code(notes((1, ["a"]), (2, ["b"]))) == 0
    assert calls_since_new_code(notes((3, ["a"]), (2, [None]), (1, ["a", "b"]))) == 2
    assert calls_since_new_code(notes((None, ["a"]), (1, ["a"]))) == 1


GIVEN = st.lists(
    st.tuples(
        st.integers(1, 5), st.sampled_from([None, "a", "b", "ä b"]), st.sampled_from(["ann", "bob"]),
        st.sampled_from([None, "pass", "fail"]), st.sampled_from([None, "greet", "book"]),
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=examples(15), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GIVEN)
def test_every_count_is_that_of_a_count_by_hand(
    store: Store, given: list[tuple[int, str | None, str, str | None, str | None]]
) -> None:
    store.execute_sql("DELETE FROM annotation", ())
    lines = [
        said(call, code, at, author, verdict=verdict, state=state, note="x")
        for at, (call, code, author, verdict, state) in enumerate(given)
    ]
    add_notes(store, lines)
    here = {each.conversation: each for each in conversations(store)}
    whole = {name: [line for line in lines if line.conversation == name] for name in here}
    ok = {name for name, each in here.items() if not each.errored}
    failed = {name for name in ok if _fails(whole[name])}
    found = codes(store)
    assert (found.read, found.failed) == (sum(map(bool, whole.values())), len(failed))
    assert found.uncoded == sum(not any(line.code for line in whole[name]) for name in failed)
    assert {each.code for each in found.codes} == {line.code for name in here for line in whole[name] if line.code}
    for each in found.codes:
        having = {name for name in here if any(line.code == each.code for line in whole[name])}
        assert (each.n, each.errored, each.failed_calls) == (
            len(having & ok), len(having - ok), len(having & failed),
        )  # fmt: skip
        by = {name: {line.author for line in whole[name] if line.code == each.code} for name in having & ok}
        assert each.authors == {who: sum(who in names for names in by.values()) for who in set().union(*by.values())}
        assert sum(each.agents.values()) == sum(each.flows.values()) == each.n
        assert len(conversations(store, parse(f'code="{each.code}"'))) == each.n + each.errored
    assert len(conversations(store, parse("verdict=fail code=· errored=false"))) == found.uncoded
    assert found.since_new == calls_since_new_code(notes_by_call(store))


def _fails(lines: Sequence[Annotation]) -> bool:
    """Whether somebody's last verdict is fail, or somebody gave a code and no verdict."""
    last = {line.author: line.verdict for line in lines if line.verdict}
    return "fail" in last.values() or any(line.code and line.author not in last for line in lines)
