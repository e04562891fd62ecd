"""What explains quality: what rows say and mark, where they lead, and what is said of what could not be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.golden import printed
from tests.surface.store import VOCABULARY_COMPUTED as COMPUTED
from tests.surface.store import (
    Confounding,
    Effects,
    FactorEffect,
    JudgeOverlap,
    LevelEffect,
    LinearModel,
    Store,
    open_store,
)
from tests.surface.tui import FilterError, Request, Row, UsageError, effects, show

KEYS = {"factor", "level", "n", "effect", "low", "high", "mean", "share", "alone"}


@pytest.fixture
def store(tiny: Path) -> Iterator[Store]:
    with open_store(tiny) as opened:
        yield opened


def level(name: str | None, effect: float | None = None, half: float | None = 0.5, n: int = 9) -> LevelEffect:
    if effect is None or half is None:
        return LevelEffect(name, n, 2 * n, 5.0, effect)
    p = 0.001 if abs(effect) > half else 0.4
    return LevelEffect(name, n, 2 * n, 5.0 + effect, effect, effect - half, effect + half, p, p)


def model(*factors: FactorEffect) -> LinearModel:
    return LinearModel(18, 36, 5.0, 5.25, 0.7, 0.3, factors)


def answer(*factors: FactorEffect, aspect: str = "quality") -> Effects:
    return Effects(aspect, model(*factors), 0, 0)


AGENT = FactorEffect("agent", [level("fine", 0.2), level("weak", -1.5), level("best", 1.3)], 0.2, 0.3)
FLOW = FactorEffect("flow", [level("a"), level(None)], 0.5, 0.4)
TOLD = FactorEffect("persona", [level("x"), level("y")], None, 0.6)


def levels(rows: Sequence[Row]) -> list[tuple[str, str | None]]:
    return [(row.record["factor"], row.record["level"]) for row in rows]


def test_factors_come_by_what_they_explain_and_levels_worst_first() -> None:
    assert levels(effects(answer(TOLD, AGENT, FLOW)).rows) == [
        ("flow", None), ("flow", "a"), ("flow", None),
        ("agent", None), ("agent", "weak"), ("agent", "fine"), ("agent", "best"),
        ("persona", None), ("persona", "x"), ("persona", "y"),
    ]  # fmt: skip


def test_of_seconds_the_most_are_the_worst() -> None:
    table = effects(answer(AGENT, aspect="latency_p95"))
    assert [name for _, name in levels(table.rows)] == [None, "best", "fine", "weak"]
    marks = {row.record["level"]: row.severity.get("") for row in table.rows}
    assert marks == {None: None, "best": "bad", "fine": None, "weak": "good"}


def test_a_level_whose_interval_leaves_out_0_is_not_marked_where_it_is_one_of_many() -> None:
    lucky = replace(level("lucky", 1.0), p=0.04, p_adjusted=0.06)
    rows = effects(answer(FactorEffect("agent", [lucky, level("even", -1.0)], 0.1, 0.1))).rows
    assert {row.record["level"]: row.severity.get("") for row in rows} == {None: None, "lucky": None, "even": "bad"}


def test_a_level_is_marked_only_where_its_effect_is_more_than_chance() -> None:
    marks = {row.record["level"]: row.severity.get("") for row in effects(answer(AGENT)).rows}
    assert marks == {None: None, "weak": "bad", "fine": None, "best": "good"}
    assert not any(row.severity for row in effects(answer(AGENT, aspect="turn_count")).rows)


def test_records_have_the_keys_of_the_data_interface(store: Store) -> None:
    for row in show(store, "effects", Request()).rows:
        assert row.record.keys() >= KEYS
        factor = not row.where and row.record["effect"] is None and row.record["mean"] is None
        assert (row.record["alone"] is not None) is factor


def test_a_level_leads_to_what_lies_behind_it(store: Store) -> None:
    rows = {(row.record["factor"], row.record["level"]): row for row in show(store, "effects", Request()).rows}
    for (factor, name), row in rows.items():
        if factor in ("agent", "flow", "persona") and row.where:
            below = show(store, "flows", Request(where=row.where))
            assert sum(cell.record["n"] for cell in below.rows) == row.record["n"], name
    assert rows["judge", "codex"].where == "judge=codex"
    (judge,) = show(store, "judges", Request(where="judge=codex")).rows
    assert judge.record["n"] == rows["judge", "codex"].record["n"]
    assert rows["judge", COMPUTED].where == ""
    assert rows["persona", None].where in ("", "persona=·")


def test_a_filter_narrows_calls_judges_or_rows(store: Store) -> None:
    def shown(where: str) -> set[tuple[str, str | None]]:
        return set(levels(show(store, "effects", Request(where=where)).rows))

    assert shown("factor=agent") == {("agent", None), ("agent", "gemini"), ("agent", "qwen")}
    assert shown("effect<0 factor=agent") == {("agent", "gemini")}
    assert shown("level=qwen") == shown("qwen") == {("agent", "qwen")}
    assert "agent" not in {factor for factor, _ in shown("agent=gemini")}
    assert "judge" not in {factor for factor, _ in shown("judge=codex")}
    with pytest.raises(FilterError):
        shown("agent=gemini | level=qwen")


def test_an_aspect_can_be_explained_in_the_stead_of_quality(store: Store) -> None:
    table = show(store, "effects", Request(aspect="errors"))
    assert table.title.startswith("What explains errors")
    assert table.dump == "riff-tui dump effects --aspect errors"
    assert "Left out for having one level: judge (computed)." in table.notes
    with pytest.raises(UsageError, match=r"there are quality, .*humanness"):
        show(store, "effects", Request(aspect="warmth"))
    with pytest.raises(UsageError, match="flows is not about one aspect; effects can be"):
        show(store, "flows", Request(aspect="errors"))


def test_it_fits_a_terminal_of_80_columns(store: Store) -> None:
    table = show(store, "effects", Request())
    lines = printed(table, "text").split("\n\n")[1].splitlines()
    assert max(map(len, lines)) <= 80


def test_what_cannot_be_told_apart_is_named() -> None:
    confounded = [Confounding(("agent", "flow"), (("flow", "agent"),)), Confounding(("agent", "flow", "persona"))]
    notes = effects(replace(answer(AGENT), model=replace(model(AGENT), confounded=confounded))).notes
    assert (
        "Confounded: agent and flow cannot be distinguished in these calls (each flow comes with one agent only),"
        " so effects are ·." in notes
    )
    assert "Confounded: agent, flow and persona cannot be distinguished in these calls, so effects are ·." in notes


JUDGE = FactorEffect("judge", [level("lenient"), level("strict")], None, None)


def said_of(overlap: JudgeOverlap) -> list[str]:
    """What is said of judges who did not score the same calls."""
    notes = effects(replace(answer(JUDGE), overlap=overlap)).notes
    return [note for note in notes if note.startswith("Judges")]


def test_it_says_on_which_calls_judges_are_compared_or_that_they_cannot_be() -> None:
    scored, both = {"lenient": 8, "strict": 7}, ("lenient", "strict")
    assert said_of(JudgeOverlap(3, scored, both)) == [
        "Judges are compared on the 3 calls that all of them scored (scored: lenient 8, strict 7)."
    ]
    (apart,) = said_of(JudgeOverlap(0, scored, (), [both]))
    assert apart.startswith("Judges that cannot be compared: no call was scored by both lenient and strict;")
    (none,) = said_of(JudgeOverlap(0, {**scored, "third": 9}))
    assert none.startswith("Judges cannot be compared: no call was scored by all 3 of them;")
    rest, _ = said_of(JudgeOverlap(4, {**scored, "even": 9, "low": 9}, ("even", "low"), [both]))
    assert rest.startswith("Judges are compared on the 4 calls that even and low all scored")


def test_judges_have_the_n_of_the_calls_they_are_compared_on() -> None:
    table = effects(
        replace(answer(AGENT, JUDGE), overlap=JudgeOverlap(3, {"lenient": 8, "strict": 7}, ("lenient", "strict")))
    )
    counts = {row.record["factor"]: row.record["n"] for row in table.rows if row.record["level"] is None}
    assert counts == {"agent": 18, "judge": 3}
    assert table.extras["model"]["judges"] == {
        "common": 3, "scored": {"lenient": 8, "strict": 7}, "compared": ["lenient", "strict"], "apart": [],
    }  # fmt: skip


def test_what_is_left_out_is_said() -> None:
    left = replace(model(AGENT), single=[("flow", "dental"), ("persona", None)], crowded=[("judge", 999)])
    notes = effects(Effects("quality", left, 2, 1)).notes
    assert list(notes)[-4:] == [
        "Left out for having one level: flow (dental), persona (·).",
        "Left out for having too many levels: judge (999); leave calls out with --where.",
        "Not measured: 2 calls have no quality.",
        "Excluded: 1 errored call is not counted in averages.",
    ]


def test_calls_of_failed_callers_are_left_out_apart_from_errored_ones() -> None:
    notes = effects(Effects("quality", model(AGENT), 0, 3, caller_failed=2)).notes
    assert "Excluded: 3 calls are not counted in averages: 1 errored, 2 whose caller failed." in notes


def test_levels_with_one_call_are_counted_beside_the_intervals() -> None:
    lonely = FactorEffect("agent", [level("a", 0.5), level("b", -0.5, None, n=1)], 0.1, 0.1)
    assert any("1 level has one call and so no interval" in note for note in effects(answer(lonely)).notes)
    assert not any("one call" in note for note in effects(answer(AGENT)).notes)


def test_of_few_calls_the_intervals_are_said_to_be_too_narrow() -> None:
    def said(n: int) -> bool:
        notes = effects(Effects("quality", replace(model(AGENT), n=n), 0, 0)).notes
        return any("fewer than 100 calls" in note for note in notes)

    assert said(99)
    assert not said(100)


def test_nothing_to_explain_and_nothing_to_compare_are_said() -> None:
    flat = replace(model(AGENT), together=None, residual=None)
    assert any("Nothing varies" in note for note in effects(Effects("quality", flat, 0, 0)).notes)
    notes = effects(answer()).notes
    assert any("No factor has two levels to compare." in note for note in notes)
    assert not any(note.startswith("share") for note in notes)


def test_rows_of_levels_that_are_called_alike_are_told_apart() -> None:
    twins = FactorEffect("judge", [level("same", -0.1), level("same", 0.1)], 0.1, 0.1)
    ids = [row.id for row in effects(answer(twins)).rows]
    assert len(set(ids)) == len(ids)
