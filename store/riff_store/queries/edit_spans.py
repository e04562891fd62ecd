"""Find the runs that an edit stands between: the first that contains it, and one before that does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from riff_store.queries.last_edits import Basis, Contained, Edit, Edits


class EditSpan(NamedTuple):
    """Name the runs around an edit as `EditEffect` describes them."""

    edit: Edit
    runs: int
    together: int
    previous_run: str | None
    next_run: str | None
    basis: Basis | None


def edit_spans(edits: Edits, flow: str, runs: Sequence[str]) -> list[EditSpan]:
    """Return the edits of a flow among its runs, both earliest first.

    Edits that neither a run nor the branch that was checked out contains are left out.
    """
    contained = [edits.contained(flow, run) for run in runs]
    last = Counter(found.edit for run in runs if (found := edits.last(flow, run)))
    seen = edits.merged(flow)
    for each in contained:
        seen |= each.edits
    places = [place for place in range(len(edits.by_flow[flow])) if seen >> place & 1]
    around = {place: _around(place, contained) for place in places}
    together = Counter(around.values())
    return [
        EditSpan(
            edit=(edit := edits.by_flow[flow][place]),
            runs=last[edit],
            together=together[around[place]],
            previous_run=None if before is None else runs[before],
            next_run=None if after is None else runs[after],
            basis=_basis(place, [contained[index] for index in (before, after) if index is not None]),
        )
        for place, (before, after) in around.items()
    ]


def _around(edit: int, runs: Sequence[Contained]) -> tuple[int | None, int | None]:
    """Return the places of the runs before and after an edit."""
    after = next((place for place, run in enumerate(runs) if run.edits >> edit & 1), None)
    known = -1 if after is None else runs[after].edits
    earlier = range(len(runs) if after is None else after)
    before = next((place for place in reversed(earlier) if not runs[place].edits & ~known), None)
    return before, after


def _basis(edit: int, runs: Sequence[Contained]) -> Basis | None:
    if not runs:
        return None
    return "commit" if all(run.by_commit >> edit & 1 for run in runs) else "time"
