"""Read judges' verdicts: `humanness-*.jsonl`, one conversation and judge a line (docs/formats/humanness.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from riff_ingest.lenient_json import NOT_FINITE, fields_of, fit, loads, parse_time, wanted
from riff_ingest.lines import BrokenInput
from riff_ingest.source import Contracts, FileHead, Lines, ReadContext, Source, by_lines, run_of
from riff_ingest.sources.transcripts import Name, Whole
from riff_store.facts import JudgedScore, Skipped

COMPUTED = "(computed)"
_ABSENT: Any = object()
_Turn = Annotated[int, msgspec.Meta(ge=1, lt=2**53)]


class _ScoreLine(msgspec.Struct):
    conversation_id: Name | int
    judge: Name | int
    score: Annotated[float, msgspec.Meta(ge=0, le=10)] | None
    run_id: str | int | None = None
    judged_at: str | None = None
    rationale: str | None = None
    prompt_hash: str | int | None = None
    model: str | int | None = None
    aspect: str | None = None
    prompt_version: str | int | None = None
    evidence: list[_Turn] | None = None
    flow: str | int | None = None
    agent_model: str | int | None = None
    trial: Whole | None = None


_decoder = msgspec.json.Decoder(_ScoreLine)
_NAMES = ("conversation_id", "judge")
_REQUIRED = (*_NAMES, "score")


def read_some(path: Path, context: ReadContext, lines: Lines, _: Contracts) -> Iterator[JudgedScore | Skipped]:
    """Yield the verdicts on some lines of a file, and what had to be left out; never raises on what they have.

    A score that is not a number from 0 to 10 skips its line, for to store it as unscored would hide it.
    """
    run = run_of(path)
    for number, data in lines:
        reasons: list[str] = []
        try:
            verdict = _verdict(data, reasons)
        except BrokenInput as problem:
            yield Skipped("skipped", number, problem.reason, problem.conversation)
            continue
        if verdict.judge == COMPUTED:
            call = str(verdict.conversation_id)
            yield Skipped("skipped", number, f"no judge can be called {COMPUTED}: that is what is computed here", call)
            continue
        judged_at = parse_time(verdict.judged_at) if verdict.judged_at else None
        if verdict.judged_at and judged_at is None:
            reasons.append("judged_at is not a time and is left out")
        score = _score(verdict, run, judged_at, number)
        for reason in reasons:
            yield Skipped("defect", number, reason, score.conversation)
        yield score


def _score(verdict: _ScoreLine, run: str, judged_at: int | None, line: int) -> JudgedScore:
    return JudgedScore(
        run=run if verdict.run_id in (None, "") else str(verdict.run_id),
        conversation=str(verdict.conversation_id),
        judge=str(verdict.judge),
        score=verdict.score,
        judged_at=judged_at,
        aspect=verdict.aspect or "humanness",
        rationale=verdict.rationale,
        prompt_hash=None if verdict.prompt_hash is None else str(verdict.prompt_hash),
        model=None if verdict.model is None else str(verdict.model),
        line=line,
        prompt_version=None if verdict.prompt_version is None else str(verdict.prompt_version),
        evidence=verdict.evidence,
        flow=_said(verdict.flow),
        agent=_said(verdict.agent_model),
        trial=verdict.trial,
    )


def _said(part: str | int | None) -> str | None:
    return None if part in (None, "") else str(part)


def _verdict(data: bytes, reasons: list[str]) -> _ScoreLine:
    try:
        return _decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _salvaged(data, reasons)


def _salvaged(data: bytes, reasons: list[str]) -> _ScoreLine:
    defects: Counter[str] = Counter()
    value = loads(data, defects)
    if not isinstance(value, dict):
        raise BrokenInput("line is not a JSON object")
    if value.get("score") is None and defects.pop(NOT_FINITE, 0):
        value["score"] = _ABSENT  # it was there and must not count as unscored
    taken = {}
    for info in fields_of(_ScoreLine):
        try:
            taken[info.name] = _field(value, info.name, info.type)
        except KeyError:
            continue
        except BrokenInput as problem:
            if info.name in _REQUIRED:
                problem.conversation = str(taken["conversation_id"]) if taken else None
                raise
            reasons.append(f"{problem.reason} and is left out")
    reasons += [f"{defect} {count}" for defect, count in sorted(defects.items())]
    return _ScoreLine(**taken)


def _field(value: dict[str, Any], name: str, kind: Any) -> Any:
    given = value.get(name)
    if name not in value or (given in (None, "") and name in _NAMES):
        if name in _REQUIRED:
            raise BrokenInput(f"{name} is missing")
        raise KeyError(name)
    try:
        return fit(given, kind)
    except msgspec.ValidationError:
        raise BrokenInput(f"{name} is not {'a number from 0 to 10' if name == 'score' else wanted(kind)}") from None


def _recognises(head: FileHead) -> str | None:
    if any("conversation_id" in record and "judge" in record for record in head.records):
        return "its lines have conversation_id and judge"
    return None


read = by_lines(read_some)

SOURCE = Source(
    kind="humanness",
    version=2,
    read=read,
    read_some=read_some,
    title="Judges' scores",
    known_by="files named humanness-*.jsonl, or lines with conversation_id and judge",
    names=("humanness-*.jsonl", "humanness-*.jsonl.gz"),
    recognises=_recognises,
    keeps_text=False,
    rank=20,
)
