"""Clean what people type before it is kept: one line, without what a terminal would act on."""

from __future__ import annotations

from collections.abc import Iterable

from riff_tui.text.safe_text import one_line

LONGEST_CODE = 80
LONGEST_NOTE = 10_000


def clean(text: str, longest: int = LONGEST_NOTE) -> str:
    """Return a text as one line of at most so many letters, single blanks between its words."""
    line = " ".join(text.split())
    return "".join(letter for letter in line if letter == " " or one_line(letter) == letter)[:longest].strip()


def code_in_use(typed: str, codes: Iterable[str]) -> str:
    """Return the code that was meant: one in use that differs in case or blanks alone, else what was typed."""
    wanted = clean(typed, LONGEST_CODE)
    known = list(codes)
    if wanted in known:
        return wanted
    return next((code for code in known if _folded(code) == _folded(wanted)), wanted)


def _folded(code: str) -> str:
    return "".join(code.casefold().split())
