"""Represent what a filter asks for, as values: a tree of terms, and the one way to walk it.

The grammar that makes these lives with the command line (`InState` is none of it).
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from riff_store.vocabulary import SAID_FIELDS, TOOL_FIELDS, WAYS, field_of

Found = TypeVar("Found")
Operator: TypeAlias = Literal["contains", "matches", "=", "!=", "<", "<=", ">", ">=", "missing", "measured"]


@dataclass(frozen=True, slots=True)
class Term:
    """Compare one field; `field` None means any name column, `position` is the offset in the expression.

    `value` is text for names and dates, a number for metrics and flags, None for `missing` and
    `measured`. `contains` ignores case, `=` on names does not. Two terms that differ in nothing
    but their position are equal.
    """

    field: str | None
    operator: Operator
    value: str | float | None = None
    position: int = dataclasses.field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Match where its part does not."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """Match where all parts do."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Match where any part does."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class InState:
    """Match a call if its part applies to one of the call's states, whatever states the query is about."""

    part: Predicate


Predicate: TypeAlias = Term | Not | And | Or | InState


def both(first: Predicate | None, second: Predicate | None) -> Predicate | None:
    """Join two predicates, each a group of its own; `None` applies everywhere."""
    return all_of([part for part in (first, second) if part is not None])


def all_of(parts: Sequence[Predicate]) -> Predicate | None:
    """Join predicates that must all apply; `None`, which applies everywhere, if there are none."""
    return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None


def conjuncts(predicate: Predicate | None) -> tuple[Predicate, ...]:
    """Split a predicate into the parts that must all apply."""
    if predicate is None:
        return ()
    return predicate.parts if isinstance(predicate, And) else (predicate,)


def leaves(predicate: Predicate | None) -> Iterator[Term | InState]:
    """Yield from left to right the parts of a predicate that are put together from no others."""
    match predicate:
        case Term() | InState():
            yield predicate
        case Not(part):
            yield from leaves(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)


def terms(predicate: Predicate | None) -> Iterator[Term]:
    """Yield every term of a predicate, from left to right."""
    for leaf in leaves(predicate):
        if isinstance(leaf, InState):
            yield from terms(leaf.part)
        else:
            yield leaf


def asks_for_words(predicate: Predicate | None) -> bool:
    """Return whether a filter asks what was said in calls."""
    return any(term.field in SAID_FIELDS for term in terms(predicate))


def is_of_states(term: Term) -> bool:
    """Return whether a term speaks of the rows of states."""
    return term.field is not None and field_of(term.field).level == "state"


def asks_of_visits(predicate: Predicate | None) -> bool:
    """Return whether all that a filter asks of states is of figures that a visit must have, beside the rest."""
    asked = [leaf for leaf in leaves(predicate) if isinstance(leaf, Term) and is_of_states(leaf)]
    named = {*WAYS, "state", "segment"}
    figures = [term for term in asked if term.field not in named and term.operator in ("=", "<", "<=", ">", ">=")]
    return len(figures) == len(asked) and all(term in conjuncts(predicate) for term in asked)


def asks_states(predicate: Predicate) -> bool:
    """Return whether all of a filter is about rows of states; what applies where another does not speaks of calls."""
    match predicate:
        case And(parts) | Or(parts):
            return all(asks_states(part) for part in parts)
        case Term():
            return is_of_states(predicate)
    return False


def of_calls(predicate: Predicate) -> Predicate:
    """Return a filter of calls: each part about states speaks of some row of a call, those side by side of the same."""
    if asks_states(predicate) and not isinstance(predicate, And):
        return InState(predicate)
    match predicate:
        case Not(part):
            return Not(of_calls(part))
        case Or(parts):
            return Or(tuple(of_calls(part) for part in parts))
        case And(parts):
            rows = [part for part in parts if not isinstance(part, And) and asks_states(part)]
            rest = [of_calls(part) for part in parts if part not in rows]
            return And((*([InState(And(tuple(rows)))] if rows else []), *rest))
    return predicate


def undecided(predicate: Predicate | None) -> Predicate | None:
    """Return a filter, which asks nothing that was said, of the calls for which that decides; `None` is all calls."""
    if predicate is None:
        return None
    most, least = _bound(predicate, most=True), _bound(predicate, most=False)
    parts = [part for part in (most,) if not isinstance(part, bool)]
    if not isinstance(least, bool) and not any(_is_of_row(term) for term in terms(least)):
        parts.append(Not(least))
    return _flat(all_of(parts))


def _bound(predicate: Predicate, *, most: bool) -> Predicate | bool:
    """Return what applies wherever a filter may apply, or the `least` wherever it does, whatever was said."""
    match predicate:
        case Not(part):
            found = _bound(part, most=not most)
            if most and not isinstance(part, Term | InState) and any(_is_of_row(term) for term in terms(part)):
                return True
            if most and isinstance(part, Term) and _is_of_row(part):
                # It may speak of the row of a state, of which a call has others as well.
                return True
            return not found if isinstance(found, bool) else Not(found)
        case And(parts) | Or(parts):
            kind, neutral = (And, True) if isinstance(predicate, And) else (Or, False)
            found_parts = [_bound(part, most=most) for part in parts]
            if (not neutral) in found_parts:
                return not neutral
            rest = tuple(part for part in found_parts if not isinstance(part, bool))
            return neutral if not rest else rest[0] if len(rest) == 1 else kind(rest)
        case _:
            return most if asks_for_words(predicate) else predicate


def _is_of_row(term: Term) -> bool:
    """Return whether a term may speak of a row of a state or of a tool, of which a call has several."""
    return is_of_states(term) or term.field in TOOL_FIELDS


def _flat(predicate: Predicate | None) -> Predicate | None:
    parts = [
        each for part in conjuncts(predicate) for each in (conjuncts(_flat(part)) if isinstance(part, And) else (part,))
    ]
    return all_of(parts)


class Walker(ABC, Generic[Found]):
    """Make one thing of a predicate, such as a condition of SQL or an array of flags: what its parts are, joined."""

    def of(self, predicate: Predicate) -> Found:
        """Return what a predicate is."""
        match predicate:
            case Term():
                return self.term(predicate)
            case InState(part):
                return self.in_state(part)
            case Not(part):
                return self.negated(self.of(part))
            case And(parts):
                return self.every(parts)
            case Or(parts):
                return self.either([self.of(part) for part in parts])

    @abstractmethod
    def term(self, term: Term) -> Found:
        """Return what a term is."""

    @abstractmethod
    def in_state(self, part: Predicate) -> Found:
        """Return what a part means for some state of a call."""

    def every(self, parts: Sequence[Predicate]) -> Found:
        """Return what several parts are together that must all apply."""
        return self.both([self.of(part) for part in parts])

    @abstractmethod
    def both(self, found: Sequence[Found]) -> Found:
        """Join parts that must all apply."""

    @abstractmethod
    def either(self, found: Sequence[Found]) -> Found:
        """Join parts of which one must apply."""

    def negated(self, found: Found) -> Found:
        """Turn around what applies."""
        turned: Any = found
        result: Found = ~turned
        return result


def some(term: Term, scored: Callable[[Term], Found]) -> Found:
    """Match where a call has a value as the term asks; `!=` where it has values and none is equal.

    `scored` finds the calls of which a value is so, and is asked neither for `missing` nor for `!=`.
    """
    if term.operator not in ("missing", "!="):
        return scored(term)
    measured: Any = scored(replace(term, operator="measured", value=None))
    equal: Any = scored(replace(term, operator="=")) if term.operator == "!=" else None
    found: Found = ~measured if equal is None else measured & ~equal
    return found
