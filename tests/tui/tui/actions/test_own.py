"""Keys and commands of one's own: what the settings file names holds, what makes no sense there is said."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import riff_tui
from tests.support.controls import controls_at
from tests.support.fake_catalog import FakeCatalog
from tests.support.hostile import HOSTILE
from tests.support.pty_terminal import Terminal
from tests.support.walker import Walker, walking
from tests.surface.explorer import BY_ID, Location, help_lines, hints, listing, with_own
from tests.surface.tui import Filter, Request, Row, Table

WRITES = "import json, sys; json.dump(sys.argv[2:], open(sys.argv[1], 'w'))"
OPTIONS = {"an option": "--delete", "a command of an editor": "+:!rm", "a dash": "-", "two dashes": "--"}
MORE = {
    "quotes": "a'b\"c", "a substitution": "$(touch x) `y`", "several": "a; rm -rf / & b | c > d",
    "a placeholder": "{store} {run}", "globs": "* ? [a] ~", "blank ends": " a ",
}  # fmt: skip


def writer(path: Path, *arguments: str, **more: Any) -> dict[str, Any]:
    """A command that writes down which arguments it got."""
    run = [sys.executable, "-c", WRITES, str(path), *arguments]
    return {"title": "write down", "key": "ctrl+e", "run": run, "background": True, **more}


async def written(at: Walker, path: Path) -> list[str]:
    """What a program was given, once it has written it down."""

    def found() -> list[str] | None:
        try:
            arguments: list[str] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return arguments

    await at.until(lambda: found() is not None)
    return found() or []


def flow(name: str) -> Row:
    """A row of a flow and an agent."""
    return Row(name, {"flow": name, "agent": "gemini"})


class Flows(FakeCatalog):
    """Flows of such names."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self.names = names

    def show(self, view: str, request: Request) -> Table:
        table = super().show(view, request)
        return Table("flows", "", table.columns, list(map(flow, self.names))) if view == "flows" else table


async def test_a_key_of_ones_own_goes_where_the_usual_one_went_and_is_in_hints_help_and_palette() -> None:
    actions, complaints = with_own({"worklist": "w", "wide": "f2"}, ())
    assert complaints == []
    async with walking(actions=actions) as at:
        assert "w worklist" in at.bottom
        assert "0 worklist" not in at.bottom
        await at.press("0")
        assert at.path.startswith("flows ")
        await at.press("w")
        assert at.path.startswith("flows › worklist")
        told = ["".join(text for text, _ in line) for line in help_lines(at.controls, 100)]
        assert any(line.split()[:1] == ["w"] and "What to work on" in line for line in told)
        await at.press("ctrl+p", *"worklist")
        assert at.controls.menu.list.choices[at.controls.menu.list.chosen or 0].lead == "w"


def test_the_usual_keys_stay_where_nothing_is_named() -> None:
    assert with_own({}, ()) == (BY_ID, [])


@pytest.mark.parametrize("name", ["worklist", "view:worklist"])
def test_a_view_is_known_by_its_name(name: str) -> None:
    assert with_own({name: "f5"}, ())[0]["view:worklist"].keys == ("f5",)


@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ({"wroklist": "f5"}, "keys.wroklist: no action has this name"),
        ({"timeline": "ctrl+z"}, "keys.timeline: 'ctrl+z' is not a key"),
        ({"timeline": "ctrl+m"}, "keys.timeline: 'ctrl+m' is not a key"),
        ({"timeline": "ww"}, "keys.timeline: 'ww' is not a key"),
        ({"timeline": "\x1b"}, "keys.timeline: '\\x1b' is not a key"),
        ({"timeline": 5}, "keys.timeline: 5 is not a key"),
        ({"timeline": ["w"]}, "keys.timeline: ['w'] is not a key"),
        ({"timeline": "f6"}, "keys.timeline: f6 is the key of runs already"),
    ],
)
def test_what_makes_no_sense_is_one_sentence_and_the_rest_holds(keys: Mapping[str, Any], complaint: str) -> None:
    actions, complaints = with_own({"runs": "f6", **keys, "flows": "f7"}, ())
    assert len(complaints) == 1
    assert complaints[0].startswith(complaint)
    assert actions["view:timeline"].keys == BY_ID["view:timeline"].keys
    assert (actions["view:runs"].keys, actions["view:flows"].keys) == (("f6",), ("f7",))


def test_a_key_is_taken_from_the_action_that_usually_has_it_and_that_is_said_unless_it_was_meant() -> None:
    actions, complaints = with_own({"worklist": "w"}, ())
    assert (actions["view:worklist"].keys, actions["wide"].keys) == (("w",), ())
    assert complaints == ["w is the key of worklist now; wide has no key"]
    assert with_own({"worklist": "w", "wide": ""}, ())[1] == []
    assert with_own({"mark": "Space"}, ())[1] == ["Space is the key of mark now; page_down has PgDn"]


