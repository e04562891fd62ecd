"""Look up which edits of flows a commit contains."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from riff_store import models as m
from riff_store.database import Store
from riff_store.edit_graph import contained_by

# Whole or abbreviated as git does, or what `git describe` makes of it; a number of a few digits counts builds.
_COMMIT = re.compile(r"(?:.*-g)?((?=\d*[a-f]|\d{7})[0-9a-f]{4,64})(?:-dirty|\+)?", re.IGNORECASE)
_LONGEST = 64
# Asked for each run: compiling it anew would take longer than its answer.
_BEGINNING_WITH = 'SELECT repository_id, node FROM known_commit WHERE "commit" BETWEEN ? AND ? LIMIT 2'


class Place(NamedTuple):
    """Say where a commit stands: its repository, and the node that contains what it does, `None` before any edit."""

    repository: int
    node: int | None


class Histories:
    """Hold the the edits of every repository whose history is known, and what each of them contains."""

    def __init__(self, store: Store) -> None:
        self._store = store
        node = m.HistoryNode
        parents: dict[int, list[Sequence[int]]] = {}
        self._edits: dict[str, Place] = {}
        query = node.select(node.repository, node.position, node.commit, node.parents)
        for repository, position, commit, before in store.execute(query.order_by(node.repository, node.position)):
            parents.setdefault(repository, []).append(json.loads(before))
            if commit is not None:
                self._edits[bytes(commit).hex()] = Place(repository, position)
        self.contained: Mapping[int, Sequence[int]] = {key: contained_by(found) for key, found in parents.items()}
        """By repository and node, the nodes that it contains as the bits of a number."""
        self._repositories = dict(store.execute(m.Repository.select(m.Repository.name, m.Repository.id)))

    def of_edit(self, commit: str) -> Place | None:
        """Return where an edit stands, `None` if no history has it."""
        return self._edits.get(commit)

    def without(self, repository: str) -> Place | None:
        """Return where an edit stands that the history of its repository lost, `None` if that is not known."""
        key = self._repositories.get(repository)
        return None if key is None else Place(key, None)

    def of_run(self, commit: str | None) -> Place | None:
        """Return where the commit of a run stands, `None` unless exactly one that is known begins with it."""
        asked = _COMMIT.fullmatch(commit.strip()) if commit else None
        if asked is None or not self._repositories:
            return None
        start = asked[1].lower()
        least, most = bytes.fromhex(start + "0" * (len(start) % 2)), bytes.fromhex(start.ljust(_LONGEST, "f"))
        found = self._store.execute_sql(_BEGINNING_WITH, (least, most))
        return Place(*found[0]) if len(found) == 1 else None
