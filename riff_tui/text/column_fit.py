"""Fit columns, cells and sentences into a line of so many terminal cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice, pairwise

from riff_tui.text.safe_text import cell_width, ending, fit, padded

ELASTIC_KINDS = frozenset({"name", "text", "object"})
"""Kinds of columns that may be cut; a number that is cut is another number."""

LEAST = 4
"""Letters of a name that are shown if it has them: fewer say nothing."""


def shrink(widths: Sequence[int], least: Sequence[int], excess: int) -> list[int]:
    """Return the widths with `excess` cells fewer, each taken from the column with the most to spare.

    No column gets narrower than its `least` width, so the sum may stay too large.
    """
    found = list(widths)
    for _ in range(excess):
        widest = max(range(len(found)), key=lambda index: found[index] - least[index], default=None)
        if widest is None or found[widest] <= least[widest]:
            break
        found[widest] -= 1
    return found


def fitted(text: str, width: int, ellipsis: str = "…", *, right: bool = False) -> str:
    """Return safe text in exactly `width` cells: cut with an ellipsis if it is longer, else filled with blanks."""
    return padded(fit(text, width, ellipsis), width, right=right)


def hanging(text: str, width: int, indent: int) -> list[str]:
    """Break safe text into lines of at most `width` cells, all but the first of them `indent` cells further right."""
    if cell_width(text) <= width:
        return [text]
    lead = text[: len(text) - len(text.lstrip(" "))]
    first, *rest = wrap(text[len(lead) :], max(1, width - len(lead)))
    further = wrap(" ".join(rest), max(1, width - indent)) if rest else []
    return [lead + first.rstrip(), *(" " * indent + line for line in further)]


def wrap(text: str, width: int) -> list[str]:
    """Break safe text into lines of at most `width` cells, at blanks if there are some.

    Nothing is lost but leading blanks and those at which lines break. The last line may be empty.
    """
    width = max(1, width)
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_width(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        while cell_width(word) > width:
            head = fit(word, width, "") or word[0]
            lines.append(head)
            word = word[len(head) :]
        line = word
    return [*lines, line]


# Shorten the names of a column where they are alike, so that what distinguish them stays in view.
LEAST_PREFIX = 3
"""A shorter beginning is not worth a word about it."""
_COMPARED = 200
_WORD_END = re.compile(r"[\W_]+")


@dataclass(slots=True)
class NameCut:
    """Fit the names of one column into `width` cells, no two of them alike.

    `prefix` is what all of them begin with; it is dropped from each, so it has to be said once. Of a name that is still
    too long the middle is cut, and its last `tail` cells stay; where another name looks like that already, it is cut
    elsewhere, and in the end it has a number behind the ellipsis.
    """

    width: int
    prefix: str = ""
    tail: int = 0
    ellipsis: str = "…"
    _texts: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _names: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _last: int = field(default=1, repr=False, compare=False)

    def text(self, name: str) -> str:
        """Return a name in at most `width` cells."""
        found = self._texts.get(name)
        if found is None:
            ways = (way for way in self._ways(name) if self._names.setdefault(way, name) == name)
            found = self._texts[name] = next(ways, self.usual(name))
        return found

    def usual(self, name: str) -> str:
        """Return a name as it is cut where no other one looks like that."""
        return self._cut(name.removeprefix(self.prefix), self.tail)

    def _cut(self, rest: str, tail: int) -> str:
        room = self.width - cell_width(self.ellipsis)
        if cell_width(rest) <= self.width or room <= 0:
            return fit(rest, self.width, self.ellipsis)
        end = ending(rest, min(tail, room))
        return fit(rest, room - cell_width(end), "") + self.ellipsis + end

    def _ways(self, name: str) -> Iterator[str]:
        yield self.usual(name)
        rest, room = name.removeprefix(self.prefix), self.width - cell_width(self.ellipsis)
        yield from (self._cut(rest, tail) for tail in range(room, 0, -1))
        while (left := room - len(str(self._last + 1))) >= 0:
            self._last += 1
            yield f"{fit(rest, left, '')}{self.ellipsis}{self._last}"


def name_cut(names: Iterable[str], width: int, ellipsis: str = "…", most: int | None = None) -> NameCut:
    """Return how to show safe names in `width` cells: whole if all fit, else so that few have to be cut elsewhere.

    No more than `most` cells are left out of their beginnings.
    """
    distinct = list(islice(dict.fromkeys(names), _COMPARED))
    if all(cell_width(name) <= width for name in distinct):
        return NameCut(width, ellipsis=ellipsis)
    # As little of the shared prefix is dropped as lets the names fit, all of it if that is not enough.
    longest = max(map(cell_width, distinct))
    beginnings = [prefix for prefix in _beginnings(distinct) if most is None or cell_width(prefix) <= most]
    enough = (prefix for prefix in beginnings if longest - cell_width(prefix) <= width)
    prefix = next(enough, beginnings[-1] if beginnings else "")
    best, told_apart = NameCut(width, prefix, ellipsis=ellipsis), 0
    room = width - cell_width(ellipsis)
    # Half of the room for the end comes first, and then what is nearest to that.
    for tail in sorted(range(room), key=lambda tail: (abs(tail - room // 2), -tail)):
        cut = NameCut(width, prefix, tail, ellipsis)
        unlike = len({cut.usual(name) for name in distinct})
        if unlike > told_apart:
            best, told_apart = cut, unlike
        if told_apart == len(distinct):
            break
    return best


def told_apart(names: Sequence[tuple[str, int]], ellipsis: str = "…") -> list[str]:
    """Return each safe name in its number of cells, cut in the middle if it is longer; no two names look alike.

    Those of one width are cut at the same place, so that what differs can be seen: where middles differ, at both ends.
    If no cut distinguishes names they are numbered, in more cells if these have no number.
    """
    whose = {name: name for name, width in names if cell_width(name) <= width}
    found = {(name, width): name for name, width in names if name in whose}
    widths = dict.fromkeys(width for each, width in names if (each, width) not in found)
    for room in widths:
        some = list(dict.fromkeys(name for name, width in names if width == room and (name, width) not in found))
        best: list[str] = []
        for cut in _cuts(some, room, ellipsis):
            texts = [cut(name) for name in some]
            if len(set(texts) - whose.keys()) > len(set(best) - whose.keys()) or not best:
                best = texts
            if len(set(best) - whose.keys()) == len(some):
                break
        for name, text in zip(some, best, strict=True):
            free = (each for each in chain([text], _numbered(name, room, ellipsis)) if whose.get(each, name) == name)
            found[name, room] = own = next(free)
            whose[own] = name
    return [found[each] for each in names]


def _cuts(names: Sequence[str], width: int, ellipsis: str) -> Iterator[Callable[[str], str]]:
    """Yield ways to cut names: the middle away, half of each end kept first, then the ends around where names part."""
    room = width - cell_width(ellipsis)
    for tail in sorted(range(max(1, room)), key=lambda tail: (abs(tail - room // 2), -tail)):
        yield NameCut(width, tail=tail, ellipsis=ellipsis).usual
    for at in sorted({_shared_signs(*pair) for pair in pairwise(sorted(names))}):
        start = max(1, at - room // 3)
        yield lambda name, start=start: ellipsis + fit(name[start:], room, ellipsis)  # type: ignore[misc]


def _numbered(name: str, width: int, ellipsis: str) -> Iterator[str]:
    """Yield a name with each number behind it."""
    for number in count(2):
        end = f"{ellipsis}{number}"
        yield fit(name, max(0, width - cell_width(end)), "") + end


def _shared_signs(first: str, second: str) -> int:
    """Return how many characters two texts begin with alike."""
    return next((at for at, pair in enumerate(zip(first, second, strict=False)) if len(set(pair)) > 1), len(first))


def shared_prefix(names: Iterable[str]) -> str:
    """Return the whole words that all of several names begin with; an empty text if no name would be left."""
    return next(reversed(_beginnings(names)), "")


def _beginnings(names: Iterable[str]) -> list[str]:
    """Return the beginnings of whole words that all of several names share, the shortest first."""
    distinct = set(names)
    if len(distinct) < 2:
        return []
    first, last = min(distinct), max(distinct)
    alike, shortest = first[: _shared_signs(first, last)], min(map(len, distinct))
    prefixes = [first[: found.end()] for found in _WORD_END.finditer(alike) if found.end() < shortest]
    return [prefix for prefix in prefixes if cell_width(prefix) >= LEAST_PREFIX]


def abbreviated(names: Collection[str]) -> dict[str, str]:
    """Return a beginning of each name, without the words that all begin with, as short as no two are alike."""
    words = {name: re.findall(r"[^\W_]+|[\W_]+", name) for name in names}
    common = 0
    if len(names) > 1:
        while (
            all(len(parts) > common + 1 for parts in words.values()) and len({w[common] for w in words.values()}) == 1
        ):
            common += 1
    rests = {name: "".join(parts[common:]) or name for name, parts in words.items()}
    length = LEAST
    while len({rest[:length] for rest in rests.values()}) < len(rests):
        length += 1
    return {name: rest[:length] for name, rest in rests.items()}
