"""Read what each judge thinks of calls: one aspect, or the operability that follows from their humanness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from riff_store.columns.encoding import Floats
from riff_store.columns.reading import CallColumns
from riff_store.models import COMPUTED_JUDGE
from riff_store.scoring import PARTS
from riff_store.statistics.blends import blended, computed_blends


def qualities(columns: CallColumns, judges: Iterable[int], aspects: Mapping[str, int]) -> dict[int, Floats]:
    """Return the operability of each call, as each judge alone sees it (docs/metrics.md, section 8)."""
    humanness = aspects.get("humanness", 0)
    found = {judge: np.empty(columns.n) for judge in judges if judge == COMPUTED_JUDGE}
    found |= {judge: np.empty(columns.n) for judge in _asked(columns, judges, humanness) if judge != COMPUTED_JUDGE}
    start = 0
    for part in columns.parts():
        some = slice(start, start + part.n)
        blends = computed_blends(*(part.scores(aspects.get(name, 0), COMPUTED_JUDGE) for name in PARTS))
        for judge, values in found.items():
            of_judge = None if judge == COMPUTED_JUDGE else _finite(part.scores(humanness, judge))
            values[some] = blended(blends, of_judge)
        start = some.stop
    return found


def aspect_scores(columns: CallColumns, judges: Iterable[int], aspect: int) -> dict[int, Floats]:
    """Return one aspect of each call by each of some judges."""
    return {judge: _finite(columns.scores(aspect, judge)) for judge in _asked(columns, judges, aspect)}


def _asked(columns: CallColumns, judges: Iterable[int], aspect: int) -> list[int]:
    """Return those of some judges who may have scored an aspect."""
    chosen = set(judges)
    return [judge for key, judge in columns.judged() if key == aspect and judge in chosen]


def _finite(values: Floats) -> Floats:
    """Return values with nan for those that are infinite."""
    infinite = np.isinf(values)
    return np.where(infinite, np.nan, values) if infinite.any() else values
