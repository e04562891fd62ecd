"""A real HTTP server on the loopback that plays models: what it does is picked by the model's name.

`perfect` walks any flow by the tools that it is offered. Every other name is a way in which endpoints and models
misbehave; most of them do so once, or in their first answer, and are perfect from there on.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tests.support.judge_endpoint import Asked, Behaviour, Endpoint, Reply, error, serving

_MISSING = re.compile(r"To be learned from the caller in this state: (.+)\.")
_SAY = re.compile(r"In substance say: (.+)")
_KNOWN = re.compile(r"^- (\w+): (.+)$", re.MULTILINE)
_USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@dataclass(frozen=True)
class Said:
    """An answer of a model before it is spelled: text, calls as (name, arguments), and why it ended."""

    text: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str | None = None


@dataclass(frozen=True)
class Spelling:
    """The ways in which servers spell the same answer."""

    ids: str = "call_{number}"
    same_index: bool = False
    arguments: Callable[[Any], Any] = json.dumps
    before: tuple[Mapping[str, Any], ...] = ()
    done: bool = True
    end: bytes = b""
    cut: bool = False


PLAIN = Spelling()
Play = Callable[[Asked, int], Reply]
"""Answers a request, given how many of the same model came before it."""


def answer(asked: Asked, said: Said, spelling: Spelling = PLAIN) -> Reply:
    """Spell an answer as it was asked for: whole, or as a stream."""
    calls = [
        {
            "id": spelling.ids.format(number=f"{len(asked.body['messages'])}_{number}"),
            "type": "function",
            "function": {"name": name, "arguments": spelling.arguments(arguments)},
        }
        for number, (name, arguments) in enumerate(said.calls)
    ]
    finish = said.finish or ("tool_calls" if calls else "stop")
    if asked.body.get("stream"):
        return streamed(_chunks(said.text, calls, finish, spelling), spelling)
    message = {"role": "assistant", "content": said.text, "refusal": None, **({"tool_calls": calls} if calls else {})}
    for piece in spelling.before:
        message |= {name: value for name, value in piece.items() if name != "content"}
        message["content"] = piece.get("content", "") + (message["content"] or "")
    document = {
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": _USAGE,
    }
    return Reply(body=json.dumps(document).encode(), headers={"Content-Type": "application/json"})


def streamed(chunks: Iterable[Mapping[str, Any]], spelling: Spelling = PLAIN) -> Reply:
    """Spell chunks as a stream of events."""
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    body += spelling.end + (b"data: [DONE]\n\n" if spelling.done else b"")
    headers = {"Content-Type": "text/event-stream"}
    if spelling.cut:
        return Reply(body=body[: len(body) // 2], headers=headers, promised=len(body))
    return Reply(body=body, headers=headers)


def _chunks(text: str | None, calls: list[dict[str, Any]], finish: str, spelling: Spelling) -> Iterator[dict[str, Any]]:
    yield _chunk({"role": "assistant", "content": ""})
    for piece in spelling.before:
        yield _chunk(piece)
    for word in re.findall(r"\s*\S+", text or ""):
        yield _chunk({"content": word})
    for number, call in enumerate(calls):
        index = 0 if spelling.same_index else number
        function = call["function"]
        whole = isinstance(function["arguments"], str) and not spelling.same_index
        arguments = function["arguments"]
        begun = {**call, "function": {**function, "arguments": ""}} if whole else call
        yield _chunk({"tool_calls": [{"index": index, **begun}]})
        for start in range(0, len(arguments), 5) if whole else ():
            piece = {"index": index, "function": {"arguments": arguments[start : start + 5]}}
            yield _chunk({"tool_calls": [piece]})
    if spelling.done or not spelling.end:
        yield _chunk({}, finish)
        yield {"object": "chat.completion.chunk", "choices": [], "usage": _USAGE}


def _chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice], "usage": None}


def perfect(asked: Asked) -> Said:
    """Do all that the state asks for, go on, and speak in the next state; everything else is one question."""
    messages = asked.body["messages"]
    system = messages[0]["content"]
    tools = {tool["function"]["name"]: tool["function"] for tool in asked.body.get("tools", ())}
    if messages[-1]["role"] == "user" and (calls := _moves(messages, tools)):
        return Said(calls=tuple(calls))
    found = _SAY.search(system)
    text = found[1] if found else "What else can I do for you?"
    return Said(text, (("end_call", {}),)) if "end_call" in tools else Said(text)


def _moves(messages: list[dict[str, Any]], tools: Mapping[str, Any]) -> list[tuple[str, Any]]:
    ways = [name for name in tools if name.startswith("go_") and "escalate" not in name]
    if not ways:
        return []
    words = messages[-1]["content"]
    gone = {call["function"]["name"] for message in messages for call in message.get("tool_calls", ())}
    missing = _MISSING.search(messages[0]["content"])
    calls: list[tuple[str, Any]] = []
    if missing and "fill" in tools:
        calls.append(("fill", dict.fromkeys(missing[1].split(", "), words)))
    own = [tools[name] for name in tools if name not in ("fill", "end_call") and not name.startswith("go_")]
    known = dict(_KNOWN.findall(messages[0]["content"]))
    calls += [(tool["name"], _required(tool["parameters"], known, words)) for tool in own]
    calls.append((next((name for name in ways if name not in gone), ways[0]), {"reason": "it is time"}))
    return calls


def _required(parameters: Mapping[str, Any], known: Mapping[str, str], words: str) -> dict[str, Any]:
    """Give a tool what it cannot do without."""
    values = {"integer": 2, "number": 2.5, "boolean": True, "array": [], "object": {}}
    properties = parameters.get("properties", {})
    given = {}
    for name in parameters.get("required", ()):
        described = properties.get(name, {})
        given[name] = described.get("enum", [values.get(described.get("type"), known.get(name, words))])[0]
    return given


def well(asked: Asked, before: int) -> Reply:
    """Be perfect."""
    return answer(asked, perfect(asked))


def spelled(spelling: Spelling) -> Play:
    """Be perfect, and spell it so."""
    return lambda asked, before: answer(asked, perfect(asked), spelling)


def first(*replies: Reply | Callable[[Asked], Reply]) -> Play:
    """Give these replies first, and be perfect from there on."""

    def play(asked: Asked, before: int) -> Reply:
        reply = replies[before] if before < len(replies) else well(asked, before)
        return reply if isinstance(reply, Reply) else reply(asked)

    return play


def always(reply: Reply | Callable[[Asked], Reply]) -> Play:
    """Give nothing but this reply."""
    return lambda asked, before: reply if isinstance(reply, Reply) else reply(asked)


def saying(said: Said, spelling: Spelling = PLAIN) -> Callable[[Asked], Reply]:
    """Say this, whatever is asked."""
    return lambda asked: answer(asked, said, spelling)


def refusing(*parameters: str) -> Play:
    """Refuse every request that has one of these parameters, as servers do that do not know it."""

    def play(asked: Asked, before: int) -> Reply:
        for name in parameters:
            if name in asked.body:
                return error(400, f"Unsupported parameter: '{name}' is not supported with this model.")
        return well(asked, before)

    return play


_SOON = {"retry-after-ms": "1"}
_HTML = Reply(200, b"<!DOCTYPE html><html><body>Sign in</body></html>", {"Content-Type": "text/html"})
_CONTEXT = error(400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded")
_IN_STREAM = Spelling(done=False, end=b'data: {"error": {"message": "The server had an error", "code": 500}}\n\n')

PLAYS: Mapping[str, Play] = {
    "perfect": well,
    "index-0": spelled(Spelling(same_index=True)),
    "empty-id": spelled(Spelling(ids="")),
    "empty-id-index-0": spelled(Spelling(ids="", same_index=True)),
    "object-arguments": spelled(Spelling(arguments=lambda arguments: arguments, same_index=True)),
    "thinks": spelled(Spelling(before=({"content": "<think>They want a flat.</think>\n"},))),
    "reasons": spelled(Spelling(before=({"reasoning_content": "They want a flat.", "reasoning": "So I ask."},))),
    "finish-stop": lambda asked, before: answer(asked, replace(perfect(asked), finish="stop")),
    "no-done": spelled(Spelling(done=False)),
    "429": first(error(429, "slow down", _SOON)),
    "429-for-long": always(error(429, "come back tomorrow", {"retry-after": "86400"})),
    "500-twice": first(error(500, "oh", _SOON), error(500, "oh", _SOON)),
    "503": always(error(503, "overloaded", _SOON)),
    "not-again": always(error(503, "overloaded", {"x-should-retry": "false"})),
    "html": always(_HTML),
    "html-once": first(_HTML),
    "error-in-stream": first(saying(Said("I see a"), _IN_STREAM)),
    "cut": first(saying(Said("Let me see what we have for you."), Spelling(cut=True))),
    "always-cut": always(saying(Said("Let me see what we have for you."), Spelling(cut=True))),
    "slow": always(lambda asked: replace(answer(asked, Said("Well.")), delay=5.0)),
    "never-ends": always(lambda asked: replace(answer(asked, Said("and " * 2000)), drip=0.05)),
    "too-large": always(saying(Said("x" * (5 * 1024 * 1024)))),
    "quota": always(error(429, "You exceeded your current quota.", code="insufficient_quota")),
    "no-key": always(error(401, "Incorrect API key provided.")),
    "forbidden": always(error(403, "Not in your country.")),
    "no-model": always(error(404, "The model does not exist.", code="model_not_found")),
    "context": always(_CONTEXT),
    "wrong": always(error(400, "messages must not be empty")),
    "empty": always(saying(Said(""))),
    "empty-once": first(saying(Said(""))),
    "refuses": always(saying(Said(None), Spelling(before=({"refusal": "I cannot help with that."},)))),
    "length": first(saying(Said("Let me", finish="length"))),
    "filter": first(saying(Said("", finish="content_filter"))),
    "not-json": first(saying(Said(calls=(("fill", '{"name": "An'),)), Spelling(arguments=str))),
    "not-an-object": first(saying(Said(calls=(("fill", ["Ana"]),)))),
    "no-arguments": first(saying(Said(calls=(("fill", ""),)), Spelling(arguments=str))),
    "no-such-slot": first(saying(Said(calls=(("fill", {"shoe_size": "9"}),)))),
    "no-such-tool": first(saying(Said(calls=(("book_flight", {"to": "Rome"}),)))),
    "no-such-way": first(saying(Said(calls=(("go_booked", {}),)))),
    "always-wrong": always(saying(Said(calls=(("book_flight", {}),) * 4))),
    "loops": always(saying(Said(calls=(("fill", {}),)))),
    "speaks-and-calls": lambda asked, before: answer(asked, replace(perfect(asked), text="One moment.")),
    "text-as-call": first(saying(Said('{"name": "fill", "arguments": {"name": "Ana"}}'))),
    "tagged-call": first(saying(Said('<tool_call>{"name": "fill"}</tool_call>'))),
    "no-seed": refusing("seed", "parallel_tool_calls", "stream_options", "temperature", "max_completion_tokens"),
}


@dataclass(frozen=True)
class ChatServer:
    """What a test knows of the server."""

    endpoint: Endpoint

    @property
    def url(self) -> str:
        return self.endpoint.url

    @property
    def completions(self) -> list[Asked]:
        """The requests for completions, in the order in which they came."""
        return [asked for asked in self.endpoint.asked if asked.path.endswith("/chat/completions")]


@contextmanager
def chat_server(plays: Mapping[str, Play] = PLAYS, listed: Reply | None = None) -> Iterator[ChatServer]:
    """A server while the block runs; `listed` is what it answers to who asks for its models."""
    asked_of: Counter[str] = Counter()
    lock = threading.Lock()

    def behave(asked: Asked) -> Reply:
        if asked.path.endswith("/models"):
            return listed or models(plays)
        model = asked.body["model"]
        with lock:
            before = asked_of[model]
            asked_of[model] += 1
        return plays[model](asked, before)

    behaviour: Behaviour = behave
    with serving(behaviour) as endpoint:
        yield ChatServer(endpoint)


def models(names: Iterable[str]) -> Reply:
    """A list of models."""
    body = {"object": "list", "data": [{"id": name, "object": "model"} for name in names]}
    return Reply(body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
