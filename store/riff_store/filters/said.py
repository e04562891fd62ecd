"""Search what was said in calls: read the transcripts of those for which that decides whether a filter applies.

There is no index. A transcript is unpacked, and it is read as a document only if its bytes contain what a text that
matches must contain. Which calls were searched for what is kept for as long as nobody writes to the store.
"""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import unicodedata
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import msgspec
import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.filters.call_terms import Known
from riff_store.filters.conditions import one_of
from riff_store.filters.dimensions import run_order
from riff_store.filters.matching import fold, satisfies
from riff_store.filters.predicates import Predicate, Term, asks_for_words, conjuncts, of_calls, terms, undecided
from riff_store.filters.sql import Scope
from riff_store.interruption import check_interrupted
from riff_store.transcript_columns import is_spelled
from riff_store.transcripts import Transcripts, parsed
from riff_store.vocabulary import SAID_FIELDS

AT_ONCE = 500
"""So many transcripts are read at a time."""
_KEPT = 16
"""Of so many terms it is kept which calls hold them."""
_DENSE = 2
"""Keys that are no rarer than this among all are read as a stretch, the others one by one."""
_BODIES = "SELECT conversation_id, body, dictionary_id FROM transcript WHERE conversation_id"
_Narrowing: TypeAlias = frozenset[Predicate]


class Turn(NamedTuple):
    """Describe what one side said: its number among the turns from 1, who, the text, and when in which state."""

    number: int
    role: str | None
    text: str
    t: float | None = None
    state: str | None = None


@dataclass(slots=True)
class Heard:
    """Count the calls that were searched, those of them that keep a transcript, and those whose is damaged."""

    calls: int = 0
    kept: int = 0
    damaged: int = 0


@dataclass(slots=True)
class Found:
    """Describe the calls in which something was said, and which calls were searched for it: those a filter leaves."""

    calls: set[int] = field(default_factory=set)
    among: dict[_Narrowing, Heard] = field(default_factory=dict)

    def heard(self, narrowing: _Narrowing) -> Heard | None:
        """Return what is known of a search whose calls were all searched."""
        return next((heard for wider, heard in self.among.items() if wider <= narrowing), None)


class HeardTerms:
    """Keep which calls contain the terms that were searched for last."""

    def __init__(self) -> None:
        self._found: OrderedDict[Term, Found] = OrderedDict()

    def of(self, term: Term) -> Found:
        """Return what is known of a term."""
        found = self._found.setdefault(term, Found())
        self._found.move_to_end(term)
        if len(self._found) > _KEPT:
            self._found.popitem(last=False)
        return found


def heard_in(store: Store) -> HeardTerms:
    """Return what was found in the transcripts of a store as it is now."""
    return store.once(HeardTerms, lambda: store.lasting(HeardTerms, HeardTerms))