def test_keys_with_a_name_stay_so_that_nobody_is_locked_out() -> None:
    actions, _ = with_own({"close": "ctrl+g", "open": "o", "down": "n", "write": "f2", "next_match": "f3"}, ())
    assert actions["close"].keys == ("ctrl+g", "Esc")
    assert actions["open"].keys == ("o", "Enter")
    assert actions["down"].keys == ("n", "↓")
    assert with_own({"page_down": "f3"}, ())[0]["page_down"].keys == ("f3", "PgDn", "Space")


def test_actions_of_other_screens_may_have_the_same_key() -> None:
    actions, complaints = with_own({"pass": "y", "next_mark": "f", "copy": "f2"}, ())
    assert complaints == ["f is the key of next_mark now; pick_flow has no key"]
    assert actions["fail"].keys == ("f",)


def test_every_action_is_listed_with_its_key_and_title() -> None:
    lines = listing(with_own({"worklist": "w"}, [writer(Path("x"))])[0])
    assert any(line.split()[:3] == ["worklist", "w", "worklist"] for line in lines)
    assert any(line.startswith("write down ") and " ctrl+e " in line for line in lines)
    assert len(lines) == len(BY_ID) + 1


def test_the_command_prints_keys_without_a_store_or_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('[keys]\nworklist = "w"\nnone = "x"\n', encoding="utf-8")
    environ = {"RIFF_TUI_CONFIG": str(tmp_path / "settings.toml")}
    done = riff_tui("ui", "--keys", directory=tmp_path, surroundings=environ)
    assert done.returncode == 0
    assert "\nworklist " in done.stdout
    assert done.stderr.splitlines() == [
        "keys.none: no action has this name; did you mean note? riff-tui ui --keys lists them",
        "w is the key of worklist now; wide has no key",
    ]


# Commands


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"run": ["code", "{flowfile}"]}, "{flowfile} has no meaning; did you mean flow_file?"),
        ({"run": ["{flow}"]}, "the program itself cannot be a placeholder"),
        ({"run": ["sh", "-c", "echo {flow}"]}, "a value cannot be part of code after -c"),
        ({"run": ["env", "bash", "-lc", "echo {flow}"]}, "a value cannot be part of code after -c"),
        ({"run": "code {flow}"}, "run must be a list of texts"),
        ({"run": []}, "run must be a list of texts"),
        ({"title": " "}, "it needs a title"),
        ({"on": "dance"}, "on = 'dance' is neither a view nor one of run"),
        ({"key": "ctrl+s"}, "'ctrl+s' is not a key"),
        ({"background": "yes"}, "background is true or false"),
        ({"shell": True}, "unknown key 'shell'; known are key, title"),
        ({"key": "w"}, "w is the key of worklist already"),
        ({"key": "ctrl+o"}, "ctrl+o is the key of write down already"),
    ],
)
def test_a_command_that_makes_no_sense_is_one_sentence_and_the_others_hold(
    changes: Mapping[str, Any], complaint: str
) -> None:
    good = writer(Path("x"), key="ctrl+o")
    actions, complaints = with_own({"worklist": "w", "wide": ""}, [good, {**writer(Path("x")), **changes}])
    assert [each for each in complaints if each.startswith("commands 2: ") and complaint in each] == complaints
    assert len(complaints) == 1
    assert actions["command:1"].keys == ("ctrl+o",)


