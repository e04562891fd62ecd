"""Decide what operators mean: in Python on the rows that a view shows and on names, and on columns and arrays.

Nothing but `missing` is true of a value that was not measured, and `!` turns true and false around,
so that it finds those too.
"""

from __future__ import annotations

import operator
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, TypeAlias

from riff_store.errors import UsageError
from riff_store.filters.predicates import Predicate, Term, Walker
from riff_store.vocabulary import field_of, split_name

Test: TypeAlias = Callable[[Mapping[str, Any]], bool]

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def matches(predicate: Predicate, record: Mapping[str, Any], names: Collection[str]) -> bool:
    """Return whether a predicate applies to the record of a row; a bare word looks through the fields in `names`."""
    return compile_predicate(predicate, names)(record)


def compile_predicate(predicate: Predicate, names: Collection[str]) -> Test:
    """Return `matches` as a function of the record, which is twice as quick for many records."""
    return _Tests(names).of(predicate)


class _Tests(Walker[Test]):
    """Make functions of the records of rows."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def term(self, term: Term) -> Test:
        accepts, names, field = _acceptor(term), tuple(self._names), term.field
        if field is None:
            return lambda record: any(accepts(record.get(name)) for name in names)
        if split_name(field)[1] is None:
            return lambda record: accepts(record.get(field))
        return lambda record: accepts(_value(record, field))

    def in_state(self, part: Predicate) -> Test:
        return self.of(part)

    def both(self, found: Sequence[Test]) -> Test:
        return lambda record: all(test(record) for test in found)

    def either(self, found: Sequence[Test]) -> Test:
        return lambda record: any(test(record) for test in found)

    def negated(self, found: Test) -> Test:
        return lambda record: not found(record)


def satisfies(term: Term, value: Any) -> bool:
    """Return whether a value is as the term asks; of several values any, and for `!=` all."""
    values = [one for one in _spread(term, value) if one is not None and one == one]
    if term.operator == "missing":
        return not values
    if term.operator == "measured":
        return bool(values)
    if term.operator == "!=":
        return bool(values) and not any(_holds(term, "=", one) for one in values)
    return any(_holds(term, term.operator, one) for one in values)


def fold(text: str) -> str:
    """Return text without its case, as a database's LIKE folds it where that knows the letters.

    Letters that would fold to ASCII ones without being any (the Kelvin sign, a ligature) stay apart.
    """
    if text.isascii():
        return text.lower()
    return "".join(_folded(character) for character in text)


def _acceptor(term: Term) -> Callable[[Any], bool]:
    """Return `satisfies` for one term, with a short way for single texts and numbers."""
    wanted = term.value
    if term.operator == "contains" and isinstance(wanted, str):
        folded = fold(wanted)
        return lambda value: folded in fold(value) if type(value) is str else satisfies(term, value)
    if term.operator == "matches" and isinstance(wanted, str):
        search = pattern(wanted).search
        return lambda value: search(value) is not None if type(value) is str else satisfies(term, value)
    compare = _COMPARE.get(term.operator)
    if compare is not None and isinstance(wanted, float):
        return lambda value: compare(value, wanted) if type(value) is float else satisfies(term, value)
    return lambda value: satisfies(term, value)


def _value(record: Mapping[str, Any], name: str) -> Any:
    base, suffix = split_name(name)
    value = record.get(base)
    if not isinstance(value, Mapping):
        return None
    return [one for key, one in value.items() if is_version_of(key, str(suffix))]


def is_version_of(shown: str, name: str) -> bool:
    """Return whether a judge's displayed name is a name, or that name with one model or one version of its prompt."""
    return shown == name or shown.startswith((f"{name}#", f"{name}@"))


def _spread(term: Term, value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        named = term.field is None or field_of(term.field).kind == "name"
        return value.keys() if named else value.values()
    return value if isinstance(value, (list, tuple)) else (value,)


def compared(values: Any, known: Any, term: Term, wanted: Any) -> Any:
    """Compare a column of a table, or an array, with what a term wants; what is not `known` is neither equal nor not.

    A field of time is in microseconds since the epoch, and is compared with the moment, day or month of the term.
    """
    if term.operator in ("missing", "measured"):
        return known if term.operator == "measured" else ~known
    comparison = "=" if term.operator == "!=" else term.operator
    if field_of(str(term.field)).kind == "time":
        found = _in_time(comparison, values, str(term.value))
    else:
        found = _COMPARE[comparison](values, wanted)
    return known & (~found if term.operator == "!=" else found)


def _holds(term: Term, comparison: str, value: Any) -> bool:
    if term.field is not None and field_of(term.field).kind == "time":
        moment = value if isinstance(value, int) else time_range(str(value))[0]
        return bool(_in_time(comparison, moment, str(term.value)))
    if not isinstance(term.value, str):
        return isinstance(value, (int, float)) and bool(_COMPARE[comparison](float(value), term.value))
    if comparison == "contains":
        return fold(term.value) in fold(str(value))
    if comparison == "matches":
        return pattern(term.value).search(str(value)) is not None
    return bool(_COMPARE[comparison](str(value), term.value))


def _in_time(comparison: str, moment: Any, wanted: str) -> Any:
    """Compare a moment, or a column of them, with a span of time."""
    start, end = time_range(wanted)
    if comparison == "=":
        return (moment >= start) & (moment < end)
    return _COMPARE[comparison](moment, start if comparison in ("<", ">=") else end - 1)


@lru_cache(maxsize=256)
def pattern(text: str) -> re.Pattern[str]:
    """Compile a regular expression without Python's warnings.

    Raises `re.error`, `OverflowError` or `RecursionError` where it makes no sense.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(text)


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    for found in (character.casefold(), character.lower()):
        if character.isascii() or not any(one.isascii() for one in found):
            return found
    return character


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)
_SHAPE = (
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<fraction>\.[0-9]{1,9})?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?)?)?"
)


@lru_cache(maxsize=512)
def time_range(text: str) -> tuple[int, int]:
    """Return the first microsecond of a date, and the first one after it: `2026-06` is a month long.

    Takes years, months, days, minutes, seconds and fractions as ISO 8601 writes them; without a
    zone they are UTC. Raises `UsageError` for anything else.
    """
    try:
        found = re.fullmatch(_SHAPE, text, re.IGNORECASE)
        if found is None:
            raise ValueError(text)
        part = found.groupdict()
        fraction = (part["fraction"] or ".")[1:].ljust(6, "0")[:6]
        start = datetime(
            int(part["year"]), int(part["month"] or 1), int(part["day"] or 1), int(part["hour"] or 0),
            int(part["minute"] or 0), int(part["second"] or 0), int(fraction), _zone(part["zone"]),
        )  # fmt: skip
        return _microseconds(start), _microseconds(_end(start, part))
    except ValueError as error:
        raise UsageError(f"not a date: {text}") from error


def _end(start: datetime, part: dict[str, str | None]) -> datetime:
    try:
        if part["month"] is None:
            return start.replace(year=start.year + 1)
        if part["day"] is None:
            return (start + timedelta(days=31)).replace(day=1)
        if part["hour"] is None:
            return start + timedelta(days=1)
        if part["second"] is None:
            return start + timedelta(minutes=1)
        return start + (timedelta(seconds=1) if part["fraction"] is None else timedelta(microseconds=1))
    except (ValueError, OverflowError):
        return _LAST


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
