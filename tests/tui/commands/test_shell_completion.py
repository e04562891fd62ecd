"""Shells complete commands, views, filters and names, and are told nothing where something is wrong."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import SCRIPTS, ExitCode, complete, install, run, split_line

Captured = pytest.CaptureFixture[str]
PROGRAM = str(Path(sys.executable).parent / "riff-tui")


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which a shell finds the program that stands beside this Python."""
    return {**os.environ, "PATH": f"{Path(PROGRAM).parent}{os.pathsep}{os.environ.get('PATH', '')}", **more}


def asked(store: Path | str, line: str, shell: str = "bash") -> list[str]:
    """What the program says of a line of bash, or of the words of a line of another shell."""
    arguments = [line] if shell == "bash" else line.split(" ")[1:]
    done = subprocess.run(
        [PROGRAM, *arguments],
        env=environment(_RIFF_TUI_COMPLETE=shell, RIFF_TUI_STORE=str(store)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def answered(store: Path, line: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> list[str]:
    """The same in this process."""
    monkeypatch.setenv("RIFF_TUI_STORE", str(store))
    complete("bash", [line])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("riff-tui du", ["dump"]),
        ("riff-tui --vers", ["--version"]),
        ("riff-tui dump run", ["runs"]),
        ("riff-tui serve timel", ["timeline"]),
        ("riff-tui dump flows --wh", ["--where"]),
        ("riff-tui dump flows --format mar", ["markdown"]),
        ("riff-tui dump flows --by flow,arch", ["flow,archetype"]),
        ("riff-tui dump states --sort -sta", ["-state", "-stall"]),
        ("riff-tui dump states --where 'prog", ["progress>"]),
        ("riff-tui dump flows --where 'flow=vie", ["flow=viewing"]),
        ("riff-tui dump flows --where flow=vie", ["viewing"]),
        ("riff-tui dump flows --where=flow=vie", ["viewing"]),
        ("riff-tui dump flows --where='flow=vie", ["flow=viewing"]),
        ("riff-tui dump flows --where 'flow=viewing pers", ["flow=viewing persona="]),
        ('riff-tui dump flows --where "agent:qw', ["agent:qwen"]),
        ("riff-tui compare run", ["run-1", "run-2"]),
        ("riff-tui compare agent:gem", ["gemini"]),
        ("riff-tui gate --baseline run-", ["run-1", "run-2"]),
        ("riff-tui gate --max-drop yield_r", ["yield_rate="]),
        ("riff-tui ingest --as tau-", ["tau-bench", "tau-notes", "tau-verdicts"]),
        ("riff-tui watch --run run-", ["run-1", "run-2"]),
        ("riff-tui eva con", ["context"]),
        ("riff-tui notes ", ["add", "export", "import", "rename"]),
        ("riff-tui notes export --format ", ["jsonl", "csv", "embedeval"]),
        ("riff-tui notes add --verdict f", ["fail"]),
        ("riff-tui run --flows dental_clinic,dog", ["dental_clinic,dog_grooming"]),
        ("riff-tui run --flows dental_clinic --scenarios 'checkup,some", ["checkup,something-hurts"]),
        ("riff-tui run --caller scr", ["scripted"]),
        ("riff-tui run --personas hur", ["hurried"]),
        ("riff-tui simulate --flows dent", ["dental_clinic"]),
        ("riff-tui ingest run", []),
        ("riff-tui dump flows -o fl", []),
        ("riff-tui dump flows --where 'flow=/", []),
    ],
)
def test_a_word_is_completed_by_what_fits_there(
    tiny: Path, line: str, completed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    assert answered(tiny, line, monkeypatch, capsys) == completed


def test_a_store_that_is_not_there_is_not_made_and_nothing_is_said(tmp_path: Path) -> None:
    missing = tmp_path / "none.db"
    assert asked(missing, "riff-tui dump flows --where 'flow=v") == []
    assert asked(missing, "riff-tui dump timel") == ["timeline"]
    assert not missing.exists()
    broken = tmp_path / "broken.db"
    broken.write_text("no store")
    assert asked(broken, "riff-tui dump flows --where 'flow=v") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_pass_words(tiny: Path, shell: str) -> None:
    assert asked(tiny, "riff-tui dump timel", shell) == ["timeline"]
    assert asked(tiny, "riff-tui dump flows --where 'flow=vie", shell) == ["flow=viewing"]


@pytest.mark.parametrize(
    ("shell", "script", "read_by"),
    [
        ("bash", ".local/share/riff-tui/completion.bash", ".bashrc"),
        ("zsh", ".local/share/riff-tui/completion.zsh", ".zshrc"),
        ("fish", ".config/fish/completions/riff-tui.fish", None),
    ],
)
def test_a_shell_reads_its_script_once(tmp_path: Path, shell: str, script: str, read_by: str | None) -> None:
    if read_by:
        (tmp_path / read_by).write_text("alias ll='ls -l'")
    first = install(shell, {"HOME": str(tmp_path)})
    again = install(shell, {"HOME": str(tmp_path)})
    assert again == first._replace(line="")
    assert (tmp_path / script).read_text() == SCRIPTS[shell]
    if read_by:
        kept, line = (tmp_path / read_by).read_text().splitlines()
        assert kept == "alias ll='ls -l'"
        assert str(tmp_path / script) in line


@pytest.mark.parametrize(("shell", "start"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("fish", "")])
def test_what_was_written_is_said_and_how_it_is_taken_back(
    shell: str, start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    assert run(["--install-completion", shell]) == ExitCode.OK
    first = capsys.readouterr().err
    (script,) = (path for path in tmp_path.rglob("*") if path.is_file() and path.name != start)
    assert f"Completion for {shell} is in {script}." in first
    assert f"rm {script}" in first
    if start:
        line = (tmp_path / start).read_text("utf-8").strip()
        assert f"{tmp_path / start} got this line: {line}\n" in first
        assert "To take it back: delete that line, and" in first
    assert run(["--install-completion", shell]) == ExitCode.OK
    assert "got this line" not in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_takes_the_script_and_completes_by_it(tiny: Path) -> None:
    line = "riff-tui dump flows --where 'flow=vie"
    typed = f'COMP_LINE="{line}" COMP_POINT={len(line)}; _riff_tui; printf \'%s\\n\' "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "-c", f"{SCRIPTS['bash']}\n{typed}"],
        env=environment(RIFF_TUI_STORE=str(tiny)), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "flow=viewing\n"


def test_a_shell_that_is_not_known_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert run(["--install-completion"]) == ExitCode.USAGE
    assert "tcsh is not known; name one: riff-tui --install-completion bash|zsh|fish" in capsys.readouterr().err
    assert run(["--show-completion", "fish"]) == ExitCode.OK
    assert capsys.readouterr().out == SCRIPTS["fish"]


@given(st.lists(st.text(st.characters(codec="ascii", categories=("L", "N", "P", "S", "Z")), min_size=1), max_size=4))
def test_a_line_is_split_as_a_shell_would(words: list[str]) -> None:
    import shlex

    assert split_line(f"{shlex.join(words)} ").words == words


@pytest.mark.parametrize("width", ["80", "120"])
def test_summaries_of_commands_fit(width: str) -> None:
    done = subprocess.run(
        [PROGRAM, "--help"], env=environment(COLUMNS=width), capture_output=True, text=True, check=True
    )
    assert "..." not in done.stdout.replace("[ARGS]...", "")
