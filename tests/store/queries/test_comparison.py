"""Two sides compared, against the same computed by pandas and scipy from the facts."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.support.examples import examples
from tests.support.facts import call, fresh, grouped_by, put, verdict
from tests.support.random_stores import JUDGES, SHOWN, World, world
from tests.surface.store import (
    Comparison,
    ConversationFacts,
    Difference,
    SideError,
    Store,
    Term,
    compare,
    failures,
    flow_cells,
    operability,
    side,
    significance,
)

TASK = ["flow", "scenario", "persona", "trial"]
KINDS = {
    "success_rate": ("success", 1),
    "quality": ("quality", 0),
    "completion": ("completion", 10),
    "correctness": ("correctness", 0),
    "errors": ("errors", 0),
    "latency_p95": ("latency_p95", 0),
    "turn_count": ("turn_count", 0),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


# against pandas and scipy


def frame(made: World) -> pd.DataFrame:
    """The calls that count, a row each, with a column for each aspect and each judge."""
    rows = [
        {name: grouped_by(facts, name) for name in (*TASK, "run", "agent", "conversation")}
        | {f"x.{name}": value for name, value in facts.aspects.items()}
        | {f"x.{name}": value for name, value in kept(facts, made).items()}
        | {f"j.{name}": value for name, value in made.judged(facts).items()}
        for facts in made.calls
        if not facts.errored
    ]
    wanted = [*TASK, "run", "agent", "conversation", *(f"x.{source}" for source, _ in KINDS.values())]
    return pd.DataFrame(rows).reindex(columns=list(dict.fromkeys([*wanted, *(f"j.{name}" for name in SHOWN)])))


def kept(facts: ConversationFacts, made: World) -> dict[str, float | None]:
    """What the store keeps of a call beside its aspects, as docs/metrics.md, section 5, words it."""
    correctness, completion = facts.aspects.get("correctness"), facts.aspects.get("completion")
    success = None if facts.success is None else 10.0 * facts.success
    parts = (correctness, completion, facts.aspects.get("errors"), facts.aspects.get("latency_p95"))
    return {"success": success, "quality": operability(*parts, made.judged(facts))}


def expected(calls: pd.DataFrame, kind: str, a: str, b: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Every row that a comparison should have, by flow and column."""
    first, second = calls[calls[kind] == a], calls[calls[kind] == b]
    within = "agent" if kind == "run" else "run"
    shared = set(first["run"]) & set(second["run"])
    key = [*TASK, "within"]

    def with_task(side: pd.DataFrame) -> pd.DataFrame:
        side = side.assign(within=side[within] if kind == "run" else side["run"].where(side["run"].isin(shared), "-"))
        known = side["scenario"].notna() | side["persona"].notna()
        return side[known].fillna({"scenario": "-", "persona": "-"})

    one, other = with_task(first), with_task(second)
    without_persona = [name for name in key if name != "persona"]
    several = {
        tuple(row) for side in (one, other) for row in side[side.duplicated(without_persona)][without_persona].values
    }

    def alone(side: pd.DataFrame) -> pd.DataFrame:
        told = [row["scenario"] == "-" or tuple(row[without_persona]) in several for _, row in side.iterrows()]
        side = side.assign(persona=side["persona"].where(pd.Series(told, index=side.index, dtype=bool), "*"))
        return side[~side.duplicated(key, keep=False)]

    pairs = alone(one).merge(alone(other), on=key, suffixes=("_a", "_b"))
    columns = [(name, f"x.{source}", scale) for name, (source, scale) in KINDS.items()]
    columns += [(f"humanness {name}", f"j.{name}", 0) for name in SHOWN]
    found = {}
    for flow in sorted(set(first["flow"]) & set(second["flow"])):
        for name, column, scale in columns:
            one = first.loc[first["flow"] == flow, column].dropna().astype(float)
            other = second.loc[second["flow"] == flow, column].dropna().astype(float)
            both = pairs.loc[pairs["flow"] == flow, [f"{column}_a", f"{column}_b"]].dropna().astype(float)
            if len(one) or len(other):
                found[flow, name] = asked(one, other, both, scale)
    tested = [row for row in found.values() if row["p"] is not None]
    for row, adjusted in zip(tested, stats.false_discovery_control([row["p"] for row in tested]), strict=True):
        row["p_adjusted"] = adjusted
    return found


