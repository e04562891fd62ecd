"""Tell what a model says from what it thinks, as its words come in."""

from __future__ import annotations

_OPENS = "<think>"
_CLOSES = "</think>"


class SpokenText:
    """Join the words of a model and leave out what stands in `<think>` blocks.

    A block that is never opened but closed began before the answer did: what stands before it was thought too.
    """

    def __init__(self) -> None:
        self._spoken: list[str] = []
        self._rest = ""
        self._thinks = False
        self._has_thought = False
        self.has_words = False

    def feed(self, piece: str) -> None:
        """Take the next piece, cut wherever it may be."""
        if "<" not in piece and not self._rest:  # as nearly all are
            self._take(piece)
            return
        self._rest += piece
        while self._past_next_tag():
            pass

    def text(self) -> str:
        """Return what was said."""
        return "".join([*self._spoken, "" if self._thinks else self._rest]).strip()

    def _past_next_tag(self) -> bool:
        """Move past the next tag; return whether there was one."""
        found = [(place, tag) for tag in self._tags() if (place := self._rest.find(tag)) >= 0]
        if not found:
            kept = _begun(self._rest, self._tags())
            self._take(self._rest[: len(self._rest) - kept])
            self._rest = self._rest[len(self._rest) - kept :]
            return False
        place, tag = min(found)
        self._take(self._rest[:place])
        self._rest = self._rest[place + len(tag) :]
        if tag == _CLOSES and not self._has_thought:
            self._spoken.clear()
            self.has_words = False
        self._has_thought = True
        self._thinks = tag == _OPENS
        return True

    def _tags(self) -> tuple[str, ...]:
        return (_CLOSES,) if self._thinks else (_OPENS, _CLOSES)

    def _take(self, words: str) -> None:
        if words and not self._thinks:
            self._spoken.append(words)
            self.has_words = self.has_words or not words.isspace()


def _begun(text: str, tags: tuple[str, ...]) -> int:
    """Return how many characters at the end may be the beginning of a tag."""
    longest = max(len(tag) for tag in tags) - 1
    sizes = range(min(longest, len(text)), 0, -1)
    return next((size for size in sizes if any(tag.startswith(text[-size:]) for tag in tags)), 0)


def mended(text: str) -> str:
    """Join halves of a character that came in different pieces, and replace those of which the other one is missing."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
