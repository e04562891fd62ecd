"""Read the metrics that EVA stored with a call, and the turns that its judges rated low (10.0, 10.10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.directories import Identity
from riff_ingest.eva.history import Warnings, seconds, whole
from riff_ingest.eva.logs import OUT_OF_ORDER, RECOVERED, find, read_object
from riff_ingest.eva.metrics.registry import METRICS, threshold
from riff_ingest.eva.metrics.score import MetricScore, number
from riff_ingest.eva.trace import LoggedEntry, tools_of
from riff_ingest.lines import BrokenInput
from riff_store.facts import JudgedScore

METRICS_FILE = "metrics.json"
LONGEST_RATIONALE = 1000
NOTHING_TO_JUDGE = -1.0

_T = TypeVar("_T")
_TASK = "task_completion"
_SKIPPED = "Skipped"
_FROM_0_TO_1 = frozenset(
    {
        "agent_speech_fidelity",
        "speakability",
        "transcription_accuracy_key_entities",
        "tts_fidelity",
        "user_behavioral_fidelity",
    }
)
"""Judges whose score is on the normalised scale already."""
_OF_OLD_TURN_TAKING = "per_turn_judge_timing_ratings"


Places: TypeAlias = Mapping[tuple[str, int], int]
"""Where the first thing that a side (`agent`, `caller`) said in a turn stands among all that was said, from 1 on."""
_OF_THE_CALLER = frozenset({"transcription_accuracy_key_entities", "user_speech_fidelity"})
_BEST = {"conciseness": 3.0, "user_speech_fidelity": 3.0}
_BY_CALLS_OF_TOOLS = "transcription_accuracy_key_entities"


def stored_metrics(directory: Path, warnings: Warnings) -> dict[str, Any]:
    """Return what the metrics.json of a conversation has, nothing if it is missing or broken."""
    path = find(directory, METRICS_FILE)
    if path is None:
        return {}
    defects: Counter[str] = Counter()
    try:
        found = read_object(path, defects)
    except BrokenInput as problem:
        warnings.add("metrics_unreadable", problem.reason)
        return {}
    for defect, count in defects.items():
        warnings.add("metrics_defect", defect, count)
    return found


def stored_scores(metrics: Mapping[str, Any], warnings: Warnings) -> dict[str, MetricScore]:
    """Return the scores that a metrics.json has by their current names."""
    given = metrics.get("metrics")
    if given is not None and not isinstance(given, Mapping):
        warnings.add("metrics_unreadable", "its metrics are not an object")
    found = {}
    for name, stored in given.items() if isinstance(given, Mapping) else ():
        if isinstance(stored, Mapping):
            score = MetricScore.from_dict({**stored, "name": name})
            found[score.name] = score
        elif stored is not None:
            warnings.add("metrics_score_unreadable", f"{name} is not an object")
    return found


def stored_pass(scores: Mapping[str, MetricScore]) -> bool | None:
    """Return whether EVA found the task done; `None` if it does not show it."""
    score = scores.get(_TASK)
    if score is None or score.skipped or score.value is None:
        return None
    return score.value >= threshold(_TASK) - 1e-9


def verdicts(
    scores: Mapping[str, MetricScore], identity: Identity, places: Places, *, audio_native: bool = False
) -> Iterator[JudgedScore]:
    """Yield the verdicts of judges: every stored score that is not computed here, by a judge of the metric's name.

    Their order in the file represents lines; `places` are those of the call's turns.
    """
    judged = [score for score in scores.values() if is_judged(score)]
    for place, score in enumerate(judged, start=1):
        value, rationale = _verdict(score)
        yield JudgedScore(
            run=identity.run,
            conversation=identity.conversation,
            judge=score.name,
            aspect=score.name,
            score=value,
            judged_at=None,
            rationale=rationale,
            prompt_hash=score.prompt_hash,
            prompt_version=score.version,
            line=place,
            evidence=named_turns(score, places, audio_native=audio_native),
        )


def is_judged(score: MetricScore) -> bool:
    """Return whether a judge gave a score: what can be computed is not judged, but for old turn-taking (10.3)."""
    known = METRICS.get(score.name)
    return known is None or known.judged or (score.name == "turn_taking" and _OF_OLD_TURN_TAKING in score.details)


def _verdict(score: MetricScore) -> tuple[float | None, str | None]:
    """Return a score from 0 to 10 with why, or `None` with the reason why there is none."""
    if score.error is not None:
        return None, _short(score.error)
    if score.skipped:
        return None, _short(
            _said(score.details.get("skipped_reason")) or _said(score.details.get("reason")) or _SKIPPED
        )
    value = score.normalized_score
    if value is None and score.name in _FROM_0_TO_1:
        value = score.score
    if value == NOTHING_TO_JUDGE or score.score == NOTHING_TO_JUDGE:
        return None, "There was nothing to judge"
    if value is None:
        return None, "It has no score from 0 to 1" if score.score is not None else "It has no score"
    if not 0 <= value <= 1:
        return None, f"Its score {value:g} is not between 0 and 1"
    return round(10 * value, 6), _rationale(score.details)


def _rationale(details: Mapping[str, Any]) -> str | None:
    """Return the reason in short: the explanation as a whole, else by dimension or by turn; never a model's prompt."""
    explanation = details.get("explanation")
    if text := _said(explanation):
        return _short(text)
    parts = []
    if isinstance(explanation, Mapping):
        parts += _parts(explanation.get("dimensions", explanation))
    parts += _parts(details.get("corruption_analysis"))
    for name, said in details.items():
        if name.startswith("per_turn_") and name.endswith("explanations"):
            parts += _parts(said, "turn ")
    return _short("; ".join(parts)) if parts else None


