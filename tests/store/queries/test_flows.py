"""The flow matrix: from sums or from calls the same, and the same as by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.facts import call, fresh, grouped_by, put, verdict
from tests.support.random_stores import ASPECTS, SHOWN, World, billionths, grouped, selected, world
from tests.support.recorded_queries import recorded_queries
from tests.surface.store import ConversationFacts, FlowCell, Store, UsageError, flow_cells, operability
from tests.surface.tui import parse

# Filters that hold of every call, and yet make the store look at sums by run, or at the calls themselves.
BY_RUN = "!run=nowhere"
BY_CALL = "trial>=0"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def by_hand(made: World, calls: list[ConversationFacts], judges: tuple[str, ...] = SHOWN) -> dict[str, object]:
    counted = [facts for facts in calls if not facts.errored]
    judged = [made.judged(facts) for facts in counted]
    sums = {name: billionths(facts.aspects.get(name) for facts in counted) for name in ASPECTS}
    scores = {name: billionths(row[name] for row in judged if name in row) for name in judges}
    means = {name: total / (1e9 * n) if n else None for name, (n, total) in sums.items()}
    if sums["correctness"][0] * 2 < len(counted):
        means["correctness"] = None
    return {
        "n": len(counted),
        "excluded": len(calls) - len(counted),
        "aspects": {name: found for name, found in sums.items() if found[0]},
        "humanness": {name: found for name, found in scores.items() if any(name in row for row in judged)},
        "successes": sum(facts.success is True for facts in counted),
        "failed": sum(facts.success is False for facts in counted),
        "operability": operability(
            means["correctness"], means["completion"], means["errors"], means["latency_p95"],
            {name: total / (1e9 * n) for name, (n, total) in scores.items() if n},
        ),
    }  # fmt: skip


def in_store(cell: FlowCell) -> dict[str, object]:
    return {
        "n": cell.n,
        "excluded": cell.excluded,
        "aspects": {name: (measure.n, measure.total) for name, measure in cell.aspects.items()},
        "humanness": {name: (measure.n, measure.total) for name, measure in cell.humanness.items()},
        "successes": cell.success.total // 10**9,
        "failed": cell.failed,
        "operability": cell.operability,
    }


@settings(max_examples=examples(12))
@given(st.integers(0, 10**6))
def test_sums_and_calls_give_the_same_matrix_as_plain_python(seed: int) -> None:
    made = world(seed)
    wanted = grouped(made.calls, lambda facts: (facts.flow, facts.agent_model))
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        for expression in ("", BY_RUN, BY_CALL, f"{BY_RUN} {BY_CALL}"):
            cells = flow_cells(store, parse(expression))
            found = {tuple(cell.keys.values()): in_store(cell) for cell in cells}
            assert found == {key: by_hand(made, calls) for key, calls in wanted.items()}, expression
            intervals = [{name: one.interval() for name, one in cell.aspects.items()} for cell in cells]
            assert intervals == [
                {name: one.interval() for name, one in cell.aspects.items()} for cell in flow_cells(store)
            ]


@settings(max_examples=examples(6))
@given(
    st.integers(0, 10**6),
    st.sampled_from(
        ["run=night-1", "persona:h", "state=greet stall=1", "flow:dent | agent:o", "completed=true | trial>1"]
    ),
    st.sampled_from(
        [
            ("flow", "agent"),
            ("agent",),
            ("flow", "run"),
            ("flow", "persona"),
            ("archetype",),
            ("agent", "stop_reason"),
            (),
        ]
    ),
)
def test_any_filter_and_any_rows_give_what_python_gives(seed: int, expression: str, by: tuple[str, ...]) -> None:
    made = world(seed)
    archetype = {"dental": "booking", "DENTAL-2": "booking"}
    wanted = grouped(
        selected(made, parse(expression)),
        lambda facts: tuple(
            archetype.get(facts.flow) if name == "archetype" else grouped_by(facts, name) for name in by
        ),
    )
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        found = {tuple(cell.keys.values()): in_store(cell) for cell in flow_cells(store, parse(expression), by=by)}
    assert found == {key: by_hand(made, calls) for key, calls in wanted.items()}


def test_the_default_matrix_reads_totals_and_never_calls(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1"), call("c2", agent="model-b")])
    with recorded_queries(store) as statements:
        flow_cells(store, parse("flow:view"))
    tables = " ".join(statements)
    assert '"aspect_total"' in tables
    assert not any(f'"{name}"' in tables for name in ("conversation", "aspect_score", "aspect_rollup"))


def test_a_filter_on_runs_reads_the_sums_by_run(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1"), call("c2", run="night-2"), call("c3", run="night-2")])
    with recorded_queries(store) as statements:
        [cell] = flow_cells(store, parse("run=night-2"), trend=True)
    assert cell.n == 2
    assert '"aspect_rollup"' in " ".join(statements)
    assert '"conversation"' not in " ".join(statements)


def test_errored_calls_are_counted_and_in_no_mean(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1"), call("c2", errored=True, aspects={"correctness": 0.0})])
    put(store, "verdicts.jsonl", [verdict("c1", 8.0, line=1), verdict("c2", 1.0, line=2)])
    [cell] = flow_cells(store)
    assert (cell.n, cell.excluded) == (1, 1)
    assert cell.aspects["correctness"].mean == 10
    assert cell.humanness["codex"].mean == 8


def test_a_cell_of_errored_calls_alone_is_there_without_means(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1", errored=True)])
    [cell] = flow_cells(store)
    assert (cell.n, cell.excluded, cell.operability, dict(cell.aspects)) == (0, 1, None, {})


def test_worst_operability_comes_first_and_the_not_measured_last(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            call("c1", flow="good"),
            call("c2", flow="unknown", aspects={}),
            call("c3", flow="bad", aspects={"correctness": 0.0}),
            call("c4", flow="also bad", aspects={"correctness": 0.0}),
        ],
    )
    assert [cell.keys["flow"] for cell in flow_cells(store)] == ["also bad", "bad", "good", "unknown"]


def test_a_judge_that_changed_its_prompt_is_two_judges(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    versions = [("aaaaaaaa1", 2.0), ("aaaaaaaa2", 4.0), ("bbbbbbbbbb", 6.0), (None, 8.0)]
    scores = [verdict("c1", score, prompt_hash=prompt, line=line) for line, (prompt, score) in enumerate(versions)]
    put(store, "verdicts.jsonl", [*scores, verdict("c1", 9.0, judge="gemini", prompt_hash="cafe", line=9)])
    [cell] = flow_cells(store)
    means = {judge: measure.mean for judge, measure in cell.humanness.items()}
    assert means == {"codex": 8.0, "codex#aaaaaaaa1": 2.0, "codex#aaaaaaaa2": 4.0, "codex#bbbbbb": 6.0, "gemini": 9.0}


@pytest.mark.parametrize(
    ("expression", "judges"),
    [
        ("judge:codex", ["codex#aaaaaa", "codex#bbbbbb"]),
        ("judge=codex", ["codex#aaaaaa", "codex#bbbbbb"]),
        ("judge=codex#aaaaaa", ["codex#aaaaaa"]),
        ("!judge=codex", ["gemini"]),
        ("judge!=codex", ["gemini"]),
        ("judge:codex judge:/b+$/", ["codex#bbbbbb"]),
        ("judge=nobody", []),
    ],
)
def test_chosen_judges_alone_are_shown_and_count(expression: str, judges: list[str], store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    scores = [
        verdict("c1", 0.0, prompt_hash="aaaaaaaa", line=1),
        verdict("c1", 0.0, prompt_hash="bbbbbbbb", line=2),
        verdict("c1", 10.0, judge="gemini", line=3),
    ]
    put(store, "verdicts.jsonl", scores)
    [cell] = flow_cells(store, judges=parse(expression))
    assert sorted(cell.humanness) == judges
    humanness = {judge: measure.mean for judge, measure in cell.humanness.items()}
    assert cell.operability == operability(10, 10, 7.5, 0.7, humanness)


def test_what_a_judge_says_of_other_aspects_is_not_humanness(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    put(store, "verdicts.jsonl", [verdict("c1", 1.0, aspect="politeness")])
    [cell] = flow_cells(store)
    assert dict(cell.humanness) == {}
    assert "politeness" not in cell.aspects


def test_what_a_judge_says_of_what_is_computed_moves_no_quality(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1"), call("c2")])
    put(store, "verdicts.jsonl", [verdict("c1", 0.0, aspect=aspect) for aspect in ("correctness", "completion")])
    qualities = dict(store.execute_sql("SELECT name, quality FROM conversation"))
    assert qualities["c1"] == qualities["c2"]
    [cell] = flow_cells(store)
    assert (cell.aspects["correctness"].n, cell.aspects["correctness"].mean) == (2, 10.0)


def test_two_models_behind_one_name_are_two_judges(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    scores = [verdict("c1", 2.0, model="gpt-5", line=1), verdict("c1", 8.0, model="gpt-5-mini", line=2)]
    put(store, "verdicts.jsonl", scores)
    [cell] = flow_cells(store)
    assert sorted(measure.mean or 0.0 for measure in cell.humanness.values()) == [2.0, 8.0]


def test_an_unscored_verdict_is_a_judge_without_a_mean(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    put(store, "verdicts.jsonl", [verdict("c1", None)])
    [cell] = flow_cells(store)
    assert cell.humanness["codex"].mean is None


def test_the_trend_runs_through_the_last_runs_in_order_of_time(store: Store) -> None:
    moments = {"z-first": 100, "a-second": 200, "m-third": 300, "undated": None}
    calls = [
        call(f"c-{run}-{number}", run=run, started_at=started, aspects={"correctness": 10.0 * (number < place)})
        for place, (run, started) in enumerate(moments.items())
        for number in range(4)
    ]
    put(store, "calls.jsonl", [*calls, call("other", run="m-third", flow="rare", started_at=301)])
    cells = {cell.keys["flow"]: cell for cell in flow_cells(store, trend=True)}
    expected = [0.0, 0.25, 0.5, 0.75]
    assert list(cells["viewing"].trend) == expected
    assert [value is None for value in cells["rare"].trend] == [True, True, False, True]
    [cell] = flow_cells(store, parse("run:second | run:third flow:viewing"), trend=True)
    assert list(cell.trend) == expected[1:3]
    assert all(not cell.trend for cell in flow_cells(store))


def test_the_trend_is_ten_runs_long_at_most(store: Store) -> None:
    put(store, "calls.jsonl", [call("c", run=f"r{number:02}", started_at=number) for number in range(25)])
    [cell] = flow_cells(store, trend=True)
    assert len(cell.trend) == 10


def test_rows_by_what_calls_do_not_have_are_refused(store: Store) -> None:
    with pytest.raises(UsageError, match="weather"):
        flow_cells(store, by=("flow", "weather"))


def test_an_empty_store_has_no_cells(store: Store) -> None:
    assert flow_cells(store, trend=True) == []
