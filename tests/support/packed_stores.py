"""Stores whose few calls are packed by column as those of large stores are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.random_stores import World
from tests.surface.arrays import arrays_blocks as blocks
from tests.surface.arrays import arrays_sums as sums
from tests.surface.store import Store, Writer, chunks, open_store

GROUP_CALLS = 8


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let row groups be of eight keys, blocks and spans of three groups, and twelve calls be many."""
    set_small_groups(monkeypatch)


def set_small_groups(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(chunks, "GROUP_CALLS", GROUP_CALLS)
    patch.setattr(chunks, "FEWEST_CALLS", 12)
    patch.setattr(chunks, "FEW_CALLS", 0)
    patch.setattr(chunks, "SPAN_GROUPS", 3)
    patch.setattr(blocks, "BLOCK_GROUPS", 3)
    patch.setattr(sums, "FEWEST_ALIKE", 0)


def packed(made: World, path: Path) -> Store:
    """A store of a world, packed as far as row groups are full, opened for reading."""
    made.store(path).close()
    with open_store(path, write=True) as store:
        Writer(store).pack()
    return open_store(path)
