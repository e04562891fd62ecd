"""Real git repositories with fixed times, made for a test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
DAY = 86_400_000_000
START = int(FIRST.timestamp()) * 1_000_000


class Repo:
    """A repository whose commits lie a day apart unless they say when; `day` of the first is 0."""

    def __init__(self, directory: Path, *options: str) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main", *options)
        self._day = 0

    def git(self, *arguments: str | bytes, day: float | None = None, author: str = "Ada", stdin: bytes = b"") -> str:
        when = (FIRST + timedelta(days=day or 0)).isoformat()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": author,
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Build",
            "GIT_COMMITTER_EMAIL": "build@example.org",
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_DATE": "2026-12-31T00:00:00Z",
        }
        ended = subprocess.run(
            ["git", *arguments], cwd=self.directory, env=environment, input=stdin, capture_output=True, check=True
        )
        return ended.stdout.decode("utf-8", "replace").strip()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def write(self, files: Mapping[str | bytes, str | None]) -> None:
        """Write files, or take those away that map to `None`."""
        for name, content in files.items():
            path = os.path.join(os.fsencode(self.directory), os.fsencode(name))
            if content is None:
                os.unlink(path)
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content.encode())

    def commit(
        self,
        subject: str | bytes,
        files: Mapping[str | bytes, str | None] | None = None,
        *,
        day: float | None = None,
        author: str = "Ada",
        options: Sequence[str] = (),
    ) -> str:
        """Commit everything; returns the commit's id."""
        self.write(files or {})
        if day is None:
            day, self._day = self._day, self._day + 1
        self.git("add", "--all")
        message = subject.encode() if isinstance(subject, str) else subject
        given = ("--allow-empty", "--allow-empty-message", "--file=-", "--cleanup=verbatim", *options)
        self.git("commit", "--quiet", *given, day=day, author=author, stdin=message)
        return self.head()


def flow_text(*changes: str) -> str:
    """A flow's file, of which each change makes a small part."""
    return "\n".join([*(f"state {number} asks, listens and goes on" for number in range(40)), *changes, ""])
