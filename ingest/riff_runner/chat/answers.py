"""Read an answer from its bytes, whether it comes as a whole or as a stream."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import msgspec

from riff_ingest.lenient_json import clean
from riff_runner.chat.protocol import ChatNote, ChatToolCall, ChatUsage
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
    """Report an error that an endpoint sends within an answer; `error` is its message."""

    def __init__(self, error: Any) -> None:
        super().__init__()
        self.error = error


class ReadAnswer(NamedTuple):
    """Describe what an answer contains."""

    text: str
    tool_calls: tuple[ChatToolCall, ...]
    finish_reason: str | None
    usage: ChatUsage
    notes: tuple[ChatNote, ...]


class AnswerReader:
    """Join an answer from pieces of its bytes, cut wherever they may be.

    Its beginning shows whether it is a document or a stream, since not every server declares it or keeps to what it was
    asked for.
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
        """Return whether all that matters of a stream is there, even if its connection breaks."""
        return self.is_done or self._finish is not None

    @property
    def has_words(self) -> bool:
        """Return whether the model has begun to speak, where that can be seen before the end."""
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
            document = chunk_of(b"".join(self._pieces))
            if document is None:
                raise NotAnAnswer(_NOT_OF_THE_API)
            self._take(document, is_whole=True)
        elif not self.is_done:
            self._take_line(self._line)
            if not self.is_whole:
                has_begun = self._is_of_the_api or not self._line.strip()
                raise NotAnAnswer("connection closed mid-response" if has_begun else _NOT_OF_THE_API)
        text = self._said.text()
        refusal = "".join(self._refusal).strip()
        notes = [ChatNote(self._finish, _CLOSING_NOTES[self._finish])] if self._finish in _CLOSING_NOTES else []
        if refusal:
            notes.append(ChatNote("refusal", refusal[:200]))
        return ReadAnswer(mended(text or refusal), self._calls.calls(prefix), self._finish, self._usage, tuple(notes))

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


# Every part may be something else than the API promises, so each one is looked at before it is used.
Odd: TypeAlias = list[Any] | str | float | int | bool | None
"""What may stand where the API has an object."""
OddList: TypeAlias = dict[str, Any] | str | float | int | bool | None
"""What may stand where the API has a list."""


class FunctionPiece(msgspec.Struct, gc=False):
    """Describe a piece of what is called."""

    name: Any = None
    arguments: Any = None


class CallPiece(msgspec.Struct, gc=False):
    """Describe a piece of a call of a tool."""

    index: Any = None
    id: Any = None
    function: FunctionPiece | Odd = None


class Message(msgspec.Struct, gc=False):
    """Describe a message, or the next piece of it."""

    content: Any = None
    refusal: Any = None
    tool_calls: list[CallPiece | Odd] | OddList = None


class Choice(msgspec.Struct, gc=False):
    """Describe one of the answers to a request, in `delta` where it is streamed, else in `message`."""

    index: Any = 0
    delta: Message | Odd = None
    message: Message | Odd = None
    finish_reason: Any = None


class Usage(msgspec.Struct, gc=False):
    """Describe how many tokens were counted."""

    prompt_tokens: Any = None
    completion_tokens: Any = None


class Chunk(msgspec.Struct, gc=False):
    """Describe a document of an answer."""

    choices: list[Choice | Odd] | OddList = None
    usage: Usage | Odd = None
    error: Any = None


_Document: TypeAlias = Chunk | list[Chunk | Odd] | str | float | int | bool | None
_decoder = msgspec.json.Decoder(_Document)


def chunk_of(data: bytes) -> Chunk | None:
    """Return the document that the bytes spell, the first one of a list; `None` if they spell none."""
    try:
        document = _decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        found = object_of(data)
        try:
            document = _converted(found)
        except UnicodeEncodeError:  # half a character where a name is
            document = _converted(clean(found, Counter()))
    if isinstance(document, list) and document:  # an error of Gemini comes in a list
        document = document[0]
    return document if isinstance(document, Chunk) else None


def _converted(found: Any) -> _Document:
    try:
        document: _Document = msgspec.convert(found, _Document)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return document


def object_of(data: bytes) -> Any:
    """Return what the bytes spell as it is, the first one of a list; `None` if that is not JSON.

    It takes half a character too, which the quicker decoder does not.
    """
    try:
        found = json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return found[0] if isinstance(found, list) and found else found


_OPENS = "<think>"
_CLOSES = "</think>"


