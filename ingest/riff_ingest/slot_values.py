"""Compare the value of a slot with what the caller had to say."""

from __future__ import annotations

import re
from typing import Any

_WORDS = re.compile(r"[^\W_]+")


def contradicts(said: Any, fact: Any) -> bool:
    """Return whether a value is another one than the caller's, without case, blanks and punctuation."""
    return _plain(said) != _plain(fact)


def _plain(value: Any) -> str:
    return "".join(_WORDS.findall(str(value).casefold()))
