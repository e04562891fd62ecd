"""Fit plain JSON values into typed ones, part by part, so that one that is wrong costs no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from riff_ingest.contract import Contract, StateContract

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


@lru_cache(maxsize=1024)
def parse_time(text: str) -> int | None:
    """Parse RFC 3339 into microseconds since the epoch in UTC, `None` for what is no time; without a zone it is UTC.

    A date alone is its midnight; digits below a microsecond are dropped.
    """
    if text[4:5] != "-" or text[7:8] != "-":  # fromisoformat takes a row of digits for a time
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text.upper())  # RFC 3339 allows t and z
        except ValueError:
            return None
    past = moment - (_EPOCH if moment.tzinfo else _EPOCH_WITHOUT_ZONE)
    return (past.days * 86_400 + past.seconds) * 1_000_000 + past.microseconds
