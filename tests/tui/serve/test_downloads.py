"""Files that explorers offer to the browser: each goes out once, whole, and under a name that stays a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.surface.tui import Downloads, disposition


class Explorer:
    """Answers each question for a piece of its file with the next one, and is gone after the last."""

    def __init__(self, downloads: Downloads, *pieces: bytes | None) -> None:
        self.downloads = downloads
        self.pieces = list(pieces)

    async def send_meta(self, asked: Mapping[str, Any]) -> bool:
        if not self.pieces:
            return False
        await self.downloads.claimed.incoming_chunks.put(self.pieces.pop(0))
        return True


async def offered(*pieces: bytes | None) -> tuple[Downloads, Any]:
    downloads = Downloads()
    explorer = Explorer(downloads, *pieces)
    await downloads.create_download(
        app_service=explorer, delivery_key="k", file_name="flows.md", open_method="download", mime_type="text/markdown"
    )
    downloads.claimed = downloads.claim("k")
    return downloads, downloads.claimed


async def test_a_file_goes_to_the_first_who_asks_and_to_nobody_else() -> None:
    downloads, first = await offered(b"one", b"two", b"")
    assert first is not None
    assert downloads.claim("k") is None
    assert downloads.claim("another") is None
    assert b"".join([piece async for piece in downloads.read(first)]) == b"onetwo"
    assert downloads.claim("k") is None


@pytest.mark.parametrize("pieces", [(b"one", None), (b"one",)])
async def test_a_file_whose_explorer_is_gone_does_not_look_whole(pieces: tuple[bytes | None, ...]) -> None:
    downloads, first = await offered(*pieces)
    with pytest.raises(ConnectionError):
        [piece async for piece in downloads.read(first)]


@pytest.mark.parametrize("name", ['a";x="b', "a\r\nSet-Cookie: x=1", "größe \u202e%22;.md", "\ud800\\"])
def test_no_name_ends_the_header_it_stands_in(name: str) -> None:
    header = disposition(name)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
    assert header.partition("; filename*=")[0].count(";") == 1
