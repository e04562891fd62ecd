"""List the metrics: what each measures, of which pipelines, what is better, and what counts as passed (10, 11)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from riff_ingest.eva.history import AUDIT, SIMULATOR
from riff_ingest.eva.metrics.score import current_name
from riff_ingest.eva.turns import PipelineType

Category: TypeAlias = Literal["accuracy", "experience", "diagnostic", "validation"]

DEFAULT_THRESHOLD = 0.5
_EXPERIENCE_THRESHOLD_SINCE = (2, 0, 0)
_ALL: tuple[PipelineType, ...] = ("cascade", "audio_llm", "s2s")
_HEARD = (SIMULATOR,)
_WITH_VOICE: tuple[PipelineType, ...] = ("cascade", "audio_llm")


@dataclass(frozen=True, slots=True)
class EvaMetric:
    """Describe a metric: `judged` ones are taken as stored; a trial passes from `threshold` on where `in_trials`.

    `needs` names the logs without which it cannot be computed.
    """

    name: str
    category: Category
    judged: bool = False
    threshold: float = DEFAULT_THRESHOLD
    in_trials: bool = True
    pipelines: tuple[PipelineType, ...] = _ALL
    higher_is_better: bool = True
    needs: tuple[str, ...] = ()


_METRICS = (
    EvaMetric("task_completion", "accuracy", threshold=1.0),
    EvaMetric("faithfulness", "accuracy", judged=True),
    EvaMetric("agent_speech_fidelity", "accuracy", judged=True, threshold=0.95),
    EvaMetric("turn_taking", "experience", threshold=0.8, needs=_HEARD),
    EvaMetric("conversation_progression", "experience", judged=True),
    EvaMetric("conciseness", "experience", judged=True),
    EvaMetric("authentication_success", "diagnostic", in_trials=False),
    EvaMetric("response_speed", "diagnostic", in_trials=False, higher_is_better=False, needs=_HEARD),
    EvaMetric("tool_call_validity", "diagnostic", in_trials=False, needs=(AUDIT,)),
    EvaMetric("stt_wer", "diagnostic", in_trials=False, pipelines=("cascade",), needs=(AUDIT, SIMULATOR)),
    EvaMetric("conversation_correctly_finished", "diagnostic", in_trials=False),
    EvaMetric("conversation_completed_on_time", "diagnostic", in_trials=False),
    EvaMetric("speakability", "diagnostic", judged=True, in_trials=False, pipelines=_WITH_VOICE),
    EvaMetric("transcription_accuracy_key_entities", "diagnostic", judged=True, in_trials=False),
    EvaMetric("tts_fidelity", "diagnostic", judged=True, in_trials=False, pipelines=_WITH_VOICE),
    EvaMetric("conversation_valid_end", "validation", needs=_HEARD),
    EvaMetric("user_behavioral_fidelity", "validation", judged=True),
    EvaMetric("user_speech_fidelity", "validation", judged=True),
)
METRICS: MappingProxyType[str, EvaMetric] = MappingProxyType({metric.name: metric for metric in _METRICS})


def applies(name: str, pipeline_type: PipelineType) -> bool:
    """Tell whether a metric is measured of calls with such a pipeline; one that is unknown may be."""
    known = METRICS.get(current_name(name))
    return known is None or pipeline_type in known.pipelines


def threshold(name: str, metrics_version: str | None = None) -> float:
    """Return the value from which a metric counts as passed, by the rules of the version that the run was made with."""
    known = METRICS.get(current_name(name))
    if known is None:
        return DEFAULT_THRESHOLD
    if known.name == "turn_taking" and is_before(metrics_version, _EXPERIENCE_THRESHOLD_SINCE):
        return DEFAULT_THRESHOLD
    return known.threshold


def higher_is_better(name: str) -> bool:
    """Return the direction of a metric, or of a part of one (`metric.key`): rates lower, accuracies higher (10.0).

    By this `on_time_rate` is better the lower it is (quirk 7).
    """
    metric, dot, _ = current_name(name).partition(".")
    if dot and name.endswith("_rate"):
        return False
    if dot and name.endswith("_accuracy"):
        return True
    known = METRICS.get(metric)
    return known is None or known.higher_is_better


def is_before(version: str | None, other: tuple[int, ...]) -> bool:
    """Tell whether a version as text is older than another; one that is missing or odd is not."""
    try:
        return tuple(int(digits) for digits in (version or "").split(".")) < other
    except ValueError:
        return False
