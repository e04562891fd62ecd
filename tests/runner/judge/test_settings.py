"""Judges are described in the settings file; what makes no sense there is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.surface.runner import (
    PRESETS,
    ConversationName,
    Misconfigured,
    OpenAIJudge,
    Prices,
    Rubric,
    Signature,
    Usage,
    judge_settings,
)

HERE = Path()
LOCAL = {"kind": "openai", "base_url": "http://127.0.0.1:8000/v1", "model": "m"}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_needs_nothing_but_its_key(name: str) -> None:
    pytest.importorskip("aiohttp")
    config = judge_settings(name, {}, HERE)
    assert config.sign(ConversationName("r", "c")) == Signature(str(PRESETS[name]["model"]), Rubric().prompt_hash)
    variable = str(PRESETS[name]["key_variable"])
    assert isinstance(config.judge({variable: " sk-1\n"}), OpenAIJudge)
    for environ in ({}, {variable: " "}):
        with pytest.raises(Misconfigured, match=rf"expected in \${variable}, which is not set"):
            config.judge(environ)


def test_a_table_changes_its_preset_and_may_name_one() -> None:
    tables = {"gemini": {"model": "other"}, "mine": {"preset": "dashscope", "concurrency": 9, "timeout": 5}}
    assert judge_settings("gemini", tables, HERE).values["base_url"] == PRESETS["gemini"]["base_url"]
    assert judge_settings("gemini", tables, HERE).values["model"] == "other"
    mine = judge_settings("mine", tables, HERE)
    assert mine.values["key_variable"] == "DASHSCOPE_API_KEY"
    assert (mine.at_once, mine.retry_policy.timeout, mine.retry_policy.tries) == (9, 5.0, 5)


def test_a_name_of_a_preset_may_stand_for_something_else() -> None:
    assert "base_url" not in judge_settings("gemini", {"gemini": {"kind": "command", "argv": ["gemini"]}}, HERE).values


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (None, "neither a preset nor in the settings file; there are dashscope, gemini, openai"),
        ("x", "has to be a table"),
        ({}, "kind has to be one of openai, command, replay"),
        ({"kind": "magic"}, "kind has to be one of"),
        ({"preset": "claude"}, "no preset 'claude'; known are gemini, dashscope, openai"),
        ({"kind": "openai", "model": "m"}, "base_url is missing"),
        ({"kind": "openai", "base_url": "https://x/v1"}, "model is missing"),
        ({"kind": "command"}, "argv is missing"),
        ({"kind": "command", "argv": []}, "argv is missing"),
        ({"kind": "command", "argv": "codex exec"}, "argv must be a list of text"),
        ({"kind": "command", "argv": [1]}, "argv must be a list of text"),
        ({"kind": "replay"}, "path is missing"),
        ({**LOCAL, "key": "sk-1"}, "unknown key 'key' for kind openai; known are base_url, concurrency"),
        ({**LOCAL, "concurrency": 0}, "concurrency must be above 0"),
        ({**LOCAL, "concurrency": True}, "concurrency must be a whole number"),
        ({**LOCAL, "timeout": 0}, "timeout must be above 0"),
        ({**LOCAL, "timeout": float("inf")}, "timeout must be a number"),
        ({**LOCAL, "price_input": -1}, "price_input must be a number"),
        ({**LOCAL, "extra": [1]}, "extra must be a table"),
        ({**LOCAL, "json_mode": "no"}, "json_mode must be true or false"),
        ({**LOCAL, "rubric": "nowhere.txt"}, "rubric .*nowhere.txt cannot be read: No such file"),
    ],
)
def test_what_makes_no_sense_is_named(table: Any, message: str) -> None:
    with pytest.raises(Misconfigured, match=message):
        judge_settings("mine", {} if table is None else {"mine": table}, HERE)


def test_criteria_of_ones_own_make_another_prompt(tmp_path: Path) -> None:
    (tmp_path / "strict.txt").write_text("Is it polite?\n", encoding="utf-8")
    config = judge_settings("mine", {"mine": {**LOCAL, "rubric": "strict.txt"}}, tmp_path)
    assert config.rubric.text.startswith("Is it polite?")
    signature = config.sign(ConversationName("r", "c"))
    assert signature is not None
    assert signature.prompt_hash != Rubric().prompt_hash
    (tmp_path / "strict.txt").write_text(" \n", encoding="utf-8")
    with pytest.raises(Misconfigured, match="is empty"):
        judge_settings("mine", {"mine": {**LOCAL, "rubric": "strict.txt"}}, tmp_path)


def test_a_recording_that_is_not_there_is_named(tmp_path: Path) -> None:
    config = judge_settings("old", {"old": {"kind": "replay", "path": "gone"}}, tmp_path)
    with pytest.raises(Misconfigured, match=r"path: there is no .*gone"):
        config.sign(ConversationName("r", "c"))


def test_cost_is_known_only_where_both_prices_are() -> None:
    usage = Usage(2_000_000, 500_000)
    assert Prices(0.3, 2.5).cost(usage) == pytest.approx(1.85)
    assert Prices(0.3).cost(usage) is None
    assert Prices().cost(usage) is None
