"""Stores that several tests look at; none of them writes to one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import hostile_store, tiny_store


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hand-written store of twenty calls."""
    return tiny_store.build(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store in which all names are text that would like to be more than text."""
    return hostile_store.build(tmp_path_factory.mktemp("hostile"))
