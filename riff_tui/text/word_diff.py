"""Compare what was meant with what was heard, word by word; capitals and commas do not count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal, TypeAlias

Change: TypeAlias = Literal["same", "meant", "heard"]
DiffPart: TypeAlias = tuple[Change, str]

MOST_WORDS = 600
"""With more words than this in a difference, all of them count as different."""

LABELS = (
    "[assistant interrupts]",
    "[user interrupts]",
    "[likely cut off by user]",
    "[likely cut off by assistant]",
    "[speaker likely cut itself off]",
    "[likely interruption]",
    "[pause]",
)
"""What EVA writes into texts of its own accord."""

_LABEL = re.compile("|".join(map(re.escape, LABELS)))
_AROUND = 2


def without_labels(text: str) -> str:
    """Return a text without the labels in it."""
    return _LABEL.sub(" ", text)


def leading_labels(text: str) -> tuple[list[str], str]:
    """Split a text into the labels that it begins with and the rest."""
    found = []
    while label := _LABEL.match(text := text.lstrip()):
        found.append(label[0])
        text = text[label.end() :]
    return found, text


def same_words(first: str, second: str) -> bool:
    """Return whether two texts, the first one with the labels in it, are the same words."""
    return not _LABEL.search(first) and [key for key, _ in _words(first)] == [key for key, _ in _words(second)]


@lru_cache(maxsize=512)
def parts(meant: str, heard: str, spelled: Literal["meant", "heard"] = "heard") -> tuple[DiffPart, ...]:
    """Split both texts into runs of words that are the same, only meant or only heard; labels are in none.

    Words that are the same are `spelled` as on that side.
    """
    first, second = _words(meant), _words(heard)
    same = first if spelled == "meant" else second
    before, behind = _common_ends([key for key, _ in first], [key for key, _ in second])
    ends = len(first) - behind, len(second) - behind
    found: list[DiffPart] = [("same", _text(same[:before]))]
    inner, other = first[before : ends[0]], second[before : ends[1]]
    if len(inner) > MOST_WORDS or len(other) > MOST_WORDS:
        found += [("meant", _text(inner)), ("heard", _text(other))]
    else:
        matcher = SequenceMatcher(None, [key for key, _ in inner], [key for key, _ in other], autojunk=False)
        for kind, i, to_i, j, to_j in matcher.get_opcodes():
            if kind == "equal":
                at = (before + i, before + to_i) if spelled == "meant" else (before + j, before + to_j)
                found.append(("same", _text(same[slice(*at)])))
            else:
                found += [("meant", _text(inner[i:to_i])), ("heard", _text(other[j:to_j]))]
    found.append(("same", _text(same[len(same) - behind :])))
    return tuple(_joined(part for part in found if part[1]))


def differing(meant: str, heard: str) -> int:
    """Count the words that were meant and not heard, or heard and not meant, whichever are more."""
    counts = {"same": 0, "meant": 0, "heard": 0}
    for change, text in parts(meant, heard):
        counts[change] += len(text.split())
    return max(counts["meant"], counts["heard"])


def length(text: str) -> int:
    """Count the words of a text, labels apart."""
    return len(_words(text))


def marked(change: Change, text: str) -> str:
    """Put the signs of its kind around a run of words: `[-meant-]`, `{+heard+}`."""
    return {"same": text, "meant": f"[-{text}-]", "heard": f"{{+{text}+}}"}[change]


def hunks(meant: str, heard: str, ellipsis: str = "…") -> str:
    """Return only where both differ, each place with a word or two around it; empty if nothing does."""
    found = parts(meant, heard)
    if all(change == "same" for change, _ in found):
        return ""
    said = ""
    for place, (change, text) in enumerate(found):
        shown = marked(change, text) if change != "same" else _shortened(text, place, len(found), ellipsis)
        glued = not said or (change == "heard" and found[place - 1][0] == "meant")
        said += shown if glued else f" {shown}"
    return said


def _shortened(text: str, place: int, of: int, ellipsis: str) -> str:
    words = text.split()
    head = words[:_AROUND] if place else []
    tail = words[-_AROUND:] if place < of - 1 else []
    if len(words) - len(head) - len(tail) < 2:
        return text
    return " ".join([*head, ellipsis, *tail])


def _words(text: str) -> list[tuple[str, str]]:
    """Return each word with what is compared of it; signs alone go with the word before them."""
    found: list[tuple[str, str]] = []
    for word in without_labels(text).split():
        key = "".join(letter for letter in word.casefold() if letter.isalnum())
        if key or not found:
            found.append((key, word))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {word}")
    return found


def _common_ends(first: Sequence[str], second: Sequence[str]) -> tuple[int, int]:
    """Count the words that are the same at the beginning, and those of the others at the end."""
    most = min(len(first), len(second))
    before = next((place for place in range(most) if first[place] != second[place]), most)
    left = most - before
    behind = next((place for place in range(left) if first[-1 - place] != second[-1 - place]), left)
    return before, behind


def _text(words: Iterable[tuple[str, str]]) -> str:
    return " ".join(word for _, word in words)


def _joined(found: Iterable[DiffPart]) -> list[DiffPart]:
    """Join neighbours of one kind into one run."""
    joined: list[DiffPart] = []
    for change, text in found:
        if joined and joined[-1][0] == change:
            joined[-1] = (change, f"{joined[-1][1]} {text}")
        else:
            joined.append((change, text))
    return joined