def asked(one: pd.Series, other: pd.Series, both: pd.DataFrame, scale: int) -> dict[str, Any]:
    on_pairs = len(both) > 0 and len(both) >= min(len(one), len(other)) / 2
    row: dict[str, Any] = {"pairs": len(both) if on_pairs else None, "p": None, "p_adjusted": None}
    if on_pairs:
        row |= {"alone": (len(one) - len(both), len(other) - len(both))}
        one, other = both.iloc[:, 0], both.iloc[:, 1]
    if scale:
        one, other = (one >= 10).astype(float) * scale, (other >= 10).astype(float) * scale
    row |= {"n": (len(one), len(other)), "a": one.mean(), "b": other.mean()}
    if not len(one) or not len(other):
        return row
    if on_pairs and scale:
        change = other.to_numpy() - one.to_numpy()
        up, down = int((change > 0).sum()), int((change < 0).sum())
        row["p"] = stats.binomtest(up, up + down, 0.5).pvalue if up + down else 1.0
    elif on_pairs:
        change = other.to_numpy() - one.to_numpy()
        row["p"] = significance.paired_means(change)  # against scipy in tests/store/test_statistics.py
        if len(change) > 1 and len(set(change)) > 1:
            row["interval"] = tuple(stats.ttest_1samp(change, 0).confidence_interval())
    elif scale:
        table = [[(side > 0).sum(), (side == 0).sum()] for side in (one, other)]
        row["p"] = stats.fisher_exact(table).pvalue
    else:
        row["p"] = significance.unpaired_means(one.to_numpy(), other.to_numpy())
        if min(len(one), len(other)) > 1 and max(one.nunique(), other.nunique()) > 1:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                row["interval"] = tuple(stats.ttest_ind(other, one, equal_var=False).confidence_interval())
    return row


def named(difference: Difference) -> tuple[str, str]:
    judge = f" {difference.judge}" if difference.judge is not None else ""
    return difference.flow, f"{difference.aspect}{judge}"


def check(found: Comparison, wanted: dict[tuple[str, str], dict[str, Any]]) -> None:
    assert {named(difference) for difference in found.differences} == set(wanted)
    assert found.tested == sum(row["p"] is not None for row in wanted.values())
    for difference in found.differences:
        row = wanted[named(difference)]
        assert difference.pairs == row["pairs"]
        assert (difference.a.n, difference.b.n) == row["n"]
        if row["p"] is None:
            assert difference.verdict == "not measured"
            assert (difference.effect, difference.p, difference.p_adjusted, difference.interval) == (None,) * 4
            continue
        assert difference.a.mean == pytest.approx(row["a"], abs=1e-8)
        assert difference.effect == pytest.approx(row["b"] - row["a"], abs=1e-8)
        assert difference.p == pytest.approx(row["p"], rel=1e-9)
        assert difference.p_adjusted == pytest.approx(row["p_adjusted"], rel=1e-9)
        assert (difference.verdict == "noise") == (row["p_adjusted"] > 0.05)
        if "alone" in row:
            assert (difference.alone_a, difference.alone_b) == row["alone"]
        if "interval" in row:
            most = math.inf if difference.aspect in ("latency_p95", "turn_count") else 10.0
            cut = (max(-most, row["interval"][0]), min(most, row["interval"][1]))
            assert difference.interval == pytest.approx(cut, rel=1e-6, abs=1e-6)


@settings(max_examples=examples(6), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000), st.sampled_from([60, 150]))
def test_two_sides_differ_as_pandas_and_scipy_say(tmp_path: Path, seed: int, size: int) -> None:
    made = world(seed, size)
    path = tmp_path / f"{seed}-{size}.db"
    path.unlink(missing_ok=True)
    with made.store(path) as store:
        check(compare(store, "night-1", "night-3"), expected(frame(made), "run", "night-1", "night-3"))
        check(compare(store, "agent:gemini", "agent:o'brien"), expected(frame(made), "agent", "gemini", "o'brien"))


def test_the_worlds_hold_paired_rows_and_others() -> None:
    found = [row for seed in range(5) for row in expected(frame(world(seed, 60)), "run", "night-1", "night-3").values()]
    assert {row["pairs"] is None for row in found} == {True, False}
    assert len(JUDGES) == len(SHOWN)


# by hand


