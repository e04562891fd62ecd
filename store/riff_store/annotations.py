"""Describe which of the lines that people wrote on calls count, whatever order and however often they were read.

Lines are only ever added. Those that supersede one another make a thread, of which one line is at most; what several
people wrote at once is thus merged without a conflict.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

import msgspec

from riff_store.facts import Annotation

Place: TypeAlias = tuple[int, str]

PASS, FAIL = "pass", "fail"


def new_id() -> str:
    """Return an id that no other note has, those made later in a higher one (RFC 9562, version 7)."""
    stamp, noise = time.time_ns() // 1_000_000, int.from_bytes(os.urandom(10), "big")
    value = (stamp & (1 << 48) - 1) << 80 | 7 << 76 | (noise >> 62 & 0xFFF) << 64 | 2 << 62 | noise & (1 << 62) - 1
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def decisive(one: Annotation, other: Annotation) -> Annotation:
    """Return which of two lines of the same id counts: the one taken back, else the later.

    Of the same time it is the one that shows more of where, so that what other formats leave out is not lost, else the
    one sorted last.
    """
    return max(one, other, key=lambda line: (line.deleted, _at(line), _known_names(line), msgspec.json.encode(line)))


def merged(lines: Iterable[Annotation]) -> dict[str, Annotation]:
    """Return lines by their ids, one of each."""
    found: dict[str, Annotation] = {}
    for line in lines:
        known = found.get(line.id)
        found[line.id] = line if known is None else decisive(known, line)
    return found


def standing(lines: Iterable[Annotation]) -> list[Annotation]:
    """Return the line that counts of each thread, the earliest first; a thread that was taken back has none.

    It is the latest of those that no other one supersedes, by its time and then by its id.
    """
    known = merged(lines)
    replaced = {line.supersedes for line in known.values() if line.supersedes != line.id}
    threads: dict[str, list[Annotation]] = {}
    roots: dict[str, str] = {}
    latest: list[Annotation] = []
    for line in known.values():
        if line.supersedes is None and line.id not in replaced:
            # Most lines are alone in their thread, so it takes no looking for others.
            latest.append(line)
        else:
            threads.setdefault(_root(line.id, known, roots), []).append(line)
    # If the lines of a thread supersede one another in a circle, any of them may count.
    open_ends = ([line for line in thread if line.id not in replaced] or thread for thread in threads.values())
    latest += (max(lines, key=place_in_time) for lines in open_ends)
    return sorted((line for line in latest if not line.deleted), key=place_in_time)


class CodesInUse:
    """Spell the codes of notes that come in as they are in use: in lines that count, else in the first that has it."""

    def __init__(self, lines: Iterable[Annotation]) -> None:
        self._codes = dict.fromkeys(sorted({line.code for line in standing(lines) if line.code}))

    def spelled(self, line: Annotation) -> Annotation:
        """Return a line with its code as it is in use; one that supersedes another may be there to spell it again."""
        if not line.code:
            return line
        code = line.code if line.supersedes else code_in_use(line.code, self._codes)
        self._codes[code] = None
        return line if code == line.code else msgspec.structs.replace(line, code=code)


def code_in_use(code: str, codes: Collection[str]) -> str:
    """Return the code in use that differs from this one in case or blanks alone, else this one."""
    if code in codes:
        return code
    return next((known for known in codes if _folded(known) == _folded(code)), code)


def _folded(code: str) -> str:
    return "".join(code.casefold().split())


def counted(lines: Iterable[Annotation]) -> list[Annotation]:
    """Return what counts of the lines in effect on one call, the earliest first.

    Of an author that is one verdict, the latest, and each code once, where it was given last. A line that only
    repeats what a later one says is left out; remarks all stay.
    """
    found = sorted(lines, key=place_in_time)
    verdicts = {line.author: line.id for line in found if line.verdict is not None}
    codes = {(line.author, line.code): line.id for line in found if line.code is not None}
    kept = (_without_repeats(line, verdicts, codes) for line in found)
    return [line for line in kept if line.verdict or line.code or line.note or line.labels]


def place_in_time(line: Annotation) -> Place:
    """Return what lines are ordered by: their time, those without one first, and then their id."""
    return _at(line), line.id


def _known_names(line: Annotation) -> int:
    return sum(name is not None for name in (line.run, line.flow, line.agent, line.trial, line.turn, line.state))


def _at(line: Annotation) -> int:
    return -1 if line.at is None else line.at


def _root(id: str, known: Mapping[str, Annotation], roots: dict[str, str]) -> str:
    """Return the id that a thread begins with, which may be of a line that is not known; in a circle the lowest."""
    way = list(_way_back(id, known, roots))
    last = way[-1]
    before = known[last].supersedes if last in known else None
    root = roots.get(last) or (min(way[way.index(before) :]) if before in way else last)
    roots.update(dict.fromkeys(way, root))
    return root


def _way_back(id: str, known: Mapping[str, Annotation], roots: Mapping[str, str]) -> Iterator[str]:
    """Yield the ids of a line and of what it supersedes, up to one that is settled, seen or not known."""
    seen: set[str] = set()
    at: str | None = id
    while at is not None and at not in seen:
        seen.add(at)
        yield at
        at = known[at].supersedes if at in known and at not in roots else None


def _without_repeats(line: Annotation, verdicts: Mapping[str, str], codes: Mapping[tuple[str, str], str]) -> Annotation:
    verdict = line.verdict if verdicts.get(line.author) == line.id else None
    code = line.code if line.code is not None and codes.get((line.author, line.code)) == line.id else None
    if verdict == line.verdict and code == line.code:
        return line
    return msgspec.structs.replace(line, verdict=verdict, code=code)
