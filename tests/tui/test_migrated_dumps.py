"""Every view of a store that came from an earlier schema is, to the last byte, that of a store written now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.earlier_schema import earlier_store, stepped, store_of_today
from tests.support.golden import printed
from tests.surface.store import open_store
from tests.surface.tui import Request, show, views


def dumps(path: Path) -> Mapping[str, str]:
    """All views that ask for no more than a store, as JSON."""
    with open_store(path) as store, store.snapshot():
        wanted = [view.name for view in views() if not view.sides and view.name not in ("neighbors", "conversation")]
        return {name: printed(show(store, name, Request()), "json") for name in wanted}


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return dumps(store_of_today(tmp_path_factory.mktemp("new") / "calls.db"))


def test_a_migrated_store_dumps_what_a_new_one_does(new: Mapping[str, str], tmp_path: Path) -> None:
    path = earlier_store(tmp_path / "calls.db")
    with stepped():
        open_store(path, write=True).close()
    assert dumps(path) == new
