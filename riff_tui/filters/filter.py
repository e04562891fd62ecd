"""Define a filter as text and as a predicate at once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from riff_store.filters.predicates import And, InState, Not, Or, Predicate, Term, all_of, conjuncts, terms
from riff_store.vocabulary import BARE_FLAGS, HOMONYMS, aspect_named, field_of, flag_of_share, split_name
from riff_tui.errors import FilterError
from riff_tui.text.safe_text import one_line


class Filter:
    """Keep a filter with its text as it was typed, parsed at most once, or as it is rendered from a predicate.

    Filters of the same text are equal; one without text is false and applies everywhere.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text

    @classmethod
    def of(cls, predicate: Predicate | None) -> Filter:
        """Return the filter of a predicate, whose positions point nowhere."""
        found = cls("" if predicate is None else render(And(conjuncts(predicate))))
        found.predicate = predicate
        return found

    @cached_property
    def predicate(self) -> Predicate | None:
        """Return what the text reports; raise `FilterError` if it makes no sense."""
        if not self.text:
            return None
        from riff_tui.filters.parser import parse

        return parse(self.text)

    def __and__(self, typed: Filter) -> Filter:
        """Return the filter that applies where both do, the second one with its text as it was typed."""
        if not self.text or not typed.text.strip():
            return self or typed
        return Filter(f"{self.text} ({typed.text})" if isinstance(typed.predicate, Or) else f"{self.text} {typed.text}")

    def __bool__(self) -> bool:
        return bool(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Filter({self.text!r})"


# Write names and predicates as a filter expression that reads back as they are.
_PLAIN = re.compile(r"\w[\w.+@#-]*")
_ENDS_CODE = "`<"
"""A backtick ends code in a comment, and chats take `<!…>` for a command wherever it stands."""
_PIECES = re.compile(r"\\.|.", re.DOTALL)


@lru_cache(4096)
def quote(value: str) -> str:
    """Write a name as a value of `field=`: bare if that is safe, else quoted and in printable characters."""
    value = value.encode("utf-8", "backslashreplace").decode()
    is_plain = _PLAIN.fullmatch(value) and value != "none" and one_line(value) == value
    return value if is_plain else _quoted(value)


def render(predicate: Predicate | None) -> str:
    """Write the expression of a predicate; `parse` gives the predicate back."""
    match predicate:
        case None:
            return ""
        case Term():
            return _term(predicate)
        case Not(part):
            return f"!{_grouped(part, And, Or)}"
        case And(parts):
            return " ".join(_grouped(part, And, Or) for part in parts)
        case Or(parts):
            return " | ".join(_grouped(part, Or) for part in parts)
        case InState(part):
            return f"({render(part)})"


def _grouped(predicate: Predicate, *loose: type[And | Or]) -> str:
    text = render(predicate)
    return f"({text})" if isinstance(predicate, loose) else text


def _term(term: Term) -> str:
    name, suffix = split_name(term.field or "")
    name = name if suffix is None else f"{name}.{quote(suffix)}"
    if term.operator == "matches":
        escaped = ("\\/" if piece == "/" else piece for piece in _PIECES.findall(str(term.value)))
        return f"{name}{':' if name else ''}/{''.join(escaped)}/"
    if term.operator == "contains":
        value = str(term.value)
        return f"{name}:{quote(value)}" if name else _quoted(value) if value in BARE_FLAGS else quote(value)
    if term.operator in ("missing", "measured"):
        return f"{name}{'=' if term.operator == 'missing' else '!='}·"
    return f"{name}{term.operator}{_value(term)}"


def _value(term: Term) -> str:
    if isinstance(term.value, str):
        is_alias = term.field == "aspect" and aspect_named(term.value) != term.value
        return _quoted(term.value) if is_alias else quote(term.value)
    number = float(term.value or 0)
    if term.field is not None and field_of(term.field).kind == "flag":
        return "true" if number else "false"
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _quoted(value: str) -> str:
    text = "".join(map(_escaped, value))
    if one_line(text) != text:
        # More marks on a letter than displays leave there would be lost where a command is shown.
        text = "".join(
            _as_code(character) if unicodedata.category(character)[0] == "M" else character for character in text
        )
    return f'"{text}"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    is_shown = character.isprintable() and character not in _ENDS_CODE and one_line(character) == character
    return character if is_shown else _as_code(character)


def _as_code(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


# Split a filter into what it says of calls, of rows, and of judges.
#
# Rows of a matrix are cells over calls. In a view, a metric that its rows have speaks of the row; a name
# that its rows have is the same said of either; everything else narrows the calls behind the rows.
TermLevel: TypeAlias = Literal["calls", "rows", "either"]
SCORE_FIELDS = ("aspect", "judge", "model", "prompt_hash", "prompt_version")


def split(predicate: Predicate | None, row_fields: Collection[str]) -> tuple[Predicate | None, Predicate | None]:
    """Split a filter into the parts about calls and about rows; rows of the second come from calls of the first.

    `row_fields` are the keys of the view's records; without any, everything is about calls. Names that are in the
    second part narrow the calls as well, once other things do. Raises `FilterError` if `|` or `!` ties both kinds
    together, and for a field that only rows of other views have.
    """
    calls: list[Predicate] = []
    rows: list[Predicate] = []
    shared: list[Predicate] = []
    for part in _parts(predicate, row_fields):
        sides = {_side(term, row_fields) for term in terms(part)}
        if "calls" in sides:
            calls.append(part)
        else:
            rows.append(part)
            # A cell's segment is the one that most of its rows have, so not each row's own.
            if sides == {"either"} and not any(term.field == "segment" for term in terms(part)):
                shared.append(part)
    return all_of([*shared, *calls] if calls else []), all_of(rows)


def take_judges(predicate: Predicate | None) -> tuple[Predicate | None, Predicate | None]:
    """Split a filter into what it reports of judges, for views that show some of them, and the rest."""
    return _take(predicate, ("judge",), "judges")


def take_scores(predicate: Predicate | None) -> tuple[Predicate | None, Predicate | None]:
    """Split a filter into what it reports of single scores, where these are listed, and the rest."""
    return _take(predicate, SCORE_FIELDS, "scores")


def _take(
    predicate: Predicate | None, fields: Collection[str], chosen: str
) -> tuple[Predicate | None, Predicate | None]:
    taken: list[Predicate] = []
    rest: list[Predicate] = []
    for part in conjuncts(predicate):
        about = [term for term in terms(part) if term.field in fields]
        if not about:
            rest.append(part)
        elif len(about) == len(list(terms(part))):
            taken.append(part)
        else:
            raise FilterError(
                f"{about[0].field} chooses among {chosen} here, so it cannot be tied by | or ! to anything else",
                about[0].position,
            )
    return all_of(taken), all_of(rest)


def _parts(predicate: Predicate | None, row_fields: Collection[str]) -> Iterator[Predicate]:
    for part in conjuncts(predicate):
        sides = {term: _side(term, row_fields) for term in terms(part)}
        if {"calls", "rows"} <= set(sides.values()):
            if not isinstance(part, And):
                raise _mixed(sides)
            yield from _parts(part, row_fields)
        else:
            yield part


def _side(term: Term, row_fields: Collection[str]) -> TermLevel:
    if term.field is None:
        return "rows" if row_fields else "calls"
    field = field_of(term.field)
    if field.name in row_fields:
        is_of_both = field.kind == "name" and field.level != "row" and field.name not in HOMONYMS
        return "either" if is_of_both else "rows"
    if field.level == "row":
        from difflib import get_close_matches

        near = get_close_matches(field.name, sorted(row_fields), n=1)
        flag = flag_of_share(field.name)
        of_call = f"; of single calls ask {flag}=true or {flag}=false" if flag else ""
        advice = f"; near: {near[0]}" if near else of_call
        raise FilterError(f"rows here have no {field.name}{advice}", term.position)
    return "calls"


def _mixed(sides: dict[Term, TermLevel]) -> FilterError:
    call = next(term for term, side in sides.items() if side == "calls")
    row = next(term for term, side in sides.items() if side == "rows")
    return FilterError(
        f"{_said(row)} filters the rows shown, {_said(call)} of the calls behind them:"
        " a blank may be between them, but | and ! cannot tie them together",
        max(call.position, row.position),
    )


def _said(term: Term) -> str:
    return term.field or f"a bare {'/re/' if term.operator == 'matches' else 'word'}"
