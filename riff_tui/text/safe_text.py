"""Guard every display against data: make text in which nothing is live, hidden or out of line.

Callers, models and strangers' files wrote the data. The store keeps it raw; whatever shows it
passes it through `one_line` or `block` first. Widths in terminal cells and safe file names are
here too, for they have to see text as a terminal and a file system do.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

TAB = "    "
NEWLINE = "⏎"
REPLACEMENT = "\ufffd"
MOST_MARKS = 4

# Signs that take part in emoji sequences.
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u25ff\u2600-\u27bf"
    "\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Controls, surrogates, tags and noncharacters have no form of their own.
_LOW_FORMLESS = "\x80-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
_FORMLESS = f"{_LOW_FORMLESS}\U000e0000-\U000e0fff" + "".join(
    chr(plane * 0x10000 + last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF)
)
# Bidi controls and everything that takes no room of its own without being a mark on a letter.
_LOW_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
)
_UNSEEN = f"{_LOW_UNSEEN}\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
_TROUBLE = f"\x00-\x1f\x7f{_FORMLESS}{_UNSEEN}"
# Scripts without marks and without anything hidden: most text that is not ASCII contains nothing else.
_PLAIN = (
    "\x20-\x7e\xa0-\xac\xae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf"
    "\u2100-\u2bff\u3000-\u3029\u3030-\u3096\u309b-\u312f\u3400-\ua48c\uac00-\ud7a3\uff01-\uff9f"
    "\U0001f000-\U0001faff\U00020000-\U0002ffef"
)
_RARE = "\U00010000-\U0001efff\U0001fb00-\U0001ffff\U0002fff0-\U0010ffff"
_PLAIN_TEXT = f"[{_PLAIN}]*"
_RARE_SIGN = f"[{_RARE}]"
# Without characters beyond U+FFFF it is a bitmap to `re`, ten times as fast as a list of ranges.
_LOW_TROUBLE = f"[\x00-\x1f\x7f{_LOW_FORMLESS}{_LOW_UNSEEN}]"
_ANY_TROUBLE = f"[{_TROUBLE}]"
_FORMLESS_SIGN = f"[{_FORMLESS}]"
_HIDDEN_SIGN = f"[\x00-\x09\x0b-\x1f\x7f{_FORMLESS}{_UNSEEN}]"
_SIGN_OR_DIGIT = f"[0-9#*{_EMOJI}]$"
# A variation selector that no joiner follows, and a tone of skin behind another picture.
_UNSTEADY = f"\ufe0f(?!\u200d)|(?<=[{_EMOJI}])[\U0001f3fb-\U0001f3ff]"
# Format characters that are drawn, as a sign over or around what follows.
_DRAWN_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
_WIDE_BLOCKS = ((0xF900, 0xFAFF), (0x16FE0, 0x18DFF), (0x1F300, 0x1FAFF), (0x20000, 0x3FFFD))
"""Blocks of ideographs and pictures, where also a sign is wide that came later than the interpreter's own table."""
_WIDE_SINCE_UNICODE_16 = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D376))

LONGEST_NAME = 64
_BARE = r"[(]?\w(?:[.:/@+#-]?\w|:? (?=\w)| ?[(](?=[\w)])|[)](?=$| \w))*"
"""Names as programs and people give them; some of ours stand in brackets, such as `(none)`."""
_LONG = 100
"""Of texts with more characters the width is not remembered: they seldom come again, and would fill the memory."""


def one_line(text: str) -> str:
    """Return text for one line of a display: control pictures, `⏎` for a newline, `<U+202E>` for what is not seen."""
    if text.isascii():
        return text if text.isprintable() else _kept_or_trouble().sub(_shown, text)
    if _compiled(_PLAIN_TEXT).fullmatch(text):
        return text
    rare = _compiled(_RARE_SIGN).search(text) is not None
    if rare or _compiled(_LOW_TROUBLE).search(text):
        text = _kept_or_trouble().sub(_shown, text)
    return _stacked_marks(rare).sub(r"\1", text)


def block(text: str) -> str:
    """Return text for several lines of a display: as `one_line`, but newlines stay."""
    if "\n" not in text:
        return one_line(text)
    return "\n".join([one_line(line) for line in text.split("\n")])


def escaped_hidden(text: str) -> str:
    """Return JSON text with what is live or unseen in its strings as `\\uXXXX`; newlines between values stay."""
    if text.isascii() and text.isprintable():
        return text
    return _compiled(_HIDDEN_SIGN).sub(_json_escape, text)


def cell_width(text: str) -> int:
    """Count the terminal cells that safe text takes; wide signs take two, marks none."""
    if text.isascii():
        return len(text)
    if len(text) > _LONG:
        return sum(width for _, width in _clusters(text))
    return _width(text)


