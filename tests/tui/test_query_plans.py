"""No view of sums looks at calls one after the other, with a filter or without: SQLite's own plans say so."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from benchmarks.load import Shape, transcript_file
from benchmarks.ours import ingest_file
from tests.support.packed_stores import packed, set_small_groups
from tests.support.random_stores import world
from tests.surface.store import Measure, Store, open_store
from tests.surface.tui import ask

OF_CALLS = {"conversation", "aspect_score", "state_score", "transition", "tool_score"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of which all calls are packed, as nearly all of a large store are."""
    with pytest.MonkeyPatch.context() as patch:
        set_small_groups(patch)
        with packed(world(3, 63), tmp_path_factory.mktemp("plans") / "store.db") as opened:
            yield opened


def scanned(store: Store, statements: list[str]) -> dict[str, str]:
    """The tables of calls that a statement looks through from end to end, by the statement."""
    found = {}
    with closing(sqlite3.connect(f"{Path(store.location).as_uri()}?mode=ro", uri=True)) as connection:
        for statement in dict.fromkeys(statements):
            if not statement.startswith("SELECT"):
                continue
            tables = {alias: table for table, alias in re.findall(r'"(\w+)" AS "(\w+)"', statement)}
            for *_, step in connection.execute(f"EXPLAIN QUERY PLAN {statement}"):
                scan = re.match(r"SCAN (\w+)", step)
                if scan and tables.get(scan[1], scan[1]) in OF_CALLS:
                    found[statement] = step
    return found


def asked(store: Store, view: str, where: str, by: tuple[str, ...] = (), limit: int | None = None) -> list[str]:
    """The statements that a view asks."""
    statements: list[str] = []
    connection = store.connection
    assert isinstance(connection, sqlite3.Connection)
    connection.set_trace_callback(statements.append)
    try:
        ask(store, view, where, by, limit)
    finally:
        connection.set_trace_callback(None)
    return statements


def questions(statements: list[str]) -> list[str]:
    """Return those that ask; packed columns are read in pieces, the more of them the more calls there are."""
    return [each for each in statements if each.startswith("SELECT") and "column_chunk" not in each]


@pytest.mark.parametrize(
    "view",
    ["worklist", "flows", "segments", "states", "funnel", "routes", "tools", "timeline", "runs", "archetypes", "edits"],
)
@pytest.mark.parametrize("where", ["", "persona=hurried", "duration_s>1", "humanness<5", "run=night-1 scenario=s1"])
def test_views_of_sums_look_through_no_table_of_calls(view: str, where: str, store: Store) -> None:
    assert scanned(store, asked(store, view, where)) == {}


@pytest.mark.parametrize("view", ["flows", "states", "funnel", "routes", "tools"])
def test_nor_do_they_where_they_are_split_by_what_only_calls_have(view: str, store: Store) -> None:
    assert scanned(store, asked(store, view, "", ("scenario", "persona"))) == {}


def test_a_list_of_a_few_calls_looks_only_through_runs_that_have_some_of_them(store: Store) -> None:
    statements = asked(store, "conversations", "conversation:c-031", limit=1)
    of_runs = [
        each for each in statements if re.search(r'WHERE .*"run_id" = \d+', each) and 'ORDER BY "t1"."name"' in each
    ]
    assert len(of_runs) == 1


def test_a_scan_would_be_noticed(store: Store) -> None:
    statement = 'SELECT COUNT(*) FROM "conversation" AS "t1" WHERE "t1"."trial" = 7'
    assert list(scanned(store, [statement])) == [statement]


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """A store, and one of as many calls that has many more flows, agents, runs and states."""
    folder = tmp_path_factory.mktemp("grown")
    shapes = {"few": Shape(flows=3, agents=2, runs=2), "many": Shape(flows=40, agents=5, runs=90, states=30)}
    with ExitStack() as opened:
        for name, shape in shapes.items():
            ingest_file(transcript_file(folder, 400, shape=shape), folder / f"{name}.db", with_text=False)
        few, many = (opened.enter_context(open_store(folder / f"{name}.db")) for name in shapes)
        yield few, many


@pytest.mark.parametrize(
    "view",
    ["worklist", "flows", "segments", "states", "funnel", "coverage", "routes", "tools", "timeline", "runs", "repeats"],
)
@pytest.mark.parametrize("where", ["", "flow=flow_01"])
def test_a_view_asks_as_often_however_much_there_is_beside_its_calls(
    view: str, where: str, grown: tuple[Store, Store]
) -> None:
    few, many = (questions(asked(store, view, where)) for store in grown)
    # Where a state stands out a few questions more say which agents fail there.
    assert 0 < len(many) <= len(few) + 5


@pytest.mark.parametrize("view", ["conversations", "conversation", "runs"])
def test_a_call_is_found_by_its_id_with_few_questions_whatever_the_number_of_runs(
    view: str, grown: tuple[Store, Store]
) -> None:
    few, many = (questions(asked(store, view, "conversation=c-0000007")) for store in grown)
    assert len(many) <= min(12, len(few))


def test_a_call_that_is_judged_and_kept_in_words_is_shown_with_few_questions(store: Store) -> None:
    assert 0 < len(questions(asked(store, "conversation", "conversation=c-031"))) <= 12


@pytest.mark.parametrize("view", ["flows", "segments", "states"])
def test_intervals_are_computed_for_the_rows_that_are_shown(
    view: str, grown: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[Measure] = []
    interval = Measure.interval

    def counting(measure: Measure) -> tuple[float, float] | None:
        computed.append(measure)
        return interval(measure)

    monkeypatch.setattr(Measure, "interval", counting)
    counts = []
    for store in grown:
        computed.clear()
        assert len(ask(store, view, limit=3)) == 3
        counts.append(len(computed))
    assert 0 < counts[1] <= 2 * counts[0]
