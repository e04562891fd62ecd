"""Give verdicts that were given before: for trying things out without paying, and for tests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riff_ingest.lenient_json import loads, parse_time
from riff_ingest.lines import BrokenInput, read_lines
from riff_ingest.source import run_of
from riff_ingest.sources.registry import find_inputs
from riff_runner.judge.protocol import Answer, ConversationName, Misconfigured, Question, Signature

_NO_REASON = "No reason was recorded."


@dataclass(frozen=True, slots=True)
class _Recorded:
    answer: Answer
    signature: Signature


class ReplayJudge:
    """Answer from humanness files or recordings.

    A line of a recording has `run_id`, `conversation_id` and the raw `answer` of a judge; a line of a
    humanness file is spelled as an answer first. Of several lines on a call the latest counts, and none of those that
    may be of several calls.
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]], recorded_as: str) -> None:
        self._recorded: dict[tuple[str, str], dict[ConversationName, tuple[int, _Recorded]]] = {}
        self._calls: dict[tuple[str, str], list[ConversationName]] = {}
        others: set[str] = set()
        for line, run in _lines(paths):
            judge = line.get("judge")
            if judge is not None and judge != recorded_as:
                others.add(str(judge))
                continue
            self._take(line, run)
        if not self._recorded:
            known = f"; there are verdicts of {', '.join(sorted(others))} (recorded_as)" if others else ""
            raise Misconfigured(f"path has no verdict of {recorded_as}{known}")

    def signature(self, call: ConversationName) -> Signature | None:
        """Return the signature of the recorded verdict; `None` for a call of which none is recorded."""
        found = self._verdict(call)
        return found.signature if found else None

    def expect(self, calls: Iterable[ConversationName]) -> None:
        """Name all calls that there are, by which it is known what was recorded of several."""
        self._calls.clear()
        for call in calls:
            self._calls.setdefault(call.id, []).append(call)

    async def ask(self, question: Question) -> Answer:
        """Return what is recorded."""
        found = self._verdict(question.name)
        return found.answer if found else Answer(fault="nothing was recorded of this call")

    async def close(self) -> None:
        """Do nothing: nothing is kept."""

    def _take(self, line: dict[str, Any], run: str) -> None:
        trial = line.get("trial")
        name = ConversationName(
            str(line.get("run_id") or run),
            str(line["conversation_id"]),
            _text(line.get("flow")),
            _text(line.get("agent_model")),
            trial if type(trial) is int else None,
        )
        judged_at = line.get("judged_at") if isinstance(line.get("judged_at"), str) else None
        moment = parse_time(judged_at) if judged_at else None
        order = -1 if moment is None else moment
        of_id = self._recorded.setdefault(name.id, {})
        known = of_id.pop(name, None)
        if known is None or known[0] <= order:
            signature = Signature(_text(line.get("model")), _text(line.get("prompt_hash")))
            known = order, _Recorded(_answer(line, judged_at if moment is not None else None), signature)
        of_id[name] = known

    def _verdict(self, call: ConversationName) -> _Recorded | None:
        others = [other for other in self._calls.get(call.id, ()) if other != call]
        fitting = [
            (order, place, recorded)
            for place, (name, (order, recorded)) in enumerate(self._recorded.get(call.id, {}).items())
            if name.may_be(call) and not any(name.may_be(other) for other in others)
        ]
        return max(fitting, key=lambda found: found[:2])[2] if fitting else None


def _lines(paths: Iterable[str | os.PathLike[str]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the objects in all files that name a conversation and a score or an answer, each with its default run."""
    for path in find_inputs(paths).files:
        for _, data in read_lines(path, lambda problem: None):
            try:
                line = loads(data)
            except BrokenInput:
                continue
            if isinstance(line, dict) and line.get("conversation_id") and ("score" in line or "answer" in line):
                yield line, run_of(Path(path))


def _answer(line: dict[str, Any], judged_at: str | None) -> Answer:
    if isinstance(line.get("answer"), str):
        return Answer(line["answer"], judged_at=judged_at)
    reason = line.get("rationale") or _NO_REASON
    if line.get("score") is None:
        return Answer(fault=str(line.get("unscored") or reason), judged_at=judged_at)
    verdict = {"score": line["score"], "evidence": line.get("evidence") or [], "reason": reason}
    return Answer(json.dumps(verdict), judged_at=judged_at)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
