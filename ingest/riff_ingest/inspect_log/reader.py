"""Read a log from its first sample to its last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

from riff_ingest.conversation import Conversation
from riff_ingest.inspect_log.archive import START, Archive
from riff_ingest.inspect_log.happenings import happenings_of
from riff_ingest.inspect_log.header import Header, header_of
from riff_ingest.inspect_log.log import MISSING, ArchiveLog, DocumentLog, Key, Log
from riff_ingest.inspect_log.sample import decode_sample, decode_scores
from riff_ingest.inspect_log.scores import Scales, edits, verdicts
from riff_ingest.inspect_log.to_conversation import conversation_of
from riff_ingest.sources.lenient_json import NOT_FINITE
from riff_ingest.sources.lines import BrokenInput, read_start
from riff_ingest.sources.source import ReadContext
from riff_store.facts import Annotation, JudgedScore, Skipped

EMPTY = "file is empty"
NO_SAMPLES = "the log has no samples"
NEITHER = "it is no log of Inspect AI: neither a zip file nor a JSON object"

Found = tuple[int, Conversation] | JudgedScore | Annotation | Skipped


def read_log(path: Path, context: ReadContext) -> Iterator[Found]:
    """Yield the calls of a log with the places of their samples, the verdicts on them and the edits of these.

    Raises `BrokenInput` where the log as a whole cannot be read.
    """
    with ExitStack() as opened:
        scales = Scales()
        log = _open(path, opened, scales)
        for note in log.notes:
            yield Skipped("defect", None, note)
        header, lines = header_of(log.header), count(1)
        seen: set[Key | None] = set()
        for place, part in enumerate(log.samples(), start=1):
            seen.add(part.key)
            name = part.key[0] if part.key else None
            if part.problem is not None:
                yield Skipped("skipped", None, part.problem, name)
                continue
            try:
                for found in _read_sample(part.data, place, header, scales, context, lines):
                    if isinstance(found, tuple):
                        seen.add((found[1].conversation_id, found[1].trial + 1))
                    yield found
            except BrokenInput as problem:
                yield Skipped("skipped", None, f"sample {place}: {problem.reason}", name)
        listed = log.listed()
        if not seen and not listed:
            yield Skipped("skipped", None, NO_SAMPLES)
        for key in listed:
            if key not in seen:
                yield Skipped("skipped", None, MISSING, key[0])


def _open(path: Path, opened: ExitStack, scales: Scales) -> Log:
    """Open a log, and look at all its scores before the first is taken: a 1 is the best only where none is above it."""

    def survey(sample: bytes) -> None:
        with suppress(BrokenInput):  # reading the sample says so
            scales.learn(decode_scores(sample))

    start = read_start(path).lstrip()
    if start.startswith(START):
        return ArchiveLog(opened.enter_context(Archive(path)), survey)
    if not start.startswith(b"{"):
        raise BrokenInput(NEITHER if start else EMPTY)
    return DocumentLog(path, survey)


def _read_sample(
    data: bytes, place: int, header: Header, scales: Scales, context: ReadContext, lines: Iterator[int]
) -> Iterator[Found]:
    defects: Counter[str] = Counter()
    sample = decode_sample(data, defects)
    happenings = happenings_of(sample)
    call = conversation_of(sample, happenings, header, scales, context.tool_segments)
    call.contract = context.contracts.get(call.flow, call.contract)
    del defects[NOT_FINITE]  # Inspect AI writes NaN for what is unscored
    call.defects = dict(defects)
    yield place, call
    yield from verdicts(sample.scores, call, header, scales, happenings.scored, lines)
    yield from edits(sample.scores, call, scales)