def steady(text: str) -> str:
    """Return safe text in as many cells, without signs of which terminals differ in how wide they make the one before.

    Such a sign asks for a picture, or gives it a tone of skin; where a terminal ignores it what follows would shift.
    """
    if text.isascii() or not _compiled(_UNSTEADY).search(text):
        return text
    # The cell that a sign would have made wide stays, behind its cluster.
    parts = ((_compiled(_UNSTEADY).sub("", cluster), wide) for cluster, wide in _clusters(text))
    found = "".join(padded(part, wide) for part, wide in parts)
    return found if cell_width(found) == cell_width(text) else text


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """Cut safe text to at most `width` cells, between whole signs, ended by `ellipsis` where it was longer."""
    if cell_width(text) <= width:
        return text
    room = width - cell_width(ellipsis)
    if room < 0:
        return fit(text, width, "") if width > 0 else ""
    if text.isascii():
        return text[:room] + ellipsis
    kept: list[str] = []
    for cluster, wide in _clusters(text):
        if wide > room:
            break
        kept.append(cluster)
        room -= wide
    return "".join(kept) + ellipsis


def ending(text: str, width: int) -> str:
    """Return the end of safe text that takes at most `width` cells, in whole signs."""
    if text.isascii():
        return text[max(0, len(text) - width) :]
    kept: list[str] = []
    for cluster, wide in reversed(_clusters(text)):
        if wide > width:
            break
        kept.append(cluster)
        width -= wide
    return "".join(reversed(kept))


def padded(text: str, width: int, *, right: bool = False) -> str:
    """Fill safe text with blanks to `width` cells, on its left where it is to be at the `right`."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks


def file_name(identifier: str, longest: int = 80) -> str:
    """Return a file name of `A-Za-z0-9._-` for an id, distinct for distinct ids, with up to `longest` letters of it.

    It neither hides (`.x`) nor looks like an option (`-rf`) or a way up (`..`).
    """
    from hashlib import sha256

    digest = sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    stem = re.sub(r"[^A-Za-z0-9._-]+", "_", identifier)[:longest].lstrip("._-") or "id"
    return f"{stem}-{digest}"


def bare_name(name: str) -> str:
    """Return a name for a reader that may act on what it reads: words of letters and digits as they are.

    Between them is one of `.:/@+#-` or a blank. What else a file calls something gets a name of its own, as `file_name`
    makes it. Neither has more than 64 characters.
    """
    if one_line(name) != name or not _compiled(_BARE).fullmatch(name):
        return file_name(name, LONGEST_NAME - 9)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _shown(match: re.Match[str]) -> str:
    found = match[0]
    code = ord(found[0])
    if code == 0x09:
        return TAB
    if code == 0x0A:
        return NEWLINE
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if not _compiled(_ANY_TROUBLE).match(found):
        return found
    return REPLACEMENT if _compiled(_FORMLESS_SIGN).match(found) else f"<U+{code:04X}>"


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


# Large patterns are compiled when they are first needed: most of what is shown is plain ASCII and needs none of them.
@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _kept_or_trouble() -> re.Pattern[str]:
    """Match a whole emoji sequence first, so that its joiners and selectors stay."""
    sequence = f"[{_EMOJI}][\ufe0e\ufe0f]?(?:\u200d[{_EMOJI}]\ufe0f?)*"
    return re.compile(f"{sequence}|[0-9#*]\ufe0f(?=\u20e3)|[{_TROUBLE}]")


@cache
def _stacked_marks(rare: bool) -> re.Pattern[str]:
    """Match more marks on one letter than can be read, the first few as a group; `rare` adds those beyond U+FFFF."""
    unseen = re.compile(f"[{_UNSEEN}]")
    marks = "".join(
        character
        for character in map(chr, range(0x300, 0x1F000 if rare else 0x10000))
        if unicodedata.category(character) in ("Mn", "Me") and not unseen.match(character)
    )
    return re.compile(f"([{marks}]{{{MOST_MARKS}}})[{marks}]+")


@lru_cache(maxsize=2048)
def _width(text: str) -> int:
    return sum(width for _, width in _clusters(text))


def _clusters(text: str) -> list[tuple[str, int]]:
    """Split a text into signs, each with its marks and joined signs, and its width."""
    found: list[tuple[str, int]] = []
    joined = False
    for character in text:
        wide = _sign_width(character)
        if found and (joined or wide == 0):
            before, width = found[-1]
            if character == "\ufe0f" and width == 1 and _compiled(_SIGN_OR_DIGIT).match(before):
                width = 2
            found[-1] = (before + character, width)
        else:
            found.append((character, wide))
        joined = character == "\u200d"
    return found


@lru_cache(maxsize=2048)
def _sign_width(character: str) -> int:
    code = ord(character)
    category = unicodedata.category(character)
    # Vowel signs of their own width (Mc) count as none, as Textual and most terminals have it.
    if category[0] == "M" or (category == "Cf" and character not in _DRAWN_FORMATS):
        return 0
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF or 0x1F3FB <= code <= 0x1F3FF:
        return 0
    # The interpreter reports of whatever it does not know that it is wide.
    if category == "Cn":
        return 2 if _in(code, _WIDE_BLOCKS) else 1
    return 2 if unicodedata.east_asian_width(character) in "WF" or _in(code, _WIDE_SINCE_UNICODE_16) else 1


def _in(code: int, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in blocks)


def shell_quoted(text: str) -> str:
    """Return text as one word of a shell's command line."""
    return "'" + text.replace("'", "'\"'\"'") + "'"


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
        """Return what is left of the next piece; the beginning of what may be the end of a paste is withheld."""
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
