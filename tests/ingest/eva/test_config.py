"""What config.json says of a run (3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surface.ingest import configuration

PARTS = {"stt": "cartesia", "llm": "gpt", "tts": "sonic"}


@pytest.mark.parametrize(
    ("block", "pipeline", "agent"),
    [
        ({}, "cascade", ""),
        (PARTS, "cascade", "cartesia + gpt + sonic"),
        ({"stt_model": "cartesia", "llm_model": "gpt", "tts_model": "sonic"}, "cascade", "cartesia + gpt + sonic"),
        ({"llm": None, "llm_model": "gpt"}, "cascade", "gpt"),
        ({"llm": "new", "llm_model": "old"}, "cascade", "new"),
        ({**PARTS, "stt_params": {"model": "ink"}}, "cascade", "ink + gpt + sonic"),
        ({**PARTS, "stt_params": {"model": "ink", "alias": "pen"}}, "cascade", "pen + gpt + sonic"),
        ({**PARTS, "tts_params": {"alias": "", "model": None}}, "cascade", "cartesia + gpt + sonic"),
        ({**PARTS, "llm_params": {"alias": "never"}}, "cascade", "cartesia + gpt + sonic"),
        ({**PARTS, "tts": ""}, "cascade", "cartesia + gpt"),
        ({**PARTS, "s2s": "", "audio_llm": None, "realtime_model": ""}, "cascade", "cartesia + gpt + sonic"),
        ({"s2s": "openai", "s2s_params": {"model": "realtime-2"}}, "s2s", "realtime-2"),
        ({**PARTS, "s2s": "gemini"}, "s2s", "gemini"),
        ({"s2s": "elevenlabs", "s2s_params": {"alias": "eleven"}}, "cascade", "eleven"),
        ({"s2s": "ultravox"}, "audio_llm", "ultravox"),
        ({"audio_llm": "voxtral", "tts": "sonic", "stt": "none"}, "audio_llm", "voxtral + sonic"),
        ({"audio_llm": "voxtral", "audio_llm_params": {"alias": "v2"}}, "audio_llm", "v2"),
        ({"audio_llm": "voxtral", "realtime_model": "x"}, "audio_llm", "voxtral"),
        ({"realtime_model": "gpt-realtime"}, "s2s", "gpt-realtime"),
        ({"realtime_model": "gpt", "realtime_model_params": {"model": "gpt-2"}}, "s2s", "gpt-2"),
        ({"pipeline_parts": {"ears": "a", "none": None, "mouth": "b"}}, "cascade", "a + b"),
        ({**PARTS, "pipeline_parts": {"ears": "a"}}, "cascade", "cartesia + gpt + sonic"),
    ],
)
def test_the_models_name_the_agent_and_its_pipeline(block: dict[str, Any], pipeline: str, agent: str) -> None:
    found = configuration({"model": block})
    assert (found.pipeline_type, found.agent, found.from_old_key) == (pipeline, agent, False)


def test_the_old_key_counts_only_where_the_new_one_says_nothing() -> None:
    """Quirk 1 is told, not kept."""
    old = {"realtime_model": "gpt-realtime"}
    models: list[Any] = [{}, None, "text"]
    for model in models:
        found = configuration({"model": model, "pipeline": old})
        assert (found.pipeline_type, found.from_old_key) == ("s2s", True)
    assert configuration({"pipeline": old}).agent == "gpt-realtime"
    found = configuration({"model": PARTS, "pipeline": old})
    assert (found.pipeline_type, found.from_old_key) == ("cascade", False)


@pytest.mark.parametrize("document", [{}, {"model": 5, "pipeline": [], "language": 7, "provenance": "x", "domain": ""}])
def test_what_is_not_said_has_the_usual_values(document: dict[str, Any]) -> None:
    found = configuration(document)
    assert (found.pipeline_type, found.agent, found.domain, found.language) == ("cascade", "", "airline", "en")
    assert (found.run_id, found.commit, found.branch, found.from_old_key) == (None, None, None, False)


def test_where_a_run_comes_from_is_known() -> None:
    provenance = {"git_commit_sha": "abc", "git_branch": "main"}
    found = configuration({"run_id": "r", "language": "de", "domain": "itsm", "provenance": provenance})
    assert (found.run_id, found.language, found.domain, found.commit, found.branch) == (
        "r",
        "de",
        "itsm",
        "abc",
        "main",
    )
