"""Complete chats at an endpoint: send, try again where that may help, and read what comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from random import Random
from typing import Any

from riff_runner.chat.answers import AnswerReader, NotAnAnswer, ReadAnswer, ToldError, is_written_out
from riff_runner.chat.endpoint import Endpoint
from riff_runner.chat.http_client import HttpAnswer, HttpClient, HttpFault, encoded
from riff_runner.chat.protocol import ChatNote, ChatReply, EndpointDown, Message, NoSuchModel, Tool, Waiting
from riff_runner.chat.retries import Pace, ParameterRefused, RetryPolicy, TryFailed, fault_of, pace_of, told_fault

PATH = "chat/completions"


class ChatClient:
    """Complete chats at one endpoint, for many calls at once.

    `timeout` is how many seconds an answer may take, `stream` whether it is asked for word by word.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout: float = 60.0,
        stream: bool = True,
        temperature: float | None = 0.0,
        max_tokens: int | None = 500,
        retries: RetryPolicy | None = None,
    ) -> None:
        """Raise `UsageError` for an address that is none, and where the HTTP client is missing."""
        endpoint.check()
        self._endpoint = endpoint
        self._timeout = timeout
        self._http = HttpClient(endpoint)
        self._shape = RequestShape(
            endpoint.model, stream=stream, temperature=temperature, max_tokens=max_tokens, extra=endpoint.extra
        )
        self._retries = retries or RetryPolicy()
        self._chance = Random()
        self._pace: Pace | None = None
        self._hint: str | None = None

    async def check(self) -> str | None:
        """Find out whether the endpoint can be reached, without asking a model anything; raises `EndpointGone`.

        Returns a hint if it does not list the model.
        """
        from riff_runner.chat.retries import preflight

        self._hint = await preflight(self._http, self._endpoint, self._timeout)
        return self._hint

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        seed: int | None = None,
        on_retry: Callable[[str, float], None] | None = None,
        on_wait: Callable[[str], None] | None = None,
        waiting: Waiting = nullcontext,
    ) -> ChatReply:
        """Return the answer to a chat.

        Before another try `on_wait` is shown why there is one, and `on_retry` also the seconds that the last one took.
        Raises `EndpointDown`, `EndpointGone`, `RequestWrong` and `ContextFull`.
        """
        pace = self._pace = self._pace or pace_of(self._endpoint.base_url)
        failed = 0
        while True:
            entered = await pace.enter(waiting)
            started = time.monotonic()
            body = self._shape.body(messages, tools, seed)
            try:
                return await self._asked(body, pace, entered, started)
            except ParameterRefused as refused:
                for parameter in refused.parameters:
                    self._shape.drop(parameter)
                reason, pause = f"{refused.reason}; {refused.parameters[0]} is left out from here on", 0.0
            except TryFailed as fault:
                failed += 1
                pause = self._pause(fault, failed)
                reason = fault.reason
            if on_wait is not None:
                on_wait(f"{reason}; again in {pause:.0f} s" if pause >= 0.5 else reason)
            if on_retry is not None:
                on_retry(reason, time.monotonic() - started)
            with waiting():
                await asyncio.sleep(pause)

    async def close(self) -> None:
        """Close the connections."""
        self._pace = None
        await self._http.close()

    def _pause(self, fault: TryFailed, failed: int) -> float:
        """Return the seconds before the next try; raises `EndpointDown` if there is none."""
        pause = self._retries.pause(failed, fault.after, self._chance) if fault.again else None
        if pause is not None:
            return pause
        times = f", {failed} times" if failed > 1 else ""
        wish = f"; it asks to wait {fault.after:.0f} s" if fault.after and failed < self._retries.tries else ""
        raise EndpointDown(f"{fault.reason}{times}{wish}") from None

    async def _asked(self, body: Mapping[str, Any], pace: Pace, entered: int, started: float) -> ChatReply:
        """Send a request once, and report to the pace of the host how it went."""
        try:
            reply = await self._sent(body, started)
            pace.answered()
            return reply
        except TryFailed as fault:
            if fault.is_crowded:
                pace.slow_down(entered)
            raise
        finally:
            pace.leave()

    async def _sent(self, body: Mapping[str, Any], started: float) -> ChatReply:
        try:
            async with self._http.request("POST", PATH, self._timeout, encoded(body)) as answer:
                if 200 <= answer.status < 300:
                    return await self._read(answer, body, started)
                optional = self._shape.optional(body)
                raise self._with_hint(
                    fault_of(self._endpoint, answer.status, answer.headers, await answer.body(), optional)
                )
        except HttpFault as fault:
            raise TryFailed(fault.reason) from None

    async def _read(self, answer: HttpAnswer, body: Mapping[str, Any], started: float) -> ChatReply:
        reader = AnswerReader()
        first: float | None = None
        try:
            try:
                while not reader.is_done and (piece := await answer.piece()):
                    reader.feed(piece)
                    if not reader.has_words:
                        first = None
                    elif first is None:
                        first = time.monotonic()
            except HttpFault:
                if not reader.is_whole:
                    raise
            ended = time.monotonic()
            read = reader.close(f"call_{len(body['messages'])}")
        except NotAnAnswer as error:
            raise TryFailed(str(error)) from None
        except ToldError as told:
            raise self._with_hint(told_fault(self._endpoint, told.error)) from None
        if reader.is_done:
            await answer.finish()
        is_empty = not read.text and not read.tool_calls
        if is_empty and read.finish_reason == "length" and any(name in body for name in LIMITS):
            raise ParameterRefused("the model had reached the limit of its answer before it said anything", *LIMITS)
        return self._reply(read, body, _ms(ended - started), None if first is None else _ms(first - started))

    def _reply(self, read: ReadAnswer, body: Mapping[str, Any], ms: float, ttft_ms: float | None) -> ChatReply:
        notes = list(read.notes)
        if "tools" in body and is_written_out(read.text, (tool["function"]["name"] for tool in body["tools"])):
            notes.append(ChatNote("tool_call_as_text", "the model wrote the call of a tool out instead of making it"))
        is_streamed = body["stream"] and bool(read.text)
        return ChatReply(
            text=read.text,
            tool_calls=read.tool_calls,
            finish_reason=read.finish_reason,
            usage=read.usage,
            ms=ms,
            ttft_ms=ttft_ms if is_streamed else None,
            notes=tuple(notes),
            dropped=self._shape.dropped,
        )

    def _with_hint(self, fault: Exception) -> Exception:
        """Return a fault, with what the endpoint lists if it does not know the model."""
        return NoSuchModel(fault.message, self._hint) if isinstance(fault, NoSuchModel) and self._hint else fault


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


