"""Read native flow transcripts: `flow-transcripts-*.jsonl`, one conversation a line (docs/formats.md, section 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from riff_ingest.contract import Contract
from riff_ingest.conversation import ROLES, Conversation, ReferenceStep, ToolCall, Turn
from riff_ingest.events import GuardEvaluated, SlotFilled
from riff_ingest.sources.coercion import parse_time
from riff_ingest.sources.lenient_json import is_deep
from riff_ingest.sources.lines import BrokenInput, read_start
from riff_ingest.sources.source import Contracts, FileHead, Lines, ReadContext, Source, by_lines, run_of
from riff_ingest.sources.transcript_line import FAMILY, GIVEN_NOTHING, NativeLine, refusal, salvage
from riff_store.facts import Skipped

__all__ = ["parse_time", "read"]

_KEPT_CONTRACTS = 1024
_BOXES = frozenset({dict, list})
_MISREAD = (msgspec.MsgspecError, ValueError, RecursionError)

_Done = TypeVar("_Done", ToolCall, ReferenceStep)

_line_decoder = msgspec.json.Decoder(NativeLine)
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
        if _is_doubtful(line):
            return self._salvaged(data)
        if line.schema and (reason := refusal(line.schema)):
            raise BrokenInput(reason, conversation=str(line.conversation_id))
        return self._finish(line, contract, line.defects or {})

    def _salvaged(self, data: bytes) -> tuple[Conversation, list[str]]:
        taken = salvage(data)
        if _is_doubtful(taken.line):
            taken = salvage(data, flatten=True)
        defects = dict(Counter(taken.line.defects or {}) + taken.defects)
        call, reasons = self._finish(taken.line, taken.contract, defects)
        return call, taken.reasons + reasons

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

    def _finish(
        self, line: NativeLine, contract: Contract | None, defects: dict[str, int]
    ) -> tuple[Conversation, list[str]]:
        reasons = []
        started_at = line.started_at or None
        if started_at is not None and parse_time(started_at) is None:
            started_at = None
            reasons.append("started_at is not a time and is left out")
        run = self._run if line.run_id in (None, "") else str(line.run_id)
        flow = str(line.flow)
        call = Conversation(
            conversation_id=str(line.conversation_id),
            flow=flow,
            run_id=run,
            run_label=line.run_label,
            commit=line.commit,
            branch=line.branch,
            archetype=line.archetype,
            agent_model=line.agent_model or "(unknown)",
            persona=_text(line.persona),
            scenario=_text(line.scenario),
            trial=line.trial or 0,
            started_at=started_at,
            duration_s=line.duration_s,
            completed=line.completed,
            stop_reason=line.stop_reason,
            final_state=line.final_state,
            final_status=line.final_status,
            errored=line.errored or False,
            error=line.error,
            caller=line.caller,
            caller_ok=line.caller_ok,
            errors=[] if line.errors is None else line.errors,
            contract=self._promised(run, flow, contract),
            slots=line.slots or {},
            turns=_in_roles(line.turns) if line.turns else [],
            events=line.events or [],
            tool_calls=_by_roles(line.tool_calls) if line.tool_calls else [],
            expected_steps=_by_roles(line.expected_steps) if line.expected_steps else [],
            aspects=line.aspects or {},
            state_aspects=line.state_aspects or [],
            origin=line.origin or "observed",
            defects=defects,
        )
        return call, reasons


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


def _text(value: str | int | None) -> str | None:
    return value if value is None or type(value) is str else str(value)


def _is_doubtful(line: NativeLine) -> bool:
    """Tell whether a value fits its type and still must not pass, because it is nested too deeply."""
    boxes: list[Any] = []
    for event in line.events or ():
        if type(event) is SlotFilled:
            if event.value.__class__ in _BOXES:
                boxes.append(event.value)
        elif type(event) is GuardEvaluated and (event.result.__class__ in _BOXES or event.error.__class__ in _BOXES):
            boxes += event.result, event.error
    if line.slots:
        boxes += line.slots.values()
    for call in line.tool_calls or ():
        boxes += call.arguments, call.error, call.result
    boxes += line.errors or (), line.state_aspects or ()
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
