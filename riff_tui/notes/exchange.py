"""Take notes from the command line and from files of others, and write them out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from riff_store.annotations import CodesInUse, standing
from riff_tui.errors import UsageError
from riff_tui.notes.author import LONGEST_CODE, LONGEST_NOTE, code_meant
from riff_tui.table import Column
from riff_tui.text.numbers import counted, listed

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.facts import Annotation, Skipped
    from riff_store.queries.conversation import CallDetail
    from riff_store.queries.conversations import Call
    from riff_store.write.notes import Written


@dataclass(frozen=True, slots=True)
class Given:
    """Describe what is to be noted, and where in the call."""

    verdict: str | None = None
    code: str | None = None
    note: str | None = None
    turn: int | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Drafted:
    """Describe a note that is not written yet, its call, and sentences on what was made of what was given."""

    note: Annotation
    call: Call
    remarks: Sequence[str]

    def command(self, location: str) -> str:
        """Return the command that shows the note in the explorer; its store is named if it is not the default one."""
        from riff_tui.catalog import Request, ui_command
        from riff_tui.settings import store_to_name
        from riff_tui.views.parts.cells import call_where

        at = "" if self.note.turn is None else f"turn:{self.note.turn}"
        return ui_command("conversation", Request(where=call_where(self.call)), at=at, store=store_to_name(location))


def draft(store: Store, where: str, given: Given, author: str, now: int) -> Drafted:
    """Return a note on the one call that a filter selects; its state follows from the turn.

    A code given to a call on which its author has no verdict fails it. Raises `UsageError` if the filter selects no
    call or several, where the call has no such turn or state, and if nothing is to be noted.
    """
    from riff_store.write.names import CallNames
    from riff_tui.notes.marks import Spot, Writer, note_line
    from riff_tui.views.conversation import call_named

    given = _checked(given)
    unnamed = "a note is on one call: riff-tui notes add --where 'run=R conversation=C' --verdict fail"
    detail = call_named(store, where, unnamed)
    call = detail.call
    remarks: list[str] = []
    code, verdict = _code(store, given.code, remarks), given.verdict
    if code and verdict is None and not any(note.verdict and note.author == author for note in detail.notes):
        verdict = "fail"
        remarks.append("The verdict is fail: a code fails a call without a verdict of yours.")
    writer = Writer(author, CallNames(call.run, call.flow, call.agent, call.conversation, call.trial), now, ())
    spot = Spot(given.turn, _state(detail, given))
    note = note_line(writer, spot, verdict=verdict, code=code, note=given.note)
    return Drafted(note, call, remarks)


def said(note: Annotation) -> str:
    """Return in words what a note reports of which place."""
    what = [part for part in (note.verdict, note.code, "a remark" if note.note else None) if part]
    place = [f"turn {note.turn}"] if note.turn is not None else []
    place += [f"in {note.state}"] if note.state else []
    where = f"{' '.join(place)} of " if place else ""
    return f"{' · '.join(what)} on {where}{note.conversation} by {note.author}"


def _checked(given: Given) -> Given:
    """Return what was given with blank texts left out; refuse what no note has."""
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
    from riff_store.write.notes import read_notes

    if typed is None:
        return None
    used = sorted({line.code for line in standing(read_notes(store)) if line.code})
    code = code_meant(typed, used)
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


def with_states(store: Store, notes: Iterable[Annotation]) -> list[Annotation]:
    """Return notes, each on a turn with the state of that turn, as far as the call shows it."""
    import msgspec

    from riff_store.filters.notes import calls_named

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
    """Return the state of each turn of a call, nothing if its text was not kept or is damaged."""
    from riff_store.errors import StoreError
    from riff_store.queries.conversation import transcript_of
    from riff_tui.timeline_events import moments

    try:
        return [moment.state for moment in moments(transcript_of(store, call)) if moment.kind == "turn"]
    except StoreError:
        return []


LISTED = 5
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Merged:
    """Describe what one file brought, and what of it was left out."""

    written: Written
    left_out: Sequence[Skipped]

    @property
    def skipped(self) -> int:
        """Return how many lines were left out whole."""
        return sum(each.kind == "skipped" for each in self.left_out)

    def told(self, name: str) -> Iterator[str]:
        """Yield what became of the file, and why the first lines were left out."""
        new, known, changed, forgotten = self.written
        others = (
            (changed, "changed"),
            (self.skipped, "skipped"),
            (forgotten, "left out, on calls that were forgotten"),
        )
        rest = [f"{count} {word}" for count, word in others if count]
        yield f"{name}: {', '.join([f'{new} new', f'{known} known', *rest])}"
        for each in self.left_out[:LISTED]:
            yield f"  {'' if each.line is None else f'line {each.line}: '}{each.reason}"
        if len(self.left_out) > LISTED:
            yield f"  and {len(self.left_out) - LISTED} more"


def merge_file(store: Store, path: Path) -> Merged:
    """Merge the notes of a file into a store, all of them or none; those on a turn get its state."""
    from riff_ingest.sources.annotations import read_lines
    from riff_store.facts import Annotation
    from riff_store.write.notes import add_notes, read_notes

    found = list(read_lines(path))
    left_out = [each for each in found if not isinstance(each, Annotation)]
    notes = with_states(store, (each for each in found if isinstance(each, Annotation)))
    codes = CodesInUse(read_notes(store))
    return Merged(add_notes(store, [codes.spelled(note) for note in notes]), left_out)


def merge_stream(store: Store, stream: BinaryIO) -> Merged:
    """Merge the notes of a stream, which may be compressed as a file may."""
    import shutil
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="riff-tui-notes-") as copy:
        shutil.copyfileobj(stream, copy, _PIECE)
        copy.flush()
        return merge_file(store, Path(copy.name))


def of_no_call(store: Store, listed_by: str) -> Iterator[str]:
    """Yield how many notes of a store wait for their call, and how many may be of several; a command lists them."""
    from riff_store.write.notes import notes_of_no_call

    waiting, ambiguous = notes_of_no_call(store)
    which = f"(which: {listed_by})"
    if waiting:
        wait = "waits for its call" if waiting == 1 else "wait for their calls"
        yield f"{counted(waiting, 'note')} in the store {wait} {which}."
    if ambiguous:
        count = "counts" if ambiguous == 1 else "count"
        yield f"{counted(ambiguous, 'note')} in the store may be of several calls and {count} for none {which}."


COLUMNS = (
    Column("id", "Id", kind="text"),
    Column("run", "Run", kind="name"),
    Column("flow", "Flow", kind="name"),
    Column("agent", "Agent", kind="name"),
    Column("conversation", "Conversation", kind="name"),
    Column("trial", "Trial", kind="count"),
    Column("turn", "Turn", kind="count"),
    Column("state", "State", kind="name"),
    Column("verdict", "Verdict", kind="text"),
    Column("code", "Code", kind="text"),
    Column("note", "Note", kind="text"),
    Column("labels", "Labels", kind="object"),
    Column("author", "Author", kind="text"),
    Column("at", "At (UTC)", kind="text"),
    Column("supersedes", "Supersedes", kind="text"),
    Column("deleted", "Deleted", kind="flag"),
    Column("editor", "Editor", kind="text"),
)


def records(lines: Iterable[Annotation], calls: Mapping[str, Call]) -> Iterator[dict[str, Any]]:
    """Yield a record for each line; `calls`, by the id of a line, have the names that it leaves open."""
    from riff_ingest.sources.annotations import time_text

    for line in lines:
        call = calls.get(line.id)
        yield {
            "id": line.id,
            "run": call.run if call else line.run,
            "flow": call.flow if call else line.flow,
            "agent": call.agent if call else line.agent,
            "conversation": line.conversation,
            "trial": call.trial if call else line.trial,
            "turn": line.turn,
            "state": line.state,
            "verdict": line.verdict,
            "code": line.code,
            "note": line.note,
            "labels": line.labels or None,
            "author": line.author,
            "at": time_text(line.at),
            "supersedes": line.supersedes,
            "deleted": line.deleted or None,
            "editor": line.editor,
        }


def embedeval_records(lines: Sequence[Annotation], calls: Mapping[str, Call]) -> Iterator[dict[str, Any]]:
    """Yield an annotation of embedeval for each call and author with a verdict, of lines that count.

    It has the code that its author gave the call first, and all the author's remarks on it.
    """
    from riff_ingest.sources.annotations import time_text

    by_author: dict[tuple[int, str], list[Annotation]] = {}
    for line in lines:
        by_author.setdefault((calls[line.id].id, line.author), []).append(line)
    for own in by_author.values():
        given = next((line for line in own if line.verdict is not None), None)
        if given is not None:
            yield {
                "id": given.id,
                "traceId": given.conversation,
                "annotator": given.author,
                "timestamp": time_text(given.at),
                "label": given.verdict,
                "failureCategory": next((line.code for line in own if line.code), None),
                "notes": "\n".join(line.note for line in own if line.note),
                "duration": None,
                "source": "manual",
            }


def taxonomy_of(found: Sequence[Mapping[str, Any]], most_examples: int = 3) -> dict[str, Any]:
    """Return embedeval's table of failure categories for its annotations, those with the most calls first.

    The first remark beside a category describes it.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in found:
        if record["failureCategory"]:
            groups.setdefault(record["failureCategory"], []).append(record)
    passed = sum(record["label"] == "pass" for record in found)
    categories = [
        {
            "id": code,
            "name": code,
            "description": next((record["notes"] for record in group if record["notes"]), ""),
            "count": len(group),
            "examples": [record["traceId"] for record in group[:most_examples]],
        }
        for code, group in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0]))
    ]
    return {
        "version": 1,
        "lastUpdated": max((record["timestamp"] for record in found if record["timestamp"]), default=None),
        "annotator": ", ".join(sorted({record["annotator"] for record in found})),
        "categories": categories,
        "stats": {
            "totalAnnotated": len(found),
            "totalPassed": passed,
            "totalFailed": len(found) - passed,
            "passRate": passed / len(found) if found else None,
        },
    }
