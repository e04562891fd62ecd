"""Read one JSON object of any size member by member, and lists in it element by element, in little memory."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from riff_ingest.lines import BrokenInput, limits, read_pieces

_AT_ONCE = 256 * 1024
_OBJECT, _OBJECT_END, _LIST, _LIST_END, _COMMA, _COLON, _QUOTE = b'{}[],:"'
_OPENING, _BRACKETS = (_OBJECT, _LIST), (_OBJECT, _LIST, _OBJECT_END, _LIST_END)
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_NO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_PLAIN = re.compile(rb"[^,\[\]{}\s]*+")
_MORE_FOLLOWS = re.compile(r"trailing characters \(byte (\d+)\)")
_CUT = "truncated"


class Member(NamedTuple):
    """Keep the JSON of a member of an object, or of one element of a member that is a list, with its place there."""

    key: str
    value: bytes
    place: int | None = None


def read_members(path: Path, whole: Collection[str] = (), lists: Collection[str] = ()) -> Iterator[Member | str]:
    """Yield the members of the object that a plain or gzip file is, in their order, passing over any others.

    Those of `whole` come whole, those of `lists` element by element where they are lists that have any; a value that is
    too large is left out, with the reason. Raises `BrokenInput` if the file cannot be read any further, after all
    before it.
    """
    return _Scanner(read_pieces(path)).members(whole, lists)


class _TooLarge(BrokenInput):
    """Report that a value does not fit into what is kept of a file."""


class _Scanner:
    """Keep the part of a document that is looked at; `_at` is where the rest begins that is not read yet."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._data = b""
        self._at = 0
        self._problem: BrokenInput | None = None
        self._where = "its beginning"
        self._most = limits().bytes("line_mib")

    def members(self, whole: Collection[str], lists: Collection[str]) -> Iterator[Member | str]:
        """Yield members and elements; see `read_members`."""
        self._take(_OBJECT)
        first = True
        while self._goes_on(_OBJECT_END, first):
            first = False
            self._expect(_QUOTE)
            key = _text(self._value() or b"")
            self._take(_COLON)
            self._where = key
            if key in lists and self._next() == _LIST:
                yield from self._elements(key)
            elif key in whole:
                yield from self._member(key, None)
            else:
                self._value(keep=False)
        if self._next() is not None or self._problem is not None:
            raise self._problem or BrokenInput("more follows after the end of the JSON object; it was not read")

    def _elements(self, key: str) -> Iterator[Member | str]:
        self._at += 1
        place = 0
        while self._goes_on(_LIST_END, place == 0):
            self._where = f"{key}, number {place + 1}"
            yield from self._member(key, place)
            place += 1
        if place == 0:
            yield Member(key, b"[]")

    def _member(self, key: str, place: int | None) -> Iterator[Member | str]:
        value = self._value()
        if value is None:
            yield f"{self._where} is larger than {limits().told('line_mib')}"
        else:
            yield Member(key, value, place)

    def _goes_on(self, end: int, first: bool) -> bool:
        """Step to the next value of a list or an object; report whether there is one before its end."""
        found = self._next()
        if found is None:
            raise self._cut()
        if found == end:
            self._at += 1
            return False
        if not first:
            self._take(_COMMA)
        return True

    def _take(self, wanted: int) -> None:
        self._expect(wanted)
        self._at += 1

    def _expect(self, wanted: int) -> None:
        if (found := self._next()) is None:
            raise self._cut()
        if found != wanted:
            raise self._unexpected()

    def _next(self) -> int | None:
        """Return the next byte that is not a blank, `None` at the end of the file."""
        while True:
            blanks = _BLANKS.match(self._data, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._data):
                return self._data[self._at]
            if not self._read_on():
                return None

    def _value(self, *, keep: bool = True) -> bytes | None:
        """Return the JSON of the value that comes next, `None` if it is too large, and go behind it."""
        if self._next() is None:
            raise self._cut()
        try:
            end = self._end()
        except _TooLarge:
            keep, end = False, self._bracketed(drop=True)
        value = self._data[self._at : end] if keep else None
        self._at = end
        return value

    def _end(self) -> int:
        """Return where the value ends that comes next.

        The decoder finds it many times faster than anything else: it shows where what follows begins. If it finds no
        JSON, as for NaN, brackets decide.
        """
        while True:
            try:
                msgspec.json.decode(memoryview(self._data)[self._at :], type=msgspec.Raw)
            except (msgspec.DecodeError, RecursionError) as error:
                if found := _MORE_FOLLOWS.search(str(error)):
                    return self._at + int(found[1]) - 1  # it counts what follows from 1
                if _CUT not in str(error):
                    return self._bracketed()
                if not self._read_on():
                    raise self._cut() from None
            else:
                if not self._read_on():  # a number that ends here may go on in what is to be read
                    return len(self._data)

    def _bracketed(self, *, drop: bool = False) -> int:
        """Return where the value ends that comes next, by its brackets; `drop` has on to nothing of it."""
        place, depth = self._at, 0
        if self._data[place] not in _OPENING:
            return self._plain_end()
        while True:
            inner = _NO_BRACKET.match(self._data, place)
            place = inner.end() if inner else place
            if place < len(self._data) and self._data[place] in _BRACKETS:
                depth += 1 if self._data[place] in _OPENING else -1
                place += 1
                if depth == 0:
                    return place
                continue
            if drop:
                self._at = place
            done = place - self._at
            if not self._read_on():
                raise self._cut()
            place = self._at + done

    def _plain_end(self) -> int:
        while True:
            plain = _PLAIN.match(self._data, self._at)
            if plain is None or plain.end() == self._at:
                raise self._unexpected()
            if plain.end() < len(self._data):
                return plain.end()
            if not self._read_on():
                raise self._cut()

    def _read_on(self) -> bool:
        """Read as much again as is kept, so that what is looked at twice stays little; `False` at the end."""
        rest = self._data[self._at :]
        if len(rest) > self._most:
            raise _TooLarge(f"a value is larger than {limits().told('line_mib')}")
        parts, wanted = [rest], max(len(rest), _AT_ONCE)
        try:
            while wanted > 0 and (piece := next(self._pieces, None)) is not None:
                parts.append(piece)
                wanted -= len(piece)
        except BrokenInput as problem:
            self._problem = problem
        self._data, self._at = b"".join(parts), 0
        return len(parts) > 1

    def _cut(self) -> BrokenInput:
        return self._problem or BrokenInput(f"file ends too early, within {self._where}; what comes before was read")

    def _unexpected(self) -> BrokenInput:
        return BrokenInput(f"file is not JSON from {self._where} on; what comes before was read")


def _text(value: bytes) -> str:
    try:
        return msgspec.json.decode(value, type=str)
    except (msgspec.MsgspecError, ValueError):
        return value.decode(errors="replace")
