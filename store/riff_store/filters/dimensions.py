"""Look up names by their keys, and runs in their order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias, TypeVar

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.filters.matching import is_version_of
from riff_store.vocabulary import NONE_FOUND, PERSON, START

Names: TypeAlias = tuple[str | None, ...]
Key = TypeVar("Key")


class Dimension(NamedTuple):
    """Describe a name of a call: the key column that fact tables have, and the column with the text."""

    key: str
    table: type[pw.Model]
    column: str = "name"


DIMENSIONS = {
    "flow": Dimension("flow", m.Flow),
    "archetype": Dimension("flow", m.Flow, "archetype"),
    "agent": Dimension("agent", m.Agent),
    "run": Dimension("run", m.Run),
    "commit": Dimension("run", m.Run, "commit"),
    "branch": Dimension("run", m.Run, "branch"),
    "label": Dimension("run", m.Run, "label"),
    "persona": Dimension("persona", m.Persona),
    "scenario": Dimension("scenario", m.Scenario),
    "caller": Dimension("caller", m.Caller),
    "stop_reason": Dimension("stop_reason", m.Label),
    "final_state": Dimension("final_state", m.Label),
    "final_status": Dimension("final_status", m.Label),
    "state": Dimension("state", m.State),
    "segment": Dimension("segment", m.Segment),
    "tool": Dimension("tool", m.Label),
    "route": Dimension("path", m.Path, "route"),
    "touched": Dimension("path", m.Path, "touched"),
}

FAILURE = {
    "last_ok": Dimension("last_ok", m.State),
    "first_failed": Dimension("state", m.State),
    "failure_detail": Dimension("detail", m.Label),
    "failure_error": Dimension("error", m.Label),
    "failed_tool": Dimension("tool", m.Label),
}
"""The names that say where a call first went wrong; what `UNNAMED` has stands for a key that is null."""
UNNAMED = {"last_ok": START, "first_failed": NONE_FOUND}


def names_of(store: Store, dimension: Dimension) -> Mapping[int, str | None]:
    """Return the name of every key of a dimension."""
    table = dimension.table
    query = table.select(table.id, getattr(table, dimension.column))  # type: ignore[attr-defined]
    return store.once(dimension, lambda: dict(store.execute(query)))


def keys_called(store: Store, dimension: Dimension) -> Mapping[str | None, Sequence[int]]:
    """Return the keys of a dimension that have each name."""

    def found() -> dict[str | None, list[int]]:
        called: dict[str | None, list[int]] = {}
        for key, name in names_of(store, dimension).items():
            called.setdefault(name, []).append(key)
        return called

    return store.once((keys_called, dimension), found)


def touched(store: Store, field: str) -> dict[int, list[str]]:
    """Return the names that a field has of what calls touched (`vocabulary.TOUCHED_FIELDS`), by the keys of that."""
    from riff_store.facts import as_touched

    return {
        key: as_touched(text).of_field(field)
        for key, text in names_of(store, DIMENSIONS["touched"]).items()
        if text is not None
    }


@dataclass(frozen=True, slots=True)
class Grouping:
    """Describe the names that a matrix has a row for, and the keys they are grouped by; raises `UsageError`."""

    by: tuple[str, ...]

    def __post_init__(self) -> None:
        unknown = [name for name in self.by if name not in DIMENSIONS]
        if unknown:
            raise UsageError(f"no rows by {', '.join(unknown)}", f"by one of {', '.join(DIMENSIONS)}")

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the key columns, each once."""
        return tuple(dict.fromkeys(DIMENSIONS[name].key for name in self.by))

    def columns(self, table: Any, states: Mapping[str, Any]) -> list[Any]:
        """Return the key columns of a table of calls, those of states from `states`."""
        return [states[key] if key in states else getattr(table, key) for key in self.keys]

    def keys_of(self, store: Store, some: Sequence[Names]) -> dict[str, set[int]]:
        """Return by key column the keys that names represent; nothing of a column of which one has no name."""
        found: dict[str, set[int]] = {}
        for name, named in zip(self.by, map(set, zip(*some, strict=True)), strict=False):
            if None not in named:
                called, key = keys_called(store, DIMENSIONS[name]), DIMENSIONS[name].key
                keys = {each for one in named for each in called[one]}
                found[key] = found[key] & keys if key in found else keys
        return found

    def namer(self, store: Store) -> Callable[[tuple[Any, ...]], Names]:
        """Return a function from the values of the key columns to the names."""
        place = {key: index for index, key in enumerate(self.keys)}

        def namer() -> Callable[[tuple[Any, ...]], Names]:
            lookups = [(place[DIMENSIONS[name].key], names_of(store, DIMENSIONS[name]).get) for name in self.by]
            return cache(lambda values: tuple([name(values[index]) for index, name in lookups]))

        return store.once((Grouping.namer, self), namer)


