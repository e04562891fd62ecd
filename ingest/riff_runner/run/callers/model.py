"""Play callers by a model behind an endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from riff_runner.chat.endpoint import Endpoint
from riff_runner.chat.protocol import ChatError, ChatReply, Message, Tool, problem_of
from riff_runner.protocol import CallerNotes, CallerTurn, CallView, StopReason
from riff_runner.run.callers.agenda import openings
from riff_runner.run.cases.case import CallCase
from riff_runner.run.flows.flow import in_words
from riff_runner.simulate.cast import CallerPersona

if TYPE_CHECKING:
    from riff_runner.chat.client import ChatClient

TEMPERATURE = 0.7
"""How freely a caller talks; one that says the most likely thing sounds like every other."""
END_CALL: Tool = {
    "type": "function",
    "function": {
        "name": "end_call",
        "description": "Hang up. Say your last words in the same answer.",
        "parameters": {
            "type": "object",
            "properties": {
                "success": {"type": "boolean", "description": "Whether you got what you called for."},
                "reason": {"type": "string", "description": "Why you hang up, in one sentence."},
            },
            "required": ["success", "reason"],
            "additionalProperties": False,
        },
    },
}
_CONNECTED = "[The call is connected. You speak first.]"
_SILENCE = "[Nobody says anything.]"
_LAST_WORDS = "Goodbye."
_AGAIN = "Your last answer was empty, the same as before, or not the caller's. Say something as the caller."
_TOKEN = re.compile(r"#{2,}\s*(STOP|TRANSFER|OUT[-_ ]OF[-_ ]SCOPE)\s*#{2,}", re.IGNORECASE)
_WRITTEN_END = re.compile(
    r"<tool_call>.*?(?:</tool_call>|$)|```.*?(?:```|$)|\{[^{}]*end_call.*\}|\bend_call\b\s*(?:\([^)]*\))?", re.DOTALL
)
_OWN_NAME = re.compile(r"^\s*\**(?:caller|customer|user|me)\**\s*:\**\s*", re.IGNORECASE)


class ModelCaller:
    """Play the callers of a run by a model; `name` is what the transcripts call it.

    The chat is the run's own and is closed with the caller. What the model thinks of how a call went is a note.
    """

    def __init__(self, chat: ChatClient, name: str) -> None:
        self._chat = chat
        self._name = name

    @classmethod
    def at(cls, endpoint: Endpoint, *, timeout: float = 60.0) -> ModelCaller:
        """Return the callers that a model at an endpoint plays; `timeout` is how many seconds an answer may take.

        Raises `UsageError` for an address that is none, and where the HTTP client is missing.
        """
        from riff_runner.chat.client import ChatClient

        chat = ChatClient(endpoint, timeout=timeout, stream=False, temperature=TEMPERATURE)
        return cls(chat, endpoint.model)

    @property
    def name(self) -> str:
        """Return what transcripts call the caller."""
        return self._name

    async def check(self) -> str | None:
        """Ask the endpoint for its models; returns a hint where it lists others, raises `EndpointRefused`."""
        try:
            return await self._chat.check()
        except ChatError as error:
            raise problem_of("caller", error) from error

    async def begin(self, case: CallCase, notes: CallerNotes) -> ModelCallerSession:
        """Begin a call."""
        return ModelCallerSession(self._chat, case, notes)

    async def close(self) -> None:
        """Close the connections."""
        await self._chat.close()


class ModelCallerSession:
    """Speak for the caller of one case; to its model the agent is the user, from the first word on."""

    def __init__(self, chat: ChatClient, case: CallCase, notes: CallerNotes) -> None:
        self._chat = chat
        self._notes = notes
        self._seed = case.seed + case.trial
        self._messages: list[Message] = [{"role": "system", "content": system_prompt(case)}]

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Return what the model says next; raises `Unavailable`, `CallRefused` and `EndpointRefused`."""
        if view.again:
            # What made no sense shall not speak for itself in what the model reads.
            if self._messages[-1]["role"] == "assistant":
                self._messages.pop()
        else:
            silence = _SILENCE if len(self._messages) > 1 else _CONNECTED
            self._messages.append({"role": "user", "content": heard.strip() or silence})
        turn = turn_of(await self._ask(again=view.again))
        if turn.text:
            self._messages.append({"role": "assistant", "content": turn.text})
        return turn

    async def end(self, reason: StopReason) -> None:
        """Do nothing: the chat has nothing of a call."""

    async def _ask(self, *, again: bool) -> ChatReply:
        reminder: list[Message] = [{"role": "system", "content": _AGAIN}] if again else []
        try:
            reply = await self._chat.complete(
                [*self._messages, *reminder],
                [END_CALL],
                seed=self._seed + 1 if again else self._seed,
                on_retry=self._notes.retried,
            )
        except ChatError as error:
            raise problem_of("caller", error) from error
        self._notes.request(reply.details)
        return reply


def turn_of(reply: ChatReply) -> CallerTurn:
    """Return what an answer of the model says as a caller; tokens and calls of the tool in its words hang up too."""
    text, ends = reply.text, False
    success = reason = None
    for call in reply.tool_calls:
        if call.name == "end_call":
            ends = True
            success, reason = _opinion(call.arguments_text)
    if token := _TOKEN.search(text):
        ends, reason = True, reason or token[1].lower()
        text = _TOKEN.sub("", text)
    if "end_call" in text:
        ends = True
        text = _WRITTEN_END.sub("", text)
    text = _OWN_NAME.sub("", text).strip()
    if len(text) > 1 and text[0] == text[-1] == '"' and text.count('"') == 2:
        text = text[1:-1].strip()
    return CallerTurn(text or (_LAST_WORDS if ends else ""), ends, success, reason)


def _opinion(arguments: str) -> tuple[bool | None, str | None]:
    try:
        told: Any = json.loads(arguments)
    except ValueError:
        return None, None
    if not isinstance(told, Mapping):
        return None, None
    success, reason = told.get("success"), told.get("reason")
    return success if isinstance(success, bool) else None, reason if isinstance(reason, str) and reason else None


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
    """Return the instructions of the model before the call."""
    opening = openings(case)[0]
    facts = [f"- {in_words(slot)}: {fact.say}" for slot, fact in case.facts.items()]
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
