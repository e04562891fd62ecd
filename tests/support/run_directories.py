"""Write run directories as a run leaves them, call by call and at chosen moments."""

from __future__ import annotations

import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.surface.ingest import PROGRESS_FILE, SCHEMA
from tests.surface.runner import Invocation, RunDocument, RunSettings, RunSide, write_run

BEGAN = 4_088_934_000.0
"""When the runs begin, 2099-07-28T15:00:00Z in seconds since the epoch: later than the process that plays them."""


def stamp(moment: float) -> str:
    """Return a moment as runs write it."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class RunDirectory:
    """Play the process that works on a run: this one, which is alive, unless another `pid` is given."""

    def __init__(
        self,
        path: Path,
        planned: int = 12,
        flows: tuple[str, ...] = ("dental", "pizza"),
        *,
        agent: str = "acme",
        began: float = BEGAN,
        pid: int | None = None,
    ) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        started = stamp(began)
        self.document = RunDocument(
            run_id=path.name,
            created_at=started,
            settings=RunSettings(
                agent=RunSide(kind="python", name=agent), caller=RunSide(kind="scripted", name="scripted"), flows=flows
            ),
            planned=planned,
            invocations=[Invocation(started_at=started, pid=pid or os.getpid(), host=socket.gethostname())],
        )
        self._write()

    def end(self, moment: float, how: Any = "done") -> None:
        """Report that the process ended."""
        self.document.invocations[-1].ended_at = stamp(moment)
        self.document.invocations[-1].ended = how
        self._write()

    def progress(self, call: str, status: str, moment: float, flow: str = "dental", **more: Any) -> None:
        """Add a line to the progress of a call."""
        line = {"t": stamp(moment), "conversation_id": call, "flow": flow, "status": status, "since": stamp(moment)}
        self._append(PROGRESS_FILE, line | more)

    def finish(self, call: str, moment: float, flow: str = "dental", **more: Any) -> None:
        """Add the line of a call that is over to its transcript, and say so."""
        line: dict[str, Any] = {"schema": SCHEMA, "conversation_id": call, "flow": flow, "run_id": self.path.name}
        line |= {"agent_model": "acme", "started_at": stamp(moment - 30), "completed": True, "caller": "scripted"}
        line |= {"turns": [{"role": "agent", "text": "Hello"}, {"role": "caller", "text": "My phone is 555 0100"}]}
        self._append(f"flow-transcripts-{flow}.jsonl", line | more)
        self.progress(call, "errored" if more.get("errored") else "done", moment, flow)

    def _write(self) -> None:
        write_run(self.path, self.document)

    def _append(self, name: str, line: dict[str, Any]) -> None:
        with (self.path / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