def _parts(said: Any, label: str = "") -> list[str]:
    if not isinstance(said, Mapping):
        return []
    found = []
    for name, part in said.items():
        if isinstance(part, Mapping):
            raised = part.get("flagged", part.get("detected", True))
            evidence = _said(part.get("evidence")) or _said(part.get("analysis")) or _said(part.get("explanation"))
            part = evidence if raised else None
        if text := _said(part):
            found.append(f"{label}{name}: {text}")
    return found


def _said(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_RATIONALE else f"{text[: LONGEST_RATIONALE - 1]}…"


def named_turns(score: MetricScore, places: Places, *, audio_native: bool = False) -> list[int] | None:
    """Return what was said in turns that have less than the best rating.

    `None` if the judge rates no single turns.
    """
    if score.error is not None or score.skipped or (audio_native and score.name == _BY_CALLS_OF_TOOLS):
        return None
    normalized, ratings = score.details.get("per_turn_normalized"), score.details.get("per_turn_ratings")
    rated = normalized if isinstance(normalized, Mapping) else ratings
    if not isinstance(rated, Mapping):
        return None
    best = 1.0 if rated is normalized else _BEST.get(score.name, 1.0)
    side = "caller" if score.name in _OF_THE_CALLER else "agent"
    worse = [key for key, given in rated.items() if (value := number(given)) is not None and 0 <= value < best]
    found = (places.get((side, turn)) for turn in map(_turn, worse) if turn is not None)
    return sorted(place for place in found if place is not None) or None


def _turn(key: Any) -> int | None:
    return int(key) if isinstance(key, str) and len(key) < 10 and key.isascii() and key.isdecimal() else None


# Take turns and times from EVA's own view of a call where its logs do not have its order (10).
CONTEXT_TAKEN = "stored_context_taken"
_TYPES = ("intended", "transcribed", "tool_call", "tool_response")
_TEXTS = tuple(f"{how}_{side}_turns" for how in ("transcribed", "intended") for side in ("assistant", "user"))
_AUDIO = ("audio_timestamps_assistant_turns", "audio_timestamps_user_turns")
_SETS = ("assistant_interrupted_turns", "user_interrupted_turns")


def take_stored_context(context: MetricContext, given: Any, warnings: Warnings) -> None:
    """Put the turns and times that EVA stored in the place of those of the logs, if these are no good.

    They are none if their times run back, where lines were written after the call, and where a side that EVA has words
    of shows nothing in them.
    """
    stored = given if isinstance(given, Mapping) else {}
    listed = stored.get("conversation_trace")
    entries = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    trace = [entry for each in entries if (entry := _entry(each)) is not None]
    why = _why_stored(context, entries, trace)
    if not trace or why is None:
        return
    warnings.add(CONTEXT_TAKEN, f"{why}, so turns and times are those of {METRICS_FILE}")
    tools = tools_of(trace)
    context.conversation_trace, context.num_tool_calls = trace, len(tools.params)
    context.tool_called, context.tool_params, context.tool_responses = tools.called, tools.params, tools.responses
    for name in _TEXTS:
        setattr(context, name, _by_turn(stored.get(name), lambda text: text if isinstance(text, str) else None))
    for name in _AUDIO:
        setattr(context, name, _by_turn(stored.get(name), _segments))
    for name in _SETS:
        setattr(context, name, frozenset(each for each in _listed(stored.get(name)) if type(each) is int))
    known = _by_turn(stored.get("latency_assistant_turns"), number)
    context.latency_assistant_turns = {turn: value for turn, value in known.items() if value is not None}
    context.num_assistant_turns, context.num_user_turns = (_turns_of(trace, side) for side in ("assistant", "user"))
    began = [each.timestamp for each in trace if each.timestamp is not None]
    sounds = (spans for name in _AUDIO for spans in getattr(context, name).values())
    began += [int(start * 1000) for spans in sounds for start, _ in spans or ()]
    context.started_ms = min((each for each in began if each > 0), default=context.started_ms)


def _why_stored(
    context: MetricContext, entries: Sequence[Mapping[str, Any]], trace: Sequence[LoggedEntry]
) -> str | None:
    kinds = [line.partition(":")[0] for line in context.warnings]
    if any(kind.endswith(OUT_OF_ORDER) for kind in kinds):
        return "times of the logs run back"
    if RECOVERED in kinds or any(each.get("recovered_post_call") is True for each in entries):
        return "lines were written after the call"
    silent = {each.role for each in trace} - {each.role for each in context.conversation_trace} - {None}
    return f"the logs have no words of {' and '.join(sorted(map(str, silent)))}" if silent else None


def _entry(given: Mapping[str, Any]) -> LoggedEntry | None:
    kind, turn = given.get("type"), given.get("turn_id")
    turn = turn if type(turn) is int else _turn(turn)
    role, content = given.get("role"), given.get("content")
    is_said = kind in ("intended", "transcribed")
    if kind not in _TYPES or turn is None or (is_said and (role not in ("assistant", "user") or content is None)):
        return None
    return LoggedEntry(
        kind,
        turn,
        whole(given.get("timestamp")),
        role=role if is_said else None,
        content=content if isinstance(content, str) else None,
        tool_name=None if is_said else given.get("tool_name"),
        parameters=given.get("parameters") if kind == "tool_call" else None,
        tool_response=given.get("tool_response") if kind == "tool_response" else None,
    )


def _by_turn(given: Any, take: Callable[[Any], _T]) -> dict[int, _T]:
    found = given.items() if isinstance(given, Mapping) else ()
    return {turn: take(value) for key, value in found if (turn := _turn(key)) is not None}


def _segments(given: Any) -> list[tuple[float, float]] | None:
    pairs = (each for each in _listed(given) if isinstance(each, list) and len(each) == 2)
    spans = [(seconds(start), seconds(end)) for start, end in pairs]
    return [(start, end) for start, end in spans if start is not None and end is not None and start <= end] or None


def _turns_of(trace: Sequence[LoggedEntry], side: str) -> int:
    return len({each.turn_id for each in trace if each.role == side})


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else []
