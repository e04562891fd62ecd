"""Turn a line of `results.jsonl` into a call, and what pipecat says of it into verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import flag_of, number_of, object_of, objects_of, text_of
from riff_ingest.lines import BrokenInput
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.pipecat_evals.messages import Messages
from riff_store.facts import JudgedScore

JUDGE = "pipecat"
SCRIPT, SIMULATION = "script", "simulation"
PASSED, SUCCESS = "passed", "success"

_BROKEN = frozenset({"connect_failed", "closed_before_ready", "handshake_timeout", "error", "judge_no_verdict"})
"""What goes wrong in a script, or in a metric, and is not the agent's fault."""
_STOPS = {"max_duration": "timeout", "bot_ended": "bot"}
_ENDINGS = (".py", ".yaml", ".yml", ".json", ".toml")


def is_result(record: Mapping[str, Any]) -> bool:
    """Tell whether a record is a line of such a file."""
    return record.get("kind") in (SCRIPT, SIMULATION) and "bot" in record and "passed" in record


def call_of(record: Mapping[str, Any], messages: Messages, *, run: str, started_at: str | None) -> Conversation:
    """Return the call of a line; raise `BrokenInput` where it is of no kind that is known, or was not made."""
    kind = record.get("kind")
    if kind not in (SCRIPT, SIMULATION):
        raise BrokenInput("its kind is neither script nor simulation")
    bot, scenario = text_of(record.get("bot")) or "(unknown)", text_of(record.get("scenario"))
    name = text_of(record.get("name")) or scenario or bot
    attempt = number_of(record.get("attempt"), 1)
    conversation = name if attempt is None else f"{name}-{attempt:.0f}"
    if record.get("skipped"):
        raise BrokenInput("the suite skipped it", conversation=conversation)
    milliseconds = number_of(record.get("duration_ms"))
    error = _error(record, messages)
    done = flag_of(record.get("succeeded" if kind == SIMULATION else "passed"))
    call = Conversation(
        conversation_id=conversation,
        flow=_stem(bot),
        run_id=run,
        agent_model=bot,
        scenario=scenario,
        trial=0 if attempt is None else int(attempt) - 1,
        started_at=started_at,
        duration_s=None if milliseconds is None else milliseconds / 1000,
        completed=None if error else done,
        stop_reason="error" if error else _stop_reason(record, done),
        final_status=text_of(record.get("ended_by")),
        errored=error is not None,
        error=error,
        caller=kind,
        measured={} if done is not None and not error else {"completion": None},
    )
    messages.fill(call)
    return call


def verdicts_of(record: Mapping[str, Any], call: Conversation, messages: Messages) -> Iterator[JudgedScore]:
    """Yield what pipecat says of a call: whether it passed, whether it succeeded, and each metric."""
    metrics = objects_of(record.get("metrics"))
    passed = flag_of(record.get("passed"))
    if call.errored or (passed is False and any(_is_unjudged(metric) for metric in metrics)):
        passed = None
    yield _verdict(call, PASSED, _ten(passed), _failures(record))
    if record.get("kind") == SIMULATION:
        succeeded = None if call.errored else flag_of(record.get("succeeded"))
        yield _verdict(call, SUCCESS, _ten(succeeded), text_of(record.get("reason")))
    for metric in metrics:
        if name := text_of(metric.get("name")):
            turns = [turn for turn in objects_of(metric.get("verdicts")) if turn.get("passed") is False]
            evidence = [place for turn in turns if (place := _place(turn, messages)) is not None]
            yield _verdict(call, name, _score(metric), _rationale(metric, turns), evidence)


def _verdict(
    call: Conversation, aspect: str, score: float | None, rationale: str | None, evidence: list[int] | None = None
) -> JudgedScore:
    return JudgedScore(
        run=call.run_id or "",
        conversation=call.conversation_id,
        judge=JUDGE,
        score=score,
        judged_at=None,
        aspect=aspect,
        rationale=None if rationale is None else PrivateValues().text(rationale),
        evidence=evidence or None,
        flow=call.flow,
        agent=call.agent_model,
        trial=call.trial,
    )


def _error(record: Mapping[str, Any], messages: Messages) -> str | None:
    """Return why a call counts as errored: it could not be made, or not be judged by its script."""
    said = text_of(record.get("error"))
    kinds = [
        kind for failure in objects_of(record.get("failures")) if (kind := text_of(failure.get("kind"))) in _BROKEN
    ]
    if kinds or record.get("ended_by") == "error" or (said and not messages.states.turns):
        return PrivateValues().text(said or (kinds[0] if kinds else "ended by an error"))
    return None


def _stop_reason(record: Mapping[str, Any], done: bool | None) -> str | None:
    """Return how a call ended; a script's that passed came to its end."""
    ended = text_of(record.get("ended_by"))
    if ended == "end_call":
        return "terminal" if object_of(record.get("end_call")).get("success") is True else "hangup"
    if ended == "bot":
        return "terminal" if done else "bot"
    if ended is None:
        kinds = [failure.get("kind") for failure in objects_of(record.get("failures"))]
        ended = next((kind for kind in kinds if kind in ("timeout", "bot_ended")), "terminal" if done else None)
    return _STOPS.get(ended, ended) if ended else None


def _score(metric: Mapping[str, Any]) -> float | None:
    """Return a metric from 0 to 10: ten times its score, which is a share; for what is measured, whether it passed."""
    if _is_unjudged(metric):
        return None
    score = number_of(metric.get("score"), highest=1)
    if score is not None:
        return 10 * score
    if metric.get("score") is not None or metric.get("value") is None:
        return None
    return _ten(flag_of(metric.get("passed")))


def _is_unjudged(metric: Mapping[str, Any]) -> bool:
    return text_of(metric.get("failure_kind")) in _BROKEN


def _ten(passed: bool | None) -> float | None:
    return None if passed is None else 10.0 * passed


def _rationale(metric: Mapping[str, Any], failed: list[dict[str, Any]]) -> str | None:
    value = number_of(metric.get("value"), lowest=float("-inf"))
    kind = text_of(metric.get("failure_kind"))
    parts = [text_of(metric.get("reason")), None if value is None else f"value {value:g}"]
    parts.append(kind.replace("_", " ") if kind else None)
    parts += [f"bot turn {turn.get('turn')}: {reason}" for turn in failed if (reason := text_of(turn.get("reason")))]
    return "; ".join(part for part in parts if part) or None


def _failures(record: Mapping[str, Any]) -> str | None:
    """Return what of a script did not come, as its failures say."""
    found = []
    for failure in objects_of(record.get("failures")):
        turn, event = number_of(failure.get("turn_index")), text_of(failure.get("event_name"))
        place = [f"turn {turn:.0f}"] if turn is not None else []
        what = text_of(failure.get("reason")) or (text_of(failure.get("kind")) or "failed").replace("_", " ")
        found.append(f"{', '.join([*place, *([event] if event else [])]) or 'script'}: {what}")
    return "; ".join(found) or None


def _place(verdict: Mapping[str, Any], messages: Messages) -> int | None:
    """Return the place among all turns of the bot's turn that a verdict is about."""
    number = number_of(verdict.get("turn"), 1, len(messages.answers))
    return None if number is None else messages.answers[int(number) - 1]


def _stem(bot: str) -> str:
    """Return the name of a bot without its directory and the ending of its file."""
    name = bot.replace("\\", "/").rstrip("/").rpartition("/")[2] or bot
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    return name
