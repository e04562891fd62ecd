"""Flags win over the environment, the environment over the settings file, and nonsense is named."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from tests.surface.ingest import Limits
from tests.surface.store import STEPS_PER_BYTE
from tests.surface.tui import (
    Bounds,
    Settings,
    UsageError,
    bounds,
    limits,
    load,
    state_directory,
    statement_steps,
    store_location,
    wants_color,
)
from tests.surface.tui import settings_commands as commands
from tests.surface.tui import settings_judges as judges
from tests.surface.tui import settings_keys as keys


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text('store = "from-file.db"\ntheme = "dark"\nascii = true\njobs = 2\n', encoding="utf-8")
    return path


def test_without_anything_every_choice_is_left_to_the_command() -> None:
    assert load({}) == Settings()


def test_flags_win_over_the_environment_and_that_over_the_file(file: Path) -> None:
    environ = {"RIFF_TUI_CONFIG": str(file), "RIFF_TUI_THEME": "light", "RIFF_TUI_STORE": "from-env.db"}
    found = load(environ, store="from-flag.db", theme=None)
    assert found == Settings(store="from-flag.db", theme="light", ascii=True, mouse=None, jobs=2)


@pytest.mark.parametrize(("text", "value"), [("1", True), ("yes", True), ("off", False), ("", False)])
def test_switches_can_be_set_in_the_environment(text: str, value: bool) -> None:
    assert load({"RIFF_TUI_ASCII": text}).ascii is value


@pytest.mark.parametrize(
    ("environ", "culprit"), [({"RIFF_TUI_JOBS": "many"}, "RIFF_TUI_JOBS"), ({"RIFF_TUI_MOUSE": "x"}, "RIFF_TUI_MOUSE")]
)
def test_an_environment_variable_that_makes_no_sense_is_named(environ: dict[str, str], culprit: str) -> None:
    with pytest.raises(UsageError, match=culprit):
        load(environ)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("stroe = 'x'", "unknown key 'stroe'; did you mean store?"),
        ("jobs = '2'", "jobs must be a whole number"),
        ("[stroe]", "unknown key 'stroe'"),
        ("ascii = 1", "ascii must be true or false"),
        ("store", "settings.toml"),
    ],
)
def test_a_settings_file_that_makes_no_sense_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=complaint):
        load({"RIFF_TUI_CONFIG": str(path)})


def test_keys_and_commands_are_tables_and_other_commands_do_not_mind_them(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    environ = {"RIFF_TUI_CONFIG": str(path)}
    path.write_text("[keys]\nworklist = 'w'\n[[commands]]\ntitle = 'x'\n", encoding="utf-8")
    assert (load(environ), keys(environ), commands(environ)) == (Settings(), {"worklist": "w"}, [{"title": "x"}])
    path.write_text("keys = 'w'\n[commands]\n", encoding="utf-8")
    with pytest.raises(UsageError, match="keys must be a table, such as"):
        keys(environ)
    with pytest.raises(UsageError, match="commands must be tables"):
        commands(environ)


def test_a_settings_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="not UTF-8"):
        load({"RIFF_TUI_CONFIG": str(path)})


def test_the_settings_file_lies_in_the_users_configuration_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "riff-tui").mkdir()
    (tmp_path / "riff-tui" / "settings.toml").write_text("jobs = 3", encoding="utf-8")
    assert load({}).jobs == 3


def test_the_default_store_and_state_lie_in_the_users_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert store_location(Settings()) == str(tmp_path / "data" / "riff-tui" / "store.db")
    assert store_location(Settings(store="here.db")) == "here.db"
    assert state_directory() == tmp_path / "state" / "riff-tui"


def test_without_a_home_in_the_environment_that_of_the_account_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pwd.getpwuid", lambda user: SimpleNamespace(pw_dir=str(tmp_path)))
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, "relative")
    below = "Library/Application Support" if sys.platform == "darwin" else ".local/share"
    assert store_location(Settings()) == str(tmp_path / below / "riff-tui" / "store.db")


def test_without_a_home_directory_only_the_default_store_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(user: int) -> NoReturn:
        raise KeyError(user)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, "")
    assert store_location(load({}, store="own.db")) == "own.db"
    with pytest.raises(UsageError, match="name a store with --store"):
        store_location(load({}))


@pytest.mark.parametrize(
    ("is_terminal", "environ", "wanted"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "0"}, False),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (False, {"CLICOLOR_FORCE": "1"}, True),
        (True, {"CLICOLOR": "0"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colour_follows_the_conventions(is_terminal: bool, environ: dict[str, str], wanted: bool) -> None:
    assert wants_color(is_terminal, environ) is wanted


def test_judges_are_tables_of_the_settings_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    environ = {"RIFF_TUI_CONFIG": str(path)}
    path.write_text('jobs = 3\n[judges.mine]\nkind = "command"\n', encoding="utf-8")
    assert load(environ).jobs == 3
    assert judges(environ) == ({"mine": {"kind": "command"}}, tmp_path)
    path.write_text("judges = 3", encoding="utf-8")
    with pytest.raises(UsageError, match=r"judges must be tables, such as \[judges.gemini\]"):
        judges(environ)


def test_the_bounds_of_marks_are_a_table_of_the_settings_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    environ = {"RIFF_TUI_CONFIG": str(path)}
    path.write_text("[marks]\nwarn = 8\n", encoding="utf-8")
    assert bounds(environ) == Bounds(bad=5.0, warn=8.0)
    for text in ("marks = 3", "[marks]\nworse = 1", "[marks]\nbad = 'low'", "[marks]\nbad = 11"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(
            UsageError,
            match=r"(marks must be a table of bounds from 0 to 10|unknown key 'marks\.worse'; known are bad, warn)",
        ):
            bounds(environ)


def test_limits_are_those_of_the_settings_file_and_else_those_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[limits]\nline_mib = 128\n", encoding="utf-8")
    environ = {"RIFF_TUI_CONFIG": str(path)}
    assert (load(environ), limits(environ)) == (Settings(), Limits(line_mib=128))
    assert limits({}) == Limits()


def test_what_a_statement_may_take_is_a_setting_of_which_inputs_know_nothing(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[limits]\nstatement_steps = 7\n", encoding="utf-8")
    environ = {"RIFF_TUI_CONFIG": str(path)}
    assert (statement_steps(environ), statement_steps({})) == (7, STEPS_PER_BYTE)
    assert limits(environ).digest() == Limits().digest()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("limits = 3", "limits must be a table"),
        ("[limits]\nlines = 3", "unknown key 'limits.lines'; did you mean log_lines?"),
        ("[limits]\nline_mib = 0", "limits.line_mib must be a whole number from 1 to 1,024"),
        ("[limits]\nline_mib = true", "limits.line_mib must be a whole number from 1 to 1,024"),
        ("[limits]\ndepth = 100_000", "limits.depth must be a whole number from 1 to 200"),
    ],
)
def test_a_limit_that_makes_no_sense_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=complaint):
        limits({"RIFF_TUI_CONFIG": str(path)})


def test_a_settings_file_is_read_as_far_as_settings_go(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        load({"RIFF_TUI_CONFIG": "/dev/zero"})
    deep = tmp_path / "settings.toml"
    deep.write_text("x = " + "[" * 100_000, encoding="utf-8")
    with pytest.raises(UsageError, match="nested too deeply"):
        load({"RIFF_TUI_CONFIG": str(deep)})
