"""A statement that fails, whichever it is, leaves a whole store, and a second try what an undisturbed one does."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.facts import broken_rows, call, contents, fresh, put, verdict
from tests.support.failing_statements import BROKEN_DISK, FULL_DISK, LOST_CONNECTION, sqlite_faults
from tests.support.faults import Fault
from tests.support.postgresql_server import Server
from tests.support.store_places import InFiles, OnServer, Place, fail_once, spread, undisturbed
from tests.support.store_works import StoreWork, few_are_many, migration, store_works
from tests.surface.store import Item, StoreError

IN_FILES, ON_A_SERVER = 36, 6
"""How many statements fail at least, spread over all works; `python -m benchmarks.faults` lets each of them fail."""


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[StoreWork]]:
    with few_are_many():
        yield store_works(tmp_path_factory.mktemp("works"))


def first(n: int = 3) -> list[Item]:
    return [call(f"c-{i}") for i in range(n)]


def second() -> list[Item]:
    return [call("c-0", flow="other"), call("d-1", errored=True), *first(2)[1:]]


def test_a_fault_at_any_statement_leaves_the_store_as_it_was(tmp_path: Path) -> None:
    path, done = tmp_path / "calls.db", tmp_path / "done.db"
    for place in (path, done):
        with fresh(place) as store:
            put(store, "/in/a.jsonl", first())
            put(store, "/in/h.jsonl", [verdict("c-0", 4.0)])
    with fresh(done) as store:
        put(store, "/in/a.jsonl", second(), sha256="bb")
    before = contents(path)

    fault = Fault(1)
    while True:
        try:
            with sqlite_faults(fault), fresh(path) as store:
                put(store, "/in/a.jsonl", second(), sha256="bb")
        except StoreError:
            assert contents(path) == before, f"statement {fault.at}"
            assert broken_rows(path) == []
            fault = Fault(fault.at + 1)
        else:
            break
    assert fault.steps > 25
    assert contents(path) == contents(done)


def test_a_statement_in_a_file_that_fails(works: list[StoreWork], tmp_path: Path) -> None:
    assert_survived(InFiles(tmp_path), [*works, migration(tmp_path)], (FULL_DISK, BROKEN_DISK), IN_FILES)


@pytest.mark.nightly
def test_a_statement_on_a_server_that_fails(works: list[StoreWork], postgresql: Server, tmp_path: Path) -> None:
    assert_survived(OnServer(postgresql, tmp_path), works, (FULL_DISK, LOST_CONNECTION), ON_A_SERVER)


def assert_survived(place: Place, works: list[StoreWork], messages: tuple[str, ...], tries: int) -> None:
    """Try some statements of each work, others each time; what fails says which one it was."""
    chance = random.Random()
    whole = {work.name: undisturbed(place, work) for work in works}
    in_all = sum(each.statements for each in whole.values())
    for work in works:
        statements = whole[work.name].statements
        for at in spread(statements, max(1, tries * statements // in_all), chance.random()):
            fault = Fault(at, lasting=chance.random() < 0.3)
            fail_once(place, work, whole[work.name], fault, chance.choice(messages))
