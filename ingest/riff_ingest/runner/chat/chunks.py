"""Decode the documents of which answers are made, a chunk of a stream or the whole, in one pass over their bytes.

Every part may be something else than the API says, so each one is looked at before it is used.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, TypeAlias

import msgspec

from riff_ingest.sources.lenient_json import clean

Odd: TypeAlias = list[Any] | str | float | int | bool | None
"""What may stand where the API has an object."""
OddList: TypeAlias = dict[str, Any] | str | float | int | bool | None
"""What may stand where the API has a list."""


class FunctionPiece(msgspec.Struct, gc=False):
    """Hold a piece of what is called."""

    name: Any = None
    arguments: Any = None


class CallPiece(msgspec.Struct, gc=False):
    """Hold a piece of a call of a tool."""

    index: Any = None
    id: Any = None
    function: FunctionPiece | Odd = None


class Message(msgspec.Struct, gc=False):
    """Hold a message, or the next piece of it."""

    content: Any = None
    refusal: Any = None
    tool_calls: list[CallPiece | Odd] | OddList = None


class Choice(msgspec.Struct, gc=False):
    """Hold one of the answers to a request, in `delta` where it is streamed, else in `message`."""

    index: Any = 0
    delta: Message | Odd = None
    message: Message | Odd = None
    finish_reason: Any = None


class Usage(msgspec.Struct, gc=False):
    """Hold how many tokens were counted."""

    prompt_tokens: Any = None
    completion_tokens: Any = None


class Chunk(msgspec.Struct, gc=False):
    """Hold a document of an answer."""

    choices: list[Choice | Odd] | OddList = None
    usage: Usage | Odd = None
    error: Any = None


_Document: TypeAlias = Chunk | list[Chunk | Odd] | str | float | int | bool | None
_decoder = msgspec.json.Decoder(_Document)


def chunk_of(data: bytes) -> Chunk | None:
    """Return the document that the bytes spell, the first one of a list; `None` where they spell none."""
    try:
        document = _decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        spelled = object_of(data)
        try:
            document = _converted(spelled)
        except UnicodeEncodeError:  # half a character where a name stands
            document = _converted(clean(spelled, Counter()))
    if isinstance(document, list) and document:  # an error of Gemini comes in a list
        document = document[0]
    return document if isinstance(document, Chunk) else None


def _converted(spelled: Any) -> _Document:
    try:
        document: _Document = msgspec.convert(spelled, _Document)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return document


def object_of(data: bytes) -> Any:
    """Return what the bytes spell as it stands, the first one of a list; `None` where that is no JSON.

    It takes half a character too, which the quicker decoder does not.
    """
    try:
        found = json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    return found[0] if isinstance(found, list) and found else found
