"""Define what a chat completion brings, and the ways in which an endpoint can fail to bring one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeAlias

from riff_runner.protocol import CallProblem, CallRefused, EndpointRefused, Side, Unavailable
from riff_store.errors import RiffError

Message: TypeAlias = Mapping[str, Any]
"""A message of the API: `role`, `content` and what else belongs to it."""
Tool: TypeAlias = Mapping[str, Any]
"""A tool of the API: `{"type": "function", "function": {...}}`."""
Waiting: TypeAlias = Callable[[], AbstractContextManager[object]]
"""Makes the block in which a request is not under way: before another try, and for others to the same host."""


class ChatToolCall(NamedTuple):
    """Describe a call of a tool as the model wrote it; `id` is never empty, the arguments may be no JSON."""

    id: str
    name: str
    arguments_text: str


class ChatUsage(NamedTuple):
    """Count tokens; `None` if the endpoint did not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ChatNote(NamedTuple):
    """Describe something about an answer that is worth keeping and ended nothing."""

    kind: str
    message: str


class ChatReply(NamedTuple):
    """Describe an answer: what the model says, without what it thinks, and the tools that it calls.

    `ms` is what the request took that was answered, tries before it left out; `ttft_ms` when the first word of `text`
    was there, `None` without one or where the answer came as a whole. `dropped` are parameters that the endpoint
    refuses and that are not sent to it.
    """

    text: str
    tool_calls: tuple[ChatToolCall, ...] = ()
    finish_reason: str | None = None
    usage: ChatUsage = ChatUsage()
    ms: float = 0.0
    ttft_ms: float | None = None
    notes: tuple[ChatNote, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Return whether there is neither a word nor a call of a tool."""
        return not self.text and not self.tool_calls

    @property
    def details(self) -> dict[str, Any]:
        """Return what the line of a call reports of the request."""
        found: dict[str, Any] = {"ms": self.ms, "ttft_ms": self.ttft_ms, **self.usage._asdict()}
        if self.dropped:
            found["dropped"] = list(self.dropped)
        return found


class ChatError(RiffError):
    """Report that there is no answer, and why."""


class EndpointDown(ChatError):
    """Report that no try brought an answer; the endpoint may answer later."""


class EndpointGone(ChatError):
    """Report that the endpoint will not answer at all: unreachable, key, quota, unknown model."""


class NoSuchModel(EndpointGone):
    """Report that the endpoint knows no such model, or has nothing at this address."""


class RequestWrong(ChatError):
    """Report that the endpoint takes the request for wrong; the same one would fail again."""


class ContextFull(RequestWrong):
    """Report that the chat is longer than the model can read."""


def problem_of(side: Side, error: ChatError) -> CallProblem:
    """Return the problem of a call that an error at an endpoint is."""
    if isinstance(error, EndpointGone):
        return EndpointRefused(side, str(error))
    return (CallRefused if isinstance(error, RequestWrong) else Unavailable)(side, str(error))