class Search:
    """Search the transcripts of calls for which what was said decides if a filter applies, the newest run first.

    `calls` is how many there are, none if all that the filter asks for is known.
    """

    def __init__(self, store: Store, predicate: Predicate | None, known: Known | None = None) -> None:
        self._store = store
        self._predicate = predicate
        self._known = known or Known(store)
        narrowing = undecided(predicate)
        self._narrowing = frozenset(conjuncts(narrowing))
        heard = heard_in(store)
        found_by = {term: heard.of(term) for term in _searched(predicate)}
        self._known.said |= {term: found.calls for term, found in found_by.items()}
        self._terms = {term: found for term, found in found_by.items() if found.heard(self._narrowing) is None}
        self._keys = self._candidates(narrowing) if self._terms else array("q")

    @property
    def calls(self) -> int:
        """Return how many calls are to be searched."""
        return len(self._keys)

    def steps(self) -> Iterator[int]:
        """Search them; yield after each step how many were searched so far."""
        if not self._terms:
            return
        heard = Heard(len(self._keys))
        with _Tests(self._terms) as tests:
            for start in range(0, len(self._keys), AT_ONCE):
                self._read(self._keys[start : start + AT_ONCE], tests, heard)
                # What is asked now is answered while the next ones are read.
                tests.answer()
                yield start if tests.are_waiting else min(start + AT_ONCE, len(self._keys))
            if tests.are_waiting:
                tests.answer()
                yield len(self._keys)
        for found in self._terms.values():
            found.among[self._narrowing] = heard

    def found(self) -> Iterator[tuple[int, list[int]]]:
        """Search them; yield after each step how many were searched, and the calls among these that the filter leaves.

        A call that it leaves whatever was said is none of them.
        """
        call, done = m.Conversation, 0
        for searched in self.steps():
            keys = self._keys[done:searched]
            done = searched
            hits = [key for key in keys if any(key in found.calls for found in self._terms.values())]
            condition = Scope(self._store, known=self._known).of(of_calls(self._predicate)) if self._predicate else True
            query = call.select(call.id).where(one_of(call.id, hits), condition)
            left = {key for (key,) in self._store.execute(query)} if hits else ()
            yield searched, [key for key in hits if key in left]

    def _candidates(self, narrowing: Predicate | None) -> array[int]:
        call = m.Conversation
        condition = Scope(self._store, known=self._known).condition(narrowing)
        order = run_order(self._store)
        runs = [(order.get(name, -1), key) for key, name in self._store.execute(m.Run.select(m.Run.id, m.Run.name))]
        keys = array("q")
        for _, run in sorted(runs, reverse=True):
            query = call.select(call.id).where(call.run == run, condition).order_by(call.id.desc())
            keys.extend([key for (key,) in self._store.execute(query)])
        return keys

    def _read(self, keys: Sequence[int], tests: _Tests, heard: Heard) -> None:
        wanted = frozenset(keys)
        with self._store.snapshot():
            transcripts = self._store.once(Transcripts, lambda: Transcripts(self._store))
            for key, body, dictionary in bodies(self._store, keys):
                check_interrupted()
                if key in wanted:
                    heard.kept += 1
                    try:
                        tests.read(key, transcripts.text(body, dictionary))
                    except ValueError:
                        heard.damaged += 1


def bodies(store: Store, keys: Sequence[int]) -> list[tuple[int, Any, int | None]]:
    """Return the compressed transcripts of calls, each with its key and dictionary, and maybe those of others."""
    low, high = min(keys), max(keys)
    if high - low < _DENSE * len(keys):
        return store.execute_sql(f"{_BODIES} BETWEEN ? AND ?", (low, high))
    return store.execute_sql(f"{_BODIES} IN ({', '.join(str(int(key)) for key in sorted(keys))})")


def heard_of(store: Store, predicate: Predicate | None) -> Heard | None:
    """Return what a filter that was applied searched; `None` if it asks for nothing that was said."""
    if not asks_for_words(predicate):
        return None
    narrowing, found = undecided(predicate), heard_in(store)
    key = frozenset(conjuncts(narrowing))
    heard = next((heard for term in _searched(predicate) if (heard := found.of(term).heard(key))), None)
    if heard is None or heard.calls == heard.kept:
        return heard
    # More calls may have been searched than this filter leaves.
    call, kept = m.Conversation, m.Transcript
    counts = call.select(pw.fn.COUNT(call.id), pw.fn.COUNT(kept.conversation))
    counts = counts.join(kept, pw.JOIN.LEFT_OUTER, on=(kept.conversation == call.id))
    [(calls, there)] = store.execute(counts.where(Scope(store).condition(narrowing)))
    return Heard(calls, there, min(heard.damaged, there))


def said_in(document: Mapping[str, object]) -> list[Turn]:
    """Return what was said in a call, of a transcript that may contain anything."""
    listed = document.get("turns")
    turns = [turn for turn in listed if isinstance(turn, Mapping)] if isinstance(listed, list) else []
    return [
        Turn(number, _name(turn.get("role")), str(turn["text"]), _number(turn.get("t")), _name(turn.get("state")))
        for number, turn in enumerate(turns, 1)
        if isinstance(turn.get("text"), str) and turn["text"]
    ]


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _searched(predicate: Predicate | None) -> list[Term]:
    """Return the terms to search for, each once, as `some` asks for them."""
    found: dict[Term, None] = {}
    for term in terms(predicate):
        if term.field in SAID_FIELDS:
            if term.operator in ("missing", "!="):
                found[replace(term, operator="measured", value=None)] = None
            if term.operator != "missing":
                found[replace(term, operator="=") if term.operator == "!=" else term] = None
    return list(found)


