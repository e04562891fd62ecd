"""From two marked rows to what is more than chance between them, and down to the calls that prove it."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import two_runs
from tests.support.controls import controls_at
from tests.support.facts import call, fresh, put
from tests.support.golden import assert_golden, printed
from tests.support.hostile import LIVE
from tests.support.walker import Walker, exploring
from tests.surface.explorer import (
    SIDE_BY_SIDE,
    START,
    History,
    Location,
    SessionFile,
    below,
    crumbs,
    decoded,
    descend,
    encoded,
    hints,
    scope_of,
    sides_of,
)
from tests.surface.explorer import location_heading as heading
from tests.surface.explorer import open_link as stack_of
from tests.surface.store import open_store
from tests.surface.tui import ExitCode, Filter, Request, Row, Table, parse, resolve, run, show


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_runs.build(tmp_path_factory.mktemp("sides") / "two.db")


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which two agents led the same tasks of one flow."""
    path = tmp_path_factory.mktemp("agents") / "agents.db"
    with fresh(path) as store:
        put(store, "calls.jsonl", [
            call(f"{agent}-{task}", agent=agent, flow="dental", scenario=f"task-{task}", started_at=1)
            for agent in ("gemini", "qwen") for task in range(6)
        ])  # fmt: skip
    return path


def pair(a: dict[str, str | None], b: dict[str, str | None]) -> Table:
    return Table(SIDE_BY_SIDE, "", (), (), extras={"of": "flows", "a": a, "b": b})


@pytest.mark.parametrize(
    ("a", "b", "sides"),
    [
        ({"run": "r1"}, {"run": "r2"}, ("r1", "r2")),
        ({"run": "agent:x"}, {"run": "-rf"}, ("run:agent:x", "run:-rf")),
        ({"run": "latest"}, {"run": "run:x"}, ("run:latest", "run:run:x")),
        ({"flow": "f", "agent": "x"}, {"flow": "f", "agent": "y"}, ("agent:x", "agent:y")),
        ({"agent": "x"}, {"agent": "y"}, ("agent:x", "agent:y")),
        ({"flow": "f", "agent": "x", "run": "r1"}, {"flow": "f", "agent": "x", "run": "r2"}, ("r1", "r2")),
        ({"flow": "f", "agent": "x", "run": "r1"}, {"flow": "f", "agent": "y", "run": "r2"}, ()),
        ({"flow": "f", "agent": "x"}, {"flow": "g", "agent": "y"}, ()),
        ({"flow": "f", "agent": "x"}, {"flow": "g", "agent": "x"}, ()),
        ({"flow": "f", "state": "x"}, {"flow": "f", "state": "y"}, ()),
        ({"run": "r1", "conversation": "x"}, {"run": "r2", "conversation": "x"}, ()),
        ({"run": "r1"}, {"run": None}, ()),
    ],
)
def test_two_runs_are_sides_and_two_agents_of_a_flow(
    a: dict[str, str | None], b: dict[str, str | None], sides: tuple[str, ...]
) -> None:
    assert sides_of(pair(a, b)) == sides


def test_sides_are_compared_within_what_the_rows_were_narrowed_to() -> None:
    agents = pair({"flow": "f 1", "agent": "x"}, {"flow": "f 1", "agent": "y"})
    assert scope_of(agents, parse("persona=calm agent=z")) == parse('persona=calm flow="f 1"')
    by_run = pair({"flow": "f", "agent": "x", "run": "r1"}, {"flow": "f", "agent": "x", "run": "r2"})
    assert scope_of(by_run, None) == parse("flow=f agent=x")
    runs = pair({"run": "r1"}, {"run": "r2"})
    assert scope_of(runs, parse("run=r1 persona=calm flow=f")) == parse("persona=calm flow=f")


