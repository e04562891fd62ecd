"""Read a filter expression into a predicate."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from difflib import get_close_matches
from typing import cast

from riff_store.errors import UsageError
from riff_store.filters.matching import pattern, time_range
from riff_store.filters.predicates import And, Not, Operator, Or, Predicate, Term
from riff_store.vocabulary import (
    ALIASES,
    BARE_FLAGS,
    FIELDS,
    Field,
    added_fields,
    aspect_named,
    field_named,
    share_of_flag,
)
from riff_tui.errors import FilterError

LONGEST = 10_000
DEEPEST = 40
MOST_TERMS = 200

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SUFFIX = re.compile(r"[^\s|()!=<>:\"']+")
_OPERATOR = re.compile(r"!=|<=|>=|[:=<>]")
_WORD = re.compile(r"[^\s|()]+")
_BLANKS = re.compile(r"\s*")
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "'": "'"}


def parse(expression: str) -> Predicate | None:
    """Return the predicate of an expression, `None` of a blank one; raise `FilterError`."""
    if len(expression) > LONGEST:
        raise FilterError(f"longer than {LONGEST:,} characters", LONGEST)
    for position, character in enumerate(expression):
        if unicodedata.category(character) in ("Cc", "Cs"):
            raise FilterError(
                f"control character U+{ord(character):04X} (in quotes, write \\u{ord(character):04x})", position
            )
    return _Reader(expression).whole() if expression.strip() else None


class _Reader:
    """Read an expression once, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.terms = 0

    def whole(self) -> Predicate:
        found = self._alternatives()
        if self.at < len(self.text):
            raise FilterError("no parenthesis is open here", self.at)
        return found

    def _alternatives(self) -> Predicate:
        parts = [self._all_of()]
        while self._next() == "|":
            self.at += 1
            parts.append(self._all_of())
        return Or(tuple(parts)) if len(parts) > 1 else parts[0]

    def _all_of(self) -> Predicate:
        parts = []
        self._skip_blanks()
        while not self._ends():
            parts.append(self._one())
            if not self._ends() and not self._next().isspace():
                raise FilterError("a blank is missing before this; quote text that contains it", self.at)
            self._skip_blanks()
        if not parts:
            raise FilterError("something to look for is missing here", self.at)
        return And(tuple(parts)) if len(parts) > 1 else parts[0]

    def _one(self) -> Predicate:
        start = self._next()
        if start == "!":
            return self._negated()
        if start == "(":
            return self._group()
        self.terms += 1
        if self.terms > MOST_TERMS:
            raise FilterError(f"more than {MOST_TERMS} terms", self.at)
        return self._term()

    def _negated(self) -> Predicate:
        self._deeper()
        self.at += 1
        if self._ends() or self._next().isspace():
            raise FilterError("nothing follows this !", self.at - 1)
        part = self._one()
        self.depth -= 1
        return Not(part)

    def _group(self) -> Predicate:
        opened = self.at
        self._deeper()
        self.at += 1
        inner = self._alternatives()
        if self._next() != ")":
            raise FilterError("this parenthesis is not closed", opened)
        self.at += 1
        self.depth -= 1
        return inner

    def _term(self) -> Term:
        start = self.at
        if self._next() == "/":
            return Term(None, "matches", self._regular_expression(), start)
        if self._quotes():
            return Term(None, "contains", self._quoted(), start)
        if self._next() in ":=<>":
            raise FilterError("a field has to be right before this, without a blank between them", start)
        named = self._field()
        if named is None:
            word = self._word()
            return Term(word, "=", 1.0, start) if word in BARE_FLAGS else Term(None, "contains", word, start)
        return self._field_term(*named, start)

    def _field(self) -> tuple[str, str | None, str] | None:
        """Read field, suffix and operator; return nothing, and consume nothing, where a bare word is."""
        found = _NAME.match(self.text, self.at)
        if found is None:
            return None
        start, self.at = self.at, found.end()
        dotted = self._next() == "."
        suffix = None
        if dotted:
            self.at += 1
            if self._quotes():
                suffix = self._quoted()
            elif part := _SUFFIX.match(self.text, self.at):
                suffix, self.at = part.group(), part.end()
        operator = _OPERATOR.match(self.text, self.at)
        if operator is None or (dotted and suffix is None):
            self.at = start
            return None
        self.at = operator.end()
        return found.group(), suffix, operator.group()

    def _field_term(self, name: str, suffix: str | None, operator: str, start: int) -> Term:
        value_at = self.at
        if operator == ":" and self._next() == "/":
            return field_term(name, suffix, "matches", self._regular_expression(), start, value_at, quoted=True)
        if self._quotes():
            return field_term(name, suffix, operator, self._quoted(), start, value_at, quoted=True)
        found = _WORD.match(self.text, self.at)
        if found is None:
            raise FilterError(f"a value is missing after {self.text[start : self.at]}", self.at)
        self.at = found.end()
        return field_term(name, suffix, operator, found.group(), start, value_at, quoted=False)

    def _word(self) -> str:
        found = _WORD.match(self.text, self.at)
        word = found.group() if found else ""
        stray = re.search(r"[=<>]", word)
        if stray:
            raise FilterError("no field is before this; quote text that contains it", self.at + stray.start())
        self.at += len(word)
        return word

    def _quoted(self) -> str:
        """Read the text between this quote and the next of its kind; a backslash escapes a character."""
        opened, mark = self.at, self.text[self.at]
        parts: list[str] = []
        self.at += 1
        while self._next() != mark:
            if not self._next():
                raise FilterError("this quote is not closed", opened)
            if self._next() == "\\":
                parts.append(self._escape())
            else:
                parts.append(self._next())
                self.at += 1
        self.at += 1
        return "".join(parts)

    def _escape(self) -> str:
        found = _ESCAPED.match(self.text, self.at)
        short, long, letter = found.groups() if found else (None, None, None)
        code = ord(_LETTERS[letter]) if letter in _LETTERS else int(short or long or "110000", 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise FilterError("unknown escape; a backslash itself is written \\\\", self.at)
        self.at = found.end() if found else self.at
        return chr(code)

    def _regular_expression(self) -> str:
        opened = self.at
        parts: list[str] = []
        self.at += 1
        while self._next() != "/":
            step = 2 if self._next() == "\\" else 1
            piece = self.text[self.at : self.at + step]
            if len(piece) < step:
                raise FilterError("this regular expression is not closed by a /", opened)
            parts.append("/" if piece == "\\/" else piece)
            self.at += step
        self.at += 1
        ignoring_case = "(?i)" if self._next() == "i" else ""
        self.at += bool(ignoring_case)
        return checked_pattern(ignoring_case + "".join(parts), opened)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _quotes(self) -> bool:
        return self._next() in ("'", '"')

    def _skip_blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _ends(self) -> bool:
        return self._next() in ("", "|", ")")

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise FilterError(f"nested more than {DEEPEST} deep", self.at)


# Make a term of a field, an operator and a value, or report why they do not go together.
LONGEST_PATTERN = 500
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_OF_JUDGE = re.compile(r"(.+?)(!=|<=|>=|[=<>])(.+)")
_FLAGS = {"true": 1.0, "yes": 1.0, "1": 1.0, "false": 0.0, "no": 0.0, "0": 0.0}
_ORDERS = ("<", "<=", ">", ">=")
_NOT_MEASURED = ("·", "none")


def field_term(
    name: str, suffix: str | None, operator: str, value: str, start: int, value_at: int, *, quoted: bool
) -> Term:
    """Make a term, its aliases resolved and its value of the field's kind."""
    field = _known(name, start)
    if field.spreads and field.kind == "number" and suffix is None and operator == ":" and not quoted:
        suffix, operator, value, value_at = _headed_like(field, value, value_at)
    if field.kind == "flag" and (operator in _ORDERS or _is_percent(value)):
        # Compared as a share is: the share of calls that the flag is true of.
        field = share_of_flag(field.name) or field
    full = field.name if suffix is None else f"{field.name}.{suffix}"
    if suffix is not None and not field.spreads:
        raise FilterError(f"{field.name} has no parts, so nothing can follow its dot", start)
    if operator == ":" and field.kind != "name":
        operator = "="
    if not quoted and value in _NOT_MEASURED and operator != ":":
        if operator in _ORDERS:
            raise FilterError(f"what is not measured has no order; use = or != instead of {operator}", value_at)
        return Term(full, "missing" if operator == "=" else "measured", None, start)
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
        advice = f"; near: {', '.join(dict.fromkeys(near))}" if near else "; quote text that contains it"
        raise FilterError(f"no field is called {name}{advice}", position)
    return field


def _headed_like(field: Field, text: str, at: int) -> tuple[str | None, str, str, int]:
    """Read what follows the colon of `hum:NAME<4`, which is how a column of one judge is headed."""
    found = _OF_JUDGE.fullmatch(text)
    if found is not None:
        return found[1], found[2], found[3], at + found.start(3)
    if text[:1].isalpha() and text not in _NOT_MEASURED:
        raise FilterError(f"compare it with a number: {field.name}.{text}<4", at)
    return None, ":", text, at


def _is_percent(value: str) -> bool:
    return value.endswith("%") and _NUMBER.fullmatch(value[:-1]) is not None


def _operator(field: Field, operator: str, position: int) -> Operator:
    if field.kind == "name" and operator in _ORDERS:
        raise FilterError(f"{field.name} is a name and has no order; use : or =", position)
    if field.kind == "flag" and operator not in ("=", "!="):
        raise FilterError(f"{field.name} is true or false; use = or !=", position)
    if field.kind != "name" and operator == "matches":
        raise FilterError(f"{field.name} is not text; use = < <= > >=", position)
    return cast(Operator, "contains" if operator == ":" else operator)


def _value(field: Field, value: str, position: int) -> str | float:
    if field.kind == "name":
        return value
    if field.kind == "time":
        try:
            time_range(value)
        except UsageError:
            raise FilterError(f"{value} is not a date; write 2026-06-22 or 2026-06-22T02:00", position) from None
        return value
    if field.kind == "flag":
        if value.lower() not in _FLAGS:
            raise FilterError(f"{field.name} is true or false, not {value}", position)
        return _FLAGS[value.lower()]
    if _is_percent(value):
        if not field.share:
            raise FilterError(f"{field.name} is not a share, so it is not counted in percent", position)
        return float(Decimal(value[:-1]).scaleb(-2))
    if not _NUMBER.fullmatch(value) or float(value) in (float("inf"), float("-inf")):
        raise FilterError(f"{value} is not a number", position)
    return float(value)
