"""Pack a column of numbers into the narrowest form that gives back each of them exactly.

Most are whole, or have a few decimals: these are kept as whole numbers over a power of ten, above the least of them.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riff_store.errors import StoreError

_HEADER = struct.Struct("<BBq")
"""The form, the power of ten that whole numbers are divided by, and what is added to them before."""
_NOTHING, _CONSTANT, _DOUBLES = 0, 1, 6
_WIDTHS: dict[int, np.dtype[Any]] = {2: np.dtype("u1"), 3: np.dtype("<u2"), 4: np.dtype("<u4")}
_DECIMALS = 5
_MOST_EXACT = 2.0**53 - 1
_UNSCORED = np.uint64(0x7FF8_0000_0000_0001)
"""The bits of a double that says unscored; any other that is no number says that there is none."""


def encode(values: NDArray[np.float64], unscored: NDArray[np.bool_] | None = None) -> bytes:
    """Return a column as bytes; nan is no value, which is told apart from one that is `unscored`."""
    known = ~np.isnan(values)
    asked = unscored is not None and bool(unscored.any())
    if not asked and not known.any():
        return _HEADER.pack(_NOTHING, 0, 0)
    whole = _whole(values[known])
    if whole is None:
        return _doubles(values, unscored)
    power, numbers = whole
    base = int(numbers.min()) if numbers.size else 0
    span = int(numbers.max()) - base if numbers.size else 0
    if not asked and not span and known.all():
        return _HEADER.pack(_CONSTANT, power, base)
    for form, dtype in _WIDTHS.items():
        none = int(np.iinfo(dtype).max)
        if span < none - 1:
            body = np.full(values.size, none, dtype)
            body[known] = numbers - base
            if unscored is not None:
                body[unscored] = none - 1
            return _HEADER.pack(form, power, base) + body.tobytes()
    return _doubles(values, unscored)


def decode(body: bytes, n: int) -> NDArray[np.float64]:
    """Return the values of a column of `n` rows, nan where there is none; raises `StoreError` for a damaged one."""
    form, power, base, payload = _open(body, n)
    if payload is None:
        return np.full(n, base / 10.0**power if form == _CONSTANT else np.nan)
    if form == _DOUBLES:
        return payload.view("<f8")
    none = int(np.iinfo(payload.dtype).max)
    if none == 255:
        table: NDArray[np.float64] = (np.arange(256, dtype=np.float64) + base) / 10.0**power
        table[-2:] = np.nan
        return table.take(payload)
    values: NDArray[np.float64] = (payload + float(base)) / 10.0**power
    values[payload >= none - 1] = np.nan
    return values


def decode_keys(body: bytes, n: int) -> NDArray[np.int64]:
    """Return the whole numbers of a column of `n` rows, 0 where there is none; raises as `decode` does."""
    form, power, base, payload = _open(body, n)
    if form in (_NOTHING, _CONSTANT):
        return np.full(n, base, np.int64)
    if payload is None or form == _DOUBLES or power:
        return np.nan_to_num(decode(body, n)).astype(np.int64)
    keys = payload.astype(np.int64) + base
    keys[payload >= np.iinfo(payload.dtype).max - 1] = 0
    return keys


def decode_unscored(body: bytes, n: int) -> NDArray[np.bool_]:
    """Return which of `n` rows are unscored; raises as `decode` does."""
    form, _, _, payload = _open(body, n)
    if payload is None:
        return np.zeros(n, np.bool_)
    unscored: NDArray[np.bool_] = payload == (_UNSCORED if form == _DOUBLES else np.iinfo(payload.dtype).max - 1)
    return unscored


def _whole(values: NDArray[np.float64]) -> tuple[int, NDArray[np.int64]] | None:
    """Return the least power of ten that makes the values whole, and those; `None` where none of the first few does."""
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


def _doubles(values: NDArray[np.float64], unscored: NDArray[np.bool_] | None) -> bytes:
    bits = values.astype("<f8").view("<u8")
    if unscored is not None:
        bits[unscored] = _UNSCORED
    return _HEADER.pack(_DOUBLES, 0, 0) + bits.tobytes()


def _open(body: bytes, n: int) -> tuple[int, int, int, NDArray[Any] | None]:
    """Return form, power, base and what follows, as whole numbers; a column without any value holds nothing more."""
    try:
        form, power, base = _HEADER.unpack_from(body)
        if form in (_NOTHING, _CONSTANT):
            return form, power, base, None
        dtype = np.dtype("<u8") if form == _DOUBLES else _WIDTHS[form]
        payload: NDArray[Any] = np.frombuffer(body, dtype, offset=_HEADER.size)
    except (struct.error, KeyError, ValueError) as error:
        raise StoreError("a packed column is damaged", _MEND) from error
    if payload.size != n:
        raise StoreError("a packed column is damaged", _MEND)
    return form, power, base, payload


_MEND = "`riff-tui doctor` says what is wrong with the store"
