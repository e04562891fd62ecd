"""What is a row of the flow matrix worth in the eyes of each judge alone?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from riff_store.answers.quality import COMPUTED
from riff_store.database import Store
from riff_store.models import COMPUTED_JUDGE
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import Grouping, Names
from riff_store.queries.flows import chosen_judges
from riff_store.queries.sums import AspectSums, aspect_sums, call_counts
from riff_store.scoring import operability


class RowQuality(NamedTuple):
    """A row of the matrix: its calls, and by judge the quality and how many calls were scored for it."""

    n: int
    excluded: int
    quality: Mapping[str, float | None]
    scored: Mapping[str, int]


def row_qualities(
    store: Store, calls: Predicate | None, by: tuple[str, ...], judges: Predicate | None
) -> tuple[dict[Names, RowQuality], list[str]]:
    """Each row by the names of `by`, and `(computed)` and the judges that scored any of them, in order.

    Quality is operability with that judge's humanness alone, `(computed)` has none (metrics.md, section
    8). It is not measured where the judge scored no call of the row.
    """
    group = Grouping(by)
    counts, sums = call_counts(store, calls, group), aspect_sums(store, calls, group)
    chosen = chosen_judges(store, judges)
    found = {
        names: _row(n, excluded, sums.get(names, {}), chosen)
        for names, (n, excluded) in sorted(counts.items(), key=_named)
    }
    return found, [COMPUTED, *sorted({judge for row in found.values() for judge in row.quality} - {COMPUTED})]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are measured, `None` where none is."""
    measured = [value for value in values if value is not None]
    # Added up in order of size: the same whatever the rows are called.
    return sum(sorted(measured)) / len(measured) if measured else None


def _named(row: tuple[Names, tuple[int, int]]) -> tuple[str, ...]:
    return tuple(name or "" for name in row[0])


def _row(n: int, excluded: int, sums: Mapping[tuple[str, int], AspectSums], judges: Mapping[int, str]) -> RowQuality:
    def computed(aspect: str) -> float | None:
        found = sums.get((aspect, COMPUTED_JUDGE))
        return found.mean if found else None

    def quality(humanness: Mapping[str, float | None]) -> float | None:
        correctness, completion, errors = computed("correctness"), computed("completion"), computed("errors")
        return operability(correctness, completion, errors, computed("latency_p95"), humanness)

    judged = {
        judges[judge]: found for (aspect, judge), found in sums.items() if aspect == "humanness" and judge in judges
    }
    correctness = sums.get(("correctness", COMPUTED_JUDGE))
    return RowQuality(
        n,
        excluded,
        {COMPUTED: quality({}), **{name: quality({name: by.mean}) if by.n else None for name, by in judged.items()}},
        {COMPUTED: correctness.n if correctness else 0, **{name: by.n for name, by in judged.items()}},
    )
