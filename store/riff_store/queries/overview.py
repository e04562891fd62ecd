"""How much is in the store?"""

from __future__ import annotations

import peewee as pw

from riff_store import models as m
from riff_store.answers.lists import Overview
from riff_store.database import Store


def overview(store: Store) -> Overview:
    """Flows, agents and runs that have calls, and how many calls there are."""
    sums = m.CallRollup
    query = sums.select(
        pw.fn.COUNT(sums.flow.distinct()),
        pw.fn.COUNT(sums.agent.distinct()),
        pw.fn.COUNT(sums.run.distinct()),
        pw.fn.COALESCE(pw.fn.SUM(sums.n), 0),
        pw.fn.COALESCE(pw.fn.SUM(sums.excluded), 0),
    )
    return Overview(*(int(count) for count in store.execute(query)[0]))
