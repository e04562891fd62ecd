"""Write a decision as one message for a chat or a step's summary: what fails first, with the commands that open it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riff_tui.gate import messages
from riff_tui.gate.decision import Check, Decision
from riff_tui.output.sinks.markdown import code_span, escape
from riff_tui.text.safe_text import one_line
from riff_tui.text.words import counted

MOST_CHARACTERS = 3_000
"""As much as Slack takes in one block of a message."""
LISTED = 3


def short_summary(decision: Decision) -> str:
    """Return Markdown of at most 3,000 characters: the worst three checks, how many more, and what recovered.

    Commands are put in from the worst on as long as there is room, each whole or not at all.
    """
    failed = decision.of("failed")
    head = (
        f"Gate {'passed' if decision.passed else 'FAILED'}: {messages.against(decision)}; {messages.counts(decision)}"
    )
    told = [
        f"- {escape(messages.fall(check, decision))} ({escape(messages.grounds(check))})" for check in failed[:LISTED]
    ]
    more = [escape(line) for line in _more(decision, failed)]
    text = _joined(_fitting([escape(head), *told]), more)
    for place, check in enumerate(failed[:LISTED]):
        if check.command:
            longer = [*told[:place], f"{told[place]}: {code_span(one_line(check.command))}", *told[place + 1 :]]
            found = _joined([escape(head), *longer], more)
            if len(found) <= MOST_CHARACTERS:
                told, text = longer, found
    return text


def _more(decision: Decision, failed: Sequence[Check]) -> Iterator[str]:
    if len(failed) > LISTED:
        yield f"{counted(len(failed) - LISTED, 'more check')} failed."
    if decision.recovered:
        yield messages.recovered(decision, LISTED)
    if decision.missing:
        yield messages.not_called(decision, LISTED)


def _fitting(lines: Sequence[str]) -> list[str]:
    """Return as many of the first lines as a message takes."""
    kept: list[str] = []
    for line in lines:
        if len("\n".join([*kept, line])) + 2 > MOST_CHARACTERS:
            break
        kept.append(line)
    return kept


def _joined(lines: Sequence[str], more: Sequence[str]) -> str:
    """Return a paragraph of the head, a list, and sentences, of which those that do not fit are left out."""
    text = "\n".join([*lines[:1], *([""] if lines[1:] else []), *lines[1:]]) + "\n"
    for sentence in more:
        longer = f"{text}\n{sentence}\n"
        text = longer if len(longer) <= MOST_CHARACTERS else text
    return text
