"""Say what the explorer behind a page gets to see of the server's environment."""

from __future__ import annotations

from collections.abc import Mapping

from riff_tui.browser import DRIVER, DRIVER_VARIABLE

PASSED_ON = frozenset(
    (
        *("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"),
        *("CLICOLOR", "NO_COLOR"),
        *("PGDATABASE", "PGHOST", "PGPASSFILE", "PGPORT", "PGSSLMODE", "PGSSLROOTCERT", "PGUSER"),
        *("PYTHONPATH", "VIRTUAL_ENV"),
    )
)
PASSED_ON_PREFIXES = ("LC_", "PGSERVICE", "RIFF_TUI_", "XDG_")
"""Variables of these names and beginnings reach the explorer; keys of judges, passwords and SSH's are none of them."""

_SET = {
    DRIVER_VARIABLE: DRIVER,
    "TEXTUAL_COLOR_SYSTEM": "truecolor",
    "TEXTUAL_FPS": "60",
    "TERM": "xterm-256color",
    "PYTHONUTF8": "1",
}


def child_environment(environ: Mapping[str, str], *, width: int, height: int) -> dict[str, str]:
    """Return the environment of an explorer on a page of so many cells."""
    kept = {name: value for name, value in environ.items() if is_passed_on(name)}
    return {**kept, **_SET, "COLUMNS": str(width), "ROWS": str(height)}


def is_passed_on(name: str) -> bool:
    """Return whether an explorer gets the variable of that name."""
    return name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES)
