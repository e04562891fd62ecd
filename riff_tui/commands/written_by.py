"""Find out who stores calls: whom the settings name, else the CI job, else the user of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping

LONGEST = 200
_JOBS = ("CI_JOB_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL", "BUILD_URL")
"""The variables in which GitLab, Buildkite, CircleCI and Jenkins say where a job can be looked at."""
_GITHUB = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")


def written_by(setting: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Return who stores calls, in a line; `setting` is whom the environment or the settings file names, if anyone."""
    from riff_store.location import without_secrets
    from riff_tui.notes.author import user
    from riff_tui.notes.words import clean

    environ = os.environ if environ is None else environ
    named = clean(setting or "", LONGEST)
    if named:
        return named
    job = next((environ[name] for name in _JOBS if environ.get(name)), "")
    if all(environ.get(name) for name in _GITHUB):
        server, repository, run = (environ[name] for name in _GITHUB)
        job = f"{server}/{repository}/actions/runs/{run}"
    return clean(without_secrets(job), LONGEST) or clean(f"{user()}@{_host()}", LONGEST)


def _host() -> str:
    import socket

    return socket.gethostname().partition(".")[0]
