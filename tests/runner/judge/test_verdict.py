"""A verdict is taken to the letter; anything else is no verdict, and never a zero."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.runner import LONGEST_ANSWER, LONGEST_REASON, JudgeVerdict, Malformed, parse

TURNS = frozenset(range(1, 6))
GOOD = '{"score": 7.5, "evidence": [3, 1, 3], "reason": " Warm. "}'

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def test_a_verdict_is_read() -> None:
    assert parse(GOOD, TURNS) == JudgeVerdict(7.5, (1, 3), "Warm.")


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```", "\n```JSON \n{}\n ```\n\n"])
def test_one_fence_around_the_whole_answer_is_taken_off(fence: str) -> None:
    assert parse(fence.replace("{}", GOOD), TURNS).score == 7.5


@pytest.mark.parametrize("score", [0, 0.0, -0.0, 10, 10.0, 3])
def test_both_ends_of_the_scale_are_on_it(score: float) -> None:
    verdict = parse(json.dumps({"score": score, "evidence": [], "reason": "x"}), TURNS)
    assert verdict.score == score
    assert math.copysign(1, verdict.score) == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("I would give it a 9.", "is not JSON"),
        (f"Here you are: {GOOD}", "is not JSON"),
        (f"{GOOD}\nI hope that helps.", "is not JSON"),
        (f"{GOOD}\n{GOOD}", "is not JSON"),
        (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "is not JSON"),
        (f"Sure!\n```json\n{GOOD}\n```", "is not JSON"),
        (GOOD[:-3], "is not JSON"),
        (f"[{GOOD}]", "score, evidence and reason alone"),
        ("7", "score, evidence and reason alone"),
        ("null", "score, evidence and reason alone"),
        ('{"score": 7, "evidence": []}', "score, evidence and reason alone"),
        ('{"score": 7, "evidence": [], "reason": "x", "model": "y"}', "score, evidence and reason alone"),
        ('{"Score": 7, "evidence": [], "reason": "x"}', "score, evidence and reason alone"),
        ('{"score": 10, "score": 2, "evidence": [], "reason": "x"}', "names a key twice"),
        ('{"score": NaN, "evidence": [], "reason": "x"}', "is not JSON"),
        ('{"score": Infinity, "evidence": [], "reason": "x"}', "is not JSON"),
        ('{"score": 1e999, "evidence": [], "reason": "x"}', "not from 0 to 10"),
        ('{"score": 1%s, "evidence": [], "reason": "x"}' % ("0" * 400), "not from 0 to 10"),
        ('{"score": 1%s, "evidence": [], "reason": "x"}' % ("0" * 5000), "is not JSON"),
        ('{"score": -0.1, "evidence": [], "reason": "x"}', "not from 0 to 10"),
        ('{"score": 10.01, "evidence": [], "reason": "x"}', "not from 0 to 10"),
        ('{"score": "7", "evidence": [], "reason": "x"}', "not a number"),
        ('{"score": true, "evidence": [], "reason": "x"}', "not a number"),
        ('{"score": null, "evidence": [], "reason": "x"}', "not a number"),
        ('{"score": [7], "evidence": [], "reason": "x"}', "not a number"),
        ('{"score": 7, "evidence": 3, "reason": "x"}', "list of turn numbers"),
        ('{"score": 7, "evidence": null, "reason": "x"}', "list of turn numbers"),
        ('{"score": 7, "evidence": ["3"], "reason": "x"}', "list of turn numbers"),
        ('{"score": 7, "evidence": [3.0], "reason": "x"}', "list of turn numbers"),
        ('{"score": 7, "evidence": [true], "reason": "x"}', "list of turn numbers"),
        ('{"score": 7, "evidence": [0], "reason": "x"}', "not shown"),
        ('{"score": 7, "evidence": [6], "reason": "x"}', "not shown"),
        ('{"score": 7, "evidence": [], "reason": ""}', "reason is not text"),
        ('{"score": 7, "evidence": [], "reason": 7}', "reason is not text"),
        ("[" * 100_000, "too long"),
        ("[" * 20_000, "is not JSON"),
        (" " * (LONGEST_ANSWER + 1), "too long"),
    ],
)
def test_anything_else_is_no_verdict(answer: str, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        parse(answer, TURNS)


def test_a_long_reason_is_cut() -> None:
    answer = json.dumps({"score": 7, "evidence": [], "reason": "so " * 5_000})
    assert len(parse(answer, TURNS).reason) == LONGEST_REASON + 1


@given(
    score=st.integers(0, 10) | st.floats(0, 10),
    evidence=st.lists(st.sampled_from(sorted(TURNS)), max_size=4),
    reason=st.text(min_size=1, max_size=50).filter(str.strip),
)
def test_every_verdict_comes_back_as_it_was_given(score: float, evidence: list[int], reason: str) -> None:
    answer = json.dumps({"score": score, "evidence": evidence, "reason": reason})
    assert parse(answer, TURNS) == JudgeVerdict(score, tuple(sorted(set(evidence))), reason.strip())


@given(answer=st.text() | anything.map(json.dumps))
def test_nothing_but_a_verdict_or_a_reason_comes_out(answer: str) -> None:
    try:
        verdict = parse(answer, TURNS)
    except Malformed:
        return
    assert 0 <= verdict.score <= 10


@given(score=anything, evidence=anything, reason=anything)
def test_an_object_of_the_right_keys_still_needs_the_right_values(score: Any, evidence: Any, reason: Any) -> None:
    answer = json.dumps({"score": score, "evidence": evidence, "reason": reason})
    try:
        verdict = parse(answer, TURNS)
    except Malformed:
        return
    assert type(score) in (int, float)
    assert 0 <= score <= 10
    assert isinstance(reason, str)
    assert set(verdict.evidence) <= TURNS
