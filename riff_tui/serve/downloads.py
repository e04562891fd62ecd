"""Hand files of explorers to the browser, each of them once and whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from textual_serve.download_manager import DOWNLOAD_CHUNK_SIZE, DownloadManager

if TYPE_CHECKING:
    from textual_serve.download_manager import Download

_PATIENCE_S = 30.0


class Downloads(DownloadManager):  # type: ignore[misc]  # textual-serve has no types
    """Hold the files that explorers offer, until they are fetched."""

    def __init__(self) -> None:
        super().__init__()
        self._fetched: set[str] = set()

    def claim(self, key: str) -> Download | None:
        """Return a file that is offered, to the first who asks for it."""
        if key in self._fetched or key not in self._active_downloads:
            return None
        self._fetched.add(key)
        return self._active_downloads[key]

    async def read(self, download: Any) -> AsyncIterator[bytes]:
        """Yield the file piece by piece; raise `ConnectionError` where the explorer is gone before its end."""
        asked = {"type": "deliver_chunk_request", "key": download.delivery_key, "size": DOWNLOAD_CHUNK_SIZE}
        try:
            while await download.app_service.send_meta({**asked, "name": download.name}):
                piece = await asyncio.wait_for(download.incoming_chunks.get(), _PATIENCE_S)
                if piece == b"":
                    return
                if piece is None:
                    break
                yield piece
            raise ConnectionError("the explorer is gone")
        finally:
            self._active_downloads.pop(download.delivery_key, None)


def disposition(name: str) -> str:
    """Return the header that has a browser save a file under a name, whatever is in it (RFC 6266)."""
    plain = "".join(each if each.isascii() and each.isprintable() and each not in '"\\%;' else "_" for each in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='', errors='replace')}"
