"""Decide which lines a verdict, a code or a remark on a call takes, given those of its author that count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from riff_store.annotations import FAIL, new_id, place_in_time
from riff_store.facts import Annotation
from riff_store.write.names import CallNames


class Spot(NamedTuple):
    """Name a place in a call: a turn (from 1), a state, both, or neither for the whole call."""

    turn: int | None = None
    state: str | None = None


class Mark(NamedTuple):
    """Keep the lines to write, none if what was meant is already, and what is to be known of that beside it."""

    lines: Sequence[Annotation]
    remark: str = ""


class Writer(NamedTuple):
    """Describe who writes on which call, when, in microseconds since the epoch, and which of theirs count there."""

    author: str
    call: CallNames
    at: int
    lines: Sequence[Annotation]

    @classmethod
    def of(cls, author: str, call: CallNames, at: int, standing: Iterable[Annotation]) -> Writer:
        """Keep of the lines that are on calls of that name those of the author on this call."""
        own = [line for line in standing if line.author == author and is_of(line, call)]
        return cls(author, call, at, sorted(own, key=place_in_time))

    @property
    def verdict(self) -> Annotation | None:
        """Return the line with the verdict that counts."""
        return next((line for line in reversed(self.lines) if line.verdict is not None), None)


def is_of(line: Annotation, call: CallNames) -> bool:
    """Return whether a line names this call, or nothing that distinguishes it from this one."""
    named = (line.run, line.flow, line.agent, line.conversation, line.trial)
    return all(wanted is None or wanted == known for wanted, known in zip(named, call, strict=True))


def give_verdict(writer: Writer, spot: Spot, verdict: str) -> Mark:
    """Judge the call at a spot; another verdict takes the place of the one before, whose code and words stay."""
    before = writer.verdict
    if before is None:
        return Mark([note_line(writer, spot, verdict=verdict)])
    if before.verdict == verdict and (before.turn, before.state) == spot:
        return Mark([], f"{verdict} is there already")
    if before.code is None and before.note is None and not before.labels:
        return Mark([note_line(writer, spot, verdict=verdict, supersedes=before.id)])
    rest = _instead(writer, before, verdict=None)
    remark = f"{before.code} stays" if before.code else ""
    return Mark([rest, note_line(writer, spot, verdict=verdict)], remark)


def give_code(writer: Writer, spot: Spot, code: str) -> Mark:
    """File the call under a code at a spot, to which the code moves if it was given before.

    A call without a verdict fails by it.
    """
    before = next((line for line in reversed(writer.lines) if line.code == code), None)
    if before is not None:
        if (before.turn, before.state) == spot:
            return Mark([], f"{code} is there already")
        return Mark([_instead(writer, before, turn=spot.turn, state=spot.state)], "moved here")
    if writer.verdict is None:
        return Mark([note_line(writer, spot, verdict=FAIL, code=code)], "and so fail")
    remark = "" if writer.verdict.verdict == FAIL else f"your verdict stays {writer.verdict.verdict}"
    return Mark([note_line(writer, spot, code=code)], remark)


def remark_at(writer: Writer, spot: Spot) -> str:
    """Return what the author wrote at a spot, the latest, to be edited."""
    line = _remarknote_line(writer, spot)
    return (line.note or "") if line is not None else ""


def give_remark(writer: Writer, spot: Spot, text: str) -> Mark:
    """Write words at a spot, in the place of those that the author wrote there before."""
    before = _remarknote_line(writer, spot)
    if not text:
        return Mark([], "nothing was typed, and nothing is written")
    if before is None:
        return Mark([note_line(writer, spot, note=text)])
    return Mark([_instead(writer, before, note=text)]) if before.note != text else Mark([], "that is there already")


def _remarknote_line(writer: Writer, spot: Spot) -> Annotation | None:
    there = (line for line in reversed(writer.lines) if line.note is not None and (line.turn, line.state) == spot)
    return next(there, None)


def note_line(
    writer: Writer,
    spot: Spot,
    *,
    verdict: str | None = None,
    code: str | None = None,
    note: str | None = None,
    supersedes: str | None = None,
) -> Annotation:
    """Return a new line of the author on the call, at a spot."""
    call = writer.call
    return Annotation(
        id=new_id(),
        conversation=call.conversation,
        author=writer.author,
        run=call.run,
        flow=call.flow,
        agent=call.agent,
        trial=call.trial,
        turn=spot.turn,
        state=spot.state,
        verdict=verdict,
        code=code,
        note=note,
        at=writer.at,
        supersedes=supersedes,
    )


def _instead(writer: Writer, before: Annotation, **changes: str | int | None) -> Annotation:
    """Return a line that takes the place of another one, alike but for the changes."""
    return msgspec.structs.replace(before, id=new_id(), at=writer.at, supersedes=before.id, editor=None, **changes)
