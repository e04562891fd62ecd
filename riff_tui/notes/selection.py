"""Find the lines of people that are on the calls of a filter."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from riff_tui.errors import UsageError

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.facts import Annotation
    from riff_store.queries.conversations import Call


class LinesOnCalls(NamedTuple):
    """Describe lines in the order in which they were written, and the call of each by its id."""

    lines: list[Annotation]
    calls: dict[str, Call]


def lines_where(store: Store, where: str) -> list[Annotation]:
    """Return every line on calls that match, those superseded and taken back too, by their time and then their id.

    Without a filter that is every line of the store, also those that are of no call.
    """
    from riff_store.annotations import merged, place_in_time
    from riff_store.write.notes import read_notes

    if where.strip():
        return on_calls(store, where, everything=True).lines
    return sorted(merged(read_notes(store)).values(), key=place_in_time)


def ordered_as(before: Iterable[Annotation], lines: Sequence[Annotation]) -> list[Annotation]:
    """Return lines, which are in the order of time, in the order that those of a file have; others go in by their time.

    So what a merge of files put one behind the other stays there. A file in which a line is before the one that it
    takes the place of has no order to keep.
    """
    from riff_store.annotations import place_in_time

    known = {line.id: line for line in lines}
    kept = [known.pop(id) for id in dict.fromkeys(line.id for line in before) if id in known]
    places = {line.id: place for place, line in enumerate(kept)}
    if any(places.get(line.supersedes or "", -1) > place for place, line in enumerate(kept)):
        return list(lines)
    moments = sorted((place_in_time(line), place) for place, line in enumerate(kept))
    last = list(accumulate((place for _, place in moments), max))
    behind: dict[int, list[Annotation]] = {}
    for line in known.values():
        earlier = bisect(moments, (place_in_time(line), len(kept)))
        behind.setdefault(last[earlier - 1] if earlier else -1, []).append(line)
    found = behind.get(-1, [])
    for place, line in enumerate(kept):
        found += [line, *behind.get(place, ())]
    return found


def on_calls(store: Store, where: str = "", *, everything: bool = False) -> LinesOnCalls:
    """Return the lines that count on calls that match a filter; with `everything` those that do not count as well."""
    from riff_store.annotations import counted, merged, place_in_time, standing
    from riff_store.filters.notes import lines_by_call
    from riff_store.queries.conversations import calls_of, conversation_ids
    from riff_store.write.notes import read_notes
    from riff_tui.filters import split
    from riff_tui.filters.parser import parse

    lines = list(merged(read_notes(store)).values())
    calls, _ = split(parse(where), ())
    among = None if calls is None else frozenset(conversation_ids(store, calls))
    by_call = lines_by_call(store, lines if everything else standing(lines), among)
    chosen = {key: found if everything else counted(found) for key, found in by_call.items()}
    of_key = {call.id: call for call in calls_of(store, sorted(chosen))}
    return LinesOnCalls(
        sorted((line for found in chosen.values() for line in found), key=place_in_time),
        {line.id: of_key[key] for key, found in chosen.items() for line in found if key in of_key},
    )


def to_rename(store: Store, old: str, new: str, where: str, editor: str) -> tuple[list[Annotation], str]:
    """Return the lines that give a code another name on calls that match, and in words what they do.

    Raises `UsageError` if no note there has the code, and if there is nothing to change.
    """
    from riff_store.annotations import standing
    from riff_store.write.notes import read_notes
    from riff_tui.notes.author import LONGEST_CODE
    from riff_tui.text.numbers import counted

    target = " ".join(new.split())
    if not target or len(target) > LONGEST_CODE:
        raise UsageError(f"a code has 1 to {LONGEST_CODE} characters")
    if target == old:
        raise UsageError(f"the code is called {old} already")
    chosen = {line.id for line in lines_where(store, where)}
    # All lines decide which count, for one may take the place of another call's.
    lines = [line for line in standing(read_notes(store)) if line.id in chosen]
    used = {line.code for line in lines if line.code}
    if old not in used:
        raise UsageError(_unknown(old, used, where))
    found = renamed(lines, old, target, editor=editor)
    calls = len({(line.run, line.flow, line.agent, line.conversation, line.trial) for line in found})
    merges = f", merged with the notes that have {target} already" if target in used else ""
    return found, f"{old} to {target}, in {counted(len(found), 'note')} on {counted(calls, 'call')}{merges}."


def _unknown(code: str, used: set[str], where: str) -> str:
    import difflib

    near = difflib.get_close_matches(code, used, n=3) or sorted(used)[:3]
    there = " on calls that match" if where.strip() else ""
    return f"no note{there} has the code {code}; {'there is ' + ', '.join(near) if near else 'no code was given there'}"


def renamed(lines: Iterable[Annotation], old: str, new: str, *, editor: str) -> list[Annotation]:
    """Return a line with the new code for every line in effect with the old; `editor` is who renames.

    Author and time stay those of the line: what somebody said last about a call is still what was said last, and the
    order in which calls were read stays. If its author changes a line meanwhile, that change wins.
    """
    import msgspec

    from riff_store.annotations import new_id, standing

    return [
        msgspec.structs.replace(
            line, id=new_id(), code=new, supersedes=line.id, editor=None if editor == line.author else editor
        )
        for line in standing(lines)
        if line.code == old != new
    ]
