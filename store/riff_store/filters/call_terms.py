"""Lead each term of a filter of calls to what the calls are asked for it, in SQL and on arrays alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import (
    DIMENSIONS,
    FAILURE,
    UNNAMED,
    judge_names,
    judges_meant,
    judges_shown,
    keys_called,
    names_of,
    touched,
)
from riff_store.filters.matching import satisfies
from riff_store.filters.predicates import Found, Predicate, Term, Walker, asks_for_words, some
from riff_store.metrics import COMPUTED, POOLED, Pooled
from riff_store.vocabulary import (
    CALL_NAMES,
    FIELDS,
    NONE_FOUND,
    NOTE_FIELDS,
    PERSON,
    SAID_FIELDS,
    SPELLED,
    STEP_FIELDS,
    TOOL_FIELDS,
    TOUCHED_FIELDS,
    WAYS,
    beginnings,
    split_name,
)

if TYPE_CHECKING:
    from riff_store.filters.notes import Mark, Note


class Known:
    """Look up once what filters name, and what people wrote."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._held: dict[tuple[str, Term], frozenset[int]] = {}
        self.said: dict[Term, Collection[int]] = {}
        """The keys of the calls, of those that were searched for it, in which something was said as a term says."""

    def names(self, dimension: str) -> Mapping[int, str | None]:
        """Return the name of every key of a dimension."""
        return names_of(self.store, DIMENSIONS[dimension])

    def keys(self, dimension: str, term: Term) -> frozenset[int]:
        """Return the keys of a dimension whose names are as a term asks."""
        if (dimension, term) not in self._held:
            if term.operator == "=" and isinstance(term.value, str):
                # Filters name most rows that they choose, one by one.
                found: Iterable[int] = keys_called(self.store, DIMENSIONS[dimension]).get(term.value, ())
            else:
                found = (key for key, name in self.names(dimension).items() if satisfies(term, name))
            self._held[dimension, term] = frozenset(found)
        return self._held[dimension, term]

    def beginnings(self, term: Term) -> frozenset[int]:
        """Return the keys of the paths whose route begins as a term asks."""
        routes = self.names("route").items()
        return frozenset(key for key, route in routes if satisfies(term, None if route is None else beginnings(route)))

    def touching(self, name: str, term: Term) -> frozenset[int]:
        """Return the keys of what calls touched of which any is as a term asks."""
        if (name, term) not in self._held:
            found = touched(self.store, name).items()
            self._held[name, term] = frozenset(key for key, names in found if satisfies(term, names))
        return self._held[name, term]

    @cached_property
    def aspects(self) -> dict[int, str]:
        """Return the name of every aspect by its key."""
        return dict(self.store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))

    @cached_property
    def notes(self) -> Mapping[int, Sequence[Note]]:
        """Return what people wrote, by the key of the call."""
        from riff_store.filters.notes import notes_by_call

        return notes_by_call(self.store)

    @cached_property
    def marks(self) -> Mapping[int, Mark]:
        """Return where people marked failed calls, by the key of the call."""
        from riff_store.filters.notes import marks

        return marks(self.store)

    def tools(self, term: Term) -> Iterator[tuple[frozenset[int], frozenset[int] | None]]:
        """Yield the keys of tools that are as a term asks, and of the states for `STATE/TOOL`: 0 for none."""
        yield self.keys("tool", term), None
        text = str(term.value)
        for at in range(len(text)) if term.operator in ("=", "contains") else ():
            if text[at] == "/":
                tools = self.keys("tool", replace(term, value=text[at + 1 :]))
                in_state = replace(term, value=text[:at])
                states = self.keys("state", in_state)
                yield tools, states | {0} if satisfies(in_state, NONE_FOUND) else states

    def search(self, predicate: Predicate | None) -> None:
        """Read what was said in the calls for which that decides, unless the filter asks for nothing of the kind."""
        if asks_for_words(predicate):
            from riff_store.filters.said import Search

            for _ in Search(self.store, predicate, self).steps():
                pass

    def judged_by_people(self, term: Term) -> set[int]:
        """Return the keys of the calls that people gave a verdict on who are called as a term about judges says."""
        if term.operator == "=" and not str(term.value).startswith(PERSON):
            return set()
        from riff_store.filters.notes import verdicts_of_people

        people = verdicts_of_people(self.notes).items()
        given = (verdicts for author, verdicts in people if satisfies(term, f"{PERSON}{author}"))
        return {call for verdicts in given for call in verdicts}


