"""The names that a store knows, asked for by a filter: for lists to pick from and for completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from riff_tui.filters import parse, split

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.predicates import Predicate


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Answers which names there are; raises `FilterError` for an expression that calls cannot be chosen by."""

    store: Store

    def known(self, field: str, where: str = "") -> list[str]:
        """Every name of a field in order, states of the calls that `where` chooses; none of what is no name."""
        from riff_store.queries.contents import known_names

        return known_names(self.store, field, _calls(where))

    def counted(self, field: str, where: str = "") -> list[tuple[str, int]]:
        """The names that the calls have which `where` chooses, each with how many; runs the latest first."""
        from riff_store.queries.contents import counted_names

        return counted_names(self.store, field, _calls(where))


def _calls(where: str) -> Predicate | None:
    return split(parse(where), ())[0]
