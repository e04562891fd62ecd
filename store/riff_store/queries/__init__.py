"""Questions that a store answers: one module each, frozen values out, nothing of the database's.

Every question takes the part of a filter that is about calls.
"""

from __future__ import annotations

from riff_store.queries.archetypes import archetypes
from riff_store.queries.conversation import conversation
from riff_store.queries.conversations import calls_of, conversation_ids, conversations, count_conversations
from riff_store.queries.flows import flow_cells
from riff_store.queries.judges import judges
from riff_store.queries.neighbors import neighborhood
from riff_store.queries.overview import overview
from riff_store.queries.runs import run_order, runs
from riff_store.queries.scope import needs
from riff_store.queries.segments import segment_cells
from riff_store.queries.skipped import skipped
from riff_store.queries.states import state_cells
from riff_store.queries.worklist import worklist

__all__ = [
    "archetypes",
    "calls_of",
    "conversation",
    "conversation_ids",
    "conversations",
    "count_conversations",
    "flow_cells",
    "judges",
    "needs",
    "neighborhood",
    "overview",
    "run_order",
    "runs",
    "segment_cells",
    "skipped",
    "state_cells",
    "worklist",
]