class CallTerms(Walker[Found]):
    """Walk a filter of calls. Subclasses define how calls are asked what all terms come down to."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def term(self, term: Term) -> Found:
        """Return what a term is; one without a field looks through the names of a call."""
        if term.field is not None:
            return self._of_field(term)
        return self.either([self._of_field(replace(term, field=name)) for name in CALL_NAMES])

    def _of_field(self, term: Term) -> Found:
        name, suffix = split_name(str(term.field))
        if name in TOOL_FIELDS:
            return some(term, lambda wanted: self.of_tools(name, wanted))
        if name == "beginning":
            return self.named("path", self.known.beginnings(term), or_none=term.operator == "missing")
        if name in TOUCHED_FIELDS:
            key = DIMENSIONS["touched"].key
            return some(term, lambda wanted: self.named(key, self.known.touching(name, wanted), or_none=False))
        if name in DIMENSIONS:
            return self.named(DIMENSIONS[name].key, self.known.keys(name, term), or_none=term.operator == "missing")
        if name == "failed":
            return self._of_flag(term)
        if name in SPELLED or name in FAILURE:
            return self._failed(name, term)
        if name in WAYS:
            return (
                self.stepped(name, term)
                if term.operator == "missing"
                else some(term, lambda wanted: self.stepped(name, wanted))
            )
        if name in STEP_FIELDS:
            return self.of_steps(name, term)
        if name in SAID_FIELDS:
            return some(term, lambda wanted: self.one_of(self.known.said[wanted]))
        if name in NOTE_FIELDS or name == "noted":
            return self._noted(name, term)
        if name == "conversation":
            return self.conversation(term)
        if name == "judge":
            return some(term, self._judged)
        if name == "humanness" or (name == "quality" and suffix is not None):
            judges = judges_meant(self.known.store, suffix)
            return some(term, lambda wanted: self._scored(wanted, "humanness", judges))
        if name in POOLED:
            return self.pooled(POOLED[name], term)
        if name in FIELDS and FIELDS[name].level != "row" and name not in COMPUTED:
            return self.figure(name, term)
        return some(term, lambda wanted: self._scored(wanted, name, {m.COMPUTED_JUDGE}))

    def _of_flag(self, term: Term) -> Found:
        """Return which calls failed: those that count and are known to be no success."""
        counts = self._of_field(Term("errored", "=", False))
        if term.operator in ("missing", "measured"):
            found = self.both([self._of_field(Term("success", "measured", None)), counts])
            return self.negated(found) if term.operator == "missing" else found
        wanted = bool(term.value) == (term.operator == "=")
        return self.both([self._of_field(Term("success", "=", not wanted)), counts])

    def _scored(self, term: Term, aspect: str, judges: Collection[int]) -> Found:
        return self.scored(term, {key for key, name in self.known.aspects.items() if name == aspect}, judges)

    def _judged(self, term: Term) -> Found:
        shown, names = judges_shown(self.known.store), judge_names(self.known.store)
        asked = self.asked({key for key, name in names.items() if satisfies(term, [name, shown[key]])})
        people = self.known.judged_by_people(term)
        return self.either([asked, self.one_of(people)]) if people else asked

    def _noted(self, name: str, term: Term) -> Found:
        """Return where people wrote on a call as a term asks."""
        notes = self.known.notes
        if name == "noted":
            found = self.one_of(notes)
            wanted = {"measured": True, "missing": False}.get(term.operator, bool(term.value) == (term.operator == "="))
            return found if wanted else self.negated(found)
        attribute = "author" if name == "noted_by" else name
        given = {key: [getattr(note, attribute) for note in written] for key, written in notes.items()}
        return some(term, lambda wanted: self.one_of({key for key, it in given.items() if satisfies(wanted, it)}))

    def _failed(self, name: str, term: Term) -> Found:
        """Return where a call first went wrong as a term asks; what a person marked counts before what events show."""
        found = self._failed_as(name, term)
        if not (marked := self.known.marks):
            return found
        states = self.known.names("state")
        held = self.one_of({call for call, mark in marked.items() if satisfies(term, mark.told(states)[name])})
        return self.either([held, self.both([self.negated(self.one_of(marked)), found])])

    def _failed_as(self, name: str, term: Term) -> Found:
        """Return the same of what events and steps show, which only calls have that were not served."""
        if term.operator in ("missing", "measured"):
            found = self.failed(name, None, or_none=name in SPELLED or name in UNNAMED)
            return self.negated(found) if term.operator == "missing" else found
        if name in SPELLED:
            return self.failed(name, [word for word in SPELLED[name][1] if satisfies(term, word)], or_none=False)
        names = names_of(self.known.store, FAILURE[name])
        keys = {key for key, text in names.items() if satisfies(term, text)}
        return self.failed(name, keys, or_none=satisfies(term, UNNAMED.get(name)))

    @abstractmethod
    def one_of(self, calls: Collection[int]) -> Found:
        """Return which calls are among some by their keys."""

    @abstractmethod
    def named(self, key: str, keys: Collection[int], *, or_none: bool) -> Found:
        """Return where a key of a dimension is one of some, or none at all."""

    @abstractmethod
    def figure(self, name: str, term: Term) -> Found:
        """Return where a figure of a call, or of a row of its states, is as a term asks."""

    @abstractmethod
    def scored(self, term: Term, aspects: Collection[int], judges: Collection[int]) -> Found:
        """Return where any of some judges gave an aspect a score that is as a term asks."""

    @abstractmethod
    def asked(self, judges: Collection[int]) -> Found:
        """Return where any of some judges was asked, whether it gave a score or not."""

    @abstractmethod
    def failed(self, name: str, found: Iterable[int | str] | None, *, or_none: bool) -> Found:
        """Return where a call was not served and the value of `name` there is one of some, any but none, or none."""

    @abstractmethod
    def of_tools(self, name: str, term: Term) -> Found:
        """Return where a tool that was called, or a call of which failed, is as a term asks."""

    @abstractmethod
    def of_steps(self, name: str, term: Term) -> Found:
        """Return where steps of a call's task are as a term asks."""

    @abstractmethod
    def stepped(self, name: str, term: Term) -> Found:
        """Return where a call took a step from the state of a row, or to it, as a term asks; `missing` if none."""

    @abstractmethod
    def conversation(self, term: Term) -> Found:
        """Return where the id of a call is as a term asks."""

    @abstractmethod
    def pooled(self, figure: Pooled, term: Term) -> Found:
        """Return where a figure over the events of a call alone is as a term asks."""