def suite(run: str, n: int, good: int, **given: Any) -> list[ConversationFacts]:
    """So many calls of as many tasks, of which the first `good` succeed."""
    return [
        call(
            f"{run}-{given.get('flow', 'viewing')}-{number}",
            run=run,
            scenario=f"s{number}",
            aspects={"correctness": 10.0 if number < good else 0.0, "turn_count": 4.0},
            line=number,
            **given,
        )
        for number in range(n)
    ]


def only(found: Comparison, aspect: str) -> Difference:
    (row,) = [difference for difference in found.differences if difference.aspect == aspect]
    return row


def test_a_planted_regression_is_worse_and_nothing_else_is(store: Store) -> None:
    put(store, "a.jsonl", [*suite("before", 20, 20), *suite("before", 20, 20, flow="weather")])
    put(store, "b.jsonl", [*suite("after", 20, 10), *suite("after", 20, 20, flow="weather")])
    found = compare(store, "before", "after")
    assert [(row.flow, row.aspect, row.verdict) for row in found.differences if row.verdict != "noise"] == [
        ("viewing", "success_rate", "worse"),
        ("viewing", "quality", "worse"),
        ("viewing", "correctness", "worse"),
    ]
    row = next(row for row in found.differences if row.aspect == "success_rate")
    assert (row.pairs, row.only_a, row.only_b, row.both, row.neither) == (20, 0, 10, 0, 10)
    assert (row.effect, row.test) == (-0.5, "McNemar")
    assert row.p == 2 / 2**10
    assert row.p_adjusted == pytest.approx(row.p * 8 / 3)
    assert {turned.verdict for turned in compare(store, "after", "before").differences} == {"better", "noise"}


def test_what_is_not_better_or_worse_only_differs(store: Store) -> None:
    put(store, "a.jsonl", [call(f"a{n}", run="a", scenario=f"s{n}", aspects={"turn_count": 4.0}) for n in range(9)])
    put(store, "b.jsonl", [call(f"b{n}", run="b", scenario=f"s{n}", aspects={"turn_count": 5.0}) for n in range(9)])
    assert only(compare(store, "a", "b"), "turn_count").verdict == "differs"


def late(run: str, seconds: Sequence[float]) -> list[ConversationFacts]:
    """A call for each latency, of a task of its own."""
    return [call(f"{run}{n}", run=run, scenario=f"s{n}", aspects={"latency_p95": s}) for n, s in enumerate(seconds)]


def test_a_mean_is_tested_as_a_mean_whichever_way_most_calls_went(store: Store) -> None:
    put(store, "a.jsonl", late("a", [1.0] * 20))
    put(store, "b.jsonl", late("b", [0.9] * 19 + [90.0]))
    row = only(compare(store, "a", "b"), "latency_p95")
    assert (row.verdict, row.up, row.down) == ("noise", 1, 19)
    assert row.effect is not None
    assert row.effect > 0


def test_seconds_that_every_second_call_takes_longer_are_worse(store: Store) -> None:
    chance = random.Random(4)
    before = [chance.uniform(1, 2) for _ in range(80)]
    put(store, "a.jsonl", late("a", before))
    put(store, "b.jsonl", late("b", [seconds + 3 * (n % 2) for n, seconds in enumerate(before)]))
    row = only(compare(store, "a", "b"), "latency_p95")
    assert (row.verdict, row.test, row.up, row.down) == ("worse", "sign flips", 40, 0)
    assert row.interval == pytest.approx((1.164, 1.836), abs=0.001)


def test_the_interval_of_a_difference_stays_on_the_scale(store: Store) -> None:
    put(store, "calls.jsonl", [*suite("a", 3, 0), *suite("b", 3, 2)])
    row = only(compare(store, "a", "b"), "correctness")
    assert row.interval is not None
    assert row.interval[1] == 10.0
    assert row.interval[0] < 0


@pytest.mark.parametrize(("solved", "more"), [(9, None), (3, "A"), (20, "B")])
def test_a_comparison_says_who_solved_more(solved: int, more: str | None, store: Store) -> None:
    put(store, "a.jsonl", suite("a", 20, 11))
    put(store, "b.jsonl", suite("b", 20, solved))
    found = compare(store, "a", "b").solved
    assert found is not None
    assert (found.a, found.b, found.n_a, found.n_b, found.more) == (11, solved, 20, 20, more)


