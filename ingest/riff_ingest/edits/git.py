"""Ask the installed git about a repository that someone may have sent, without letting it run anything.

Git runs programs that a repository's own settings name: hooks, drivers of diffs and filters, monitors of
files, checks of signatures, helpers that fetch what is missing. Only commands that read objects are used
here, each of those ways is shut besides, and nothing of `GIT_*` comes in from the environment.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from riff_store.errors import ExitCode, RiffError
from riff_store.facts import Commit

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
    """Report that git cannot answer; the message says what to do."""


class NoHistory(GitProblem):
    """Report that there is no history of a repository at that place."""

    code = ExitCode.USAGE


class Repository:
    """Ask the repository that a directory lies in; `prefix` is the directory's own path within it, `/` at its end."""

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
                command, cwd=self.directory, input=stdin, capture_output=True, env=_environment(), check=False
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


def _environment() -> dict[str, str]:
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
        return NoHistory(f"{directory}: not a git repository; --repo takes the one that holds the flow files")
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
