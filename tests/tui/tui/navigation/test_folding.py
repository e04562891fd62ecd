"""A first screen of many agents begins with flows, and one key goes from a flow into its agents and back."""

from __future__ import annotations

import pytest

from tests.support.fake_catalog import FakeCatalog
from tests.support.walker import walking
from tests.surface.explorer import MOST_UNFOLDED
from tests.surface.tui import Column, Folded, Request, Row, Table, as_read, row_number

FLOWS = ("weather", "viewing")


class Agents(FakeCatalog):
    """Two flows with so many agents."""

    def __init__(self, agents: int) -> None:
        super().__init__()
        self.agents = agents

    def show(self, view: str, request: Request) -> Table:
        if view != "flows":
            return super().show(view, request)
        self.asked.append((view, request))
        by = request.by or ("flow", "agent")
        names = [
            {"flow": flow, "agent": f"agent-{number}"}
            for flow in FLOWS
            for number in range(self.agents)
            if f"flow={flow}" in request.where or "flow=" not in request.where
        ]
        seen = {tuple(each[key] for key in by): {key: each[key] for key in by} for each in names}
        rows = [
            Row(" ".join(key), {**record, "n": 3}, where=" ".join(f"{name}={value}" for name, value in record.items()))
            for key, record in seen.items()
        ]
        columns = [*(Column(key, key.title(), kind="name") for key in by), Column("n", "n", kind="count")]
        dump = f"riff-tui dump flows{''.join(f' --by {key}' for key in request.by)}"
        return Table("flows", "Flows", columns, rows, dump=dump, filter=request.where)


async def test_few_agents_are_shown_with_their_flows_until_they_are_folded() -> None:
    async with walking(catalog=Agents(MOST_UNFOLDED // 2)) as at:
        assert at.row == "weather agent-0"
        await at.press("j", "b")
        assert (at.row, len(at.controls.table.table.rows)) == ("weather", 2)
        await at.press("minus")
        assert at.row == "weather agent-1"


async def test_many_agents_begin_folded_and_one_key_unfolds_a_flow_and_folds_it_again() -> None:
    async with walking(catalog=Agents(MOST_UNFOLDED)) as at:
        assert [row.id for row in at.controls.table.table.rows] == list(FLOWS)
        assert "b agents" in at.bottom
        await at.press("d")
        assert "riff-tui dump flows --by flow" in at.bottom
        await at.press("j", "b")
        assert at.path.startswith("flows › viewing ")
        assert len(at.controls.table.table.rows) == MOST_UNFOLDED
        await at.press("d")
        assert "--by" not in at.bottom
        await at.press("b")
        assert at.row == "viewing"
        await at.press("enter")
        assert at.screen.history.here.scope.text == "flow=viewing"


async def test_the_key_of_the_flows_shows_every_row_of_a_folded_list_and_folds_it_again() -> None:
    async with walking(catalog=Agents(MOST_UNFOLDED)) as at:
        await at.press("1")
        assert len(at.controls.table.table.rows) == 2 * MOST_UNFOLDED
        assert "every flow with every agent" in at.bottom
        await at.press("1")
        assert len(at.controls.table.table.rows) == 2
        before = len(at.catalog.asked)
        await at.press("enter", "1")
        assert (at.row, len(at.controls.table.table.rows)) == ("weather", 2)
        assert [view for view, _ in at.catalog.asked[before:]].count("flows") <= 2


@pytest.mark.parametrize("view", ["3", "0"])
async def test_other_rows_do_not_fold_and_say_so(view: str) -> None:
    async with walking() as at:
        await at.press(view, "b")
        assert "only flows fold" in at.bottom


def test_rows_that_are_folded_are_counted() -> None:
    rows = [Row(name, {"flow": name[0], "route": name, "n": 1}) for name in ("a1", "a2", "a3", "b1", "b2")]
    folded = Folded(frozenset(("a2", "a3", "b2")), ("flow",), "route", "n", "route")
    table = Table("routes", "", [Column("route", "Route", kind="name")], rows, folded=folded)
    read = as_read(table)
    assert [row.display.get("route", row.id) for row in read.rows] == ["a1", "+ 2 routes", "b1", "+ 1 route"]
    assert [row_number(read, at) for at in range(4)] == [(1, 5), (2, 5), (4, 5), (5, 5)]
    assert [row_number(table, at) for at in range(5)] == [(at, 5) for at in range(1, 6)]
