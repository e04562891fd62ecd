"""Read columns of calls that are not packed from their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from riff_store.columns.encoding import Floats
from riff_store.columns.keeping import Ask
from riff_store.columns.layout import CALLS, HANGING
from riff_store.columns.rows import call_columns, hanging_columns, judged, scores, scores_by_judge

_ID = "id"
_CALL = "call"
_NO_SCORES = np.empty(0), np.empty(0)


class UnpackedCalls:
    """Read columns of the calls of a range of keys, and of the rows that hang on them; nan is null.

    With `at_once` all columns are read with the first of a kind, and held: of few calls that takes as long as one does.
    """

    def __init__(self, ask: Ask, first: int, last: int, *, at_once: bool) -> None:
        self._ask = ask
        self._keys = first, last
        self._at_once = at_once
        self._calls: dict[str, Floats] = {}
        self._hanging: dict[str, dict[str, Floats]] = {}
        self._scores: dict[tuple[int, int], tuple[Floats, Floats]] | None = None

    def read_ahead(self, names: Sequence[str]) -> None:
        """Read some columns of calls and all scores at once, and hold them: one by one takes longer."""
        if not all(name in self._calls for name in (_ID, *names)):
            self._calls = self._columns_of_calls(names)
        self._held_scores()

    def read_ahead_of(self, kind: str, names: Sequence[str]) -> None:
        """Read some columns of what hangs on the calls at once, and hold them."""
        if not all(name in self._hanging.get(kind, ()) for name in names):
            self._hanging[kind] = self._columns_of(kind, tuple(HANGING[kind][0]) if self._at_once else names)

    def ids(self) -> Floats:
        """Return the keys of the calls."""
        return self.figures(_ID)

    def figures(self, name: str) -> Floats:
        """Return a column of calls."""
        if self._at_once and not self._calls:
            self._calls = self._columns_of_calls(tuple(CALLS))
        if name in self._calls:
            return self._calls[name]
        return self._columns_of_calls(() if name == _ID else (name,))[name]

    def scores(self, aspect: int, judge: int) -> tuple[Floats, Floats]:
        """Return the keys of the calls that a judge was asked about in one aspect, and the scores; nan is unscored."""
        if self._at_once or self._scores is not None:
            return self._held_scores().get((aspect, judge), _NO_SCORES)
        return scores(self._ask, aspect, judge, *self._keys)

    def judged(self) -> Iterable[tuple[int, int]]:
        """Return the (aspect, judge) of which there are scores."""
        if self._at_once or self._scores is not None:
            return self._held_scores()
        return judged(self._ask, *self._keys)

    def figures_of(self, kind: str, name: str) -> Floats:
        """Return a column of what hangs on the calls."""
        if self._at_once and kind not in self._hanging:
            self._hanging[kind] = self._columns_of(kind, tuple(HANGING[kind][0]))
        if name in self._hanging.get(kind, ()):
            return self._hanging[kind][name]
        return self._columns_of(kind, () if name == _CALL else (name,))[name]

    def _held_scores(self) -> dict[tuple[int, int], tuple[Floats, Floats]]:
        if self._scores is None:
            self._scores = scores_by_judge(self._ask, *self._keys)
        return self._scores

    def _columns_of_calls(self, names: Sequence[str]) -> dict[str, Floats]:
        return dict(zip((_ID, *names), call_columns(self._ask, names, *self._keys), strict=True))

    def _columns_of(self, kind: str, names: Sequence[str]) -> dict[str, Floats]:
        columns = hanging_columns(self._ask, kind, names, *self._keys)
        return dict(zip((_CALL, *names), columns, strict=True))
