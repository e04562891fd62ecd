"""Ask in queries where calls first went wrong: what a person marked, else what events and steps tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import peewee as pw

from riff_store import models as m
from riff_store.database import Store
from riff_store.predicate_eval import satisfies
from riff_store.predicates import Term
from riff_store.queries.conditions import ALWAYS, NEVER, Condition, exists, one_of
from riff_store.queries.dimensions import DIMENSIONS, FAILURE, UNNAMED, names_of
from riff_store.queries.marks import Mark, marks
from riff_store.vocabulary import FAILURE_KINDS


def failed_as(store: Store, key: Any, name: str, term: Term, marked: Mapping[int, Mark]) -> Condition:
    """Return a condition on where the call of a key first went wrong, which only calls have that were not served."""
    found = _found_as(store, key, name, term)
    if not marked:
        return found
    states = names_of(store, DIMENSIONS["state"])
    held = one_of(key, {call for call, mark in marked.items() if satisfies(term, mark.told(states)[name])})
    return held | (~one_of(key, marked) & found)


def _found_as(store: Store, key: Any, name: str, term: Term) -> Condition:
    """Return the condition on what events and steps tell."""
    row = m.CallFailure.alias()
    column = row.kind if name == "failure" else getattr(row, FAILURE[name].key)
    if term.operator in ("missing", "measured"):
        there = ALWAYS if name == "failure" or name in UNNAMED else column.is_null(False)
        found = exists(row, (row.conversation == key) & there)
        return ~found if term.operator == "missing" else found
    if name == "failure":
        kinds = [kind for kind in FAILURE_KINDS if satisfies(term, kind)]
        held = column.in_(kinds) if kinds else NEVER
    else:
        names = names_of(store, FAILURE[name])
        held = one_of(column, {state for state, text in names.items() if satisfies(term, text)})
        if satisfies(term, UNNAMED.get(name)):
            held |= column.is_null()
    return exists(row, (row.conversation == key) & held)


def failure_value(store: Store, name: str) -> Any:
    """Return the value of each call to sort by, for one of the names that say where it first went wrong."""
    row: Any = m.CallFailure.alias()
    mine = row.conversation == m.Conversation.id
    if name == "failure":
        found = row.select(row.kind).where(mine)
    else:
        table: Any = FAILURE[name].table.alias()
        named = row.select(pw.fn.COALESCE(table.name, UNNAMED.get(name)))
        found = named.join(table, pw.JOIN.LEFT_OUTER, on=(table.id == getattr(row, FAILURE[name].key))).where(mine)
    states = names_of(store, DIMENSIONS["state"])
    marked: dict[str | None, list[int]] = {}
    for key, mark in marks(store).items():
        marked.setdefault(mark.told(states)[name], []).append(key)
    # Written out, since all cases together may have more keys than a statement may bind.
    cases = [
        (m.Conversation.id.in_(pw.SQL(f"({', '.join(map(str, keys))})")), pw.Value(text))
        for text, keys in marked.items()
    ]
    return pw.Case(None, cases, found) if cases else found
