"""One question per view: which queries it asks, and what the filter narrows, calls or rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from riff_store.predicates import Predicate
from riff_tui.table import Table
from riff_tui.view_queries import calls, comparison, edits, effects, judges, lists, matrices

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.catalog import Request


def ask(store: Store, view: str, request: Request, predicate: Predicate | None) -> Table:
    """The table of a view, filtered, ordered and cut as requested; the view's name is resolved."""
    return _QUESTIONS[view](store, request, predicate)


_QUESTIONS: dict[str, Callable[[Store, Request, Predicate | None], Table]] = {
    "flows": matrices.ask_flows,
    "segments": matrices.ask_segments,
    "states": matrices.ask_states,
    "neighbors": matrices.ask_neighbors,
    "worklist": matrices.ask_worklist,
    "runs": lists.ask_runs,
    "conversations": calls.ask_conversations,
    "conversation": calls.ask_conversation,
    "judges": lists.ask_judges,
    "agreement": judges.ask_agreement,
    "disputes": judges.ask_disputes,
    "archetypes": lists.ask_archetypes,
    "timeline": lists.ask_timeline,
    "flow-table": lists.ask_flow_table,
    "effects": effects.ask_effects,
    "repeats": judges.ask_repeats,
    "compare": comparison.ask_compare,
    "failures": comparison.ask_failures,
    "edits": edits.ask_edits,
    "skipped": lists.ask_skipped,
}
