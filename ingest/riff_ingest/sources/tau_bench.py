"""Read the results of the first tau-bench: a list of trajectories with their rewards (docs/formats/tau-bench.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.source import FileHead, ReadContext, ReadItem, Source

_KEYS = ("task_id", "reward", "info", "traj")


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a file, and what had to be left out; never raises on what they have."""
    from riff_ingest.sources.tau.trajectories import read_trajectories

    return read_trajectories(path, context.tool_segments, _is_result)


def _is_result(value: Any) -> bool:
    if not isinstance(value, Mapping) or not all(key in value for key in _KEYS):
        return False
    reward, info, messages = value["reward"], value["info"], value["traj"]
    if isinstance(reward, bool) or not isinstance(reward, int | float) or not isinstance(info, Mapping):
        return False
    if not isinstance(messages, list) or not all(isinstance(each, Mapping) and "role" in each for each in messages):
        return False
    return "error" in info or ("task" in info and bool(messages))


def _recognises(head: FileHead) -> str | None:
    if b'"traj"' not in head.start and b'"info"' not in head.start:
        return None
    from riff_ingest.platforms import recognised

    return recognised(head, "tau-bench", _is_result, _is_start)


def _is_start(start: bytes) -> bool:
    """Return whether a file begins with a trajectory, as far as its first call has a task."""
    return all(f'"{key}"'.encode() in start for key in (*_KEYS, "role", "actions", "kwargs"))


SOURCE = Source(
    kind="tau-bench",
    version=2,
    read=read,
    title="Results of the first tau-bench",
    known_by="JSON with task_id, reward, info and traj: one call, a list, or lines",
    recognises=_recognises,
    is_record=_is_result,
    derives_states=True,
    rank=6,
)
