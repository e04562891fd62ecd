"""Edit a line of text with a cursor in it."""

from __future__ import annotations

from dataclasses import dataclass

from riff_tui.text.safe_text import one_line

LONGEST = 10_000


@dataclass(frozen=True, slots=True)
class EditedLine:
    """Hold a text and the index of the cursor in it, from 0 to the length of the text."""

    text: str = ""
    at: int = 0

    @classmethod
    def of(cls, text: str) -> EditedLine:
        """Return a text with the cursor behind it."""
        return cls(text, len(text))

    def insert(self, text: str) -> EditedLine:
        """Insert text at the cursor, as much of it as a line may hold."""
        text = text[: max(0, LONGEST - len(self.text))]
        return EditedLine(self.text[: self.at] + text + self.text[self.at :], self.at + len(text))

    def replace(self, start: int, end: int, text: str) -> EditedLine:
        """Replace a part, and move the cursor behind it."""
        return EditedLine(self.text[:start] + text + self.text[end:], start + len(text))

    def move(self, letters: int) -> EditedLine:
        """Move the cursor some letters to the right, or to the left where negative."""
        return EditedLine(self.text, max(0, min(len(self.text), self.at + letters)))

    def to_word(self, direction: int) -> EditedLine:
        """Move the cursor to the beginning of this word or the one before (-1), or of the next one (1)."""
        at = self.at
        if direction < 0:
            return EditedLine(self.text, self._word_start())
        while at < len(self.text) and not self.text[at].isspace():
            at += 1
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return EditedLine(self.text, at)

    def delete(self, letters: int) -> EditedLine:
        """Delete the letters behind the cursor, or before it where negative."""
        return self._without(self.at, self.move(letters).at)

    def delete_word(self) -> EditedLine:
        """Delete the word before the cursor, back to the blank before it."""
        return self._without(self._word_start(), self.at)

    def delete_to(self, end: int) -> EditedLine:
        """Delete everything before the cursor (-1) or behind it (1)."""
        return self._without(0, self.at) if end < 0 else self._without(self.at, len(self.text))

    def _without(self, one: int, other: int) -> EditedLine:
        start, end = sorted((one, other))
        return EditedLine(self.text[:start] + self.text[end:], start)

    def _word_start(self) -> int:
        at = self.at
        while at and self.text[at - 1].isspace():
            at -= 1
        while at and not self.text[at - 1].isspace():
            at -= 1
        return at


def printable(text: str) -> str:
    """Return pasted text as it may stand on a line, without what controls a terminal or cannot be seen."""
    flat = " ".join(text[: 4 * LONGEST].split())
    return "".join(character for character in flat if one_line(character) == character)
