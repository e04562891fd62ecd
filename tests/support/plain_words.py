"""The words that nothing which users read may have, each with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Container

# Each is a regular expression, found in any case.
PLAIN = {
    r"mends?|mended|mending": "fix, fixed",
    r"newly mended": "newly passing",
    r"newly broken": "newly failing",
    r"stands?(?! out)|stood": "is, shows, contains",
    r"lies|lay": "is, contains",
    r"holds?|held": "contains, has",
    r"(?:says|said) (?:so|which|what|how|whether|that|where|why)": "reports, shows, prints",
    r"tells|is told|are told|is said|are said": "reports, shows, prints",
    r"taken (?:as|for)|takes? (?:\w+ )?for": "recognised as",
    r"none of the forms": "unknown format",
    r"where there is (?:none|no \w+)|where there are none|where that is": "if none, if so",
    r"as wide as it gets": "already the whole store",
    r"starved?|starves": "never reached",
    r"unjudged": "not judged",
    r"not taken as (?:it|they) (?:stood|were)": "skipped or changed",
    r"Esc nothing": "Esc cancel",
    r"all right": "pass",
    r"gives? way|gave way": "yield",
    r"breaks? in|broke in|broken into": "interrupt",
    r"the place kept": "scope",
    r"anew": "reread, regenerated",
    r"so often": "times",
    r"in the stead": "instead",
    r"as it stands": "as it is",
    r"(?<!there )is no(?! longer)": "is not a",
    r"the answer broke off": "connection closed mid-response",
}
# Words that docstrings and comments may have besides: they are about speech and keys, or draw on a screen.
SPOKEN = (
    r"holds?|held", r"lies|lay", r"(?:says|said) (?:so|which|what|how|whether|that|where|why)",
    r"tells|is told|are told|is said|are said", r"taken (?:as|for)|takes? (?:\w+ )?for", r"gives? way|gave way",
    r"breaks? in|broke in|broken into",
)  # fmt: skip
_SHOWN = re.compile(r"^ *```.*?^ *```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def found(text: str, allowed: Container[str] = ()) -> list[str]:
    """Return the words of a text that are not plain, each with its line and what to write instead."""
    return [
        f"{text.count(chr(10), 0, match.start()) + 1}: {match[0]} ({plain})"
        for words, plain in PLAIN.items()
        if words not in allowed
        for match in re.finditer(rf"(?<![\w-])(?:{words})(?![\w-])", text, re.IGNORECASE)
    ]


def prose(page: str) -> str:
    """Return a Markdown page without its code, in blocks and between words, with its lines where they were."""
    return _SHOWN.sub(lambda block: "\n" * block[0].count("\n"), page)
