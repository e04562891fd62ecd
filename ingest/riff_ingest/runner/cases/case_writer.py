"""Write a case as TOML that people can read and mend."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from riff_ingest.runner.cases.case_file import CaseFile

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