def test_the_way_leads_from_the_pair_to_a_flow_to_a_call(location: Path) -> None:
    with open_store(location) as store:
        runs = pair({"run": "night-1"}, {"run": "night-2"})
        above = Location(SIDE_BY_SIDE, "night-1 | night-2", of="runs", pair=("run=night-1", "run=night-2"))
        row = show(store, "runs", Request()).rows[0]
        place = descend(above, runs, row)
        assert place is not None
        assert (place.view, place.sides, place.between) == ("compare", ("night-1", "night-2"), ("night-1", "night-2"))
        table = show(store, "compare", Request(sides=place.between))
        down = descend(replace(place, filter=Filter("verdict=worse scenario:task")), table, table.rows[0])
        assert down is not None
        assert (down.view, down.scope.text, down.sides) == ("failures", "scenario:task flow=dental", place.sides)
        failed = show(store, "failures", Request(where=down.scope.text, sides=down.between))
        call = descend(down, failed, failed.rows[1])
        assert call == Location(
            "conversation", "night-2-dental-02", Filter("run=night-2 conversation=night-2-dental-02")
        )
        only_a = descend(down, failed, failed.rows[0])
        assert only_a is not None
        assert only_a.crumb == "night-1-dental-14"
        assert crumbs((place, down))[1] == "dental"
        assert heading(table, "dental")[0] == "In dental"
        assert heading(table) == [
            "A  run night-1   n 44",
            "B  run night-2   n 40, 1 errored",
            "A solves more: 95% against 69% of 39 pairs, beyond chance (p 0.006)."
            " Only A solved 11, only B 1; both 26, neither 1.",
            "Newly failing: dental. Newly passing: nothing.",
            "B is, in 15 rows: 4 worse, 2 better, 9 noise.",
        ]
    unlike = pair({"flow": "f", "agent": "x"}, {"flow": "g", "agent": "x"})
    assert below(unlike, row) == ""


def test_a_comparison_of_sides_lasts_and_one_that_was_forged_does_not() -> None:
    place = Location("compare", "significance", Filter("flow=a"), sides=("a", "b"))
    session = SessionFile()
    session.set_stack((*START, place))
    assert decoded(encoded(session.state, "x")).stack[-1] == place
    for forged in (replace(place, sides=("a",)), replace(place, sides=()), replace(place, view="flows")):
        session.set_stack((*START, forged))
        assert decoded(encoded(session.state, "x")).stack == ()
    history = History().down(place)
    assert history.go((*START, replace(place, sides=("a", "c")))).last == history.stack


def test_the_hint_line_names_what_enter_opens() -> None:
    location, row = Location(SIDE_BY_SIDE, of="flows", pair=("a", "b")), Row("a", {"name": "stall"})
    tested = pair({"run": "r1"}, {"run": "r2"})._replace(rows=[row])
    assert dict(hints(controls_at(location, tested, depth=3)))["Enter"] == "significance"
    unlike = pair({"flow": "f", "agent": "x"}, {"flow": "g", "agent": "y"})._replace(rows=[row])
    assert "Enter" not in dict(hints(controls_at(location, unlike, depth=3)))


def test_the_explorer_does_not_open_at_sides_that_nobody_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ui", "compare"]) == ExitCode.USAGE
    assert "riff-tui ui compare A B, where A and B are runs" in capsys.readouterr().err


def screen_of(at: Walker) -> str:
    return "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()) + "\n"


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_two_runs_are_marked_compared_and_walked_down(location: Path, size: tuple[int, int]) -> None:
    async with exploring(location, size, start=stack_of("runs", "")) as at:
        # The latest run stands first, so the earlier one is marked first to be A.
        await at.press("j", "m", "k", "m", "=")
        assert_golden(screen_of(at), f"screens/significance.{size[0]}x{size[1]}.txt")
        await at.press("enter")
        assert_golden(screen_of(at), f"screens/failures.{size[0]}x{size[1]}.txt")
        # Nothing of what came out of it is cut.
        assert at.screen.loaded is not None
        assert at.screen.loaded.main.lead in " ".join(screen_of(at).split())
        await at.press("j", "enter")
        assert at.screen.history.here.crumb == "night-2-dental-02"
        await at.press("n")
        assert at.screen.history.here.crumb == "night-2-dental-03"
        await at.press("escape")
        assert at.screen.history.here.view == "failures"
        await at.press("escape", "escape")
        assert at.screen.history.here.view == "runs"


@pytest.mark.parametrize("keys", [("m", "j", "m"), ("j", "m", "k", "m"), ("m", "j"), ("j", "m", "k")])
@pytest.mark.parametrize("view", ["runs", "timeline"])
async def test_of_two_runs_the_earlier_is_a_however_they_were_marked(
    location: Path, view: str, keys: tuple[str, ...]
) -> None:
    async with exploring(location, start=stack_of(view, "")) as at:
        await at.press(*keys, "=")
        assert at.screen.history.here.sides == ("night-1", "night-2")
        await at.press("=")
        assert at.screen.history.here.sides == ("night-2", "night-1")


