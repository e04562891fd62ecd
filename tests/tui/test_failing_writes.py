"""A write of a file that fails, whichever it is, is told in a sentence and leaves nothing by half."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.failing_files import SHORT, file_faults, no_file_larger_than
from tests.support.faults import Fault
from tests.support.file_works import FileWork, assert_survived, fail_write, file_works, undisturbed_files
from tests.support.judge_endpoint import serving, well
from tests.support.judged_calls import KEY, KEY_VARIABLE, settings
from tests.surface.explorer import SessionFile
from tests.surface.store import Annotation
from tests.surface.tui import OutputFull, append_kept, read_kept

pytest.importorskip("aiohttp")
NAMES = (
    "dump", "export", "parquet", "gate", "step summary", "case", "notes", "simulate", "run", "judge", "ingest", "copy",
    "migrate",
)  # fmt: skip
IN_STORES = ("ingest", "copy", "migrate")
MOST = 3
"""How many writes of a command fail at most; `python -m benchmarks.faults` lets each of them fail in each way."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inputs")


@pytest.fixture(scope="module")
def works(inputs: Path) -> Iterator[dict[str, FileWork]]:
    with serving(well) as endpoint:
        settings(inputs / "settings.toml", endpoint.url)
        yield {work.name: work for work in file_works(inputs)}


@pytest.fixture(autouse=True)
def _surroundings(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    monkeypatch.setenv("RIFF_TUI_CONFIG", str(inputs / "settings.toml"))


@pytest.mark.parametrize("name", NAMES)
def test_a_write_that_fails(name: str, works: dict[str, FileWork], tmp_path: Path) -> None:
    if name == "parquet":
        pytest.importorskip("pyarrow")
    work = works[name]
    writes, whole = undisturbed_files(work, tmp_path / "whole")
    chance = random.Random()
    for at in sorted(chance.sample(range(1, writes + 1), min(writes, MOST))):
        number = chance.choice((errno.ENOSPC, errno.EDQUOT, errno.EIO))
        fault = Fault(at, lasting=chance.random() < 0.5)
        fail_write(work, tmp_path / str(at), whole, fault, number)
    fail_write(work, tmp_path / "short", whole, Fault(chance.randint(1, writes)), SHORT)


@pytest.mark.parametrize("name", IN_STORES)
def test_a_store_that_there_is_no_room_for(name: str, works: dict[str, FileWork], tmp_path: Path) -> None:
    work = works[name]
    _, whole = undisturbed_files(work, tmp_path / "whole")
    largest = max(path.stat().st_size for path in (tmp_path / "whole").iterdir())
    for size in random.Random().sample(range(1, largest), 3):
        limit = no_file_larger_than(size)
        assert_survived(work, tmp_path / str(size), whole, limit, f"{name}: {size} of {largest} bytes", full=True)


def test_notes_for_which_there_is_no_room_beside_the_settings_are_not_there_by_half(tmp_path: Path) -> None:
    kept = tmp_path / "kept" / "notes.jsonl"
    first, more = (Annotation(id, "c-1", "ann", note="so ä" * 9) for id in ("1", "2"))
    append_kept(kept, [first])
    before = kept.read_bytes()
    at = 1
    while True:
        try:
            with file_faults(fault := Fault(at), tmp_path):
                append_kept(kept, [more, first])
                break
        except OutputFull as error:
            said = str(error)
        assert str(kept) in said
        assert kept.read_bytes() == before
        at += 1
    assert fault.steps >= 3
    assert [note.id for note in read_kept(kept)] == ["1", "2", "1"]


def test_the_state_of_a_session_that_cannot_be_written_is_written_with_the_next_change(tmp_path: Path) -> None:
    path = tmp_path / "explorer" / "calls.json"
    before = SessionFile(path, "calls.db")
    before.set_theme("light")
    before.write()
    at = 1
    while True:
        session = SessionFile(path, "calls.db")
        session.add_filter("flow:dental")
        try:
            with file_faults(Fault(at), tmp_path):
                session.write()
                break
        except OutputFull as error:
            said = str(error)
        assert str(path) in said
        assert os.listdir(path.parent) == [path.name]
        assert SessionFile(path, "calls.db").state == before.state
        at += 1
    assert at > 3
    assert SessionFile(path, "calls.db").state == session.state
