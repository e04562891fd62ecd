"""Join the calls of tools in an answer, which arrive whole or in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from riff_ingest.runner.chat.chunks import CallPiece, FunctionPiece
from riff_ingest.runner.chat.protocol import ChatToolCall
from riff_ingest.runner.chat.speech import mended

_NOTHING = FunctionPiece()


@dataclass(slots=True)
class _JoinedCall:
    index: Any
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Say whether name and arguments could be all."""
        try:
            return bool(self.name) and isinstance(json.loads("".join(self.arguments)), dict)
        except ValueError:
            return False


class ToolCalls:
    """Join calls by their index; servers that give every call the same index tell them apart by id, or not at all."""

    def __init__(self) -> None:
        self._calls: list[_JoinedCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, pieces: Any, *, whole: bool = False) -> None:
        """Take the next pieces, or `whole` calls, as they stand in `tool_calls`; what is none is passed over."""
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
        """Return the call that a piece belongs to, `None` where it begins one."""
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
    """Say whether a text looks like the call of a tool that the model wrote instead of making it."""
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