def test_who_solved_more_of_calls_without_partners_is_asked_flow_by_flow(store: Store) -> None:
    for run, solved in (("a", (2, 30)), ("b", (12, 39))):
        calls = [
            call(f"{run}-{flow}{n}", run=run, flow=flow, aspects={"correctness": 10.0 * (n < good)})
            for flow, good in zip(("hard", "easy"), solved, strict=True)
            for n in range(40)
        ]
        put(store, f"{run}.jsonl", calls)
    found = compare(store, "a", "b").solved
    assert found is not None
    assert (found.a, found.b, found.n_a, found.n_b, found.more, found.pairs) == (32, 51, 80, 80, "B", None)
    assert found.p < stats.fisher_exact([[30, 10], [39, 1]]).pvalue


def test_a_task_that_came_twice_makes_no_pair(store: Store) -> None:
    twice = call("again", run="a", scenario="s0", aspects={"correctness": 10.0})
    put(store, "a.jsonl", [*suite("a", 4, 4), twice])
    put(store, "b.jsonl", suite("b", 4, 4))
    row = only(compare(store, "a", "b"), "success_rate")
    assert (row.pairs, row.alone_a, row.alone_b) == (3, 2, 1)


def test_an_errored_call_takes_no_part_and_takes_no_partner_away(store: Store) -> None:
    put(store, "a.jsonl", [*suite("a", 4, 4), call("broke", run="a", scenario="s0", errored=True)])
    put(store, "b.jsonl", [*suite("b", 3, 3), call("broke", run="b", scenario="s3", errored=True)])
    found = compare(store, "a", "b")
    assert only(found, "success_rate").pairs == 3
    assert [(side.n, side.excluded) for side in (found.a, found.b)] == [(4, 1), (3, 1)]
    (flow,) = found.flows
    assert (flow.n_a, flow.n_b, flow.excluded_a, flow.excluded_b, flow.pairs) == (4, 3, 1, 1, 3)


def test_a_voice_that_was_drawn_anew_does_not_part_a_pair(store: Store) -> None:
    put(store, "a.jsonl", [call(f"a{n}", run="a", scenario=f"s{n}", persona="calm") for n in range(3)])
    put(store, "b.jsonl", [call(f"b{n}", run="b", scenario=f"s{n}", persona="brisk") for n in range(3)])
    assert only(compare(store, "a", "b"), "success_rate").pairs == 3


def test_personas_tell_calls_of_one_scenario_apart(store: Store) -> None:
    for run, personas in (("a", ("calm", "brisk")), ("b", ("brisk", "calm", "deaf"))):
        calls = [
            call(f"{run}-{persona}", run=run, scenario="s", persona=persona, aspects={"correctness": 10.0 * won})
            for persona, won in zip(personas, (1, 0, 0), strict=False)
        ]
        put(store, f"{run}.jsonl", calls)
    row = only(compare(store, "a", "b"), "correctness")
    assert (row.pairs, row.alone_a, row.alone_b) == (2, 0, 1)
    assert (row.a.mean, row.b.mean) == (5.0, 5.0)


def test_without_persona_and_scenario_calls_are_compared_unpaired(store: Store) -> None:
    put(store, "a.jsonl", [call(f"a{n}", run="a") for n in range(4)])
    put(store, "b.jsonl", [call(f"b{n}", run="b") for n in range(3)])
    found = {row.aspect: row for row in compare(store, "a", "b").differences}
    assert {row.pairs for row in found.values()} == {None}
    assert found["success_rate"].test == "Fisher"
    assert found["errors"].test == "permutation"
    assert found["success_rate"].only_a is None


@pytest.mark.parametrize(("pairs", "alone", "paired"), [(1, 1, True), (1, 2, False), (3, 3, True), (3, 4, False)])
def test_pairs_count_where_they_are_half_of_the_smaller_side(
    pairs: int, alone: int, paired: bool, store: Store
) -> None:
    for run in ("a", "b"):
        calls = [*suite(run, pairs, pairs), *(call(f"{run}-x{n}", run=run) for n in range(alone + 10 * (run == "b")))]
        put(store, f"{run}.jsonl", calls)
    assert only(compare(store, "a", "b"), "success_rate").pairs == (pairs if paired else None)


