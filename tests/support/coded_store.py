"""The tiny store after two people read five of its calls."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.support.tiny_store import name
from tests.surface.store import Annotation, add_notes, open_store

ANN, BOB = "ann@example.org", "bob@example.org"
_NOON = 1_782_302_400_000_000
_MINUTE = 60_000_000


def coded(tiny: Path, folder: Path) -> Path:
    """A copy of the store with notes, the fourth call failed without a code and the last one an errored one."""
    return noted(tiny, folder, notes())


def noted(tiny: Path, folder: Path, notes: Iterable[Annotation]) -> Path:
    """A copy of the store with some notes."""
    store = folder / "tiny.db"
    shutil.copyfile(tiny, store)
    with open_store(store, write=True) as opened:
        add_notes(opened, notes)
    return store


def notes() -> list[Annotation]:
    """What they wrote, a minute after the other."""
    said: list[tuple[int, str, dict[str, Any]]] = [
        (0, ANN, {"code": "asks twice", "state": "collect_details", "turn": 2}),
        (1, ANN, {"code": "asks twice", "state": "collect_details", "note": "the date, twice"}),
        (1, BOB, {"code": "slow | loud", "state": "greet"}),
        (2, BOB, {"code": "asks twice", "state": "greet"}),
        (3, ANN, {"note": "why?"}),
        (4, ANN, {"verdict": "pass"}),
        (2, ANN, {"verdict": "pass"}),
        (6, ANN, {"code": "backend"}),
    ]
    return [
        Annotation(
            id=f"note-{place}", conversation=name(call), author=author, run="run-1", flow="viewing", agent="gemini",
            trial=0, at=_NOON + place * _MINUTE, **({"verdict": "fail"} | given),
        )
        for place, (call, author, given) in enumerate(said)
    ]  # fmt: skip
