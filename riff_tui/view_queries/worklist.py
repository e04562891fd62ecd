"""Ask for the worklist, ranked in full so that what a limit leaves out is counted."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from riff_store.queries.conversations import count_conversations
from riff_store.queries.sums import takes_long
from riff_store.queries.worklist import worklist
from riff_tui.table import Table, in_one_step
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.views.spec import EMPTY_STORE

RANKING = "ranking segments and states"
FLOWS_ALONE = "Segments and states are still being ranked."
_ALL = 10**9
_STATES = ("flow", "state")


def show_worklist(query: ViewQuery) -> Table:
    """Return the three ranked lists, as many of each as requested; where that takes long, a screen sees flows first."""

    def table(whole: bool) -> Table:
        def build(parts: FilterParts) -> Table:
            return query.build(worklist(query.store, parts.calls, _ALL, whole=whole))

        return query.result(query.parts(), build)

    if query.has_to_hurry and query.request.sort is None and takes_long(query.store, query.parts().calls, _STATES):
        flows = table(False)
        if flows.rows:
            return replace(
                flows,
                total=None,
                matched=None,
                notes=[FLOWS_ALONE],
                sections=flows.sections[:1],
                deferred=partial(in_one_step, RANKING, partial(table, True)),
            )
    found = table(True)
    if found.rows or count_conversations(query.store):
        return found
    return replace(found, notes=[*found.notes, EMPTY_STORE])
