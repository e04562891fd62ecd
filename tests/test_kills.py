"""Whatever is killed, wherever, leaves what opens and is whole, and done again gives what it gives undisturbed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.faults import Fault
from tests.support.file_works import file_works
from tests.support.judge_endpoint import serving, well
from tests.support.judged_calls import KEY, KEY_VARIABLE, settings
from tests.support.kills import Killable, KilledCommand, KilledStoreWork, forked, kill_at_a_step, was_killed
from tests.support.postgresql_server import Server
from tests.support.store_places import InFiles, OnServer
from tests.support.store_works import few_are_many, migration, store_works

IN_STORES, ON_SERVER, COMMANDS, FORGETTING = 8, 4, 6, 10
"""How many kills there are of each kind; `python -m benchmarks.kills` makes hundreds, at random moments."""


@pytest.fixture
def _small() -> Iterator[None]:
    with few_are_many():
        yield


@pytest.mark.usefixtures("_small")
def test_what_is_done_to_a_store_in_a_file_can_be_killed(tmp_path: Path) -> None:
    place = InFiles(tmp_path)
    works = random.Random().sample([*store_works(tmp_path), migration(tmp_path)], 8)
    kill_some([KilledStoreWork(place, work) for work in works], IN_STORES)


@pytest.mark.usefixtures("_small")
@pytest.mark.nightly
def test_what_is_done_to_a_store_on_a_server_can_be_killed(postgresql: Server, tmp_path: Path) -> None:
    place = OnServer(postgresql, tmp_path)
    works = random.Random().sample(store_works(tmp_path), 2)
    kill_some([KilledStoreWork(place, work) for work in works], ON_SERVER)


@pytest.mark.usefixtures("_small")
def test_forgetting_that_is_killed_leaves_before_or_after(tmp_path: Path) -> None:
    (work,) = (each for each in store_works(tmp_path) if each.name == "forgetting")
    of, chance = KilledStoreWork(InFiles(tmp_path), work), random.Random()
    of.begin()
    before = of.picture()
    for _ in range(FORGETTING):
        at = chance.randint(1, of.steps)
        of.begin()
        was_killed(forked(lambda at=at: of.work(Fault(at, kills=True))))  # type: ignore[misc]
        assert of.picture() in (before, of.whole), at
        of.check_and_finish(f"killed at step {at}")


def test_commands_that_write_files_can_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiohttp")
    with serving(well) as endpoint:
        monkeypatch.setenv(KEY_VARIABLE, KEY)
        monkeypatch.setenv("RIFF_TUI_CONFIG", str(settings(tmp_path / "settings.toml", endpoint.url)))
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        works = [work for work in file_works(tmp_path) if work.name not in ("dump", "parquet", "case")]
        kill_some([KilledCommand(tmp_path, work) for work in works], COMMANDS)


def kill_some(works: Sequence[Killable], count: int) -> None:
    """Kill each in turn, at a step that chance chooses."""
    chance = random.Random()
    for number in range(count):
        of = works[number % len(works)]
        kill_at_a_step(of, chance.randint(1, of.steps))
