"""One key leads from a flow to its routes, Enter on to the calls of one, and two marked ones to where they part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.support.golden import assert_golden
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link
from tests.surface.store import ConversationFacts, Touched


def way(name: str, *states: str, flow: str = "viewing", success: bool = True) -> ConversationFacts:
    edges = [place for step in range(len(states) - 1) for place in (step, step + 1)]
    return call(name, flow=flow, success=success, path=Touched(list(states), len(states), edges))


@pytest.fixture
def two_flows(tmp_path: Path) -> Path:
    """A flow of three routes, and one in which hardly two calls take the same one."""
    calls = [
        *(way(f"w-{number}", "greet", "collect", "confirm", "booked") for number in range(9)),
        *(way(f"h-{number}", "greet", "collect", "human", success=False) for number in range(5)),
        *(way(f"l-{number}", "greet", "collect", success=False) for number in range(3)),
        *(way(f"o-{number}", "greet", f"s{number % 2}", f"t{number}", flow="chat") for number in range(30)),
    ]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
    return tmp_path / "calls.db"


def screen(at: Walker) -> str:
    return "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()) + "\n"


def listed(at: Walker, key: str) -> list[str]:
    loaded = at.screen.loaded
    assert loaded is not None
    return [row.record[key] for row in loaded.main.rows]


async def to_flow(at: Walker, name: str) -> None:
    while at.controls.table.row is None or at.controls.table.row.record["flow"] != name:
        await at.press("j")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_one_key_opens_the_routes_of_the_flow_under_the_cursor(two_flows: Path, size: tuple[int, int]) -> None:
    async with exploring(two_flows, size, open_link("flows", "")) as at:
        await to_flow(at, "viewing")
        await at.press("Y")
        assert [route[-1] for route in listed(at, "route")] == ["booked", "human", "collect"]
        assert_golden(screen(at), f"screens/routes.{size[0]}x{size[1]}.txt")
        await at.press("Y")
        assert set(listed(at, "flow")) == {"chat", "viewing"}


async def test_enter_on_a_route_lists_its_calls(two_flows: Path) -> None:
    async with exploring(two_flows, (100, 30), open_link("routes", "flow=viewing")) as at:
        await at.press("j", "enter")
        assert sorted(listed(at, "conversation")) == [f"h-{number}" for number in range(5)]
        assert at.path.partition("  ")[0].endswith("collect » human")


async def test_common_beginnings_lead_to_the_calls_that_begin_so(two_flows: Path) -> None:
    async with exploring(two_flows, (100, 30), open_link("routes", "flow=chat")) as at:
        assert [list(route) for route in listed(at, "route")] == [["greet"], ["greet", "s0"], ["greet", "s1"]]
        assert "3 · beginnings of 30 calls" in screen(at)
        await at.press("j", "enter")
        assert sorted(listed(at, "conversation")) == sorted(f"o-{number}" for number in range(0, 30, 2))
        assert at.path.partition("  ")[0].endswith("› s0")


async def test_two_marked_routes_say_where_they_part(two_flows: Path) -> None:
    async with exploring(two_flows, (120, 30), open_link("routes", "flow=viewing")) as at:
        await at.press("m", "j", "m", "=")
        loaded = at.screen.loaded
        assert loaded is not None
        said = (
            "They part after collect: a goes on to confirm (100% of 9 calls succeed), b goes on to human (0% of 5 calls"
        )
        assert loaded.main.notes[0] == f"{said} succeed)."
        shares = next(row.record for row in loaded.main.rows if row.record["metric"] == "share")
        assert (shares["a"], shares["b"]) == (pytest.approx(9 / 17), pytest.approx(5 / 17))
