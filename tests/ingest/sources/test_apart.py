"""No format is taken for another: what readers are tested with is known by its own reader alone."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.fuzzing import TARGETS
from tests.surface.ingest import BrokenInput, FileHead, ReadContext, Source, read_start, source_of, sources

NO_FILE = ("eva",)
"""Kinds whose inputs are directories."""


def recognised_by(source: Source, path: Path) -> bool:
    try:
        return source.recognises(FileHead(path, read_start(path))) is not None
    except BrokenInput:
        return False


def known_in(data: bytes) -> set[str]:
    """Kinds that know a value of the data, as a document, a line or an entry, for one of their records."""
    values: list[Any] = []
    for part in (data, *data.splitlines()):
        with suppress(ValueError):
            values.append(json.loads(part))
    values += [each for value in values if isinstance(value, list) for each in value]
    return {source.kind for source in sources() for value in values if source.is_record(value)}


@pytest.mark.parametrize("kind", [source.kind for source in sources() if source.kind not in NO_FILE])
def test_what_one_reader_knows_no_other_one_does(tmp_path: Path, kind: str) -> None:
    known = 0
    also = [name for name in TARGETS if name.startswith(f"{kind}-") and not source_of(name)]
    for number, data in enumerate(data for name in (kind, *also) for data in TARGETS[name].corpus()):
        path = tmp_path / f"{number}"
        path.write_bytes(data)
        takers = {source.kind for source in sources() if recognised_by(source, path)} | known_in(data)
        assert takers <= {kind}, f"{takers} take one file"
        known += kind in takers
    assert known


@pytest.mark.parametrize("kind", [source.kind for source in sources() if source.kind not in NO_FILE])
def test_a_file_of_another_format_is_no_call_whatever_it_is_said_to_be(tmp_path: Path, kind: str) -> None:
    reader = source_of(kind)
    assert reader
    others = [name for name in TARGETS if source_of(name) and name not in (kind, *NO_FILE)]
    for name in others:
        for number, data in enumerate(TARGETS[name].corpus()):
            path = tmp_path / f"{name}-{number}"
            path.write_bytes(data)
            with suppress(BrokenInput):
                # A call is a pair of its conversation and its transcript.
                assert [item for item in reader.read(path, ReadContext()) if type(item) is tuple] == [], path.name
