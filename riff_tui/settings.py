"""Find what the user prefers: flags go before the environment, that before the settings file, that before defaults.

The settings file is TOML in the user's configuration directory, `settings.toml`; every key has
an environment variable, `RIFF_TUI_<KEY>`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from riff_tui.errors import UsageError, meant
from riff_tui.table import Bounds

if TYPE_CHECKING:
    from riff_ingest.lines import Limits

APP = "riff-tui"
STORE_NAME = "store.db"
_UNDER_HOME = {"config": ".config", "data": ".local/share", "state": ".local/state"}
_LARGEST = 1024 * 1024
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off", ""})


class Settings(NamedTuple):
    """Describe the settings of one run; `None` leaves the choice to the command."""

    store: str | None = None
    theme: str | None = None
    ascii: bool | None = None
    mouse: bool | None = None
    live: bool | None = None
    jobs: int | None = None
    author: str | None = None
    writer: str | None = None


_KINDS: Mapping[str, type] = {
    "store": str, "theme": str, "ascii": bool, "mouse": bool, "live": bool, "jobs": int, "author": str,
    "writer": str,
}  # fmt: skip
# Read by the command that needs them.
_TABLES = ("judges", "gate", "limits", "marks", "prices", "segments", "keys", "commands")


def load(environ: Mapping[str, str] | None = None, /, **flags: str | bool | int | None) -> Settings:
    """Return the settings of this run; `flags` are those of the command line, `None` if they were not given.

    Raises `UsageError` naming the file or variable that makes no sense.
    """
    environ = os.environ if environ is None else environ
    found = Settings(**_from_file(config_file(environ)))  # type: ignore[arg-type]  # kinds were checked
    found = found._replace(**_from_environment(environ))  # type: ignore[arg-type]  # kinds were checked
    given = {name: value for name, value in flags.items() if value is not None}
    return found._replace(**given)  # type: ignore[arg-type]  # typed by the command line


def store_location(settings: Settings) -> str:
    """Return the path or URL of the store: the one of the settings, else the one in the user's data directory."""
    return settings.store or str(_own_directory("data") / STORE_NAME)


def store_place(location: str) -> str:
    """Return what opens a store whatever the working directory, the same by whichever path a file is called."""
    from riff_store.location import is_on_server

    return location if is_on_server(location) else os.path.realpath(location)


def store_to_name(location: str) -> str:
    """Return what a command that is passed on names the store by: nothing if it is the default one, no secrets."""
    from riff_store.location import is_on_server, without_secrets

    if not is_on_server(location) and os.path.realpath(location) == os.path.realpath(store_location(load())):
        return ""
    return without_secrets(location)


def state_directory() -> Path:
    """Return the directory where the explorer keeps what lasts between two runs."""
    return _own_directory("state")


def config_file(environ: Mapping[str, str]) -> Path | None:
    """Return the settings file: `$RIFF_TUI_CONFIG`, else that in the user's configuration directory, if any."""
    named = environ.get("RIFF_TUI_CONFIG")
    if named:
        return Path(named)
    try:
        return _own_directory("config") / "settings.toml"
    except UsageError:
        return None