def test_one_call_a_side_is_noise_without_an_interval_of_its_mean(store: Store) -> None:
    put(store, "calls.jsonl", [*suite("a", 1, 1), *suite("b", 1, 0)])
    found = compare(store, "a", "b")
    assert {row.verdict for row in found.differences} == {"noise"}
    assert only(found, "correctness").interval is None
    assert only(found, "success_rate").interval is not None


def test_all_alike_is_noise(store: Store) -> None:
    put(store, "calls.jsonl", [*suite("a", 30, 30), *suite("b", 30, 30)])
    found = compare(store, "a", "b")
    assert {(row.verdict, row.effect, row.p) for row in found.differences} == {("noise", 0.0, 1.0)}


def test_a_flow_of_one_side_has_no_rows_and_is_named(store: Store) -> None:
    put(store, "a.jsonl", [*suite("a", 2, 2), *suite("a", 3, 1, flow="gone")])
    put(store, "b.jsonl", [*suite("b", 2, 2), *suite("b", 1, 1, flow="broken", errored=True)])
    put(store, "c.jsonl", suite("b", 1, 1, flow="new"))
    found = compare(store, "a", "b")
    assert {row.flow for row in found.differences} == {"viewing"}
    assert (found.only_in_a, found.only_in_b) == ({"gone": 3}, {"new": 1})


def test_a_side_on_which_nothing_is_left_is_compared_with_nothing(store: Store) -> None:
    put(store, "calls.jsonl", [*suite("a", 2, 2), *suite("b", 2, 2)])
    found = compare(store, "a", "b", Term("flow", "=", "nowhere"))
    assert (found.differences, found.a.n, found.b.n) == ([], 0, 0)


def test_two_versions_of_a_judge_are_two_rows_and_one_may_be_unmeasured(store: Store) -> None:
    put(store, "calls.jsonl", [*suite("a", 2, 2), *suite("b", 2, 2)])
    scores = [
        verdict(f"{run}-viewing-{n}", 5.0, run=run, judge="codex", prompt_hash=prompt, line=line)
        for line, (run, n, prompt) in enumerate([("a", 0, "p1"), ("b", 0, "p1"), ("a", 1, "p2"), ("a", 0, "p2")])
    ]
    put(store, "scores.jsonl", scores)
    rows = {row.judge: row for row in compare(store, "a", "b").differences if row.judge}
    assert {judge: (row.a.n, row.b.n, row.verdict) for judge, row in rows.items()} == {
        "codex#p1": (1, 1, "noise"),
        "codex#p2": (2, 0, "not measured"),
    }
    chosen = compare(store, "a", "b", judges=Term("judge", "=", "codex#p1"))
    assert {row.judge for row in chosen.differences} == {None, "codex#p1"}


def test_agents_are_paired_in_the_runs_that_they_share(store: Store) -> None:
    put(store, "1.jsonl", [*suite("r1", 3, 3, agent="x"), *[call("b" + c.conversation_id, run="r1", agent="y",
        scenario=c.scenario) for c in suite("r1", 3, 3)]])  # fmt: skip
    put(store, "2.jsonl", suite("r2", 3, 0, agent="x"))
    row = only(compare(store, "agent:x", "agent:y"), "success_rate")
    assert (row.pairs, row.a.mean, row.alone_a, row.alone_b) == (3, 1.0, 3, 0)


def test_agents_without_a_shared_run_are_paired_by_task(store: Store) -> None:
    put(store, "1.jsonl", [*suite("r1", 3, 3, agent="x"), *suite("r2", 3, 3, agent="y")])
    assert only(compare(store, "agent:x", "agent:y"), "success_rate").pairs == 3


def test_means_over_all_calls_are_those_of_the_matrix(tmp_path: Path) -> None:
    with world(3, 120).store(tmp_path / "w.db") as store:
        matrix = {cell.keys["flow"]: cell for cell in flow_cells(store, Term("run", "=", "night-1"), ("flow",))}
        for row in compare(store, "night-1", "night-2").differences:
            if row.pairs is None and row.judge is None and row.aspect in ("correctness", "errors", "latency_p95"):
                assert row.a.total == matrix[row.flow].aspects[row.aspect].total


def test_the_mean_latency_is_compared_when_asked_for(store: Store) -> None:
    put(store, "calls.jsonl", [call(run, run=run, aspects={"latency_mean": 1.0}) for run in ("a", "b")])
    assert [row.aspect for row in compare(store, "a", "b").differences] == []
    assert [row.aspect for row in compare(store, "a", "b", also=("latency_mean",)).differences] == ["latency_mean"]


