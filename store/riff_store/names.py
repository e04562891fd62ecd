"""Turn names into the keys of the dimension tables, adding what is new.

Keys are remembered for one transaction's lifetime at least; `forget` after a rollback.
"""

from __future__ import annotations

import sqlite3

import peewee as pw

from riff_store import models


def storable(text: str) -> str:
    """The text with lone surrogates spelled out, since no encoding can hold them."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class Names:
    """The dimension tables of one store, by name."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._keys: dict[type[pw.Model], dict[str, int]] = {}
        self._states: dict[tuple[int, str], int] = {}
        self._judges: dict[tuple[str, str], int] = {}
        self._outcomes: dict[int, str | None] = {}
        self._runs: dict[int, tuple[str | None, str | None, str | None]] = {}
        self._archetypes: dict[int, str | None] = {}

    def forget(self) -> None:
        """Drop every remembered key, since a rollback may have taken the rows away."""
        self._keys.clear()
        self._states.clear()
        self._judges.clear()
        self._outcomes.clear()
        self._runs.clear()
        self._archetypes.clear()

    def key(self, model: type[pw.Model], name: str) -> int:
        """The key of a name in a dimension that has names alone."""
        known = self._keys.setdefault(model, {})
        found = known.get(name)
        if found is None:
            table = model._meta.table_name
            found = known[name] = self._add(table, "name = ?", ("name",), (storable(name),))
        return found

    def optional(self, model: type[pw.Model], name: str | None) -> int | None:
        """The key of a name that may be missing."""
        return None if name is None else self.key(model, name)

    def judge(self, name: str, prompt_hash: str | None) -> int:
        """The key of a judge in one version of its prompt."""
        pair = (name, prompt_hash or "")
        found = self._judges.get(pair)
        if found is None:
            values = (storable(pair[0]), storable(pair[1]))
            found = self._add("judge", "name = ? AND prompt_hash = ?", ("name", "prompt_hash"), values)
            self._judges[pair] = found
        return found

    def state(self, flow: int, name: str, outcome: str | None = None) -> int:
        """The key of a flow's state; a known outcome overwrites an unknown or another one."""
        pair = (flow, name)
        found = self._states.get(pair)
        if found is None:
            values = (flow, storable(name))
            found = self._add("state", "flow_id = ? AND name = ?", ("flow_id", "name"), values)
            self._states[pair] = found
            stored = self._connection.execute("SELECT outcome FROM state WHERE id = ?", (found,)).fetchone()
            self._outcomes[found] = stored[0]
        if outcome is not None and self._outcomes[found] != outcome:
            self._connection.execute("UPDATE state SET outcome = ? WHERE id = ?", (outcome, found))
            self._outcomes[found] = outcome
        return found

    def flow(self, name: str, archetype: str | None) -> int:
        """The key of a flow; the archetype last named holds."""
        found = self.key(models.Flow, name)
        if archetype is not None and self._archetypes.get(found) != archetype:
            self._connection.execute("UPDATE flow SET archetype = ? WHERE id = ?", (storable(archetype), found))
            self._archetypes[found] = archetype
        return found

    def run(self, name: str, label: str | None, commit: str | None, branch: str | None) -> int:
        """The key of a run; label, commit and branch last named hold."""
        found = self.key(models.Run, name)
        named = (label, commit, branch)
        if named != (None, None, None) and self._runs.get(found) != named:
            self._connection.execute(
                'UPDATE run SET label = coalesce(?, label), "commit" = coalesce(?, "commit"),'
                " branch = coalesce(?, branch) WHERE id = ?",
                (*(None if part is None else storable(part) for part in named), found),
            )
            self._runs[found] = named
        return found

    def _add(self, table: str, where: str, columns: tuple[str, ...], values: tuple[str | int, ...]) -> int:
        select = f"SELECT id FROM {table} WHERE {where}"
        row = self._connection.execute(select, values).fetchone()
        if row is None:
            marks = ", ".join("?" * len(values))
            self._connection.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)
            row = self._connection.execute(select, values).fetchone()
        return int(row[0])
