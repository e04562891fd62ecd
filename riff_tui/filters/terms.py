"""Make a term of a field, an operator and a value, or say why they do not go together."""

from __future__ import annotations

import re
from decimal import Decimal
from difflib import get_close_matches
from typing import cast

from riff_store.errors import UsageError
from riff_store.predicate_eval import pattern
from riff_store.predicates import Operator, Term
from riff_store.time_range import time_range
from riff_store.vocabulary import ALIASES, FIELDS, Field, added_fields, aspect_named, field_named, share_of_flag

LONGEST_PATTERN = 500
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_OF_JUDGE = re.compile(r"(.+?)(!=|<=|>=|[=<>])(.+)")
_FLAGS = {"true": 1.0, "yes": 1.0, "1": 1.0, "false": 0.0, "no": 0.0, "0": 0.0}
_ORDERS = ("<", "<=", ">", ">=")
_NOT_MEASURED = ("·", "none")


class FilterError(UsageError):
    """Refuse a filter that makes no sense; `position` is the offset of the culprit in the expression."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position

    def __str__(self) -> str:
        return f"filter, character {self.position + 1}: {self.message}"


def field_term(
    name: str, suffix: str | None, operator: str, value: str, start: int, value_at: int, *, quoted: bool
) -> Term:
    """Make a term, its aliases resolved and its value of the field's kind."""
    field = _known(name, start)
    if field.spreads and field.kind == "number" and suffix is None and operator == ":" and not quoted:
        suffix, operator, value, value_at = _headed_like(field, value, value_at)
    field = _share_or_flag(field, operator, value)
    full = field.name if suffix is None else f"{field.name}.{suffix}"
    if suffix is not None and not field.spreads:
        raise FilterError(f"{field.name} has no parts, so nothing can follow its dot", start)
    if operator == ":" and field.kind != "name":
        operator = "="
    if not quoted and value in _NOT_MEASURED and operator != ":":
        return Term(full, _measured(operator, value_at), None, start)
    if field.name == "aspect" and not quoted and operator in ("=", "!="):
        value = aspect_named(value)
    return Term(full, _operator(field, operator, value_at), _value(field, value, value_at), start)


def checked_pattern(text: str, position: int) -> str:
    """Return a regular expression that compiles; raise `FilterError`."""
    if len(text) > LONGEST_PATTERN:
        raise FilterError(f"this regular expression is longer than {LONGEST_PATTERN} characters", position)
    try:
        pattern(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise FilterError(f"this regular expression makes no sense ({error})", position) from None
    return text


def _known(name: str, position: int) -> Field:
    word = name.lower()
    field = field_named(word)
    if field is None:
        near = get_close_matches(word, [*FIELDS, *added_fields(), *ALIASES], n=3, cutoff=0.6)
        advice = f"; near: {', '.join(dict.fromkeys(near))}" if near else "; put text that holds it in quotes"
        raise FilterError(f"no field is called {name}{advice}", position)
    return field


def _headed_like(field: Field, text: str, at: int) -> tuple[str | None, str, str, int]:
    """Read what follows the colon of `hum:NAME<4`, which is how a column of one judge is headed."""
    found = _OF_JUDGE.fullmatch(text)
    if found is not None:
        return found.group(1), found.group(2), found.group(3), at + found.start(3)
    if text[:1].isalpha() and text not in _NOT_MEASURED:
        raise FilterError(f"compare it with a number: {field.name}.{text}<4", at)
    return None, ":", text, at


def _share_or_flag(field: Field, operator: str, value: str) -> Field:
    """Return the share of calls that a flag holds for where it is compared as a share is, else the field."""
    if field.kind == "flag" and (operator in _ORDERS or _is_percent(value)):
        return share_of_flag(field.name) or field
    return field


def _is_percent(value: str) -> bool:
    return value.endswith("%") and _NUMBER.fullmatch(value[:-1]) is not None


def _measured(operator: str, position: int) -> Operator:
    if operator == "=":
        return "missing"
    if operator == "!=":
        return "measured"
    raise FilterError(f"what is not measured has no order; use = or != instead of {operator}", position)


def _operator(field: Field, operator: str, position: int) -> Operator:
    if field.kind == "name" and operator in _ORDERS:
        raise FilterError(f"{field.name} is a name and has no order; use : or =", position)
    if field.kind == "flag" and operator not in ("=", "!="):
        raise FilterError(f"{field.name} is true or false; use = or !=", position)
    if field.kind != "name" and operator == "matches":
        raise FilterError(f"{field.name} is no text; use = < <= > >=", position)
    return cast(Operator, "contains" if operator == ":" else operator)


def _value(field: Field, value: str, position: int) -> str | float:
    if field.kind == "name":
        return value
    if field.kind == "time":
        return _date(value, position)
    if field.kind == "flag":
        if value.lower() not in _FLAGS:
            raise FilterError(f"{field.name} is true or false, not {value}", position)
        return _FLAGS[value.lower()]
    if _is_percent(value):
        if not field.share:
            raise FilterError(f"{field.name} is no share, so it is not counted in percent", position)
        return float(Decimal(value[:-1]).scaleb(-2))
    if not _NUMBER.fullmatch(value) or float(value) in (float("inf"), float("-inf")):
        raise FilterError(f"{value} is no number", position)
    return float(value)


def _date(value: str, position: int) -> str:
    try:
        time_range(value)
    except UsageError:
        raise FilterError(f"{value} is no date; write 2026-06-22 or 2026-06-22T02:00", position) from None
    return value
