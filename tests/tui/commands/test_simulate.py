"""Runs of one's own from the command line: what is planted in one, and what is refused."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]


def test_two_runs_lie_beside_each_other_and_go_into_one_store(tmp_path: Path, capsys: Captured) -> None:
    files, store = tmp_path / "two", str(tmp_path / "two.db")
    for number, more in ((1, ()), (2, ("--weaken", "dental_clinic=1"))):
        arguments = ("--run", f"nightly-{number}", "--seed", str(number), "--conversations", "160", *more)
        assert run(["simulate", "--out", str(files), *arguments]) == ExitCode.OK
    assert sorted(path.name for path in files.iterdir()) == ["nightly-1", "nightly-2"]
    assert run(["ingest", str(files), "--store", store]) == ExitCode.OK
    capsys.readouterr()
    where = ("--by", "run", "--where", "flow=dental_clinic", "--format", "json", "--store", store)
    assert run(["dump", "flows", *where]) == ExitCode.OK
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["run"] for row in rows} == {"nightly-1", "nightly-2"}
    assert {row["correctness"] for row in rows if row["run"] == "nightly-2"} == {0.0}
    assert any(row["correctness"] > 0 for row in rows if row["run"] == "nightly-1")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--weaken", "dental_clinic=0.4"], "--weaken needs --run"),
        (["--run", "../up"], "an id has up to 80 letters"),
        (["--run", "a", "--weaken", "dental_clinic"], "it takes FLOW=SHARE"),
        (["--run", "a", "--weaken", "dental_clinic=much"], "it takes FLOW=SHARE"),
        (["--run", "a", "--weaken", "dental_clinic=2"], "a share from 0 to 1"),
        (["--run", "a", "--weaken", "dog_walking=0.4"], "no built-in flow 'dog_walking'"),
    ],
)
def test_what_cannot_be_planted_is_refused_and_writes_nothing(
    tmp_path: Path, capsys: Captured, arguments: list[str], reason: str
) -> None:
    assert run(["simulate", "--out", str(tmp_path / "none"), *arguments]) == ExitCode.USAGE
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


def test_the_store_that_is_named_is_that_of_the_next_step(tmp_path: Path, capsys: Captured) -> None:
    out, store = str(tmp_path / "calls"), str(tmp_path / "my store.db")
    assert run(["simulate", "--out", out, "--conversations", "8", "--store", store]) == ExitCode.OK
    (said,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("Next: riff-tui ")]
    assert not Path(store).exists()
    assert run(shlex.split(said.removeprefix("Next: riff-tui "))) == ExitCode.OK
    assert Path(store).exists()
