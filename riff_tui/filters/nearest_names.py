"""Find which names a filter asks for in vain, what is called nearly so, and where no text is kept to search."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

from riff_store.database import Store
from riff_store.filters.dimensions import DIMENSIONS, judges_shown
from riff_store.filters.matching import fold, satisfies
from riff_store.filters.predicates import And, InState, Or, Predicate, Term, all_of, asks_for_words
from riff_store.queries.contents import known_names
from riff_store.queries.conversations import conversation_names, count_conversations, is_any
from riff_store.vocabulary import FAILURE_KINDS, TOUCHED_FIELDS
from riff_tui.table import Table
from riff_tui.text.numbers import counted

NEAR = 3
SEARCHED = 5_000
"""Among more conversations than these none is looked for."""
SHORTEST = 2
_WORD = re.compile(r"[^\W_]+")
_IN_STORE = (*DIMENSIONS, *TOUCHED_FIELDS, "judge", "conversation", "failure")
_NAMING_A_CALL = ("run", "flow", "agent", "conversation")
_WORDS = ("flow", "agent", "persona", "run", "state", "scenario")


def unknown_names(store: Store, predicate: Predicate | None, table: Table | None = None) -> list[str]:
    """Return a sentence on each name that a filter asks for and that nothing in the store has.

    If a table has rows, or is of a call, only judges can have been asked for in vain, for they choose columns.
    """
    chosen = ("judge",) if table is not None and (len(table.rows) or "call" in table.extras) else None
    asked = [term for term in _texts(predicate) if term.field is None or term.field in _IN_STORE]
    asked = [term for term in asked if chosen is None or term.field in chosen]
    # If there is a call of these names, looking for it costs less than for each name.
    naming = [term for term in asked if term.operator == "=" and term.field in _NAMING_A_CALL]
    call = all_of(naming) if any(term.field == "conversation" for term in naming) else None
    found = naming if call is not None and is_any(store, call) else ()
    return [said for term in asked if term not in found and (said := _sentence(store, term))]


def unknown_values(table: Table, predicate: Predicate) -> list[str]:
    """Return a sentence on each value that a filter asks for and no row of a table has, names in the store left out."""
    said = []
    for term in _texts(predicate):
        if term.field is None or term.field in _IN_STORE:
            continue
        values = {value for row in table.rows if isinstance(value := row.record.get(term.field), str)}
        if not any(satisfies(term, value) for value in values):
            noun = term.field.replace("_", " ")
            there = f"that {noun}" if term.operator == "=" else f"that in its {noun}"
            said.append(_meant(f"{_written(term)}: no row has {there}", _near(term, values)))
    return said


def unheard(store: Store, calls: Predicate | None) -> list[str]:
    """Return a sentence on the calls that a filter of what was said cannot find, for no text of them is kept."""
    if not asks_for_words(calls):
        return []
    from riff_store.filters.said import heard_of

    heard, said = heard_of(store, calls), []
    if heard is not None and heard.kept < heard.calls:
        whole = f"{heard.calls:,} calls"
        of = f"these {whole}" if not heard.kept else f"{heard.calls - heard.kept:,} of these {whole}"
        said.append(f"What was said in {of} is not kept, so nothing is found there; ingest without --no-text keeps it.")
    if heard is not None and heard.damaged:
        said.append(f"{counted(heard.damaged, 'transcript')} could not be read, so nothing is found there.")
    return said


def _texts(predicate: Predicate | None) -> Iterator[Term]:
    """Yield the terms that ask for a text, none of those that are negated."""
    match predicate:
        case Term(_, operator, value) if operator in ("=", "contains") and isinstance(value, str):
            yield predicate
        case InState(part):
            yield from _texts(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _texts(part)


def _sentence(store: Store, term: Term) -> str:
    fields = _WORDS if term.field is None else (term.field,)
    known = {field: _names(store, field) for field in fields}
    if any(satisfies(term, name) for names in known.values() for name in names):
        return ""
    if "conversation" in known and count_conversations(store, term):
        return ""
    if term.field is None:
        near = [f"{field} {name}" for field, names in known.items() for name in _near(term, names)]
        told = f"{term.value}: nothing is called that"
    else:
        near = _near(term, known[term.field])
        noun = term.field.replace("_", " ")
        told = f"{_written(term)}: no {noun} {'of that name' if term.operator == '=' else 'with that in its name'}"
    return _meant(told, near)


def _written(term: Term) -> str:
    return f"{term.field}{'=' if term.operator == '=' else ':'}{term.value}"


def _meant(told: str, near: Sequence[str]) -> str:
    return f"{told}; {' or '.join(near[:NEAR])}?" if near else f"{told}."


def _names(store: Store, field: str) -> Collection[str]:
    if field == "failure":
        return FAILURE_KINDS
    if field == "judge":
        return {*known_names(store, field), *judges_shown(store).values()}
    return conversation_names(store, SEARCHED) if field == "conversation" else known_names(store, field)


def _near(term: Term, names: Collection[str]) -> list[str]:
    """Return the names that are called like it, and after them those of which a word is."""
    wanted = fold(str(term.value))
    whole = {fold(name): name for name in sorted(names, reverse=True)}
    words = {word: name for flat, name in whole.items() for word in _WORD.findall(flat) if len(word) > SHORTEST}
    near = [found[like] for found in (whole, words) for like in get_close_matches(wanted, found, n=NEAR)]
    return list(dict.fromkeys(near))[:NEAR]
