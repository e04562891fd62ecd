"""Treat programs of others with care: what they get to see, how they are ended, and what is told of their end."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping

from riff_store.errors import UsageError

LONGEST_COMPLAINT = 200
PASSED_ON = (
    "PATH", "HOME", "LANG", "TZ", "TMPDIR", "TERM", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8",
    "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip
"""The variables that a program gets besides those of its language (`LC_*`) and those that were asked for."""
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)
_SHORTEST_SECRET = 6


def environment_of(names: Iterable[str], environ: Mapping[str, str], *, option: str) -> dict[str, str]:
    """Return what of an environment a program gets to see, with the variables that `option` names.

    Raises `UsageError` for one that is not set.
    """
    wanted = tuple(names)
    for name in wanted:
        if name not in environ:
            raise UsageError(f"{option}: there is no variable {name!r} in the environment", f"set it, or omit {option}")
    passed = (*PASSED_ON, *wanted)
    return {name: value for name, value in environ.items() if name in passed or name.startswith("LC_")}


def signal_group(pid: int, number: int) -> bool:
    """Send a signal, 0 for none, to the group that a process leads; return whether any of it was still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
        return True
    return False


def last_words(complained: bytes) -> str:
    """Return the last line of what a program said on stderr, cut, and without keys of this environment."""
    lines = complained.decode(errors="replace").strip().splitlines()
    return told(lines[-1].strip()) if lines else ""


def told(complaint: object) -> str:
    """Return what others say went wrong, cut, and without keys of this environment, which many repeat."""
    return without_secrets(str(complaint), os.environ)[:LONGEST_COMPLAINT]


def without_secrets(text: str, environ: Mapping[str, str]) -> str:
    """Return the text without the values of variables that are named as keys, tokens or passwords."""
    for name, value in environ.items():
        if _SECRET.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, f"${name}")
    return text
