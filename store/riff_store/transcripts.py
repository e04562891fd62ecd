"""Read a kept transcript without trusting it: a store may come from anywhere."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from riff_store import schema as m
from riff_store.transcript_columns import read_text

if TYPE_CHECKING:
    import zstandard

    from riff_store.database import Store

LARGEST = 64 * 1024 * 1024
LARGEST_DICTIONARY = 1024 * 1024
_PIECE = 1024 * 1024


class Transcripts:
    """Read the transcripts of a store, each with the dictionary that compressed it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._dictionaries: dict[int, zstandard.ZstdCompressionDict] = {}
        self._engines: dict[int | None, zstandard.ZstdDecompressor] = {}

    def document(self, body: object, dictionary: int | None) -> dict[str, Any]:
        """Return a transcript as an object of turns, events and what else it has; raises `ValueError` for damage."""
        return parsed(self.text(body, dictionary))

    def text(self, body: object, dictionary: int | None) -> bytes:
        """Return the text of a transcript, however that is spelled; raises `ValueError` for damage."""
        import zstandard

        if not isinstance(body, bytes):
            raise ValueError("no bytes")
        known = None if dictionary is None else self._dictionary(dictionary)
        try:
            if 0 <= zstandard.frame_content_size(body) <= _PIECE:
                return self._engine(dictionary, known).decompress(body)
        except zstandard.ZstdError as error:
            raise ValueError(f"damaged: {error}") from error
        return unpack_transcript(body, dictionary=known)

    def _engine(self, key: int | None, known: zstandard.ZstdCompressionDict | None) -> zstandard.ZstdDecompressor:
        import zstandard

        if key not in self._engines:
            self._engines[key] = zstandard.ZstdDecompressor(dict_data=known, max_window_size=LARGEST)
        return self._engines[key]

    def _dictionary(self, key: int) -> zstandard.ZstdCompressionDict:
        import zstandard

        if key not in self._dictionaries:
            rows = self._store.execute(m.TextDictionary.select(m.TextDictionary.body).where(m.TextDictionary.id == key))
            body = rows[0][0] if rows else None
            if not isinstance(body, bytes) or not 0 < len(body) <= LARGEST_DICTIONARY:
                raise ValueError("compressed by a dictionary that the store does not have")
            self._dictionaries[key] = zstandard.ZstdCompressionDict(body)
        return self._dictionaries[key]


def parsed(text: bytes) -> dict[str, Any]:
    """Return the text of a transcript as an object; raises `ValueError` for damage."""
    try:
        return read_text(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def unpack_transcript(
    body: bytes, largest: int = LARGEST, dictionary: zstandard.ZstdCompressionDict | None = None
) -> bytes:
    """Return the text of a zstd-compressed transcript; raises `ValueError` if it is damaged or too large.

    What the frame reports of its own size is not believed, so no more than `largest` is ever kept.
    """
    import zstandard

    parts: list[bytes] = []
    left = largest
    try:
        engine = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=LARGEST)
        with engine.stream_reader(io.BytesIO(body)) as reader:
            while piece := reader.read(_PIECE):
                left -= len(piece)
                if left < 0:
                    raise ValueError("larger than any transcript")
                parts.append(piece)
    except (zstandard.ZstdError, MemoryError) as error:
        raise ValueError(f"damaged: {error}") from error
    return b"".join(parts)
