"""The funnel as a table: what its sentences say, what is drawn, and what is folded where people read."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put, state
from tests.support.golden import printed
from tests.surface.store import Failure, Funnel, FunnelRow, Store, compared_states
from tests.surface.tui import NO_STATES, Request, Row, Table, funnel, funnel_of_sides, show

GREET = FunnelRow("greet", 400, 1.0, 6, 0.0, {"collect": 390, "human": 4})
COLLECT = FunnelRow("collect", 390, 0.975, 300, 1.0, {"booked": 80}, kinds={"dead end": 290, "loop": 10})
RARE = FunnelRow("apologize", 3, 0.0075, 0, 1.5, {"collect": 3})
BLAMED = FunnelRow("repeat", 2, 0.005, 2, 1.7)
HUMAN, BOOKED = (
    FunnelRow("human", 3, 0.0075, 0, 1.0, {}, "escalation"),
    FunnelRow("booked", 80, 0.2, 0, 2.0, {}, "success"),
)
ROWS = [GREET, COLLECT, RARE, BLAMED, HUMAN, BOOKED]


def of_flow(*rows: FunnelRow, flow: str = "viewing", nowhere: int = 0, **keys: str | None) -> Funnel:
    failed = sum(row.failed for row in rows) + nowhere
    return Funnel({"flow": flow, **keys}, calls=400, failed=failed, nowhere=nowhere, rows=rows)


def shown(table: Table, **options: Any) -> list[str]:
    return printed(table, "text", **options).splitlines()


def row_of(table: Table, name: str) -> Row:
    return next(row for row in table.rows if row.record["state"] == name)


def test_a_flow_is_one_picture_at_80_columns() -> None:
    assert shown(funnel([of_flow(*ROWS)]), width=80) == [
        "Funnel: viewing · 400 calls · 308 failed",
        "",
        "  State      reached                  failed  Next",
        "  greet          400  █████████████░       6  → collect 390, human 4",
        "! collect        390  ████░░░░░░░░░░     300  → booked 80",
        "  + 1 state        3",
        "~ repeat           2  ░                    2",
        "~ ↗ human          3  ▏",
        "  ✓ booked        80  ██▊",
        "",
        "Order: when calls first come · bar: calls that came, hatched those that failed",
        "here · next: steps taken.",
        "Folded: states that less than 1% of the calls came to.",
    ]


def test_bars_are_drawn_in_ascii_too() -> None:
    text = printed(funnel([of_flow(*ROWS)]), "text", ascii_only=True)
    assert text.isascii()
    assert [line for line in text.splitlines() if line[2:5] in ("col", "esc", "ok ")] == [
        "! collect        390  ####::::::::::     300  -> booked 80",
        "~ esc human        3  #.............",
        "  ok booked       80  ###...........",
    ]


def test_a_long_row_is_cut_and_still_says_where_most_calls_went() -> None:
    names = [f"somewhere_quite_far_{number}" for number in range(6)]
    far = FunnelRow("collect_contact_details", 100_000, 1.0, 70_000, 0.0, dict.fromkeys(names, 5_000))
    lines = shown(funnel([of_flow(far)]), width=80)
    assert all(len(line) <= 80 for line in lines)
    assert "→ somewhere_quite" in lines[3]
    assert lines[-1].startswith("Cut to 80 cells: 1 text shortened")
    assert names[-1] in shown(funnel([of_flow(far)]))[3]


@pytest.mark.parametrize("format", ["text", "markdown", "svg"])
def test_states_that_hardly_any_call_came_to_are_folded_where_people_read(format: str) -> None:
    late = FunnelRow("wait", 1, 0.0025, 0, 1.9)
    text = printed(funnel([of_flow(*ROWS[:-2], late, *ROWS[-2:])]), format)
    assert not any(name in text for name in ("apologize", "wait"))
    assert all(name in text for name in ("repeat", "human"))  # where calls failed, and how they end
    # One row stands for both, where the last of them was.
    assert text.index("repeat") < text.index("+ 2 states") < text.rindex("booked")


def test_each_flow_folds_its_own_states_and_no_count_of_rows_is_changed_by_that(tmp_path: Path) -> None:
    lines = shown(funnel([of_flow(GREET, RARE), of_flow(GREET, RARE, flow="dental")]))
    assert [line.split() for line in lines if "+" in line] == [
        ["viewing", "+", "1", "state", "3"],
        ["dental", "+", "1", "state", "3"],
    ]
    way, rare = [state("greet", position=0)], [state("greet", position=0), state("wait", position=1)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call(f"{n}", states=way) for n in range(200)] + [call("rare", states=rare)])
        put(store, "others.jsonl", [call("x", flow="dental")])
        text = shown(show(store, "funnel", Request(where="flow=viewing")))
    assert "+ 1 state" in "\n".join(text)
    assert text[-1] == "2 of 4 match; 2 do not."


def test_programs_read_every_state_and_what_the_bar_draws_as_figures() -> None:
    table = funnel([of_flow(*ROWS)])
    found = json.loads(printed(table, "json"))
    assert [row["state"] for row in found["rows"]] == [row.state for row in ROWS]
    assert "bar" not in {column["key"] for column in found["columns"]}
    assert found["rows"][1] == {
        "flow": "viewing", "state": "collect", "reached": 390, "share": 0.975, "failed": 300, "position": 1.0,
        "outcome": None, "next": {"booked": 80}, "kinds": {"dead end": 290, "loop": 10},
    }  # fmt: skip
    assert [row["outcome"] for row in found["rows"][-2:]] == ["escalation", "success"]
    lines = list(csv.DictReader(printed(table, "csv").splitlines()))
    assert [line["state"] for line in lines] == [row.state for row in ROWS]
    assert {line["flow"] for line in lines} == {"viewing"}
    assert json.loads(lines[0]["next"]) == {"collect": 390, "human": 4}
    assert len(printed(table, "jsonl").splitlines()) == len(ROWS)


def test_a_share_of_the_calls_that_came_marks_what_failed_there() -> None:
    rows = [FunnelRow(name, 100, 1.0, failed, 0.0) for name, failed in (("well", 14), ("watch", 15), ("bad", 25))]
    table = funnel([of_flow(*rows, FunnelRow("few", 4, 0.04, 4, 1.0))])
    marks = {row.record["state"]: (row.severity.get("failed"), row.thin) for row in table.rows}
    assert marks == {"well": (None, False), "watch": ("warn", False), "bad": ("bad", False), "few": (None, True)}


def test_each_of_several_flows_says_how_many_calls_it_has() -> None:
    table = funnel([of_flow(GREET, COLLECT, nowhere=4), of_flow(GREET, flow="dental")])
    assert table.title == "Funnel: 2 flows"
    assert [row.record["flow"] for row in table.rows] == ["viewing", "viewing", "dental"]
    assert table.notes[1:] == [
        "viewing · 400 calls · 310 failed.",
        "dental · 400 calls · 6 failed.",
        "Blamed on no state: 4 failed calls.",
    ]
    assert "flow" in [column.key for column in table.columns]


def test_very_many_funnels_do_not_drown_their_rows_in_notes() -> None:
    notes = funnel([of_flow(GREET, flow=f"flow-{number}") for number in range(40)]).notes
    assert len(notes) == 32
    assert notes[-1] == "… and 10 more, ordered by failed calls."


def test_a_run_or_an_agent_has_a_funnel_of_its_own(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [*calls_of("night-1", "a", 2), *calls_of("night-2", "b", 3)])
        found = {
            (row.record["run"], row.record["state"]): row.record["reached"]
            for row in show(store, "funnel", Request(by=("run",))).rows
        }
        by_agent = show(store, "funnel", Request(by=("agent",), where="agent=b"))
    assert found == {(run, name): n for run, n in (("night-1", 2), ("night-2", 3)) for name in ("greet", "collect")}
    assert by_agent.title == "Funnel: viewing @ b · 3 calls · 0 failed"
    assert [column.key for column in by_agent.columns if column.shown][:2] == ["agent", "state"]
    assert by_agent.rows[0].where == "flow=viewing agent=b state=greet"


def calls_of(run: str, agent: str, count: int) -> list[Any]:
    way = [state("greet", position=0, to={"collect": 1}), state("collect", position=1)]
    return [call(f"{run}-{number}", run=run, agent=agent, states=way) for number in range(count)]


def test_each_row_leads_to_the_calls_that_came_to_it(tmp_path: Path) -> None:
    way = [state("greet", position=0), state("collect", position=1)]
    ended = {"terminals": {"human": "escalation"}, "outcome_positions": {"human": 1}, "final_state": "human"}
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call("1", states=way), call("2", states=way[:1], **ended)])
        table = show(store, "funnel", Request())
        for row in table.rows:
            found = show(store, "conversations", Request(where=row.where)).rows
            assert len(found) == row.record["reached"], row.where
    assert row_of(table, "human").where == "flow=viewing final_state=human"


def test_where_no_call_has_events_that_is_said(tmp_path: Path) -> None:
    nowhere = Failure(None, None, "none")
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call("1", states=[], success=False, failure=nowhere)])
        table = show(store, "funnel", Request())
    assert not table.rows
    assert table.title == "Funnel: viewing · 1 call · 1 failed"
    assert "Blamed on no state: 1 failed call." in table.notes
    assert NO_STATES in table.notes


def test_an_empty_store_has_no_funnel(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        assert isinstance(store, Store)
        assert show(store, "funnel", Request()).title == "Funnel: 0 flows"


def of_sides(*answers: Funnel) -> Table:
    names = ("night-1", "night-2")
    return funnel_of_sides(answers, compared_states(answers, "run", names), "run", names)


WORSE = [
    FunnelRow("greet", 400, 1.0, 6, 0.0),
    FunnelRow("collect", 390, 0.975, 350, 1.0),
    FunnelRow("booked", 30, 0.075, 0, 2.0, {}, "success"),
]
TWO_RUNS = of_flow(GREET, COLLECT, RARE, BOOKED, run="night-1"), of_flow(*WORSE, run="night-2")


def test_two_runs_stand_below_each_other_and_what_differs_beyond_chance_is_said() -> None:
    assert shown(of_sides(*TWO_RUNS), width=80)[:-3] == [
        "Funnel of two runs: viewing",
        "",
        "B against A: +12.5 pp fail in collect, -12.5 pp come to booked.",
        "",
        "A  night-1  400 calls · 306 failed",
        "B  night-2  400 calls · 356 failed",
        "",
        "  State         calls                     B − A  failed     B − A",
        "  greet      A    400  █████████████░                 6",
        "  greet      B    400  █████████████░                 6",
        "  collect    A    390  ████░░░░░░░░░░               300",
        "! collect    B    390  ██░░░░░░░░░░░░               350  +12.5 pp",
        "  + 1 state         3",
        "  ✓ booked   A     80  ██▊",
        "  ✓ booked   B     30  █               -12.5 pp",
        "",
        "Order: when calls first come · bar: the share of a side's calls that came,",
        "hatched those that failed here · B − A: how much larger that share is in B,",
    ]


def test_programs_read_p_and_the_difference_in_the_rows_of_b_noise_or_not() -> None:
    found = json.loads(printed(of_sides(*TWO_RUNS), "json"))
    rows = {(row["run"], row["state"]): row for row in found["rows"]}
    assert list(rows)[:4] == [
        ("night-1", "greet"),
        ("night-2", "greet"),
        ("night-1", "collect"),
        ("night-2", "collect"),
    ]
    greet, collect, of_a = rows["night-2", "greet"], rows["night-2", "collect"], rows["night-1", "collect"]
    assert (greet["difference"], greet["p"], greet["p_adjusted"]) == (0.0, 1.0, 1.0)
    assert (collect["side"], collect["reached"], collect["failed_difference"]) == ("B", 390, 0.125)
    assert collect["failed_p"] < collect["failed_p_adjusted"] < 0.001
    assert {of_a[key] for key in ("difference", "p", "failed_difference", "failed_p_adjusted")} == {None}
    assert of_a["next"] == {"booked": 80}
    assert found["a"] == {"kind": "run", "name": "night-1", "calls": 400, "failed": 306}
    lines = list(csv.DictReader(printed(of_sides(*TWO_RUNS), "csv").splitlines()))
    assert [(line["side"], line["state"]) for line in lines[:2]] == [("A", "greet"), ("B", "greet")]
    assert all(
        word in printed(of_sides(*TWO_RUNS), format)
        for format in ("markdown", "svg")
        for word in ("night-2", "+12.5 pp")
    )


def test_where_nothing_differs_beyond_chance_that_is_said_and_no_flow_of_one_side_is_compared() -> None:
    table = of_sides(
        of_flow(GREET, run="night-1"), of_flow(GREET, run="night-2"), of_flow(COLLECT, flow="dental", run="night-2")
    )
    assert table.lead == "No state differs beyond chance."
    assert "Called by B alone, so not compared: dental." in table.notes
    assert not any(row.severity for row in table.rows)
    alone = of_sides(of_flow(GREET, run="night-1"), of_flow(COLLECT, flow="dental", run="night-2"))
    assert alone.lead == ""


def test_a_state_is_folded_where_hardly_any_call_of_either_side_came() -> None:
    often = FunnelRow("apologize", 40, 0.1, 0, 1.5)
    assert "apologize" not in printed(of_sides(*TWO_RUNS), "text")
    assert "+ 1 state" in printed(of_sides(*TWO_RUNS), "text")
    assert "apologize" in printed(of_sides(TWO_RUNS[0], of_flow(*WORSE, often, run="night-2")), "text")


def test_exactly_two_runs_are_compared_the_earlier_one_first(tmp_path: Path) -> None:
    nights = [("night-b", 1), ("night-a", 2), ("night-c", 3)]
    way = [state("greet", position=0, to={"collect": 1}), state("collect", position=1)]
    with fresh(tmp_path / "calls.db") as store:
        for night, day in nights:
            made = [call(f"{night}-{n}", run=night, started_at=day * 86_400_000_000, states=way) for n in range(5)]
            put(store, f"{night}.jsonl", made)
        two = show(store, "funnel", Request(by=("run",), where="run=night-a | run=night-b"))
        by_share = show(store, "funnel", Request(by=("run",), where="run=night-a | run=night-b", sort="reached"))
        three = show(store, "funnel", Request(by=("run",)))
    assert [(row.record["side"], row.record["run"], row.display["state"]) for row in two.rows] == [
        ("A", "night-b", "greet"), ("B", "night-a", ""), ("A", "night-b", "collect"), ("B", "night-a", ""),
    ]  # fmt: skip
    assert "" not in [row.display["state"] for row in by_share.rows]
    assert [row.where for row in two.rows][1] == "flow=viewing run=night-a state=greet"
    assert "side" not in three.rows[0].record
