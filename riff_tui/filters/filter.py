"""Hold a filter as text and as a predicate at once."""

from __future__ import annotations

from functools import cached_property

from riff_store.predicates import And, Or, Predicate, conjuncts
from riff_tui.filters.parser import parse
from riff_tui.filters.writer import render


class Filter:
    """Hold a filter with its text as it was typed, parsed at most once, or as it is rendered from a predicate.

    Filters of the same text are equal; one without text is false and holds everywhere.
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
        """Return what the text says; raise `FilterError` if it makes no sense."""
        return parse(self.text)

    def __and__(self, typed: Filter) -> Filter:
        """Return the filter that holds where both do, the second one with its text as it was typed."""
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
