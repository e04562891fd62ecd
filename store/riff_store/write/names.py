"""Turn names into the keys of the dimension tables, adding what is new."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from riff_store.engines.engine import Connection
from riff_store.facts import ConversationFacts, Touched
from riff_store.vocabulary import route_text

_encode = msgspec.json.Encoder().encode
NUL = "\\u0000"
"""How JSON spells what no store can hold."""
_MOST_PATHS = 8192
"""So many keys of paths are kept at hand, which is a few MB; the store is asked for the others."""


class CallNames(NamedTuple):
    """Name a call."""

    run: str
    flow: str
    agent: str
    conversation: str
    trial: int


_DAY = re.compile(r"(\d{4}-\d\d-\d\d)(?:@.*)?", re.DOTALL)


def day_of(facts: ConversationFacts) -> str | None:
    """Return the day that is the run of a call of a unique id, whatever version of its agent; `None` for other runs."""
    found = _DAY.fullmatch(facts.run_id) if facts.unique else None
    return found[1] if found else None


def encodable(text: str) -> str:
    """Spell out what a store cannot contain: lone surrogates, which have no encoding, and NUL characters."""
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class Keys(dict[str, int]):
    """Keep the keys of a set of names, and add a name to the store when it is first asked for."""

    def __init__(self, add: Callable[[str], int]) -> None:
        super().__init__()
        self._add = add

    def __missing__(self, name: str) -> int:
        key = self[name] = self._add(name)
        return key


class Names:
    """Look up names in the dimension tables; `forget` after a rollback, which may have taken rows away."""

    def __init__(self, connection: Connection, written_by: str = "") -> None:
        self._connection = connection
        self._written_by = encodable(written_by)
        self.forget()

    def forget(self) -> None:
        """Drop every remembered key."""
        self.agents = self._plain("agent")
        self.personas = self._plain("persona")
        self.scenarios = self._plain("scenario")
        self.callers = self._plain("caller")
        self.segments = self._plain("segment")
        self.aspects = self._plain("aspect")
        self.labels = self._plain("label")
        self.runs = self._plain("run")
        self._paths: dict[str, int] = {}
        self.flows = self._plain("flow")
        self._states: dict[int, Keys] = {}
        self._judges: dict[tuple[str, str, str], int] = {}
        self._outcomes: dict[int, str | None] = {}
        self._described_runs: dict[int, tuple[str | None, str | None, str | None]] = {}
        self._archetypes: dict[int, str | None] = {}
        self._signed: set[int] = set()

    def states(self, flow: int) -> Keys:
        """Return the keys of a flow's states."""
        found = self._states.get(flow)
        if found is None:
            found = self._states[flow] = Keys(
                lambda name: self._add("state", ("flow_id", "name"), (flow, encodable(name)))
            )
        return found

    def outcome(self, state: int, outcome: str) -> None:
        """Note that a state is a terminal; what was noted last counts."""
        if self._outcomes.get(state) != outcome:
            self._connection.execute("UPDATE state SET outcome = ? WHERE id = ?", (outcome, state))
            self._outcomes[state] = outcome

    def path(self, touched: Touched) -> int:
        """Return the key of what a call touched of its flow."""
        try:
            text = _encode(touched).decode()
        except UnicodeEncodeError:
            text = ""
        if (found := self._paths.get(text)) is not None:
            return found
        if not text.isascii() or not text or NUL in text:
            parts = {
                part: [encodable(name) for name in getattr(touched, part)]
                for part in ("names", "slots", "guards", "tools")
            }
            touched = msgspec.structs.replace(touched, **parts)
            text = _encode(touched).decode()
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        row = self._connection.execute("SELECT id FROM path WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            insert = "INSERT INTO path (digest, route, touched) VALUES (?, ?, ?) RETURNING id"
            row = self._connection.execute(insert, (digest, route_text(touched.states), text)).fetchone()
        if len(self._paths) == _MOST_PATHS:
            self._paths.clear()
        found = self._paths[text] = int(row[0])
        return found

    def judge(self, name: str, model: str | None, prompt_hash: str | None) -> int:
        """Return the key of a judge: one model behind a name, in one version of its prompt."""
        parts = (name, model or "", prompt_hash or "")
        found = self._judges.get(parts)
        if found is None:
            values = tuple(encodable(part) for part in parts)
            found = self._judges[parts] = self._add("judge", ("name", "model", "prompt_hash"), values)
        return found

    def flow(self, name: str, archetype: str | None) -> int:
        """Return the key of a flow; the archetype named last counts."""
        found = self.flows[name]
        if archetype is not None and self._archetypes.get(found) != archetype:
            self._connection.execute("UPDATE flow SET archetype = ? WHERE id = ?", (encodable(archetype), found))
            self._archetypes[found] = archetype
        return found

    def run(self, name: str, label: str | None, commit: str | None, branch: str | None) -> int:
        """Return the key of a run; label, commit and branch named last count, and who stored calls of it last."""
        found = self.runs[name]
        if self._written_by and found not in self._signed:
            self._connection.execute("UPDATE run SET written_by = ? WHERE id = ?", (self._written_by, found))
            self._signed.add(found)
        described = (label, commit, branch)
        if described != (None, None, None) and self._described_runs.get(found) != described:
            self._connection.execute(
                'UPDATE run SET label = coalesce(?, label), "commit" = coalesce(?, "commit"),'
                " branch = coalesce(?, branch) WHERE id = ?",
                (*(None if part is None else encodable(part) for part in described), found),
            )
            self._described_runs[found] = described
        return found

    def _plain(self, table: str) -> Keys:
        return Keys(lambda name: self._add(table, ("name",), (encodable(name),)))

    def _add(self, table: str, columns: tuple[str, ...], values: tuple[str | int, ...]) -> int:
        select = f"SELECT id FROM {table} WHERE {' AND '.join(f'{column} = ?' for column in columns)}"
        row = self._connection.execute(select, values).fetchone()
        if row is None:
            marks = ", ".join("?" * len(values))
            insert = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks}) RETURNING id"
            row = self._connection.execute(insert, values).fetchone()
        return int(row[0])
