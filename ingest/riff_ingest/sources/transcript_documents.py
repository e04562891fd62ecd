"""Part a file of native transcripts that are no lines: a document, a list, or several documents in sequence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from riff_ingest.lenient_json import NO_CALL, is_closed, loads, opened
from riff_ingest.lines import BrokenInput, limits, read_lines, read_start, read_whole

LISTS = ("conversations", "calls", "transcripts")
"""The keys under which a document may keep its calls."""

_T = TypeVar("_T")
_LOOKED_AT = 8
_BETWEEN = re.compile(rb"[\s,\[\]\x1e]*")
_NO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_BRACKETS = (b"{", b"[", b"}", b"]")
_MORE_FOLLOWS = re.compile(r"trailing characters \(byte (\d+)\)")
_WRAPPED = re.compile(rb'\s*\{\s*"(?:%b)"\s*:\s*\[' % b"|".join(name.encode() for name in LISTS))
_MISREAD = (msgspec.MsgspecError, ValueError, RecursionError)
_object_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def has_documents(path: Path) -> bool:
    """Return whether a file has documents in place of lines: what it begins with is a list, or goes on over lines."""
    start = read_start(path).lstrip()
    if not start.startswith((b"[", b"{")) or b"conversation_id" not in start:
        return False
    first = start.partition(b"\n")[0].rstrip()
    if start.startswith(b"[") or _WRAPPED.match(start):
        return True
    if _is_object(first):
        return False
    if first.endswith(b",") and _is_object(first[:-1]):
        return True
    try:
        # A call of many turns has a line that is longer than what a file begins with, and needs no more of the file.
        if any(_is_object(line) for _, line in islice(read_lines(path, lambda problem: None), 1)):
            return False
        data = read_whole(path, "calls_mib").lstrip()
    except BrokenInput:
        return False
    return b"\n" in data[: _end(data, 0) or 0].rstrip()


def are_transcripts(path: Path) -> bool:
    """Return whether the documents of a file are native transcripts, by the first of them."""
    try:
        return has_documents(path) and any(
            _begins_transcripts(each) for each in islice(documents(read_whole(path, "calls_mib")), _LOOKED_AT)
        )
    except BrokenInput:
        return False


def _begins_transcripts(document: bytes | BrokenInput) -> bool:
    try:
        return isinstance(document, bytes) and is_transcript(loads(document))
    except BrokenInput:
        return False


def is_transcript(value: Any) -> bool:
    """Return whether a value is a conversation, by the two texts that each has."""
    if not isinstance(value, dict) or "judge" in value:
        return False
    return isinstance(value.get("conversation_id"), str) and isinstance(value.get("flow"), str)


def calls_in_envelope(data: bytes, read: Callable[[bytes], _T]) -> list[_T | BrokenInput]:
    """Return the conversations in what is none itself as `read` reads them, and why others cannot be read."""
    try:
        value = loads(data)
    except BrokenInput:
        return []
    found: list[_T | BrokenInput] = []
    for each in opened(value, is_transcript):
        try:
            found.append(read(msgspec.json.encode(each)))
        except BrokenInput as problem:
            found.append(problem)
    return found or ([BrokenInput(NO_CALL)] if is_closed(value, is_transcript) else [])


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(loads(line), dict)
    except BrokenInput:
        return False


def documents(data: bytes) -> Iterator[bytes | BrokenInput]:
    """Yield the documents in some bytes, those of lists each by itself; where one breaks off, that comes last."""
    place = _begin(data)
    count = 0
    while place < len(data):
        end = _end(data, place)
        if end is None:
            if data[place:].strip(b" \t\r\n,]}"):
                yield BrokenInput(f"the {_ordinal(count + 1)} document breaks off", count + 1)
            return
        for document in _listed(data[place:end]):
            count += 1
            if len(document) > limits().bytes("line_mib"):
                yield BrokenInput(f"document is larger than {limits().told('line_mib')}", count)
            else:
                yield document
        place = _after(data, end)


def numbered_documents(path: Path, broken: Callable[[BrokenInput], object]) -> Iterator[tuple[int, bytes]]:
    """Yield the documents of a file with their places, from 1; what breaks off goes to `broken`."""
    for number, document in enumerate(documents(read_whole(path, "calls_mib")), start=1):
        if isinstance(document, BrokenInput):
            broken(document)
        else:
            yield number, document


def _begin(data: bytes) -> int:
    """Return where the first document begins: of an object that breaks off, but has a list of them, in that list."""
    begin = _after(data, 0)
    wrapped = _WRAPPED.match(data, begin)
    return _after(data, wrapped.end()) if wrapped and _end(data, begin) is None else begin


def _after(data: bytes, place: int) -> int:
    between = _BETWEEN.match(data, place)
    return between.end() if between else place


def _end(data: bytes, place: int) -> int | None:
    """Return where the value ends that begins at a place, `None` if it breaks off."""
    try:
        msgspec.json.decode(memoryview(data)[place:], type=msgspec.Raw)
    except _MISREAD as error:
        if found := _MORE_FOLLOWS.search(str(error)):
            return place + int(found[1]) - 1
        return _bracketed_end(data, place)
    return len(data)


def _bracketed_end(data: bytes, place: int) -> int | None:
    """Return the same by brackets, of what is not JSON, such as NaN."""
    depth = 0
    while True:
        inner = _NO_BRACKET.match(data, place)
        place = inner.end() if inner else place
        if data[place : place + 1] not in _BRACKETS:
            return None
        depth += 1 if data[place : place + 1] in (b"{", b"[") else -1
        place += 1
        if depth <= 0:
            return place


def _listed(document: bytes) -> list[bytes]:
    """Return the calls that a document lists under a key, else the document."""
    try:
        given = _object_decoder.decode(document)
        for key in LISTS:
            if "conversation_id" not in given and bytes(given.get(key, b"")).lstrip()[:1] == b"[":
                return [bytes(each) for each in msgspec.json.decode(given[key], type=list[msgspec.Raw])]
    except _MISREAD:
        pass
    return [document]


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
