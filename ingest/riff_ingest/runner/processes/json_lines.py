"""Read and write the lines in which programs and the runner speak: one JSON object each, in UTF-8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from riff_ingest.child_process import without_secrets
from riff_store.errors import RiffError

LARGEST_LINE = 1024 * 1024
_SHOWN = 80


class BadLine(RiffError):
    """Report a line that is no message, or too long to be one."""


class LineBuffer:
    """Cut bytes into lines, whatever pieces they come in; blank lines are left out."""

    def __init__(self, largest: int = LARGEST_LINE) -> None:
        self._largest = largest
        self._begun = bytearray()

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that this piece completes; raises `BadLine` where one is too long."""
        *lines, rest = piece.split(b"\n")
        complete = []
        for line in lines:
            self._take(line)
            complete.append(bytes(self._begun))
            self._begun.clear()
        self._take(rest)
        return [line for line in complete if line.strip()]

    def rest(self) -> bytes:
        """Return what came after the last end of a line, for a program that forgot to end it."""
        rest = bytes(self._begun)
        self._begun.clear()
        return rest if rest.strip() else b""

    def _take(self, part: bytes) -> None:
        self._begun += part
        if len(self._begun) > self._largest:
            raise BadLine(f"a line is longer than {self._largest:,} bytes")


def encoded(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line; raises `BadLine` where it is too long, or holds what JSON has no form for."""
    try:
        line = msgspec.json.encode(message)
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise BadLine(f"it has no form in JSON ({error})") from None
    if len(line) > LARGEST_LINE:
        raise BadLine(f"it is longer than {LARGEST_LINE:,} bytes")
    return line + b"\n"


def decoded(line: bytes, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the message of a line; raises `BadLine`, which shows the beginning of it without keys of `environ`."""
    try:
        message = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict):
        return message
    start = without_secrets(line[: LARGEST_LINE // 16].decode(errors="replace").strip(), environ)[:_SHOWN]
    raise BadLine(f"a line is not a JSON object: {start!r}", "what is not for riff-tui belongs on stderr")
