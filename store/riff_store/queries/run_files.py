"""Find where the calls of a run were read from, and which run came before it."""

from __future__ import annotations

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import run_order, run_starts


def latest_run(store: Store) -> str | None:
    """Return the run that began last, `None` in a store without calls."""
    order, started = run_order(store), run_starts(store)
    timed = [name for name in order if started[name] is not None] or list(order)
    return timed[-1] if timed else None


def run_before(store: Store, run: str) -> str | None:
    """Return the run that began before a run, `None` for the first one and for one that is not there."""
    order = list(run_order(store))
    place = order.index(run) if run in order else 0
    return order[place - 1] if place else None


def transcript_of_run(store: Store, run: str) -> str | None:
    """Return the path of the file that a call of a run was read from, `None` where the run has none."""
    call = m.Conversation
    query = (
        call.select(m.SourceFile.path)
        .join(m.Run, on=(m.Run.id == call.run))
        .switch(call)
        .join(m.SourceFile, on=(m.SourceFile.id == call.source_file))
        .where(m.Run.name == run)
        .limit(1)
    )
    return next((str(path) for (path,) in store.execute(query)), None)
