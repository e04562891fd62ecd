"""Read the calls of pipecat's evals, and what pipecat reports of them as verdicts."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import flag_of, load_document, number_of, object_of, objects_of, read_values, text_of
from riff_ingest.lines import BrokenInput, read_start
from riff_ingest.private_values import PrivateValues
from riff_ingest.source import ReadContext, ReadItem, numbered, run_of
from riff_ingest.source import text_of as name_of
from riff_ingest.sources.pipecat_evals.messages import Messages, is_messages, messages_of
from riff_store.facts import JudgedScore, Skipped

RESULTS = ("results.jsonl", "results.jsonl.gz")
ENDINGS = (".conversation.json", ".conversation.json.gz")
_AS_THEY_ARE = ("artifacts", "messages")
TOLD_ELSEWHERE = "its call is read from the results that name it"

_Told: TypeAlias = tuple[frozenset[str], frozenset[bytes]]
_STAMP = re.compile(r"(20\d\d)-?(\d\d)-?(\d\d)[T_ -]?(\d\d)[:-]?(\d\d)(?:[:-]?(\d\d))?")


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a run with the verdicts on them, and what had to be left out."""
    return numbered(_items(path, context))


def _items(path: Path, context: ReadContext) -> Iterator[tuple[int, Conversation] | JudgedScore | Skipped]:
    if read_start(path).lstrip().startswith(b"[") and is_messages(document := load_document(path)):
        if is_companion(path):
            yield Skipped("defect", None, TOLD_ELSEWHERE)
        else:
            yield from _conversation(path, 0, document, _name(path), context)
        return
    taken = 0
    for value in read_values(path, is_record):
        if isinstance(value, BrokenInput):
            yield Skipped("skipped", value.line, value.reason)
        elif is_messages(value[1]):
            taken += 1
            name = _name(path) if taken == 1 else f"{_name(path)}/{taken}"
            yield from _conversation(path, *value, name, context)
        else:
            yield from _result(path, *value, context)


def _result(
    path: Path, line: int, record: Any, context: ReadContext
) -> Iterator[tuple[int, Conversation] | JudgedScore | Skipped]:
    try:
        if not isinstance(record, dict) or not is_result(record):
            raise BrokenInput("line is not a result of a script or a simulation")
        record = _without_secrets(record)
        kept, reason = (record["messages"], "") if record.get("messages") else _kept_beside(path, record)
        messages = messages_of(kept, context.tool_segments)
        call = call_of(record, messages, run=run_of(path), started_at=_started_at(path))
    except BrokenInput as problem:
        yield Skipped("skipped", line or None, problem.reason, problem.conversation)
        return
    yield line, call
    yield from verdicts_of(record, call, messages)
    if reason:
        yield Skipped("defect", line or None, f"its conversation is not known: {reason}", call.conversation_id)
    yield from _odd(messages, line or None, call)


