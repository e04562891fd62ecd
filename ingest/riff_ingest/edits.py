"""Read the edits of flows from the git history of their files (docs/formats/git-history.md).

Every commit counts that touched the file of a flow, on any branch, and a merge itself where its result differs from all
that went into it. A file that was renamed brings the edits made under its old name along to the flow of its new one.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from riff_store.errors import ExitCode, RiffError, UsageError
from riff_store.facts import Commit, FlowEdit

ALIKE = "70%"
"""How alike two files have to be for one to be the other renamed; flows made from one template are alike as well."""
LONGEST_SUBJECT, LONGEST_AUTHOR = 500, 200
LAST_SECOND = 253_402_300_799
_AT_ONCE = 200
_DIFF = ("diff-tree", "--stdin", "-r", "-z", "-c", "--root", "--name-status", "--no-ext-diff", "--no-textconv")


@dataclass(frozen=True, slots=True)
class EditHistory:
    """Describe the edits of each flow, oldest first. `repository` is the commit that its history begins with.

    `commits` are all that the repository knows, parents first. In a shallow clone what is behind its boundary is not
    known, in a partial one only renames without a change are. `undated` commits have no time that could be used and are
    left out of the edits.
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
    """Return the edits of the flows whose files match one of the patterns, in the repository that has a directory.

    `progress` is shown what is being done. Raises `GitProblem` and `BadPattern`.
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


# Ask the installed git about a repository that someone may have sent, without letting it run anything.
#
# Git runs programs that a repository's own settings name: hooks, drivers of diffs and filters, monitors of
# files, checks of signatures, helpers that fetch what is missing. Only commands that read objects are used
# here, each of those ways is shut besides, and nothing of `GIT_*` comes in from the environment.
_SETTINGS = {
    "core.quotePath": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.pager": "cat",
    "diff.external": "",
    "diff.orderFile": os.devnull,
    "gc.auto": "0",
    "log.showSignature": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
}
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_LOCALE = ("LANG", "LANGUAGE")


class GitProblem(RiffError):
    """Report that git cannot answer; the message shows what to do."""


class NoHistory(GitProblem):
    """Report that there is no history of a repository at that place."""

    code = ExitCode.USAGE


class Repository:
    """Ask the repository that a directory is in; `prefix` is the directory's own path within it, `/` at its end."""

    def __init__(self, directory: Path) -> None:
        if not directory.is_dir():
            raise NoHistory(f"{directory}: there is no such directory")
        program = shutil.which("git")
        if program is None:
            raise GitProblem("git is not installed or not on the PATH; the history of flow files is read with it")
        self.directory = directory
        self._program = os.path.abspath(program)
        self.prefix = self.ask("rev-parse", "--show-prefix").removesuffix(b"\n")
        head = self.ask("rev-parse", "--verify", "--quiet", "HEAD^{commit}", fails=(1, 128)).decode().strip()
        if not head:
            raise NoHistory(f"{directory}: this repository has no commits yet, so there are no edits to read")
        self.head = head
        self.is_shallow = self.ask("rev-parse", "--is-shallow-repository").strip() == b"true"
        promised = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        self.is_partial = bool(self.ask("config", "--local", "--get-regexp", promised, fails=(1,)).strip())

    def ask(self, *arguments: str | bytes, stdin: bytes = b"", fails: tuple[int, ...] = ()) -> bytes:
        """Return what git prints; exit codes of `fails` are answers too. Raises `GitProblem`."""
        settings = [part for key, value in _SETTINGS.items() for part in ("-c", f"{key}={value}")]
        command = [self._program, "--no-pager", *settings, *arguments]
        try:
            ended = subprocess.run(
                command, cwd=self.directory, input=stdin, capture_output=True, env=environment(), check=False
            )
        except OSError as error:
            raise GitProblem(f"{self._program}: cannot be run ({error.strerror or type(error).__name__})") from error
        if ended.returncode and ended.returncode not in fails:
            raise _explained(ended.stderr.decode("utf-8", "replace"), self.directory)
        return ended.stdout

    def boundary(self) -> frozenset[str]:
        """Return the commits behind which a shallow clone knows nothing."""
        if not self.is_shallow:
            return frozenset()
        named = self.ask("rev-parse", "--git-path", "shallow").removesuffix(b"\n")
        try:
            return frozenset((self.directory / os.fsdecode(named)).read_text("ascii").split())
        except (OSError, ValueError) as error:
            raise GitProblem(f"{self.directory}: what its shallow clone left out cannot be read") from error


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name not in _LOCALE}
    return kept | _ENVIRONMENT


