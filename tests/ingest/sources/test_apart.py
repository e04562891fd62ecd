"""No format is taken for another: what readers are tested with is known by its own reader alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fuzzing import TARGETS
from tests.surface.ingest import BrokenInput, FileHead, Source, read_start, sources

NO_FILE = ("eva",)
"""Kinds whose inputs are directories."""


def recognised_by(source: Source, path: Path) -> bool:
    try:
        return source.recognises(FileHead(path, read_start(path))) is not None
    except BrokenInput:
        return False


@pytest.mark.parametrize("kind", [source.kind for source in sources() if source.kind not in NO_FILE])
def test_what_one_reader_knows_no_other_one_does(tmp_path: Path, kind: str) -> None:
    known = 0
    for number, data in enumerate(TARGETS[kind].corpus()):
        path = tmp_path / f"{number}"
        path.write_bytes(data)
        takers = {source.kind for source in sources() if recognised_by(source, path)}
        assert len(takers) <= 1, f"{takers} take one file"
        known += kind in takers
    assert known
