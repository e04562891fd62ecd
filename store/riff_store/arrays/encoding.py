"""Pack a column of numbers into the narrowest form that gives back each of them exactly.

Most are whole, or have a few decimals: these are kept as whole numbers over a power of ten, above the least of them.
Others that repeat are numbered, and the rest are kept as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from riff_store.errors import StoreError

Floats: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

_HEADER = struct.Struct("<BBBq")
"""The form, the width of a number, the power of ten that it is divided by, and what is added to it before.

Of numbered values the last is how many different ones there are, which come next.
"""
_NOTHING, _CONSTANT, _WHOLE, _NUMBERED, _DOUBLES = range(5)
_WIDTHS: dict[int, np.dtype[Any]] = {1: np.dtype("u1"), 2: np.dtype("<u2"), 4: np.dtype("<u4"), 8: np.dtype("<u8")}
_NONE = {width: 2 ** (8 * width) - 1 for width in (1, 2, 4)}
"""The number that says that there is no value, one more than that of an unscored one."""
_DECIMALS = 5
_MOST_EXACT = 2.0**53 - 1
MOST_ROWS = 2**22
"""How many rows a chunk may have: a thousand for each call of a row group."""
_UNSCORED_BITS = np.uint64(0x7FF8_0000_0000_0001)
UNSCORED = np.array(_UNSCORED_BITS).view(np.float64)
"""What is no number because it is unscored; any other that is no number says that there is none."""
DAMAGED = "a packed column is damaged", "`riff-tui doctor` shows what is wrong with the store"


def is_unscored(values: Floats) -> NDArray[np.bool_]:
    """Return which values are `UNSCORED`."""
    unscored: NDArray[np.bool_] = values.view("<u8") == _UNSCORED_BITS
    return unscored


def encode(values: Floats) -> bytes:
    """Return a column as bytes; nan is not a value, which is distinguished from `UNSCORED`."""
    known, unscored = ~np.isnan(values), is_unscored(values)
    asked = bool(unscored.any())
    if not asked and not known.any():
        return _HEADER.pack(_NOTHING, 0, 0, 0)
    whole = _whole(values[known])
    if whole is None:
        return _doubles(values, known, unscored)
    power, numbers = whole
    base, span = (int(numbers.min()), int(np.ptp(numbers))) if numbers.size else (0, 0)
    if not asked and not span and known.all():
        return _HEADER.pack(_CONSTANT, 0, power, base)
    dtype = _narrowest(span)
    if dtype is None:
        return _doubles(values, known, unscored)
    if base > 0 and _narrowest(base + span) == dtype:
        base = 0  # as in other chunks, so that they are opened together
    return _HEADER.pack(_WHOLE, dtype.itemsize, power, base) + _placed(numbers - base, dtype, known, unscored)


def joined(chunks: Sequence[tuple[bytes, int]]) -> Iterator[tuple[bytes, int]]:
    """Join the chunks of a column that are packed alike and are side by side; each has its body and its rows.

    Raises `StoreError` if one claims to have more rows than any can: those that are all alike take no room.
    """
    if any(not 0 <= n <= MOST_ROWS for _, n in chunks):
        raise StoreError(*DAMAGED)
    headers = [bytes(body[: _HEADER.size]) for body, _ in chunks]
    start = 0
    while start < len(chunks):
        header, end = headers[start], start + 1
        while end < len(chunks) and headers[end] == header:
            end += 1
        if end - start == 1 or header[:1] == bytes([_NUMBERED]):
            yield from chunks[start:end]
        else:
            alike = chunks[start:end]
            yield b"".join([header, *[body[_HEADER.size :] for body, _ in alike]]), sum([n for _, n in alike])
        start = end


def decode(body: bytes, n: int, rows: Places | None = None) -> Floats:
    """Return the values of a column of `n` rows, or of some of these, nan or `UNSCORED` if there is none.

    Raises `StoreError` for a damaged one.
    """
    packed = _open(body, n, rows)
    if packed.payload is None:
        return np.full(packed.size, packed.base / 10.0**packed.power if packed.form == _CONSTANT else np.nan)
    if packed.form == _DOUBLES:
        return packed.payload.view("<f8")
    none = _NONE[packed.payload.itemsize]
    if packed.form == _WHOLE and none == 255:
        return _table(packed.base, packed.power).take(packed.payload)
    if packed.form == _NUMBERED:
        values = np.append(packed.table, np.nan).take(packed.payload, mode="clip")
    else:
        values = _scaled(packed.payload, packed.base, packed.power)
        values[packed.payload == none] = np.nan
    values[packed.payload == none - 1] = UNSCORED
    return values


def decode_keys(body: bytes, n: int, rows: Places | None = None) -> NDArray[np.int64]:
    """Return the whole numbers of a column of `n` rows, or of some, 0 if there is none; raises as `decode` does."""
    packed = _open(body, n, rows)
    if packed.form in (_NOTHING, _CONSTANT):
        return np.full(packed.size, packed.base, np.int64)
    if packed.payload is None or packed.form != _WHOLE or packed.power:
        return np.nan_to_num(decode(body, n, rows)).astype(np.int64)
    keys = packed.payload.astype(np.int64) + packed.base
    keys[packed.payload >= _NONE[packed.payload.itemsize] - 1] = 0
    return keys


class _Packed(NamedTuple):
    """Describe `size` rows of a column that was opened; `payload` is `None` if all rows are alike."""

    size: int
    form: int
    power: int
    base: int
    table: Floats
    payload: NDArray[Any] | None


@lru_cache(maxsize=256)
def _table(base: int, power: int) -> Floats:
    """Return the value of every number of one byte."""
    table = np.full(256, np.nan)
    table[:-2] = _scaled(np.arange(254), base, power)
    table[-2] = UNSCORED
    return table


def _scaled(numbers: NDArray[Any], base: int, power: int) -> Floats:
    values: Floats = (numbers + float(base)) / 10.0**power
    return values


def _whole(values: Floats) -> tuple[int, NDArray[np.int64]] | None:
    """Return the least power of ten that makes the values whole, and those; `None` if none of the first few does."""
    largest = np.abs(values).max(initial=0.0)
    if np.signbit(values[values == 0]).any():
        return None
    for power in range(_DECIMALS + 1):
        if not largest < _MOST_EXACT / 10.0**power:
            return None
        scaled = np.rint(values * 10.0**power)
        if (scaled / 10.0**power == values).all():
            return power, scaled.astype(np.int64)
    return None


def _narrowest(largest: int) -> np.dtype[Any] | None:
    """Return the width of whole numbers from 0 up to one, with two more that show that there is none."""
    return next((_WIDTHS[width] for width in (1, 2, 4) if largest < _NONE[width] - 1), None)


def _placed(
    numbers: NDArray[Any], dtype: np.dtype[Any], known: NDArray[np.bool_], unscored: NDArray[np.bool_]
) -> bytes:
    none = _NONE[dtype.itemsize]
    body = np.full(known.size, none, dtype)
    body[known] = numbers
    body[unscored] = none - 1
    return body.tobytes()


def _doubles(values: Floats, known: NDArray[np.bool_], unscored: NDArray[np.bool_]) -> bytes:
    bits = values.astype("<f8").view("<u8")
    table, numbers = np.unique(bits[known], return_inverse=True)
    dtype = _narrowest(table.size - 1)
    if dtype is not None and table.nbytes + values.size * dtype.itemsize < values.size * 7:
        header = _HEADER.pack(_NUMBERED, dtype.itemsize, 0, table.size)
        return header + table.tobytes() + _placed(numbers, dtype, known, unscored)
    return _HEADER.pack(_DOUBLES, 8, 0, 0) + bits.tobytes()


def _open(body: bytes, n: int, rows: Places | None) -> _Packed:
    try:
        form, width, power, base = _HEADER.unpack_from(body)
        table, start = np.empty(0), _HEADER.size
        if form in (_NOTHING, _CONSTANT):
            return _Packed(n if rows is None else rows.size, form, power, base, table, None)
        if form == _NUMBERED:
            table = np.frombuffer(body, "<f8", base, start)
            start += table.nbytes
        payload: NDArray[Any] = np.frombuffer(body, _WIDTHS[width], offset=start)
    except (struct.error, KeyError, ValueError) as error:
        raise StoreError(*DAMAGED) from error
    if payload.size != n or form > _DOUBLES or (form == _DOUBLES) != (width == 8):
        raise StoreError(*DAMAGED)
    if rows is not None:
        payload = payload[rows]
    return _Packed(payload.size, form, power, base, table, payload)
