"""Remember by digests which calls were forgotten, and leave these out of what is read later.

Of what names a call, digests alone are kept. A verdict or a note that names less than that is left out where a call was
forgotten that it may be of, and no call is in the store that it may be of too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

from riff_store.engines.engine import Connection
from riff_store.facts import NOT_ENDED, Annotation, ConversationFacts, JudgedScore, Skipped
from riff_store.write.names import CallNames, day_of, encodable

_AT_ONCE = 500
_REMEMBER = (
    "INSERT INTO forgotten_call (conversation, run, flow, agent, trial, keeps_notes) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (conversation, run, flow, agent, trial) DO UPDATE SET keeps_notes = excluded.keeps_notes"
)
_TAKE_BACK = "DELETE FROM forgotten_call WHERE conversation = ? AND run = ? AND flow = ? AND agent = ? AND trial = ?"
_STANDS = (
    "SELECT 1 FROM run r CROSS JOIN conversation c ON c.run_id = r.id AND c.name = ?"
    " JOIN flow f ON f.id = c.flow_id JOIN agent a ON a.id = c.agent_id WHERE r.name = coalesce(?, r.name)"
    " AND f.name = coalesce(?, f.name) AND a.name = coalesce(?, a.name) AND c.trial = coalesce(?, c.trial) LIMIT 1"
)

_Item = TypeVar("_Item")


class _Named(NamedTuple):
    """Describe what names a call, as it is or by digests; what is not known is `None`."""

    conversation: str | bytes
    run: str | bytes | None
    flow: str | bytes | None
    agent: str | bytes | None
    trial: int | None

    def digested(self) -> _Named:
        """Return digests in the place of names."""
        run, flow, agent = (None if name is None else digest(str(name)) for name in self[1:4])
        return _Named(digest(str(self.conversation)), run, flow, agent, self.trial)

    def may_be(self, call: Sequence[object]) -> bool:
        """Return whether all that is known is true of a call."""
        return all(mine is None or mine == its for mine, its in zip(self, call, strict=True))


def digest(name: str) -> bytes:
    """Return what represents a name that is to be known again and not to be read."""
    return hashlib.blake2b(encodable(name).encode(), digest_size=16).digest()


def remember(connection: Connection, calls: Iterable[CallNames], *, keeps_notes: bool) -> None:
    """Remember that calls were forgotten."""
    rows = [(*_of_call(call).digested(), keeps_notes) for call in calls]
    connection.executemany(_REMEMBER, sorted(rows))


def _of_call(call: CallNames) -> _Named:
    return _Named(call.conversation, call.run, call.flow, call.agent, call.trial)


class WithoutForgotten(Generic[_Item]):
    """Pass on items of a file but for calls that were forgotten and what hangs on them; or take these back.

    `calls` counts those that were left out, `others` all that was passed on. Iterate once, inside the transaction that
    writes.
    """

    def __init__(self, connection: Connection, items: Iterable[_Item], *, take_back: bool = False) -> None:
        self._connection = connection
        self._items = items
        self._takes_back = take_back
        self._left_out: set[str] = set()
        self._standing: list[_Named] = []
        self.calls = self.others = 0

    def __iter__(self) -> Iterator[_Item]:
        if self._connection.execute("SELECT 1 FROM forgotten_call LIMIT 1").fetchone() is None:
            yield from self._items
            return
        items = iter(self._items)
        while some := list(islice(items, _AT_ONCE)):
            forgotten = self._forgotten(some)
            for item in some:
                if not self._goes(item, forgotten):
                    self.others += 1
                    yield item

    def _forgotten(self, items: Sequence[_Item]) -> dict[bytes, list[tuple[_Named, bool]]]:
        """Return which calls were forgotten that have the ids of some items, and whether their notes stayed."""
        ids = sorted({digest(id) for item in items if (id := _id_of(item)) is not None})
        found: dict[bytes, list[tuple[_Named, bool]]] = {}
        if ids:
            marks = ", ".join("?" * len(ids))
            columns = "conversation, run, flow, agent, trial, keeps_notes"
            query = f"SELECT {columns} FROM forgotten_call WHERE conversation IN ({marks})"
            for *names, keeps_notes in self._connection.execute(query, ids).fetchall():
                call = _Named(*names)
                found.setdefault(bytes(call.conversation), []).append((call, bool(keeps_notes)))  # type: ignore[arg-type]
        return found

    def _goes(self, item: _Item, forgotten: dict[bytes, list[tuple[_Named, bool]]]) -> bool:
        """Return whether an item is left out."""
        id = _id_of(item)
        of_id = forgotten.get(digest(id)) if id is not None else None
        if not of_id or id is None:
            return False
        if isinstance(item, ConversationFacts):
            return self._call_goes(item, [call for call, _ in of_id])
        if self._takes_back:
            return False
        if isinstance(item, Skipped):
            return id in self._left_out or item.reason == NOT_ENDED
        if isinstance(item, JudgedScore | Annotation):
            named = _Named(id, item.run, item.flow, item.agent, item.trial)
            is_note = isinstance(item, Annotation)
            may_be = named.digested().may_be
            is_of_forgotten = any(may_be(call) for call, keeps_notes in of_id if not (is_note and keeps_notes))
            return is_of_forgotten and not self._stands(named)
        return False

    def _call_goes(self, facts: ConversationFacts, of_id: Sequence[_Named]) -> bool:
        named = _Named(facts.conversation_id, facts.run_id, facts.flow, facts.agent_model, facts.trial)
        # The id of a unique call is of no other of its run or day, whatever flow, agent or version it is taken for.
        named_by = named._replace(flow=None) if facts.unique else named
        named_by = named_by._replace(run=None, agent=None) if day_of(facts) is not None else named_by
        wanted = named_by.digested()
        found = [call for call in of_id if wanted.may_be(call)]
        if found and self._takes_back:
            self._connection.executemany(_TAKE_BACK, found)
            return False
        if found:
            self._left_out.add(facts.conversation_id)
            self.calls += 1
            return True
        self._left_out.discard(facts.conversation_id)
        self._standing.append(named)
        return False

    def _stands(self, named: _Named) -> bool:
        """Return whether there is a call that something may be of, in the store or on its way there."""
        if any(named.may_be(call) for call in self._standing):
            return True
        names = [None if name is None else encodable(str(name)) for name in named[:4]]
        return self._connection.execute(_STANDS, (*names, named.trial)).fetchone() is not None


def _id_of(item: object) -> str | None:
    if isinstance(item, ConversationFacts):
        return item.conversation_id
    return item.conversation if isinstance(item, JudgedScore | Annotation | Skipped) else None
