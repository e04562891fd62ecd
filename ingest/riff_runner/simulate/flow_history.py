"""Make the demo's git repository of flow files: the same commits wherever it is made (demo/history.toml)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib import resources
from pathlib import Path

import msgspec

from riff_ingest.edits import GitProblem, NoHistory, Repository, environment
from riff_runner.simulate.flow_file import flow_names

PATTERNS = ("flows/{flow}.toml", "prompts/{flow}.md")
"""The files of the repository that are of a flow."""

_MAIN = "main"
# A repository of a team does not show which weaknesses were planted in its flows.
_PLANTED = re.compile(r"^\[\[planted\]\]\n(?:[^\[\n].*\n)+\n?", re.MULTILINE)
_OURS_ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe what a commit changes in a file: `old` becomes `new`, which is added at the end if nothing is old."""

    file: str
    new: str
    old: str = ""


class FlowCommit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe a commit; the first contains all files as they were written down."""

    at: datetime
    author: str
    subject: str
    branch: str = _MAIN
    changes: list[Change] = []


class FlowHistory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe the repository: files beside the built-in flows, and its commits in order of time."""

    files: dict[str, str]
    commits: list[FlowCommit]


def write_flow_history(folder: Path) -> None:
    """Write the repository into a folder, unless it has a history already.

    Raises `GitProblem` if git is missing or refuses; the files are there all the same.
    """
    if _has_history(folder):
        return
    text = resources.files(__package__).joinpath("demo", "history.toml").read_bytes()
    history = msgspec.toml.decode(text, type=FlowHistory)
    first = _first_files(history)
    *_, last = (files for commit, files in _versions(history, first) if commit.branch == _MAIN)
    for name, content in last.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).unlink(missing_ok=True)  # never write through a link
        (folder / name).write_text(content, encoding="utf-8", newline="\n")
    _commit(folder, b"".join(_import_stream(history, first)))


def _has_history(folder: Path) -> bool:
    if not (folder / ".git").exists():  # a repository around the folder is somebody's own
        return False
    try:
        Repository(folder)
    except NoHistory:
        return False
    return True


def _first_files(history: FlowHistory) -> dict[str, str]:
    builtin = resources.files(__package__).joinpath("flows")
    flows = {
        f"flows/{name}.toml": _PLANTED.sub("", builtin.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
        for name in flow_names()
    }
    return history.files | flows


def _versions(history: FlowHistory, first: Mapping[str, str]) -> Iterator[tuple[FlowCommit, dict[str, str]]]:
    """Yield each commit with the files as it leaves them; a branch goes off from where main is."""
    files = dict(first)
    for commit in history.commits:
        left = dict(files)
        for change in commit.changes:
            text = left[change.file]
            left[change.file] = text.replace(change.old, change.new, 1) if change.old else text + change.new
        yield commit, left
        if commit.branch == _MAIN:
            files = left


def _import_stream(history: FlowHistory, first: Mapping[str, str]) -> Iterator[bytes]:
    """Yield what `git fast-import` makes the commits of."""
    before: tuple[int, Mapping[str, str]] | None = None
    for mark, (commit, files) in enumerate(_versions(history, first), start=1):
        who = f"{commit.author} <{commit.author.split()[0].lower()}@example.org> {commit.at.timestamp():.0f} +0000"
        yield f"commit refs/heads/{commit.branch}\nmark :{mark}\nauthor {who}\ncommitter {who}\n".encode()
        yield _data(commit.subject)
        if before is not None:
            yield f"from :{before[0]}\n".encode()
        known = {} if before is None else before[1]
        for name, content in sorted(files.items()):
            if known.get(name) != content:
                yield f"M 100644 inline {name}\n".encode() + _data(content)
        if commit.branch == _MAIN:
            before = mark, files


def _data(text: str) -> bytes:
    content = text.encode()
    return b"data %d\n%s\n" % (len(content), content)


def _commit(folder: Path, stream: bytes) -> None:
    git = shutil.which("git")
    if git is None:
        raise GitProblem("git is not installed or not on the PATH")
    for arguments, given in (
        (("init", "--quiet", "--template="), b""),
        (("symbolic-ref", "HEAD", f"refs/heads/{_MAIN}"), b""),
        (("fast-import", "--quiet", "--force"), stream),
        (("reset", "--quiet"), b""),
    ):
        ended = subprocess.run(
            [os.path.abspath(git), *arguments],
            cwd=folder,
            input=given,
            capture_output=True,
            env=environment() | _OURS_ALONE,
            check=False,
        )
        if ended.returncode:
            said = ended.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            raise GitProblem(f"git {arguments[0]}: {said or 'it gave no reason'}")
