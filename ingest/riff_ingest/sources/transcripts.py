"""Read native flow transcripts: `flow-transcripts-*.jsonl`, one conversation a line (docs/formats/transcripts.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar, get_args

import msgspec

from riff_ingest.conversation import (
    HIGHEST,
    LINE_FIELDS,
    ROLES,
    SCHEMA,
    Contract,
    Conversation,
    ExpectedAnswer,
    ReferenceStep,
    ToolCall,
    Turn,
)
from riff_ingest.events import LONGEST, Duration, Event, GuardEvaluated, SlotFilled
from riff_ingest.lenient_json import clean, contract_of, fit, fitting, is_deep, loads, parse_time, wanted
from riff_ingest.lines import BrokenInput, read_start
from riff_ingest.source import Contracts, FileHead, Lines, ReadContext, ReadItem, Source, by_lines, left_out, run_of
from riff_store.facts import Skipped

MOST = 2**31
"""The same for how often something was seen."""

Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Measured: TypeAlias = Annotated[float, msgspec.Meta(ge=-HIGHEST, le=HIGHEST)]

GIVEN_NOTHING = b"null"
_NO_CONTEXT = ReadContext()

DUMP = "a dump of riff-tui, which shows what is in a store; ingest what that was made of"

FAMILY, _, _MAJOR = SCHEMA.partition("/")


NEGATIVE_DURATION = "negative duration"
LONG_DURATION = "duration out of range"
_EVENTS: Mapping[str, type[Event]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Event)}
REQUIRED = tuple(field.name for field in LINE_FIELDS if field.required)
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def refusal(schema: str) -> str | None:
    """Return why a schema cannot be read, `None` if it can: any minor version of the major one is fine."""
    family, _, version = schema.partition("/")
    if schema == SCHEMA or (family == FAMILY and version.partition(".")[0] == _MAJOR):
        return None
    return f"schema {schema[:60]} is not supported, only {SCHEMA} is"


class NativeLine(msgspec.Struct, kw_only=True):
    """Name what a line has beside the fields of a conversation, which `LINE` adds.

    The contract stays bytes: it is the same on line after line, so it is decoded once.
    """

    schema: str | None = None
    contract: msgspec.Raw = msgspec.Raw(GIVEN_NOTHING)


TEXTS = (*REQUIRED, "run_id", "persona", "scenario")
"""The texts that a line may give as whole numbers."""

_OF_LINES: Mapping[str, Any] = {
    **dict.fromkeys(TEXTS, str | int),
    **dict.fromkeys(REQUIRED, Name | int),
    "trial": Whole,
    "duration_s": Duration,
    "errors": list[Any] | Count,
    "aspects": dict[str, Measured | None],
    "defects": dict[str, Count],
}
"""The types of fields that lines are taken with where these are others than those of a conversation."""

_LINE_TYPES: Mapping[str, Any] = {
    field.name: _OF_LINES.get(field.name, field.type)
    if field.required
    else _OF_LINES.get(field.name, field.type) | None
    for field in LINE_FIELDS
    if field.name != "contract"
}

LINE: Any = msgspec.defstruct(
    "Line",
    [(name, kind) if name in REQUIRED else (name, kind, None) for name, kind in _LINE_TYPES.items()],
    bases=(NativeLine,),
    kw_only=True,
)
"""A line with the fields of docs/formats/transcripts.md; `None` for what is left out or null."""


@dataclass(slots=True)
class Salvage:
    """Describe what could be taken of a `LINE`; `contract` is `None` if none was given."""

    line: Any
    contract: Contract | None = None
    defects: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)


def salvage(data: bytes, *, flatten: bool = False) -> Salvage:
    """Read a line leniently; `flatten` takes away what is nested too deeply.

    Raises `BrokenInput` if it is not JSON, no object, of another schema or without a required field.
    """
    defects: Counter[str] = Counter()
    value = loads(data, defects)
    if flatten:
        value = clean(value, defects)
    if not isinstance(value, dict):
        raise BrokenInput("line is not a JSON object")
    _measure(value, "duration_s", defects)
    taken = Salvage(LINE(**dict.fromkeys(REQUIRED, "")), defects=defects)
    for name, kind in _LINE_TYPES.items():
        given = value.get(name)
        if given is not None and not (given == "" and name in REQUIRED):
            _take_field(taken, name, given, kind)
    _require(taken, value)
    if (given := value.get("contract")) is not None:
        _take_contract(taken, given)
    return taken


def _take_field(taken: Salvage, name: str, given: Any, kind: Any) -> None:
    part = _PARTS.get(name)
    try:
        if part is not None and isinstance(given, part[0]):
            setattr(taken.line, name, part[1](given, taken.defects))
        else:
            setattr(taken.line, name, fit(given, kind))
    except msgspec.ValidationError:
        taken.reasons.append(f"{name} is not {wanted(kind)} and is left out")


def _require(taken: Salvage, value: Mapping[str, Any]) -> None:
    conversation = str(taken.line.conversation_id) or None
    schema = value.get("schema")
    if isinstance(schema, str) and (reason := refusal(schema)):
        raise BrokenInput(reason, conversation=conversation)
    for name in REQUIRED:
        if getattr(taken.line, name) == "":
            given = value.get(name)
            reason = f"{name} is missing" if given in (None, "") else f"{name} is not text"
            raise BrokenInput(reason, conversation=conversation)


def _take_contract(taken: Salvage, given: Any) -> None:
    if not isinstance(given, dict):
        taken.reasons.append("contract is not an object and is left out")
        return
    taken.contract, misfits = contract_of(given)
    taken.reasons += [f"contract.{misfit} does not fit and is left out" for misfit in misfits]


def _measure(given: dict[str, Any], name: str, defects: Counter[str]) -> None:
    """Take away a latency or a duration that no clock can have measured."""
    value = given.get(name)
    if isinstance(value, int | float) and not 0 <= value <= LONGEST:
        given[name] = None
        defects[NEGATIVE_DURATION if value < 0 else LONG_DURATION] += 1


def _item(given: Any, kind: type[_Struct], label: str, defects: Counter[str]) -> _Struct | None:
    misfits: list[str] = []
    try:
        item = fitting(given, kind, misfits.append) if isinstance(given, dict) else None
    except KeyError:
        item = None
    if item is None:
        defects[f"broken {label}"] += 1
    elif misfits:
        defects[f"broken field of {label}"] += len(misfits)
    return item


def _items(kind: type[_Struct], label: str) -> Callable[[list[Any], Counter[str]], list[_Struct]]:
    def take(given: list[Any], defects: Counter[str]) -> list[_Struct]:
        for item in given:
            if isinstance(item, dict):
                _measure(item, "latency_ms", defects)
        try:
            return msgspec.convert(given, list[kind])  # type: ignore[valid-type]
        except msgspec.ValidationError:
            found = (_item(item, kind, label, defects) for item in given)
            return [item for item in found if item is not None]

    return take


def _events(given: list[Any], defects: Counter[str]) -> list[Event]:
    known = []
    for item in given:
        tag = item.get("type") if isinstance(item, dict) else None
        if isinstance(tag, str) and tag in _EVENTS:
            _measure(item, "latency_ms", defects)
            known.append(item)
        else:
            defects["unknown event" if isinstance(tag, str) else "broken event"] += 1
    try:
        return msgspec.convert(known, list[Event])
    except msgspec.ValidationError:
        found = (_item(item, _EVENTS[item["type"]], "event", defects) for item in known)
        return [event for event in found if event is not None]


def _aspects(given: dict[str, Any], defects: Counter[str]) -> dict[str, float | None]:
    taken = {}
    for name, value in given.items():
        try:
            taken[name] = msgspec.convert(value, Measured | None)
        except msgspec.ValidationError:
            defects["broken aspect"] += 1
    return taken


def _state_rows(given: list[Any], defects: Counter[str]) -> list[dict[str, Any]]:
    rows = [row for row in given if isinstance(row, dict)]
    if len(rows) < len(given):
        defects["broken state row"] += len(given) - len(rows)
    return rows


def _counts(given: dict[str, Any], _: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in given.items() if type(count) is int and 0 <= count <= MOST}


_PARTS: Mapping[str, tuple[type, Callable[[Any, Counter[str]], Any]]] = {
    "turns": (list, _items(Turn, "turn")),
    "events": (list, _events),
    "tool_calls": (list, _items(ToolCall, "tool call")),
    "expected_steps": (list, _items(ReferenceStep, "expected step")),
    "expected_answers": (list, _items(ExpectedAnswer, "expected answer")),
    "aspects": (dict, _aspects),
    "state_aspects": (list, _state_rows),
    "defects": (dict, _counts),
}


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

    A line without a contract has that of an earlier line of its run and flow, else that of the flow in the context.
    Never raises on what a file has: a line that is not a conversation is `skipped`, a field that does not fit is a
    `defect`, what is left out of lists is counted in `defects`.
    """
    reader = _TranscriptReader(run_of(path), context.contracts, contracts)
    for number, data in lines:
        for taken in reader.calls(data):
            if isinstance(taken, BrokenInput):
                yield Skipped("skipped", number, taken.reason, taken.conversation)
                continue
            call, reasons = taken
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

    def calls(self, data: bytes) -> list[tuple[Conversation, list[str]] | BrokenInput]:
        """Return the conversation of a line, or those of the envelope that it is."""
        try:
            return [self.call(data)]
        except BrokenInput as problem:
            from riff_ingest.sources.transcript_documents import calls_in_envelope

            return calls_in_envelope(data, self.call) or [problem]

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

    def _contract_of(self, run: str, flow: str, contract: Contract | None) -> Contract | None:
        key = (run, flow)
        if contract is None:
            return self._told.get(key) or self._described.get(flow)
        self._told.given[key] = contract
        return contract

    def _finish(self, call: Conversation, contract: Contract | None) -> list[str]:
        """Complete a conversation by what its line lacks, and return why a field is left out."""
        call.run_id = call.run_id or self._run
        call.contract = self._contract_of(call.run_id, call.flow, contract)
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
    """Return whether a value fits its type and still must not pass, because it is nested too deeply."""
    boxes: list[Any] = []
    for event in call.events:
        if type(event) is SlotFilled:
            if event.value.__class__ in _BOXES:
                boxes.append(event.value)
        elif type(event) is GuardEvaluated and (event.result.__class__ in _BOXES or event.error.__class__ in _BOXES):
            boxes += event.result, event.error
    boxes += *call.slots.values(), *call.facts.values()
    for done in call.tool_calls:
        boxes += done.arguments, done.error, done.result
    boxes += [step.arguments for step in call.expected_steps or ()]
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
    if b'"schema_version"' in head.start and {"view", "schema_version", "rows"} <= head.document.keys():
        raise BrokenInput(DUMP)
    if b'"conversation_id"' in head.start:
        from riff_ingest.sources.transcript_documents import are_transcripts

        return "its documents have conversation_id and flow" if are_transcripts(head.path) else None
    return None