def test_a_comparison_asks_as_many_questions_however_many_calls_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def questions(size: int) -> int:
        with world(1, size).store(tmp_path / f"{size}.db") as store:
            asked: list[Any] = []
            execute = store.execute

            def counted(query: Any) -> list[tuple[Any, ...]]:
                asked.append(query)
                return execute(query)

            monkeypatch.setattr(store, "execute", counted)
            compare(store, "night-1", "night-2")
            return len(asked)

    assert questions(60) == questions(240)


# sides


def test_sides_are_named_by_beginnings_by_time_and_by_agent(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            call("1", run="nightly-a", started_at=300),
            call("2", run="nightly-b", started_at=100, agent="gemini"),
            call("3", run="branch", started_at=200),
            call("4", run="undated"),
            call("5", run="agent:model-a", started_at=50),
        ],
    )
    asked = {
        "nightly-b": "nightly-b",
        "br": "branch",
        "latest": "nightly-a",
        "previous": "branch",
        "run:und": "undated",
    }
    assert {text: side(store, text).name for text in asked} == asked
    assert (side(store, "agent:gem").kind, side(store, "agent:gem").name) == ("agent", "gemini")
    assert (side(store, "run:agent:model-a").kind, side(store, "agent:model-a").kind) == ("run", "agent")


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("nightly", "branch", "several runs begin with nightly: nightly-b, nightly-a"),
        ("nihgtly-a", "branch", "there is no run nihgtly-a; did you mean nightly-a"),
        ("zzz", "branch", "there is no run zzz; there are nightly-b, nightly-a, branch"),
        ("latst", "branch", "there is no run latst; did you mean latest?"),
        ("branch", "prevous", "there is no run prevous; did you mean previous?"),
        ("run:latst", "branch", "there is no run latst; there are"),
        ("", "branch", "there is no run (without a name)"),
        ("branch", "bra", "both sides are the run branch"),
        ("branch", "agent:model-a", "compare two runs or two agents"),
        ("agent:model-b", "agent:model-a", "there is no agent model-b; did you mean model-a?"),
    ],
)
def test_sides_that_cannot_be_compared_say_why(a: str, b: str, said: str, store: Store) -> None:
    put(store, "calls.jsonl", [call(name, run=name) for name in ("nightly-a", "nightly-b", "branch")])
    with pytest.raises(SideError) as refused:
        compare(store, a, b)
    assert said in str(refused.value)


def test_an_empty_store_has_nothing_to_compare(store: Store) -> None:
    with pytest.raises(SideError, match="the store has no calls"):
        compare(store, "a", "b")
    with pytest.raises(SideError, match="there is no previous run: the store has no calls"):
        compare(store, "previous", "latest")


def test_a_store_of_one_run_has_none_before_it(store: Store) -> None:
    put(store, "calls.jsonl", [call("1", run="r", started_at=1)])
    with pytest.raises(SideError, match="the store has one run alone, r; ingest another one"):
        compare(store, "previous", "latest")


@pytest.mark.parametrize(
    ("starts", "a", "said"),
    [
        ((5, 7, 7), "previous", "which is the previous run is not known: r1, r2 began at the same time"),
        ((7, 7, 9), "previous", "which is the previous run is not known: r0, r1 began at the same time"),
        ((7, 7, 9), "r0", ""),
        ((None, None), "r0", "which is the latest run is not known: r0, r1 have no time"),
        ((5, 5, 7, 9), "previous", ""),
        ((None, 7, 9), "previous", ""),
    ],
)
def test_of_runs_that_began_together_none_is_the_latest(
    starts: Sequence[int | None], a: str, said: str, store: Store
) -> None:
    put(store, "calls.jsonl", [call(f"{n}", run=f"r{n}", started_at=at) for n, at in enumerate(starts)])
    if not said:
        assert compare(store, a, "latest").b.name == f"r{len(starts) - 1}"
        return
    with pytest.raises(SideError) as refused:
        compare(store, a, "latest")
    assert said in str(refused.value)
    assert "name the one that is meant" in str(refused.value)


# failures


