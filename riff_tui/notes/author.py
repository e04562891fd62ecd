"""Find out who writes: who the settings name, else whom git knows, else the user of this machine."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Iterable

from riff_store.annotations import code_in_use
from riff_tui.text.safe_text import one_line

LONGEST = 200
_GIT_TIMEOUT_S = 2.0
_NOBODY = "unknown"


def author(setting: str | None = None) -> str:
    """Return who writes; `setting` is whom the command line, the environment or the settings file names, if anyone."""
    return clean(setting or "", LONGEST) or _known_here()


@functools.cache
def _known_here() -> str:
    return clean(_git_email(), LONGEST) or clean(user(), LONGEST) or _NOBODY


def _git_email() -> str:
    """Return the address that git signs commits with here, nothing if there is none."""
    program = shutil.which("git")
    if program is None:
        return ""
    # No shell, no question, no program of a repository: reading a setting runs none, and nothing else is read.
    command = [os.path.abspath(program), "--no-pager", "config", "--get", "user.email"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout.decode("utf-8", "replace") if ended.returncode == 0 else ""


def user() -> str:
    """Return the name of the user of this machine, nothing if nobody knows."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else ""


LONGEST_CODE = 80
LONGEST_NOTE = 10_000


def clean(text: str, longest: int = LONGEST_NOTE) -> str:
    """Return a text as one line of at most so many letters, single blanks between its words."""
    line = " ".join(text.split())
    return "".join(letter for letter in line if letter == " " or one_line(letter) == letter)[:longest].strip()


def code_meant(typed: str, codes: Iterable[str]) -> str:
    """Return the code that was meant: one in use that differs in case or blanks alone, else what was typed."""
    return code_in_use(clean(typed, LONGEST_CODE), list(codes))
