"""Fit columns, cells and sentences into a line of so many terminal cells."""

from __future__ import annotations

from collections.abc import Sequence

from riff_tui.text.safe_text import cell_width, fit, padded

ELASTIC_KINDS = frozenset({"name", "text", "object"})
"""Kinds of columns that may be cut; a number that is cut is another number."""


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
    """Return safe text in exactly `width` cells: cut with an ellipsis where it is longer, else filled with blanks."""
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
    """Break safe text into lines of at most `width` cells, at blanks where there are some.

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
