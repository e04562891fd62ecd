"""Drawing calls to read: as many of each kind as wanted, the same ones whatever their order."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import FAILING, OUTLIER, RANDOM, STRATA, CallNames, Candidate, Drawn, counts_of, draw

PARTS = st.fixed_dictionaries({}, optional={each: st.integers(0, 100).map(Fraction) for each in STRATA})


def candidate(number: int, failed_in: str | None = None, flow: str = "viewing", **figures: float) -> Candidate:
    return Candidate(CallNames("night-1", flow, "model-a", f"c-{number}", 0), failed_in, figures)


@st.composite
def candidates(draw: st.DrawFn) -> list[Candidate]:
    flow, state = st.sampled_from(("viewing", "dental")), st.none() | st.sampled_from(("greet", "collect", "book"))
    turns = st.sampled_from((5.0, 5.0, 6.0, 7.0, 30.0))
    rows = draw(st.lists(st.tuples(state, flow, turns), max_size=40))
    return [candidate(place, state, flow, turn_count=turns) for place, (state, flow, turns) in enumerate(rows)]


COUNTS = st.fixed_dictionaries({each: st.integers(0, 12) for each in STRATA})


@given(PARTS.filter(lambda mix: any(mix.values())), st.integers(1, 500))
def test_a_mix_is_shared_out_to_the_last_call_and_by_no_more_than_one_off(mix: dict[str, Fraction], n: int) -> None:
    counts = counts_of(mix, n)
    assert sum(counts.values()) == n
    total = sum(mix.values())
    assert all(abs(counts[each] - mix.get(each, Fraction(0)) * n / total) < 1 for each in STRATA)


def test_parts_need_not_sum_to_the_number_of_calls() -> None:
    mix = {RANDOM: Fraction(50), FAILING: Fraction(30), OUTLIER: Fraction(20)}
    assert counts_of(mix, 100) == {RANDOM: 50, FAILING: 30, OUTLIER: 20}
    assert counts_of(mix, 7) == {RANDOM: 4, FAILING: 2, OUTLIER: 1}
    assert counts_of({FAILING: Fraction("0.5")}, 3) == {RANDOM: 0, FAILING: 3, OUTLIER: 0}


@given(candidates(), COUNTS, st.integers(0, 5), st.randoms(use_true_random=False))
def test_the_same_calls_come_in_the_same_order_however_they_were_stored(
    calls: list[Candidate], counts: dict[str, int], seed: int, random: Random
) -> None:
    mixed = list(calls)
    random.shuffle(mixed)
    assert draw(mixed, counts, seed) == draw(calls, counts, seed)


@given(candidates(), COUNTS, st.integers(0, 5))
def test_no_call_comes_twice_and_what_a_stratum_lacks_comes_at_random(
    calls: list[Candidate], counts: dict[str, int], seed: int
) -> None:
    found = draw(calls, counts, seed)
    names = [each.names for each in found.calls]
    assert len(set(names)) == len(names) == min(len(calls), sum(counts.values()))
    drawn = Counter(each.stratum for each in found.calls)
    failed = {call.names for call in calls if call.failed_in is not None}
    assert {each.names for each in found.calls if each.stratum == FAILING} <= failed
    for stratum in (FAILING, OUTLIER):
        assert (drawn[stratum] < counts[stratum]) == (stratum in found.lacking)
        assert drawn[stratum] <= counts[stratum]
    if FAILING in found.lacking:
        assert failed <= set(names)
        assert found.lacking[FAILING] == len(failed)


@given(candidates(), COUNTS, st.integers(0, 5))
def test_what_is_drawn_at_random_does_not_depend_on_what_happened_in_the_calls(
    calls: list[Candidate], counts: dict[str, int], seed: int
) -> None:
    found = [each.names for each in draw(calls, counts, seed).calls if each.stratum == RANDOM]
    alike = [candidate(place, None, call.names.flow) for place, call in enumerate(calls)]
    blind = draw(alike, {RANDOM: len(found), FAILING: 0, OUTLIER: 0}, seed)
    assert [each.names for each in blind.calls] == found


def test_a_call_that_comes_later_takes_one_place_at_most() -> None:
    calls, counts = [candidate(number) for number in range(200)], {RANDOM: 20, FAILING: 0, OUTLIER: 0}
    before = [each.names for each in draw(calls, counts, 1).calls]
    came_in = 0
    for number in range(200, 260):
        after = [each.names for each in draw([*calls, candidate(number)], counts, 1).calls]
        stayed = [names for names in after if names in before]
        assert stayed == [names for names in before if names in after]
        assert len(stayed) >= 19
        came_in += len(stayed) == 19
    assert 0 < came_in < 20


def test_another_seed_draws_other_calls() -> None:
    calls, counts = [candidate(number) for number in range(200)], {RANDOM: 20, FAILING: 0, OUTLIER: 0}
    assert len({tuple(draw(calls, counts, seed).calls) for seed in range(10)}) == 10


def test_failing_calls_come_from_every_place_before_any_place_has_two() -> None:
    groups = {("viewing", "collect"): 50, ("viewing", "greet"): 5, ("dental", "book"): 20}
    calls = [
        candidate(100 * place + number, state, flow)
        for place, ((flow, state), n) in enumerate(groups.items())
        for number in range(n)
    ]
    where = {call.names: (call.names.flow, call.failed_in) for call in calls}
    for n, expected in ((2, [1, 0, 1]), (3, [1, 1, 1]), (4, [2, 1, 1]), (17, [6, 5, 6])):
        found = Counter(where[each.names] for each in draw(calls, {RANDOM: 0, FAILING: n, OUTLIER: 0}, 1).calls)
        assert [found[group] for group in groups] == expected


def test_an_outlier_is_far_from_the_median_of_its_flow() -> None:
    turns = [9.0] * 4 + [8.0, 10.0, 7.0, 11.0, 31.0, 1.0, 12.0]
    calls = [candidate(place, None, turn_count=value) for place, value in enumerate(turns)]
    # Another flow, in which 31 turns are nothing special.
    calls += [candidate(100 + place, None, "long", turn_count=31.0) for place in range(9)]
    found = draw(calls, {RANDOM: 0, FAILING: 0, OUTLIER: 2}, 1)
    assert set(found.calls) == {
        Drawn(calls[8].names, OUTLIER, "turn_count", 31.0, 9.0),
        Drawn(calls[9].names, OUTLIER, "turn_count", 1.0, 9.0),
    }
    assert draw(calls, {RANDOM: 0, FAILING: 0, OUTLIER: 5}, 1).lacking == {OUTLIER: 2}


def test_only_what_is_slow_or_broken_is_far_out_in_latency_and_errors() -> None:
    calls = [candidate(place, None, latency_p95=20.0, error_count=6.0) for place in range(9)]
    calls += [candidate(20, None, latency_p95=0.1, error_count=0.0), candidate(21, None, latency_p95=40.0)]
    found = draw(calls, {RANDOM: 0, FAILING: 0, OUTLIER: 1}, 1).calls
    assert found == [Drawn(calls[-1].names, OUTLIER, "latency_p95", 40.0, 20.0)]
    all_of_them = draw(calls[:-1], {RANDOM: 0, FAILING: 0, OUTLIER: 10}, 1).calls
    assert {each.stratum for each in all_of_them} == {RANDOM}


def test_a_flow_of_few_calls_has_no_outlier() -> None:
    calls = [candidate(place, None, turn_count=value) for place, value in enumerate((5.0, 5.0, 5.0, 90.0))]
    assert draw(calls, {RANDOM: 0, FAILING: 0, OUTLIER: 1}, 1).lacking == {OUTLIER: 0}
