"""A small store whose calls were drawn for reading, and in part read."""

from __future__ import annotations

from pathlib import Path

from tests.support.facts import call, fresh, put
from tests.surface.store import Annotation, Failure, KeptList, Sample, Store, add_notes, candidates, draw, keep_list

SEED = 3
COUNTS = {"random": 3, "failing": 2, "outlier": 1}


def listed_store(path: Path) -> Store:
    """Twenty calls, of which six are to be read: one has 31 turns instead of 9, every fifth stalled."""
    store = fresh(path)
    turns = {number: 31.0 if number == 13 else 9.0 for number in range(20)}
    stalled = Failure("greet", "collect", "stall")
    put(store, "calls.jsonl", [
        call(f"c-{n}", flow="viewing" if n % 2 else "dental", aspects={"turn_count": turns[n]},
             failure=None if n % 5 else stalled)
        for n in range(20)
    ])  # fmt: skip
    drawn = draw(candidates(store), COUNTS, SEED)
    keep_list(store, KeptList(Sample(6, COUNTS, SEED, "agent=model-a", 1_000_000), drawn.calls))
    return store


def names(store: Store) -> list[str]:
    """The ids of the calls that can be drawn first, in the order of the list."""
    return [each.names.conversation for each in draw(candidates(store), COUNTS, SEED).calls]


def read_two(store: Store) -> None:
    """Have the first call of the list failed by one person, and the third passed by two."""
    first, _, third, *_ = names(store)
    add_notes(store, [
        Annotation("1", first, "ann", verdict="fail", code="wrong day", state="collect", at=1),
        Annotation("2", third, "ann", verdict="pass", at=2),
        Annotation("3", third, "bob", verdict="pass", at=3),
    ])  # fmt: skip
