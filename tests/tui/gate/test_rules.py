"""The rules of the gate, on comparisons made by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.surface.store import UNIT, Comparison, Difference, FlowPairs, Measure, Side
from tests.surface.tui import DEFAULTS, Decision, Tolerance, UsageError, decide, read
from tests.surface.tui import rules_merged as merged


def measure(mean: float, n: int) -> Measure:
    return Measure(n, round(mean * n * UNIT), mean * mean * n)


def row(flow: str = "dental", aspect: str = "success_rate", a: float = 0.6, b: float = 0.4, **given: Any) -> Difference:
    n_a, n_b = given.pop("n", (100, 100))
    p = given.pop("p", 0.001) if n_a and n_b else None
    lower = aspect.startswith("latency")
    worse = (b > a) if lower else (b < a)
    settings: dict[str, Any] = {
        "judge": None, "better": "lower" if lower else "higher", "rate": aspect in ("success_rate", "completion"),
        "effect": None if p is None else b - a, "interval": None, "pairs": None, "alone_a": 0, "alone_b": 0,
        "test": None if p is None else "Fisher", "p_adjusted": p, "verdict": "noise",
        "tendency": "not measured" if p is None else "worse" if worse else "better",
    }  # fmt: skip
    return Difference(
        flow=flow, aspect=aspect, a=measure(a, n_a), b=measure(b, n_b), p=p, **(settings | given)
    )  # fmt: skip


def comparison(*rows: Difference, **given: Any) -> Comparison:
    flows = []
    for flow in sorted({row.flow for row in rows}):
        of_flow = [row for row in rows if row.flow == flow]
        n_a, n_b = max(1, *(row.a.n for row in of_flow)), max(1, *(row.b.n for row in of_flow))
        flows.append(FlowPairs(flow, n_a, n_b, 0, 0, 0))
    settings: dict[str, Any] = {
        "a": Side("run", "night-1", 100, 2), "b": Side("run", "night-2", 100, 3), "differences": rows, "flows": flows,
        "only_in_a": {}, "only_in_b": {},
    }  # fmt: skip
    return Comparison(**(settings | given))


def allowing(*drops: str) -> tuple[Tolerance, ...]:
    return merged([read(text) for text in drops])


def statuses(decision: Decision) -> dict[str, str]:
    return {f"{check.flow} {check.name}": check.status for check in decision.checks}


def test_a_flow_that_surely_got_worse_fails_and_is_named() -> None:
    found = decide(comparison(row(), row("weather", b=0.58, p=0.5)))
    assert not found.passed
    assert found.failing == ["dental"]
    assert statuses(found) == {"dental success_rate": "failed", "weather success_rate": "noise"}


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({}, "failed"),
        ({"p": 0.06}, "noise"),
        ({"p": 0.05}, "failed"),
        ({"b": 0.6}, "held"),
        ({"b": 0.9}, "held"),
        ({"n": (4, 100)}, "too few"),
        ({"n": (100, 4)}, "too few"),
        ({"n": (5, 5)}, "failed"),
        ({"n": (100, 0)}, "too few"),
    ],
)
def test_how_a_check_stands(given: dict[str, Any], status: str) -> None:
    found = decide(comparison(row(**given)))
    assert [check.status for check in found.checks] == [status]
    assert found.passed == (status != "failed")


@pytest.mark.parametrize(
    ("aspect", "a", "b", "drop", "status"),
    [
        ("success_rate", 0.6, 0.5, "success_rate=10%", "allowed"),
        ("success_rate", 0.6, 0.49, "success_rate=10%", "failed"),
        ("completion", 6.0, 5.0, "completion=10%", "allowed"),
        ("completion", 6.0, 4.9, "completion=10%", "failed"),
        ("errors", 8.0, 7.5, "errors=0.5", "allowed"),
        ("correctness", 8.0, 7.0, "correctness=0.5", "failed"),
        ("latency_p95", 2.0, 2.4, "latency_p95=0.5", "allowed"),
        ("latency_p95", 2.0, 2.6, "latency_p95=0.5", "failed"),
        ("latency_p95", 2.0, 1.0, "latency_p95=0.5", "held"),
        ("latency_mean", 1.0, 1.2, "latency_mean=0.1", "failed"),
    ],
)
def test_an_aspect_may_fall_as_far_as_it_is_allowed(aspect: str, a: float, b: float, drop: str, status: str) -> None:
    found = decide(comparison(row(aspect=aspect, a=a, b=b)), allowing(drop))
    assert [check.status for check in found.checks] == [status]


def test_only_what_was_asked_for_is_checked() -> None:
    rows = [row(aspect=aspect) for aspect in ("correctness", "latency_p95", "turn_count")]
    rows.append(row(aspect="humanness", judge="codex", a=8, b=2))
    assert decide(comparison(row(b=0.6), *rows)).passed


def test_every_judge_is_checked_apart_and_one_may_be_allowed_more() -> None:
    rows = [row(aspect="humanness", judge=judge, a=7.0, b=6.0) for judge in ("codex", "gemini#1a2b3c", "gemini#ffffff")]
    found = decide(comparison(*rows), allowing("humanness=2", "humanness:gemini=0.5"))
    assert statuses(found) == {
        "dental humanness:codex": "allowed",
        "dental humanness:gemini#1a2b3c": "failed",
        "dental humanness:gemini#ffffff": "failed",
    }
    (only,) = decide(comparison(*rows), allowing("humanness:codex=0.5")).checks
    assert (only.judge, only.status) == ("codex", "failed")


def test_what_was_asked_for_and_not_measured_is_an_error() -> None:
    one_sided = row(aspect="humanness", judge="codex", n=(0, 100))
    for rows, drop in [
        ((row(),), "humanness=1"),
        ((row(), one_sided), "humanness:codex=1"),
        ((row(),), "correctness=1"),
    ]:
        with pytest.raises(UsageError, match="not measured in any flow that both called"):
            decide(comparison(*rows), allowing(drop))
    judged = row(aspect="humanness", judge="gemini")
    with pytest.raises(UsageError, match=r"humanness:codx: not measured.*; there are gemini"):
        decide(comparison(row(), judged), allowing("humanness:codx=1"))
    with pytest.raises(UsageError, match=r"humanness:codx: not measured.*; there are gemini"):
        decide(comparison(row(), judged), allowing("humanness:codx=1", "humanness=1"))
    special = decide(comparison(row(b=0.6), judged), allowing("humanness=9", "humanness:gemini=9"))
    assert special.passed


def test_what_is_always_checked_and_nowhere_measured_is_said() -> None:
    assert decide(comparison(row())).unmeasured == ("completion", "errors")


def test_nothing_to_compare_is_an_error_and_never_a_pass() -> None:
    with pytest.raises(UsageError, match="nothing to compare in night-1 and night-2: they have no flow in common"):
        decide(comparison(only_in_a={"dental": 3}, only_in_b={"weather": 3}))
    with pytest.raises(UsageError, match="run night-2 has no call that counts"):
        decide(comparison(b=Side("run", "night-2"), only_in_a={"dental": 3}))
    with pytest.raises(UsageError, match="nothing of what is checked was measured"):
        decide(comparison(flows=[FlowPairs("dental", 9, 9, 0, 0, 0)]))


def test_a_flow_that_is_gone_is_said_and_fails_a_strict_gate() -> None:
    given: dict[str, Any] = {"only_in_a": {"zoo": 9, "bank": 4}, "only_in_b": {"new": 1}}
    lax = decide(comparison(row(b=0.6), **given, errored_b={"zoo": 4, "dental": 1}))
    assert [(each.flow, each.errored) for each in lax.missing] == [("bank", 0), ("zoo", 4)]
    assert lax.added == ("new",)
    assert lax.passed
    assert decide(comparison(row(b=0.6), **given), strict=True).failing == ["bank", "zoo"]


def test_the_correction_is_over_what_is_checked_and_can_be_decided() -> None:
    others = [row(f"flow-{number}", "latency_p95", p=0.9) for number in range(50)]
    thin = [row(f"thin-{number}", p=0.9, n=(3, 3)) for number in range(50)]
    checked = [row(p=0.01), row("weather", p=0.02), row("zoo", b=0.7, p=0.9)]
    found = {check.flow: check for check in decide(comparison(*checked, *others, *thin)).checks}
    assert found["dental"].p_adjusted == pytest.approx(0.03)
    assert found["weather"].p_adjusted == pytest.approx(0.03)
    assert found["zoo"].p_adjusted == pytest.approx(0.9)
    assert found["thin-0"].p_adjusted is None
    assert len(found) == 53


def test_a_flow_that_surely_fell_draws_no_other_into_its_failure() -> None:
    aspects = ("success_rate", "completion", "errors")
    fallen = [row("dental", aspect, p=1e-9) for aspect in aspects]
    by_chance = row("weather", p=0.015)
    steady = [row(f"flow-{number}", aspect, b=0.7, p=0.8) for number in range(3) for aspect in aspects[:1]]
    decided = decide(comparison(*fallen, by_chance, *steady))
    found = next(check for check in decided.checks if check.flow == "weather")
    assert found.p_adjusted == pytest.approx(0.015 * 7 / 4)
    assert found.p_flow == pytest.approx(0.015 * 4)
    assert found.status == "noise"
    assert decided.failing == ["dental"]


def test_falls_of_one_flow_count_together_and_rises_do_not() -> None:
    rows = [row("dental", "success_rate", p=0.02), row("dental", "completion", p=0.03), row("dental", "errors", p=0.9)]
    [p] = {check.p_flow for check in decide(comparison(*rows)).checks}
    assert p == pytest.approx(min(3 * 0.02, 3 / 2 * 0.03, 0.9))
    rows[0] = row("dental", "success_rate", b=0.9, p=0.001)
    [p] = {check.p_flow for check in decide(comparison(*rows)).checks}
    assert p == pytest.approx(3 * 0.03)


@given(st.lists(st.floats(0, 1, allow_nan=False), min_size=1, max_size=12), st.randoms())
def test_a_decision_does_not_depend_on_the_order_of_rows(ps: list[float], random: Any) -> None:
    rows = [row(f"flow-{number}", p=p) for number, p in enumerate(ps)]
    shuffled = random.sample(rows, len(rows))
    assert decide(comparison(*rows)).checks == decide(comparison(*shuffled)).checks


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_what_fails_stands_first_and_corrections_only_take_away(rows: list[tuple[float, float, float]]) -> None:
    found = decide(comparison(*(row(f"{n}", a=a, b=b, p=p) for n, (a, b, p) in enumerate(rows))))
    stood = [check.status == "failed" for check in found.checks]
    assert stood == sorted(stood, reverse=True)
    for check in found.checks:
        assert check.p is not None
        assert check.p_adjusted is not None
        assert check.p_adjusted >= check.p or math.isclose(check.p_adjusted, check.p)
        assert check.status != "failed" or (check.p <= 0.05 and (check.fall or 0) > 0)


def test_a_wider_allowance_never_makes_a_gate_fail() -> None:
    rows = comparison(row(), row("weather", "completion", a=8.0, b=7.0), row("zoo", "errors", a=9.0, b=8.9))
    failing = [
        len(decide(rows, [Tolerance(each.aspect, drop) for each in DEFAULTS]).failing) for drop in (0, 0.15, 0.5, 2)
    ]
    assert failing == [3, 2, 1, 0]


def counting(check_kind: str, decision: Decision) -> dict[str, str]:
    """How the checks of one kind stand, by name and flow."""
    return {f"{check.flow} {check.name}": check.status for check in decision.checks if check.kind == check_kind}


@pytest.mark.parametrize(
    ("before", "after", "allowed", "status"),
    [
        (0, 30, 0.05, "failed"),
        (0, 30, 0.4, "allowed"),
        (2, 9, 0.05, "noise"),
        (30, 30, 0.05, "held"),
        (30, 2, 0.05, "held"),
    ],
)
def test_errored_calls_are_checked_by_their_share(before: int, after: int, allowed: float, status: str) -> None:
    flows = [FlowPairs("dental", 80 - before, 80 - after, before, after, 0)]
    given = {"flows": flows, "errored_a": {"dental": before}, "errored_b": {"dental": after}}
    found = decide(comparison(row(b=0.6, n=(80 - before, 80 - after)), **given), max_errored=allowed)
    assert counting("errored", found) == {"dental errored": status}
    assert found.passed == (status != "failed")
    (check,) = [each for each in found.checks if each.kind == "errored"]
    assert (check.n_baseline, check.n_candidate) == (80, 80)
    assert check.p == pytest.approx(stats.fisher_exact([[before, 80 - before], [after, 80 - after]]).pvalue)


def test_a_candidate_whose_every_call_errored_fails_and_is_no_error() -> None:
    given: dict[str, Any] = {
        "only_in_a": {"dental": 40},
        "errored_b": {"dental": 40},
        "b": Side("run", "night-2", 0, 40),
    }
    found = decide(comparison(**given))
    assert counting("errored", found) == {"dental errored": "failed"}
    assert found.failing == ["dental"]
    with pytest.raises(UsageError, match="run night-2 has no call that counts"):
        decide(comparison(**given | {"only_in_a": {}, "errored_a": {"dental": 40}}))


@pytest.mark.parametrize(("measured", "status"), [(66, "failed"), (98, "noise"), (100, None), (0, "failed")])
def test_an_aspect_that_was_measured_of_fewer_calls_fails(measured: int, status: str | None) -> None:
    errors = row(aspect="errors", a=9.0, b=9.5, n=(100, measured))
    found = decide(comparison(row(b=0.6), errors))
    assert counting("measured", found) == ({} if status is None else {"dental errors not measured": status})
    assert found.passed == (status != "failed")


def test_measured_calls_without_a_partner_are_measured() -> None:
    errors = row(aspect="errors", a=9.0, b=9.5, n=(60, 60), pairs=60, alone_a=40, alone_b=40)
    assert counting("measured", decide(comparison(row(b=0.6), errors))) == {}


@pytest.mark.parametrize(
    ("p", "p_beyond", "b", "status"),
    [
        (1e-6, 1e-4, 4.0, "failed"),
        (1e-6, 0.3, 3.0, "allowed"),
        (1e-6, None, 2.4, "allowed"),
        (0.4, 0.6, 2.7, "noise"),
    ],
)
def test_a_mean_fails_where_it_is_surely_worse_by_more_than_allowed(
    p: float, p_beyond: float | None, b: float, status: str
) -> None:
    latency = row(aspect="latency_p95", a=2.0, b=b, p=p, p_beyond=p_beyond)
    (check,) = decide(comparison(latency), allowing("latency_p95=0.5")).checks
    assert check.status == status
    assert check.p == (p if p_beyond is None else p_beyond)


def test_a_share_of_turns_may_be_allowed_in_percent() -> None:
    validity = row(aspect="tool_call_validity", a=0.99, b=0.9, p=1e-6)
    (check,) = decide(comparison(validity), allowing("tool_call_validity=5%")).checks
    assert (check.allowed, check.status) == (0.05, "failed")
    (check,) = decide(comparison(validity), allowing("tool_call_validity=10%")).checks
    assert (check.allowed, check.status) == (0.1, "allowed")


def test_a_gate_says_the_smallest_fall_that_it_would_have_seen() -> None:
    pairs: dict[str, Any] = {
        "pairs": 160,
        "n": (160, 160),
        "only_a": 24,
        "only_b": 24,
        "both": 14,
        "neither": 98,
        "a": 0.76,
        "b": 0.76,
    }
    (alone,) = decide(comparison(row(**pairs))).checks
    assert alone.smallest_fall == pytest.approx(0.125, abs=0.002)
    (first, _, _) = decide(comparison(*(row(f"flow-{n}", **pairs) for n in range(3)))).checks
    assert first.smallest_fall is not None
    assert first.smallest_fall > 0.135
    few: dict[str, Any] = {
        "pairs": 5,
        "n": (5, 5),
        "only_a": 0,
        "only_b": 0,
        "both": 0,
        "neither": 5,
        "a": 1.0,
        "b": 1.0,
    }
    assert decide(comparison(row(**few))).checks[0].smallest_fall is None
    latency = row(aspect="latency_p95", a=2.0, b=2.0, p=1.0, error=0.1, pairs=100)
    (check,) = decide(comparison(latency), allowing("latency_p95=0.5")).checks
    assert check.smallest_fall == pytest.approx(0.5 + 0.1 * (1.984 + 0.842), abs=0.002)
