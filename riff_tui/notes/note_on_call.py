"""Make a note on the one call that a filter names, from what was given on a command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riff_tui.errors import UsageError
from riff_tui.notes.words import LONGEST_CODE, LONGEST_NOTE, code_in_use
from riff_tui.text.words import listed

if TYPE_CHECKING:
    from riff_store.answers.calls import Call, CallDetail
    from riff_store.database import Store
    from riff_store.facts import Annotation


@dataclass(frozen=True, slots=True)
class Given:
    """Hold what is to be noted, and where in the call."""

    verdict: str | None = None
    code: str | None = None
    note: str | None = None
    turn: int | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Drafted:
    """Hold a note that is not written yet, its call, and sentences on what was made of what was given."""

    note: Annotation
    call: Call
    remarks: Sequence[str]

    def command(self, location: str) -> str:
        """Return the command that shows the note in the explorer; its store is named if it is not the default one."""
        from riff_tui.request import Request, ui_command
        from riff_tui.settings import store_to_name
        from riff_tui.views.parts.cells import call_where

        at = "" if self.note.turn is None else f"turn:{self.note.turn}"
        return ui_command("conversation", Request(where=call_where(self.call)), at=at, store=store_to_name(location))


def draft(store: Store, where: str, given: Given, author: str, now: int) -> Drafted:
    """Return a note on the one call that a filter selects; its state follows from the turn.

    A code given to a call on which its author has no verdict fails it. Raises `UsageError` where the filter selects no
    call or several, where the call has no such turn or state, and where nothing is to be noted.
    """
    from riff_store.annotations import new_id
    from riff_store.facts import Annotation
    from riff_store.queries.conversation import conversation
    from riff_tui.filters import parse
    from riff_tui.views.conversation import find_call

    given = _checked(given)
    predicate = parse(where)
    if predicate is None:
        raise UsageError("a note is on one call: riff-tui notes add --where 'run=R conversation=C' --verdict fail")
    call = find_call(store, predicate)
    detail = conversation(store, call.run, call.conversation, call.told_by)
    if detail is None:
        raise UsageError(f"conversation {call.conversation} of run {call.run} is gone; run it again")
    remarks: list[str] = []
    code, verdict = _code(store, given.code, remarks), given.verdict
    if code and verdict is None and not any(note.verdict and note.author == author for note in detail.notes):
        verdict = "fail"
        remarks.append("The verdict is fail, for there is a code and was none of yours.")
    note = Annotation(
        id=new_id(),
        conversation=call.conversation,
        author=author,
        run=call.run,
        flow=call.flow,
        agent=call.agent,
        trial=call.trial,
        turn=given.turn,
        state=_state(detail, given),
        verdict=verdict,
        code=code,
        note=given.note,
        at=now,
    )
    return Drafted(note, call, remarks)


def said(note: Annotation) -> str:
    """Return in words what a note says of which place."""
    what = [part for part in (note.verdict, note.code, "a remark" if note.note else None) if part]
    place = [f"turn {note.turn}"] if note.turn is not None else []
    place += [f"in {note.state}"] if note.state else []
    where = f"{' '.join(place)} of " if place else ""
    return f"{' · '.join(what)} on {where}{note.conversation} by {note.author}"


def _checked(given: Given) -> Given:
    """Return what was given with blank texts left out; refuse what no note holds."""
    note, code = (given.note or "").strip(), " ".join((given.code or "").split())
    if given.code is not None and not code:
        raise UsageError("--code needs a name; leave it out for a note without a code")
    for option, text, longest in (("--note", note, LONGEST_NOTE), ("--code", code, LONGEST_CODE)):
        if len(text) > longest:
            raise UsageError(f"{option}: has {len(text):,} characters, and at most {longest:,} are kept; shorten it")
    if not (given.verdict or code or note):
        raise UsageError("there is nothing to note: give --verdict, --code or --note")
    return Given(given.verdict, code or None, note or None, given.turn, given.state or None)


def _code(store: Store, typed: str | None, remarks: list[str]) -> str | None:
    from riff_store.annotations import standing
    from riff_store.notes import read_notes

    if typed is None:
        return None
    used = sorted({line.code for line in standing(read_notes(store)) if line.code})
    code = code_in_use(typed, used)
    if not code:
        raise UsageError("--code needs a name that can be seen")
    if code not in used:
        remarks.append(f"The code {code} is new.")
    elif code != typed:
        remarks.append(f"The code is {code}, as it is written in use.")
    return code


def _state(detail: CallDetail, given: Given) -> str | None:
    """Return the state of a note: the one that was named, else that of the turn; raise `UsageError` for another's."""
    from riff_tui.timeline_events import moments

    turns = [moment for moment in moments(detail.document) if moment.kind == "turn"]
    if given.turn is not None and detail.document is not None and not 1 <= given.turn <= len(turns):
        has = f"has turns 1 to {len(turns)}" if turns else "has no turns"
        raise UsageError(f"--turn {given.turn}: {detail.call.conversation} {has}")
    visited = list(dict.fromkeys(row.state for row in detail.states))
    if given.state is None:
        return turns[given.turn - 1].state if given.turn is not None and turns else None
    if given.state not in visited:
        states = f"was in {listed(visited)}" if visited else "has no states"
        raise UsageError(f"--state {given.state}: {detail.call.conversation} {states}")
    return given.state
