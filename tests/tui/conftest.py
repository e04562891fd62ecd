"""Stores that several tests look at; none of them writes to one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tiny_store import build


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hand-written store of twenty calls."""
    return build(tmp_path_factory.mktemp("tiny"))