async def test_two_agents_of_a_flow_are_tested_in_that_flow_and_under_the_filter(agents: Path) -> None:
    async with exploring(agents, start=stack_of("flows", "")) as at:
        await at.press("slash", *"scenario:task", "enter", "m", "j", "=")
        here = at.screen.history.here
        assert (here.view, set(here.sides)) == ("compare", {"agent:gemini", "agent:qwen"})
        assert here.scope.text == "scenario:task flow=dental"
        assert at.screen.loaded is not None
        assert {row.record["flow"] for row in at.screen.loaded.main.rows} == {"dental"}


async def test_one_key_says_what_changed_since_the_last_run(location: Path) -> None:
    async with exploring(location, (120, 36)) as at:
        await at.press("L")
        here = at.screen.history.here
        assert (here.view, here.sides, here.scope.text) == ("compare", ("previous", "latest"), "")
        screen = screen_of(at)
        assert "since the last run" in screen
        assert "Newly failing: dental." in screen
        await at.press("enter")
        failures = at.screen.history.here
        assert (failures.view, failures.sides) == ("failures", ("night-1", "night-2"))
        await at.press("escape", "escape")
        assert at.screen.history.here.view == "flows"


@pytest.mark.parametrize(
    ("view", "where", "kept"),
    [
        ("segments", "flow=dental agent=gemini", "flow=dental agent=gemini"),
        ("states", "flow=dental segment=collect", "flow=dental"),
        ("conversations", "flow=dental run=night-1 scenario:task", "flow=dental scenario:task"),
        ("runs", "", ""),
    ],
)
async def test_the_flow_and_agent_one_is_in_are_kept(location: Path, view: str, where: str, kept: str) -> None:
    async with exploring(location, start=stack_of(view, where)) as at:
        await at.press("L")
        here = at.screen.history.here
        assert (here.view, here.scope.text) == ("compare", kept)


async def test_of_one_run_the_key_says_that_it_takes_two(tmp_path: Path) -> None:
    with fresh(tmp_path / "one.db") as store:
        put(store, "calls.jsonl", [call("1", run="only", started_at=1)])
    async with exploring(tmp_path / "one.db") as at:
        await at.press("L")
        assert at.screen.history.here.view == "flows"
        assert "the store has one run alone, only" in at.bottom


@pytest.mark.parametrize("view", ["compare", "failures"])
async def test_every_key_of_a_list_works_on_sides(location: Path, view: str) -> None:
    place = Location(view, sides=("night-1", "night-2"))
    async with exploring(location, (120, 36), start=(*START, place)) as at:
        await at.press("question_mark")
        lines = resolve(view).help
        assert lines[0][:40] in screen_of(at)
        await at.press("q")
        for key in ("p", "j", "p", "c", "escape", "l", "l", "s", "S", "s", "m", "u", "x", "e", "r", "d", "w", "w"):
            await at.press(key)
            assert at.screen.history.here.view == view, key
            assert at.screen.last_error is None, key
        await at.press("equals_sign")
        assert at.screen.history.here.sides == place.sides[::-1]
        assert screen_of(at).splitlines()[1].startswith(" A  run night-2")
        await at.press("escape")
        assert at.screen.history.here.view == "flows"
        await at.press("left_square_bracket")
        await at.press("4")
        assert at.screen.history.here.view == "conversations"
        await at.press("minus")
        assert at.screen.history.here.sides == place.sides[::-1]


async def test_the_screen_is_what_its_command_prints_and_can_be_filtered(location: Path) -> None:
    place = Location("compare", "significance", sides=("night-1", "night-2"))
    async with exploring(location, start=(*START, replace(place, filter=Filter("verdict!=noise")))) as at:
        assert at.screen.loaded is not None
        table = at.screen.loaded.main
        assert len(table.rows) == 6
        assert shlex.split(table.dump) == ["riff-tui", "compare", "night-1", "night-2", "--where", "verdict!=noise"]
        await at.press("escape", "slash", *"errors", "enter")
        assert {row.record["aspect"] for row in at.screen.loaded.main.rows} == {"errors"}
        with open_store(location) as store:
            same = show(store, "compare", Request(where="verdict!=noise", sides=place.between))
        assert printed(table, "text") == printed(same, "text")


async def test_a_call_that_one_comes_back_to_still_lies_in_its_list(location: Path) -> None:
    row = "night-1 night-1-dental-02 / night-2 night-2-dental-02"
    above = Location("failures", "dental", Filter("flow=dental"), row=row, index=1, sides=("night-1", "night-2"))
    call = Location("conversation", "night-2-dental-02", Filter("run=night-2 conversation=night-2-dental-02"))
    async with exploring(location, start=(*START, above, call)) as at:
        assert "2 of 13" in at.path
        await at.press("n")
        assert at.screen.history.here.crumb == "night-2-dental-03"


