"""How the sides of voice calls shared the line, as the matrix of flows shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import spoken_calls
from tests.support.facts import call, fresh, put
from tests.support.golden import printed
from tests.surface.explorer import PALETTES, conversation_lines
from tests.surface.store import INTERACTION_METRICS, POOLED, ConversationFacts, Interaction, Store
from tests.surface.tui import UNICODE, Request, Table, show

GIVES_WAY = Interaction(calls=1, response=6, response_latency=7.5, yielded=6, no_yield=2, yield_latency=3.0)
TALKS_ON = Interaction(calls=1, response=1, no_response=2, response_latency=2.0, no_yield=3, agent_interruptions=4)
BROKEN = Interaction(calls=1, no_response=12)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "calls.db") as opened:
        put(opened, "/in/a.json", facts())
        yield opened


def facts() -> Iterator[ConversationFacts]:
    for agent, heard in (("polite", GIVES_WAY), ("rude", TALKS_ON)):
        yield from (call(f"{agent}-{number}", agent=agent, interaction=heard) for number in range(6))
    yield call("polite-broken", agent="polite", interaction=BROKEN, errored=True)
    yield from (call(f"text-{number}", agent="texter") for number in range(6))


def header(table: Table) -> list[str]:
    return ["".join(text for text, _ in line) for line in conversation_lines(table, 120, UNICODE, PALETTES["ansi"])]


def flows(store: Store, **asked: object) -> Table:
    return show(store, "flows", Request(**asked))  # type: ignore[arg-type]


def test_a_filter_of_rows_leaves_out_voice_calls_from_what_is_noted_too(store: Store) -> None:
    (noted,) = (note for note in flows(store, where="agent=rude").notes if note.startswith("Interaction"))
    assert noted.startswith("Interaction, over all events of 6 voice calls")
    assert not [note for note in flows(store, where="agent=texter").notes if note.startswith("Interaction")]


def test_a_row_holds_both_panels(store: Store) -> None:
    rows = {row.record["agent"]: row.record for row in flows(store).rows}
    assert rows["polite"]["interaction"]["response_rate"] == 1.0
    assert rows["polite"]["interaction"]["counts"]["n_simulations"] == 6
    assert rows["polite"]["interaction_all"]["response_rate"] == 36 / 48
    assert rows["rude"]["interaction"] == rows["rude"]["interaction_all"]
    assert rows["rude"]["agent_interruption_rate"] == rows["rude"]["interaction"]["agent_interruption_rate"] == 4 / 3
    assert rows["texter"]["interaction"] is None
    assert rows["texter"]["interaction_all"] is None


def test_figures_are_columns_to_choose_where_some_call_has_them(store: Store, tmp_path: Path) -> None:
    columns = {column.key: column for column in flows(store).columns}
    assert POOLED.keys() <= columns.keys()
    assert not any(columns[key].shown for key in POOLED)
    with fresh(tmp_path / "text.db") as other:
        put(other, "/in/a.json", [call("c-1")])
        table = flows(other)
    assert not POOLED.keys() & {column.key for column in table.columns}
    assert table.rows[0].record["interaction"] is None
    assert not any(note.startswith("Interaction") for note in table.notes)


def test_events_stand_beside_a_figure_and_few_of_them_are_marked(store: Store) -> None:
    shown = {row.record["agent"]: row.display for row in flows(store).rows}
    assert shown["polite"]["response_latency_mean"] == "1.25 s (36)"
    assert shown["polite"]["yield_rate"] == "75% (48)"
    assert shown["rude"]["response_latency_mean"] == "2.00 s (6~)"
    assert "yield_latency_mean" not in shown["rude"]


@pytest.mark.parametrize(
    ("asked", "agents"),
    [
        ({"where": "yield_rate<0.5"}, ["rude"]),
        ({"where": "yield_rate<50%"}, ["rude"]),
        ({"where": "r_y>=0.75"}, ["polite"]),
        ({"where": "response_rate=·"}, ["texter"]),
        ({"sort": "-agent_interruption_rate"}, ["rude", "polite", "texter"]),
    ],
)
def test_rows_are_filtered_and_sorted_by_them(asked: dict[str, object], agents: list[str], store: Store) -> None:
    assert [row.record["agent"] for row in flows(store, **asked).rows] == agents


def test_a_note_tells_the_figures_and_what_errored_calls_would_change(store: Store) -> None:
    told = [note for note in flows(store).notes if note.startswith("Interaction")]
    assert told == [
        "Interaction, over all events of 12 voice calls (their number in brackets, ~ below 10):"
        " resp_lat 1.36 s (42) · yield_lat 0.50 s (36) · resp_rate 78% (54) · yield_rate 55% (66)"
        " · interrupts 0.44 (54).",
        "Interaction with 1 errored call as well: resp_rate 64% (66) · interrupts 0.36 (66).",
    ]


def test_a_run_has_a_panel_of_its_own(tmp_path: Path) -> None:
    with spoken_calls.made(tmp_path / "calls.db") as store:
        rows = {row.record["run"]: row.record for row in flows(store, by=("run",)).rows}
    for run, record in rows.items():
        there = spoken_calls.together([made for made in spoken_calls.calls() if made.run_id == run])
        assert there is not None
        assert record["interaction_all"]["counts"]["n_simulations"] == there.calls
        assert record["interaction_all"]["counts"]["response_total"] == there.response_total


def test_formats_of_data_have_every_figure(store: Store) -> None:
    table = flows(store)
    assert all(metric.key in printed(table, "csv").splitlines()[0] for metric in INTERACTION_METRICS)
    keys = {column["key"]: column for column in json.loads(printed(table, "json"))["columns"]}
    assert all(keys[metric.key]["better"] == metric.better for metric in INTERACTION_METRICS)


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        (GIVES_WAY, "answered 6/6 after 1.25 s · yielded 6/8 after 0.50 s"),
        (TALKS_ON, "answered 1/3 after 2.00 s · yielded 0/3 · interrupted 4×"),
        (
            Interaction(calls=1, backchannel_correct=2, backchannel_error=1, non_directed_error=1),
            "unmoved by 2/3 backchannels, 0/1 words to others",
        ),
        (Interaction(calls=1), "no event"),
    ],
)
def test_a_call_tells_its_own_events(heard: Interaction, said: str, tmp_path: Path) -> None:
    with fresh(tmp_path / "one.db") as one:
        put(one, "/in/a.json", [call("c-1", interaction=heard)])
        table = show(one, "conversation", Request(where="conversation=c-1"))
    assert f"Interaction: {said}" in table.notes
    found = json.loads(printed(table, "json"))["interaction"]
    assert found["counts"]["response_total"] == heard.response_total
    assert found["sums"]["response_latency"] == heard.response_latency
    assert any(said in line for line in header(table))


def test_a_call_without_a_record_tells_nothing(tmp_path: Path) -> None:
    with fresh(tmp_path / "one.db") as one:
        put(one, "/in/a.json", [call("c-1")])
        table = show(one, "conversation", Request(where="conversation=c-1"))
    assert "interaction" not in table.extras
    assert not any(note.startswith("Interaction") for note in table.notes)


@pytest.mark.parametrize("asked", [{"sort": "yield_rate"}, {"where": "yield_rate<1"}, {"where": "!yield_rate>=99%"}])
def test_a_figure_that_is_asked_for_is_shown(asked: dict[str, object], store: Store) -> None:
    table = flows(store, **asked)
    shown = {column.key for column in table.columns if column.shown}
    assert shown & POOLED.keys() == {"yield_rate"}
    assert "75% (48)" in printed(table, "text")
