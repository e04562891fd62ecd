"""The rules of the gate, on comparisons made by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    flows = [FlowPairs(flow, 100, 100, 0, 0, 0) for flow in sorted({row.flow for row in rows})]
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
        ({"tendency": "mixed"}, "mixed"),
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
    one_sided = row(aspect="humanness", judge="codex", n=(100, 0))
    for rows, drop in [
        ((row(),), "humanness=1"),
        ((row(), one_sided), "humanness:codex=1"),
        ((row(),), "correctness=1"),
    ]:
        with pytest.raises(UsageError, match="not measured on both sides in any flow"):
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
    lax = decide(comparison(row(b=0.6), **given), errored={"zoo": 7, "dental": 1})
    assert [(each.flow, each.errored) for each in lax.missing] == [("bank", 0), ("zoo", 7)]
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
