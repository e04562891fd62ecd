"""Say what it takes to name a call where its id stands for several of its run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.write.names import CallNames

_CHUNK = 500


def told_by(store: Store, keys: Sequence[int]) -> dict[int, Mapping[str, str]]:
    """Return of the calls whose id others of their run have: flow, agent and trial, as many of them as it takes."""
    call, other = m.Conversation, m.Conversation.alias()
    alike = [(other.run == call.run), (other.name == call.name)]
    differs: dict[str, Any] = {}
    for field in ("flow", "agent", "trial"):
        there = other.select(pw.SQL("1")).where(*alike, getattr(other, field) != getattr(call, field))
        differs[field] = pw.fn.EXISTS(there)
        alike.append(getattr(other, field) == getattr(call, field))
    query = (
        call.select(call.id, m.Flow.name, m.Agent.name, call.trial, *differs.values())
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
    )
    found: dict[int, Mapping[str, str]] = {}
    for start in range(0, len(keys), _CHUNK):
        for key, flow, agent, trial, *needed in store.execute(query.where(call.id.in_(keys[start : start + _CHUNK]))):
            if any(needed):
                names = zip(differs, (flow, agent, str(trial)), needed, strict=True)
                found[key] = {field: name for field, name, is_needed in names if is_needed}
    return found


def names_of_calls(store: Store, keys: Sequence[int]) -> list[CallNames]:
    """Return run, flow, agent, id and trial of calls by their keys; of those that are gone nothing."""
    call = m.Conversation
    query = (
        call.select(m.Run.name, m.Flow.name, m.Agent.name, call.name, call.trial)
        .join(m.Run, on=(m.Run.id == call.run))
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
    )
    found: list[CallNames] = []
    for start in range(0, len(keys), _CHUNK):
        rows = store.execute(query.where(call.id.in_(keys[start : start + _CHUNK])))
        found += map(CallNames._make, rows)
    return found
