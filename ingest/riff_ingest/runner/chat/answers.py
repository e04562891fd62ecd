"""Read an answer from its bytes, whether it comes as a whole or as a stream."""

from __future__ import annotations

from typing import Any, NamedTuple

from riff_ingest.runner.chat.chunks import Choice, Chunk, Message, Usage, chunk_of, object_of
from riff_ingest.runner.chat.protocol import ChatNote, ChatToolCall, ChatUsage
from riff_ingest.runner.chat.speech import SpokenText, mended
from riff_ingest.runner.chat.tool_calls import ToolCalls
from riff_store.errors import RiffError

_NOT_OF_THE_API = "the endpoint did not answer in the form of the API"
_CLOSING_NOTES = {
    "length": "the answer was cut off at the model's limit",
    "content_filter": "the endpoint's filter withheld a part of the answer",
}
_MOST_LINES = 100
"""Lines over which one chunk of a stream may go; the API needs one."""


class NotAnAnswer(RiffError):
    """Report an answer that is not of the API, or that ends too early; another try may bring one."""


class ToldError(RiffError):
    """Report an error that an endpoint tells within an answer; `error` is what it says."""

    def __init__(self, error: Any) -> None:
        super().__init__()
        self.error = error


class ReadAnswer(NamedTuple):
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
        self._pending: list[bytes] = []
        self._event = b""
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
            if self.is_done:
                break
            if line or self._pending or self._event:  # nearly every second line is blank and ends nothing
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
        document = chunk_of(b"".join(self._pieces))
        if document is None:
            raise NotAnAnswer(_NOT_OF_THE_API)
        self._take(document, is_whole=True)

    def _take_line(self, line: bytes) -> None:
        """Take a line of a stream: a field of an event, a comment, or the blank one that ends an event."""
        line = line.rstrip(b"\r")
        if not line:
            if self._pending:
                raise NotAnAnswer("a chunk of the stream is not JSON")
            self._event = b""
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._take_data(value.removeprefix(b" "))
        elif name == b"event":
            self._event = value.removeprefix(b" ")

    def _take_data(self, value: bytes) -> None:
        self._is_of_the_api = True
        if value.strip() == b"[DONE]":
            self.is_done = True
            return
        self._pending.append(value)
        data = b"\n".join(self._pending)
        chunk = chunk_of(data)
        if chunk is None:
            if len(self._pending) > _MOST_LINES:
                raise NotAnAnswer("a chunk of the stream is not JSON")
            return
        self._pending.clear()
        if self._event == b"error":
            raise ToldError(chunk.error or object_of(data))
        self._take(chunk, is_whole=False)

    def _take(self, chunk: Chunk, *, is_whole: bool) -> None:
        if chunk.error:
            raise ToldError(chunk.error)
        usage = chunk.usage
        if isinstance(usage, Usage):
            self._usage = ChatUsage(_count(usage.prompt_tokens), _count(usage.completion_tokens))
        choice = _choice(chunk)
        if choice is not None and isinstance(choice.finish_reason, str) and choice.finish_reason:
            self._finish = choice.finish_reason
        message = choice and (choice.message if is_whole else choice.delta)
        if isinstance(message, Message):
            self._take_message(message, is_whole)
        elif is_whole:
            raise NotAnAnswer(_NOT_OF_THE_API)

    def _take_message(self, message: Message, is_whole: bool) -> None:
        if message.content:
            self._said.feed(_text_of(message.content))
        if isinstance(message.refusal, str):
            self._refusal.append(message.refusal)
        if message.tool_calls:
            self._calls.feed(message.tool_calls, whole=is_whole)


def _choice(chunk: Chunk) -> Choice | None:
    """Return the first choice; no other is asked for."""
    for choice in chunk.choices if isinstance(chunk.choices, list) else ():
        if isinstance(choice, Choice) and choice.index in (0, None):
            return choice
    return None


def _text_of(content: Any) -> str:
    """Return the words of a content, which may be a list of parts of which some are thoughts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _count(tokens: Any) -> int | None:
    return tokens if type(tokens) is int and tokens >= 0 else None
