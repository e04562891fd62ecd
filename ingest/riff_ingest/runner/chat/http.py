"""Send requests over HTTP; no other module needs the client library."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from riff_ingest.endpoint import LARGEST_BODY, Endpoint
from riff_store.errors import UsageError

CONNECT_S = 10.0
LAST_PIECE_S = 0.05


class HttpFault(Exception):
    """Report that a request brought no whole answer; `reached` says whether there was a server at all."""

    def __init__(self, reason: str, *, reached: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.reached = reached


class HttpAnswer:
    """Hold the head of an answer, and give its body piece by piece."""

    def __init__(self, response: Any, told_apart: Callable[[], AbstractContextManager[None]]) -> None:
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers
        self._content = response.content
        self._told_apart = told_apart
        self._size = 0

    async def piece(self) -> bytes:
        """Return the next bytes of the body, `b""` at its end; raises `HttpFault`, also where there are too many."""
        with self._told_apart():
            piece: bytes = await self._content.readany()
        self._size += len(piece)
        if self._size > LARGEST_BODY:
            raise HttpFault("the answer is too large")
        return piece

    async def body(self) -> bytes:
        """Return the whole body."""
        pieces = []
        while piece := await self.piece():
            pieces.append(piece)
        return b"".join(pieces)

    async def finish(self) -> None:
        """Read what little follows the end of a stream, so that the connection can be used again."""
        with contextlib.suppress(TimeoutError, HttpFault):
            async with asyncio.timeout(LAST_PIECE_S):
                while await self.piece():
                    pass


class HttpClient:
    """Send requests to one endpoint: nothing but them and the key leaves, and no redirect is followed."""

    def __init__(self, endpoint: Endpoint) -> None:
        try:
            import aiohttp
        except ImportError as error:
            raise UsageError(
                "a model behind an endpoint needs the HTTP client", "pip install 'riff-tui[run]'"
            ) from error
        self._library: Any = aiohttp
        self._endpoint = endpoint
        self._session: Any = None
        self._addresses: dict[str, str] = {}

    @asynccontextmanager
    async def request(
        self, method: str, path: str, timeout: float, body: bytes | None = None
    ) -> AsyncIterator[HttpAnswer]:
        """Send a request and give its answer; raises `HttpFault`, also where the answer takes longer than `timeout`."""
        library = self._library
        if self._session is None:
            self._session = self._opened()
        limits = library.ClientTimeout(total=timeout, sock_connect=min(timeout, CONNECT_S))
        address = self._addresses.get(path) or self._address(path)
        told_apart = partial(self._told_apart, timeout)
        with told_apart():
            async with self._session.request(
                method,
                address,
                data=body,
                timeout=limits,
                allow_redirects=False,
            ) as response:
                yield HttpAnswer(response, told_apart)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _opened(self) -> Any:
        library = self._library
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json", "User-Agent": "riff-tui"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        # How many requests are under way is decided by who sends them; proxies, cookies and .netrc are none of ours.
        return library.ClientSession(
            connector=library.TCPConnector(limit=0),
            cookie_jar=library.DummyCookieJar(),
            headers=headers,
            trust_env=False,
        )

    def _address(self, path: str) -> str:
        parts = urlsplit(self._endpoint.base_url)
        address = parts._replace(path=f"{parts.path.rstrip('/')}/{path}", fragment="").geturl()
        return self._addresses.setdefault(path, address)

    @contextmanager
    def _told_apart(self, timeout: float) -> Iterator[None]:
        """Raise what the library raises as a fault in plain words."""
        library = self._library
        try:
            yield
        except TimeoutError as error:
            is_connecting = isinstance(error, library.ConnectionTimeoutError)
            raise HttpFault(f"no answer within {timeout:g} s", reached=not is_connecting) from error
        except library.ClientSSLError as error:
            raise HttpFault(f"no secure connection to the endpoint ({error.os_error})", reached=False) from error
        except library.ClientConnectorError as error:
            raise HttpFault(f"no connection to the endpoint ({_reason(error.os_error)})", reached=False) from error
        except library.InvalidURL as error:
            raise HttpFault("base_url is no address", reached=False) from error
        except (library.ClientError, ConnectionError) as error:
            raise HttpFault("the answer broke off") from error


def _reason(error: OSError) -> str:
    """Return why there is no connection, in the words of the system."""
    number = error.errno or 0
    return os.strerror(number) if number > 0 else error.strerror or str(error)
