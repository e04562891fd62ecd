"""Dumps of a few failed calls, some of which people marked: what is pasted and piped of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.golden import assert_golden, printed
from tests.surface.store import Annotation, Store, add_notes, open_store
from tests.surface.tui import Request, show

NOTES = [
    Annotation("1", "c-0001", "ann", state="greet", turn=1, verdict="fail", code="talks *over* | callers", at=1),
    Annotation("2", "c-0001", "bo", state="collect_details", turn=2, code="asks twice", at=2),
    Annotation("3", "c-0003", "ann", state="greet", turn=1, verdict="fail", code="talks *over* | callers", at=3),
    Annotation("4", "c-0000", "bo", state="collect_details", turn=2, verdict="fail", at=4),
    Annotation("5", "c-0005", "bo", verdict="fail", code="of no state"),
]
CASES = {
    "failure-matrix": ("failure-matrix", Request(where="flow=viewing")),
    "causes": ("causes", Request()),
}


@pytest.fixture(scope="module")
def store(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("marked") / "marked.db"
    shutil.copy(tiny, path)
    with open_store(path, write=True) as opened:
        add_notes(opened, NOTES)
        yield opened


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("format", "suffix"), [("markdown", "md"), ("json", "json"), ("text", "txt")])
def test_dumps_are_what_they_were(store: Store, tiny: Path, case: str, format: str, suffix: str) -> None:
    view, request = CASES[case]
    text = printed(show(store, view, request), format)
    assert_golden(text.replace(str(tiny.parent), "FOLDER"), f"dumps/marked/{case}.{suffix}")
