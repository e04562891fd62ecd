"""Unpack a kept transcript without trusting it: a store may come from anywhere."""

from __future__ import annotations

import io

LARGEST = 64 * 1024 * 1024
_PIECE = 1024 * 1024


def unpack_transcript(body: bytes, largest: int = LARGEST) -> bytes:
    """Return the text of a zstd-compressed transcript; raises `ValueError` where it is damaged or too large.

    What the frame says of its own size is not believed, so no more than `largest` is ever held.
    """
    import zstandard

    parts: list[bytes] = []
    left = largest
    try:
        with zstandard.ZstdDecompressor(max_window_size=LARGEST).stream_reader(io.BytesIO(body)) as reader:
            while piece := reader.read(_PIECE):
                left -= len(piece)
                if left < 0:
                    raise ValueError("larger than any transcript")
                parts.append(piece)
    except (zstandard.ZstdError, MemoryError) as error:
        raise ValueError(f"damaged: {error}") from error
    return b"".join(parts)
