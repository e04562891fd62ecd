"""The rows that an explorer shows, and those that its dump command prints."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.walker import Walker
from tests.surface.tui import run


def rows_on(at: Walker) -> list[object]:
    table = at.screen.loaded.main if at.screen.loaded else None
    assert table is not None
    return [as_json(row.record) for row in table.rows]


def dumped_rows(store: Path, at: Walker) -> list[object]:
    assert at.screen.loaded is not None
    (command,) = at.screen.loaded.dumps
    return own_rows(answer(store, command))


def own_rows(document: Mapping[str, Any]) -> list[object]:
    """Return the rows of a dump without the ways down, which a screen opens and does not show."""
    return [{key: value for key, value in row.items() if key != "drill"} for row in document["rows"]]


def answer(store: Path, command: str) -> dict[str, Any]:
    """Return what a dump command prints as JSON."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run([*shlex.split(command)[1:], "--format", "json", "--store", str(store)]) == 0
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def as_json(value: object) -> object:
    return json.loads(json.dumps(value))
