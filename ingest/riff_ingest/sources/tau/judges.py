"""Read reviews of a simulation as verdicts of judges (docs/formats/tau.md): 0 to 10, with severity and evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from riff_ingest.conversation import Conversation
from riff_store.facts import JudgedScore

REVIEW = "tau2-review"
USER_REVIEW = "tau2-user-review"
AUTHENTICATION = "tau2-auth"
HALLUCINATION = "tau2-hallucination"
ASSERTIONS = "tau2-nl"

LONGEST_RATIONALE = 1000
UNREADABLE = "The review cannot be read"

_BEST, _MINOR, _WORST = 10.0, 5.0, 0.0
_CRITICAL = "critical"
_BETWEEN = " · "
_MISREAD = "Failed to parse"
_SIDES = ("agent", "user")
_STATUSES = {"succeeded": _BEST, "failed": _WORST}


class Spoken(NamedTuple):
    """Describe which positions a turn takes: those of messages or of ticks, from `start` to before `end`."""

    start: int
    end: int
    role: str


class _Verdict(NamedTuple):
    judge: str
    aspect: str
    score: float | None
    rationale: str | None
    prompt_version: str | None = None
    evidence: list[int] | None = None


class _Error(NamedTuple):
    """Describe an error that a reviewer found: whose it is, how grave, and at which message or tick."""

    source: str | None
    severity: str | None
    tags: tuple[str, ...]
    reasoning: str | None
    position: int | None


def verdicts(
    simulation: Mapping[str, Any], call: Conversation, spoken: Sequence[Spoken], lines: Iterable[int]
) -> Iterator[JudgedScore]:
    """Yield what judges said about a simulation, each under the next number of `lines`; never raises on what it has.

    `spoken` shows where each turn of the call is. What cannot be read is unscored, with the reason.
    """
    for line, found in zip(lines, _found(simulation, spoken), strict=False):
        yield JudgedScore(
            run=call.run_id or "",
            conversation=call.conversation_id,
            judge=found.judge,
            aspect=found.aspect,
            score=found.score,
            judged_at=None,
            rationale=_short(found.rationale),
            prompt_version=found.prompt_version,
            line=line,
            evidence=found.evidence,
            flow=call.flow,
            agent=call.agent_model,
            trial=call.trial,
        )


def turn_at(spoken: Sequence[Spoken], position: int, role: str | None) -> int | None:
    """Return the number, from 1, of the turn in which a position is: of those of `role` first, else of any.

    Where nobody speaks, it is the turn that was begun last, `None` before the first.
    """
    numbered = list(enumerate(spoken, start=1))
    there = [(number, turn) for number, turn in numbered if turn.start <= position < turn.end]
    there = [(number, turn) for number, turn in there if turn.role == role] or there
    there = there or [(number, turn) for number, turn in numbered if turn.start <= position]
    return max(there, key=lambda each: (each[1].start, each[0]))[0] if there else None


def _found(simulation: Mapping[str, Any], spoken: Sequence[Spoken]) -> Iterator[_Verdict]:
    mode = simulation.get("mode")
    mode = mode if isinstance(mode, str) and mode else "half_duplex"
    if (review := simulation.get("review")) is not None:
        for source, aspect in (("agent", "agent"), ("user", "user")):
            yield _reviewed(_Verdict(REVIEW, aspect, None, None, f"full {mode}"), review, source, spoken)
    if (review := simulation.get("user_only_review")) is not None:
        yield _reviewed(_Verdict(USER_REVIEW, "user", None, None, f"user {mode}"), review, None, spoken)
    if (given := simulation.get("auth_classification")) is not None:
        yield _Verdict(AUTHENTICATION, "authentication", *_authentication(given))
    if (given := simulation.get("hallucination_check")) is not None:
        yield _Verdict(HALLUCINATION, "user", *_hallucination(given))
    checked = simulation.get("reward_info")
    if isinstance(checked, Mapping) and (given := checked.get("nl_assertions")):
        yield _Verdict(ASSERTIONS, "nl_assertions", *_assertions(given))


def _reviewed(verdict: _Verdict, review: Any, source: str | None, spoken: Sequence[Spoken]) -> _Verdict:
    """Return the verdict of a review on one side; `source` None takes all its errors for those of the caller."""
    errors = _errors(review)
    if errors is None:
        return verdict._replace(rationale=UNREADABLE)
    summary = _said(review.get("summary"))
    if not errors and summary is None and review.get("cost") is None:
        return verdict._replace(rationale="The review failed: it says nothing")
    if _is_misread(errors, review.get("has_errors") is True):
        return verdict._replace(rationale=errors[0].reasoning)
    own = errors if source is None else [error for error in errors if error.source == source]
    if not own and any(error.source not in _SIDES for error in errors):
        return verdict._replace(rationale=_BETWEEN.join(["It does not show whose error it is", *map(_told, errors)]))
    role = "agent" if source == "agent" else "caller"
    places = {turn_at(spoken, error.position, role) for error in own if error.position is not None}
    return verdict._replace(
        score=min((_MINOR if not _is_critical(error) else _WORST for error in own), default=_BEST),
        rationale=_BETWEEN.join(filter(None, [summary, *map(_told, own)])) or None,
        evidence=sorted(place for place in places if place is not None) or None,
    )


def _errors(review: Any) -> list[_Error] | None:
    """Return the errors that a review lists, `None` if it cannot be shown which they are."""
    if not isinstance(review, Mapping):
        return None
    listed = review.get("errors")
    listed = [] if listed is None else listed
    if not isinstance(listed, list) or not all(isinstance(error, Mapping) for error in listed):
        return None
    return [_error(error) for error in listed]


def _error(given: Mapping[str, Any]) -> _Error:
    tags = given.get("error_tags")
    position = given.get("tick_start")
    position = given.get("turn_idx") if position is None else position
    return _Error(
        _said(given.get("source")),
        _said(given.get("severity")),
        tuple(filter(None, map(_said, tags))) if isinstance(tags, list) else (),
        _said(given.get("reasoning")),
        position if isinstance(position, int) and not isinstance(position, bool) else None,
    )


def _is_misread(errors: Sequence[_Error], has_errors: bool) -> bool:
    """Return whether the answer of the judge could not be read, which its one error then reports."""
    if len(errors) != 1 or not (errors[0].reasoning or "").startswith(_MISREAD):
        return False
    return not has_errors or errors[0].source not in _SIDES or errors[0].position == -1


def _is_critical(error: _Error) -> bool:
    return (error.severity or "").startswith(_CRITICAL)


def _told(error: _Error) -> str:
    marks = ", ".join(filter(None, [error.severity, *error.tags]))
    return ": ".join(filter(None, [marks, error.reasoning])) or "an error without a reason"


def _authentication(given: Any) -> tuple[float | None, str | None]:
    if not isinstance(given, Mapping) or not isinstance(status := given.get("status"), str):
        return None, UNREADABLE
    why = ": ".join(filter(None, [status.replace("_", " ").strip(), _said(given.get("reasoning"))]))
    return _STATUSES.get(status), why or UNREADABLE


def _hallucination(given: Any) -> tuple[float | None, str | None]:
    found = given.get("hallucination_found") if isinstance(given, Mapping) else None
    errors = _errors(given)
    if errors is None or not isinstance(found, bool):
        return None, UNREADABLE
    reasons = [error.reasoning for error in errors]
    why = _BETWEEN.join(filter(None, [_said(given.get("summary")), *reasons])) or _said(given.get("reasoning"))
    if not found and errors:
        return None, why
    return _WORST if found else _BEST, why


def _assertions(given: Any) -> tuple[float | None, str | None]:
    checks = given if isinstance(given, list) and all(isinstance(check, Mapping) for check in given) else []
    met = [check["met"] for check in checks if isinstance(check.get("met"), bool)]
    if not checks or len(met) < len(checks):
        return None, f"{len(met)} of {len(given)} assertions can be read" if isinstance(given, list) else UNREADABLE
    failed = [check for check in checks if not check["met"]]
    told = [_asserted(check) for check in failed or checks]
    return _BEST * sum(met) / len(
        met
    ), f"{sum(met)} of {len(met)} met; {'not met: ' if failed else ''}{'; '.join(told)}"


def _asserted(check: Mapping[str, Any]) -> str:
    said, why = _said(check.get("nl_assertion")), _said(check.get("justification"))
    return f"{said or '(without a text)'}{f' ({why})' if why else ''}"


def _said(value: Any) -> str | None:
    return value.strip() or None if isinstance(value, str) else None


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONGEST_RATIONALE else f"{text[: LONGEST_RATIONALE - 1]}…"


# Decide how a simulation ended, from its reason and the last words of its caller (tau3-bench's own terms).
_WORDS = {"###STOP###": "stop", "###TRANSFER###": "transfer", "###OUT-OF-SCOPE###": "out_of_scope"}
_CONTROL = re.compile("|".join(map(re.escape, _WORDS)))

TERMINAL, ERROR = "terminal", "error"
CALLER_FAILED = "user_error"
"""The reason of calls whose caller broke the rules of the simulation."""


class Ending(NamedTuple):
    """Describe how a call ended, in the terms of every source."""

    completed: bool | None
    errored: bool
    stop_reason: str | None


_ENDINGS = {
    "user_stop": Ending(True, False, TERMINAL),
    "agent_stop": Ending(True, False, TERMINAL),
    "max_steps": Ending(False, False, "max_turns"),
    "timeout": Ending(False, False, "timeout"),
    "too_many_errors": Ending(False, False, ERROR),
    "context_window_exceeded": Ending(False, False, ERROR),
    "agent_error": Ending(False, True, ERROR),
    CALLER_FAILED: Ending(False, True, ERROR),
    "infrastructure_error": Ending(False, True, ERROR),
    "unexpected_error": Ending(False, True, ERROR),
}


def ending_of(reason: str | None) -> Ending:
    """Return what the reason for which a simulation ended means; one that is not known shows nothing, and stays."""
    return _ENDINGS.get(reason or "") or Ending(None, False, reason)


def spoken(text: str | None) -> str:
    """Return what is said in a text: without the words that steer a simulation, and without blanks around it."""
    if not text:
        return ""
    return (_CONTROL.sub("", text) if "###" in text else text).strip()


def final_status(reason: str | None, last_words: str | None) -> str | None:
    """Return the word by which the caller ended the call, else the reason for which it ended."""
    found = _CONTROL.search(last_words) if last_words else None
    return _WORDS[found[0]] if found else reason
