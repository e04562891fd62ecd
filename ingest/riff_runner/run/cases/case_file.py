"""Keep a call as a case: what its caller knew and said, line by line, in a TOML file that is made a call again."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from riff_ingest.lenient_json import is_costly_toml, too_deep
from riff_ingest.lines import BrokenInput, read_whole
from riff_runner.run.flows.flow import RunnableFlow, RunScenario, ScriptedLine, SpokenFact
from riff_runner.run.flows.scenarios import pools_of
from riff_store.errors import UsageError, meant

CASE_SCHEMA: Final = "riff.case/1"
CASE_ENDING = ".toml"
_PLACE = re.compile(r" - at `\$\.?(.*)`$")


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class CaseOrigin(_Part, frozen=True):
    """Name the call that a case was made of."""

    run: str
    conversation: str
    agent: str | None = None
    scenario: str | None = None
    trial: int = 0


class CaseFailure(_Part, frozen=True):
    """Describe where the call first went wrong: in which state, how, and after which state that was left well."""

    state: str
    reason: str | None = None
    after: str | None = None
    detail: str | None = None


class CaseFact(_Part, frozen=True):
    """Describe what the caller knew of a slot, and how it was said; without that the value itself is said."""

    value: Any
    say: str = ""


class CaseLine(_Part, frozen=True):
    """Describe something that the caller said, and the state that the agent was in."""

    text: str
    state: str | None = None


class CaseFile(_Part, frozen=True, kw_only=True, rename={"origin": "from", "case_schema": "schema"}):
    """Describe a case as its file does.

    `says` are ways to open the call, the first line if there are none. `tasks` are what the caller wants, in order,
    where the flow turns on that; else they are those of the scenario that the call had. `path` are the states up to the
    last one that was left well.
    """

    case_schema: Literal["riff.case/1"]
    flow: str
    name: str
    persona: str | None = None
    goal: str = ""
    tasks: list[str] = []
    says: list[str] = []
    path: list[str] = []
    redacted: bool = False
    origin: CaseOrigin | None = None
    broke: CaseFailure | None = None
    facts: dict[str, CaseFact] = {}
    lines: list[CaseLine] = []

    def scenario(self, flow: RunnableFlow) -> RunScenario:
        """Return the scenario to be played in this flow; raise `UsageError` if the case is of another one."""
        if flow.name != self.flow:
            raise UsageError(f"the case {self.name} is of the flow {self.flow}, not of {flow.name}")
        known = flow.scenario_like(self.origin.scenario if self.origin else None)
        told = {slot: SpokenFact(fact.value, fact.say or str(fact.value)) for slot, fact in self.facts.items()}
        return RunScenario(
            name=self.name,
            tasks=tuple(self.tasks) or known.tasks,
            says=tuple(self.says) or tuple(line.text for line in self.lines[:1]) or known.says,
            clarifies=known.clarifies,
            goal=self.goal or known.goal,
            facts={**known.facts, **told},
            pools=known.pools or pools_of(flow.slots, {}),
            persona=self.persona or known.persona,
            script=tuple(ScriptedLine(line.text, line.state) for line in self.lines),
            flow=self.flow,
        )


def is_case_file(named: str) -> bool:
    """Return whether what was named as a scenario is the file of a case."""
    return named.endswith(CASE_ENDING)


def read_case(path: Path) -> CaseFile:
    """Return the case of a file; raise `UsageError` with the place if it is none."""
    try:
        data = read_whole(path)
        if is_costly_toml(data):
            raise BrokenInput(f"file is {too_deep()}")
    except BrokenInput as problem:
        raise UsageError(f"{path}: {problem.reason}") from problem
    try:
        document = tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: is not TOML ({error})") from error
    return _case_of(document, path)


def _case_of(document: dict[str, Any], path: Path) -> CaseFile:
    schema = document.get("schema")
    if schema != CASE_SCHEMA:
        told = "is missing" if schema is None else f"is {schema!r}"
        raise UsageError(
            f'{path}: is not a case, its schema {told} (`schema = "{CASE_SCHEMA}"`)', "riff-tui case writes one"
        )
    try:
        case = msgspec.convert(document, type=CaseFile)
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {_told(error)}") from error
    for field in ("flow", "name"):
        if not getattr(case, field).strip():
            raise UsageError(f"{path}: {field} is empty")
    for number, line in enumerate(case.lines, 1):
        if not line.text.strip():
            raise UsageError(f"{path}: the text of line {number} of [[lines]] is empty")
    return case


def _told(error: msgspec.ValidationError) -> str:
    place = _PLACE.search(str(error))
    said = _PLACE.sub("", str(error)).replace("Object", "a table")
    if unknown := _UNKNOWN.search(said):
        kinds: tuple[type[_Part], ...] = (CaseFile, CaseOrigin, CaseFailure, CaseFact, CaseLine)
        known = {name for kind in kinds for name in kind.__struct_encode_fields__}
        said = f"{said}; {meant(unknown[1], sorted(known))}"
    return f"{place[1]}: {said}" if place and place[1] else said


_UNKNOWN = re.compile(r"unknown field `(.*)`")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WHOLE = 2**63
_HEAD = (
    "# A call, kept to be made again. The caller knows [facts], and [[lines]] are what it said.",
    "#   riff-tui run --scenarios FILE --agent ... --out DIR                     it answers what it is asked",
    "#   riff-tui run --scenarios FILE --agent ... --out DIR --caller frozen     it says its lines and no more",
)
_REDACTED = (
    "# What points at the caller was replaced by made-up values of the same kind: facts by the names of their slots,",
    "# the rest by pattern. Read it before you post it.",
)
_TABLES = ("from", "broke", "facts")


def case_text(case: CaseFile) -> str:
    """Return the file of a case; `read_case` returns the same case from it."""
    return "\n".join(_file_lines(case, msgspec.to_builtins(case, enc_hook=str))) + "\n"


def _file_lines(case: CaseFile, document: Mapping[str, Any]) -> Iterator[str]:
    yield from _HEAD
    if case.redacted:
        yield from _REDACTED
    for key, value in document.items():
        if key not in (*_TABLES, "lines"):
            yield f"{key} = {_toml(value)}"
    for table in _TABLES:
        if document.get(table):
            yield from ("", f"[{table}]")
            yield from _entries(document[table])
    for line in document.get("lines", ()):
        yield from ("", "[[lines]]")
        yield from _entries(line)


def _entries(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{_key(key)} = {_toml(value)}" for key, value in table.items() if value is not None)


def _toml(value: Any) -> str:
    """Spell a value; TOML has no null and no whole numbers beyond 64 bits."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if -_WHOLE <= value < _WHOLE else _text(str(value))
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value if item is not None)}]"
    if isinstance(value, dict):
        kept = (f"{_key(key)} = {_toml(item)}" for key, item in value.items() if item is not None)
        return f"{{ {', '.join(kept)} }}"
    return _text(str(value))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """Quote a text; what is live or unseen on a terminal is spelled by its number."""
    return "".join(map(_sign, json.dumps(text, ensure_ascii=False)))


def _sign(sign: str) -> str:
    if sign.isprintable():
        return sign
    number = ord(sign)
    if 0xD800 <= number <= 0xDFFF:
        return "\ufffd"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
