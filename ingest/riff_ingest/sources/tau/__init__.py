"""Read the results of tau2-bench and tau3-bench: a run is one input (docs/formats/tau.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Conversation
from riff_ingest.lines import BrokenInput
from riff_ingest.lines import digest as digest_of_file
from riff_ingest.source import FileHead, ReadContext, Source
from riff_store.facts import JudgedScore, Skipped

DISCARDED = "attempts that the benchmark threw away, so they do not count"
NO_INFO = "simulations of tau2-bench without what their run was (info); give the results of the run, or its folder"

_DISCARDED_IN = "hallucination_discarded"
_LISTS = ("tasks", "simulations", "simulation_index")
_COPY = "_simulation.json"
_FOLDERS = frozenset({"simulations", "artifacts"})
_WORDS = (b'"agent_info"', b'"environment_info"', *(b'"%b"' % name.encode() for name in _LISTS))
_OF_A_SIMULATION = ("task_id", "termination_reason")
_OF_INFO = (b'"agent_info"', b'"user_info"', b'"environment_info"')


def read(path: Path, context: ReadContext) -> Iterator[Conversation | JudgedScore | Skipped]:
    """Yield the calls of a run, what judges said about them, and what was left out.

    Raises `BrokenInput` if the file cannot be read any further, after all before it.
    """
    if path.parent.name == _DISCARDED_IN:
        yield Skipped("defect", None, DISCARDED)
        return
    from riff_ingest.sources.tau.results import read_results

    yield from read_results(path, context.tool_segments)


def digest(path: Path) -> tuple[str, int]:
    """Return what represents everything that is read of a run, and its size in bytes; raise `BrokenInput`."""
    if path.name.startswith("results.json"):
        from riff_ingest.sources.tau.results import digest_of_results

        return digest_of_results(path)
    return digest_of_file(path)


def _recognises(head: FileHead) -> str | None:
    start = head.start.lstrip()
    if not start.startswith((b"{", b"[")):
        return None
    is_document = start.startswith(b"{") and not head.is_lines
    if is_document and any(word in start for word in _WORDS) and _is_of_a_run(head.path):
        return "it has the info of a tau2-bench run with its tasks or simulations"
    if all(word.encode() in start for word in _OF_A_SIMULATION) and _holds_simulations(head, start):
        raise BrokenInput(NO_INFO)
    return None


def _holds_simulations(head: FileHead, start: bytes) -> bool:
    """Return whether a file is one simulation, a list of them, or one a line."""
    if start.startswith(b"["):
        listed = head.value
        return isinstance(listed, list) and any(isinstance(each, dict) and _is_one(each) for each in listed[:1])
    if any(map(_is_one, head.records)):
        return True
    from riff_ingest.json_members import Member, read_members

    try:
        found = {member.key for member in read_members(head.path, _OF_A_SIMULATION) if isinstance(member, Member)}
    except BrokenInput:
        return False
    return found.issuperset(_OF_A_SIMULATION)


def _is_one(record: Mapping[str, Any]) -> bool:
    return all(name in record for name in _OF_A_SIMULATION)


def _is_of_a_run(path: Path) -> bool:
    """Return whether a file has what a run was, and a list of its tasks or simulations."""
    from riff_ingest.json_members import Member, read_members

    has_info = has_list = False
    try:
        for member in read_members(path, ("info",), _LISTS):
            if isinstance(member, Member) and member.key == "info":
                has_info = any(word in member.value for word in _OF_INFO)
            elif isinstance(member, Member):
                has_list = True
            if has_info and has_list:
                return True
    except BrokenInput:
        return False
    return False


def _is_company(path: Path) -> bool:
    name = path.name.removesuffix(".gz")
    if name.endswith(_COPY) and path.with_name(name.removesuffix(_COPY) + "_note.json").exists():
        return True  # the copy of a simulation that was written beside a note on it
    # If no folder around a file is named like those of a run, nothing has to be loaded that knows more of them.
    if _FOLDERS.isdisjoint(Path(os.path.abspath(path)).parts):
        return False
    from riff_ingest.sources.tau.results import is_of_a_run

    return is_of_a_run(path)


SOURCE = Source(
    kind="tau",
    version=2,
    read=read,
    title="Results of tau2-bench and tau3-bench",
    known_by="JSON with info, tasks and simulations, or a results.json beside a folder of simulations",
    recognises=_recognises,
    digest_file=digest,
    is_companion=_is_company,
    derives_states=True,
    rank=5,
)