async def test_a_hostile_value_stays_one_argument(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    values = [each for each in (*HOSTILE.values(), *MORE.values()) if each]
    actions, complaints = with_own({}, [writer(found, "--", "{flow}", "x={flow}.y", "{agent}")])
    assert complaints == []
    async with walking(catalog=Flows(*values), actions=actions) as at:
        for value in values:
            assert at.row == value
            await at.press("ctrl+e")
            given = await written(at, found)
            assert [given[0], given[3], len(given)] == ["--", "gemini", 4], value
            assert given[2] == f"x={given[1]}.y"
            assert not any(character < " " or "\x7f" <= character < "\xa0" for character in given[1])
            if value.isascii() and value.isprintable():
                assert given[1] == value
            found.unlink()
            await at.press("j")


@pytest.mark.parametrize("value", OPTIONS.values(), ids=OPTIONS.keys())
async def test_a_value_that_could_be_an_option_is_only_passed_where_it_is_none(value: str, tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    commands = [
        {"title": "bare", "key": "f2", "run": ["true", "{flow}"]},
        writer(found, "--", "{flow}", "--flow={flow}"),
    ]
    async with walking(catalog=Flows(value), actions=with_own({}, commands)[0]) as at:
        await at.press("f2")
        assert f"bare: flow is '{value}', which could be an option" in at.bottom
        await at.press("ctrl+e")
        assert await written(at, found) == ["--", value, f"--flow={value}"]


async def test_a_command_gets_the_values_of_the_row_of_the_place_and_of_the_turn(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    names = ("{run}", "{state}", "{conversation}", "{turn}", "{store}", "{link}")
    async with walking(actions=with_own({}, [writer(found, *names)])[0]) as at:
        await at.press("enter", "enter", "enter", "enter", "g", "j", "j")
        await at.press("ctrl+e")
        given = await written(at, found)
    assert given[:5] == ["r1", "greet", "c-0001", "2", "/tmp/a store.db"]
    assert given[5] == "riff-tui ui conversation --where 'run=r1 conversation=c-0001' --at turn:2"


@pytest.mark.parametrize(
    ("on", "here", "reason"),
    [
        ("", "skipped", "no flow is known here"),
        ("conversation", "flows", "it is about conversation, and there is none here"),
        ("flow", "flows", ""),
        ("flows", "flows", ""),
        ("runs", "flows", "it is about runs, and there is none here"),
        ("call", "flows", "it is about conversation, and there is none here"),
    ],
)
def test_a_command_says_where_it_does_not_apply(on: str, here: str, reason: str) -> None:
    action = with_own({}, [writer(Path("x"), "{flow}", on=on)])[0]["command:1"]
    rows = [flow("viewing")] if here == "flows" else []
    assert action.enabled(controls_at(here, Table(here, "", (), rows))).startswith(reason)
    assert bool(action.enabled(controls_at(here, Table(here, "", (), rows)))) == bool(reason)


async def test_a_command_is_in_help_and_palette_without_a_key_too() -> None:
    command = {"title": "open the editor", "run": ["nonesuch-editor", "{flow}"]}
    async with walking(actions=with_own({}, [command])[0]) as at:
        told = ["".join(text for text, _ in line) for line in help_lines(at.controls, 100)]
        assert any("Run nonesuch-editor {flow}." in line for line in told)
        assert all(key for key, _ in hints(at.controls))
        await at.press("ctrl+p", *"open the editor", "enter")
        assert "open the editor: no program is called nonesuch-editor" in at.bottom


async def test_a_program_in_the_background_that_fails_is_one_sentence() -> None:
    command = {"title": "fail", "key": "f2", "run": ["sh", "-c", "exit 3"], "background": True}
    async with walking(actions=with_own({}, [command])[0]) as at:
        await at.press("f2")
        await at.until(lambda: "fail: sh ended with exit code 3" in at.bottom)


async def test_the_file_of_a_flow_is_asked_for(tmp_path: Path) -> None:
    found = tmp_path / "found.json"

    class Edited(FakeCatalog):
        def show(self, view: str, request: Request) -> Table:
            table = super().show("flows" if view == "edits" else view, request)
            rows = (
                [Row("edit", {"flow": "viewing", "path": "flows/viewing.yaml"})] if "viewing" in request.where else []
            )
            return Table("edits", "", (), rows) if view == "edits" else table

    commands: Sequence[object] = [writer(found, "{flow_file}")]
    start = (Location("flows", scope=Filter("flow=viewing")),)
    async with walking(start, catalog=Edited(), actions=with_own({}, commands)[0]) as at:
        await at.press("ctrl+e")
        assert await written(at, found) == ["flows/viewing.yaml"]


SETTINGS = """
[keys]
worklist = "w"
dance = "x"

[[commands]]
title = "ask"
key = "ctrl+e"
run = ["sh", "-c", 'echo "<$1>"; read answer; exit "$answer"', "sh", "{flow}"]
"""


def test_the_explorer_suspends_for_a_program_and_comes_back(tiny: Path, tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(SETTINGS, encoding="utf-8")
    command = ["-c", "from riff_tui.cli import main; main()", "ui", "--store", str(tiny)]
    with Terminal(command, environ={"RIFF_TUI_CONFIG": str(settings), "HOME": str(tmp_path)}) as terminal:
        terminal.wait_for("keys.dance: no action has this name")
        terminal.press("j")
        terminal.press("k")
        terminal.take()
        seen = terminal.lines
        terminal.screen.reset()
        terminal.send("\x05")
        terminal.wait_for("<viewing>")
        assert terminal.is_as_before
        terminal.send("\x03")
        terminal.wait_for("ask: sh was ended by signal 2")
        terminal.screen.reset()
        terminal.send("\x05")
        terminal.wait_for("<viewing>")
        terminal.send("4\n")
        terminal.wait_for("ask: sh ended with exit code 4")
        terminal.wait(lambda: terminal.lines[:-1] == seen[:-1], "the screen of before")
        terminal.send("w")
        terminal.wait_for("flows › worklist")
        terminal.send("Q")
        assert terminal.end() == 0
        assert terminal.is_as_before


async def test_sentences_name_the_key_that_does_it() -> None:
    actions, _ = with_own({"mark": "f2", "clear_marks": "", "x": "y"}, ())
    async with walking(actions=actions) as at:
        await at.press("=")
        assert "mark a row with f2 first" in at.bottom
        await at.press("f2", "j", "f2", "j", "f2", "=")
        assert "clear marks (in the palette) clears the marks" in at.bottom
