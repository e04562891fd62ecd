"""Compute metrics that somebody else wrote: functions of a context, named on the command line or by a distribution."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.score import MetricScore, number, unmeasured
from riff_store.errors import UsageError
from riff_store.metrics import to_compute

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

    Raises `UsageError` where one is not there, is no function, or has a name that is `taken`.
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
    """Return what a function says of a call, under its name; never raises whatever that does or returns."""
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
            return unmeasured(name, "returned a MetricScore whose score is no finite number")
    try:
        json.dumps(score.to_dict(), allow_nan=False)
    except (TypeError, ValueError):
        return unmeasured(name, "returned a MetricScore whose details are no JSON")
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
        hint = f"run this where {module.partition('.')[0]}.py lies, or install it"
        why = f"{OPTION} {path}: cannot be loaded: {type(error).__name__}: {error}"
        raise UsageError(why, hint if isinstance(error, ModuleNotFoundError) else "") from error
    if not callable(function):
        raise UsageError(f"{OPTION} {path}: {name} is no function of a MetricContext")
    return function


def _function(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