async def test_a_side_that_is_gone_is_said(location: Path) -> None:
    async with exploring(location, start=(*START, Location("compare", sides=("night-1", "night-9")))) as at:
        assert "there is no run night-9; did you mean night-2" in at.bottom


async def test_no_name_acts_above_the_rows_or_in_them(tmp_path: Path) -> None:
    evil = "\x1b]52;c;cHduZWQ=\x07[@click=app.quit]x[/]\u202e"
    with fresh(tmp_path / "s.db") as store:
        calls = [
            call(f"{run} {number} {evil}", run=f"{run} {evil}", flow=evil, agent=evil, scenario=f"{number} {evil}",
                 final_state=evil, stop_reason=evil, aspects={"correctness": 0.0}, line=number)
            for run in "ab" for number in range(3)
        ]  # fmt: skip
        put(store, "calls.jsonl", calls)
    sides = (f"a {evil}", f"b {evil}")
    for view in ("compare", "failures"):
        async with exploring(tmp_path / "s.db", (120, 36), start=(*START, Location(view, sides=sides))) as at:
            for key in ("p", "j", "d", "question_mark"):
                text = screen_of(at).replace("\n", "")
                assert "@click=app.quit" in text
                assert not LIVE.search(text)
                await at.press(key)
            assert at.app.is_running


async def test_numpy_is_loaded_when_sides_are_compared_and_not_before(location: Path) -> None:
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tests.support.walker import exploring\n"
        "async def walk():\n"
        "    async with exploring(Path(sys.argv[1])) as at:\n"
        "        await at.press('7', 'm', 'j')\n"
        "        print('numpy' in sys.modules)\n"
        "        await at.press('=')\n"
        "        print('numpy' in sys.modules)\n"
        "asyncio.run(walk())\n"
    )
    import asyncio

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(location), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[4]
    )
    out, _ = await process.communicate()
    assert out.decode().split() == ["False", "True"]


def test_two_agents_among_the_levels_of_effects_are_two_sides() -> None:
    def levels(*names: tuple[str, str | None]) -> Table:
        a, b = ({"level": level, "factor": factor} for factor, level in names)
        return pair(a, b)

    assert sides_of(levels(("agent", "model-a"), ("agent", "model-b"))) == ("agent:model-a", "agent:model-b")
    assert sides_of(levels(("run", "night-1"), ("run", "night-2"))) == ("night-1", "night-2")
    for one, other in (
        (("flow", "a"), ("flow", "b")),
        (("agent", "a"), ("persona", "b")),
        (("agent", None), ("agent", "a")),
    ):
        assert not sides_of(levels(one, other))


async def test_two_agents_of_the_whole_store_are_compared_without_a_mark(demo: Path) -> None:
    async with exploring(demo, (80, 70)) as at:
        await at.press("=")
        offered = at.controls.menu.list
        assert {item.lead for item in offered.choices} == {"agent", "run"}
        agents = [item.text for item in offered.choices if item.lead == "agent"]
        await at.press("enter")
        assert [item.text for item in at.controls.menu.list.choices] == agents[1:]
        await at.press("enter")
        assert at.screen.here.sides == tuple(f"agent:{name}" for name in agents[:2])
        told = next(note for note in at.controls.table.table.notes if note.startswith("B is"))
        assert told in at.head
        await at.press("/", *"verdict=better", "enter")
        assert told in at.controls.table.table.notes
        shown = [at.controls.table.render_line(y).text.strip() for y in range(60)]
        assert any(line.startswith("Paired by") for line in shown)
        assert told not in shown


async def test_two_runs_that_share_no_flow_say_so_once_and_what_to_do(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        for number, flow in enumerate(("airline", "telecom"), 1):
            one = call("c", run=f"night-{number}", flow=flow, started_at=number * 10**12)
            put(store, f"{flow}.jsonl", [one])
    async with exploring(tmp_path / "calls.db", (80, 24)) as at:
        await at.press("L")
        screen = " ".join(at.controls.table.render_line(y).text.strip() for y in range(20))
        assert screen.count("nothing is compared") == 1
        assert "In a flow (f), L compares its last two runs" in screen
        assert "Called by A alone" in screen
