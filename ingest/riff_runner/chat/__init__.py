"""Ask models behind endpoints that speak the chat completions of OpenAI."""

from riff_runner.chat.client import ChatClient
from riff_runner.chat.protocol import (
    ChatError,
    ChatNote,
    ChatReply,
    ChatToolCall,
    ChatUsage,
    ContextFull,
    EndpointDown,
    EndpointGone,
    NoSuchModel,
    RequestWrong,
)
from riff_runner.chat.retries import RetryPolicy

__all__ = [
    "ChatClient",
    "ChatError",
    "ChatNote",
    "ChatReply",
    "ChatToolCall",
    "ChatUsage",
    "ContextFull",
    "EndpointDown",
    "EndpointGone",
    "NoSuchModel",
    "RequestWrong",
    "RetryPolicy",
]
