"""Measure the word error rate of what the agent's recogniser transcribed (10.6)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, cast

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore, rate
from riff_store.errors import how_to_install

NAME = "stt_wer"
MISSING = "whisper-normalizer and jiwer are not installed"
_MOST_COMMON = 10
_LONGEST_TEXT = 10_000  # of a turn; evening out the spelling of hostile text takes time by its length squared
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_QUOTES = str.maketrans(dict.fromkeys("‘’‛`´", "'"))
_SPELLED = re.compile(r"\b[A-Za-z](?: [A-Za-z]){2,}\b")
_DASH = re.compile(r"(?<=\w)\s+dash\s+(?=\w)", re.IGNORECASE)
_HYPHENATED = re.compile(r"\b\w+(?:-\w+)+\b")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_COMMA = re.compile(r"(?<!\d),|,(?!\d)")
_LETTER_DIGIT = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_ONE = re.compile(r"\b1(s?)\b")
_LEADING_ZEROS = re.compile(r"\b0+(?=\d+\b)")
_ORDINAL = re.compile(r"(?<=\d)\s+(?=(?:st|nd|rd|th)\b)")


@dataclass(frozen=True, slots=True)
class TurnErrors:
    """Describe what was transcribed wrong in a turn: runs of words replaced, left out or added, and how many words."""

    substitutions: list[tuple[str, str]]
    deletions: list[str]
    insertions: list[str]
    substituted: int
    deleted: int
    inserted: int
    reference_words: int

    @property
    def rate(self) -> float:
        """Return wrong words for each word that was meant; without any, the words that were added."""
        return (self.substituted + self.deleted + self.inserted) / (self.reference_words or 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the runs, as details have them."""
        return {
            "substitutions": [{"expected": meant, "actual": heard} for meant, heard in self.substitutions],
            "deletions": self.deletions,
            "insertions": self.insertions,
        }


