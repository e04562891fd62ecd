"""Views of very many calls: a screen sees rows before all their columns are counted, and ends with what is dumped."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from tests.support.facts import call, fresh, put, state, verdict
from tests.support.packed_stores import set_small_groups
from tests.support.walker import Walker, press_key, running
from tests.surface.explorer import FILE_NAME, START, Backend, CopyMenu, Explorer, Location, markdown
from tests.surface.store import Failure, Store, Writer, check_interrupted
from tests.surface.tui import (
    LATER,
    Deferred,
    Filter,
    Request,
    Steps,
    Table,
    run_steps,
    show,
    state_directory,
    view_query,
)

ASKED = [
    ("states", "persona=hurried"),
    ("states", "duration_s>1"),
    ("failure-matrix", ""),
    ("failure-matrix", "persona=hurried"),
    ("causes", ""),
    ("causes", "duration_s>1"),
    ("judges", ""),
    ("judges", "duration_s>1"),
    ("worklist", "persona=hurried"),
    ("worklist", "duration_s>1"),
]
PENDING = {
    "states": {"revisit", "dwell_turns", "latency_p95", "guard_error", "slot_fill_rate", "slow", "to_states"},
    "failure-matrix": {"rate", "taken"},
    "causes": {"stands_out", "lift"},
    "judges": {"prompt_version"},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store whose few calls are very many, packed as those are; a third of them ends where they collect."""
    ends = [None, None, Failure("greet", "collect", "stall")]
    calls = [
        call(
            f"c-{number}",
            flow=("viewing", "walk_in")[number % 2],
            persona=("hurried", "patient")[number % 5 == 0],
            duration_s=10.0 + number,
            failure=ends[number % 3],
            aspects={"turn_count": 4.0, "correctness": 3.0 + number % 3},
            states=[
                state("greet", to={"collect": 1}, position=0, dwell_turns=2.0),
                state("collect", position=1, stall=number % 3 == 2, progress=number % 3 != 2, revisit=number % 2),
            ],
            terminals={},
        )
        for number in range(60)
    ]
    with (
        pytest.MonkeyPatch.context() as patch,
        fresh(tmp_path_factory.mktemp("parts") / "store.db") as opened,
    ):
        put(opened, "calls.jsonl", calls)
        put(opened, "verdicts.jsonl", [verdict(facts.conversation_id, 7.0, prompt_version="v2") for facts in calls])
        set_small_groups(patch)
        patch.setattr(view_query, "QUICK_CALLS", 0)
        Writer(opened).pack()
        yield opened


def in_parts(store: Store, view: str, where: str) -> tuple[Table, Table]:
    """What a screen sees first, and in the end."""
    first = show(store, view, Request(where=where, defer=True))
    assert first.deferred is not None
    return first, run_steps(first.deferred())


@pytest.mark.parametrize(("view", "where"), ASKED)
def test_what_is_shown_at_first_ends_as_what_is_dumped(view: str, where: str, store: Store) -> None:
    _, last = in_parts(store, view, where)
    dumped = show(store, view, Request(where=where))
    assert last._replace(rows=list(last.rows)) == dumped._replace(rows=list(dumped.rows))
    assert last.rows


@pytest.mark.parametrize(("view", "where"), ASKED[:-2])
def test_the_rows_stand_in_their_places_with_the_figures_that_are_known(view: str, where: str, store: Store) -> None:
    first, last = in_parts(store, view, where)
    assert [row.id for row in first.rows] == [row.id for row in last.rows]
    assert first.counts == last.counts
    assert f"{LATER} is still being counted." in first.notes
    for before, after in zip(first.rows, last.rows, strict=True):
        said = {key for key, text in before.display.items() if text == LATER}
        assert said == PENDING[view]
        for column in first.columns:
            if column.key not in said:
                assert before.record.get(column.key) == after.record.get(column.key)


@pytest.mark.parametrize(("view", "where"), ASKED[-2:])
def test_a_worklist_has_its_flows_first(view: str, where: str, store: Store) -> None:
    first, last = in_parts(store, view, where)
    assert [section.title for section in first.sections] == ["Weakest flows"]
    assert first.rows == [row for row in last.rows if row.record["list"] == "flows"]
    assert first.notes == ["Segments and states are still being ranked."]


@pytest.mark.parametrize(
    ("view", "where", "sort"),
    [
        ("states", "persona=hurried dwell_turns>0", None),
        ("states", "persona=hurried to_states:collect", None),
        ("states", "persona=hurried", "-latency_p95"),
        ("states", "persona=hurried", "-p95"),
        ("states", "", None),
        ("failure-matrix", "taken>0", None),
        ("failure-matrix", "", "-rate"),
        ("worklist", "", None),
    ],
)
def test_nothing_is_left_for_later_that_was_asked_for_or_is_there(
    view: str, where: str, sort: str | None, store: Store
) -> None:
    assert show(store, view, Request(where=where, sort=sort, defer=True)).deferred is None


def test_the_grid_of_one_flow_never_pushes_rows_down(store: Store) -> None:
    flow = show(store, "failure-matrix", Request()).rows[0].record["flow"]
    assert show(store, "failure-matrix", Request(where=f"flow={flow}", defer=True)).deferred is None


