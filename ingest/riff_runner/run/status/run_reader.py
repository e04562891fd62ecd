"""Read a run directory again and again, each time only what was added to it."""

from __future__ import annotations

import contextlib
import heapq
import os
import socket
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from riff_ingest.sources.transcripts import PROGRESS_FILE, RUN_FILE
from riff_runner.run.files.progress_file import OVER
from riff_runner.run.files.run_document import Invocation, RunDocument, read_run
from riff_runner.run.status.run_status import CallCounts, RunPhase, RunStatus, WatchedCall
from riff_runner.run.status.tallies import (
    LONGEST_LINE,
    ProgressTally,
    TranscriptTally,
    counted,
    last_words,
    line_at,
    seconds,
)


class RunReader:
    """Read a run directory; raises `UsageError` if its `run.json` is none.

    What is kept of a call is a few words, so that a run of 100,000 calls can be watched.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._transcripts = TranscriptTally(directory, "", "")
        self._progress = ProgressTally(directory / PROGRESS_FILE)

    def is_worked_on(self, now: float) -> bool:
        """Return whether a process works on the run; only what describes the run is read for that."""
        document = read_run(self.directory)
        return document is not None and self._has_process(document, now)

    def read(self, now: float) -> RunStatus | None:
        """Return where the run is at a time, in seconds since the epoch; `None` if there is no run."""
        document = read_run(self.directory)
        if document is None:
            return None
        agent, caller = document.settings.agent.name, document.settings.caller.name
        if (self._transcripts.agent, self._transcripts.caller) != (agent, caller):
            self._transcripts = TranscriptTally(self.directory, agent, caller)
        self._transcripts.read()
        self._progress.read()
        return self._status(document, now)

    def calls(self, status: RunStatus, most: int, since: float | None = None) -> tuple[list[WatchedCall], bool]:
        """Return calls of the status that was read last, and whether there are more of them.

        Those under way come first, then errored ones, then the others, the one that ended last first. `since` leaves
        those that changed after a time.
        """
        chosen = (call for call in self._all_calls(status) if since is None or (call.changed_at or 0.0) > since)
        found = heapq.nsmallest(most + 1, chosen, key=_order)
        return found[:most], len(found) > most

    def last_words(self, call: WatchedCall) -> tuple[str, str] | None:
        """Return who spoke last in a call that is over, and what they said."""
        finished = self._transcripts.finished.get((call.flow, call.conversation_id))
        if finished is None or call.status not in OVER:
            return None
        return last_words(line_at(finished.place.path, finished.place.start, LONGEST_LINE))

    def _status(self, document: RunDocument, now: float) -> RunStatus:
        last = document.invocations[-1] if document.invocations else None
        is_running = self._has_process(document, now)
        finished = self._transcripts.finished
        under_way = [
            # A call's line may be there before its progress shows it.
            call
            for key, call in self._progress.under_way.items()
            if key not in finished or finished[key].errored
        ]
        if not is_running:
            under_way = [replace(call, status="dropped") for call in under_way]
        flows = self._by_flow([*document.settings.flows, *sorted(document.flows)], under_way)
        counts = CallCounts()
        for of_flow in flows.values():
            counts = counts.plus(of_flow)
        phase: RunPhase = "running" if is_running else "ended" if counts.done >= document.planned else "stopped"
        agent, caller = document.settings.agent, document.settings.caller
        return RunStatus(
            run_id=document.run_id,
            directory=self.directory,
            as_of=now,
            phase=phase,
            agent=agent.name,
            caller=caller.name,
            planned=document.planned,
            counts=counts,
            flows=flows,
            under_way=tuple(sorted(under_way, key=_order)),
            rate_per_min=self._progress.rate_per_min(now) if is_running else None,
            agent_tokens=self._transcripts.spent("agent", agent.model or agent.name),
            caller_tokens=self._transcripts.spent("caller", caller.model or caller.name),
            reasons=tuple((+self._transcripts.reasons).most_common()),
            started_at=seconds(last.started_at) if last is not None else None,
            ending=None if is_running or last is None else last.ended or "killed",
            host=last.host if last is not None else None,
        )

    def _has_process(self, document: RunDocument, now: float) -> bool:
        if not document.invocations:
            return False
        described = _written_at(self.directory / RUN_FILE)
        others = (self.directory / PROGRESS_FILE, *self._transcripts.paths)
        written = max(described, *(_written_at(path) for path in others))
        return is_working(document.invocations[-1], now, described_at=described, written_at=written)

    def _by_flow(self, named: Iterable[str], under_way: Iterable[WatchedCall]) -> dict[str, CallCounts]:
        """Count the calls of each flow; an errored call that is made again is not done."""
        known = self._transcripts.flows
        counts = dict.fromkeys([*named, *sorted(known)], CallCounts()) | known
        for call in under_way:
            found = counts.get(call.flow, CallCounts())
            again = self._transcripts.finished.get((call.flow, call.conversation_id))
            if again is not None and call.status != "dropped":
                found = found.plus(counted(again), -1)
            is_open = {"running": CallCounts(running=1), "retrying": CallCounts(retrying=1)}
            counts[call.flow] = found.plus(is_open.get(call.status, CallCounts()))
        return counts

    def _all_calls(self, status: RunStatus) -> Iterator[WatchedCall]:
        yield from status.under_way
        hidden = {(call.flow, call.conversation_id) for call in status.under_way}
        for key, call in self._transcripts.finished.items():
            if key not in hidden:
                yield WatchedCall(
                    conversation_id=call.conversation_id,
                    flow=call.flow,
                    status="errored" if call.errored else "done",
                    changed_at=self._progress.ended_at.get(key, call.began_at),
                    why=call.error,
                    completed=call.completed,
                )


def _written_at(path: Path) -> float:
    """Return when a file was last written, 0 if there is none."""
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def _order(call: WatchedCall) -> tuple[int, float, str, str]:
    """Put the calls first that wait longest; behind those under way the errored ones, the latest first."""
    place = ("retrying", "running", "dropped", "errored", "done").index(call.status)
    moment = call.changed_at or 0.0
    return place, moment if place < 2 else -moment, call.flow, call.conversation_id


SILENT_SECONDS = 900.0
"""How long a run on another machine may write nothing until it counts as stopped."""
_CLOCK_SLACK = 5.0


def is_working(invocation: Invocation, now: float, *, described_at: float, written_at: float) -> bool:
    """Return whether the process of an invocation works on its run.

    `described_at` is when the run's description was written, which the process does when it begins, `written_at` when
    it wrote last. A process of another machine cannot be asked, so it is taken to work as long as it writes.
    """
    if invocation.ended is not None or invocation.ended_at is not None:
        return False
    if invocation.host != socket.gethostname():
        return now - written_at < SILENT_SECONDS
    return _is_there(invocation.pid) and not _began_after(invocation.pid, described_at)


def _is_there(pid: int) -> bool:
    if not 0 < pid < 1 << 31:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _began_after(pid: int, moment: float) -> bool:
    """Return whether another process got the number since, as far as the system shows."""
    began = None
    with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        booted = next(
            int(line.split()[1]) for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime ")
        )
        began = booted + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return began is not None and began > moment + _CLOCK_SLACK