def test_failed_pairs_are_told_apart(store: Store) -> None:
    ends = {"a": [0.0, 10.0, 0.0, 10.0], "b": [10.0, 0.0, 4.2, 10.0]}
    for run, scores in ends.items():
        put(
            store,
            f"{run}.jsonl",
            [
                call(f"{run}{n}", run=run, scenario=f"s{n}", stop_reason=f"stop-{run}", final_state=f"end-{run}",
                     aspects={"correctness": score})
                for n, score in enumerate(scores)
            ],
        )  # fmt: skip
    found = failures(store, "a", "b")
    assert [(pair.side, pair.scenario, pair.a.conversation, pair.b.conversation) for pair in found.pairs] == [
        ("a", "s0", "a0", "b0"),
        ("b", "s1", "a1", "b1"),
        ("both", "s2", "a2", "b2"),
    ]
    assert (found.counts.neither, found.unknown, found.alone_a, found.alone_b) == (1, 0, 0, 0)
    last = found.pairs[2].b
    assert (last.run, last.agent, last.stop_reason, last.final_state, last.score) == (
        "b", "model-a", "stop-b", "end-b", 4.2,
    )  # fmt: skip


def test_a_call_fails_by_its_completion_as_well_and_by_it_alone_where_correctness_is_not_measured(store: Store) -> None:
    put(store, "a.jsonl", [call("a", run="a", scenario="s", aspects={"completion": 0.0}),
                           call("c", run="a", scenario="t", aspects={"completion": 0.0, "correctness": 10.0}),
                           call("u", run="a", scenario="u", aspects={}),
                           call("x", run="a", aspects={"correctness": 3.0})])  # fmt: skip
    put(store, "b.jsonl", [call("b", run="b", scenario="s", completed=True, aspects={"completion": 10.0}),
                           call("d", run="b", scenario="t", aspects={"completion": 0.0, "correctness": 5.0}),
                           call("v", run="b", scenario="u", aspects={"correctness": 0.0})])  # fmt: skip
    found = failures(store, "a", "b")
    assert [(pair.side, pair.a.score, pair.b.score) for pair in found.pairs] == [
        ("a", 0.0, 10.0), ("both", 0.0, 5.0)
    ]  # fmt: skip
    assert (found.unknown, found.alone_a, found.alone_b) == (1, 1, 0)


def test_a_call_that_was_not_served_failed_though_no_score_is_low_and_one_of_unknown_end_did_not(store: Store) -> None:
    full = {"correctness": 10.0, "completion": 10.0}
    put(store, "a.jsonl", [call("a", run="a", scenario="s", aspects=full, success=False),
                           call("c", run="a", scenario="t", aspects=full, success=None),
                           call("e", run="a", scenario="u", aspects={}, success=False)])  # fmt: skip
    put(store, "b.jsonl", [call(name, run="b", scenario=task, aspects=full, success=True)
                           for name, task in (("b", "s"), ("d", "t"), ("f", "u"))])  # fmt: skip
    found = failures(store, "a", "b")
    assert [(pair.side, pair.a.conversation, pair.a.score) for pair in found.pairs] == [
        ("a", "a", 10.0),
        ("a", "e", None),
    ]
    assert (found.unknown, found.counts.only_a) == (1, 2)


def test_failed_pairs_agree_with_the_counts_of_the_comparison(store: Store) -> None:
    chance = random.Random(5)
    for run in ("a", "b"):
        calls = [
            call(f"{flow}{n}", run=run, flow=flow, persona=f"p{n}", errored=chance.random() < 0.1,
                 aspects={"correctness": chance.choice((0.0, 5.0, 10.0, 10.0))})
            for flow in ("x", "y") for n in range(40)
        ]  # fmt: skip
        put(store, f"{run}.jsonl", calls)
    found = compare(store, "a", "b")
    rows = [row for row in found.differences if row.aspect == "success_rate"]
    listed = failures(store, "a", "b")
    assert found.counts == listed.counts
    expected = stats.binomtest(listed.counts.only_a, listed.counts.only_a + listed.counts.only_b).pvalue
    assert listed.counts.p == pytest.approx(expected, rel=1e-12)
    for row in rows:
        counted = [sum(p.side == side for p in listed.pairs if p.flow == row.flow) for side in ("a", "b", "both")]
        assert counted == [row.only_a, row.only_b, row.both]
        assert min(counted) > 0
    assert sum(row.neither or 0 for row in rows) == listed.counts.neither
