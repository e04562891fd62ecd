"""Decide what of a run is still to be done, from what its directory has already."""

from __future__ import annotations

import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import msgspec

from riff_runner.protocol import Agent, Caller, CallLimits
from riff_runner.run.cases.case import CallCase, CaseKey
from riff_runner.run.clock import RunClock, SystemClock
from riff_runner.run.files.run_document import RunDocument, RunFlowFile, RunSettings, read_run
from riff_runner.run.files.run_files import kept_calls, transcripts
from riff_runner.run.flows.flow import astray
from riff_runner.run.tools import StubbedTools, Tools
from riff_store.errors import UsageError

_COMPARED: Mapping[str, str] = {
    "agent": "the agent", "caller": "the caller", "tools": "what answers tools", "answered_by": "what answers tools",
    "seed": "the seed", "limits": "the limits", "streamed": "how answers are read",
}  # fmt: skip
_SIDES = ("agent", "caller", "answered_by")
_PARTS: Mapping[str, str] = {
    "kind": "kind", "name": "name", "model": "model", "command": "command", "target": "object", "sha256": "file",
}  # fmt: skip
"""What makes a side another one, by the fields of a `RunSide`; one model may be behind several addresses."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Describe what a run is to be made of; without `out` its calls stay in memory.

    With `resume` calls that `out` has already are not made again, but for errored ones; with `force` also where the
    file of a flow, the agent, the caller or what answers tools has changed since. `sync` forces each call to the disk.
    """

    agent: Agent
    caller: Caller
    cases: Sequence[CallCase]
    settings: RunSettings
    tools: Tools = field(default_factory=StubbedTools)
    limits: CallLimits = field(default_factory=CallLimits)
    clock: RunClock = field(default_factory=SystemClock)
    in_order: bool = False
    out: Path | None = None
    run_id: str | None = None
    label: str | None = None
    commit: str | None = None
    branch: str | None = None
    resume: bool = False
    force: bool = False
    sync: bool = False


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Describe the calls that are to be made, how many there are already, and how many of the due ones were errored."""

    due: tuple[CallCase, ...]
    before: int
    again: int
    document: RunDocument
    warnings: tuple[str, ...] = ()


def plan_run(request: RunRequest) -> RunPlan:
    """Return what is to be done; nothing is written.

    Raises `UsageError` if the directory has something that this run may not be mixed with.
    """
    known = read_run(request.out) if request.out is not None else None
    _refuse_foreign(request, known)
    if request.out is not None and not transcripts(request.out):  # nothing came of it yet
        known = None
    kept = kept_calls(request.out) if known is not None and request.out is not None else {}
    keys = [case.key(request.agent.name, request.caller.name) for case in request.cases]
    _refuse_another_caller(request, kept, keys)
    due = tuple(case for case, key in zip(request.cases, keys, strict=True) if kept.get(key, True))
    document = _document(request, known, {*kept, *keys})
    before = sum(not errored for errored in kept.values())
    again = sum(kept.get(key, False) for key in keys)
    return RunPlan(due, before, again, document, _warnings(request, known))


def _refuse_foreign(request: RunRequest, known: RunDocument | None) -> None:
    out = request.out
    if out is None:
        return
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out: {out} is not a directory")
    if known is None and transcripts(out):
        raise UsageError(
            f"{out} has transcripts, but no run that could continue", "choose another directory with --out"
        )
    if known is None or not transcripts(out):
        return
    if not request.resume:
        raise UsageError(f"{out} has a run already", "go on with it with --resume, or choose another directory")
    if request.run_id not in (None, known.run_id):
        raise UsageError(f"{out} has the run {known.run_id}, not {request.run_id}", "leave --run-id out")
    hint = "run it into another directory, or mix both in one run with --force"
    changed = [name for name, file in _flow_files(request).items() if known.flows.get(name, file).sha256 != file.sha256]
    if changed and not request.force:
        raise UsageError(f"{', '.join(changed)}: the file of the flow has changed since this run began", hint)
    others = _changed_sides(request.settings, known.settings)
    if others and not request.force:
        raise UsageError(f"{'; '.join(others)} since this run began", hint)


def _changed_sides(asked: RunSettings, known: RunSettings) -> list[str]:
    """Return the sides that are others than those of the run, with what of them has changed.

    What was not kept of a run, as of one that an earlier version began, is not a difference.
    """
    found = []
    for side in _SIDES:
        now, then = getattr(asked, side), getattr(known, side)
        if not now or not then:
            continue
        parts = [word for part, word in _PARTS.items() if getattr(then, part) not in (None, getattr(now, part))]
        if parts:
            # If the command is another one, so is its file.
            parts = [word for word in parts if word != "file"] or parts
            words = f"{', '.join(parts[:-1])} and {parts[-1]} have" if parts[1:] else f"{parts[0]} has"
            found.append(f"{_COMPARED[side]} is another one: its {words} changed")
    if asked.tools != known.tools:
        found.append(f"{_COMPARED['tools']} has changed from {known.tools} to {asked.tools}")
    return found


def _refuse_another_caller(request: RunRequest, kept: Collection[CaseKey], keys: Sequence[CaseKey]) -> None:
    """Keep one caller's calls from taking the place of another's: calls do not differ by caller."""
    due = {key._replace(caller="") for key in keys}
    if other := next(
        (key.caller for key in kept if key.caller != request.caller.name and key._replace(caller="") in due), None
    ):
        raise UsageError(
            f"{request.out} has these calls by another caller, {other}",
            f"choose another directory for {request.caller.name} with --out",
        )


def _document(request: RunRequest, known: RunDocument | None, keys: set[CaseKey]) -> RunDocument:
    versions = {"riff-tui": _own_version(), "python": platform.python_version()}
    flows = _flow_files(request)
    if known is None:
        name = request.out.resolve().name if request.out is not None else "run"
        return RunDocument(
            run_id=request.run_id or name,
            label=request.label,
            commit=request.commit,
            branch=request.branch,
            created_at=request.clock.now(),
            settings=request.settings,
            planned=len(keys),
            flows=flows,
            versions=versions,
        )
    return msgspec.structs.replace(
        known,
        label=request.label or known.label,
        commit=request.commit or known.commit,
        branch=request.branch or known.branch,
        settings=request.settings,
        planned=len(keys),
        flows={**known.flows, **flows},
        versions=versions,
    )


def _flow_files(request: RunRequest) -> dict[str, RunFlowFile]:
    flows = {case.flow.name: case.flow for case in request.cases}
    return {name: RunFlowFile(source=flow.source, sha256=flow.digest) for name, flow in flows.items()}


def _warnings(request: RunRequest, known: RunDocument | None) -> tuple[str, ...]:
    flows = {case.flow.name: case.flow for case in request.cases}
    unreached = tuple(hint for flow in flows.values() for hint in astray(flow))
    if known is None:
        return unreached
    differing = (
        words for name, words in _COMPARED.items() if getattr(known.settings, name) != getattr(request.settings, name)
    )
    changed = list(dict.fromkeys(differing))
    files = _flow_files(request)
    changed += [f"the flow {name}" for name, file in files.items() if known.flows.get(name, file).sha256 != file.sha256]
    return (*unreached, *(f"{words} differs from what this run was begun with" for words in changed))


def _own_version() -> str:
    try:
        return metadata.version("riff-tui")
    except metadata.PackageNotFoundError:
        return "unknown"
