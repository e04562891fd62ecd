"""Collect every commit that touched the file of a flow, through renames.

A commit on any branch counts, and a merge itself where its result differs from all that went into it. A file
that was renamed brings the edits made under its old name along to the flow of its new one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from riff_ingest.edits.git import TIPS, Repository, contained_in, read_commits
from riff_ingest.edits.patterns import FlowPattern, flow_of, literal, parse_pattern, readable
from riff_store.facts import Commit, FlowEdit

ALIKE = "70%"
"""How alike two files have to be for one to be the other renamed; flows made from one template are alike as well."""
LONGEST_SUBJECT, LONGEST_AUTHOR = 500, 200
LAST_SECOND = 253_402_300_799
_AT_ONCE = 200
_DIFF = ("diff-tree", "--stdin", "-r", "-z", "-c", "--root", "--name-status", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True, slots=True)
class EditHistory:
    """Hold the edits of each flow, oldest first. `repository` is the commit that its history begins with.

    `commits` are all that the repository knows, parents first. In a shallow clone what lies behind its
    boundary is not known, in a partial one only renames without a change are. `undated` commits have no time
    that could be used and are left out of the edits.
    """

    repository: str
    edits: Mapping[str, Sequence[FlowEdit]]
    commits: Sequence[Commit]
    is_shallow: bool
    is_partial: bool
    undated: int


class _Words(NamedTuple):
    time: int | None
    author: str
    subject: str


class _Change(NamedTuple):
    path: bytes
    before: bytes | None  # where it was renamed


def read_edits(directory: Path, patterns: Sequence[str], progress: Callable[[str], None] | None = None) -> EditHistory:
    """Return the edits of the flows whose files match one of the patterns, in the repository that holds a directory.

    `progress` is told what is being done. Raises `GitProblem` and `BadPattern`.
    """
    for pattern in patterns:
        parse_pattern(pattern)
    repository = Repository(directory)
    reading = _HistoryReader(repository, [parse_pattern(pattern, repository.prefix) for pattern in patterns], progress)
    reading.read()
    commits = read_commits(repository)
    root = repository.ask("rev-list", "--first-parent", "--max-parents=0", repository.head)
    return EditHistory(
        repository=root.decode("ascii").split()[0],
        edits=reading.edits(commits),
        commits=commits,
        is_shallow=repository.is_shallow,
        is_partial=repository.is_partial,
        undated=reading.undated,
    )


class _HistoryReader:
    def __init__(
        self, repository: Repository, patterns: Sequence[FlowPattern], progress: Callable[[str], None] | None
    ) -> None:
        self._repository = repository
        self._progress = progress
        self._patterns = patterns
        self._boundary = repository.boundary()
        self._alike = f"-M{'100%' if repository.is_partial else ALIKE}"
        self._commits: dict[str, _Words] = {}
        self._changes: dict[str, list[_Change]] = {}
        self._paths: defaultdict[str, dict[str, bytes]] = defaultdict(dict)
        self._renamed: defaultdict[str, defaultdict[bytes, set[str]]] = defaultdict(lambda: defaultdict(set))
        self._followed: set[tuple[str, bytes, str]] = set()
        self.undated = 0

    def read(self) -> None:
        """Find all edits, renames after what follows them."""
        tips = (*TIPS, self._repository.head)
        for commit in self._touching(tips, [pattern.pathspec for pattern in self._patterns]):
            for change in self._changes[commit]:
                own = flow_of(self._patterns, change.path)
                if own is not None:
                    self._edit(own, commit, change.path)
                if change.before is not None:
                    self._rename(commit, change.before, own)
        while self._renamed:
            commit, paths = self._renamed.popitem()
            ordered = sorted(paths)
            for start in range(0, len(ordered), _AT_ONCE):
                some = ordered[start : start + _AT_ONCE]
                self._follow(commit, {path: paths[path] for path in some})

    def edits(self, commits: Sequence[Commit]) -> dict[str, list[FlowEdit]]:
        """Return the edits of each flow in the order of the commits, those without a usable time left out."""
        found: dict[str, list[FlowEdit]] = {}
        touched = {commit for paths in self._paths.values() for commit in paths}
        self.undated = sum(self._commits[commit].time is None for commit in touched)
        place = {commit.id: place for place, commit in enumerate(commits) if commit.id in touched}
        merged = contained_in(commits, self._repository.head)
        for flow in sorted(self._paths):
            paths = self._paths[flow]
            edits = [
                FlowEdit(flow, commit, said.time, said.author, said.subject, readable(paths[commit]), commit in merged)
                for commit in sorted(paths, key=place.__getitem__)
                if (said := self._commits[commit]).time is not None
            ]
            if edits:
                found[flow] = edits
        return found

    def _rename(self, commit: str, before: bytes, new: str | None) -> None:
        old = flow_of(self._patterns, before)
        if old is not None:
            self._edit(old, commit, before)
        if new is not None and new != old:
            self._renamed[commit][before].add(new)

    def _follow(self, renamed: str, paths: Mapping[bytes, set[str]]) -> None:
        """Return the edits that files had before a commit renamed them."""
        for commit in self._touching((f"{renamed}^@",), [literal(path) for path in paths]):
            for change in self._changes[commit]:
                for flow in paths.get(change.path, ()):
                    self._edit(flow, commit, change.path)
                    step = (commit, change.before or b"", flow)
                    if change.before is not None and step not in self._followed:
                        self._followed.add(step)
                        self._renamed[commit][change.before].add(flow)

    def _edit(self, flow: str, commit: str, path: bytes) -> None:
        paths = self._paths[flow]
        paths[commit] = min(paths.get(commit, path), path)

    def _touching(self, tips: Sequence[str], pathspecs: Sequence[bytes]) -> list[str]:
        """Return the commits before some tips that touch such files, their words and changes read."""
        if self._progress:
            self._progress(f"reading the history: {len(self._changes):,} commits of flows")
        said = self._repository.ask(
            "rev-list", "--full-history", "--encoding=UTF-8", "--format=%at%x00%an%x00%s", *tips, "--", *pathspecs
        )  # fmt: skip
        found = {commit: words for commit, words in _parse_rev_list(said) if commit not in self._boundary}
        new = [commit for commit in found if commit not in self._changes]
        self._commits |= found
        if new:
            listed = "".join(f"{commit}\n" for commit in new).encode()
            self._changes |= {commit: [] for commit in new}
            self._changes |= _parse_diff_tree(self._repository.ask(*_DIFF, "-l1000", self._alike, stdin=listed))
        return list(found)


def _parse_rev_list(listed: bytes) -> Iterator[tuple[str, _Words]]:
    """Yield what `rev-list` prints of each commit: a line with its id, and one with what was asked for."""
    lines = iter(listed.split(b"\n"))
    for line in lines:
        if line.startswith(b"commit "):
            time, author, subject = next(lines).split(b"\0", 2)
            yield line.removeprefix(b"commit ").decode("ascii"), _Words(
                _microseconds(time), _cut(readable(author), LONGEST_AUTHOR), _cut(readable(subject), LONGEST_SUBJECT)
            )  # fmt: skip


def _parse_diff_tree(listed: bytes) -> dict[str, list[_Change]]:
    """Parse what `diff-tree` prints: the id of a commit, then for each file a status and its path, for a rename two."""
    found: dict[str, list[_Change]] = {}
    changes: list[_Change] = []
    parts = iter(listed.split(b"\0"))
    for part in parts:
        if part[:1].isdigit() or part[:1].islower():  # an id; the letters of a status are capitals
            changes = found.setdefault(part.decode("ascii"), [])
        elif part[:1] == b"R" and part[1:].isdigit():
            before = next(parts)
            changes.append(_Change(next(parts), before))
        elif part:
            changes.append(_Change(next(parts), None))
    return found


def _microseconds(seconds: bytes) -> int | None:
    return int(seconds) * 1_000_000 if seconds.isdigit() and int(seconds) <= LAST_SECOND else None


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
