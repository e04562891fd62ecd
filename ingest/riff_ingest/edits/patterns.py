"""Match the files of a repository to flows, by patterns such as `flows/{flow}.*`.

`{flow}` stands for the flow's name, `*` and `?` for letters of one name of a file or directory, `**`
for any number of directories. Everything else stands for itself. Paths are bytes, as git has them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from riff_store.errors import UsageError

_PARTS = re.compile(rb"\{flow\}|\*+|\?|[^*?{]+|\{")
_GIT_SPECIAL = re.compile(rb"([\\\[*?])")


class BadPattern(UsageError):
    """Refuse a pattern that cannot name the files of flows; the message says why."""


@dataclass(frozen=True, slots=True)
class FlowPattern:
    """Match files to flows by one pattern; `pathspec` selects in git at least the files that it matches."""

    pathspec: bytes
    expression: re.Pattern[bytes]

    def flow_of(self, path: bytes) -> str | None:
        """Return the flow that a file belongs to; bytes of its name that are no text are spelled out."""
        found = self.expression.fullmatch(path)
        return readable(found["flow"]) if found else None


def flow_of(patterns: Sequence[FlowPattern], path: bytes) -> str | None:
    """Return the flow that a file belongs to by the first pattern that matches it."""
    return next((flow for pattern in patterns if (flow := pattern.flow_of(path)) is not None), None)


def parse_pattern(text: str, prefix: bytes = b"") -> FlowPattern:
    """Read a pattern; `prefix` is the directory within the repository that it counts from, `/` at its end.

    Raises `BadPattern`.
    """
    names = os.fsencode(text).removeprefix(b"./").split(b"/")
    if b"{flow}" not in b"/".join(names):
        raise BadPattern("it needs {flow} where the name of the flow stands, such as 'flows/{flow}.*'")
    if any(name in (b"", b".", b"..") for name in names) or b"\0" in b"".join(names):
        raise BadPattern("it has to be a path from the repository's directory down, such as 'flows/{flow}.*'")
    expression, has_flow = re.escape(prefix), False
    for place, name in enumerate(names):
        is_last = place == len(names) - 1
        if name == b"**":
            expression += b".+" if is_last else b"(?:.*/)?"
            continue
        part, has_flow = _expression(name, has_flow)
        expression += part + (b"" if is_last else b"/")
    asked = b"/".join(map(_in_git, names))
    return FlowPattern(b":(top,glob)" + _escaped(prefix) + asked, re.compile(expression, re.DOTALL))


def literal(path: bytes) -> bytes:
    """Return the pathspec of one file and no other."""
    return b":(top,literal)" + path


def readable(data: bytes) -> str:
    """Return bytes from git as text, those that are none spelled out."""
    return data.decode("utf-8", "backslashreplace")


def _expression(name: bytes, has_flow: bool) -> tuple[bytes, bool]:
    found = b""
    for part in _PARTS.findall(name):
        if part == b"{flow}":
            found += b"(?P=flow)" if has_flow else b"(?P<flow>[^/]+)"
            has_flow = True
        elif part.startswith(b"*"):
            found += b"[^/]*"
        else:
            found += b"[^/]" if part == b"?" else re.escape(part)
    return found, has_flow


def _in_git(name: bytes) -> bytes:
    if name == b"**":
        return name
    parts = _PARTS.findall(name)
    return b"".join(
        b"*" if part == b"{flow}" or part.startswith(b"*") else part if part == b"?" else _escaped(part)
        for part in parts
    )


def _escaped(text: bytes) -> bytes:
    return _GIT_SPECIAL.sub(rb"\\\1", text)
