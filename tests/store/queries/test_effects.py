"""What the model is fitted to, against observations that plain Python takes from the raw facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import pandas as pd
import pytest
from scipy import stats

from tests.support.contrasts import contrasts
from tests.support.facts import call, fresh, put, verdict
from tests.support.packed_stores import packed, small_groups
from tests.support.random_stores import World, selected, world
from tests.surface.store import (
    FACTORS,
    ConversationFacts,
    Effects,
    JudgeOverlap,
    LevelEffect,
    Predicate,
    Term,
    UnknownAspect,
    effects,
    operability,
)
from tests.surface.store import VOCABULARY_COMPUTED as COMPUTED
from tests.surface.tui import parse

__all__ = ["small_groups"]

FILTERS = ("", "run:night-1 | run=night-3", "archetype:book agent:gem", "(state=greet stall=1)")


def shared(frame: pd.DataFrame) -> pd.DataFrame:
    """The observations of the calls that all judges scored, of those who share a call with every other."""
    calls = frame.groupby("judge")["call"].agg(set)
    rest = [judge for judge, own in calls.items() if all(own & other for other in calls)]
    left = frame[frame["judge"].isin(rest)]
    return left[left.groupby("call")["judge"].transform("nunique") == len(rest)] if len(rest) > 1 else left[:0]


def observations(made: World, calls: list[ConversationFacts], aspect: str) -> list[dict[str, object]]:
    """A row for each call and judge as docs/statistics.md words it."""
    found = []
    for facts in calls:
        if facts.errored:
            continue
        told = {"call": (facts.run_id, facts.conversation_id), "agent": facts.agent_model, "flow": facts.flow}
        told["persona"] = facts.persona or "~"
        correctness, completion = facts.aspects.get("correctness"), facts.aspects.get("completion")
        parts = (correctness, completion, facts.aspects.get("errors"), facts.aspects.get("latency_p95"))
        if aspect == "quality":
            values = {COMPUTED: operability(*parts, None)}
            values |= {
                judge: operability(*parts, {judge: score})
                for judge, score in made.judged(facts).items()
                if score is not None
            }
        elif aspect == "humanness":
            values = dict(made.judged(facts))
        else:
            values = {COMPUTED: facts.aspects.get(aspect)}
        found += [{**told, "judge": judge, "y": value} for judge, value in values.items() if value is not None]
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("expression", FILTERS)
@pytest.mark.parametrize("aspect", ["quality", "humanness", "errors"])
def test_the_model_is_of_what_the_calls_say(aspect: str, expression: str, seed: int, tmp_path: Path) -> None:
    made, predicate = world(seed, 90), parse(expression)
    left = selected(made, predicate)
    frame = pd.DataFrame(observations(made, left, aspect))
    with made.store(tmp_path / "world.db") as store:
        found = effects(store, predicate, aspect=aspect)
    model, counted = found.model, sum(not facts.errored for facts in left)
    assert (model.n, model.observations) == (frame["call"].nunique(), len(frame))
    assert model.mean == pytest.approx(frame["y"].mean())
    assert (found.unmeasured, found.excluded) == (counted - model.n, len(left) - counted)
    assert found.caller_failed == sum(facts.caller_ok is False for facts in left)
    assert [factor.factor for factor in model.factors] == [name for name in FACTORS if frame[name].nunique() > 1]
    for factor in model.factors:
        used = shared(frame) if factor.factor == "judge" else frame
        if used.empty:
            assert {(each.effect, factor.share, factor.alone) for each in factor.levels} == {(None, None, None)}
            continue
        whole = ((used["y"] - used["y"].mean()) ** 2).sum()
        means = used.groupby(factor.factor)["y"].transform("mean")
        explained = ((means - used["y"].mean()) ** 2).sum()
        assert factor.alone == (pytest.approx(explained / whole, abs=1e-8) if whole else None)
        compared = set(used[factor.factor])
        groups = pd.concat([used, frame[~frame[factor.factor].isin(compared)]]).groupby(factor.factor)
        assert {each.level or "~" for each in factor.levels} == set(groups.groups)
        for each in factor.levels:
            group = groups.get_group(each.level or "~")
            assert (each.n, each.observations) == (group["call"].nunique(), len(group))
            assert each.mean == pytest.approx(group["y"].mean())
            assert each.effect is None or (each.level or "~") in compared


@pytest.mark.parametrize("seed", range(3))
def test_effects_come_out_as_a_textbook_would_have_them(seed: int, tmp_path: Path) -> None:
    import numpy as np

    made = world(seed, 120)
    frame = pd.DataFrame(observations(made, made.calls, "quality"))
    with made.store(tmp_path / "world.db") as store:
        model = effects(store).model
    columns, wanted = contrasts(frame, FACTORS)
    solution = np.linalg.lstsq(columns, frame["y"].to_numpy(), rcond=None)[0]
    found = {(factor.factor, each.level or "~"): each.effect for factor in model.factors for each in factor.levels}
    textbook = {key: vector @ solution for key, vector in wanted.items()}
    by_judge = shared(frame).groupby("judge")["y"].mean()
    textbook |= {("judge", judge): mean - by_judge.mean() for judge, mean in by_judge.items()}
    textbook |= {("judge", judge): None for judge in set(frame["judge"]) - set(by_judge.index)}
    assert found == {key: pytest.approx(effect, abs=1e-8) for key, effect in textbook.items()}


def few(store_at: Path, predicate: Predicate | None = None, judges: Predicate | None = None, **asked: str) -> Effects:
    with fresh(store_at) as store:
        put(store, "calls.jsonl", [
            call("a", flow="one", persona="hurried"),
            call("b", flow="two", persona=None, aspects={"correctness": 0.0, "completion": 0.0}),
            call("c", flow="two", aspects={"errors": 5.0}),
            call("d", flow="one", errored=True),
        ])  # fmt: skip
        put(store, "verdicts.jsonl", [
            verdict("a", 4.0, line=1), verdict("b", None, line=2), verdict("c", 9.0, line=3), verdict("d", 1.0, line=4),
            verdict("a", 6.0, judge="gemini", prompt_hash="aaa1", line=5),
            verdict("b", 2.0, judge="gemini", prompt_hash="bbb1", line=6),
        ])  # fmt: skip
        return effects(store, predicate, judges, **asked)


def levels(found: Effects) -> dict[str, Counter[str | None]]:
    return {
        factor.factor: Counter({each.level: each.observations for each in factor.levels})
        for factor in found.model.factors
    }


def test_a_judge_and_a_computed_aspect_on_two_scales_are_not_compared(tmp_path: Path) -> None:
    with fresh(tmp_path / "voice.db") as store:
        put(store, "calls.jsonl", [call(name, aspects={"turn_taking": 0.5}) for name in "abc"])
        put(store, "old.jsonl", [
            verdict(name, 7.0, judge="turn_taking", aspect="turn_taking", line=at) for at, name in enumerate("abc")
        ])  # fmt: skip
        assert effects(store, aspect="turn_taking").model.mean == 0.5
        judged = parse("judge=turn_taking")
        assert effects(store, judges=judged, aspect="turn_taking").model.mean == 7.0
        assert effects(store, judges=parse("!judge=none"), aspect="turn_taking").model.observations == 6


def test_what_was_not_measured_and_what_errored_is_no_observation(tmp_path: Path) -> None:
    found = few(tmp_path / "few.db")
    assert levels(found)["judge"] == {COMPUTED: 2, "codex": 1, "gemini#aaa1": 1, "gemini#bbb1": 1}
    assert found.overlap is not None
    assert found.overlap.apart == (("codex", "gemini#bbb1"), ("gemini#aaa1", "gemini#bbb1"))
    assert (found.model.n, found.unmeasured, found.excluded) == (2, 1, 1)


def test_calls_without_a_persona_are_a_level_beside_those_that_have_one(tmp_path: Path) -> None:
    assert levels(few(tmp_path / "few.db"))["persona"] == {"hurried": 3, None: 2}
    only = few(tmp_path / "two.db", Term("flow", "=", "two"))
    assert ("persona", None) in only.model.single


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        ("gemini", {"gemini#aaa1", "gemini#bbb1"}),
        ("gemini#aaa1", {"gemini#aaa1"}),
        (COMPUTED, {COMPUTED}),
        ("codex", {"codex"}),
    ],
)
def test_a_filter_chooses_in_whose_eyes(wanted: str, left: set[str], tmp_path: Path) -> None:
    model = few(tmp_path / "few.db", judges=Term("judge", "=", wanted)).model
    found = {each.level for factor in model.factors if factor.factor == "judge" for each in factor.levels}
    assert found | {level for name, level in model.single if name == "judge"} == left


def test_one_aspect_can_be_asked_for_and_no_other_than_those_there_are(tmp_path: Path) -> None:
    found = few(tmp_path / "few.db", aspect="humanness")
    assert found.model.mean == fmean([4.0, 9.0, 6.0, 2.0])
    assert found.model.n == 3
    assert few(tmp_path / "alias.db", aspect="hum") == found
    with pytest.raises(UnknownAspect) as error:
        few(tmp_path / "other.db", aspect="warmth")
    assert error.value.known[0] == "quality"
    assert {"humanness", "correctness"} <= set(error.value.known)


def test_p_is_corrected_across_the_levels_of_all_factors(tmp_path: Path) -> None:
    with world(1, 120).store(tmp_path / "world.db") as store:
        levels = [level for factor in effects(store).model.factors for level in factor.levels if level.p is not None]
    assert len(levels) > 8
    adjusted = stats.false_discovery_control([level.p for level in levels])
    assert [level.p_adjusted for level in levels] == pytest.approx(list(adjusted))


def two_judges(store_at: Path, scores: Mapping[str, Mapping[str, float]], judges: Predicate | None = None) -> Effects:
    """The effects on humanness where each judge scored some of twelve calls, by number."""
    with fresh(store_at) as store:
        put(store, "calls.jsonl", [call(str(number), flow="one" if number % 2 else "two") for number in range(12)])
        given = [(judge, name, score) for judge, own in scores.items() for name, score in own.items()]
        verdicts = [verdict(name, score, judge=judge, line=line) for line, (judge, name, score) in enumerate(given, 1)]
        put(store, "verdicts.jsonl", verdicts)
        return effects(store, None, judges, aspect="humanness")


def judge_levels(found: Effects) -> dict[str | None, LevelEffect]:
    (factor,) = (factor for factor in found.model.factors if factor.factor == "judge")
    return {level.level: level for level in factor.levels}


HARD = {str(number): 2.0 + number % 3 for number in range(6)}
EASY = {str(number): 7.0 + number % 3 for number in range(6, 12)}


def test_judges_who_scored_no_call_in_common_are_not_compared(tmp_path: Path) -> None:
    found = two_judges(tmp_path / "apart.db", {"lenient": EASY, "strict": HARD})
    assert found.overlap == JudgeOverlap(0, {"lenient": 6, "strict": 6}, (), (("lenient", "strict"),))
    for level in judge_levels(found).values():
        assert (level.effect, level.low, level.high) == (None, None, None)
    (factor,) = (factor for factor in found.model.factors if factor.factor == "judge")
    assert (factor.share, factor.alone) == (None, None)


def test_judges_are_compared_on_the_calls_that_all_of_them_scored(tmp_path: Path) -> None:
    both = {"4": 5.0, "5": 6.0, "6": 5.5}
    lenient, strict = EASY | {name: score + 1 for name, score in both.items()}, HARD | both
    found = two_judges(tmp_path / "common.db", {"lenient": lenient, "strict": strict})
    assert found.overlap == JudgeOverlap(3, {"lenient": 8, "strict": 7}, ("lenient", "strict"))
    levels = judge_levels(found)
    assert levels["lenient"].effect == pytest.approx(0.5)
    assert levels["strict"].effect == pytest.approx(-0.5)
    assert [(level.n, level.observations) for level in levels.values()] == [(3, 3), (3, 3)]


def test_a_judge_who_shares_no_call_with_one_of_the_others_hinders_nobody_but_that_one(tmp_path: Path) -> None:
    every = {str(number): 5.0 for number in range(12)}
    low = {name: score - 1 for name, score in every.items()}
    found = two_judges(tmp_path / "rest.db", {"even": every, "lenient": EASY, "low": low, "strict": HARD})
    effects_of = {name: level.effect for name, level in judge_levels(found).items()}
    assert effects_of == {"even": pytest.approx(0.5), "lenient": None, "low": pytest.approx(-0.5), "strict": None}
    assert found.overlap is not None
    assert (found.overlap.common, found.overlap.compared) == (12, ("even", "low"))


def test_of_three_judges_without_a_common_call_two_can_be_chosen(tmp_path: Path) -> None:
    scores = {"a": {"1": 4.0, "2": 5.0}, "b": {"2": 7.0, "3": 6.0}, "c": {"1": 3.0, "3": 5.0}}
    found = two_judges(tmp_path / "three.db", scores)
    assert found.overlap == JudgeOverlap(0, {"a": 2, "b": 2, "c": 2})
    assert not any(level.effect for level in judge_levels(found).values())
    chosen = two_judges(tmp_path / "two.db", scores, parse("judge=a | judge=b"))
    assert judge_levels(chosen)["b"].effect == pytest.approx(1.0)


def test_judges_of_the_same_calls_need_no_word_about_it(tmp_path: Path) -> None:
    scores = {"lenient": HARD, "strict": {name: score - 1 for name, score in HARD.items()}}
    assert two_judges(tmp_path / "same.db", scores).overlap is None


def test_an_empty_store_has_no_model(tmp_path: Path) -> None:
    with fresh(tmp_path / "empty.db") as store:
        assert effects(store).model.observations == 0


@pytest.mark.usefixtures("small_groups")
@pytest.mark.parametrize("aspect", ["quality", "humanness"])
def test_a_store_that_is_read_in_parts_says_what_its_rows_say(aspect: str, tmp_path: Path) -> None:
    made = world(4, 90)
    with made.store(tmp_path / "rows.db") as rows, packed(made, tmp_path / "packed.db") as columns:
        assert effects(columns, None, aspect=aspect) == effects(rows, None, aspect=aspect)
