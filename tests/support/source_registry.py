"""Sources that only a test knows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.surface.ingest import DirectoryInput, Registry, Source, registry


def add_source(monkeypatch: pytest.MonkeyPatch, source: Source) -> None:
    """Have one more source for the rest of a test."""
    found = Registry((*registry.sources(), source))
    monkeypatch.setattr(registry, "registry", lambda: found)


def box_source(claims: Callable[[Path], bool]) -> Source:
    """Return a source of empty directories."""
    return Source(
        kind="box",
        version=1,
        read=lambda path, context: (),
        title="Boxes",
        known_by="directories",
        directory=DirectoryInput(claims, lambda directory: ("", 0)),
    )
