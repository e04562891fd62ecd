"""Read what people wrote on calls."""

from __future__ import annotations

import json

from riff_store import models as m
from riff_store.answers.calls import Note
from riff_store.database import Store


def notes_on(store: Store, key: int) -> list[Note]:
    """Return what stands on one call, in the order in which it was written.

    A note is of every call of its name that nothing it says of run, flow, agent and trial tells apart from it. What was
    taken back or written anew is left out.
    """
    note, call, newer = m.Annotation, m.Conversation, m.Annotation.alias()
    query = (
        note.select(
            note.id, note.author, note.at, note.note, note.turn, note.state_name, note.verdict, note.code, note.labels
        )
        .join(call, on=(call.name == note.conversation_name))
        .join(m.Run, on=(m.Run.id == call.run))
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
        .where(call.id == key, ~note.deleted)
        .where(note.run_name.is_null() | (note.run_name == m.Run.name))
        .where(note.flow_name.is_null() | (note.flow_name == m.Flow.name))
        .where(note.agent_name.is_null() | (note.agent_name == m.Agent.name))
        .where(note.trial.is_null() | (note.trial == call.trial))
        .where(note.id.not_in(newer.select(newer.supersedes).where(newer.supersedes.is_null(False))))
        .order_by(note.at, note.id)
    )
    return [Note(*(*values, _labels(labels))) for *values, labels in store.execute(query)]


def _labels(kept: str) -> tuple[str, ...]:
    """Return the kept labels; a store that was tampered with has none."""
    try:
        found = json.loads(kept)
    except (ValueError, RecursionError):
        return ()
    return tuple(label for label in found if isinstance(label, str)) if isinstance(found, list) else ()
