"""Every dump of a store that was written by hand, as it is pasted and piped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.golden import assert_golden, printed
from tests.support.postgresql_server import Server
from tests.surface.store import Store, open_store
from tests.surface.tui import Request, show

CASES = {
    "flows": ("flows", Request()),
    "flows-by-run": ("flows", Request(by=("flow", "agent", "run"))),
    "flows-by-flow": ("flows", Request(by=("flow",))),
    "segments": ("segments", Request()),
    "states": ("states", Request()),
    "states-of-a-flow": ("states", Request(where="flow=viewing", by=("agent",))),
    "funnel": ("funnel", Request(where="flow=viewing")),
    "funnel-by-run": ("funnel", Request(by=("run",))),
    "routes": ("routes", Request(where="flow=viewing")),
    "routes-by-run": ("routes", Request(by=("run",))),
    "coverage": ("coverage", Request()),
    "coverage-by-run": ("coverage", Request(where="kind=edge", by=("run",))),
    "neighbors": ("neighbors", Request(where="flow=viewing state=collect_details")),
    "worklist": ("worklist", Request()),
    "conversations": ("conversations", Request(where="agent:gemini", sort="-latency_p95", limit=3)),
    "conversation": ("conversation", Request(where="run=run-1 conversation=c-0000")),
    "conversation-with-text": ("conversation", Request(where="c-0000", text=True, redact=True)),
    "runs": ("runs", Request()),
    "judges": ("judges", Request()),
    "agreement": ("agreement", Request()),
    "disputes": ("disputes", Request()),
    "repeats": ("repeats", Request(by=("persona",))),
    "failure-matrix": ("failure-matrix", Request(where="flow=viewing")),
    "causes": ("causes", Request()),
    "archetypes": ("archetypes", Request()),
    "timeline": ("timeline", Request()),
    "flow-table": ("flow-table", Request()),
    "effects": ("effects", Request()),
    "effects-on-errors": ("effects", Request(aspect="errors")),
}


FORMATS = [("markdown", "md"), ("json", "json"), ("text", "txt")]


@pytest.fixture(scope="module")
def on_server(tiny: Path, postgresql: Server) -> Iterator[Store]:
    with open_store(postgresql.copy_of(tiny)) as store:
        yield store


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("format", "suffix"), FORMATS)
def test_dumps_are_what_they_were(tiny: Path, case: str, format: str, suffix: str) -> None:
    view, request = CASES[case]
    with open_store(tiny) as store:
        text = printed(show(store, view, request), format)
    assert_golden(text.replace(str(tiny.parent), "FOLDER"), f"dumps/{case}.{suffix}")


@pytest.mark.parametrize("case", CASES)
def test_dumps_from_a_server_are_the_same(on_server: Store, tiny: Path, case: str) -> None:
    view, request = CASES[case]
    for format, suffix in FORMATS:
        text = printed(show(on_server, view, request), format)
        assert_golden(text.replace(str(tiny.parent), "FOLDER"), f"dumps/{case}.{suffix}")


def test_what_was_skipped_is_named_with_file_and_line(tiny: Path) -> None:
    with open_store(tiny) as store:
        (row,) = show(store, "skipped", Request()).rows
    assert row.record == {
        "path": str(tiny.parent / "run-2" / "flow-transcripts-tiny.jsonl"),
        "line": 9,
        "kind": "skipped",
        "conversation": None,
        "reason": "line is not JSON: it ends too early",
    }
