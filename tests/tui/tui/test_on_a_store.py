"""The explorer on real stores: hand-written calls, and recorded ones where they are at hand."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pyte
import pytest

from tests.support.dump_commands import answer, as_json, dumped_rows, own_rows, rows_on
from tests.support.golden import assert_golden
from tests.support.pty_terminal import COMMAND, MOST_PER_PAGE, Terminal
from tests.support.screen import Screen
from tests.support.walker import exploring
from tests.surface.explorer import open_link as stack_of
from tests.surface.ingest import ingest
from tests.surface.store import Writer, open_store
from tests.surface.tui import Request, row_severity, show, views

WALK = (
    ("flows", ""),
    ("segments", "\r"),
    ("states", "\r"),
    ("state", "\r"),
    ("conversation", "\r"),
    ("worklist", "0"),
    ("conversations", "4"),
    ("effects", "F"),
    ("help", "1?"),
)
KEYS = {"\r": "enter", "?": "question_mark"}


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_the_screens_of_the_walk_look_as_they_did(tiny: Path, size: tuple[int, int]) -> None:
    async with exploring(tiny, size) as at:
        for name, keys in WALK:
            for key in keys:
                await at.press(KEYS.get(key, key))
            lines = [strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()]
            assert_golden("\n".join(lines) + "\n", f"screens/{name}.{size[0]}x{size[1]}.txt")


async def test_above_the_rows_is_what_to_fix_first_in_what_the_filter_shows(demo: Path) -> None:
    grooming = "Fix first: dog_grooming/listen_owner · 294 of 391 calls fail there"
    for where, first in (
        ("", grooming),
        ("flow!=dog_grooming", "Fix first: apartment_scheduler/book_viewing"),
        ("success_rate<0.5", grooming),
        ("lost<5", "Fix first: night_train/change_berth"),
    ):
        async with exploring(demo, (150, 30), start=stack_of("flows", where)) as at:
            assert first in at.controls.table.render_line(0).text, where


async def test_the_sentence_to_read_first_is_the_row_above_the_first_and_opens_its_calls(demo: Path) -> None:
    async with exploring(demo) as at:
        assert at.row.startswith("flow=")
        await at.press("k")
        assert at.row == "(first)"
        assert at.path.split()[1:4] == ["9", "flows", "·"]
        await at.press("m")
        assert "is not a row" in at.bottom
        await at.press("enter")
        loaded = at.screen.loaded
        assert loaded is not None
        assert loaded.main.view == "conversations"
        assert len(loaded.main.rows) == 294
        await at.press("backspace")
        assert at.row == "(first)"
        await at.press("j")
        assert at.path.split()[1:4] == ["1", "of", "33"]


async def test_above_the_rows_is_where_calls_fail_as_far_as_the_filter_shows_any(tiny: Path) -> None:
    first = "Nothing stands out: 4 of 19 calls in 2 flows failed"
    for where, rows, said in (("", 3, True), ("n>100", 0, False), ("flow!=viewing", 1, False), ("lost=0", 2, False)):
        async with exploring(tiny, (150, 30), start=stack_of("flows", where)) as at:
            loaded = at.screen.loaded
            assert loaded is not None
            assert len(loaded.main.rows) == rows, where
            assert (first in at.controls.table.render_line(0).text) == said, where
            assert "calls0" not in at.path


async def test_two_agents_of_a_flow_are_compared_under_the_name_of_the_flow(tiny: Path) -> None:
    async with exploring(tiny) as at:
        loaded = at.screen.loaded
        assert loaded is not None
        own = [number for number, row in enumerate(loaded.main.rows) if row.record["flow"] == "viewing"]
        for number in own:
            await at.press("g", *["j"] * number, "m")
        await at.press("equals_sign")
        assert at.screen.location.view == "compare"
        assert at.path.startswith("flows › flow viewing: ")
        assert "".join(text for text, _ in at.controls.header.lines[0]).strip() == "In flow viewing"


@pytest.mark.parametrize("names", [("flow", "agent"), ("flow", "segment"), ("flow", "state")])
def test_a_row_has_the_same_mark_in_the_worklist_as_in_its_own_list(demo: Path, names: tuple[str, str]) -> None:
    view = "flows" if names[1] == "agent" else f"{names[1]}s"
    with open_store(demo) as store:
        own = {tuple(map(row.record.get, names)): row_severity(row) for row in show(store, view, Request()).rows}
        listed = [row for row in show(store, "worklist", Request(limit=100)).rows if row.record["list"] == view]
    found = {tuple(map(row.record.get, names)): row_severity(row) for row in listed}
    shared = own.keys() & found.keys()
    assert {"bad", "warn"} <= {own[name] for name in shared}
    assert {name: own[name] for name in shared} == {name: found[name] for name in shared}


async def test_names_to_pick_from_have_the_calls_and_the_success_of_the_place(demo: Path) -> None:
    with open_store(demo) as store:
        rows = show(store, "flows", Request(where="flow=dog_grooming")).rows
    expected = {
        row.record[
            "agent"
        ]: f"{row.record['n'] + row.record['excluded']} calls   {row.record['success_rate']:.0%} success"
        for row in rows
    }
    async with exploring(demo, start=stack_of("segments", "flow=dog_grooming")) as at:
        await at.press("a")
        await at.until(lambda: at.controls.menu.is_open)
        assert {item.text: item.more for item in at.controls.menu.list.choices if item.more} == expected
        await at.press("escape", "R")
        await at.until(lambda: at.controls.menu.is_open)
        assert sum(int(item.more.split()[0]) for item in at.controls.menu.list.choices if item.more) == 400


VIEWS = [view.name for view in views() if view.name not in ("neighbors", "conversation") and not view.sides]


UNTRUE = (
    "Nothing to fix",
    "Nothing stands out",
    "No call failed",
    "that counts failed",
    "nothing to explain",
    "no repeats",
    "q goes back",
)


@pytest.mark.parametrize("view", VIEWS)
async def test_no_screen_of_an_empty_store_says_that_all_is_well_in_it(view: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    open_store(path, write=True, create=True).close()
    async with exploring(path, start=stack_of(view, "")) as at:
        screen = "\n".join(strip.text for strip in at.app.screen._compositor.render_strips())
        assert not [each for each in UNTRUE if each in screen]


@pytest.mark.parametrize(
    "view", ["worklist", "flows", "states", "conversations", "causes", "runs", "effects", "repeats"]
)
async def test_an_empty_store_is_said_to_be_one_on_its_screens(view: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    open_store(path, write=True, create=True).close()
    async with exploring(path, start=stack_of(view, "")) as at:
        screen = "\n".join(strip.text for strip in at.app.screen._compositor.render_strips())
        assert "The store is empty: riff-tui ingest" in screen
        assert screen.count("riff-tui ingest") == 1


@pytest.mark.parametrize("view", VIEWS)
async def test_a_screen_shows_the_rows_that_its_dump_command_prints(tiny: Path, view: str) -> None:
    where = "reason:JSON" if view == "skipped" else "run:run-1"
    for stack in (stack_of(view, ""), stack_of(view, where)):
        async with exploring(tiny, start=stack) as at:
            assert rows_on(at) == dumped_rows(tiny, at)


async def test_a_state_and_a_conversation_are_what_their_dump_commands_print(tiny: Path) -> None:
    async with exploring(tiny, start=stack_of("flows", "persona:p")) as at:
        await at.press("enter", "enter", "enter")
        reading = at.screen.loaded
        assert reading is not None
        assert reading.neighbors is not None
        commands = reading.dumps
        assert [command.split()[2] for command in commands] == ["neighbors", "conversations"]
        assert "persona:p" in commands[0]
        around = answer(tiny, commands[0])
        assert [row.record for row in reading.neighbors.rows] == own_rows(around)
        for key in ("calls", "reach", "metrics", "pooled_latency_p95", "pooled_latency"):
            assert as_json(reading.neighbors.extras[key]) == around[key]
        assert rows_on(at) == own_rows(answer(tiny, commands[1]))
        await at.press("enter")
        assert rows_on(at) == dumped_rows(tiny, at)


async def test_what_is_typed_in_a_state_narrows_its_graph_and_its_metrics_as_well(tiny: Path) -> None:
    async with exploring(tiny, start=stack_of("neighbors", "flow=viewing state=collect_details")) as at:
        for typed, n in (("agent=qwen", 3), ("stall=1", 3), ("run:1 persona:patient", 3)):
            await at.press("slash", "ctrl+u", *typed, "enter")
            assert at.screen.loaded is not None
            assert at.screen.loaded.neighbors is not None
            around = answer(tiny, at.screen.loaded.dumps[0])
            assert around["metrics"]["n"] == n
            assert as_json(at.screen.loaded.neighbors.extras["metrics"]) == around["metrics"]
            assert f" n {n}~" in at.head


async def test_a_filter_on_calls_holds_all_the_way_down(tiny: Path) -> None:
    async with exploring(tiny) as at:
        await at.press("slash", *"run:run-1", "enter", "enter", "enter", "enter")
        assert "run:run-1" in at.screen.history.here.scope.text
        assert {row.record["run"] for row in at.controls.table.table.rows} == {"run-1"}


async def test_a_field_that_rows_here_do_not_have_is_named_with_its_place(tiny: Path) -> None:
    async with exploring(tiny) as at:
        await at.press("enter", "slash", *"operability<4", "enter")
        verdict = at.controls.prompt.foot.lines[0][0][0]
        assert verdict.lstrip().startswith("^")
        assert "operability" in verdict
        assert verdict.index("^") == 1


async def test_recorded_dialogues_can_be_walked(shared_data: Path, tmp_path: Path) -> None:
    store = tmp_path / "star.db"
    with open_store(store, write=True, create=True) as opened:
        ingest([shared_data / "star"], Writer(opened))
    async with exploring(store) as at:
        assert "24 flows" in at.path
        await at.press("3", "enter")
        assert at.screen.loaded is not None
        assert at.screen.loaded.neighbors is not None
        await at.press("enter", "n", "p", "4", "G")
        await at.press("enter")
        assert at.screen.history.here.view == "conversation"
        assert at.controls.transcript.table.rows


class _Counting(Screen):
    """Counts how often each cell is written."""

    def __init__(self, columns: int, lines: int) -> None:
        self.written: Counter[tuple[int, int]] = Counter()
        super().__init__(columns, lines)

    def draw(self, data: str) -> None:
        self.written.update((self.cursor.y, self.cursor.x + place) for place in range(len(data)))
        super().draw(data)


def test_opening_a_view_sends_no_cell_of_its_rows_twice(demo: Path) -> None:
    with Terminal([*COMMAND, "--fresh", "--store", str(demo)], width=120, height=36) as terminal:
        terminal.wait_for("? help")
        terminal.take()
        for key in ("0", "5", "6", "3", "4", "\r", "\x1b", "7", "2"):
            screen = _Counting(120, 36)
            sent = terminal.press(key, quiet=0.4)
            pyte.ByteStream(screen).feed(sent)
            # Meanwhile the last line says what is being read, and the pane has what is there by then.
            twice = {(y, x) for (y, x), times in screen.written.items() if times > 1 and y < 35 and x < 72}
            assert not twice, (key, sorted(twice)[:5])
            assert len(sent) <= MOST_PER_PAGE


def test_what_stands_there_after_a_key_is_what_drawing_all_of_it_gives(demo: Path, tmp_path: Path) -> None:
    store = shutil.copy(demo, tmp_path / "calls.db")
    os.utime(store, ns=(0, 0))  # an age that is the same a minute later
    with Terminal([*COMMAND, "--fresh", "--store", str(store)], width=120, height=36) as terminal:
        terminal.wait_for("? help")
        for keys in (
            "/dog", "\rj", "d", "s", "\x1b", "f", "\x1b", "G", "mu", "x", "\r", "v", "\x1b", "3", "4", "\r", "jjjjj",
            "/the\r", "?", "q", "0", "r",
        ):  # fmt: skip
            terminal.press(keys, quiet=0.3)
            seen = terminal.lines
            terminal.overwrite("\x1b[2J")
            terminal.resize(120, 36)
            terminal.take()
            assert seen == terminal.lines, keys


def test_a_filter_typed_right_behind_another_key_is_typed_to_its_end(tiny: Path) -> None:
    with Terminal([*COMMAND, "--fresh", "--store", str(tiny)]) as terminal:
        terminal.wait_for("? help")
        terminal.take()
        terminal.press("p/view")
        terminal.press("ing")
        assert "/viewing" in terminal.lines


def test_the_command_opens_it_and_ends_with_its_code(tiny: Path) -> None:
    with Terminal([*COMMAND, "--store", str(tiny)], cold=True) as terminal:
        terminal.wait_for("viewing")
        terminal.press("q")
        assert terminal.end() == 0


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        (("worklist",), "flows › worklist"),
        (("states", "--where", "stall>0.3"), "flows › states [stall>0.3]"),
        (("neighbors", "--where", "flow=viewing state=confirm"), "[confirm]"),
        (("conversation", "--where", "conversation=c-0000"), "flows › c-0000"),
        (("runs",), "run-1"),
        (("skipped", "--ascii"), "flows > skipped"),
    ],
)
def test_the_command_opens_any_view(tiny: Path, arguments: tuple[str, ...], seen: str) -> None:
    with Terminal([*COMMAND, *arguments, "--store", str(tiny)]) as terminal:
        terminal.wait_for(seen)
        terminal.press("?", quiet=0.1)
        terminal.press("Q")
        assert terminal.end() == 0


def test_a_missing_store_is_said_before_the_screen_is_touched(tmp_path: Path) -> None:
    with Terminal([*COMMAND, "--store", str(tmp_path / "none.db")], cold=True) as terminal:
        assert terminal.end() == 4
        sent = terminal.take()
        assert b"\x1b[?1049h" not in sent
        assert b"there is no store" in sent
