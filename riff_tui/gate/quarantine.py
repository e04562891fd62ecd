"""Read which calls are known to be flaky, by whom and until when: what they come to decides no build."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from riff_store.filters.predicates import Not, Or, Predicate, Term, all_of, both
from riff_tui.errors import UsageError, meant
from riff_tui.gate.decision import MOST_ENTRIES

OPTION = "--quarantine"
TABLE = "quarantine"
NIGHTS = 10
"""So many nights in a row an entry has to pass before it is named for removal."""
_NAMES = ("flow", "scenario")
_KEYS = (*_NAMES, "owner", "reason", "until")
_LARGEST = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """Name calls by flow, scenario or both that decide nothing up to and with a day, why, and who fixes it."""

    flow: str | None
    scenario: str | None
    owner: str
    reason: str
    until: date

    def covers(self, flow: str | None, scenario: str | None) -> bool:
        """Return whether calls of a flow and a scenario are meant."""
        return self.flow in (None, flow) and self.scenario in (None, scenario)

    @property
    def calls(self) -> Predicate:
        """Return the filter that leaves its calls."""
        found = all_of([Term(name, "=", getattr(self, name)) for name in _NAMES if getattr(self, name) is not None])
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Describe the entries of a file, and the day on which they are read."""

    entries: tuple[Entry, ...] = ()
    day: date = date.max

    @property
    def calls(self) -> Predicate | None:
        """Return the filter that leaves the calls of all entries, `None` if there are none."""
        return Or(tuple(entry.calls for entry in self.entries)) if self.entries else None

    def others(self, calls: Predicate | None, flow: str | None = None) -> Predicate | None:
        """Return a filter without the calls of the entries; of those that can be of a flow, if one is given."""
        meant = [entry.calls for entry in self.entries if flow is None or entry.flow in (None, flow)]
        return both(calls, Not(meant[0] if len(meant) == 1 else Or(tuple(meant)))) if meant else calls


def read(path: Path, day: str | None = None) -> Quarantine:
    """Read a file of entries, for a day such as 2026-12-24, else for this one (in UTC); raises `UsageError`."""
    today = datetime.now(UTC).date() if day is None else _day(day, f"--day {day}")
    document = _document(path)
    if unknown := [key for key in document if key != TABLE]:
        raise UsageError(f"{OPTION} {path}: there is no key {unknown[0]!r}", f"entries are tables [[{TABLE}]]")
    tables = document.get(TABLE, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{OPTION} {path}: {TABLE} is not a list of tables", f"entries are tables [[{TABLE}]]")
    if len(tables) > MOST_ENTRIES:
        raise UsageError(f"{OPTION} {path}: {len(tables)} entries are more than {MOST_ENTRIES}", "name whole flows")
    return Quarantine(tuple(_entries(tables, path)), today)


def _entries(tables: Sequence[Mapping[str, Any]], path: Path) -> Iterator[Entry]:
    known: dict[tuple[str | None, str | None], int] = {}
    for number, table in enumerate(tables, 1):
        place = f"{OPTION} {path}: entry {number}"
        for key in table:
            if key not in _KEYS:
                raise UsageError(f"{place} has an unknown key {key!r}", meant(key, _KEYS))
        texts = {key: _text(table, key, place) for key in _KEYS[:-1]}
        if not texts["flow"] and not texts["scenario"]:
            raise UsageError(f"{place} names neither flow nor scenario")
        for key in ("owner", "reason"):
            if not texts[key]:
                raise UsageError(f"{place} has no {key}", "an entry names who fixes it, and why it is there")
        if "until" not in table:
            raise UsageError(f"{place} has no until", "an entry ends on a day, such as until = 2026-12-24")
        names = (texts["flow"] or None, texts["scenario"] or None)
        if known.setdefault(names, number) != number:
            raise UsageError(f"{place} names the same calls as entry {known[names]}", "take one of them out")
        yield Entry(*names, texts["owner"], texts["reason"], _day(table["until"], f"{place}: until"))


def _text(table: Mapping[str, Any], key: str, place: str) -> str:
    text = table.get(key, "")
    if not isinstance(text, str):
        raise UsageError(f"{place}: {key} must be text")
    return text if key in _NAMES else text.strip()


def _day(given: Any, place: str) -> date:
    if isinstance(given, datetime):
        return given.date()
    if isinstance(given, date):
        return given
    try:
        return date.fromisoformat(given)
    except (TypeError, ValueError):
        raise UsageError(f"{place} is not a day", "write it as 2026-12-24") from None


def _document(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file() and path.exists():
            raise UsageError(f"{OPTION} {path}: is not a file")
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UsageError(f"{OPTION} {path}: cannot be read: {error.strerror or type(error).__name__}") from error
    if len(data) > _LARGEST:
        raise UsageError(f"{OPTION} {path}: is larger than {_LARGEST // 1024**2} MiB")
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{OPTION} {path}: is not UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{OPTION} {path}: {error}") from error
