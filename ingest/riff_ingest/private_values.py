"""Take out of what is stored what a call's record names beside it: numbers of phones, tokens and addresses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from riff_ingest.lines import limits

NUMBER, TOKEN, ADDRESS, HIDDEN = "[number]", "[token]", "[url]", "[hidden]"

_SHORTEST_NUMBER = 7
_SHORTEST_TOKEN = 4
_LONG_TOKEN = 6
_CORE_DIGITS = 9
_BETWEEN = r"[ ().\-/]{0,3}"
_ANY_NUMBER = re.compile(rf"(?<![\w+])\+[1-9](?:{_BETWEEN}[0-9]){{7,14}}(?![0-9])")
_DIGIT = re.compile("[0-9]")
_LETTER = re.compile(r"[^\W\d_]")
_SECRET_KEYS = re.compile(r"(?:^|_)(?:access_?token|api_?key|auth(?:orization)?_?token|authorization|password|secret)$")
# What may be a token or a link is matched as a whole and then judged: patterns that look for their end from each of
# many beginnings take hours over a text that repeats one.
_MAYBE_TOKEN = re.compile(r"\beyJ[\w-]*+(?:\.[\w-]++)*+|\b[Bb]earer\s++[\w.~+/-]{8,}+=*+")
_TOKEN_BEGINS = re.compile(r"\beyJ[\w-]{8}")
_LINK = re.compile(r"(https?://[^\s\"'<>?#]++)(?:\?([^\s\"'<>]*+))?")
_SIGNED = re.compile(r"sig|token|key|credential|expires|auth|x-amz|x-goog", re.IGNORECASE)


class PrivateValues:
    """Keep what must not be stored of a call, and take it out of texts and of plain JSON values."""

    def __init__(self, numbers: Iterable[Any] = (), tokens: Iterable[Any] = (), addresses: Iterable[Any] = ()) -> None:
        exact = [(text, TOKEN) for text in _texts(tokens) if len(text) >= _SHORTEST_TOKEN]
        exact += [(text, ADDRESS) for text in _texts(addresses) if "://" in text]
        self._exact = sorted(set(exact), key=lambda each: (-len(each[0]), each))
        self._words = {
            text: re.compile(rf"(?<!\w){re.escape(text)}(?!\w)") for text, _ in exact if len(text) < _LONG_TOKEN
        }
        patterns = {pattern for text in _texts(numbers) if (pattern := _number_pattern(text))}
        self._numbers = re.compile("|".join(sorted(patterns))) if patterns else None

    def text(self, text: str) -> str:
        """Return a text with placeholders for them and for any number with a +, and links without their signature."""
        for found, placeholder in self._exact:
            if found in text:  # a short one is a part of many a word
                word = self._words.get(found)
                text = text.replace(found, placeholder) if word is None else word.sub(placeholder, text)
        if "://" in text:
            text = _LINK.sub(_unsigned, text)
        if "eyJ" in text or "earer" in text:
            text = _MAYBE_TOKEN.sub(_hidden, text)
        if "+" in text:
            text = _ANY_NUMBER.sub(NUMBER, text)
        if self._numbers is not None and _DIGIT.search(text):
            text = self._numbers.sub(NUMBER, text)
        return text

    def value(self, value: Any, room: int | None = None) -> Any:
        """Return a plain JSON value without them; what is too deep in it becomes `None`."""
        if isinstance(value, str):
            return self.text(value)
        room = limits().depth if room is None else room
        if isinstance(value, dict | list) and room == 0:
            return None
        if isinstance(value, list):
            return [self.value(item, room - 1) for item in value]
        if isinstance(value, dict):
            return {
                self.text(str(key)): HIDDEN if _SECRET_KEYS.search(str(key).lower()) else self.value(item, room - 1)
                for key, item in value.items()
            }
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and (shown := self.text(str(value))) in (NUMBER, TOKEN)
        ):
            return shown
        return value


_OF_NUMBERS = re.compile(r"(?:number|phone|caller_?id|destination)$", re.IGNORECASE)
_OF_SECRETS = re.compile(
    r"token|secret|password|authorization|credential|(?:api|private|access)[-_]?key", re.IGNORECASE
)
_HEADER, _LONG_VALUE = "header ", 16
_SCHEME = re.compile(r"(?:Bearer|Basic|Token) +", re.IGNORECASE)
_MAYBE_NUMBER = re.compile(rf"\+?[0-9](?:{_BETWEEN}[0-9]){{{_SHORTEST_NUMBER - 1},}}")
_MAYBE_SECRET = re.compile(r"(?<![\w\-])[spr]k[-_][\w\-]{4,}+|[\w\-]{16,}+")
_ANY_LINK = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,20}://[^\s\"'<>]++")


class _OfAgent(PrivateValues):
    """Take out what must not be stored of an agent, in a time that does not grow with how much of it there is."""

    def __init__(self, numbers: Iterable[Any], secrets: Mapping[str, str]) -> None:
        super().__init__()
        known = (re.sub(r"[^0-9]", "", text) for text in _texts(numbers))
        self._cores = {digits[-_CORE_DIGITS:] for digits in known if len(digits) >= _SHORTEST_NUMBER}
        self._secrets = secrets
        self._lengths = defaultdict[str, set[int]](set)
        for secret in secrets:
            self._lengths[secret[:_SHORTEST_TOKEN]].add(len(secret))

    def text(self, text: str) -> str:
        """Return a text with placeholders for them, and for what `PrivateValues` knows of itself."""
        if self._secrets:
            text = "".join(self._without_secrets(text))
        text = super().text(text)
        return _MAYBE_NUMBER.sub(self._number, text) if self._cores else text

    def _without_secrets(self, text: str) -> Iterator[str]:
        place = 0
        while place < len(text):
            lengths = self._lengths.get(text[place : place + _SHORTEST_TOKEN], ())
            fitting = (length for length in lengths if text[place : place + length] in self._secrets)
            length = max(fitting, default=0)
            yield self._secrets[text[place : place + length]] if length else text[place]
            place += length or 1

    def _number(self, match: re.Match[str]) -> str:
        digits = "".join(_DIGIT.findall(match[0]))
        parts = (
            digits[start : start + size]
            for size in range(_SHORTEST_NUMBER, _CORE_DIGITS + 1)
            for start in range(len(digits) - size + 1)
        )
        return NUMBER if any(part in self._cores for part in parts) else match[0]


def private_of_agent(document: Mapping[str, Any]) -> PrivateValues:
    """Return what must not be stored of an agent's description: numbers, secrets, headers and addresses in it."""
    numbers: list[Any] = []
    secrets: dict[str, str] = {}
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            is_header = key.lower().endswith("headers")
            waiting += [(f"{_HEADER}{name}" if is_header else str(name), each) for name, each in value.items()]
        elif isinstance(value, list):
            waiting += [(key, each) for each in value]
        elif isinstance(value, str) and (_OF_SECRETS.search(key) or (key.startswith(_HEADER) and _is_odd(value))):
            secrets[_SCHEME.sub("", value)] = TOKEN
        elif isinstance(value, str) and key.lower().endswith(("url", "uri")):
            secrets[value] = ADDRESS
        elif _OF_NUMBERS.search(key):
            numbers.append(value)
    return _OfAgent(numbers, {text: shown for text, shown in secrets.items() if len(text) >= _SHORTEST_TOKEN})


