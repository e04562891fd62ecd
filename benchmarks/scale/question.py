"""A question that both sides are asked, and whether they gave the same answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Figures: TypeAlias = Mapping[tuple[Any, ...], float]

_CLOSE = 1e-8
"""Figures of fits are told to nine digits; all others agree to more."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of calls: a `view`, narrowed by `words` of a kind of `filter` or by none.

    `command` are the words after riff-tui, whose JSON has a row for each combination of `keys`. `sql` has a row for
    each figure: the keys, the name that our row has for the figure (dots lead into objects), its value; where all keys
    are null it is a figure of the whole answer. `ordered` answers come in the order of a figure named `place`.
    """

    view: str
    command: Sequence[str]
    keys: Sequence[str]
    sql: str
    filter: str = ""
    words: str = ""
    ordered: bool = False

    @property
    def name(self) -> str:
        """What it is called where something is wrong with it."""
        return f"{self.view}, {self.words}" if self.words else self.view


def differences(question: Question, ours: Mapping[str, Any], theirs: Sequence[Sequence[Any]]) -> list[str]:
    """Return what of an answer differs from the peer's; nothing if both agree on every figure that the peer has."""
    width = len(question.keys)
    expected = {tuple(row[: width + 1]): float(row[width + 1]) for row in theirs if row[width + 1] is not None}
    names = sorted({key[-1] for key in expected if any(part is not None for part in key[:-1])} - {"place"})
    found: dict[tuple[Any, ...], float] = {}
    for place, row in enumerate(ours["rows"]):
        keys = tuple(row[key] for key in question.keys)
        values = {name: _value(row, name) for name in names} | ({"place": place} if question.ordered else {})
        found |= {(*keys, name): float(value) for name, value in values.items() if value is not None}
    whole = {key for key in expected if all(part is None for part in key[:-1])}
    found |= {key: float(ours[key[-1]]) for key in whole}
    return [
        f"{key}: {found.get(key)}, not {expected.get(key)}"
        for key in sorted(found.keys() | expected.keys(), key=str)
        if not _same(found.get(key), expected.get(key))
    ]


def _value(row: Mapping[str, Any], name: str) -> Any:
    base, _, rest = name.partition(".")
    found = row.get(base)
    return found.get(rest) if rest and found is not None else found


def _same(one: float | None, other: float | None) -> bool:
    return one is not None and other is not None and math.isclose(one, other, rel_tol=_CLOSE, abs_tol=_CLOSE)