def _without_secrets(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result without tokens, numbers and signatures of links; what names files stays."""
    rest = {key: value for key, value in record.items() if key not in _AS_THEY_ARE}
    return {**PrivateValues().value(rest), **{key: record[key] for key in _AS_THEY_ARE if key in record}}


def is_record(value: Any) -> bool:
    """Return whether a value is a result or a list of messages."""
    return is_messages(value) or (isinstance(value, dict) and is_result(value))


def _name(path: Path) -> str:
    """Return what a conversation is called that a file has by itself."""
    name = name_of(path.name)
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    return name


def _conversation(
    path: Path, line: int, given: list[Any], name: str, context: ReadContext
) -> Iterator[tuple[int, Conversation] | Skipped]:
    """Yield a conversation of which nothing but its messages is known: its directory names flow and run."""
    messages = messages_of(given, context.tool_segments)
    run = run_of(path)
    call = Conversation(conversation_id=name, flow=run, run_id=run, started_at=_started_at(path))
    messages.fill(call)
    yield line, call
    yield from _odd(messages, None, call)


def _odd(messages: Messages, line: int | None, call: Conversation) -> Iterator[Skipped]:
    if messages.odd:
        reason = f"{messages.odd} of its messages are none and are left out"
        yield Skipped("defect", line, reason, call.conversation_id)


def _kept_beside(path: Path, record: dict[str, Any]) -> tuple[Any, str]:
    """Return the messages in the file that a result names, or why there are none.

    It is looked for by the results and in the directory below that it names.
    """
    name = _file_of(record)
    if name is None or not name.endswith(ENDINGS):
        return None, ""
    below = PurePosixPath(str(record["artifacts"]["conversation"]).replace("\\", "/")).parent.name
    places = [path.parent, *([path.parent / below] if below not in ("", "..") else [])]
    for place in places:
        try:
            if _is_kept_in(place, name, linked=place == path.parent):
                return load_document(place / name), ""
        except BrokenInput as problem:
            return None, problem.reason
        except (OSError, ValueError):
            continue
    return None, "its file is not beside the results"


def _is_kept_in(place: Path, name: str, *, linked: bool) -> bool:
    """Return whether a file is in a place; neither is a link, but for a place that may be `linked`."""
    file = place / name
    return file.is_file() and not file.is_symlink() and (linked or not place.is_symlink())


def _started_at(path: Path) -> str | None:
    """Return when a run was: as its directory is named, if by the time, else when its file was written."""
    found = _STAMP.search(run_of(path))
    with suppress(ValueError, OSError, OverflowError):
        if found:
            year, month, day, hour, minute, second = (int(part or 0) for part in found.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC).isoformat()
        return datetime.fromtimestamp(int(os.stat(path).st_mtime), UTC).isoformat()
    return None


def is_companion(path: Path) -> bool:
    """Return whether a conversation is one of those that a run's results beside it, or above it, list."""
    if not path.name.endswith(ENDINGS):
        return False
    directories = path.parent, path.absolute().parent.parent
    told = [_told_in(directory / name) for directory in directories for name in RESULTS]
    if any(name_of(path.name) in names for names, _ in told):
        return True
    kept = {digest for _, messages in told for digest in messages}
    with suppress(BrokenInput):
        return bool(kept) and _digest(load_document(path)) in kept
    return False


def _told_in(results: Path) -> _Told:
    """Return the names of the files in which a run keeps conversations, and digests of those that it keeps itself."""
    try:
        status = results.stat()
        return _told(results, status.st_mtime_ns, status.st_size)
    except (OSError, BrokenInput):
        return frozenset(), frozenset()


@lru_cache(maxsize=64)
def _told(results: Path, _modified: int, _size: int) -> _Told:
    names, messages = set(), set()
    for value in read_values(results, is_record):
        record = {} if isinstance(value, BrokenInput) else object_of(value[1])
        if name := _file_of(record):
            names.add(name)
        if record.get("messages"):
            messages.add(_digest(record["messages"]))
    return frozenset(names), frozenset(messages)


def _digest(messages: Any) -> bytes:
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).digest()


def _file_of(record: dict[str, Any]) -> str | None:
    """Return the name of the file that a result names as its conversation, without its directory."""
    path = text_of(object_of(record.get("artifacts")).get("conversation"))
    return path.replace("\\", "/").rpartition("/")[2] or None if path else None


# Turn a line of `results.jsonl` into a call, and what pipecat reports of it into verdicts.
JUDGE = "pipecat"
SCRIPT, SIMULATION = "script", "simulation"
PASSED, SUCCESS = "passed", "success"

_BROKEN = frozenset({"connect_failed", "closed_before_ready", "handshake_timeout", "error", "judge_no_verdict"})
"""What goes wrong in a script, or in a metric, and is not the agent's fault."""
_STOPS = {"max_duration": "timeout", "bot_ended": "bot"}
_ENDS = frozenset({*_STOPS, *_BROKEN, "bot", "end_call", "max_turns", "silence", "timeout"})
_OF_PROGRAMS = (".py", ".yaml", ".yml", ".json", ".toml")


def is_result(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of such a file."""
    return record.get("kind") in (SCRIPT, SIMULATION) and "bot" in record and "passed" in record


def call_of(record: Mapping[str, Any], messages: Messages, *, run: str, started_at: str | None) -> Conversation:
    """Return the call of a line; raise `BrokenInput` if it is of no kind that is known, or was not made."""
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
        final_status=(ended := text_of(record.get("ended_by"))),
        unknown_end=ended is not None and ended not in _ENDS,
        errored=error is not None,
        error=error,
        caller=kind,
        measured={} if done is not None and not error else {"completion": None},
        stored={"passed": flag_of(record.get("passed"))},
    )
    messages.fill(call)
    return call


def verdicts_of(record: Mapping[str, Any], call: Conversation, messages: Messages) -> Iterator[JudgedScore]:
    """Yield what pipecat reports of a call: whether it passed, whether it succeeded, and each metric."""
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
        rationale=rationale,
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
        return said or (kinds[0] if kinds else "ended by an error")
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
    """Return what of a script did not come, by its failures."""
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
    for ending in _OF_PROGRAMS:
        name = name.removesuffix(ending) or name
    return name
