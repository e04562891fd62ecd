"""Every end has its exit code, and no trace tells what a caller said."""

from __future__ import annotations

import errno

from riff_store.errors import DiskFull, StoreMissing
from riff_tui.errors import ExitCode, UsageError, describe, trace


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
