"""Search what was said in calls: the `search` command."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from riff_tui.commands import completion
from riff_tui.commands.options import AsciiOption, StoreOption, argument, flag, option, printed, settings_for
from riff_tui.errors import FilterError, UsageError, writing
from riff_tui.shapes import COUNT, NUMBER, TEXT, list_of, or_null, record

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.filters.predicates import Predicate, Term
    from riff_store.filters.said import Turn
    from riff_store.queries.conversations import Call
    from riff_tui.output.sinks.parts import Options
    from riff_tui.output.streams import Output

EXAMPLES = (
    "riff-tui search 'wrong number'",
    "riff-tui search 'wrong number' --where 'flow:dent failed=1' --context 2",
    "riff-tui search '/book(ed|ing) .* (mon|tues)day/i' --json",
)

RedactOption = Annotated[bool, flag("--redact", "Replace e-mail addresses, numbers and the like in what was said.")]


@dataclass(frozen=True, slots=True)
class _FoundCall:
    """Describe a call in which something was said: its turns, and the places of those with the words."""

    call: Call
    turns: Sequence[Turn]
    places: Sequence[int]


_TURN = {
    "turn": COUNT,
    "t": or_null(NUMBER),
    **dict.fromkeys(("state", "role"), or_null(TEXT)),
    "text": TEXT,
}
_HIT = {**dict.fromkeys(("run", "conversation", "flow", "agent"), TEXT), "trial": COUNT, **_TURN}
_AROUND = dict.fromkeys(("before", "after"), list_of(record(_TURN)))
JSON = printed(
    {
        **dict.fromkeys(("view", "text", "filter"), TEXT),
        "rows": list_of(record({**_HIT, **_AROUND}, sometimes=_AROUND)),
        "notes": list_of(TEXT),
        **dict.fromkeys(("searched", "found", "hits"), COUNT),
    }
)


def search(
    text: Annotated[
        str, argument("TEXT", "What was said, in any case; /RE/ is a regular expression, /RE/i one that ignores case.")
    ],
    where: Annotated[
        str, option("--where", "EXPR", "Only in calls that match, such as 'flow:dent failed=1'.", completion.terms)
    ] = "",
    context: Annotated[int, option("--context", "N", "Print N turns before and after each hit as well.", min=0)] = 0,
    json: Annotated[bool, flag("--json", "Print one JSON object, a hit a line.")] = False,
    redact: RedactOption = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
) -> None:
    """Print what was said in calls and matches, as it is found.

    The newest run comes first. Each hit is a line: its call as a filter, the number of the turn, who, and the text. The
    filter `said:` finds the same calls in every view.
    """
    from riff_store.filters.predicates import both
    from riff_tui.commands.reading import reading
    from riff_tui.filters import split
    from riff_tui.filters.parser import parse
    from riff_tui.output.streams import standard_output
    from riff_tui.settings import store_location
    from riff_tui.text.redaction import Redactor

    settings = settings_for(store, ascii=ascii_only)
    term = _term(text)
    calls = both(split(parse(where), ())[0], term)
    out = standard_output(ascii_only=bool(settings.ascii))
    shown = Redactor() if redact else str
    with reading(store_location(settings)) as opened:
        print_hits = partial(_print_json, where=where, text=text) if json else _print_lines
        print_hits(opened, calls, term, out, context=context, shown=shown)


def _term(text: str) -> Term:
    """Return what to search for; raise `UsageError` if that makes no sense."""
    import re

    from riff_store.filters.predicates import Term
    from riff_tui.filters.parser import LONGEST, checked_pattern

    if not text.strip():
        raise UsageError("TEXT is blank; name what was said, such as 'wrong number'")
    if len(text) > LONGEST:
        raise UsageError(f"TEXT is longer than {LONGEST:,} characters")
    found = re.fullmatch(r"/(.+)/(i?)", text, re.DOTALL)
    if found is None:
        return Term("said", "contains", text)
    try:
        return Term("said", "matches", checked_pattern(f"{'(?i)' if found[2] else ''}{found[1]}", 0))
    except FilterError as error:
        raise UsageError(f"TEXT: {error.message}") from None


class _Counts:
    """Count what was searched and found."""

    def __init__(self) -> None:
        self.searched = self.found = self.hits = 0


def _found(store: Store, calls: Predicate | None, term: Term, counts: _Counts) -> Iterator[_FoundCall]:
    """Yield the calls in which something was said, as they are found."""
    from riff_store.errors import NotAStore
    from riff_store.filters.said import Hits, Search, said_in
    from riff_store.queries.conversation import transcript_of
    from riff_store.queries.conversations import calls_of
    from riff_tui.output.progress import terminal_progress

    searching = Search(store, calls)
    with terminal_progress() as progress, closing(Hits(term)) as hits:
        for searched, keys in searching.found():
            counts.searched = searched
            if progress is not None:
                progress.doing("searched", searched, searching.calls)
            for call in calls_of(store, keys):
                try:
                    turns = said_in(transcript_of(store, call.id) or {})
                except NotAStore:  # what it has was read in part alone
                    continue
                places = hits.places(turns)
                if places:
                    counts.found += 1
                    counts.hits += len(places)
                    if progress is not None:
                        progress.clear()
                    yield _FoundCall(call, turns, places)


def _print_lines(
    store: Store, calls: Predicate | None, term: Term, out: Output, *, context: int, shown: Callable[[str], str]
) -> None:
    """Print each hit on a line of its own, and on stderr how many there are."""
    from riff_tui.output.sinks.parts import Options
    from riff_tui.output.streams import escape_commands, is_build_log, say
    from riff_tui.text.numbers import counted
    from riff_tui.text.redaction import LIMITS

    options, logged = Options(ascii_only=out.ascii_only), is_build_log(out.stream)
    counts, is_first = _Counts(), True
    for found in _found(store, calls, term, counts):
        with writing("stdout"):
            for lines in _groups(found, context, shown):
                if context and not is_first:
                    out.stream.write("--\n")
                is_first = False
                safe = map(options.line, lines)
                out.stream.writelines(f"{escape_commands(line) if logged else line}\n" for line in safe)
            out.stream.flush()
    for note in _notes(store, calls):
        say(note)
    if shown is not str:
        say(LIMITS)
    say(f"{counted(counts.hits, 'hit')} in {counts.found:,} of {counts.searched:,} calls.")


def _groups(found: _FoundCall, context: int, shown: Callable[[str], str]) -> Iterator[list[str]]:
    """Yield the lines of hits that are next to each other, with the turns around them."""
    from riff_tui.views.parts.cells import call_where

    where, hits = call_where(found.call), set(found.places)
    wanted = sorted({at for hit in hits for at in range(hit - context, hit + context + 1)} & {*range(len(found.turns))})
    lines: list[str] = []
    for place, at in enumerate(wanted):
        if place and at != wanted[place - 1] + 1 and context:
            yield lines
            lines = []
        turn = found.turns[at]
        sign = ":" if at in hits else "-"
        lines.append(f"{where} turn {turn.number} {turn.role or '?'}{sign} {shown(turn.text)}")
    yield lines


def _print_json(
    store: Store,
    calls: Predicate | None,
    term: Term,
    out: Output,
    *,
    context: int,
    shown: Callable[[str], str],
    where: str,
    text: str,
) -> None:
    """Print an object with a row for each hit, as they are found, and then what there is to report about all."""
    from riff_tui.output.sinks.json import SCHEMA_VERSION, dumped
    from riff_tui.output.sinks.parts import Options
    from riff_tui.text.redaction import LIMITS

    options = Options(ascii_only=out.ascii_asked)
    counts, stream, separator = _Counts(), out.stream, "\n"
    with writing("stdout"):
        head = {"view": "search", "schema_version": SCHEMA_VERSION, "text": text, "filter": where.strip()}
        stream.write("{\n" + "".join(f"  {_member(key, value, options)},\n" for key, value in head.items()))
        stream.write('  "rows": [')
        stream.flush()
    for found in _found(store, calls, term, counts):
        with writing("stdout"):
            for place in found.places:
                stream.write(f"{separator}    {dumped(_record(found, place, context, shown), options)}")
                separator = ",\n"
            stream.flush()
    notes = [*_notes(store, calls), *([LIMITS] if shown is not str else [])]
    tail = {"notes": notes, "searched": counts.searched, "found": counts.found, "hits": counts.hits}
    with writing("stdout"):
        stream.write("]" if separator == "\n" else "\n  ]")
        stream.write("".join(f",\n  {_member(key, value, options)}" for key, value in tail.items()) + "\n}\n")
        stream.flush()


def _member(key: str, value: Any, options: Options) -> str:
    from riff_tui.output.sinks.json import dumped

    return f"{dumped(key, options)}: {dumped(value, options)}"


def _record(found: _FoundCall, place: int, context: int, shown: Callable[[str], str]) -> Mapping[str, Any]:
    """Return a hit as JSON has it: what names its call, the turn, and those around it."""
    call = found.call

    def turn(at: int) -> dict[str, Any]:
        said = found.turns[at]
        return {"turn": said.number, "t": said.t, "state": said.state, "role": said.role, "text": shown(said.text)}

    names = {name: getattr(call, name) for name in ("run", "conversation", "flow", "agent", "trial")}
    before = [turn(at) for at in range(max(0, place - context), place)]
    after = [turn(at) for at in range(place + 1, min(len(found.turns), place + 1 + context))]
    return {**names, **turn(place), **({"before": before, "after": after} if context else {})}


def _notes(store: Store, calls: Predicate | None) -> list[str]:
    from riff_tui.filters.nearest_names import unheard, unknown_names

    return [*unheard(store, calls), *unknown_names(store, calls)]
