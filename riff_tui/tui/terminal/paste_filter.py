"""Take out of what is pasted whatever a terminal's keys send, so that no pasted text presses a key."""

from __future__ import annotations

import unicodedata

_BEGINNING, _END = "\x1b[200~", "\x1b[201~"
_KEPT = "\n\r\t"


class PasteFilter:
    """Let what is typed through as it comes, and of bracketed pastes all but control characters.

    It is fed in pieces, which may be cut anywhere.
    """

    def __init__(self) -> None:
        self._pasting = False
        self._seen = ""

    def take(self, piece: str) -> str:
        """Return what is left of the next piece; the beginning of what may be the end of a paste is held back."""
        return "".join(self._pasted(each) if self._pasting else self._typed(each) for each in piece)

    def _typed(self, character: str) -> str:
        self._seen = (self._seen + character)[-len(_BEGINNING) :]
        if self._seen == _BEGINNING:
            self._pasting, self._seen = True, ""
        return character

    def _pasted(self, character: str) -> str:
        self._seen += character
        if self._seen == _END:
            self._pasting, self._seen = False, ""
            return _END
        if _END.startswith(self._seen):
            return ""
        before, self._seen = self._seen[:-1], ""
        return _without_controls(before) + (self._pasted(character) if before else _without_controls(character))


def _without_controls(text: str) -> str:
    return "".join(each for each in text if each in _KEPT or unicodedata.category(each) != "Cc")
