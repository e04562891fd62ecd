"""Find how much of the texts that the agent's model wrote was spoken (R7.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from riff_ingest.eva.trace import LoggedEntry, without_labels

FEWEST_CHARACTERS = 20
"""A shared beginning that is shorter than this is chance."""


def spoken_only(trace: Iterable[LoggedEntry], pieces: Mapping[int, Sequence[str]]) -> list[LoggedEntry]:
    """Return the trace with what the agent's voice was given; unspoken texts are gone, but not nudges."""
    voiced = {turn: _Voiced(own) for turn, own in pieces.items()}
    kept = []
    for entry in trace:
        said = entry.content
        if entry.needs_check:
            said = _spoken_part(entry.content or "", voiced.get(entry.turn_id))
        if said is None and entry.nudge:
            said = entry.content
        if said is not None or not entry.needs_check:
            kept.append(replace(entry, content=said, needs_check=False, nudge=False))
    return kept


def spoken_part(content: str, pieces: Sequence[str]) -> str | None:
    """Return as much of a text as was spoken in these pieces, `None` where that is nothing.

    Where only its beginning was, the text is cut after as many words as that beginning has. Words of labels
    count among them, so a label in front costs as many words of the text.
    """
    return _spoken_part(content, _Voiced(pieces))


class _Voiced:
    """Hold what the voice was given in a turn, letters and digits only; a log may hold a great many pieces of it."""

    def __init__(self, pieces: Iterable[str]) -> None:
        bare = list(map(_bare, pieces))
        self.whole = "".join(bare)
        self.beginnings = dict.fromkeys(piece for piece in bare if len(piece) >= FEWEST_CHARACTERS)


def _spoken_part(content: str, voiced: _Voiced | None) -> str | None:
    written = _bare(content)
    if not written or voiced is None:
        return None
    if written in voiced.whole:
        return content
    words = without_labels(content).split()
    # Only pieces that begin alike are looked at more closely.
    alike = [piece for piece in voiced.beginnings if piece.startswith(written[: FEWEST_CHARACTERS // 2])]
    count = max((_shared_words(words, written, piece) for piece in alike), default=0)
    if not count or len(_bare(" ".join(words[:count]))) < FEWEST_CHARACTERS:
        return None
    return " ".join(content.split()[:count])


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, without_labels(text))).lower()


def _shared_words(words: Sequence[str], written: str, piece: str) -> int:
    """Count the first words that are the beginning of a piece."""
    shared = next((at for at, (a, b) in enumerate(zip(written, piece, strict=False)) if a != b), len(piece))
    count = length = 0
    while count < len(words) and length <= shared:
        length += len(_bare(words[count]))
        count += 1
    # Lower case may depend on what follows, so the last words are looked at as they stand.
    while count and not piece.startswith(_bare(" ".join(words[:count]))):
        count -= 1
    return count
