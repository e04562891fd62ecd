"""Every end has its exit code, and no trace tells what a caller said."""

from __future__ import annotations

import ast
import errno
import pickle
import re
from pathlib import Path

import pytest

from tests.surface.ingest import BrokenInput
from tests.surface.store import DiskFull, ExitCode, RiffError, StoreMissing, UnknownAspect, UsageError
from tests.surface.tui import FilterError, describe, trace

BUILT_IN = {"Exception", "ValueError", "LookupError", "KeyError", "OSError", "RuntimeError"}


def test_every_error_has_its_exit_code() -> None:
    assert describe(UsageError("x")) == (ExitCode.USAGE, "x")
    assert describe(StoreMissing("x")) == (ExitCode.STORE, "x")
    assert describe(DiskFull("x")) == (ExitCode.STORE, "x")
    assert describe(OSError(errno.ENOSPC, "No space left", "f"))[0] == ExitCode.STORE
    assert describe(PermissionError(errno.EACCES, "Permission denied", "f")) == (1, "f: Permission denied")


def test_an_unforeseen_error_is_named_by_its_type_and_never_by_its_words() -> None:
    code, message = describe(KeyError("what the caller said"))
    assert (code, message) == (1, "unexpected KeyError; run it again with --debug to see where")


def test_a_trace_holds_places_and_types_only() -> None:
    try:
        try:
            raise ValueError("what the caller said")
        except ValueError as error:
            raise UsageError("what the caller said") from error
    except UsageError as error:
        shown = trace(error)
    assert "what the caller said" not in shown.replace('raise ValueError("what the caller said")', "").replace(
        'raise UsageError("what the caller said")', ""
    )
    assert shown.splitlines()[-1] == "ValueError"


def test_an_error_is_one_sentence_of_what_is_wrong_and_what_to_do() -> None:
    error = StoreMissing("calls.db: there is no store", "make one with `riff-tui ingest PATH...`")
    assert str(error) == "calls.db: there is no store; make one with `riff-tui ingest PATH...`"
    assert str(RiffError("stopped")) == "stopped"
    assert RiffError("stopped", code=ExitCode.SKIPPED).code == ExitCode.SKIPPED


def test_every_error_of_the_packages_is_in_the_tree() -> None:
    """Errors that leave a package are caught by one name; those of the explorer's own dialogs never leave it."""
    root = Path(__file__).parents[2]
    strays = {}
    for path in [file for part in ("riff_tui", "store", "ingest") for file in (root / part).rglob("*.py")]:
        if not re.search(rf"\bclass\s+\w+\([^)]*\b({'|'.join(BUILT_IN)})\b", text := path.read_text()):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                bases = {base.id for base in node.bases if isinstance(base, ast.Name)}
                if bases & BUILT_IN:
                    strays[node.name] = path.relative_to(root).parts[:2]
    assert strays.pop("RiffError") == ("store", "riff_store")
    assert all(place == ("riff_tui", "tui") for place in strays.values()), strays


@pytest.mark.parametrize(
    "error",
    [BrokenInput("no JSON", 3, "c-1"), FilterError("no field", 4), UnknownAspect("x", ["quality"]), DiskFull("f", "g")],
)
def test_an_error_reaches_another_process_as_it_is(error: RiffError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.code, vars(copy)) == (type(error), str(error), error.code, vars(error))
