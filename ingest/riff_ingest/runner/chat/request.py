"""Spell a request for a chat completion, without what its endpoint refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riff_ingest.runner.chat.protocol import Message, Tool

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
