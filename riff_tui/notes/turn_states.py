"""Find the state that a turn was in, for notes that name the turn alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.facts import Annotation


def with_states(store: Store, notes: Iterable[Annotation]) -> list[Annotation]:
    """Return notes, each on a turn with the state of that turn, as far as the store has its call and the call tells."""
    import msgspec

    from riff_store.queries.annotations import calls_named

    found = list(notes)
    names = {
        note.id: (note.run, note.flow, note.agent, note.conversation, note.trial)
        for note in found
        if note.turn is not None and note.state is None
    }
    calls = calls_named(store, names.values())
    states: dict[int, list[str | None]] = {}
    for place, note in enumerate(found):
        keys = calls[names[note.id]] if note.id in names else []
        if len(keys) != 1 or note.turn is None:
            continue
        if keys[0] not in states:
            states[keys[0]] = _states_of_turns(store, keys[0])
        if 1 <= note.turn <= len(states[keys[0]]):
            found[place] = msgspec.structs.replace(note, state=states[keys[0]][note.turn - 1])
    return found


def _states_of_turns(store: Store, call: int) -> list[str | None]:
    """Return the state of each turn of a call, nothing where its text was not kept or is damaged."""
    from riff_store.errors import StoreError
    from riff_store.queries.conversation import transcript_of
    from riff_tui.timeline_events import moments

    try:
        return [moment.state for moment in moments(transcript_of(store, call)) if moment.kind == "turn"]
    except StoreError:
        return []
