"""Read what a run's config.json says of the agent: its pipeline, its name, and the language that was spoken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from riff_ingest.eva.turns import PipelineType

DEFAULT_DOMAIN = "airline"
DEFAULT_LANGUAGE = "en"
_OLD_NAMES = {"llm_model": "llm", "stt_model": "stt", "tts_model": "tts"}


@dataclass(frozen=True, slots=True)
class Configuration:
    """Hold a run's configuration as far as it is used; `from_old_key` where EVA itself overlooks the model's block."""

    pipeline_type: PipelineType = "cascade"
    agent: str = ""
    domain: str = DEFAULT_DOMAIN
    language: str = DEFAULT_LANGUAGE
    from_old_key: bool = False
    run_id: str | None = None
    commit: str | None = None
    branch: str | None = None
    dataset_path: str | None = None
    agent_config_path: str | None = None


def configuration(document: Mapping[str, Any]) -> Configuration:
    """Return what a config.json says; what it does not say has EVA's defaults."""
    block = document.get("model")
    from_old_key = not (isinstance(block, Mapping) and block)
    if from_old_key:
        block = document.get("pipeline")
    block = block if isinstance(block, Mapping) else {}
    provenance = document.get("provenance")
    provenance = provenance if isinstance(provenance, Mapping) else {}
    return Configuration(
        pipeline_type=pipeline_type_of(block),
        agent=agent_label(block) or _joined(block.get("pipeline_parts") or document.get("pipeline_parts")),
        domain=_text(document.get("domain")) or DEFAULT_DOMAIN,
        language=_text(document.get("language")) or DEFAULT_LANGUAGE,
        from_old_key=from_old_key and bool(block),
        run_id=_text(document.get("run_id")),
        commit=_text(provenance.get("git_commit_sha")),
        branch=_text(provenance.get("git_branch")),
        dataset_path=_text(document.get("dataset_path")),
        agent_config_path=_text(document.get("agent_config_path")),
    )


def pipeline_type_of(block: Mapping[str, Any]) -> PipelineType:
    """Return the kind of pipeline that a model's block describes."""
    speech = block.get("s2s")
    if speech:
        return {"elevenlabs": "cascade", "ultravox": "audio_llm"}.get(str(speech), "s2s")  # type: ignore[return-value]
    if block.get("audio_llm"):
        return "audio_llm"
    return "s2s" if block.get("realtime_model") else "cascade"


def agent_label(block: Mapping[str, Any]) -> str:
    """Return the name of the system under test: its models, joined with a plus; empty where none is named."""
    block = {**block, **{new: block.get(new) or block[old] for old, new in _OLD_NAMES.items() if old in block}}
    if block.get("s2s"):
        parts = [_part(block, "s2s")]
    elif block.get("audio_llm"):
        parts = [_part(block, "audio_llm"), _part(block, "tts")]
    elif block.get("realtime_model"):
        parts = [_part(block, "realtime_model", "realtime")]
    else:
        parts = [_part(block, "stt"), _text(block.get("llm")) or "", _part(block, "tts")]
    return " + ".join(part for part in parts if part)


def _joined(parts: Any) -> str:
    """Return the name that a run's own list of its parts gives, for models under names that are not known here."""
    return " + ".join(filter(None, map(_text, parts.values()))) if isinstance(parts, Mapping) else ""


def _part(block: Mapping[str, Any], name: str, short: str | None = None) -> str:
    for key in (f"{name}_params", f"{short}_params"):
        params = block.get(key)
        if isinstance(params, Mapping):
            named = _text(params.get("alias")) or _text(params.get("model"))
            if named:
                return named
    return _text(block.get(name)) or ""


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
