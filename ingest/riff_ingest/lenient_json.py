"""Read JSON and TOML as they are found rather than as they should be: what cannot be understood is counted."""

from __future__ import annotations

import codecs
import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from riff_ingest import yaml_document
from riff_ingest.conversation import Contract, StateContract
from riff_ingest.events import LONGEST
from riff_ingest.lines import BrokenInput, limits, read_lines, read_whole

NOT_UTF8 = "not UTF-8"
LONE_SURROGATE = "lone surrogate"
NOT_FINITE = "number out of range"

_MOST_STEPS = 100_000_000
_BOXES = (dict, list)
_SURROGATES = re.compile("[\ud800-\udfff]")
_LONGEST_INTEGER = 4300  # the interpreter's own limit for text to int
_COMPLAINTS = {
    "Extra data": "more follows after its end",
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "the name of a key is missing",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Invalid control character at": "a control character is in a string",
}


def loads(data: bytes, defects: Counter[str] | None = None, *, what: str = "line") -> Any:
    """Return the value of a JSON document.

    NaN and numbers out of range become `None`, lone surrogates U+FFFD, and what is not UTF-8 is read
    as Latin-1; each is counted in `defects`. Raises `BrokenInput` with a reason about `what`.
    """
    defects = Counter() if defects is None else defects
    try:
        return msgspec.json.decode(data)
    except RecursionError as error:
        raise BrokenInput(f"{what} is nested too deeply") from error
    except (msgspec.MsgspecError, ValueError):
        pass  # the standard library reads NaN, lone surrogates and huge numbers, and shows what is wrong
    text = as_text(data, defects)
    try:
        return clean(json.loads(text, parse_int=_integer), defects)
    except RecursionError as error:
        raise BrokenInput(f"{what} is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise BrokenInput(f"{what} is not JSON: {_complaint(error, text)}") from error


def value_in(given: Any) -> Any:
    """Return what is JSON in a text as a value, and any other text as it is; `None` for a blank one.

    What is not text stays, and so does a text that is nested too deeply.
    """
    if not isinstance(given, str):
        return given
    if not given.strip():
        return None
    try:
        found = loads(given.encode(errors="replace"))
    except BrokenInput:
        return given
    return given if is_deep(found) else found


def load_document(path: Path) -> Any:
    """Return the value of a file that is one JSON or TOML document, or YAML by its name; raise `BrokenInput`."""
    defects: Counter[str] = Counter()
    if path.name.endswith(yaml_document.ENDINGS):
        return clean(yaml_document.load_yaml(path), defects)
    data = read_whole(path)
    start = data.lstrip()[:1]
    if start == b"{":
        return clean(loads(data, defects, what="file"), defects)
    if start == b"[":  # a JSON list, or the name of a TOML table
        with suppress(BrokenInput):
            return clean(loads(data, defects, what="file"), defects)
    return clean(_toml(data), defects)


def as_text(data: bytes, defects: Counter[str]) -> str:
    """Decode bytes as text, Latin-1 if they are no UTF-8 (and counted), without a byte order mark."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError:
        defects[NOT_UTF8] += 1
        return data.decode("latin-1")


def clean(value: Any, defects: Counter[str], room: int | None = None) -> Any:
    """Return the value as plain JSON can contain it; what it cannot becomes `None` (text: U+FFFD) and is counted.

    So is what is more than `room` levels deep, by default `limits.depth`.
    """
    room = limits().depth if room is None else room
    if isinstance(value, str):
        return _clean_text(value, defects)
    if isinstance(value, float) and not math.isfinite(value):
        defects[NOT_FINITE] += 1
        return None
    if isinstance(value, dict | list):
        if room == 0:
            defects[too_deep()] += 1
            return None
        if isinstance(value, list):
            return [clean(item, defects, room - 1) for item in value]
        return {_clean_text(key, defects): clean(item, defects, room - 1) for key, item in value.items()}
    return value


def too_deep() -> str:
    """Return what is wrong with a value in which lists and objects are in each other too deeply."""
    return f"nested too deeply, more than {limits().told('depth')}"


def is_deep(value: Any, room: int | None = None) -> bool:
    """Return whether lists and objects are in each other more than `room` levels deep, those of `limits.depth`."""
    if not isinstance(value, _BOXES):
        return False
    room = limits().depth if room is None else room
    if room == 0:
        return True
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, _BOXES) and is_deep(item, room - 1):
            return True
    return False


def _clean_text(text: str, defects: Counter[str]) -> str:
    if text.isascii() or not (cleaned := _SURROGATES.subn("�", text))[1]:
        return text
    defects[LONE_SURROGATE] += cleaned[1]
    return cleaned[0]


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else math.inf


def _complaint(error: json.JSONDecodeError, text: str) -> str:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        return "it ends too early"
    return f"{_COMPLAINTS.get(error.msg, 'something is unexpected')} at character {error.pos + 1}"


def is_costly_toml(data: bytes) -> bool:
    """Return whether keys in a TOML document have so many parts that reading it takes minutes: the square of them."""
    dots = (line.count(b".") for line in data.splitlines())
    return sum(count * count for count in dots if count > limits().depth) > _MOST_STEPS


def _toml(data: bytes) -> dict[str, Any]:
    if is_costly_toml(data):
        raise BrokenInput(f"file is {too_deep()}")
    try:
        return tomllib.loads(as_text(data, Counter()))
    except tomllib.TOMLDecodeError as error:
        raise BrokenInput("file is neither JSON nor TOML", _toml_line(error)) from error
    except RecursionError as error:
        raise BrokenInput("file is nested too deeply") from error
    except ValueError as error:
        raise BrokenInput("file has a number or a date out of range") from error


def _toml_line(error: tomllib.TOMLDecodeError) -> int | None:
    _, _, place = str(error).rpartition("(at line ")
    number = place.partition(",")[0]
    return int(number) if number.isascii() and number.isdigit() else None


# Take apart the JSON of others: the objects of a file, and parts of them as the type that they should have.
HEAD_LINES = 8


def text_of(value: Any) -> str | None:
    """Return text that is not empty, a whole number as text, `None` for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def number_of(value: Any, lowest: float = 0.0, highest: float = LONGEST) -> float | None:
    """Return a number within bounds, `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not lowest <= value <= highest:
        return None
    return float(value)


def flag_of(value: Any) -> bool | None:
    """Return true or false, `None` for anything else."""
    return value if isinstance(value, bool) else None


def object_of(value: Any) -> dict[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, none for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def read_values(path: Path, is_wanted: Callable[[Any], bool] | None = None) -> Iterator[tuple[int, Any] | BrokenInput]:
    """Yield the values of a file with their lines: of one document, of a list in it, or of each of its lines.

    What is one document has line 0. Those that are wanted are taken out of envelopes, and envelopes that have none are
    counted. What cannot be read is yielded as its reason. A value that is nested too deeply lacks what is below. Raises
    `BrokenInput` if the file cannot be read at all.
    """
    closed = 0
    for found in _read_values(path, is_wanted):
        if is_wanted is not None and not isinstance(found, BrokenInput) and is_closed(found[1], is_wanted):
            closed += 1
        else:
            yield found
    if closed:
        yield BrokenInput(no_payload(closed, "value"))


def _read_values(path: Path, is_wanted: Callable[[Any], bool] | None) -> Iterator[tuple[int, Any] | BrokenInput]:
    if not _has_values(path, 1):
        try:
            document = _value(read_whole(path), "file")
        except BrokenInput:
            if not _has_values(path, HEAD_LINES):
                raise
        else:
            yield from _each(0, document, is_wanted)
            return
    broken: list[BrokenInput] = []
    for number, line in read_lines(path, broken.append):
        try:
            yield from _each(number, _value(line, "line"), is_wanted)
        except BrokenInput as problem:
            yield BrokenInput(problem.reason, number)
    yield from broken


def _each(line: int, value: Any, is_wanted: Callable[[Any], bool] | None) -> Iterator[tuple[int, Any]]:
    is_whole = is_wanted is not None and is_wanted(value)
    for each in value if isinstance(value, list) and not is_whole else [value]:
        yield from ((line, found) for found in (opened(each, is_wanted) if is_wanted else []) or [each])


def _value(data: bytes, what: str) -> Any:
    value = loads(data, what=what)
    return clean(value, Counter()) if is_deep(value) else value


def _has_values(path: Path, lines: int) -> bool:
    """Return whether one of the first lines is an object or a list by itself."""
    return any(_is_value(line) for _, line in islice(read_lines(path), lines))


def _is_value(line: bytes) -> bool:
    try:
        return isinstance(loads(line), dict | list)
    except BrokenInput:
        return False


# Look into the envelopes in which services hand on what they were sent (docs/formats/envelopes.md).
ENVELOPES = (
    *("body", "json", "payload", "data", "raw", "event_data", "raw_payload", "raw_body", "detail"),
    *("trigger", "event", "Records", "Sns", "Message"),
    *("items", "results", "calls", "conversations"),
)
"""The keys under which envelopes and pages of answers keep what they are for, in the order in which they are tried."""
NO_CALL = "no call in its payload"
_LAYERS = 4
_MANY = {"entry": "entries", "line": "lines", "value": "values"}
_EVENTS = ("event", "name", "type")


def opened(value: Any, is_wanted: Callable[[Any], bool], most: int | None = None, room: int = _LAYERS) -> list[Any]:
    """Return what is wanted: the value, else what is in its envelopes, each a key, a list or a text of JSON.

    Of a call that is handed on beside its event both come, as its platform has them. What is in a list with something
    that is wanted and is not comes as it is, so that it is shown of. Of lists `most` are looked at, else all.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = loads(value.encode(errors="replace"))
        except BrokenInput:
            return []
    if isinstance(value, dict | list) and is_wanted(value):
        return [value]
    if isinstance(value, list) and room >= 0:
        inner = [(each, opened(each, is_wanted, most, room - isinstance(each, list))) for each in value[:most]]
        return [found for each, some in inner for found in some or [each]] if any(some for _, some in inner) else []
    if not isinstance(value, dict):
        return []
    if room and value.get("isBase64Encoded") is not True:
        for key in ENVELOPES:
            if key in value and (found := opened(value[key], is_wanted, most, room - 1)):
                return [_with_event(value, each, is_wanted) for each in found]
    return []


def _with_event(envelope: Mapping[str, Any], value: Any, is_wanted: Callable[[Any], bool]) -> Any:
    event = next((name for key in _EVENTS if (name := text_of(envelope.get(key))) is not None), None)
    both = {"event": event, "call": value}
    return both if event is not None and "call" not in value and is_wanted(both) else value


def is_closed(value: Any, is_wanted: Callable[[Any], bool]) -> bool:
    """Return whether a value is an envelope that has nothing that is wanted."""
    return not is_wanted(value) and not object_of(value).keys().isdisjoint(ENVELOPES)


def no_payload(closed: int, what: str) -> str:
    """Return the sentence on some envelopes without a call, `what` they are."""
    return f"{NO_CALL}: {closed} {what if closed == 1 else _MANY[what]}"


def closed_envelope(value: Any) -> str | None:
    """Return why nothing can be taken out of an envelope, `None` if something can or it is none."""
    given = object_of(value)
    if "runData" in object_of(object_of(given.get("data")).get("resultData")):
        return "an n8n execution; save the Webhook node's output"
    if "call__call_id" in given or "data__conversation_id" in given or "message__call__id" in given:
        return "Zapier took the webhook apart; use Catch Raw Hook"
    records = objects_of(given.get("Records"))[:1]
    if given.get("isBase64Encoded") is True or "data_base64" in given or any("kinesis" in each for each in records):
        return "the body is base64"
    return None


# Fit plain JSON values into typed ones, part by part, so that one that is wrong costs no other.
_WANTED = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}
_Struct = TypeVar("_Struct", bound=msgspec.Struct)

