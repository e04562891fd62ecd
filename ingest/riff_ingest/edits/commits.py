"""Read which commits a repository knows, on whatever branch, and what each of them contains."""

from __future__ import annotations

from collections.abc import Sequence

from riff_ingest.edits.git import Repository
from riff_store.facts import Commit

# What git keeps there is either no history of files, or one that was put aside.
_ASIDE = ("stash", "notes/*", "replace/*", "original/*", "bisect/*")
TIPS = ("--ignore-missing", *(f"--exclude=refs/{name}" for name in _ASIDE), "--all")
"""What rev-list takes for all branches and tags, and HEAD."""


def read_commits(repository: Repository) -> list[Commit]:
    """Return all commits before any branch or tag, parents before children; raises `GitProblem`."""
    listed = repository.ask("rev-list", "--topo-order", "--reverse", "--parents", *TIPS, repository.head)
    lines = (line.split() for line in listed.decode("ascii").splitlines())
    return [Commit(line[0], tuple(line[1:])) for line in lines]


def contained_in(commits: Sequence[Commit], tip: str) -> frozenset[str]:
    """Return the ids of a commit and all its ancestors, of commits that are in order, parents first."""
    found: set[str] = {tip}
    for commit in reversed(commits):
        if commit.id in found:
            found.update(commit.parents)
    return frozenset(found)