def _explained(said: str, directory: Path) -> GitProblem:
    if "dubious ownership" in said:
        trusted = shlex.quote(str(directory.resolve()))
        return GitProblem(
            f"{directory}: git does not trust this repository, for it belongs to another user;"
            f" if you do: git config --global --add safe.directory {trusted}"
        )
    if "not a git repository" in said:
        return NoHistory(f"{directory}: not a git repository; name the one with the flow files with --repo")
    if "promisor" in said or "lazy fetching" in said:
        return GitProblem(
            f"{directory}: this partial clone lacks parts of its history; clone it whole, or with --filter=blob:none"
        )
    first = next((line for line in said.split("\n") if line.strip()), "it gave no reason")
    return GitProblem(f"{directory}: git cannot read this repository: {first.removeprefix('fatal: ')}")


# Read which commits a repository knows, on whatever branch, and what each of them contains.
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


# Match the files of a repository to flows, by patterns such as `flows/{flow}.*`.
#
# `{flow}` is the flow's name, `*` and `?` for letters of one name of a file or directory, `**`
# for any number of directories. Everything else means itself. Paths are bytes, as git has them.
_PARTS = re.compile(rb"\{flow\}|\*+|\?|[^*?{]+|\{")
_GIT_SPECIAL = re.compile(rb"([\\\[*?])")


class BadPattern(UsageError):
    """Refuse a pattern that cannot name the files of flows; the message shows why."""


@dataclass(frozen=True, slots=True)
class FlowPattern:
    """Match files to flows by one pattern; `pathspec` selects in git at least the files that it matches."""

    pathspec: bytes
    expression: re.Pattern[bytes]

    def flow_of(self, path: bytes) -> str | None:
        """Return the flow that a file belongs to; bytes of its name that are no text are spelled out."""
        found = self.expression.fullmatch(path)
        return readable(found["flow"]) if found else None


def flow_of(patterns: Sequence[FlowPattern], path: bytes) -> str | None:
    """Return the flow that a file belongs to by the first pattern that matches it."""
    return next((flow for pattern in patterns if (flow := pattern.flow_of(path)) is not None), None)


def parse_pattern(text: str, prefix: bytes = b"") -> FlowPattern:
    """Read a pattern; `prefix` is the directory within the repository that it counts from, `/` at its end.

    Raises `BadPattern`.
    """
    names = os.fsencode(text).removeprefix(b"./").split(b"/")
    if b"{flow}" not in b"/".join(names):
        raise BadPattern("it needs {flow} in the place of the flow's name, such as 'flows/{flow}.*'")
    if any(name in (b"", b".", b"..") for name in names) or b"\0" in b"".join(names):
        raise BadPattern("it has to be a path from the repository's directory down, such as 'flows/{flow}.*'")
    expression, has_flow = re.escape(prefix), False
    for place, name in enumerate(names):
        is_last = place == len(names) - 1
        if name == b"**":
            expression += b".+" if is_last else b"(?:.*/)?"
            continue
        part, has_flow = _expression(name, has_flow)
        expression += part + (b"" if is_last else b"/")
    asked = b"/".join(map(_in_git, names))
    return FlowPattern(b":(top,glob)" + _escaped(prefix) + asked, re.compile(expression, re.DOTALL))


def literal(path: bytes) -> bytes:
    """Return the pathspec of one file and no other."""
    return b":(top,literal)" + path


def readable(data: bytes) -> str:
    """Return bytes from git as text, those that are none spelled out."""
    return data.decode("utf-8", "backslashreplace")


def _expression(name: bytes, has_flow: bool) -> tuple[bytes, bool]:
    found = b""
    for part in _PARTS.findall(name):
        if part == b"{flow}":
            found += b"(?P=flow)" if has_flow else b"(?P<flow>[^/]+)"
            has_flow = True
        elif part.startswith(b"*"):
            found += b"[^/]*"
        else:
            found += b"[^/]" if part == b"?" else re.escape(part)
    return found, has_flow


def _in_git(name: bytes) -> bytes:
    if name == b"**":
        return name
    parts = _PARTS.findall(name)
    return b"".join(
        b"*" if part == b"{flow}" or part.startswith(b"*") else part if part == b"?" else _escaped(part)
        for part in parts
    )


def _escaped(text: bytes) -> bytes:
    return _GIT_SPECIAL.sub(rb"\\\1", text)