fields_of = lru_cache(msgspec.structs.fields)
_EPOCH, _EPOCH_WITHOUT_ZONE = datetime(1970, 1, 1, tzinfo=UTC), datetime(1970, 1, 1)


def fit(value: Any, kind: Any) -> Any:
    """Convert a JSON value to the given type; whole numbers become text where text is wanted, `3.0` a whole number.

    Raises `msgspec.ValidationError`.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        if isinstance(value, int) and not isinstance(value, bool):
            return msgspec.convert(str(value), kind)
        if isinstance(value, float) and value.is_integer():
            return msgspec.convert(int(value), kind)
        raise


def wanted(kind: Any) -> str:
    """Return what to call a type in a sentence to a user: "a number", "a list or a whole number"."""
    options = _plain_types(kind)
    if str in options:
        return _WANTED[str]
    return " or ".join(name for plain, name in _WANTED.items() if plain in options)


def fitting(given: Mapping[str, Any], kind: type[_Struct], misfit: Callable[[str], object]) -> _Struct:
    """Return a struct from the fields that fit; raise `KeyError` with the name of a required one that is not there."""
    taken = {}
    for info in fields_of(kind):
        value = given.get(info.name)
        if value is not None:
            try:
                taken[info.name] = fit(value, info.type)
                continue
            except msgspec.ValidationError:
                misfit(info.name)
        if info.required:
            raise KeyError(info.name)
    return kind(**taken)


def contract_of(given: Mapping[str, Any]) -> tuple[Contract, list[str]]:
    """Return a contract from an object, with the names of the parts that did not fit and are left out."""
    misfits: dict[str, None] = {}
    states = {}
    described = given.get("states")
    if described is not None and not isinstance(described, dict):
        misfits["states"] = None
        described = None
    for name, state in (described or {}).items():
        if not isinstance(state, dict):
            misfits["states"] = None
            state = {}
        states[name] = fitting(state, StateContract, lambda part: misfits.setdefault(f"states.{part}"))
    contract = fitting({**given, "states": None}, Contract, misfits.setdefault)
    return msgspec.structs.replace(contract, states=states), list(misfits)


def _plain_types(kind: Any) -> list[type]:
    if get_origin(kind) in (Union, UnionType):
        return [plain for option in get_args(kind) for plain in _plain_types(option)]
    return [getattr(kind, "__origin__", kind)]


_LATEST = 1e14
"""The last time that is believed, in milliseconds since the epoch: more than a thousand years from now."""

_LATEST_SECONDS = 1e11
"""A time below it is one in seconds: in milliseconds it would be before April 1973."""


def epoch_ms(value: Any) -> float | None:
    """Return a time in milliseconds since the epoch, also one that is given in seconds; `None` for what is none."""
    found = number_of(value, lowest=1, highest=_LATEST)
    return None if found is None else found * 1000 if found < _LATEST_SECONDS else found


def moment(milliseconds: float | None) -> str | None:
    """Return a time that is given in milliseconds since the epoch in RFC 3339, `None` for what is none."""
    if milliseconds is None or not 0 < milliseconds <= _LATEST:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


@lru_cache(maxsize=1024)
def parse_time(text: str) -> int | None:
    """Parse RFC 3339 into microseconds since the epoch in UTC, `None` for what is not a time; without a zone it is UTC.

    A date alone is its midnight; digits below a microsecond are dropped.
    """
    if text[4:5] != "-" or text[7:8] != "-":  # fromisoformat takes a row of digits for a time
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        try:
            found = datetime.fromisoformat(text.upper())  # RFC 3339 allows t and z
        except ValueError:
            return None
    past = found - (_EPOCH if found.tzinfo else _EPOCH_WITHOUT_ZONE)
    return (past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds
