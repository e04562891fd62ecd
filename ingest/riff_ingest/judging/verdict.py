"""Parse a judge's answer to the letter, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

from riff_store.errors import RiffError

LONGEST_ANSWER = 64 * 1024
LONGEST_REASON = 2_000
_KEYS = frozenset(("score", "evidence", "reason"))
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL | re.IGNORECASE)


class Malformed(RiffError):
    """Refuse an answer that is no verdict; the message says why, without words of the answer."""


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """Hold a score from 0 to 10, the numbers of the turns that decided it, and the judge's reason."""

    score: float
    evidence: tuple[int, ...]
    reason: str


def parse(answer: str, turns: Collection[int]) -> JudgeVerdict:
    """Return the verdict in an answer about a call of which these turns were shown; raise `Malformed`.

    The answer is one JSON object with exactly `score`, `evidence` and `reason`. One fence of code around
    the whole of it is taken off, for models without a JSON mode put it there; words before or after are not,
    for then somebody would have to choose which of several objects counts.
    """
    if len(answer) > LONGEST_ANSWER:
        raise Malformed("the answer is too long")
    text = answer.strip()
    if not text:
        raise Malformed("the answer is empty")
    fenced = _FENCED.fullmatch(text)
    value = _load(fenced[1] if fenced else text)
    if not isinstance(value, dict) or value.keys() != _KEYS:
        raise Malformed("the answer is not an object of score, evidence and reason alone")
    return JudgeVerdict(_score(value["score"]), _evidence(value["evidence"], turns), _reason(value["reason"]))


def _load(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed("the answer is not JSON") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Malformed("the answer names a key twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _score(value: Any) -> float:
    if type(value) not in (int, float):
        raise Malformed("the score is not a number")
    if not 0 <= value <= 10:
        raise Malformed("the score is not from 0 to 10")
    return float(abs(value))  # of the two zeros, the plain one


def _evidence(value: Any, turns: Collection[int]) -> tuple[int, ...]:
    if not isinstance(value, list) or any(type(number) is not int for number in value):
        raise Malformed("the evidence is not a list of turn numbers")
    if any(number not in turns for number in value):
        raise Malformed("the evidence names a turn that was not shown")
    return tuple(sorted(set(value)))


def _reason(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Malformed("the reason is not text")
    reason = value.strip()
    return reason if len(reason) <= LONGEST_REASON else reason[:LONGEST_REASON] + "…"
