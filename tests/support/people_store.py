"""A store of a few calls that two judges scored and three people read, each with a name to be careful with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.judged_store import built, calls
from tests.surface.store import Annotation, Store, add_notes, open_store

COUNT = 24
PEOPLE = ("ann@example.org", "bob [red]\x1b[31m", "eve | \u202eylno")
CODES = ("wrong day", "did not <b>confirm</b>")


def store_of_calls(folder: Path) -> Store:
    """Return a store that nobody has noted anything in, opened for reading only."""
    made = ({**call, "run_id": _run(number), "errored": False} for number, call in enumerate(calls(COUNT)))
    return built(folder, list(made), list(_scores()))


def with_notes(store: Store) -> Store:
    """Write what people noted, and return the store, opened for reading only."""
    path = Path(str(store.location))
    store.close()
    with open_store(path, write=True) as opened:
        add_notes(opened, notes())
    return open_store(path)


def notes() -> Iterator[Annotation]:
    """The first two people read most calls and differ on two, the third gives codes alone."""
    for number in range(COUNT):
        fails = number % 3 != 0
        for place, author in enumerate(PEOPLE[:2]):
            if number % (5 + place) == 4:
                continue
            said = fails != (place == 1 and number in (3, 7))
            code = CODES[number % 2] if said else None
            yield _note(f"{place}-{number}", number, author, verdict="fail" if said else "pass", code=code)
    yield _note("2-0", 0, PEOPLE[2], code=CODES[0])


def _run(number: int) -> str:
    return "night" if number < COUNT // 2 else "noon"


def _note(key: str, number: int, author: str, **given: Any) -> Annotation:
    return Annotation(key, f"c-{number}", author, _run(number), at=1_782_000_000_000_000 + number, **given)


def _scores() -> Iterator[dict[str, Any]]:
    for number in range(COUNT):
        named = {"run_id": _run(number), "conversation_id": f"c-{number}", "judged_at": "2026-06-23T00:00:00Z"}
        yield {**named, "judge": "strict", "score": 2 + number % 5}
        yield {**named, "judge": "warm", "score": 5 + number % 4}