def judges_shown(store: Store) -> dict[int, str]:
    """Return the displayed name of each judge, with as much of its model and its prompt's hash as distinguishes it.

    Versions of a prompt are `name#hash`, models behind one name `name@model`, and `name@model#hash` where neither
    suffices. No two are shown alike, whatever a judge calls itself.
    """
    rows = [
        _Judge(key, _no_person(name), model, prompt_hash)
        for key, name, model, prompt_hash in store.execute(
            m.Judge.select(m.Judge.id, m.Judge.name, m.Judge.model, m.Judge.prompt_hash)
        )
    ]
    by_name: dict[str, list[_Judge]] = {}
    for judge in rows:
        by_name.setdefault(judge.name, []).append(judge)
    # A judge that goes by its whole name keeps it; one of several can be called otherwise.
    named = sorted(rows, key=lambda judge: (bool(judge.model or judge.prompt_hash), judge[1:]))
    return unique_names({judge.key: _shown(judge, by_name[judge.name]) for judge in named})


class _Judge(NamedTuple):
    key: int
    name: str
    model: str
    prompt_hash: str


def unique_names(names: Mapping[Key, str], taken: Iterable[str] = ()) -> dict[Key, str]:
    """Make names unique: the later of two alike, or of one that is taken, gets a `#` at its end."""
    used = set(taken)
    found: dict[Key, str] = {}
    for key, name in names.items():
        while name in used:
            name += "#"
        used.add(name)
        found[key] = name
    return found


def _shown(judge: _Judge, same_name: Sequence[_Judge]) -> str:
    if len(same_name) == 1:
        return judge.name
    hashes, models = {one.prompt_hash for one in same_name}, {one.model for one in same_name}
    by_model = len(hashes) < len(same_name)
    by_hash = not by_model or len(models) < len(same_name)
    model = f"@{judge.model}" if by_model and judge.model else ""
    return f"{judge.name}{model}{_start_of(judge.prompt_hash, hashes) if by_hash else ''}"


def _start_of(prompt_hash: str, hashes: set[str]) -> str:
    """Return as much of a hash as no other one begins with, at least 6 characters, with the sign before it."""
    length = 6
    while length < len(prompt_hash) and any(
        other[:length] == prompt_hash[:length] for other in hashes if other != prompt_hash
    ):
        length += 1
    return f"#{prompt_hash[:length]}" if prompt_hash and len(hashes) > 1 else ""


def judge_names(store: Store) -> dict[int, str]:
    """Return the name of each judge, the same for all its versions; computed scores have no judge."""
    rows = store.execute(m.Judge.select(m.Judge.id, m.Judge.name).where(m.Judge.id != m.COMPUTED_JUDGE))
    return {key: _no_person(name) for key, name in rows}


def _no_person(name: str) -> str:
    """Return the name of a judge that is not a person: one that is called as if it were gets a `#` before it."""
    return f"#{name}" if name.startswith(PERSON) else name


def judges_meant(store: Store, name: str | None) -> set[int]:
    """Return the judges that a name means: those called so, the one that is shown so, or a version; else all."""
    shown = judges_shown(store)
    return {
        key for key, own in judge_names(store).items() if name is None or own == name or is_version_of(shown[key], name)
    }


def run_starts(store: Store) -> dict[str, int | None]:
    """Return the first moment of each run in microseconds since the epoch, `None` if no call has a time."""
    cell = m.CALLS.rollup
    query = cell.select(cell.run, pw.fn.MIN(cell.first_at)).group_by(cell.run)
    names = names_of(store, DIMENSIONS["run"])
    return store.once((run_starts,), lambda: {names[run] or "": started for run, started in store.execute(query)})


def run_order(store: Store) -> dict[str, int]:
    """Return the place of each run in time; runs without any time come last, by name."""
    started = run_starts(store)
    ordered = sorted(started, key=lambda name: (started[name] is None, started[name] or 0, name))
    return {name: place for place, name in enumerate(ordered)}


def run_branches(store: Store) -> dict[str, str | None]:
    """Return the branch of each run, `None` if that is not known."""
    return dict(store.execute(m.Run.select(m.Run.name, m.Run.branch)))
