"""Find the last edit of a flow before a moment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from riff_store import models as m
from riff_store.answers.edits import Edit
from riff_store.database import Store


class Edits:
    """Hold the edits of every flow by the author's time; at one moment the later in the history comes last.

    Reads them once; it is false where the store has none.
    """

    def __init__(self, store: Store) -> None:
        edit = m.FlowEdit
        query = edit.select(edit.flow_name, edit.commit, edit.time, edit.author, edit.subject, edit.path)
        self._edits: dict[str, list[Edit]] = {}
        for row in store.execute(query.order_by(edit.flow_name, edit.time, edit.position, edit.repository)):
            self._edits.setdefault(row[0], []).append(Edit(*row))
        self._times = {flow: [found.time for found in edits] for flow, edits in self._edits.items()}

    def __bool__(self) -> bool:
        return bool(self._edits)

    @property
    def by_flow(self) -> Mapping[str, Sequence[Edit]]:
        """Return the edits of each flow, earliest first."""
        return self._edits

    def last(self, flow: str | None, moment: int | None) -> Edit | None:
        """Return the last edit of a flow that was not made after a moment, `None` for a moment that is not known."""
        if flow not in self._edits or moment is None:
            return None
        place = bisect_right(self._times[flow], moment)
        return self._edits[flow][place - 1] if place else None

    def latest(self, flows: Iterable[str | None], moment: int | None) -> Edit | None:
        """Return the latest of the last edits of several flows; at one moment that of the first flow by name."""
        found = [edit for flow in sorted({flow or "" for flow in flows}) if (edit := self.last(flow, moment))]
        return max(found, key=lambda edit: edit.time, default=None)