def _is_record(value: Any) -> bool:
    from riff_ingest.sources.transcript_documents import is_transcript

    return is_transcript(value)


def _is_of_a_run(path: Path) -> bool:
    """Return whether a file shows how a run is made, or where it is (docs/runner.md, Files of a run)."""
    if path.name not in (RUN_FILE, PROGRESS_FILE):
        return False
    try:
        return RUN_MARK in read_start(path.with_name(RUN_FILE))
    except BrokenInput:
        return False


_read_lines = by_lines(read_some)


def read(path: Path, context: ReadContext = _NO_CONTEXT) -> Iterator[ReadItem]:
    """Yield the conversations of a file, one on each line or one in each document, and what had to be left out."""
    return _read_documents(path, context) if _has_documents(path) else _read_lines(path, context)


def _has_documents(path: Path) -> bool:
    from riff_ingest.sources.transcript_documents import has_documents

    try:
        return has_documents(path)
    except BrokenInput:
        return False


def _read_documents(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    from riff_ingest.sources.transcript_documents import numbered_documents

    broken: list[BrokenInput] = []
    yield from read_some(path, context, numbered_documents(path, broken.append), Contracts())
    yield from left_out(broken)


SOURCE = Source(
    kind="transcripts",
    version=3,
    read=read,
    read_some=read_some,
    in_lines=lambda path: not _has_documents(path),
    title="Flow transcripts",
    known_by="files named flow-transcripts-*.jsonl, or lines, documents or lists with conversation_id and flow",
    names=("flow-transcripts-*.jsonl", "flow-transcripts-*.jsonl.gz"),
    recognises=_recognises,
    is_record=_is_record,
    takes_contracts=True,
    is_companion=_is_of_a_run,
    rank=10,
)
