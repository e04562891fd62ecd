"""Calls that are filtered by what was said: they come as they are found, and open where it was said."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.support.walker import Walker, press_key, running
from tests.surface.explorer import START, Backend, Explorer, Location
from tests.surface.ingest import Turn
from tests.surface.store import EventColumns, Failure, Store, check_interrupted, spell, transcripts_said
from tests.surface.tui import Deferred, Filter, Request, Steps, Table, show, view_query

HITS = "said:wrong"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Nine calls of which every third says it twice, once each side; all failed at the end."""
    with fresh(tmp_path_factory.mktemp("said") / "store.db") as opened:
        calls = []
        for number in range(9):
            said = (
                ["Hello", "is that WRONG?", "no", "so wrong", "bye"]
                if number % 3 == 0
                else ["Hello", "", "no", "x", "bye"]
            )
            turns = [Turn(("agent", "caller")[at % 2], text, t=float(at)) for at, text in enumerate(said)]
            transcript = spell(turns, EventColumns(), {})
            failure = Failure("greet", "collect", "stall")
            calls.append(call(f"c-{number}", transcript=transcript, failure=failure, agent=f"model-{number % 2}"))
        put(opened, "calls.jsonl", calls)
        yield opened


class Searching:
    """Views of a store; each search stops before every step until that many steps are let through."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._let = threading.Semaphore(0)
        self.steps: list[str | Table] = []

    def show(self, view: str, request: Request) -> Table:
        found = show(self._store, view, request)
        return found._replace(deferred=partial(self._slowly, found.deferred) if found.deferred else None)

    def let(self, steps: int = 1) -> None:
        self._let.release(steps)

    def _slowly(self, load: Deferred) -> Steps:
        going = load()
        while True:
            try:
                step = next(going)
            except StopIteration as end:
                whole: Table = end.value
                return whole
            self.steps.append(step)
            yield step
            while not self._let.acquire(timeout=0.005):
                check_interrupted()


@asynccontextmanager
async def looking(show_view: object, *locations: Location) -> AsyncIterator[Walker]:
    app = Explorer(Backend(show_view), start=(*START, *locations))  # type: ignore[arg-type]
    async with running(app, (80, 24)) as pilot:
        yield Walker(app, pilot)


def listed(where: str) -> Location:
    return Location("conversations", filter=Filter(where))


@pytest.fixture
def slow(store: Store, monkeypatch: pytest.MonkeyPatch) -> Searching:
    monkeypatch.setattr(view_query, "QUICKLY_SEARCHED", 0)
    monkeypatch.setattr(transcripts_said, "AT_ONCE", 3)
    # Nothing of an earlier test is known any more.
    store._lasting = (None, {})
    return Searching(store)


async def test_a_call_opens_at_what_was_said_and_n_goes_from_hit_to_hit_and_call_to_call(store: Store) -> None:
    async with looking(partial(show, store), listed(HITS)) as at:
        await at.settle()
        assert at.path.endswith("1 of 3 match")
        seen = []
        await at.press("enter")
        for key in ("n", "n", "n", "N", "N", "N"):
            seen.append((at.path.split("›")[-1].split()[0], at.row))
            await at.press(key)
        seen.append((at.path.split("›")[-1].split()[0], at.row))
        assert seen == [
            ("c-0", "2"), ("c-0", "4"), ("c-3", "2"), ("c-3", "4"), ("c-3", "2"), ("c-0", "4"), ("c-0", "2"),
        ]  # fmt: skip


async def test_what_was_said_is_marked_and_only_that_of_the_side_that_was_asked_for(store: Store) -> None:
    where = "!said:zz (agent_said:nothing | caller_said:/so W.*/i) agent:model"
    async with looking(partial(show, store), listed(where)) as at:
        await at.settle()
        await at.press("enter")
        assert at.row == "4"
        assert at.controls.search.expression == "agent_said:nothing | caller_said:/(?i)so W.*/"
        assert [pattern.pattern for pattern in at.controls.transcript._patterns] == ["(?i)nothing", "(?i)so W.*"]
        await at.press("escape")
        assert (at.controls.search.expression, at.controls.transcript._patterns) == ("", [])
        await at.press("n")
        assert (at.path.split("›")[-1].split()[0], at.row) == ("c-3", "4")


async def test_a_search_that_was_typed_stays_what_is_searched_for(store: Store) -> None:
    async with looking(partial(show, store), listed(HITS)) as at:
        await at.settle()
        await at.press("enter", "slash", *"agent", "underscore", *"said", "colon", *"bye", "enter")
        assert at.row == "5"
        await at.press("n")
        assert (at.path.split("›")[-1].split()[0], at.row) == ("c-3", "5")


async def test_a_list_without_such_a_filter_opens_calls_as_before(store: Store) -> None:
    async with looking(partial(show, store), listed("agent=model-0")) as at:
        await at.settle()
        await at.press("enter")
        assert (at.row, at.controls.search.expression) == ("5", "")


async def test_calls_come_as_they_are_found_with_how_far_it_is(slow: Searching) -> None:
    async with looking(slow.show, listed(HITS)) as at:
        await at.until(lambda: "searched 0 of 9 calls · Esc stops it" in at.bottom)
        assert at.controls.table._empty == "The conversations are not read yet."
        slow.let(2)
        await at.until(lambda: "searched 3 of 9 calls · Esc stops it" in at.bottom)
        await at.until(lambda: at.path.endswith("1 of 1 conversation so far"))
        slow.let(99)
        await at.until(lambda: at.path.endswith("1 of 3 match"))
        assert "searched" not in at.bottom


async def test_esc_ends_a_search_and_keeps_what_was_found(slow: Searching) -> None:
    async with looking(slow.show, listed(HITS)) as at:
        slow.let(2)
        await at.until(lambda: at.path.endswith("1 of 1 conversation so far") and "searched 3 of 9" in at.bottom)
        press_key(at.app, "escape")
        await at.until(lambda: at.bottom.endswith("stopped, searched 3 of 9 calls; r reads it again"))
        assert at.path.endswith("1 of 1 conversation so far")
        assert not at.controls.is_loading
        slow.let(99)
        await at.press("r")
        assert at.path.endswith("of 3 match")


async def test_other_views_wait_for_the_search_as_well(slow: Searching) -> None:
    async with looking(slow.show, Location("states", filter=Filter(HITS))) as at:
        await at.until(lambda: "searched 0 of 9 calls" in at.bottom)
        slow.let(99)
        await at.settle()
        assert at.path.endswith("2 match")
        assert [step for step in slow.steps if isinstance(step, Table)] == []


async def test_a_prompt_counts_calls_that_are_still_to_be_searched(slow: Searching) -> None:
    slow.let(99)
    async with looking(slow.show, Location("states")) as at:
        await at.settle()
        await at.press("slash", *"said", "colon", *"wrong")
        assert "2 of 2 states match" in str(at.controls.prompt.foot.lines)


async def test_without_text_it_says_so(tmp_path: Path) -> None:
    with fresh(tmp_path / "silent.db") as opened:
        put(opened, "calls.jsonl", [call("c-1")])
        table = show(opened, "conversations", Request(where=HITS, defer=True))
    assert table.notes[0].startswith("What was said in these 1 calls is not kept")