# Test transcripts.
_COLUMNS = msgspec.json.Decoder(
    tuple[
        msgspec.Raw,
        msgspec.Raw,
        msgspec.Raw,
        msgspec.Raw,
        tuple[list[str | None], msgspec.Raw, msgspec.Raw, msgspec.Raw, list[str | None]],
    ]
)


class _Tests:
    """Test transcripts for terms, and keep the calls that contain them."""

    def __init__(self, found: Mapping[Term, Found]) -> None:
        self._plain = [
            (SAID_FIELDS[str(term.field)], probe(term), term, each.calls.add)
            for term, each in found.items()
            if term.operator != "matches"
        ]
        patterns = [(term, each) for term, each in found.items() if term.operator == "matches"]
        self._searched = [(SAID_FIELDS[str(term.field)], probe(term)) for term, _ in patterns]
        self._calls = [each.calls.add for _, each in patterns]
        self._patterns = Patterns([str(term.value) for term, _ in patterns]) if patterns else None
        self._asked: list[tuple[int, int]] = []
        self._waiting: list[tuple[int, int]] = []

    @property
    def are_waiting(self) -> bool:
        """Return whether regular expressions were asked for that are not answered."""
        return bool(self._waiting)

    def __enter__(self) -> _Tests:
        return self

    def __exit__(self, *_: object) -> None:
        if self._patterns is not None:
            self._patterns.close()

    def read(self, key: int, text: bytes) -> None:
        """Test the text of a call's transcript; raises `ValueError` for damage."""
        said: tuple[list[str | None], list[str]] | None = None
        for role, may_hold, term, add in self._plain:
            if may_hold(text):
                said = said or _spoken(text)
                if satisfies(term, [each for by, each in zip(*said, strict=True) if role in (None, by)]):
                    add(key)
        for number, (role, may_hold) in enumerate(self._searched):
            if self._patterns is not None and may_hold(text):
                said = said or _spoken(text)
                self._patterns.ask(number, [each for by, each in zip(*said, strict=True) if role in (None, by)])
                self._asked.append((number, key))

    def answer(self) -> None:
        """Take the answers that are waited for, and ask what was read since."""
        if self._patterns is not None:
            found = self._patterns.answers() if self._waiting else ()
            for (number, key), hits in zip(self._waiting, found, strict=True):
                if hits:
                    self._calls[number](key)
            self._waiting, self._asked = self._asked, []
            if self._waiting:
                self._patterns.send()


def _spoken(text: bytes) -> tuple[list[str | None], list[str]]:
    """Return by whom what was said in a transcript; raises `ValueError` for damage."""
    if is_spelled(text):
        try:
            roles, *_, texts = _COLUMNS.decode(text)[4]
        except msgspec.MsgspecError:
            pass  # it may still be one for a reader that takes more
        else:
            if len(roles) != len(texts):
                raise ValueError("no transcript")
            said = [(role, each) for role, each in zip(roles, texts, strict=True) if each]
            return [role for role, _ in said], [each for _, each in said]
    turns = said_in(parsed(text))
    return [turn.role for turn in turns], [turn.text for turn in turns]


def probe(term: Term) -> Callable[[bytes], bool]:
    """Return a test of a transcript's bytes that none fails which is as a term asks, however it is spelled."""
    text = str(term.value or "")
    stretches, ignores_case = [text], False
    if term.operator == "matches":
        ignores_case = text.startswith("(?i)")
        stretches = list(_literals(text.removeprefix("(?i)")))
    pieces = (piece.encode() for stretch in stretches for piece in _pieces(fold(stretch)))
    longest = max(pieces, key=len, default=b"")
    if not longest:
        return lambda text: True
    if ignores_case:
        # To a regular expression letters of ASCII are the same as some others.
        return lambda text: longest in text.lower() or not text.isascii() or (b"\\" in text and b"\\u" in text)
    # A single byte is looked for in a tenth of the time.
    return lambda text: longest in text.lower() or (b"\\" in text and b"\\u" in text)


