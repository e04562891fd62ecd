"""Run the explorer of one page as a process, and see to it that it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from textual_serve.app_service import AppService
from textual_serve.download_manager import DOWNLOAD_CHUNK_SIZE, Download, DownloadManager

from riff_tui.browser import PLACE
from riff_tui.serve.admission import COMPLAINT_BYTES, HEIGHT, PACKET_BYTES, UNREAD_BYTES, WIDTH, Limits
from riff_tui.serve.place import is_link
from riff_tui.text.safe_text import one_line

_PRELUDE = b"__GANGLION__\n"
_DATA, _META, _PACKED = b"D", b"M", b"P"


class Session(AppService):  # type: ignore[misc]  # textual-serve has no types
    """Pass on what an explorer draws and what a page types, until either ends.

    `draw` and `tell` send to the page, which `titled` names; `ended` closes the connection, with a reason where the
    explorer ended with an error.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        draw: Callable[[bytes], Awaitable[None]],
        tell: Callable[[str], Awaitable[None]],
        titled: Callable[[str], str],
        ended: Callable[[str], Awaitable[None]],
        downloads: DownloadManager,
        limits: Limits,
    ) -> None:
        super().__init__("", write_bytes=draw, write_str=tell, close=ended, download_manager=downloads)
        self._arguments = command
        self._environment = environment
        self._ended = ended
        self._limits = limits
        self._titled = titled
        self.complaint = bytearray()
        """The end of what the explorer wrote on stderr, which goes nowhere else."""
        self._is_up = False
        self._stopping: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Return the id of the process, `None` before it was started."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Start the process, in a session of its own: what the server's terminal sends does not reach it."""
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            *self._arguments,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            env=self._environment,
            start_new_session=True,
        )
        if self._stopping is not None:
            # The server ended while this began.
            self.kill()
            await self._process.wait()
        self._stdin = self._process.stdin
        self._task = asyncio.create_task(self.run())

    async def send_bytes(self, data: bytes) -> bool:
        """Send what was typed; return whether there is room for it."""
        return self._put(_DATA, data)

    async def send_meta(self, data: Mapping[str, Any]) -> bool:
        """Send what is not a key; return whether there is room for it."""
        return self._put(_META, json.dumps(data).encode())

    async def run(self) -> None:
        """Pass on what the explorer draws until it ends, and keep the end of what it complains about."""
        process = self._process
        assert process.stdout is not None
        assert process.stderr is not None
        complaints = asyncio.create_task(self._keep_complaints(process.stderr))
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, ValueError):
            await self._pass_on(process.stdout)
        await asyncio.wait([complaints], timeout=self._limits.patience_s)
        complaints.cancel()
        lines = self.complaint.decode("utf-8", "replace").strip().splitlines()
        await self._ended(one_line(lines[-1]) if lines else "")

    async def stop(self) -> None:
        """End the process: by a request, else SIGTERM, else SIGKILL; what it is saving when asked is saved."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())
        await asyncio.shield(self._stopping)

    def kill(self) -> None:
        """End the process and what it started at once."""
        self._signal(signal.SIGKILL)

    async def _stop(self) -> None:
        if self._process is None:
            return
        await self._download_manager.cancel_app_downloads(app_service_id=self.app_service_id)
        if self._is_up:
            await self.send_meta({"type": "quit"})
        else:
            # One that draws nothing so far does not hear a request.
            self._signal(signal.SIGTERM)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if await self._has_ended():
                break
            self._signal(number)
        await self._process.wait()
        await asyncio.wait([self._task], timeout=self._limits.patience_s)
        self._task.cancel()

    async def _has_ended(self) -> bool:
        try:
            await asyncio.wait_for(self._process.wait(), self._limits.patience_s)
        except TimeoutError:
            return False
        return True

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _put(self, kind: bytes, payload: bytes) -> bool:
        """Write a packet; what an explorer that hangs does not read is dropped."""
        stdin = self._stdin
        if stdin is None or stdin.is_closing() or stdin.transport.get_write_buffer_size() > UNREAD_BYTES:
            return False
        stdin.write(self.encode_packet(kind, payload))
        return True

    async def _pass_on(self, stdout: asyncio.StreamReader) -> None:
        if await stdout.readexactly(len(_PRELUDE)) != _PRELUDE:
            return
        self._is_up = True
        receivers = {_DATA: self.on_data, _META: self.on_meta, _PACKED: self.on_packed}
        while True:
            kind = await stdout.readexactly(1)
            size = int.from_bytes(await stdout.readexactly(4), "big")
            if kind not in receivers or size > PACKET_BYTES:
                self._signal(signal.SIGKILL)
                return
            await receivers[kind](await stdout.readexactly(size))

    async def on_data(self, payload: bytes) -> None:
        """Pass on what is drawn; once the page is gone it is read and dropped, so that the explorer can end."""
        with contextlib.suppress(ConnectionError):
            await self.remote_write_bytes(payload)

    async def on_meta(self, data: bytes) -> None:
        """Take what the explorer reports; it opens no address of the web."""
        told = json.loads(data)
        with contextlib.suppress(ConnectionError):
            if told.get("type") == "deliver_file_start":
                await super().on_meta(data)
            elif told.get("type") == PLACE and is_link(str(told.get("address"))):
                place = {"address": told["address"], "title": self._titled(str(told.get("title")))}
                await self.remote_write_str(json.dumps([PLACE, place]))

    async def _keep_complaints(self, stderr: asyncio.StreamReader) -> None:
        while data := await stderr.read(4096):
            self.complaint = (self.complaint + data)[-COMPLAINT_BYTES:]


# Read what a page sends: text frames that have a JSON list, which may say anything.
_PING_LENGTH = 32


class Typed(NamedTuple):
    """Describe what keys and the mouse sent, as a terminal would."""

    keys: bytes


class Resized(NamedTuple):
    """Describe how many cells the page has."""

    width: int
    height: int


class Focused(NamedTuple):
    """Describe whether the page has the focus."""

    has: bool


class Ping(NamedTuple):
    """Describe what is to be sent back."""

    text: str


Frame: TypeAlias = Typed | Resized | Focused | Ping


def parse_frame(text: str) -> Frame | None:
    """Return what a frame reports, sizes within bounds; nothing if it makes no sense."""
    try:
        kind, *more = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    value: Any = more[0] if more else None
    if kind == "stdin" and isinstance(value, str):
        return Typed(value.encode("utf-8", "replace"))
    if kind == "resize" and isinstance(value, dict):
        return _resized(value.get("width"), value.get("height"))
    if kind == "ping" and isinstance(value, str):
        return Ping(value[:_PING_LENGTH])
    return Focused(kind == "focus") if kind in ("focus", "blur") else None


def _resized(width: object, height: object) -> Resized | None:
    if isinstance(width, bool) or isinstance(height, bool):
        return None
    if not isinstance(width, int) or not isinstance(height, int):
        return None
    return Resized(WIDTH.clamp(width), HEIGHT.clamp(height))


_PATIENCE_S = 30.0


class Downloads(DownloadManager):  # type: ignore[misc]  # textual-serve has no types
    """Keep the files that explorers offer, until they are fetched."""

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
        """Yield the file piece by piece; raise `ConnectionError` if the explorer is gone before its end."""
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
