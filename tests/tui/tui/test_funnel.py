"""One key leads from a flow to its funnel, and Enter on to a state or to the calls that ended in an outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, state
from tests.support.golden import assert_golden
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link


@pytest.fixture
def two_flows(tmp_path: Path) -> Path:
    """A flow of which calls end well or are lost, and another one of which more fail."""
    way = [state("greet", position=0, to={"collect": 1}), state("collect", position=1, to={"booked": 1})]
    lost = [way[0], state("collect", position=1, stall=1, lost=1, progress=0)]
    booked = {"states": way, "outcome_positions": {"booked": 2}, "final_state": "booked"}
    calls = [
        *(call(f"w-{number}", **booked) for number in range(6)),
        *(call(f"l-{number}", states=lost, terminals={}) for number in range(3)),
        *(call(f"o-{number}", flow="grooming", states=lost, terminals={}) for number in range(9)),
    ]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
    return tmp_path / "calls.db"


def screen(at: Walker) -> str:
    return "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()) + "\n"


def states(at: Walker) -> list[tuple[str, str | None]]:
    loaded = at.screen.loaded
    assert loaded is not None
    return [(row.record["flow"], row.record["state"]) for row in loaded.main.rows]


async def to_row(at: Walker, key: str, name: str) -> None:
    while at.controls.table.row is None or at.controls.table.row.record[key] != name:
        await at.press("j")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_one_key_opens_the_funnel_of_the_flow_under_the_cursor(two_flows: Path, size: tuple[int, int]) -> None:
    async with exploring(two_flows, size, open_link("flows", "")) as at:
        await to_row(at, "flow", "viewing")
        await at.press("V")
        assert states(at) == [("viewing", "greet"), ("viewing", "collect"), ("viewing", "booked")]
        assert_golden(screen(at), f"screens/funnel.{size[0]}x{size[1]}.txt")
        await at.press("V")
        assert {flow for flow, _ in states(at)} == {"grooming", "viewing"}


async def test_enter_on_a_state_is_that_state_and_on_an_outcome_its_calls(two_flows: Path) -> None:
    async with exploring(two_flows, (100, 30), open_link("funnel", "flow=viewing")) as at:
        await to_row(at, "state", "collect")
        await at.press("enter")
        assert (at.controls.here.kind, at.path.rpartition("› ")[2].split()[0]) == ("state", "collect")
        await at.press("escape")
        await to_row(at, "state", "booked")
        await at.press("enter")
        loaded = at.screen.loaded
        assert loaded is not None
        assert [row.record["conversation"] for row in loaded.main.rows] == [f"w-{number}" for number in range(6)]


async def test_a_place_within_a_flow_has_the_funnel_of_that_flow(two_flows: Path) -> None:
    async with exploring(two_flows, start=open_link("conversations", "flow=viewing state=collect stall=1")) as at:
        await at.press("V")
        assert {flow for flow, _ in states(at)} == {"viewing"}


@pytest.fixture
def two_nights(tmp_path: Path) -> Path:
    """Two runs, of which the later one loses calls, and two agents, of one flow and of another one."""
    way = [state("greet", position=0, to={"collect": 1}), state("collect", position=1)]
    with fresh(tmp_path / "calls.db") as store:
        for day, night in enumerate(("night-1", "night-2"), 1):
            put(store, f"{night}.jsonl", [
                call(
                    f"{night}-{flow}-{agent}-{n}", run=night, flow=flow, agent=agent,
                    started_at=day * 86_400_000_000, states=way if n < 12 // day**2 else way[:1],
                )
                for flow in ("viewing", "dental") for agent in ("gemini", "llama") for n in range(12)
            ])  # fmt: skip
    return tmp_path / "calls.db"


async def test_two_marked_runs_are_put_below_each_other_in_the_funnel(two_nights: Path) -> None:
    async with exploring(two_nights, (100, 30), open_link("runs", "")) as at:
        await at.press("m", "j", "m", "V")
        assert at.controls.here.by == ("run",)
        assert states(at)[:2] == [("dental", "greet")] * 2
        assert "B  night-2  48 calls" in screen(at)
        assert "B against A: -75.0 pp come to dental/collect, -75.0 pp come to viewing/collect." in screen(at)
        await at.press("j", "enter")
        assert at.controls.here.kind == "state"
        assert "run=night-2" in at.controls.here.scope.text
        await at.press("escape", "V")  # as wide as it gets, and still compared
        assert at.controls.here.by == ("run",)


async def test_the_runs_that_are_compared_have_the_funnel_of_the_flow_under_the_cursor(two_nights: Path) -> None:
    async with exploring(two_nights, start=open_link("runs", "")) as at:
        await at.press("m", "j", "m", "=")
        await to_row(at, "flow", "viewing")
        await at.press("V")
        assert states(at) == [("viewing", "greet")] * 2 + [("viewing", "collect")] * 2
        await at.press("V")
        assert {flow for flow, _ in states(at)} == {"dental", "viewing"}
        assert at.controls.here.by == ("run",)


async def test_two_marked_agents_of_a_flow_are_compared_and_two_flows_are_not(two_nights: Path) -> None:
    async with exploring(two_nights, start=open_link("flows", "")) as at:
        await to_row(at, "flow", "viewing")
        await at.press("m", "j", "m", "V")
        loaded = at.screen.loaded
        assert loaded is not None
        assert [row.record["agent"] for row in loaded.main.rows] == ["gemini", "llama"] * 2
        assert {flow for flow, _ in states(at)} == {"viewing"}
    async with exploring(two_nights, start=open_link("runs", "")) as at:
        await at.press("m", "V")
        assert at.controls.here.by == ()


async def test_states_that_hardly_any_call_came_to_are_one_row_that_unfolds(tmp_path: Path) -> None:
    way, rare = [state("greet", position=0)], [state("greet", position=0), state("wait", position=1)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call(f"{n}", states=way) for n in range(200)] + [call("rare", states=rare)])
    async with exploring(tmp_path / "calls.db", (80, 24), open_link("funnel", "flow=viewing")) as at:
        assert states(at) == [("viewing", "greet"), ("viewing", None)]
        assert "+ 1 state " in screen(at)
        assert "b unfold" in screen(at)
        await at.press("j", "enter")
        assert states(at) == [("viewing", "greet"), ("viewing", "wait")]
        await at.press("enter")
        assert (at.controls.here.kind, at.controls.here.crumb) == ("state", "wait")
        await at.press("escape", "b")
        assert states(at)[-1] == ("viewing", None)
        await at.press("b")
        assert states(at)[-1] == ("viewing", "wait")


async def test_the_preview_of_a_segment_says_that_it_is_of_the_whole_flow(two_nights: Path) -> None:
    for view, told in (("segments", True), ("flows", False)):
        async with exploring(two_nights, (120, 36), open_link(view, "flow=viewing")) as at:
            await at.until(lambda: "greet" in screen(at))
            assert ("Whole flow viewing: calls · failed" in screen(at)) is told
