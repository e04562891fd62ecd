"""Tell a model whom it plays in a call, what it wants, and what it knows."""

from __future__ import annotations

import re

from riff_ingest.runner.callers.agenda import openings
from riff_ingest.runner.cases.case import CallCase
from riff_ingest.simulate.cast import CallerPersona

_TEMPLATE = """\
You play a person who calls a service by telephone. You are the caller, never the agent: you do not offer help, you \
do not look anything up, and you never speak for the other side.

Why you call: {goal}
You could begin like this: "{opening}"

How you talk: {manner}

What you know, and all that you know:
{facts}

Rules:
- Say one or two short sentences at a time, as people speak. No lists, no stage directions, no name in front.
- Answer what you are asked, with the facts above and in your own words. Numbers, addresses and names are exactly those.
- Do not make anything up. Asked for something that is not above, say that you do not know or do not mind.
- Do not repeat yourself word by word. If the agent does not get any further, say so; if that does not help, hang up.
- Stay on the line until the agent has said that what you want is done, or that it cannot be done.
- To hang up, say your last words and call end_call, with whether you got what you wanted and why. Do so only then.\
"""
_NOISE = re.compile(r"\s*\[[^\]]*\]")
_EARLY = 0.5
_FULL = 0.7
_BAD_LINE = 0.1
_IMPATIENT = 4
"""From where on a figure of a persona is a way to talk that is worth naming."""


def system_prompt(case: CallCase) -> str:
    """Return what the model is told before the call."""
    opening = openings(case)[0]
    facts = [f"- {_in_words(slot)}: {fact.say}" for slot, fact in case.facts.items()]
    return _TEMPLATE.format(
        goal=case.scenario.goal or opening,
        opening=opening,
        manner=manner(case.persona),
        facts="\n".join(facts) or "- nothing but why you call",
    )


def manner(persona: CallerPersona) -> str:
    """Describe how a persona talks."""
    ways = [
        "You use few words." if persona.brief else "",
        "You say most of what you know at once, before anybody asks." if persona.early >= _EARLY else "",
        "Asked for several things at once, you answer only the first." if persona.full_answer < _FULL else "",
        "The line is bad; now and then you ask to hear something again." if persona.mishears >= _BAD_LINE else "",
        "You have little time and lose patience soon." if persona.patience <= _IMPATIENT else "",
    ]
    asides = [words for aside in persona.after if (words := _NOISE.sub("", aside).strip())]
    if asides:
        ways.append("Now and then you add something like: " + " / ".join(dict.fromkeys(asides)))
    return " ".join(way for way in ways if way) or "You are friendly and take your time."


def _in_words(slot: str) -> str:
    return " ".join(slot.replace("_", " ").replace("-", " ").split())