class SpokenText:
    """Join the words of a model and leave out what is in `<think>` blocks.

    A block that is never opened but closed began before the answer did: what is before it was thought too.
    """

    def __init__(self) -> None:
        self._spoken: list[str] = []
        self._rest = ""
        self._thinks = False
        self._has_thought = False
        self.has_words = False

    def feed(self, piece: str) -> None:
        """Take the next piece, cut wherever it may be."""
        if "<" not in piece and not self._rest:  # as nearly all are
            self._take(piece)
            return
        self._rest += piece
        while self._past_next_tag():
            pass

    def text(self) -> str:
        """Return what was said."""
        return "".join([*self._spoken, "" if self._thinks else self._rest]).strip()

    def _past_next_tag(self) -> bool:
        """Move past the next tag; return whether there was one."""
        found = [(place, tag) for tag in self._tags() if (place := self._rest.find(tag)) >= 0]
        if not found:
            kept = _begun(self._rest, self._tags())
            self._take(self._rest[: len(self._rest) - kept])
            self._rest = self._rest[len(self._rest) - kept :]
            return False
        place, tag = min(found)
        self._take(self._rest[:place])
        self._rest = self._rest[place + len(tag) :]
        if tag == _CLOSES and not self._has_thought:
            self._spoken.clear()
            self.has_words = False
        self._has_thought = True
        self._thinks = tag == _OPENS
        return True

    def _tags(self) -> tuple[str, ...]:
        return (_CLOSES,) if self._thinks else (_OPENS, _CLOSES)

    def _take(self, words: str) -> None:
        if words and not self._thinks:
            self._spoken.append(words)
            self.has_words = self.has_words or not words.isspace()


def _begun(text: str, tags: tuple[str, ...]) -> int:
    """Return how many characters at the end may be the beginning of a tag."""
    longest = max(len(tag) for tag in tags) - 1
    sizes = range(min(longest, len(text)), 0, -1)
    return next((size for size in sizes if any(tag.startswith(text[-size:]) for tag in tags)), 0)


def mended(text: str) -> str:
    """Join halves of a character that came in different pieces, and replace those of which the other one is missing."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_NOTHING = FunctionPiece()


@dataclass(slots=True)
class _JoinedCall:
    index: Any
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Return whether name and arguments could be all."""
        try:
            return bool(self.name) and isinstance(json.loads("".join(self.arguments)), dict)
        except ValueError:
            return False


class ToolCalls:
    """Join calls by their index; servers that give every call the same index distinguish them by id, or not at all."""

    def __init__(self) -> None:
        self._calls: list[_JoinedCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, pieces: Any, *, whole: bool = False) -> None:
        """Take the next pieces, or `whole` calls, as they are in `tool_calls`; what is none is passed over."""
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, CallPiece):
                self._join(piece, whole)

    def calls(self, prefix: str) -> tuple[ChatToolCall, ...]:
        """Return the calls; those without an id of their own get one that begins with the prefix."""
        found: list[ChatToolCall] = []
        taken: set[str] = set()
        for number, call in enumerate(self._calls):
            its_id = call.id if call.id and call.id not in taken else f"{prefix}_{number}"
            taken.add(its_id)
            found.append(ChatToolCall(its_id, mended(call.name), mended("".join(call.arguments)) or "{}"))
        return tuple(found)

    def _join(self, piece: CallPiece, whole: bool) -> None:
        told = piece.function if isinstance(piece.function, FunctionPiece) else _NOTHING
        its_id, name = _text(piece.id), _text(told.name)
        call = None if whole else self._continued(piece.index, its_id, name)
        if call is None:
            call = _JoinedCall(piece.index)
            self._calls.append(call)
        if its_id:
            call.id = its_id
        if name and not call.name:
            call.name = name
        if isinstance(told.arguments, str):
            call.arguments.append(told.arguments)
        elif told.arguments is not None:
            call.arguments.append(json.dumps(told.arguments, ensure_ascii=False))

    def _continued(self, index: Any, its_id: str, name: str) -> _JoinedCall | None:
        """Return the call that a piece belongs to, `None` if it begins one."""
        for last in reversed(self._calls):
            if index is None or last.index == index:
                break
        else:
            return None
        if its_id and last.id:
            return last if its_id == last.id else None
        is_other = bool(name) and bool(last.name) and (name != last.name or last.is_whole)
        return None if is_other else last


def is_written_out(text: str, tools: Iterable[str]) -> bool:
    """Return whether a text looks like the call of a tool that the model wrote instead of making it."""
    if "<tool_call>" in text:
        return True
    inner = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        written = json.loads(inner) if inner.startswith("{") else None
    except (ValueError, RecursionError):
        return False
    if not isinstance(written, dict):
        return False
    return any(written.get("name") == name for name in tools) or (
        "name" in written and ("arguments" in written or "parameters" in written)
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
