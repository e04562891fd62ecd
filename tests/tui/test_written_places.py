"""A place that cannot be written is one sentence and a mistake of the command line, whichever command writes there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.support.eva_records import write_record
from tests.support.judged_calls import KEY, KEY_VARIABLE, call, settings, write_calls
from tests.surface.tui import ExitCode, build, run

pytest.importorskip("aiohttp")
Captured = pytest.CaptureFixture[str]
WRITING = ("-o", "--out", "--junit", "--summary-md", "--taxonomy")
GATE = ("gate", "--baseline", "run-1", "--candidate", "run-2", "--store", "STORE")
COMMANDS = {
    ("dump", "-o"): ("dump", "flows", "--store", "STORE"),
    ("compare", "-o"): ("compare", "run-1", "run-2", "--store", "STORE"),
    ("export", "-o"): ("export", "--store", "STORE"),
    ("gate", "-o"): GATE,
    ("gate", "--junit"): GATE,
    ("gate", "--summary-md"): GATE,
    ("case", "-o"): ("case", "--where", "conversation=c-0001", "--store", "STORE"),
    ("sample", "-o"): ("sample", "--n", "2", "--store", "STORE"),
    ("notes export", "-o"): ("notes", "export", "--store", "STORE"),
    ("notes export", "--taxonomy"): ("notes", "export", "--format", "embedeval", "-o", "NOTES", "--store", "STORE"),
    ("eva context", "-o"): ("eva", "context", "RECORD"),
    ("eva metrics", "-o"): ("eva", "metrics", "RECORD"),
    ("simulate", "--out"): ("simulate", "--conversations", "2"),
    ("demo", "--out"): ("demo", "--conversations", "2"),
    ("run", "--out"): ("run", "--flows", "dental_clinic", "--agent", "command:false"),
    ("judge", "--out"): ("judge", "CALLS", "--judge", "played"),
}
"""Everything that writes where an option says, with what it has to be told."""


@pytest.fixture
def given(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    monkeypatch.setenv("RIFF_TUI_CONFIG", str(settings(tmp_path / "settings.toml", "http://127.0.0.1:9/v1")))
    write_record(tmp_path / "record")
    names = {"RECORD": tmp_path / "record", "CALLS": tmp_path / "calls", "NOTES": tmp_path / "notes.json"}
    write_calls(tmp_path / "calls", [call(1)])
    return {"STORE": str(tiny), **{name: str(path) for name, path in names.items()}}


def places(tmp_path: Path, *, directory: bool) -> Iterator[str]:
    """Yield where nothing can be written, neither a file nor a directory."""
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    yield str(tmp_path / "file" / "within")
    yield str(tmp_path / ("n" * 300))
    yield "/proc/within"
    if directory:
        yield str(tmp_path / "file")
    else:
        yield str(tmp_path / "missing" / "within")
        yield str(tmp_path)
    if os.geteuid():  # whom permissions do not hold back may write everywhere
        (tmp_path / "locked").mkdir(mode=0o500)
        yield str(tmp_path / "locked" / "within")


@pytest.mark.parametrize(("name", "option"), COMMANDS)
def test_a_place_that_cannot_be_written_is_one_sentence(
    name: str, option: str, given: dict[str, str], tmp_path: Path, capsys: Captured
) -> None:
    words = [given.get(word, word) for word in COMMANDS[name, option]]
    for place in places(tmp_path, directory=option == "--out"):
        capsys.readouterr()
        ended = run([*words, option, place])
        errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("riff-tui: error:")]
        assert ended == ExitCode.USAGE, (place, errors)
        assert len(errors) == 1
        assert place in errors[0]
        assert "unexpected" not in errors[0]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "kept"


def test_every_command_that_writes_is_tried() -> None:
    def writing(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
        for part, below in getattr(command, "commands", {}).items():
            yield from writing(below, f"{name} {part}".strip())
        for parameter in command.params:
            yield from ((name, option) for option in parameter.opts if option in WRITING)

    assert set(writing(build(), "")) == set(COMMANDS)
