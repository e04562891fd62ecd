"""Make a run: prepare it, make its calls, keep them, and say how it ended."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Conversation
from riff_runner.run.agent_call import CallProgress
from riff_runner.run.call import CallSetting, MadeCall
from riff_runner.run.files.progress_file import ProgressFile
from riff_runner.run.files.run_document import Invocation, InvocationEnd, RunDocument, write_run
from riff_runner.run.files.run_files import RunFiles
from riff_runner.run.loop import LoopHooks, RunLoop
from riff_runner.run.protocol import EndpointRefused
from riff_runner.run.run_plan import RunPlan, RunRequest, plan_run
from riff_runner.run.run_tally import RunTally


@dataclass(frozen=True, slots=True)
class RunEnd:
    """Hold what came of a run: `error` ended it early, `signal` did, or neither.

    `conversations` are those of a run without a directory, `cut` the bytes of unfinished lines that were cut off.
    """

    plan: RunPlan
    tally: RunTally
    error: Exception | None = None
    signal: int | None = None
    conversations: tuple[Conversation, ...] = ()
    cut: dict[Path, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunHooks:
    """Tell others of a run: that it begins, that time goes by, and that it will stop; `beside` runs along with it."""

    began: Callable[[RunPlan, RunTally], None] = lambda plan, tally: None
    tick: Callable[[], None] = lambda: None
    stopped: Callable[[], None] = lambda: None
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None


def make_run(request: RunRequest, hooks: RunHooks | None = None) -> RunEnd:
    """Make the calls of a run that are due, and keep each as soon as it ended.

    Nothing is written before agent and caller were found to be reachable. Raises `UsageError`, `EndpointRefused` where
    one of them is not, `OutputError` and `OSError`; what ends the run later is in what is returned.
    """
    hooks = hooks or RunHooks()
    plan = plan_run(request)
    tally = RunTally(plan.document.planned, plan.before)
    if not plan.due:
        hooks.began(plan, tally)
        return RunEnd(plan, tally)
    kept = _InMemory() if request.out is None else _InDirectory(request.out, sync=request.sync)
    setting = CallSetting(request.agent, request.caller, request.tools, request.limits, request.clock, kept.report)
    with RunLoop(setting, tally, at_once=request.settings.concurrency, in_order=request.in_order) as loop:
        hints = loop.check()
        with ExitStack() as stack:
            stack.callback(kept.close)
            kept.open()
            if request.out is not None:  # another process may have gone on with it until this one held it
                plan = plan_run(request)
                tally.planned, tally.before = plan.document.planned, plan.before
            invocation = Invocation(started_at=request.clock.now(), pid=os.getpid(), host=socket.gethostname())
            plan.document.invocations.append(invocation)
            kept.describe(plan.document)
            hooks.began(replace(plan, warnings=(*plan.warnings, *hints)), tally)

            def tick() -> None:
                kept.flush()
                hooks.tick()

            def keep(made: MadeCall) -> None:
                kept.keep(_stamped(made, plan.document))

            loop.make(plan.due, keep, LoopHooks(tick, hooks.stopped, hooks.beside))
            invocation.calls, invocation.errored = tally.total.calls, tally.total.errored
            invocation.ended_at, invocation.ended = request.clock.now(), _ended(loop)
            _describe_end(kept, plan.document, loop)
    return RunEnd(plan, tally, loop.error, loop.signal, tuple(kept.conversations), kept.cut)


def _stamped(made: MadeCall, document: RunDocument) -> MadeCall:
    call = made.conversation
    call.run_id = document.run_id
    call.run_label, call.commit, call.branch = document.label, document.commit, document.branch
    return made


def _describe_end(kept: _InMemory, document: RunDocument, loop: RunLoop) -> None:
    try:
        kept.describe(document)
    except OSError as error:
        loop.error = loop.error or error


def _ended(loop: RunLoop) -> InvocationEnd:
    if loop.error is not None:
        return "refused" if isinstance(loop.error, EndpointRefused) else "failed"
    return "done" if loop.signal is None else "interrupted"


class _InMemory:
    """Keep the calls of a run for whoever made it."""

    def __init__(self) -> None:
        self.conversations: list[Conversation] = []
        self.cut: dict[Path, int] = {}

    def open(self) -> None:
        """Need nothing."""

    def describe(self, document: RunDocument) -> None:
        """Say nothing of the run, for there is no place for it."""

    def keep(self, made: MadeCall) -> None:
        """Keep a call."""
        self.conversations.append(made.conversation)

    def report(self, progress: CallProgress) -> None:
        """Say nothing of a call, for nobody watches."""

    def flush(self) -> None:
        """Hold nothing back."""

    def close(self) -> None:
        """Hold nothing."""


class _InDirectory(_InMemory):
    """Keep the calls of a run in files, and say there where each call stands."""

    def __init__(self, directory: Path, *, sync: bool) -> None:
        super().__init__()
        self._directory = directory
        self._sync = sync
        self._files: RunFiles | None = None
        self._progress: ProgressFile | None = None

    def open(self) -> None:
        self._files = RunFiles(self._directory, sync=self._sync)
        self.cut = self._files.cut
        self._progress = ProgressFile(self._directory)

    def describe(self, document: RunDocument) -> None:
        write_run(self._directory, document)

    def keep(self, made: MadeCall) -> None:
        assert self._files is not None
        self._files.keep(made)

    def report(self, progress: CallProgress) -> None:
        if self._progress is not None:
            self._progress.report(progress)

    def flush(self) -> None:
        if self._progress is not None:
            self._progress.flush()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.close()
        if self._files is not None:
            self._files.close()
