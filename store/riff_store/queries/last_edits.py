"""Find the edits of a flow that a run contains, and the last of them."""

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import run_starts

# Whole or abbreviated as git does, or what `git describe` makes of it; a number of a few digits counts builds.
_COMMIT = r"(?:.*-g)?((?=\d*[a-f]|\d{7})[0-9a-f]{4,64})(?:-dirty|\+)?"
_LONGEST = 64
# Asked for each run: compiling it again would take longer than its answer.
_BEGINNING_WITH = 'SELECT repository_id, node FROM known_commit WHERE "commit" BETWEEN ? AND ? LIMIT 2'


class Place(NamedTuple):
    """Describe where a commit is: its repository, and the node that contains what it does, `None` before any edit."""

    repository: int
    node: int | None


class Histories:
    """Keep the edits of every repository whose history is known, and what each of them contains."""

    def __init__(self, store: Store) -> None:
        from riff_store.edit_graph import contained_by

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
        """Return where an edit is, `None` if no history has it."""
        return self._edits.get(commit)

    def without(self, repository: str) -> Place | None:
        """Return where an edit is that the history of its repository lost, `None` if that is not known."""
        key = self._repositories.get(repository)
        return None if key is None else Place(key, None)

    def of_run(self, commit: str | None) -> Place | None:
        """Return where the commit of a run is, `None` unless exactly one that is known begins with it."""
        asked = re.fullmatch(_COMMIT, commit.strip(), re.IGNORECASE) if commit else None
        if asked is None or not self._repositories:
            return None
        start = asked[1].lower()
        least, most = bytes.fromhex(start + "0" * (len(start) % 2)), bytes.fromhex(start.ljust(_LONGEST, "f"))
        found = self._store.execute_sql(_BEGINNING_WITH, (least, most))
        return Place(*found[0]) if len(found) == 1 else None


Basis: TypeAlias = Literal["commit", "time"]
"""What tells whether a run contains an edit: the ancestors of its commit, or only the time when it started."""


class Edit(NamedTuple):
    """Describe a commit that touched the file of a flow; `time` is the author's, in microseconds since the epoch."""

    flow: str
    commit: str
    time: int
    author: str
    subject: str
    path: str


class LastEdit(NamedTuple):
    """Name the last edit that a run contains, and what shows it."""

    edit: Edit
    basis: Basis


class Contained(NamedTuple):
    """Describe edits of a flow by their places as the bits of numbers.

    `edits` are those that a run contains, `by_commit` those of which its commit decides that, and not the time.
    """

    edits: int
    by_commit: int


class _Run(NamedTuple):
    place: Place | None
    started: int | None


class _Flow:
    """Keep the edits of a flow, and where each is in the history of its repository."""

    def __init__(self) -> None:
        self.edits: list[Edit] = []
        self.times: list[int] = []
        self.nodes: list[int | None] = []
        self.merged = 0
        self.of_repository: dict[int, int] = {}

    def add(self, edit: Edit, place: Place | None, *, merged: bool) -> None:
        bit = 1 << len(self.edits)
        self.edits.append(edit)
        self.times.append(edit.time)
        self.nodes.append(place.node if place else None)
        self.merged |= bit if merged else 0
        if place:
            self.of_repository[place.repository] = self.of_repository.get(place.repository, 0) | bit

    def before(self, moment: int | None) -> int:
        """Return the merged edits that were not made after a moment, none for a moment that is not known."""
        return 0 if moment is None else self.merged & ((1 << bisect_right(self.times, moment)) - 1)

    def by_node(self, chosen: int) -> dict[int, Edit]:
        """Return some edits by the node that each of them is."""
        return {
            node: edit
            for index, (node, edit) in enumerate(zip(self.nodes, self.edits, strict=True))
            if node is not None and chosen >> index & 1
        }


class Edits:
    """Keep the edits of every flow by the author's time; at one moment the later in the history comes last.

    A run contains the edits among the ancestors of its commit. If an edit's repository does not know that commit, the
    run contains it if it is merged and was not made after the run started. Reads them once; it is false where the store
    has none.
    """

    def __init__(self, store: Store) -> None:
        edit = m.FlowEdit
        query = edit.select(
            edit.flow_name, edit.commit, edit.time, edit.author, edit.subject, edit.path, edit.repository, edit.merged
        )
        rows = store.execute(query.order_by(edit.flow_name, edit.time, edit.position, edit.repository))
        self._flows: dict[str, _Flow] = {}
        self._runs: dict[str, _Run] = {}
        if not rows:
            return
        self._histories = Histories(store)
        self._runs = _runs(store, self._histories)
        for *described, repository, merged in rows:
            found = Edit(*described)
            place = self._histories.of_edit(found.commit) or self._histories.without(repository)
            self._flows.setdefault(found.flow, _Flow()).add(found, place, merged=bool(merged))

    def __bool__(self) -> bool:
        return bool(self._flows)

    @property
    def by_flow(self) -> Mapping[str, Sequence[Edit]]:
        """Return the edits of each flow, earliest first."""
        return {name: flow.edits for name, flow in self._flows.items()}

    def merged(self, flow: str) -> int:
        """Return the edits of a flow on the branch that was checked out, by their places as the bits of a number."""
        return self._flows[flow].merged

    def contained(self, flow: str, run: str) -> Contained:
        """Return the edits of a flow that a run contains, by their places in `by_flow`."""
        found, (place, started) = self._flows[flow], self._runs[run]
        by_commit = found.of_repository.get(place.repository, 0) if place else 0
        edits = found.before(started) & ~by_commit
        if place and place.node is not None and by_commit:
            ancestors = self._histories.contained[place.repository][place.node]
            for index, node in enumerate(found.nodes):
                if node is not None and by_commit >> index & 1 and ancestors >> node & 1:
                    edits |= 1 << index
        return Contained(edits, by_commit)

    def last(self, flow: str | None, run: str | None) -> LastEdit | None:
        """Return the last edit of a flow that a run contains."""
        return self.latest((flow,), run)

    def latest(self, flows: Iterable[str | None], run: str | None) -> LastEdit | None:
        """Return the last edit of several flows that a run contains.

        That is the one that no other comes after in history; of several such, and if only the time is known, the one
        with the latest time, of edits at one moment the later in history, else that of the first flow by name.
        """
        if run is None or run not in self._runs:
            return None
        nodes: dict[int, Edit] = {}
        found: list[tuple[int, LastEdit]] = []
        for flow in sorted(self._flows.keys() & set(flows)):
            edits, (contained, by_commit) = self._flows[flow], self.contained(flow, run)
            if by_commit:
                nodes = edits.by_node(contained & by_commit) | nodes
            elif contained:
                found.append((-1, LastEdit(edits.edits[contained.bit_length() - 1], "time")))
        found += [(node, LastEdit(nodes[node], "commit")) for node in self._heads(run, nodes)]
        return max(found, key=lambda each: (each[1].edit.time, each[0]), default=(-1, None))[1]

    def _heads(self, run: str, nodes: Collection[int]) -> tuple[int, ...]:
        """Return those of some nodes that a run contains which no other of them contains."""
        from riff_store.edit_graph import heads

        place = self._runs[run].place
        return heads(nodes, self._histories.contained[place.repository]) if place and nodes else ()


def _runs(store: Store, histories: Histories) -> dict[str, _Run]:
    started = run_starts(store)
    rows = store.execute(m.Run.select(m.Run.name, m.Run.commit))
    places = {commit: histories.of_run(commit) for commit in {commit for _, commit in rows}}
    return {name: _Run(places[commit], started.get(name)) for name, commit in rows}
