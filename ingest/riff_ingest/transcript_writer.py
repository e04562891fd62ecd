"""Write files of JSON lines whole or not at all, and conversations in the native transcript form."""

from __future__ import annotations

import contextlib
import gzip
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from riff_ingest.conversation import LINE_FIELDS, SCHEMA, Contract, Conversation
from riff_store.errors import naming

_encoder = msgspec.json.Encoder(enc_hook=str)
_PARTS = ("turns", "events", "tool_calls", "expected_steps", "expected_answers")
_FIELDS = tuple(
    (field.name, None if field.default is msgspec.NODEFAULT else field.default)
    for field in LINE_FIELDS
    if field.name not in {*_PARTS, "contract"}
)


class LineFile:
    """Write a file of JSON lines that appears under its name only when it was closed without an error.

    A name that ends in `.gz` is compressed; the bytes depend on what is written alone. Text is
    readable by its owner only. A link of that name is replaced, never followed. Raises `OSError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unfinished = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with naming(path):
            self._raw: BinaryIO = os.fdopen(os.open(self._unfinished, flags, 0o600), "wb", buffering=1 << 18)
        self._out: BinaryIO | gzip.GzipFile = self._raw
        if path.suffix == ".gz":
            self._out = gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=self._raw, mtime=0)

    def write(self, value: Any) -> None:
        """Add one line; what JSON has no form for becomes text, lone surrogates U+FFFD, NaN null."""
        line = encode_line(value)
        with naming(self.path):
            self._out.write(line)

    def close(self) -> None:
        """Put the file in place."""
        with naming(self.path):
            self._shut()
            os.replace(self._unfinished, self.path)

    def discard(self) -> None:
        """Leave no trace of the file."""
        with contextlib.suppress(OSError):
            self._shut()
        self._unfinished.unlink(missing_ok=True)

    def _shut(self) -> None:
        try:
            if self._out is not self._raw:
                self._out.close()
        finally:
            self._raw.close()

    def __enter__(self) -> LineFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.discard()
            return
        try:
            self.close()
        except OSError:
            self.discard()
            raise


def replace_file(path: Path, content: bytes) -> None:
    """Put a file in place in one step, on the disk and readable by its owner only; raises `OSError`."""
    draft = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(draft, flags, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def write_transcripts(path: str | os.PathLike[str], conversations: Iterable[Conversation]) -> int:
    """Write a `flow-transcripts-*.jsonl` or `.jsonl.gz`, and return the number of conversations in it."""
    count = 0
    with LineFile(Path(path)) as lines:
        for conversation in conversations:
            lines.write(transcript_document(conversation))
            count += 1
    return count


def transcript_document(conversation: Conversation) -> dict[str, Any]:
    """Return a conversation as a native line spells it, without what is missing or at its default."""
    document: dict[str, Any] = {"schema": SCHEMA}
    for name, default in _FIELDS:
        value = getattr(conversation, name)
        if value != default and not (isinstance(value, (list, dict)) and not value):
            document[name] = value
    if conversation.contract is not None:
        document["contract"] = _contract_document(conversation.contract)
    for name in _PARTS:
        part = getattr(conversation, name)
        if part or (part == [] and name == "expected_steps"):  # the task is known to ask for none
            document[name] = [_sparse(item) for item in part]
    return document


def encode_line(value: Any) -> bytes:
    """Return one value as UTF-8 JSON with its newline."""
    try:
        return _encoder.encode(value) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(_without_surrogates(msgspec.to_builtins(value, enc_hook=str))) + b"\n"


def _contract_document(contract: Contract) -> dict[str, Any]:
    document = _sparse(contract)
    document.pop("states")
    if contract.states:
        document["states"] = {
            name: {key: part for key, part in _sparse(state).items() if part != []}
            for name, state in contract.states.items()
        }
    return document


def _sparse(struct: msgspec.Struct) -> dict[str, Any]:
    tag = struct.__struct_config__.tag
    document: dict[str, Any] = {} if tag is None else {"type": tag}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if value is not None:
            document[name] = value
    return document


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value
