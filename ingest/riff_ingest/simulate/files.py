"""Write a simulation as the files that a night of evaluation leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from riff_ingest.simulate.call import SimulatedCall
from riff_ingest.simulate.cast import SimulatedRun
from riff_ingest.simulate.flow_file import Planted, planted
from riff_ingest.simulate.judges import JUDGES, verdicts
from riff_ingest.simulate.suite import DEFAULT_CONVERSATIONS, Suite, plan
from riff_ingest.transcript_writer import LineFile, transcript_document

REPORT_EVERY = 100


@dataclass(frozen=True, slots=True)
class SimulationSummary:
    """Hold what a simulation wrote, and the weaknesses of its flows that are to be found in it."""

    files: tuple[Path, ...]
    conversations: int
    planted: tuple[Planted, ...]


def simulate(
    out: Path,
    *,
    flows: Sequence[str] | None = None,
    conversations: int = DEFAULT_CONVERSATIONS,
    seed: int = 0,
    run: SimulatedRun | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SimulationSummary:
    """Write `RUN/flow-transcripts-FLOW.jsonl` and `RUN/humanness-JUDGE.jsonl` below `out`.

    The same arguments give the same bytes. With `run` there is that one instead of the ten of the
    demo. `progress` is told how many conversations are done, and
    of how many. Raises `UsageError` for an unknown flow, `OSError` where a file cannot be written
    or a run's directory is a link.
    """
    suite = plan(flows, conversations, seed, run)
    report = _Progress(progress, conversations)
    files: list[Path] = []
    for night in suite.runs:
        files += _write_run(out, suite, night, report)
    report.end()
    return SimulationSummary(tuple(files), report.done, tuple(planted(suite.flows)))


def _write_run(out: Path, suite: Suite, run: SimulatedRun, report: _Progress) -> list[Path]:
    written: list[Path] = []
    judged_at = suite.judged_at(run)
    with ExitStack() as judging:
        scores: list[LineFile] = []
        for flow in suite.flows:
            cases = suite.cases(run, flow)
            first = next(cases, None)
            if first is None:
                continue
            if not scores:
                folder = _folder(out, run)
                scores += [
                    judging.enter_context(LineFile(folder / f"humanness-{judge.name}.jsonl")) for judge in JUDGES
                ]
            with LineFile(folder / f"flow-transcripts-{flow}.jsonl") as lines:
                for case in chain((first,), cases):
                    conversation = SimulatedCall(case).play()
                    lines.write(transcript_document(conversation))
                    for file, verdict in zip(scores, verdicts(conversation, suite.seed, judged_at), strict=True):
                        file.write(verdict)
                    report.step()
            written.append(lines.path)
    return [*written, *(file.path for file in scores)]


def _folder(out: Path, run: SimulatedRun) -> Path:
    folder = out / run.id
    if folder.is_symlink():
        raise OSError(f"{folder} is a link; not writing through it")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class _Progress:
    def __init__(self, tell: Callable[[int, int], None] | None, total: int) -> None:
        self._tell = tell
        self._total = total
        self.done = 0

    def step(self) -> None:
        self.done += 1
        if self._tell is not None and self.done % REPORT_EVERY == 0:
            self._tell(self.done, self._total)

    def end(self) -> None:
        if self._tell is not None and self.done % REPORT_EVERY:
            self._tell(self.done, self._total)
