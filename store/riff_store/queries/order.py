"""When did each run begin, and which came first?"""

from __future__ import annotations

import peewee as pw

from riff_store import models as m
from riff_store.database import Store


def run_starts(store: Store) -> dict[str, int | None]:
    """The first moment of each run in microseconds since the epoch, `None` where no call says when it was."""
    cell = m.CallRollup
    rows = store.execute(cell.select(cell.run, pw.fn.MIN(cell.first_at)).group_by(cell.run))
    names = dict(store.execute(m.Run.select(m.Run.id, m.Run.name)))
    return {names[run]: started for run, started in rows}


def run_order(store: Store) -> dict[str, int]:
    """The place of each run in time; runs without any time come last, by name."""
    started = run_starts(store)
    ordered = sorted(started, key=lambda name: (started[name] is None, started[name] or 0, name))
    return {name: place for place, name in enumerate(ordered)}