def stt_wer(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return the word error rate over all turns that the caller meant to speak in and was heard in (10.6).

    Skipped for other languages than English, whose spelling EVA evens out by rules of its own, and with an error
    where the packages for it are not installed.
    """
    if context.language.lower().replace("_", "-").split("-")[0] != "en":
        return MetricScore(
            NAME, skipped=True, details={"language": context.language, "reason": "only English is computed"}
        )
    turns = _compared(context)
    if not turns:
        return MetricScore(NAME, 0.0, 0.0, {"language": context.language}, error="no turn has both texts of the caller")
    if any(len(text) > _LONGEST_TEXT for texts in turns.values() for text in texts):
        return MetricScore(NAME, error=f"a turn has a text of more than {_LONGEST_TEXT} characters")
    try:
        errors = {turn: turn_errors(*map(normalised_english, texts)) for turn, texts in turns.items()}
    except ImportError:
        return MetricScore(NAME, skipped=True, error=f"{MISSING}; {how_to_install('eva')}")
    return _scored(context.language, errors)


def turn_errors(meant: str, heard: str) -> TurnErrors:
    """Return what differs between two normalised texts; raise `ImportError` without the extra packages."""
    reference, found = meant.split(), heard.split()
    import jiwer

    if reference and reference == found:
        return TurnErrors([], [], [], 0, 0, 0, len(reference))
    substitutions, deletions, insertions = [], [], []
    aligned = jiwer.process_words(" ".join(reference), " ".join(found))
    for run in aligned.alignments[0]:
        expected = " ".join(reference[run.ref_start_idx : run.ref_end_idx])
        actual = " ".join(found[run.hyp_start_idx : run.hyp_end_idx])
        if run.type == "substitute":
            substitutions.append((expected, actual))
        elif run.type == "delete":
            deletions.append(expected)
        elif run.type == "insert":
            insertions.append(actual)
    counts = (aligned.substitutions, aligned.deletions, aligned.insertions)
    return TurnErrors(substitutions, deletions, insertions, *counts, len(reference))


def _compared(context: MetricContext) -> dict[int, tuple[str, str]]:
    """Return what was meant and what was heard, by turn, without labels and other marks."""
    found = {}
    for turn, meant in context.intended_user_turns.items():
        pair = _unmarked(meant), _unmarked(context.transcribed_user_turns.get(turn))
        if all(pair):
            found[turn] = pair
    return found


def _unmarked(text: str | None) -> str:
    """Return a text without what is in square brackets, up to the first that closes."""
    text, kept, at = text or "", [], 0
    while (opened := text.find("[", at)) >= 0 and (closed := text.find("]", opened)) >= 0:
        kept.append(text[at:opened])
        at = closed + 1
    return "".join([*kept, text[at:]]).strip()


def _scored(language: str, errors: Mapping[int, TurnErrors]) -> MetricScore:
    words = sum(each.reference_words for each in errors.values())
    counts = {
        "substitution": sum(each.substituted for each in errors.values()),
        "deletion": sum(each.deleted for each in errors.values()),
        "insertion": sum(each.inserted for each in errors.values()),
    }
    wer = sum(counts.values()) / (words or 1)
    accuracy = round(1 - min(1.0, wer), 3)
    first = next(iter(errors.values()))
    details = {
        "wer": round(wer, 3),
        "accuracy": accuracy,
        "language": language,
        "use_cer": False,
        "num_turns": len(errors),
        "per_turn_wer": {turn: round(each.rate, 3) for turn, each in errors.items()},
        "per_turn_errors": {turn: each.to_dict() for turn, each in errors.items()},
        "error_summary": _summary(first),
        **{f"total_{kind}s": count for kind, count in counts.items()},
        "reference_words": words,
    }
    parts = {
        f"{kind}_rate": rate(NAME, f"{kind}_rate", count / words, 3, count=count, reference_words=words)
        for kind, count in counts.items()
        if words
    }
    return MetricScore(NAME, round(wer, 3), accuracy, details, sub_metrics=parts)


def _summary(first: TurnErrors) -> dict[str, Any]:
    """Return the most frequent errors; like EVA's it covers the first turn only (quirk 11)."""
    replaced = _frequent(f"{meant} → {heard}" for meant, heard in first.substitutions)
    return {
        "top_substitutions": [{"error": error, "count": count} for error, count in replaced],
        "top_deletions": [{"word": word, "count": count} for word, count in _frequent(first.deletions)],
        "top_insertions": [{"word": word, "count": count} for word, count in _frequent(first.insertions)],
    }


def _frequent(runs: Iterable[str]) -> list[tuple[str, int]]:
    return Counter(runs).most_common(_MOST_COMMON)


def normalised_english(text: str) -> str:
    """Return the text as its words are compared, in lower case; raise `ImportError` without the extra packages."""
    if text.isascii():
        text = _ESCAPES.sub(
            lambda found: bytes.fromhex(found[0].replace("\\u", "")).decode("utf-16-be", "replace"), text
        )
    text = text.translate(_QUOTES)
    text = _SPELLED.sub(lambda found: found[0].replace(" ", "").upper(), text)
    text = _DASH.sub(" ", text)
    text = _HYPHENATED.sub(_without_hyphens, text)
    pieces = (_piece(piece) for piece in _COMMA.split(text))
    text = " ".join(piece for piece in pieces if piece)
    return _ORDINAL.sub("", _LEADING_ZEROS.sub("", text))


def _without_hyphens(found: re.Match[str]) -> str:
    word = found[0]
    if not any(map(str.isdigit, word)):
        return word
    return word.replace("-", " " if _DATE.fullmatch(word) else "")


def _piece(text: str) -> str:
    text = _whisper()(text.lower())
    # "first" becomes "1st", then "one st" (quirk 12).
    text = _ONE.sub(r"one\1", _LETTER_DIGIT.sub(" ", text)).lower()
    return "".join(sign for sign in text if not unicodedata.category(sign).startswith("P")).strip()


@cache
def _whisper() -> Callable[[str], str]:
    """Return what evens out text in lower case, by some fifty patterns; what is heard is often what was just meant."""
    from whisper_normalizer.english import EnglishTextNormalizer

    return lru_cache(maxsize=64)(cast("Callable[[str], str]", EnglishTextNormalizer()))
