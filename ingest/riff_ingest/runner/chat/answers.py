"""Read an answer from its bytes, whether it comes as a whole or as a stream."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec

from riff_ingest.runner.chat.protocol import ChatNote, ChatToolCall, ChatUsage
from riff_ingest.runner.chat.speech import SpokenText, mended
from riff_ingest.runner.chat.tool_calls import ToolCalls

_NOT_OF_THE_API = "the endpoint did not answer in the form of the API"
_CLOSING_NOTES = {
    "length": "the answer was cut off at the model's limit",
    "content_filter": "the endpoint's filter withheld a part of the answer",
}
_MOST_LINES = 100
"""Lines over which one chunk of a stream may go; the API needs one."""


class NotAnAnswer(Exception):
    """Report an answer that is not of the API, or that ends too early; another try may bring one."""


class ToldError(Exception):
    """Report an error that an endpoint tells within an answer; `error` is what it says."""

    def __init__(self, error: Any) -> None:
        super().__init__()
        self.error = error


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """Hold what an answer says."""

    text: str
    tool_calls: tuple[ChatToolCall, ...]
    finish_reason: str | None
    usage: ChatUsage
    notes: tuple[ChatNote, ...]


class AnswerReader:
    """Join an answer from pieces of its bytes, cut wherever they may be.

    Whether it is a document or a stream is told by how it begins, since not every server says so or keeps to what it
    was asked for.
    """

    def __init__(self) -> None:
        self._begun = b""
        self._kind: str | None = None
        self._pieces: list[bytes] = []
        self._line = b""
        self._pending: list[str] = []
        self._event = ""
        self._is_of_the_api = False
        self._said = SpokenText()
        self._refusal: list[str] = []
        self._calls = ToolCalls()
        self._finish: str | None = None
        self._usage = ChatUsage()
        self.is_done = False
        """Whether the stream has said that it is over; whatever follows is no part of the answer."""

    @property
    def is_whole(self) -> bool:
        """Say whether all that matters of a stream is there, even if its connection breaks."""
        return self.is_done or self._finish is not None

    @property
    def has_words(self) -> bool:
        """Say whether the model has begun to speak, where that can be told before the end."""
        return self._said.has_words or any(piece.strip() for piece in self._refusal)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes; raises `NotAnAnswer` and `ToldError`."""
        if self._kind is None:
            self._begun += piece
            beginning = self._begun.lstrip(b"\xef\xbb\xbf \t\r\n")
            if not beginning:
                return
            self._kind = {b"{": "document", b"[": "document", b"<": "page"}.get(beginning[:1], "stream")
            piece = beginning
        if self._kind == "page":
            raise NotAnAnswer("the endpoint answered with a page (HTML) instead of JSON")
        if self._kind == "document":
            self._pieces.append(piece)
            return
        *lines, self._line = (self._line + piece).split(b"\n")
        for line in lines:
            if not self.is_done:
                self._take_line(line)

    def close(self, prefix: str = "call") -> ReadAnswer:
        """Return the answer; raises `NotAnAnswer` and `ToldError`.

        Calls of tools that have no id get one that begins with the prefix.
        """
        if self._kind == "document":
            self._take_document()
        elif not self.is_done:
            self._take_line(self._line)
            if not self.is_whole:
                has_begun = self._is_of_the_api or not self._line.strip()
                raise NotAnAnswer("the answer broke off" if has_begun else _NOT_OF_THE_API)
        text = self._said.text()
        refusal = "".join(self._refusal).strip()
        notes = [ChatNote(self._finish, _CLOSING_NOTES[self._finish])] if self._finish in _CLOSING_NOTES else []
        if refusal:
            notes.append(ChatNote("refusal", refusal[:200]))
        return ReadAnswer(mended(text or refusal), self._calls.calls(prefix), self._finish, self._usage, tuple(notes))

    def _take_document(self) -> None:
        document = _loaded(b"".join(self._pieces).decode(errors="replace"))
        if document is None:
            raise NotAnAnswer(_NOT_OF_THE_API)
        self._take(document, is_whole=True)

    def _take_line(self, line: bytes) -> None:
        """Take a line of a stream: a field of an event, a comment, or the blank one that ends an event."""
        text = line.decode(errors="replace").rstrip("\r")
        if not text:
            if self._pending:
                raise NotAnAnswer("a chunk of the stream is not JSON")
            self._event = ""
            return
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._take_data(value)

    def _take_data(self, value: str) -> None:
        self._is_of_the_api = True
        if value.strip() == "[DONE]":
            self.is_done = True
            return
        self._pending.append(value)
        document = _loaded("\n".join(self._pending))
        if document is None:
            if len(self._pending) > _MOST_LINES:
                raise NotAnAnswer("a chunk of the stream is not JSON")
            return
        self._pending.clear()
        if self._event == "error":
            raise ToldError(document.get("error") or document)
        self._take(document, is_whole=False)

    def _take(self, document: dict[str, Any], *, is_whole: bool) -> None:
        if error := document.get("error"):
            raise ToldError(error)
        usage = document.get("usage")
        if isinstance(usage, dict):
            self._usage = ChatUsage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        choice = _choice(document.get("choices"))
        if choice is None:
            if is_whole:
                raise NotAnAnswer(_NOT_OF_THE_API)
            return
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = finish
        message = choice.get("message") if is_whole else choice.get("delta")
        if not isinstance(message, dict):
            if is_whole:
                raise NotAnAnswer(_NOT_OF_THE_API)
            return
        self._said.feed(_text_of(message.get("content")))
        if isinstance(refusal := message.get("refusal"), str):
            self._refusal.append(refusal)
        self._calls.feed(message.get("tool_calls"), whole=is_whole)


def _loaded(text: str) -> dict[str, Any] | None:
    try:
        document = _decoded(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(document, list) and document:  # an error of Gemini comes in a list
        document = document[0]
    return document if isinstance(document, dict) else None


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):  # half a character, which the quicker decoder does not take
        return json.loads(text)


def _choice(choices: Any) -> dict[str, Any] | None:
    """Return the first choice; no other is asked for."""
    found = [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []
    return next((choice for choice in found if choice.get("index", 0) in (0, None)), None)


def _text_of(content: Any) -> str:
    """Return the words of a content, which may be a list of parts of which some are thoughts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _count(tokens: Any) -> int | None:
    return tokens if type(tokens) is int and tokens >= 0 else None
