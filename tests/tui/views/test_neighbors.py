"""A state's neighbourhood: counted steps on both sides, and what starves if the state breaks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.view_answers import state_cell
from tests.surface.store import (
    BlastRadius,
    Bucket,
    Measure,
    Neighbor,
    Neighborhood,
    PooledLatency,
    StateCell,
    Terminus,
    Victim,
)
from tests.surface.tui import neighbors_neighbors as neighbors
from tests.surface.tui import never_reached


def answer(cell: StateCell | None = None) -> Neighborhood:
    return Neighborhood(
        flow="apartment_viewing",
        state="collect_details",
        cell=cell,
        predecessors=[Neighbor("greet", 17, 17 / 59, 0.0, 60), Neighbor("triage", 42, 42 / 59, 0.1, 62)],
        successors=[Neighbor("confirm", 31, 0.5, 0.3, 31), Neighbor("escalated", 6, 0.1, None, 0, "escalation")],
        loops=9,
        blast=BlastRadius("calls", [Victim("confirm", 0.75, 0.5, 6.0, 31), Victim("booked", 0.7, 0.4, 4.8, 20)]),
        calls=62,
    )


def test_rows_go_in_self_out_the_most_trodden_first() -> None:
    rows = neighbors(answer()).rows
    assert [(row.record["direction"], row.record["state"], row.record["count"]) for row in rows] == [
        ("in", "triage", 42),
        ("in", "greet", 17),
        ("self", "collect_details", 9),
        ("out", "confirm", 31),
        ("out", "escalated", 6),
    ]
    assert all({"direction", "state", "count", "share", "stall", "n"} <= set(row.record) for row in rows)
    assert rows[2].record["share"] == pytest.approx(9 / 46)


def test_a_neighbour_leads_to_its_own_neighbourhood_and_an_outcome_does_not() -> None:
    rows = neighbors(answer()).rows
    assert rows[0].where == "flow=apartment_viewing state=triage"
    assert (rows[4].where, rows[4].thin) == ("", False)
    assert rows[3].severity == {"stall": "bad", "": "bad"}


def test_the_blast_radius_stands_in_the_extras_and_below_the_graph() -> None:
    table = neighbors(answer())
    assert table.extras["reach"] == {"confirm": 0.75, "booked": 0.7}
    assert table.extras["blast"][0] == {"state": "confirm", "through": 0.75, "reached": 0.5, "starved": 6.0, "n": 31}
    assert (table.extras["flow"], table.extras["state"], table.extras["calls"]) == (
        "apartment_viewing", "collect_details", 62,
    )  # fmt: skip
    assert table.figure is not None
    assert table.figure.draw(ascii_only=True)[-4:] == [
        "Blast radius: 2 states never reached by calls lost here",
        "          unreached   through   reached         n",
        "  confirm         6       75%       50%        31",
        "  booked          5       70%       40%        20",
    ]
    assert table.notes[-1].startswith("Blast radius: through, the share of a state's calls that had been here before;")


@pytest.mark.parametrize(
    ("blast", "said"),
    [
        (BlastRadius("files", [Victim("confirm", None, None, None, None)]), "the flow's files show what is behind it"),
        (BlastRadius("calls", [], is_ordered=False), "the order of visits is not known of every call"),
        (BlastRadius("calls", []), "no call came to another state after collect_details"),
    ],
)
def test_a_blast_radius_without_figures_says_why(blast: BlastRadius, said: str) -> None:
    assert said in neighbors(replace(answer(), blast=blast)).notes[-1]


def test_the_signs_of_a_graph_are_explained_and_no_others() -> None:
    assert neighbors(answer()).notes[0] == (
        "Graph: ! share of its calls that stall there (from 25%); ↗ escalation;"
        " percent of the times that calls were in it."
    )
    alone = replace(answer(), predecessors=[], successors=[], blast=BlastRadius("calls", []))
    assert list(neighbors(alone).notes) == [
        "No call that counts has been in collect_details.",
        "Blast radius: no call came to another state after collect_details.",
    ]


def test_an_interval_ends_where_its_metric_does() -> None:
    cell = state_cell("apartment_viewing", "collect_details", n=2)
    latencies = cell._replace(measures={"latency_p95": Measure(2, 10 * 10**9, 90.0)})  # 0.5 and 9.5 seconds
    assert neighbors(answer(latencies)).notes[2].startswith("lat_p95(s) 5.0 (0.0 to ")


def test_metrics_carry_their_intervals() -> None:
    table = neighbors(answer(state_cell("apartment_viewing", "collect_details", n=4, stall=0.25)))
    assert table.notes[1] == "collect_details, n 4~, with 95 % intervals:"
    assert table.notes[2] == "stall 0.25 (0.05 to 0.7)"
    assert table.extras["metrics"]["intervals"]["stall"] == [
        pytest.approx(0.0456, abs=1e-3),
        pytest.approx(0.699, abs=1e-3),
    ]


def test_a_state_that_no_call_was_in_is_said_to_be_so() -> None:
    assert neighbors(answer()).notes[1] == "No call that counts has been in collect_details."


def test_the_graph_is_drawn() -> None:
    figure = neighbors(answer()).figure
    assert figure is not None
    drawn = "\n".join(figure.draw(ascii_only=True))
    assert "collect_details" in drawn
    assert "self 9" in drawn


def waits(*, turns: int = 20, kept: int = 4, too_many: bool = False) -> PooledLatency:
    p50, p95, p99 = (1.0, 2.25, 4.0) if turns else (None, None, None)
    spread = [Bucket(1.0, 1.5, 15), Bucket(1.5, None, 5)] if turns else []
    return PooledLatency(p50, p95, p99, turns, 4 if turns else 0, kept, too_many, spread)


def test_pooled_latencies_stand_in_words_in_json_and_below_the_graph() -> None:
    table = neighbors(answer(state_cell("apartment_viewing", "collect_details", n=4)), waits())
    assert "lat(s) pooled over all 20 turns of 4 calls: p50 1.0, p95 2.25, p99 4.0" in table.notes
    assert table.extras["pooled_latency_p95"] == 2.25
    assert table.extras["pooled_latency"]["buckets"] == [
        {"from": 1.0, "to": 1.5, "turns": 15}, {"from": 1.5, "to": None, "turns": 5},
    ]  # fmt: skip
    assert table.figure is not None
    assert table.figure.draw(ascii_only=True)[-6:] == [
        "Turns by latency, pooled over all 20 of 4 calls",
        "   15     5",
        " ######",
        " ######",
        " ###### ######",
        " 1      1.5+ s",
    ]


@pytest.mark.parametrize(
    ("pooled", "said"),
    [
        (waits(turns=0, kept=0), "not available, no transcripts were kept"),
        (waits(turns=0), "not measured, the agent never speaks in this state"),
        (replace(waits(turns=0), spoken=3), "not measured, no turn in this state has a latency"),
        (waits(turns=0, kept=20_001, too_many=True), "not read for more than 20,000 calls; filter further"),
        (waits(kept=3), "of 4 calls (of 9 calls 3 transcripts were kept): p50"),
    ],
)
def test_why_pooled_latencies_are_missing_is_said(pooled: PooledLatency, said: str) -> None:
    table = neighbors(answer(state_cell("apartment_viewing", "collect_details", n=9)), pooled)
    assert any(said in note for note in table.notes)
    assert (table.extras["pooled_latency"] is None) == (not pooled.turns)


def test_what_fails_in_a_state_and_how_is_its_first_sentence() -> None:
    cell = state_cell("apartment_viewing", "collect_details", n=72, dwell_turns=3.3)._replace(
        blames={"hand-off": 41, "dead end": 31},
    )
    around = replace(answer(cell), ends=Terminus(31, 0.43, 1.0, 31, {"hangup": 20, "loop": 11}), elsewhere=1.3)
    assert neighbors(around).lead == (
        "FAILS 100%: 41 handed to a human, 31 end here. 3.3 turns a visit (elsewhere 1.3)."
    )
    # Where some that end there fail elsewhere, or are served, it does not say that these end here.
    assert "31 dead ends" in neighbors(replace(around, ends=Terminus(33, 0.5))).lead
    one = cell._replace(n=20, blames={"dead end": 1})
    ends = Terminus(1, 0.05)
    assert neighbors(replace(around, cell=one, ends=ends, elsewhere=None)).lead == "FAILS 5%: 1 ends here."
    assert neighbors(replace(around, elsewhere=3.0)).lead == "FAILS 100%: 41 handed to a human, 31 end here."
    asked = cell._replace(blames={"missing action": 1}, asks_steps=True)
    assert neighbors(replace(around, cell=asked, elsewhere=None)).lead == (
        "1 failed call is blamed on it: missing action 1."
    )
    assert neighbors(replace(around, cell=cell._replace(blames={}), elsewhere=None)).lead == ""
    assert neighbors(answer()).lead == ""


def test_which_states_were_never_reached_is_said_where_calls_were_lost() -> None:
    def behind(starved: float | None, reached: float | None) -> dict[str, object]:
        return {"state": "scheduled", "through": 1.0, "reached": reached, "starved": starved, "n": 9}

    assert never_reached([behind(72.0, 1.0), behind(69.7, 0.97)]) == (
        "never reached because of it: scheduled 72 · scheduled about 70"
    )
    assert never_reached([behind(0.3, 0.5), behind(None, None)]) == ""


def test_calls_that_begin_and_end_have_rows_that_lead_to_them() -> None:
    around = replace(
        answer(), starts=Terminus(3, 0.05, None, 3), ends=Terminus(7, 0.1, 0.5, 7, {"hangup": 4, "terminal": 3})
    )
    rows = {row.id: row for row in neighbors(around).rows}
    ended, start = rows["out:ended"], rows["in:start"]
    assert ended.record == {
        "direction": "out", "state": None, "count": 7, "share": 0.1, "stall": 0.5, "n": 7, "outcome": "ended",
        "stop_reasons": {"hangup": 4, "terminal": 3}, "suspicion": None, "p": None,
    }  # fmt: skip
    assert (start.record["direction"], start.record["state"], start.record["outcome"]) == ("in", None, "start")
    assert (ended.severity["stall"], ended.thin, ended.where) == ("bad", False, "")
    flow = "flow=apartment_viewing errored=no (state=collect_details"
    assert [
        rows[row].leads for row in ("in triage", "in:start", "self collect_details", "out confirm", "out:ended")
    ] == [
        f"{flow} came_from=triage)",
        f"{flow} came_from=·)",
        f"{flow} went_to=collect_details)",
        f"{flow} went_to=confirm)",
        f"{flow} went_to=·)",
    ]
