"""Tell the segment (phase) that a state belongs to (docs/metrics.md, section 3)."""

from __future__ import annotations

import re
from functools import lru_cache

from riff_ingest.contract import Contract

OTHER = "other"

_RULES = (
    ("opening", ("greet", "intro")),
    ("routing", ("triage", "intent", "route", "menu")),
    ("verify", ("verify", "auth", "identify")),
    ("collect", ("collect", "listen", "ask", "gather")),
    ("confirm", ("confirm", "review", "summar")),
    (
        "action",
        ("book", "dispatch", "create", "send", "submit", "update", "cancel", "pay", "lookup", "query"),
    ),
    ("closing", ("close", "goodbye", "wrap")),
)
SEGMENTS = (*(segment for segment, _ in _RULES), OTHER)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def segment_of(state: str, contract: Contract | None, event_segment: str | None = None) -> str:
    """Return the segment of a state: the contract's, else the one on the event, else by the state's name."""
    told = None if contract is None else contract.terms.segments.get(state)
    return told or event_segment or segment_by_name(state)


@lru_cache(maxsize=4096)
def segment_by_name(state: str) -> str:
    """Return the first segment of which a word of the state's name begins with a rule's word or a form of it."""
    words = [word.lower() for word in _WORD.findall(state)]
    for segment, beginnings in _BEGINNINGS:
        if any(word.startswith(beginnings) for word in words):
            return segment
    return OTHER


def _forms(verb: str) -> tuple[str, ...]:
    """Return a rule's word with the forms that change its end: close and closing, verify and verification."""
    if verb.endswith("e"):
        return verb, f"{verb[:-1]}ing", f"{verb[:-1]}ion"
    if verb.endswith("ify"):
        return verb, f"{verb[:-1]}ication"
    return (verb,)


_BEGINNINGS = tuple((segment, tuple(form for verb in verbs for form in _forms(verb))) for segment, verbs in _RULES)