_OPTIONAL = (
    "tool_choice", "parallel_tool_calls", "temperature", "seed", "max_completion_tokens", "max_tokens",
    "stream_options",
)  # fmt: skip
"""Parameters that can be left out where an endpoint does not know them."""
LIMITS = ("max_completion_tokens", "max_tokens")
"""What the limit of an answer is called, by newer servers and by older ones."""


class RequestShape:
    """Spell the requests to one endpoint; `max_completion_tokens` is `max_tokens` to older servers."""

    def __init__(
        self, model: str, *, stream: bool, temperature: float | None, max_tokens: int | None, extra: Mapping[str, Any]
    ) -> None:
        self._model = model
        self._stream = stream
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._extra = extra
        self._dropped: list[str] = []

    @property
    def dropped(self) -> tuple[str, ...]:
        """Return the parameters that the endpoint refused."""
        return tuple(self._dropped)

    def body(self, messages: Sequence[Message], tools: Sequence[Tool], seed: int | None) -> dict[str, Any]:
        """Return a request."""
        limit = "max_tokens" if "max_completion_tokens" in self._dropped else "max_completion_tokens"
        optional: dict[str, Any] = {"temperature": self._temperature, "seed": seed, limit: self._max_tokens}
        body: dict[str, Any] = {"model": self._model, "messages": messages, "stream": self._stream}
        if self._stream:
            optional["stream_options"] = {"include_usage": True}
        if tools:
            body["tools"] = tools
            optional |= {"tool_choice": "auto", "parallel_tool_calls": True}
        body |= {name: value for name, value in optional.items() if value is not None}
        body |= self._extra
        return {name: value for name, value in body.items() if name not in self._dropped}

    def optional(self, body: Mapping[str, Any]) -> list[str]:
        """Return the parameters of a request that it could do without."""
        return [name for name in _OPTIONAL if name in body]

    def drop(self, parameter: str) -> None:
        """Leave a parameter out from here on."""
        if parameter not in self._dropped:
            self._dropped.append(parameter)