def kept_notes_file(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the file beside the settings file for notes on calls of a store that cannot be written, if any."""
    path = config_file(os.environ if environ is None else environ)
    return None if path is None else path.parent / "notes.jsonl"


def judges(environ: Mapping[str, str] | None = None) -> tuple[Mapping[str, Any], Path]:
    """Return the settings file's tables of judges by name, and the directory of the file."""
    path, tables = _table("judges", "tables, such as [judges.gemini]", environ)
    return tables, path.parent if path is not None else Path()


def gate(environ: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """Return the table `[gate]` of the settings file."""
    return _table("gate", "a table, [gate]", environ)[1]


def prices(environ: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    """Return the settings file's tables of prices by model."""
    return _table("prices", "tables, such as [prices.gpt-5-mini]", environ)[1]


def segments(environ: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Return the phases of tools by pattern of their names, from the table `[segments]` of the settings file."""
    path = config_file(os.environ if environ is None else environ)
    table = _document(path).get("segments", {})
    if not isinstance(table, dict) or not all(isinstance(each, str) and each for each in table.values()):
        raise UsageError(
            f"settings file {path}: segments must be a table of phases by tool", '[segments] with "find_user*" = "auth"'
        )
    return table


def limits(environ: Mapping[str, str] | None = None) -> Limits:
    """Return what one input may cost, from the table `[limits]` of the settings file.

    Raises `UsageError` naming the first that is none or makes no sense.
    """
    import dataclasses

    from riff_ingest.lines import Limits

    path, table = _table("limits", "a table, such as [limits] with line_mib = 128", environ)
    known = {field.name: field for field in dataclasses.fields(Limits)}
    for name, value in table.items():
        if name not in known:
            raise UsageError(f"settings file {path}: unknown key 'limits.{name}'", meant(name, known))
        highest = known[name].metadata["highest"]
        if type(value) is not int or not 1 <= value <= highest:
            raise UsageError(f"settings file {path}: limits.{name} must be a whole number from 1 to {highest:,}")
    return Limits(**table)


def keys(environ: Mapping[str, str] | None = None) -> Mapping[str, object]:
    """Return the keys of the explorer's actions by name, from the table `[keys]` of the settings file."""
    return _table("keys", 'a table, such as [keys] with worklist = "w"', environ)[1]


def commands(environ: Mapping[str, str] | None = None) -> Sequence[object]:
    """Return the commands of the explorer, from the tables `[[commands]]` of the settings file."""
    path = config_file(os.environ if environ is None else environ)
    found = _document(path).get("commands", [])
    if not isinstance(found, list):
        raise UsageError(f"settings file {path}: commands must be tables, [[commands]]")
    return found


def statement_steps(environ: Mapping[str, str] | None = None) -> int:
    """Return how many steps a statement on a store in a file may take for each byte of it."""
    from riff_store.statement_limit import STEPS_PER_BYTE

    # If nothing is set, what reads inputs need not be loaded.
    is_set = "limits" in _document(config_file(os.environ if environ is None else environ))
    return limits(environ).statement_steps if is_set else STEPS_PER_BYTE


def bounds(environ: Mapping[str, str] | None = None) -> Bounds:
    """Return the bounds below which rows are marked, from the table `[marks]` of the settings file.

    Raises `UsageError` if they make no sense.
    """
    path = config_file(os.environ if environ is None else environ)
    table = _document(path).get("marks", {})
    if isinstance(table, dict) and (unknown := [name for name in table if name not in Bounds._fields]):
        raise UsageError(f"settings file {path}: unknown key 'marks.{unknown[0]}'", meant(unknown[0], Bounds._fields))
    if not isinstance(table, dict) or not all(
        type(each) in (int, float) and 0 <= each <= 10 for each in table.values()
    ):
        raise UsageError(
            f"settings file {path}: marks must be a table of bounds from 0 to 10", "[marks] with bad = 5 and warn = 7"
        )
    return Bounds(**{name: float(value) for name, value in table.items()})


def wants_color(is_terminal: bool, environ: Mapping[str, str] | None = None) -> bool:
    """Ask NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, CLICOLOR, then the terminal whether to colour a stream."""
    environ = os.environ if environ is None else environ
    if environ.get("NO_COLOR"):
        return False
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        if environ.get(name, "0").lower() not in _NO:
            return True
    if environ.get("CLICOLOR") == "0" or environ.get("TERM") == "dumb":
        return False
    return is_terminal


def _own_directory(kind: Literal["config", "data", "state"]) -> Path:
    """Return one of the user's directories for this program; raise `UsageError` for a user without a home directory."""
    named, home = os.environ.get(f"XDG_{kind.upper()}_HOME", ""), os.environ.get("HOME", "")
    if os.path.isabs(named):
        return Path(named, APP)
    if not os.path.isabs(home):
        import pwd

        with suppress(KeyError):
            home = pwd.getpwuid(os.getuid()).pw_dir
    if not os.path.isabs(home):
        raise UsageError("there is no home directory to keep things in; set HOME, or name a store with --store")
    return Path(home, "Library/Application Support" if sys.platform == "darwin" else _UNDER_HOME[kind], APP)


def _table(name: str, form: str, environ: Mapping[str, str] | None) -> tuple[Path | None, dict[str, Any]]:
    """Return the settings file and a table of it; raise `UsageError`, which names the form in which it is written."""
    path = config_file(os.environ if environ is None else environ)
    table = _document(path).get(name, {})
    if not isinstance(table, dict):
        raise UsageError(f"settings file {path}: {name} must be {form}")
    return path, table


def _document(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"settings file {path} cannot be read: {reason}") from error
    if len(text) > _LARGEST:
        raise UsageError(f"settings file {path} is larger than {_LARGEST // 1024**2} MiB, and no settings file")
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise UsageError(f"settings file {path} is nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"settings file {path}: {error}") from error


def _from_file(path: Path | None) -> dict[str, str | bool | int]:
    document = _document(path)
    for name in _TABLES:
        document.pop(name, None)
    for name, value in document.items():
        kind = _KINDS.get(name)
        if kind is None:
            raise UsageError(f"settings file {path}: unknown key {name!r}", meant(name, [*_KINDS, *_TABLES]))
        if type(value) is not kind:
            raise UsageError(f"settings file {path}: {name} must be {_word(kind)}")
    return document


def _from_environment(environ: Mapping[str, str]) -> dict[str, str | bool | int]:
    found: dict[str, str | bool | int] = {}
    for name, kind in _KINDS.items():
        variable = f"RIFF_TUI_{name.upper()}"
        text = environ.get(variable)
        if text is None or (not text and kind is not bool):
            continue
        value = _converted(text, kind)
        if value is None:
            raise UsageError(f"${variable} must be {_word(kind)}, not {text!r}")
        found[name] = value
    return found


def _converted(text: str, kind: type) -> str | bool | int | None:
    if kind is bool:
        lowered = text.strip().lower()
        return True if lowered in _YES else False if lowered in _NO else None
    if kind is int:
        return int(text) if text.strip().isdecimal() else None
    return text


def _word(kind: type) -> str:
    return {str: "text", bool: "true or false", int: "a whole number"}[kind]
