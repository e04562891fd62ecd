"""Read the records of calls that a platform's API or its webhooks gave: one, a list, or one a line.

Of several records of one call the one in which most is filled in counts, of equal ones the last.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec

from riff_ingest.sources.lenient_json import as_text, clean, loads
from riff_ingest.sources.lines import BrokenInput, read_lines, read_whole
from riff_store.facts import Skipped

LISTS = ("items", "results", "calls")
"""The keys under which answers of an API that come in pages keep their list."""

_HEAD_LINES = 8
_LIST_BEGINS = re.compile(r"\s*\[\s*")
_NEXT_ENTRY = re.compile(r"\s*,\s*")
_MISREAD = (msgspec.MsgspecError, ValueError, RecursionError)
_list_decoder = msgspec.json.Decoder(list[msgspec.Raw])
_page_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Sketch(NamedTuple):
    """Name the call that a record is of, and how much of it is filled in."""

    call: str
    filled: int


Sketcher: TypeAlias = Callable[[Any], Sketch | None]
"""Returns the sketch of a record, `None` for one that is no record of a call."""


class CallRecord(NamedTuple):
    """Hold a record with its number, that of its line or its place in the list, from 1."""

    number: int
    value: Any
    filled: int


def read_call_records(path: Path, sketch: Sketcher) -> Iterator[CallRecord | Skipped]:
    """Yield the records of a file that count, each as plain JSON, and what had to be left out.

    Of a list that is cut or breaks off, what comes before that is taken. Raises `BrokenInput` where the file is neither
    JSON nor lines of it.
    """
    broken: list[BrokenInput] = []
    if is_lines(path):
        best: dict[str, tuple[int, int]] = {}
        for number, line in read_lines(path, lambda problem: None):
            _keep_best(best, sketch, number, line)
        yield from _counting(read_lines(path, broken.append), best, sketch, "line")
    else:
        given, problem = _listed(read_whole(path, "calls_mib"))
        broken += [problem] if problem else []
        best = {}
        for number, record in enumerate(given, start=1):
            _keep_best(best, sketch, number, record)
        yield from _counting(enumerate(given, start=1), best, sketch, "entry")
    for problem in broken:
        yield Skipped("skipped", problem.line, problem.reason)


def is_lines(path: Path) -> bool:
    """Tell whether a file has a value on each line, and is not one document."""
    head = [line for _, line in islice(read_lines(path, lambda problem: None), _HEAD_LINES)]
    if len(head) < 2 or head[0].lstrip()[:1] == b"[" or head[0].strip() == b"{":
        return False
    return any(map(_is_object, head))


def records_of(value: Any) -> list[Any]:
    """Return the records in a value that is one, a list of them, or a page of an API's answer."""
    if isinstance(value, dict):
        listed = next((value[key] for key in LISTS if isinstance(value.get(key), list)), None)
        return [value] if listed is None else listed
    return value if isinstance(value, list) else [value]


def _is_object(line: bytes) -> bool:
    if not line.startswith(b"{"):
        return False
    try:
        return isinstance(loads(line), dict)
    except BrokenInput:
        return False


def _keep_best(best: dict[str, tuple[int, int]], sketch: Sketcher, number: int, record: Any) -> None:
    try:
        found = sketch(_value(record, "record"))
    except BrokenInput:
        return
    if found is not None:
        best[found.call] = max(best.get(found.call, (-1, 0)), (found.filled, number))


def _counting(
    records: Any, best: dict[str, tuple[int, int]], sketch: Sketcher, what: str
) -> Iterator[CallRecord | Skipped]:
    for number, record in records:
        try:
            value = _value(record, what)
        except BrokenInput as problem:
            yield Skipped("skipped", number, problem.reason)
            continue
        found = sketch(value)
        if found is None:
            yield Skipped("skipped", number, f"{what} is not a call")
        elif best.get(found.call) == (found.filled, number):
            yield CallRecord(number, value, found.filled)


def _value(record: Any, what: str) -> Any:
    return loads(bytes(record), what=what) if isinstance(record, bytes | msgspec.Raw) else record


def _listed(data: bytes) -> tuple[list[Any], BrokenInput | None]:
    """Return the records of a document, as bytes where it is sound, so that one at a time is taken apart."""
    try:
        if data.lstrip()[:1] == b"[":
            return list(_list_decoder.decode(data)), None
        page = _page_decoder.decode(data)
        for key in LISTS:
            if key in page and bytes(page[key]).lstrip()[:1] == b"[":
                return list(_list_decoder.decode(page[key])), None
        return [msgspec.Raw(data)], None
    except _MISREAD:
        pass
    try:
        return records_of(loads(data, what="file")), None
    except BrokenInput as problem:
        if found := list(_before_the_break(data)):
            return found, BrokenInput(f"{problem.reason}; what follows was not read")
        raise


def _before_the_break(data: bytes) -> Iterator[Any]:
    """Yield the entries of a list that are whole, up to the first that is not."""
    text = as_text(data, Counter())
    match = _LIST_BEGINS.match(text)
    decoder = json.JSONDecoder()
    while match is not None:
        try:
            value, end = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            return
        yield clean(value, Counter())
        match = _NEXT_ENTRY.match(text, end)
