"""Which run, or which agent, is meant by a side of a comparison?"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from riff_store import models as m
from riff_store.answers.comparison import Side
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.predicates import Predicate, Term, both
from riff_store.queries.order import run_order, run_starts

LISTED = 3
_EMPTY = "the store holds no calls; riff-tui ingest PATH... fills it"
_LATELY = {"latest": 1, "previous": 2}


class SideError(UsageError):
    """A side that is not there, stands for several, or cannot be compared with the other."""


def sides(store: Store, a: str, b: str) -> tuple[Side, Side]:
    """Both sides by name: run ids or the beginning of one, `latest`, `previous`, or `agent:NAME`.

    `run:ID` says that a run is meant. Raises `SideError`, with the names that are near.
    """
    first, second = side(store, a), side(store, b)
    if first.kind != second.kind:
        raise SideError(f"{a} is one {first.kind} and {b} one {second.kind}: compare two runs or two agents")
    if first.name == second.name:
        raise SideError(f"both sides are the {first.kind} {first.name}; a comparison takes two")
    return first, second


def side(store: Store, text: str) -> Side:
    """One side by name; raises `SideError`."""
    kind, colon, name = text.partition(":")
    if colon and kind == "agent":
        return Side("agent", _named("agent", name, _agents(store)))
    order = run_order(store)
    if colon and kind == "run" and text not in order:
        return Side("run", _named("run", name, sorted(order, key=order.__getitem__)))
    if text in _LATELY and text not in order:
        return Side("run", _lately(store, text))
    return Side("run", _named("run", text, sorted(order, key=order.__getitem__)))


def calls_of_side(chosen: Side, calls: Predicate | None) -> Predicate | None:
    """The calls of a side, of those that a filter leaves."""
    return both(Term(chosen.kind, "=", chosen.name), calls)


def _agents(store: Store) -> list[str]:
    cell = m.CallRollup
    query = m.Agent.select(m.Agent.name).distinct().join(cell, on=(cell.agent == m.Agent.id))
    return sorted(name for (name,) in store.execute(query))


def _lately(store: Store, word: str) -> str:
    order, started = run_order(store), run_starts(store)
    timed = [name for name in order if started[name] is not None] or list(order)
    timed.sort(key=order.__getitem__)
    if not timed:
        raise SideError(f"there is no {word} run: {_EMPTY}")
    if len(timed) < _LATELY[word]:
        raise SideError(f"there is no {word} run: the store holds one run alone, and riff-tui ingest PATH... adds more")
    return timed[-_LATELY[word]]


def _named(kind: str, text: str, known: Sequence[str]) -> str:
    if text in known:
        return text
    begun = [name for name in known if text and name.startswith(text)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise SideError(f"several {kind}s begin with {text}: {_listed(begun)}")
    if not known:
        raise SideError(f"there is no {kind} {text}: {_EMPTY}")
    near = get_close_matches(text, known, n=LISTED)
    there = f"the only one is {known[0]}" if len(known) == 1 else f"there are {_listed(known)}"
    meant = f"did you mean {_listed(near)}?" if near else there
    raise SideError(f"there is no {kind} {text or '(without a name)'}; {meant}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join([*names[:LISTED], *([f"{more} more"] if more > 0 else [])])
