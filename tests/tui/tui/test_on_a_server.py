"""A store on a server that several boxes fill while two explorers look at it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support import tiny_store
from tests.support.postgresql_server import Server
from tests.support.pty_terminal import Terminal
from tests.surface.store import examine, open_store
from tests.surface.tui import ExitCode, run

BOXES = ("box-1", "box-2", "box-3", "box-4")
CALLS = 40
SECRET = "hunter2"
COMMAND = "from riff_tui.cli import main; main()"
DIES = """
import os, signal
from riff_store.write import writer

put = writer.Writer.put_file
def put_and_die(*given, **named):
    put(*given, **named)
    os.kill(os.getpid(), signal.SIGKILL)
writer.Writer.put_file = put_and_die
"""


@pytest.fixture
def address(postgresql: Server) -> str:
    address = postgresql.store()
    open_store(address, write=True, create=True).close()
    return address


@pytest.fixture
def explorers(address: str) -> Iterator[list[Terminal]]:
    arguments = ["-c", COMMAND, "ui", "conversations", "--store", address, "--fresh"]
    with ExitStack() as open_ones:
        yield [open_ones.enter_context(Terminal(arguments)) for _ in range(2)]


def folder_of(box: str, folder: Path) -> Path:
    """The transcripts of a run that a box made."""
    place = folder / box
    place.mkdir()
    made = (tiny_store.viewing(number, "gemini", "books", run="run-1", latency=700) for number in range(CALLS))
    calls = [call | {"run_id": box} for call in made]
    (place / "flow-transcripts-a.jsonl").write_text("".join(json.dumps(call) + "\n" for call in calls))
    return place


def ingest(folder: Path, address: str, before: str = "") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", f"{before}\n{COMMAND}", "ingest", str(folder), "--store", address]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def test_two_explorers_see_what_four_boxes_store_though_one_of_them_is_killed(
    address: str, explorers: list[Terminal], tmp_path: Path
) -> None:
    for explorer in explorers:
        explorer.wait_for("? help")
    folders = {box: folder_of(box, tmp_path) for box in BOXES}
    boxes = [ingest(folders[box], address, DIES if box == BOXES[-1] else "") for box in BOXES]
    ends = [(box.communicate()[1].decode(), box.returncode) for box in boxes]
    assert [code for _, code in ends] == [0, 0, 0, -9], ends
    for explorer in explorers:
        explorer.wait_for(f" of {3 * CALLS}")

    again = ingest(folders[BOXES[-1]], address)
    again.communicate()
    assert again.returncode == 0
    for explorer in explorers:
        explorer.wait_for(f" of {4 * CALLS}")
    with open_store(address) as store:
        assert examine(store).wrong == []
        kept = store.execute_sql(
            "SELECT run.name, COUNT(*) FROM conversation JOIN run ON run.id = run_id GROUP BY 1 ORDER BY 1"
        )
    assert kept == [(box, CALLS) for box in BOXES]


def test_nothing_that_an_explorer_or_a_gate_leaves_names_a_password(
    postgresql: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trusted = postgresql.copy_of(tiny_store.build(tmp_path / "made"))
    address = trusted.replace("@/", f":{SECRET}@/")
    with Terminal(["-c", COMMAND, "ui", "flows", "--store", address]) as explorer:
        explorer.wait_for("? help")
        explorer.press("w")
        explorer.press("d")
        explorer.press("d")
        explorer.wait_for("riff-tui ui")
        explorer.press("\x1bqq", quiet=0.5)
        assert explorer.end() == 0
    reports = ["--junit", "gate.xml", "--summary-md", "gate.md", "-o", "gate.json"]
    code = run(["gate", "--baseline", "run-1", "--candidate", "run-2", *reports, "--store", address])
    assert code in (ExitCode.OK, ExitCode.GATE_FAILED)
    said = capsys.readouterr()
    kept = [path for folder in (tmp_path, Path(os.environ["HOME"])) for path in folder.rglob("*") if path.is_file()]
    assert {"gate.xml", "gate.md", "gate.json"} < {path.name for path in kept}
    assert any(path.is_relative_to(os.environ["XDG_STATE_HOME"]) for path in kept)
    written = [path.read_bytes() for path in kept]
    assert not any(SECRET.encode() in each for each in (*written, bytes(explorer.sent), (said.out + said.err).encode()))
