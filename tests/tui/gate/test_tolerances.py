"""What is checked: read to the letter, in each aspect's own unit, and later words go before earlier ones."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import ALWAYS, DEFAULTS, UsageError, configured, read
from tests.surface.tui import rules_merged as merged


@pytest.mark.parametrize(
    ("text", "aspect", "judge", "drop"),
    [
        ("completion=5%", "completion", None, 0.5),
        ("completion=0.5", "completion", None, 0.5),
        ("success_rate=5%", "success_rate", None, 0.05),
        ("success=0.05", "success_rate", None, 0.05),
        ("errors=0", "errors", None, 0.0),
        (" correctness = 1 ", "correctness", None, 1.0),
        ("latency_p95=20", "latency_p95", None, 20.0),
        ("lat_p95=0.5", "latency_p95", None, 0.5),
        ("latency_mean=1e-1", "latency_mean", None, 0.1),
        ("humanness=0.5", "humanness", None, 0.5),
        ("humanness:codex=0.5", "humanness", "codex", 0.5),
        ("humanness:a=b:c=2", "humanness", "a=b:c", 2.0),
    ],
)
def test_a_drop_is_read_in_the_aspects_own_unit(text: str, aspect: str, judge: str | None, drop: float) -> None:
    found = read(text)
    assert (found.aspect, found.judge, found.explicit) == (aspect, judge, True)
    assert found.drop == pytest.approx(drop)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("completion", "it takes ASPECT=X"),
        ("=3", "no aspect of that name"),
        ("turn_count=3", "no aspect of that name is checked; known are success_rate, quality, correctness"),
        ("succes_rate=3", "no aspect of that name is checked; did you mean success_rate?"),
        ("completion=", "points from 0 to 10, such as 0.5, or percent"),
        ("completion=-1", "points from 0 to 10"),
        ("completion=11", "points from 0 to 10"),
        ("completion=nan", "points from 0 to 10"),
        ("completion=101%", "points from 0 to 10"),
        ("success_rate=5", "a share from 0 to 1, such as 0.05 or 5%"),
        ("errors=5%", "points from 0 to 10, such as 0.5$"),
        ("latency_p95=inf", "it takes seconds"),
        ("latency_p95=5%", "it takes seconds"),
        ("errors:codex=1", "only humanness has judges"),
        ("humanness:=1", "a judge's name belongs after the colon"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        read(text)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UsageError):
        assert read(text).drop >= 0


def test_without_a_word_three_aspects_may_not_fall_at_all() -> None:
    assert merged() == DEFAULTS
    assert [(each.aspect, each.drop, each.explicit) for each in DEFAULTS] == [(aspect, 0.0, False) for aspect in ALWAYS]


def test_what_is_said_later_goes_before_and_takes_nothing_away() -> None:
    found = merged([read("errors=1"), read("humanness=2")], [read("errors=3"), read("humanness:codex=1")])
    assert {each.name: each.drop for each in found} == {
        "success_rate": 0.0, "completion": 0.0, "errors": 3.0, "humanness": 2.0, "humanness:codex": 1.0,
    }  # fmt: skip


def test_two_drops_of_the_same_in_one_breath_are_refused() -> None:
    assert merged([read("errors=1"), read("errs=1.0")])
    with pytest.raises(UsageError, match="errors: is given twice"):
        merged([read("errors=1"), read("errors=2")])


def test_flags_go_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        'jobs = 2\n[gate]\nmin_n = 8\n[gate.max_drop]\nerrors = 1\ncompletion = "5%"\nsuccess_rate = 0.1\n'
        '"humanness:codex" = 2',
        encoding="utf-8",
    )
    environ = {"RIFF_TUI_CONFIG": str(path), "RIFF_TUI_GATE_MAX_DROP": "errors=2, success_rate=20%"}
    found = configured(["success_rate=30%"], environ=environ)
    assert found.min_n == 8
    assert {each.name: each.drop for each in found.tolerances} == {
        "success_rate": pytest.approx(0.3), "completion": 0.5, "errors": 2.0, "humanness:codex": 2.0,
    }  # fmt: skip
    assert configured([], 3, strict=True, environ=environ).min_n == 3
    assert configured([], environ={"RIFF_TUI_CONFIG": str(tmp_path / "none")}).tolerances == DEFAULTS


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("gate = 3", r"gate must be a table, \[gate\]"),
        ("[gate]\nmax_drops = 1", "has no key 'max_drops'; did you mean max_drop?"),
        ("[gate]\nmax_drop = 1", r"such as \[gate.max_drop\]"),
        ("[gate.max_drop]\nerrors = true", "must be a number"),
        ("[gate.max_drop]\nerrors = 40", "gate.max_drop errors=40: it takes points"),
        ("[gate]\nmin_n = 0", "a whole number from 1"),
        ("[gate]\nmin_n = true", "a whole number from 1"),
    ],
)
def test_a_settings_file_that_makes_no_sense_is_named(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=reason) as caught:
        configured([], environ={"RIFF_TUI_CONFIG": str(path)})
    assert str(path) in str(caught.value)


def test_a_variable_that_makes_no_sense_is_named() -> None:
    with pytest.raises(UsageError, match=r"\$RIFF_TUI_GATE_MAX_DROP errors: it takes"):
        configured([], environ={"RIFF_TUI_GATE_MAX_DROP": "errors"})
