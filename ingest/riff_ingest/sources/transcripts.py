"""Read native flow transcripts: `flow-transcripts-*.jsonl`, one conversation a line (docs/formats.md, section 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from riff_ingest.coercion import parse_time
from riff_ingest.contract import Contract
from riff_ingest.conversation import LINE_FIELDS, ROLES, Conversation, ReferenceStep, ToolCall, Turn
from riff_ingest.events import GuardEvaluated, SlotFilled
from riff_ingest.lenient_json import is_deep
from riff_ingest.lines import BrokenInput, read_start
from riff_ingest.source import Contracts, FileHead, Lines, ReadContext, Source, by_lines, run_of
from riff_ingest.sources.transcript_line import FAMILY, GIVEN_NOTHING, LINE, TEXTS, NativeLine, refusal, salvage
from riff_store.facts import Skipped

__all__ = ["parse_time", "read"]

_KEPT_CONTRACTS = 1024
_BOXES = frozenset({dict, list})
_NEVER_EMPTY = [
    (field.name, field.default) for field in LINE_FIELDS if field.default and isinstance(field.default, str)
]
_MISREAD = (msgspec.MsgspecError, ValueError, RecursionError)

_Done = TypeVar("_Done", ToolCall, ReferenceStep)

_line_decoder = msgspec.json.Decoder(LINE)
_contract_decoder = msgspec.json.Decoder(Contract)

RUN_FILE = "run.json"
PROGRESS_FILE = "progress.jsonl"
RUN_MARK = b'"riff.run/'
"""What stands at the head of a `run.json` of any version."""


def read_some(
    path: Path, context: ReadContext, lines: Lines, contracts: Contracts
) -> Iterator[tuple[int, Conversation] | Skipped]:
    """Yield the conversations on some lines of a file with their numbers, and what had to be left out.

    A line without a contract has that of an earlier line of its run and flow, else that of the flow
    in the context. Never raises on what a file holds: a line that is no conversation is `skipped`,
    a field that does not fit is a `defect`, what is left out of lists is counted in `defects`.
    """
    reader = _TranscriptReader(run_of(path), context.contracts, contracts)
    for number, data in lines:
        try:
            call, reasons = reader.call(data)
        except BrokenInput as problem:
            yield Skipped("skipped", number, problem.reason, problem.conversation)
            continue
        for reason in reasons:
            yield Skipped("defect", number, reason, call.conversation_id)
        yield number, call


def read_line(data: bytes, run: str) -> tuple[Conversation, list[str]]:
    """Return the conversation of a line, with the reasons for each field that was left out; raise `BrokenInput`."""
    return _TranscriptReader(run, {}, Contracts()).call(data)


class _TranscriptReader:
    """Remember from line to line what is needed: contracts by their bytes, and by run and flow."""

    def __init__(self, run: str, described: Mapping[str, Contract], told: Contracts) -> None:
        self._run = run
        self._described = described
        self._told = told
        self._decoded: dict[bytes, Contract] = {}

    def call(self, data: bytes) -> tuple[Conversation, list[str]]:
        """Return one conversation, with the reasons for each field that was left out."""
        try:
            line = _line_decoder.decode(data)
            contract = self._decode(bytes(line.contract))
        except _MISREAD:
            return self._salvaged(data)
        call = _call_of(line)
        if _is_doubtful(call):
            return self._salvaged(data)
        if line.schema and (reason := refusal(line.schema)):
            raise BrokenInput(reason, conversation=call.conversation_id)
        return call, self._finish(call, contract)

    def _salvaged(self, data: bytes) -> tuple[Conversation, list[str]]:
        taken = salvage(data)
        call = _call_of(taken.line)
        if _is_doubtful(call):
            taken = salvage(data, flatten=True)
            call = _call_of(taken.line)
        call.defects = dict(Counter(call.defects) + taken.defects)
        return call, taken.reasons + self._finish(call, taken.contract)

    def _decode(self, body: bytes) -> Contract | None:
        if body == GIVEN_NOTHING:
            return None
        contract = self._decoded.get(body)
        if contract is None:
            contract = _contract_decoder.decode(body)
            if len(self._decoded) == _KEPT_CONTRACTS:
                self._decoded.clear()
            self._decoded[body] = contract
        return contract

    def _promised(self, run: str, flow: str, contract: Contract | None) -> Contract | None:
        key = (run, flow)
        if contract is None:
            return self._told.get(key) or self._described.get(flow)
        self._told.given[key] = contract
        return contract

    def _finish(self, call: Conversation, contract: Contract | None) -> list[str]:
        """Complete a conversation by what its line does not tell, and return why a field is left out."""
        call.run_id = call.run_id or self._run
        call.contract = self._promised(call.run_id, call.flow, contract)
        started_at, call.started_at = call.started_at, None
        if started_at and parse_time(started_at) is None:
            return ["started_at is not a time and is left out"]
        call.started_at = started_at or None
        return []


def _call_of(line: NativeLine) -> Conversation:
    """Return the conversation of a line, still without its contract."""
    given = msgspec.structs.asdict(line)
    del given["schema"], given["contract"]
    call = Conversation(**{name: value for name, value in given.items() if value is not None})
    for name in TEXTS:
        if given[name].__class__ is int:
            setattr(call, name, str(given[name]))
    for name, default in _NEVER_EMPTY:
        if given[name] == "":
            setattr(call, name, default)
    if call.turns:
        call.turns = _in_roles(call.turns)
    if call.tool_calls:
        call.tool_calls = _by_roles(call.tool_calls)
    if call.expected_steps:
        call.expected_steps = _by_roles(call.expected_steps)
    return call


def _in_roles(turns: list[Turn]) -> list[Turn]:
    """Return turns with the roles of this project: assistant and user are agent and caller."""
    if ROLES.keys().isdisjoint([turn.role for turn in turns]):
        return turns
    return [msgspec.structs.replace(turn, role=ROLES.get(turn.role, turn.role)) for turn in turns]


def _by_roles(done: list[_Done]) -> list[_Done]:
    """Return what was done or expected with the roles of this project."""
    if not any(each.by in ROLES for each in done):
        return done
    return [msgspec.structs.replace(each, by=ROLES.get(each.by, each.by)) for each in done]


def _is_doubtful(call: Conversation) -> bool:
    """Tell whether a value fits its type and still must not pass, because it is nested too deeply."""
    boxes: list[Any] = []
    for event in call.events:
        if type(event) is SlotFilled:
            if event.value.__class__ in _BOXES:
                boxes.append(event.value)
        elif type(event) is GuardEvaluated and (event.result.__class__ in _BOXES or event.error.__class__ in _BOXES):
            boxes += event.result, event.error
    boxes += call.slots.values()
    for done in call.tool_calls:
        boxes += done.arguments, done.error, done.result
    boxes += call.errors or (), call.state_aspects or ()
    return any(value.__class__ in _BOXES and is_deep(value) for value in boxes)


def _recognises(head: FileHead) -> str | None:
    for record in head.records:
        schema = record.get("schema")
        if isinstance(schema, str) and schema.startswith(f"{FAMILY}/"):
            if reason := refusal(schema):
                raise BrokenInput(reason)
            return f"its lines are {FAMILY}"
        if "conversation_id" in record and "flow" in record and "judge" not in record:
            return "its lines have conversation_id and flow"
    return None


def _is_of_a_run(path: Path) -> bool:
    """Tell whether a file says how a run is made, or where it stands (docs/runner.md, Files of a run)."""
    if path.name not in (RUN_FILE, PROGRESS_FILE):
        return False
    try:
        return RUN_MARK in read_start(path.with_name(RUN_FILE))
    except BrokenInput:
        return False


read = by_lines(read_some)

SOURCE = Source(
    kind="transcripts",
    version=3,
    read=read,
    read_some=read_some,
    title="Flow transcripts",
    known_by="files named flow-transcripts-*.jsonl, or lines with conversation_id and flow",
    names=("flow-transcripts-*.jsonl", "flow-transcripts-*.jsonl.gz"),
    recognises=_recognises,
    takes_contracts=True,
    is_company=_is_of_a_run,
    rank=10,
)
