"""List the metrics: what each measures, of which pipelines, what is better, and what counts as passed (10, 11)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.history import AUDIT, SIMULATOR
from riff_ingest.eva.metrics.score import MetricScore, current_name, number, unmeasured
from riff_ingest.eva.turns import PipelineType
from riff_store.errors import UsageError
from riff_store.metrics import to_compute

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
    """Return whether a metric is measured of calls with such a pipeline; one that is unknown may be."""
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
    """Return whether a version as text is older than another; one that is missing or odd is not."""
    try:
        return tuple(int(digits) for digits in (version or "").split(".")) < other
    except ValueError:
        return False


# Compute metrics that somebody else wrote: functions of a context, named on the command line or by a distribution.
OwnMetric: TypeAlias = Callable[[MetricContext], Any]
"""Returns a number, `None` where it measures nothing of a call, or a `MetricScore`."""

OPTION = "--metric"
NOTHING = "it measures nothing of this call"


@lru_cache(maxsize=1)
def registered() -> Mapping[str, OwnMetric]:
    """Return the functions of the metrics `of_voice` that distributions add, by key."""
    return {metric.key: _function(metric.compute) for metric in to_compute() if metric.of_voice}


def named(paths: Iterable[str], taken: Iterable[str]) -> dict[str, OwnMetric]:
    """Return functions by their names from `module:function`; modules in the current directory are found as well.

    Raises `UsageError` if one is not there, is not a function, or has a name that is `taken`.
    """
    found: dict[str, OwnMetric] = {}
    names = set(taken)
    for path in paths:
        function = _loaded(path)
        name = path.partition(":")[2]
        if name in names:
            raise UsageError(f"{OPTION} {path}: there is a metric {name} already; give the function another name")
        names.add(name)
        found[name] = function
    return found


def own_score(name: str, function: OwnMetric, context: MetricContext) -> MetricScore:
    """Return what a function reports of a call, under its name; never raises whatever that does or returns."""
    try:
        given = function(context)
        if isinstance(given, MetricScore):
            return _checked(name, given)
    except (Exception, SystemExit) as error:  # foreign code may raise anything, and exit
        return unmeasured(name, f"cannot be computed: {type(error).__name__}")
    if given is None:
        return MetricScore(name, skipped=True, details={"reason": NOTHING})
    value = float(given) if isinstance(given, bool) else number(given)
    if value is None:
        if isinstance(given, int | float):
            return unmeasured(name, "returned no finite number")
        return unmeasured(name, f"returned {type(given).__name__} instead of a number, None or a MetricScore")
    return MetricScore(name, value)


def _checked(name: str, score: MetricScore) -> MetricScore:
    for value in (score.score, score.normalized_score):
        if value is not None and number(value) is None:
            return unmeasured(name, "returned a MetricScore whose score is not a finite number")
    try:
        json.dumps(score.to_dict(), allow_nan=False)
    except (TypeError, ValueError):
        return unmeasured(name, "returned a MetricScore whose details are not JSON")
    return replace(score, name=name)


def _loaded(path: str) -> OwnMetric:
    module, _, name = path.partition(":")
    if not (name.isidentifier() and all(part.isidentifier() for part in module.split("."))):
        raise UsageError(f"{OPTION} {path}: it takes module:function, such as my_metrics:interruptions")
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)  # and there it stays, for functions import when they are called, too
    try:
        function: OwnMetric = _function(path)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # foreign code may raise anything, and exit
        hint = f"run this where {module.partition('.')[0]}.py is, or install it"
        why = f"{OPTION} {path}: cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError(why, hint if isinstance(error, ModuleNotFoundError) else "") from error
    if not callable(function):
        raise UsageError(f"{OPTION} {path}: {name} is not a function of a MetricContext")
    return function


def _function(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
