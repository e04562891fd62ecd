"""Say what became of the inputs of an ingest: what each was taken for, and what was not taken, with why."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from riff_tui.text.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from riff_ingest.pipeline import IngestSummary
    from riff_store.facts import FileResult, Unjoined

LISTED_FILES = 24
"""As many inputs as are told one by one; of more the kinds are counted."""

LEFT_OUT = 12
UNKNOWN = "unknown"


def report(summary: IngestSummary, kind: str | None = None) -> Iterator[str]:
    """Yield what became of the input, a line each, the sum last; `kind` is what all of it was to be read as.

    Of many inputs the kinds are counted, and those follow of which not everything was taken, with why.
    """
    if not summary.results:
        yield from _nothing_found()
        yield from _not_looked_at(summary)
        return
    if len(summary.results) <= LISTED_FILES:
        yield from _lines(summary.results)
    else:
        yield from _kinds(summary.results)
        left_out = sorted((each for each in summary.results if each.skipped), key=lambda each: each.kind == UNKNOWN)
        yield from _lines(left_out[:LEFT_OUT])
        if len(left_out) > LEFT_OUT:
            yield f"{'skipped':9}  {'…':11}  of {counted(len(left_out) - LEFT_OUT, 'other file')}"
    yield from _not_looked_at(summary)
    for path, inputs in sorted(summary.run_inputs.items()):
        yield f"{'used':9}  {'with eva':11}  {_shown(path)}: for {counted(inputs, 'conversation')}"
    yield from _replaced(summary)
    yield _nothing_taken(kind) if summary.is_empty else _sum(summary)


def _nothing_found() -> Iterator[str]:
    from riff_ingest.sources.registry import sources

    yield "Nothing to ingest was found there. What can be read, gzipped or not:"
    for source in sources():
        yield f"  {source.kind:12}  {source.known_by}"


def _nothing_taken(kind: str | None) -> str:
    forced = f" With --as {kind} all of it is read as that; without --as each file as what it holds." if kind else ""
    return f"Nothing was taken.{forced}"


def _lines(results: Sequence[FileResult]) -> Iterator[str]:
    """Yield what became of each input; of one that was taken in part why the first was left out follows below."""
    for result in results:
        held, below = ", ".join(_holds([result])), ""
        if result.kind == UNKNOWN:
            held = result.reason or held
        elif result.reason and _became(result) == "skipped":
            held = f"{held} ({result.reason})"
        else:
            below = result.reason
        yield f"{_became(result):9}  {result.kind:11}  {_shown(result.path)}{f': {held}' if held else ''}"
        if below:
            yield f"{'':9}  {'':11}  {below}"


def _shown(path: str) -> str:
    """Return a path from the working directory on, where it lies below."""
    with suppress(OSError):
        return path.removeprefix(os.path.join(os.getcwd(), ""))
    return path


def _became(result: FileResult) -> str:
    """Return what became of an input: one of which only what was left out is known was skipped."""
    taken = result.conversations or result.scores or result.flows or result.annotations or result.replaced
    return "skipped" if result.kind == UNKNOWN or (result.skipped and not taken) else result.status


def _kinds(results: Sequence[FileResult]) -> Iterator[str]:
    """Yield how many inputs of each kind were taken, and what they hold; what is of no kind comes last."""
    groups: dict[tuple[str, str], list[FileResult]] = {}
    for result in results:
        groups.setdefault((result.kind, _became(result)), []).append(result)
    for (kind, became), group in sorted(groups.items(), key=lambda each: (each[0][0] == UNKNOWN, each[0])):
        held = "" if kind == UNKNOWN else ", ".join(_holds(group))
        yield f"{became:9}  {kind:11}  {counted(len(group), 'file')}{f': {held}' if held else ''}"


def _not_looked_at(summary: IngestSummary) -> Iterator[str]:
    if summary.not_looked_at:
        yield f"Not looked at (no input has such a name): {listed([_shown(path) for path in summary.not_looked_at])}."


def _sum(summary: IngestSummary) -> str:
    stored = summary.conversations("taken", "changed")
    scores = counted(summary.scores, "score")
    rest = f", {scores} and {counted(summary.annotations, 'note')}" if summary.annotations else f" and {scores}"
    parts = [f"{counted(stored, 'conversation')}{rest} stored"]
    if summary.count("unchanged"):
        parts.append(f"{counted(summary.count('unchanged'), 'file')} unchanged")
    if summary.skipped:
        parts.append(f"{summary.skipped} skipped (why: riff-tui dump skipped)")
    return f"{', '.join(parts)}."


def _replaced(summary: IngestSummary) -> Iterator[str]:
    """Yield what does not count although it was read, a line each."""
    which = "(which: riff-tui dump skipped)"
    if summary.replaced:
        places = listed([_shown(path) for path in summary.winners]) or "another file"
        calls = counted(summary.replaced, "conversation")
        yield f"{calls} replaced, because the same call stands again in {places} {which}."
    if summary.dropped:
        calls = counted(summary.dropped.total(), "conversation")
        places = listed([_shown(path) for path in summary.dropped])
        yield f"{calls} of earlier files that still hold them ({places}) replaced by the same call in these {which}."
    elif summary.updated:
        yield f"{counted(summary.updated, 'conversation')} of earlier files replaced by the same call in these."
    if any(summary.unjoined):
        scores = counted(sum(summary.unjoined), "score")
        yield f"{scores} in the store joined to no call: {', '.join(_unjoined(summary.unjoined))} {which}."
    if summary.waiting_notes:
        yield _waiting(summary.waiting_notes)


def _waiting(notes: int) -> str:
    wait = "waits for its call" if notes == 1 else "wait for their calls"
    return f"{counted(notes, 'note')} in the store {wait} (which: riff-tui dump skipped)."


def _unjoined(scores: Unjoined) -> Iterator[str]:
    if scores.waiting:
        yield f"{scores.waiting} {'waits for its call' if scores.waiting == 1 else 'wait for their calls'}"
    if scores.ambiguous:
        yield f"{scores.ambiguous} {'has an id' if scores.ambiguous == 1 else 'have ids'} that may be of several calls"


def _holds(results: Sequence[FileResult]) -> list[str]:
    nouns = ("conversation", "score", "flow", "note")
    counts = (
        sum(result.conversations for result in results),
        sum(result.scores for result in results),
        sum(result.flows for result in results),
        sum(result.annotations for result in results),
    )
    held = [counted(count, noun) for count, noun in zip(counts, nouns, strict=True) if count]
    for key, word in (("replaced", "replaced"), ("rerun", "run again"), ("skipped", "skipped"), ("noted", "noted")):
        count = sum(getattr(result, key) for result in results)
        held += [f"{count} {word}"] if count else []
    return held