_TOKEN = re.compile(
    r"(?P<other>\\.|\[\^?\]?(?:\\.|[^]\\])*\]|[.^$])|(?P<group>[()])|(?P<times>[*+?]|\{[^}]*\}?)|.", re.DOTALL
)
_NEEDS_A_PARSER = re.compile(r"\||\(\?|\\[0-9xuUN]")


def _literals(pattern: str) -> Iterator[str]:
    """Yield stretches that every text has in which a regular expression is found, none if that takes a parser."""
    if _NEEDS_A_PARSER.search(pattern):
        return
    piece, depth = "", 0
    for token in _TOKEN.finditer(pattern):
        if token.lastgroup is None:
            piece += token[0] if not depth else ""
            continue
        yield piece[:-1] if token["times"] else piece
        piece = ""
        if token["group"]:
            depth += 1 if token[0] == "(" else -1
    yield piece


def _pieces(folded: str) -> Iterator[str]:
    """Yield the stretches that every text with this one contains, up to the case of its ASCII letters.

    Letters that have no case are folded from themselves alone, and so are those of ASCII. What JSON escapes otherwise
    than as `\\u` is left out.
    """
    start = 0
    for place, character in enumerate(folded):
        is_ascii = character.isascii() and character.isprintable() and character not in '"\\/'
        if not (is_ascii or unicodedata.category(character) == "Lo"):
            yield folded[start:place]
            start = place + 1
    yield folded[start:]


_LOOKS_EVERY_S = 0.05
_PIECE = 65536


class Patterns:
    """Search texts for regular expressions in a process of its own, so that it ends when nobody waits any more."""

    def __init__(self, patterns: Sequence[str]) -> None:
        from riff_store.filters import pattern_program

        self._asked: list[tuple[int, Sequence[str]]] = []
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(pattern_program.__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._send(list(patterns))

    def ask(self, pattern: int, texts: Sequence[str]) -> None:
        """Ask in which texts a regular expression, by its number, is found."""
        self._asked.append((pattern, texts))

    def send(self) -> None:
        """Send what was asked; it has to be answered before more is sent."""
        self._send(self._asked)
        self._asked = []

    def answers(self) -> list[list[int]]:
        """Return of each question that was sent the places of the texts in which it is found.

        Raises `UsageError` if that takes too long.
        """
        received = b""
        assert self.process.stdout is not None
        while not received.endswith(b"\n"):
            check_interrupted()
            if select.select([self.process.stdout], [], [], _LOOKS_EVERY_S)[0]:
                piece = os.read(self.process.stdout.fileno(), _PIECE)
                if not piece:
                    raise _never_ending()
                received += piece
        found: list[list[int]] = json.loads(received)
        return found

    def close(self) -> None:
        """End the process, wherever it is."""
        self.process.kill()
        self.process.communicate()

    def _send(self, message: object) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise _never_ending() from None


def _never_ending() -> UsageError:
    return UsageError(
        "this regular expression takes too long on what was said in some call",
        "write it without a repeat inside a repeat, such as (a+)+",
    )


class Hits:
    """Find the turns of calls in which something was said as a term asks; `close` it."""

    def __init__(self, term: Term) -> None:
        self._term = term
        self._role = SAID_FIELDS[str(term.field)]
        self._patterns = Patterns([str(term.value)]) if term.operator == "matches" else None

    def places(self, turns: Sequence[Turn]) -> list[int]:
        """Return the places of the turns that are so; raises `UsageError` if a search takes too long."""
        of_side = [place for place, turn in enumerate(turns) if self._role in (None, turn.role)]
        if self._patterns is None:
            return [place for place in of_side if satisfies(self._term, turns[place].text)]
        self._patterns.ask(0, [turns[place].text for place in of_side])
        self._patterns.send()
        [found] = self._patterns.answers()
        return [of_side[each] for each in found]

    def close(self) -> None:
        """End what it began."""
        if self._patterns is not None:
            self._patterns.close()
