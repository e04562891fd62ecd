"""Find which call a screen shows, and which turn or state of it the cursor is on."""

from __future__ import annotations

from collections.abc import Mapping

from riff_store.answers.calls import CallNames
from riff_tui.notes.marks import Spot
from riff_tui.table import Table
from riff_tui.tui.actions.controls import Controls
from riff_tui.views.parts import notes


def call_of(controls: Controls) -> CallNames | None:
    """Return the call on the screen, `None` where there is none."""
    loaded = controls.host.loaded
    call = loaded.main.extras.get("call") if loaded is not None else None
    if not isinstance(call, Mapping):
        return None
    return CallNames(call["run"], call["flow"], call["agent"], call["conversation"], call["trial"])


def spot_of(controls: Controls) -> Spot:
    """Return the place under the cursor, the whole call where it is on none.

    It is on none as well on the line of the first state, where it stands as a call opens: nothing was pointed at then.
    """
    loaded, cursor = controls.host.loaded, controls.transcript.cursor
    if loaded is None or (cursor == 0 and loaded.main.rows and loaded.main.rows[0].record.get("kind") == "state"):
        return Spot()
    return spot_at(loaded.main, cursor)


def spot_at(table: Table, index: int) -> Spot:
    """Return the place of a row of a call; what happened between turns belongs to the turn before, in its state."""
    if not 0 <= index < len(table.rows):
        return Spot()
    kind = table.rows[index].record.get("kind")
    if kind == "step":
        return Spot()
    states = list(notes.states(table.rows))
    numbers = notes.turn_numbers(table.rows)
    turns = table.extras.get("turns") or ()
    turn = None
    # Where the rows are other turns than those of the transcript, none of them can be told.
    if kind != "state" and len(turns) == sum(number is not None for number in numbers):
        before = next((at for at in range(index, -1, -1) if numbers[at] is not None), None)
        is_same = before is not None and states[before] == states[index]
        turn = numbers[before] if before is not None and is_same else None
    return Spot(turn, states[index] or (turns[turn - 1].get("state") if turn is not None else None))


def where(spot: Spot) -> str:
    """Return the words for a place."""
    turn = f"turn {spot.turn}" if spot.turn is not None else ""
    return " ".join(filter(None, (turn, f"in {spot.state}" if spot.state else ""))) or "the whole call"
