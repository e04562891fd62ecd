"""One way from a request to a table: what is narrowed, what is sorted, what is cut, and what is said of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surface.store import Store, open_store
from tests.surface.tui import (
    BY,
    PAGE,
    FilterError,
    LazyRows,
    Request,
    Row,
    Table,
    UsageError,
    dump_command,
    resolve,
    run_steps,
    show,
    views,
)


@pytest.fixture
def store(tiny: Path) -> Iterator[Store]:
    with open_store(tiny) as opened:
        yield opened


def names(table: Table, *keys: str) -> list[tuple[object, ...]]:
    return [tuple(row.record[key] for key in keys) for row in table.rows]


LISTS = [view.name for view in views() if view.name not in ("neighbors", "conversation") and not view.sides]


def test_views_are_found_by_name_and_by_alias() -> None:
    aliases = {"matrix": "flows", "segment-matrix": "segments", "state-matrix": "states", "analyze": "worklist"}
    aliases |= {"neighbours": "neighbors", "reading-list": "sample"}
    assert {alias: resolve(alias).name for alias in aliases} == aliases
    assert [resolve(view.name) for view in views()] == list(views())


def test_no_view_is_called_on_screen_what_another_one_is_called() -> None:
    called = {view.name: {view.name, view.words.noun, view.words.label} - {""} for view in views()}
    shared = {
        (one, other) for one, words in called.items() for other, more in called.items() if one < other and words & more
    }
    assert not shared


def test_an_unknown_view_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"'flws' \(did you mean flows\?\); there are worklist, flows"):
        resolve("flws")


def test_a_command_that_is_no_view_is_told_as_it_is_typed() -> None:
    with pytest.raises(UsageError, match="gate is a command of its own: riff-tui gate --baseline A --candidate B"):
        resolve("gate")


def test_the_help_of_dump_names_every_view_that_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    from tests.surface.tui import run

    run(["dump", "--help"])
    told = " ".join(capsys.readouterr().out.split()).replace("- ", "-")
    assert [
        view.name for view in views() if not view.sides and f" {view.name}" not in told.partition("Options:")[0]
    ] == []
    assert ", ".join(view.name for view in views() if view.splits) in told


@pytest.mark.parametrize("view", LISTS)
def test_every_view_answers_and_says_how_to_print_it(store: Store, view: str) -> None:
    table = show(store, view, Request())
    assert table.dump == f"riff-tui dump {table.view}"
    assert len({row.id for row in table.rows}) == len(table.rows)
    assert all(column.help for column in table.columns)


def test_every_view_explains_itself_in_three_lines() -> None:
    for view in views():
        assert len(view.help) == 3
        assert all(line.endswith(".") for line in view.help)


def test_a_filter_on_rows_hides_and_counts_them(store: Store) -> None:
    table = show(store, "states", Request(where="stall>0.3"))
    assert names(table, "state") == [("collect_details",)]
    assert (table.counts.hidden, table.filter) == (3, "stall>0.3")


def test_a_filter_on_calls_narrows_what_stands_behind_the_rows(store: Store) -> None:
    table = show(store, "flows", Request(where="persona:hurried"))
    assert names(table, "flow", "agent", "n") == [("viewing", "gemini", 3), ("viewing", "qwen", 2)]
    assert table.counts.hidden == 1


def test_a_bare_word_looks_through_the_names_of_the_rows(store: Store) -> None:
    assert names(show(store, "states", Request(where="collect")), "state") == [("collect_details",)]
    assert names(show(store, "flows", Request(where="!weath")), "agent") == [("gemini",), ("qwen",)]


def test_errored_calls_are_counted_for_the_flows_on_show_only(store: Store) -> None:
    def said(where: str) -> list[str]:
        notes = show(store, "states", Request(where=where)).notes
        return [note for note in notes if note.startswith("Excluded")]

    assert said("flow=viewing") == ["Excluded: 1 errored call is not counted in averages."]
    assert said("flow=weather") == []


@pytest.mark.parametrize("key", BY)
@pytest.mark.parametrize("view", ["flows", "segments", "states"])
def test_rows_can_be_split_by_another_name(store: Store, view: str, key: str) -> None:
    table = show(store, view, Request(by=(key,)))
    assert all(key in row.record for row in table.rows)
    assert table.column(key) is not None
    assert sum(row.record["n"] for row in table.rows) == sum(
        row.record["n"] for row in show(store, view, Request()).rows
    )
    assert len({row.where for row in table.rows}) == len(table.rows)


def test_flows_have_a_row_for_exactly_what_is_asked_for(store: Store) -> None:
    by_flow = show(store, "flows", Request(by=("flow",)))
    assert names(by_flow, "flow", "n") == [("viewing", 9), ("weather", 10)]
    assert by_flow.title.startswith("Evaluation matrix: (flow) ×")
    assert by_flow.rows[0].where == "flow=viewing"
    assert "agent" not in by_flow.rows[0].record
    together = show(store, "flows", Request(by=("agent", "flow")))
    assert [column.key for column in together.columns[:2]] == ["agent", "flow"]


def test_a_filter_by_a_name_that_the_rows_have_not_narrows_their_calls(store: Store) -> None:
    every = {row.id: row.record["n"] for row in show(store, "flows", Request(by=("run",))).rows}
    (row,) = show(store, "flows", Request(where="flow=viewing agent:gem", by=("flow",))).rows
    assert row.record["n"] == show(store, "flows", Request(where="flow=viewing agent:gem")).rows[0].record["n"]
    narrowed = show(store, "flows", Request(where="flow=viewing", by=("run",)))
    assert narrowed.rows
    assert all(row.record["n"] <= every[row.id] for row in narrowed.rows)


def test_where_of_a_row_leads_to_the_calls_behind_it(store: Store) -> None:
    for view in ("flows", "states", "segments"):
        for row in show(store, view, Request(by=("persona",))).rows:
            calls = show(store, "conversations", Request(where=f"{row.where} errored=no"))
            assert len(calls.rows) == row.record["n"], row.where


@pytest.mark.parametrize("request_", [Request(by=("moon",)), Request(by=("flow", "state")), Request(limit=-1)])
def test_a_request_that_makes_no_sense_is_refused(store: Store, request_: Request) -> None:
    with pytest.raises(UsageError):
        show(store, "flows", request_)


def test_a_view_whose_rows_cannot_be_split_says_which_can(store: Store) -> None:
    able = "those of flows, segments, states, funnel, routes, coverage, tools, repeats can"
    with pytest.raises(UsageError, match=f"the rows of runs cannot be split; {able}"):
        show(store, "runs", Request(by=("agent",)))


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("flow", ["viewing", "viewing", "weather"]),
        ("-n", [10, 6, 3]),
        ("n", [3, 6, 10]),
        ("humanness.codex", [3.0, None, None]),
        ("-hum:codex", [3.0, None, None]),
        ("oper", [4.0, 9.941666666667, 9.958333333333]),
        ("-excluded", [1, 0, 0]),
    ],
)
def test_rows_are_sorted_by_any_column_and_the_unmeasured_come_last(
    store: Store, sort: str, order: list[object]
) -> None:
    table = show(store, "flows", Request(sort=sort))
    key = {"-hum:codex": "humanness.codex", "oper": "operability"}.get(sort, sort.removeprefix("-"))
    column = table.column(key)
    assert column is not None
    assert [column.value(row.record) for row in table.rows] == order


def test_rows_alike_keep_the_order_of_the_view(store: Store) -> None:
    table = show(store, "states", Request(sort="-segment"))
    plain = [row.id for row in show(store, "states", Request()).rows]
    for segment in {row.record["segment"] for row in table.rows}:
        alike = [row.id for row in table.rows if row.record["segment"] == segment]
        assert alike == [row for row in plain if row in alike]


def test_an_unknown_column_is_answered_with_those_that_there_are(store: Store) -> None:
    with pytest.raises(UsageError, match=r"no column moon here; there are flow, agent, operability"):
        show(store, "flows", Request(sort="-moon"))
    with pytest.raises(UsageError, match=r"no column moon; there are run, conversation"):
        show(store, "conversations", Request(sort="moon"))
    with pytest.raises(UsageError, match="worklist cannot be sorted"):
        show(store, "worklist", Request(sort="rank"))


def test_a_limit_cuts_and_counts(store: Store) -> None:
    table = show(store, "states", Request(limit=1))
    assert (len(table.rows), table.counts.hidden) == (1, 3)
    assert show(store, "flows", Request(limit=0)).counts.hidden == 3


def test_the_limit_of_the_worklist_is_one_of_each_list(store: Store) -> None:
    table = show(store, "worklist", Request(limit=1))
    assert [row.record["list"] for row in table.rows] == ["flows", "segments", "states"]


def test_successors_are_told_where_a_flow_is_named(store: Store) -> None:
    notes = show(store, "states", Request(where="flow=viewing stall>0.3")).notes
    assert notes[-1] == "collect_details → confirm 5, escalated 1"
    assert not any("→" in note for note in show(store, "states", Request(where="!flow=weather")).notes)


def test_the_title_says_which_flows_a_matrix_is_about(store: Store) -> None:
    titles = {where: show(store, "states", Request(where=where)).title for where in ("", "flow=viewing", "n>1")}
    assert titles == {
        "": "Per-state quality: all flows (worst first)",
        "flow=viewing": "Per-state quality: viewing (worst first)",
        "n>1": "Per-state quality: filtered flows (worst first)",
    }


def test_judges_choose_columns(store: Store) -> None:
    assert show(store, "flows", Request(where="judge:codex")).column("humanness.codex") is not None
    table = show(store, "flows", Request(where="judge:gemini"))
    assert (len(table.rows), table.column("humanness.codex")) == (3, None)


@pytest.mark.parametrize(
    ("where", "complaint"),
    [
        ("", "needs flow= and state= in the filter, such as --where 'flow="),
        ("flow=viewing", "needs state= in the filter"),
        ("flow=viewing flow=weather state=greet", "names two"),
        ("flow=viewing | state=greet", "needs flow= and state="),
    ],
)
def test_neighbors_need_a_state(store: Store, where: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        show(store, "neighbors", Request(where=where))


@pytest.mark.parametrize(
    ("where", "calls", "n"),
    [
        ("segment=collect", 9, 9),
        ("stall=1", 3, 3),
        ("(segment=collect stall=1) agent=gemini", 3, 3),
        ("!stall=1", 6, 6),
        ("(stall=1 | persona:patient) !guard_error>0", 4, 4),
        ("((state=collect_details stall=1) | agent=qwen)", 6, 6),
        ("!(state=confirm) (stall=1)", 3, 3),
        ("run=run-2", 3, 3),
    ],
)
def test_what_is_said_of_states_beside_a_named_one_is_said_of_it(store: Store, where: str, calls: int, n: int) -> None:
    table = show(store, "neighbors", Request(where=f"flow=viewing state=collect_details {where}"))
    listed = show(store, "conversations", Request(where=f"flow=viewing state=collect_details errored=no {where}"))
    assert (table.extras["calls"], len(listed.rows)) == (calls, calls)
    assert (table.extras["metrics"] or {"n": 0})["n"] == n
    if where == "stall=1":
        assert table.extras["metrics"]["stall"] == 1.0
        assert names(table, "direction", "state", "n") == [("in", "greet", 3), ("out", None, 3)]


def test_a_large_cell_leaves_its_latencies_to_those_who_can_wait(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riff_tui.views.neighbors.QUICK_CALLS", 2)
    monkeypatch.setattr("riff_store.queries.latencies.CHUNK", 4)
    where = "flow=viewing state=collect_details"
    at_once = show(store, "neighbors", Request(where=where, defer=True))
    whole = show(store, "neighbors", Request(where=where))
    assert at_once.deferred is not None
    assert (at_once.rows, at_once.extras["pooled_latency"]) == (whole.rows, None)
    steps = at_once.deferred()
    assert [next(steps), next(steps)] == [
        "reading latencies: 4 of 9 transcripts", "reading latencies: 8 of 9 transcripts",
    ]  # fmt: skip
    assert run_steps(steps) == whole
    assert (whole.deferred, whole.dump) == (None, f"riff-tui dump neighbors --where '{where}'")


def test_neighbors_of_some_calls_only(store: Store) -> None:
    table = show(store, "neighbors", Request(where="flow=viewing state=collect_details agent=qwen"))
    assert names(table, "direction", "state", "count") == [("in", "greet", 3), ("out", "confirm", 3)]
    assert table.extras["calls"] == 3


@pytest.mark.parametrize(
    "where",
    [
        "run=run-1 conversation=c-0003",
        "conversation=c-0003",
        "c-0003",
        "final_state=escalated",
        "conversation=c-0003 run:1",
    ],
)
def test_a_conversation_is_found_by_whatever_selects_it(store: Store, where: str) -> None:
    assert show(store, "conversation", Request(where=where)).extras["call"]["conversation"] == "c-0003"


def test_the_beginning_of_an_id_is_enough_where_it_is_the_only_one(store: Store) -> None:
    table = show(store, "conversation", Request(where="conversation=c-000 agent=gemini final_state=escalated"))
    assert table.extras["call"]["conversation"] == "c-0003"


@pytest.mark.parametrize(
    ("where", "complaint"),
    [
        ("", "needs to know which one"),
        ("agent=gemini", "7 calls match this filter; name one of them, such as 'run=run-1 conversation=c-0000' or"),
        ("conversation=c-00", "20 calls match"),
        ("conversation=nobody", "no call matches this filter"),
    ],
)
def test_a_filter_that_selects_no_single_call_says_what_to_do(store: Store, where: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=re.escape(complaint)):
        show(store, "conversation", Request(where=where))


def test_a_broken_filter_names_the_position(store: Store) -> None:
    with pytest.raises(FilterError, match="filter, character 6"):
        show(store, "flows", Request(where="flow=("))


def test_calls_are_sorted_by_what_happened_in_a_state(store: Store) -> None:
    table = show(store, "conversations", Request(where="flow=viewing", sort="-stall", limit=3))
    assert {row.record["final_state"] for row in table.rows} == {"collect_details"}


def test_skipped_inputs_cannot_be_filtered_by_calls(store: Store) -> None:
    assert len(show(store, "skipped", Request(where="reason:JSON")).rows) == 1
    with pytest.raises(UsageError, match="skipped can be filtered by path, line, kind"):
        show(store, "skipped", Request(where="flow=viewing"))


@pytest.mark.parametrize(
    "request_",
    [
        Request(),
        Request(where="flow='it''s' | agent:\"x y\""),
        Request(where="flow=a", by=("agent", "run"), sort="-stall", limit=3),
    ],
)
def test_the_dump_command_survives_the_shell(request_: Request) -> None:
    words = shlex.split(dump_command("states", request_))
    assert words[:3] == ["riff-tui", "dump", "states"]
    assert ("--where" in words) == bool(request_.where)
    if request_.where:
        assert words[words.index("--where") + 1] == request_.where


def test_a_trend_is_added_where_it_is_asked_for(store: Store) -> None:
    assert "trend" not in show(store, "flows", Request()).rows[0].record
    rows = show(store, "flows", Request(trend=True)).rows
    assert [share for share in rows[0].record["trend"] if share is not None] == [rows[0].record["success_rate"]]
    assert len({len(row.record["trend"]) for row in rows}) == 1


def test_a_window_fetches_only_the_pages_that_are_looked_at() -> None:
    asked: list[tuple[int, int]] = []
    rows = [Row(str(number), {}) for number in range(1000)]

    def fetch(offset: int, limit: int) -> list[Row]:
        asked.append((offset, limit))
        return rows[offset : offset + limit]

    window = LazyRows(len(rows), fetch)
    assert (len(window), asked) == (1000, [])
    assert [window[0].id, window[5].id, window[-1].id] == ["0", "5", "999"]
    assert asked == [(0, PAGE), (3 * PAGE, 1000 - 3 * PAGE)]
    assert [row.id for row in window[254:258]] == ["254", "255", "256", "257"]
    assert list(window) == rows
    with pytest.raises(IndexError):
        window[1000]


def test_every_row_around_a_state_leads_to_the_calls_that_it_counts(store: Store) -> None:
    for state in ("greet", "collect_details", "confirm"):
        for row in show(store, "neighbors", Request(where=f"flow=viewing state={state}")).rows:
            listed = show(store, "conversations", Request(where=row.leads)).rows
            # No call of the sample takes a step twice.
            assert len(listed) == row.record["count"]
            if row.record["state"] is None:
                assert len(listed) == row.record["n"] == sum(row.record["stop_reasons"].values())
