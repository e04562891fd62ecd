"""Find in an agent's words what it wants to hear, if that is plain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

_SENTENCES = re.compile(r"(?<=[.!?…])\s+")
_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NAME_PARTS = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+(?![a-z])")
_WH = re.compile(r"\b(what|which|who|whom|whose|when|where|how)\b")
_REQUEST = re.compile(
    r"\b(tell me|give me|spell|provide|share|let me know|please"
    r"|(?:i|we)(?:'ll)?(?: still| just| also)? need|(?:may|can|could) (?:i|we) (?:have|get|take|note|ask))\b"
)
_ANYTHING_ELSE = re.compile(r"\b(any|some|every|no)?(?:thing|what) else\b")
_FAREWELL = re.compile(
    r"\b(good ?bye|bye|take care(?! of)|talk (?:to you )?soon|see you|have a (?:\w+ )?(?:good|great|nice|lovely|one))\b"
)
_OFFERS_HELP = re.compile(
    r"\b(?:(?:how|what) (?:can|may|could) (?:i|we) (?:help|assist|do|get)|can i help|what brings you|on your mind"
    r"|what is this about|what do you need|what's wrong|reason for your call)\b"
)
_PREFERENCE = re.compile(
    r"\b(?:would you (?:like|prefer|rather)|do you (?:want|prefer)|suits? you|works? for you|your preference)\b"
    r"|^[\w' -]+,? or [\w' -]+\?$"
)
_APPROVAL = re.compile(r"\bhow (?:does|would) (?:that|this|it) (?:sound|work|suit|look)")
_WANTS_YES = re.compile(r"\b(?:correct|right|okay|ok|confirm)\b")
_OPEN = re.compile(r"(?:^|^\w+ |[,:;–—-] )(?:and |so |but )?(?:what|which|who|whom|whose|when|where|why|how)\b")
_PLAIN = frozenset(
    _WORDS.findall(
        "a about all also am an and any are at be been best but by can could did do does down for from get give go"
        " good has have how i i'd i'll i'm if in into is it its just know let like may me my need no not of ok okay"
        " on or our out please put reach say shall should so some tell thank thanks that the them then there they"
        " this to under up us want was we what when where which who will with work would yes you your you're yours"
        " what's"
    )
)


@dataclass(frozen=True, slots=True)
class SlotWords:
    """Describe the words by which a slot is asked for: those of its name, and those of a usual question."""

    own: frozenset[str]
    head: str
    asked: frozenset[str]


@lru_cache(maxsize=1024)
def slot_words(slot: str, question: str = "") -> SlotWords:
    """Return the words of a slot."""
    parts = [_stem(part.lower()) for part in _NAME_PARTS.findall(slot)]
    own = frozenset(parts) - _PLAIN
    return SlotWords(own, next((part for part in reversed(parts) if part in own), ""), _content(question))


class Utterance:
    """Describe what an agent said, with what it asks for."""

    def __init__(self, text: str) -> None:
        self.text = text.casefold().replace("\u2019", "'")
        self._sentences = [part for part in _SENTENCES.split(self.text.strip()) if part]
        self._asking = [part for part in self._sentences if _is_question(part) or _REQUEST.search(part)]

    @property
    def words(self) -> str:
        """Return the bare words, which show that the same is said again."""
        return " ".join(_WORDS.findall(self.text))

    @property
    def asks(self) -> bool:
        """Return whether there is a question in it."""
        return any(_is_question(part) for part in self._sentences)

    @property
    def asks_openly(self) -> bool:
        """Return whether the last question wants to know something that neither yes nor no answers."""
        last = self._last_question
        is_open = _OPEN.search(last) or (_REQUEST.search(last) and not _WANTS_YES.search(last))
        return bool(is_open) and not _APPROVAL.search(last)

    @property
    def asks_preference(self) -> bool:
        """Return whether the last question leaves a choice to the caller."""
        return bool(_PREFERENCE.search(self._last_question)) and not _APPROVAL.search(self._last_question)

    @property
    def _last_question(self) -> str:
        return next((part for part in reversed(self._sentences) if _is_question(part)), "")

    @property
    def anything_else(self) -> bool:
        """Return whether it asks for what else there is."""
        return any(_ANYTHING_ELSE.search(part) for part in self._asking)

    @property
    def offers_help(self) -> bool:
        """Return whether it asks why one calls."""
        return any(_OFFERS_HELP.search(part) for part in self._sentences)

    @property
    def farewell(self) -> bool:
        """Return whether the agent takes its leave."""
        return not self.asks and bool(_FAREWELL.search(self.text))

    def asked_for(self, slots: Mapping[str, SlotWords], known: Iterable[str] = ()) -> list[str]:
        """Return the slots that are plainly asked for; one of the `known` only by more than a yes or no."""
        told = set(known)
        found: dict[str, None] = {}
        for sentence in self._asking:
            plainly = bool(_REQUEST.search(sentence) or (_is_question(sentence) and _WH.search(sentence)))
            for slot in _matches(_content(sentence), slots):
                if plainly or slot not in told:
                    found[slot] = None
        return list(found)


def _matches(words: frozenset[str], slots: Mapping[str, SlotWords]) -> list[str]:
    """Return the slots that a sentence names, without one that another names with more words."""
    by_name = {slot: words & known.own for slot, known in slots.items() if known.head in words}
    found = by_name or {
        slot: words & known.asked for slot, known in slots.items() if 2 * len(words & known.asked) > len(known.asked)
    }
    return [slot for slot, hits in found.items() if not any(hits < other for other in found.values())]


def _content(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORDS.findall(text.casefold())) - _PLAIN


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(" \"')”").endswith("?")
