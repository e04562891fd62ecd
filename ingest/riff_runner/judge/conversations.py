"""Find the conversations that are to be judged, and read them again when their turn comes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from riff_ingest.conversation import Conversation
from riff_ingest.lines import BrokenInput
from riff_ingest.source import ReadContext, Source, run_of
from riff_ingest.sources.registry import detect, find_inputs, source_of
from riff_runner.judge.evidence import can_be_judged
from riff_runner.judge.protocol import ConversationName, Signature
from riff_runner.judge.retry import CallToJudge
from riff_store.facts import Skipped

Place: TypeAlias = tuple[int, int]
"""The number of a file, and of a line in it."""


@dataclass(slots=True)
class FoundConversations:
    """Keep the place of each conversation that can be judged, in the order of files and lines, and count the others."""

    files: tuple[Path, ...] = ()
    places: dict[ConversationName, Place] = field(default_factory=dict)
    errored: int = 0
    without_text: int = 0
    unreadable: int = 0


def find_conversations(paths: Iterable[str | os.PathLike[str]]) -> FoundConversations:
    """Look through transcripts; of two that are the same call the later counts, as in an ingest."""
    files = tuple(path for path in find_inputs(paths).files if _source(path))
    found = FoundConversations(files)
    left_out: dict[ConversationName, str] = {}
    for number, path in enumerate(files):
        for each in _read(path):
            if isinstance(each, Skipped):
                found.unreadable += each.kind == "skipped"
                continue
            line, call = each
            name = _name(call)
            found.places.pop(name, None)
            left_out.pop(name, None)
            if call.is_excluded():
                left_out[name] = "errored"
            elif not can_be_judged(call.turns):
                left_out[name] = "silent"
            else:
                found.places[name] = number, line
    reasons = list(left_out.values())
    found.errored, found.without_text = reasons.count("errored"), reasons.count("silent")
    return found


def spread(names: list[ConversationName], limit: int | None) -> list[ConversationName]:
    """Return at most `limit` of the names, evenly over all of them."""
    if limit is None or limit >= len(names):
        return names
    return [names[place * len(names) // limit] for place in range(limit)]


def read_conversations(found: FoundConversations, names: Iterable[ConversationName]) -> Iterator[CallToJudge]:
    """Yield the conversations of these names, one at a time; one that is no longer in its place is left out."""
    wanted: dict[int, dict[int, ConversationName]] = {}
    for name in names:
        number, line = found.places[name]
        wanted.setdefault(number, {})[line] = name
    for number, lines in sorted(wanted.items()):
        last = max(lines)
        for each in _read(found.files[number]):
            if isinstance(each, Skipped):
                continue
            line, call = each
            if lines.get(line) == _name(call):
                yield CallToJudge(lines[line], call.turns)
            if line >= last:
                break


def _read(path: Path) -> Iterator[tuple[int, Conversation] | Skipped]:
    """Yield the conversations of a file, each with its line or else its ordinal, and what was left out."""
    source = _source(path)
    for ordinal, item in enumerate(source.items(path, ReadContext()) if source else (), start=1):
        if isinstance(item, Skipped):
            yield item
            continue
        line, call = item if isinstance(item, tuple) else (ordinal, item)
        if isinstance(call, Conversation):
            call.run_id = call.run_id or run_of(path)
            yield line, call


def _source(path: Path) -> Source | None:
    """Return the source of a file that has what was said in calls, `None` for any other input."""
    try:
        source = source_of(detect(path).kind or "")
    except BrokenInput:
        return None
    return source if source is not None and source.directory is None and source.keeps_text else None


def _name(call: Conversation) -> ConversationName:
    return ConversationName(call.run_id or "", call.conversation_id, call.flow, call.agent_model, call.trial)


def decided(
    said: Iterable[tuple[ConversationName, Signature]], calls: Iterable[ConversationName]
) -> set[tuple[ConversationName, Signature]]:
    """Return which call each verdict is of; one that may be of none or of several calls has none."""
    by_id: dict[tuple[str, str], list[ConversationName]] = {}
    for call in calls:
        by_id.setdefault(call.id, []).append(call)
    found = set()
    for name, signature in said:
        fitting = [call for call in by_id.get(name.id, ()) if name.may_be(call)]
        if len(fitting) == 1:
            found.add((fitting[0], signature))
    return found