def test_few_calls_are_counted_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_query, "QUICK_CALLS", 60)
    for view, where in ASKED:
        assert show(store, view, Request(where=where, defer=True)).deferred is None


class Reading:
    """Views of a store; the rest of a worklist, and the view `slow`, are read until the gate is open."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.gate = threading.Event()
        self.slow = ""
        self.begun = 0

    def show(self, view: str, request: Request) -> Table:
        if view == self.slow:
            self._wait()
        found = show(self._store, view, request)
        return found._replace(deferred=partial(self._rest, found.deferred) if found.deferred else None)

    def _rest(self, rest: Deferred) -> Steps:
        yield "reading"
        self.begun += 1
        self._wait()
        return (yield from rest())

    def _wait(self) -> None:
        while not self.gate.wait(0.005):
            check_interrupted()


@asynccontextmanager
async def looking(reading: Reading, location: Location, path: str) -> AsyncIterator[Walker]:
    """Look at what is there of a location while the rest of it is read."""
    app = Explorer(Backend(reading.show), start=(*START, location))
    async with running(app, (80, 24)) as pilot:
        at = Walker(app, pilot)
        await at.until(lambda: at.path.endswith(path) and reading.begun == 1)
        try:
            yield at
        finally:
            reading.gate.set()


@asynccontextmanager
async def at_worklist(reading: Reading) -> AsyncIterator[Walker]:
    """Look at a worklist of which only the flows are there."""
    location = Location("worklist", scope=Filter("persona=hurried"))
    async with looking(reading, location, "1 of 2 entries so far") as at:
        yield at


async def test_the_screen_says_what_is_still_to_come(store: Store) -> None:
    reading = Reading(store)
    async with at_worklist(reading) as at:
        row = at.row
        reading.gate.set()
        await at.settle()
        assert at.path.endswith("1 of 6 entries")
        assert at.row == row


async def test_a_prompt_counts_what_is_still_to_come(store: Store) -> None:
    reading = Reading(store)
    reading.gate.set()
    app = Explorer(Backend(reading.show), start=(*START, Location("worklist")))
    async with running(app, (80, 24)) as pilot:
        at = Walker(app, pilot)
        await at.until(lambda: at.path.endswith("1 of 6 entries"))
        await at.press(*"/persona=hurried")
        assert "6 of 6 entries match" in str(at.controls.prompt.foot.lines)


async def test_whoever_goes_elsewhere_waits_for_nothing_that_was_left_for_later(store: Store) -> None:
    reading = Reading(store)
    async with at_worklist(reading) as at:
        press_key(at.app, "enter")
        await at.until(lambda: at.screen.location.view == "segments")
        press_key(at.app, "left_square_bracket")
        await at.until(lambda: at.path.endswith("1 of 2 entries so far"))
        reading.gate.set()
        await at.settle()
        assert at.path.endswith("1 of 6 entries")


async def test_whoever_stays_after_all_gets_the_rest(store: Store) -> None:
    reading = Reading(store)
    async with at_worklist(reading) as at:
        reading.slow = "segments"
        press_key(at.app, "enter")
        await at.until(lambda: at.controls.navigator.is_loading)
        press_key(at.app, "escape")
        await at.until(lambda: reading.begun == 2)
        assert at.path.endswith("1 of 2 entries so far")
        reading.gate.set()
        await at.settle()
        assert at.path.endswith("1 of 6 entries")


async def test_a_table_is_copied_with_what_was_left_for_later(store: Store) -> None:
    reading = Reading(store)
    async with looking(reading, Location("states", scope=Filter("persona=hurried")), "1 of 4 states") as at:
        press_key(at.app, "y")
        await at.until(lambda: isinstance(at.app.screen, CopyMenu))
        press_key(at.app, "m")
        await at.until(lambda: not isinstance(at.app.screen, CopyMenu))
        reading.gate.set()
        await at.until(lambda: "table copied" in at.bottom)
    copied = (state_directory() / FILE_NAME).read_text()
    assert copied == markdown(show(store, "states", Request(where="persona=hurried")))


async def test_copying_waits_for_nothing_that_was_left_for_later(store: Store) -> None:
    reading = Reading(store)
    async with at_worklist(reading) as at:
        press_key(at.app, "y")
        await at.until(lambda: isinstance(at.app.screen, CopyMenu))
        press_key(at.app, "d")
        await at.until(lambda: "dump copied" in at.bottom)
    assert "dump worklist" in (state_directory() / FILE_NAME).read_text()


async def test_nothing_is_said_to_be_missing_in_what_is_not_read_yet(store: Store) -> None:
    reading = Reading(store)
    async with looking(reading, Location("failure-matrix"), "1 of 2 cells") as at:
        at.controls.search.remember("taken>10")
        press_key(at.app, "n")
        await at.until(lambda: at.bottom.endswith("no row that matches taken>10 below in what is read so far"))
        reading.gate.set()
        await at.settle()
        press_key(at.app, "n")
        await at.until(lambda: at.path.endswith("2 of 2 cells"))