def _is_odd(value: str) -> bool:
    """Return whether the value of a header may be a secret, and not a word by which a state may be called as well."""
    return len(value) >= _LONG_VALUE or _DIGIT.search(value) is not None


def short_words(words: str, private: PrivateValues, longest: int = 60) -> str:
    """Return words of a prompt, without what may be a number, a link or a secret, and cut where they are long."""
    words = _ANY_LINK.sub(ADDRESS, private.text(words))
    words = _MAYBE_SECRET.sub(_hidden_secret, words)
    words = _MAYBE_NUMBER.sub(NUMBER, words).strip()
    return words if len(words) <= longest else f"{words[: longest - 1]}…"


def _hidden_secret(match: re.Match[str]) -> str:
    """Return what represents a secret; a long word without a digit is none, nor are digits without a letter."""
    return TOKEN if _DIGIT.search(match[0]) and _LETTER.search(match[0]) else match[0]


def addresses_in(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the addresses of recordings, logs and lines to listen in that an object names, at any depth of objects."""
    waiting = [(record, limits().depth)]
    while waiting:
        current, room = waiting.pop()
        for key, value in current.items():
            if isinstance(value, str):
                if key.lower().endswith("url"):
                    yield value
            elif isinstance(value, dict) and room > 0:
                waiting.append((value, room - 1))


def _texts(values: Iterable[Any]) -> list[str]:
    return [str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool)]


def _number_pattern(text: str) -> str | None:
    """Return a pattern that finds a number however it is parted, with and without the codes it begins with."""
    digits = re.sub(r"[^0-9]", "", text)
    if len(digits) < _SHORTEST_NUMBER:
        return None
    codes, core = digits[:-_CORE_DIGITS], digits[-_CORE_DIGITS:]
    optional = "".join(f"(?:{digit}{_BETWEEN})?" for digit in codes)
    return rf"(?<![0-9.])(?:(?:\+|00?|\(){_BETWEEN})?{optional}0?{_BETWEEN}{_BETWEEN.join(core)}(?![0-9])"


def _hidden(match: re.Match[str]) -> str:
    """Return what represents a token, and anything else as it is; of one that is signed parts follow its beginning."""
    if not match[0].startswith("eyJ"):
        return TOKEN
    begins = _TOKEN_BEGINS.search(match[0])
    return TOKEN if begins and "." in match[0][begins.end() :] else match[0]


def _unsigned(match: re.Match[str]) -> str:
    return f"{match[1]}?{HIDDEN}" if match[2] is not None and _SIGNED.search(match[2]) else match[0]
