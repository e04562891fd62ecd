"""Promises that only whole processes can keep or break."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.facts import broken_rows, contents
from tests.surface.runner import planted
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import FAILURE_KINDS, open_store

COMMAND = (sys.executable, "-c", "from riff_tui.cli import main; main()")
DUMPS = (
    ("flows", "--format", "json"),
    ("segments", "--format", "csv"),
    ("states", "--format", "json"),
    ("worklist", "--format", "markdown"),
    ("conversations", "--format", "jsonl"),
)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calls")
    simulate(folder, conversations=960, seed=11)
    return folder


@pytest.fixture(scope="module")
def undisturbed(calls: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("undisturbed") / "calls.db"
    output("ingest", str(calls), "--store", str(store))
    return store


def start(
    *arguments: str, group: bool = False, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        start_new_session=group,
    )


def output(*arguments: str, **environment: str) -> bytes:
    process = start(*arguments, environment=environment)
    out, err = process.communicate()
    assert process.returncode == 0, err.decode()
    return out


def all_dumps(store: Path, **environment: str) -> str:
    script = f"import sys; from riff_tui.cli import run; [run(['dump', *each]) for each in {DUMPS!r}]"
    around = {**os.environ, **environment, "RIFF_TUI_STORE": str(store)}
    done = subprocess.run([sys.executable, "-c", script], env=around, capture_output=True, check=True)
    assert done.stdout.count(b"dental_clinic") > len(DUMPS)
    return hashlib.sha256(done.stdout).hexdigest()


def is_under_way(process: subprocess.Popen[bytes], store: Path, writes: int) -> bool:
    """Wait until an ingest has written that often to its store; report whether it goes on."""
    seen: set[int] = set()
    while len(seen) <= writes and process.poll() is None:
        if store.exists():
            seen.add(store.stat().st_mtime_ns)
        time.sleep(0.002)
    return process.poll() is None


def test_the_worklist_finds_every_planted_weakness_and_accuses_nothing_else(undisturbed: Path) -> None:
    asked = ("dump", "worklist", "--limit", "100", "--format", "json")
    rows = json.loads(output(*asked, "--store", str(undisturbed)))["rows"]
    states = [row for row in rows if row["list"] == "states"]
    wanted = {(weakness.flow, weakness.state) for weakness in planted()}
    # A few calls fail anywhere; what is out of bounds in a state is planted there, and so is what fails most calls.
    figures = {
        (row["flow"], row["state"])
        for row in states
        if any(reason.rpartition(" ")[0] not in FAILURE_KINDS for reason in row["reasons"])
    }
    # The guard that raises there costs no call, and the state is neither slow nor heavy.
    assert figures == wanted - {("austin_plumbing", "check_coverage")}
    assert {(row["flow"], row["state"]) for row in states[:6]} <= wanted


def test_two_ingests_at_once_both_end_well_and_give_the_dump_of_one(
    calls: Path, undisturbed: Path, tmp_path: Path
) -> None:
    store = tmp_path / "calls.db"
    both = [start("ingest", str(calls), "--store", str(store)) for _ in range(2)]
    errors = [process.communicate()[1].decode() for process in both]
    assert [process.returncode for process in both] == [0, 0], errors
    assert contents(store) == contents(undisturbed)
    assert broken_rows(store) == []


def test_a_killed_ingest_leaves_a_store_that_opens_and_can_be_finished(
    calls: Path, undisturbed: Path, tmp_path: Path
) -> None:
    wanted, store = contents(undisturbed), tmp_path / "calls.db"
    killed = 0
    for writes in (0, 1, 3):
        process = start("ingest", str(calls), "--store", str(store), "--rebuild")
        killed += is_under_way(process, store, writes)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        with open_store(store) as opened:
            opened.execute_sql("SELECT count(*) FROM conversation")
        assert broken_rows(store) == []
    assert killed
    output("ingest", str(calls), "--store", str(store))
    assert contents(store) == wanted


@pytest.mark.parametrize(("number", "code", "writes"), [(signal.SIGINT, 130, 0), (signal.SIGTERM, 143, 2)])
def test_an_ingest_with_workers_ends_at_once_when_its_whole_group_is_told_to(
    number: signal.Signals, code: int, writes: int, calls: Path, tmp_path: Path
) -> None:
    store = tmp_path / "calls.db"
    process = start("ingest", str(calls), "--store", str(store), "--jobs", "2", group=True)
    is_under_way(process, store, writes)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    _, err = process.communicate()
    assert process.returncode == code or (process.returncode == 0 and b"stored" in err)
    assert b"Traceback" not in err
    assert broken_rows(store) == []


def test_a_reader_during_an_ingest_sees_whole_files_and_no_error(calls: Path, tmp_path: Path) -> None:
    store = tmp_path / "calls.db"
    writer = start("ingest", str(calls), "--store", str(store))
    while not store.exists():
        time.sleep(0.01)
    looks = 0
    with open_store(store) as reader:
        while writer.poll() is None or looks == 0:
            with reader.snapshot():
                kept = reader.execute_sql("SELECT coalesce(sum(conversations), 0) FROM source_file")
                assert reader.execute_sql("SELECT count(*) FROM conversation") == kept
                assert reader.execute_sql("SELECT coalesce(sum(n + excluded), 0) FROM call_rollup") == kept
            looks += 1
            time.sleep(0.005)
    assert writer.communicate()[1] is not None
    assert writer.returncode == 0


def surroundings() -> Iterator[dict[str, str]]:
    yield {}
    yield {"LC_ALL": "C", "TZ": "Asia/Tokyo", "COLUMNS": "40", "PYTHONHASHSEED": "1"}
    yield {"PYTHONIOENCODING": "latin-1", "TZ": "America/Lima", "FORCE_COLOR": "1", "PYTHONHASHSEED": "77"}


def test_dumps_are_the_same_bytes_wherever_and_however_they_are_made(
    calls: Path, undisturbed: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    runs = sorted((str(run) for run in calls.iterdir()), reverse=True)
    output("ingest", *runs, "--store", str(other), "--jobs", "2")
    found = {all_dumps(undisturbed, **around) for around in surroundings()} | {all_dumps(other)}
    assert len(found) == 1


def test_a_dump_into_a_closed_pipe_ends_quietly(undisturbed: Path) -> None:
    process = start("dump", "conversations", "--format", "jsonl", "--store", str(undisturbed))
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141
