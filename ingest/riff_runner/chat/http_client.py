"""Send requests over HTTP; no other module needs the client library."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec

from riff_runner.chat.endpoint import LARGEST_BODY, Endpoint
from riff_store.errors import RiffError, UsageError, how_to_install

CONNECT_S = 10.0
LAST_PIECE_S = 0.05


class ClientMissing(UsageError):
    """Report that the package is not installed; the hint shows how to."""


class HttpFault(RiffError):
    """Report that a request brought no whole answer.

    `reached` shows whether there was a server at all, `is_late` whether there was no time left, and `again` whether
    another try may bring one.
    """

    def __init__(self, reason: str, *, reached: bool = True, is_late: bool = False, again: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.reached = reached
        self.is_late = is_late
        self.again = again


class HttpAnswer:
    """Give the head of an answer, and its body piece by piece."""

    def __init__(self, response: Any, faults: _Faults, timeout: float) -> None:
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers
        self._content = response.content
        self._faults = faults
        self._timeout = timeout
        self._size = 0

    async def piece(self) -> bytes:
        """Return the next bytes of the body, `b""` at its end; raises `HttpFault`, also if there are too many."""
        try:
            piece: bytes = await self._content.readany()
        except self._faults.kinds as error:
            raise self._faults.told(error, self._timeout) from error
        self._size += len(piece)
        if self._size > LARGEST_BODY:
            raise HttpFault("the answer is too large", again=False)
        return piece

    async def body(self) -> bytes:
        """Return the whole body."""
        pieces = []
        while piece := await self.piece():
            pieces.append(piece)
        return b"".join(pieces)

    async def finish(self) -> None:
        """Read what little follows the end of a stream, so that the connection can be used again."""
        if self._content.at_eof():
            return
        with contextlib.suppress(TimeoutError, HttpFault):
            async with asyncio.timeout(LAST_PIECE_S):
                while await self.piece():
                    pass


class HttpClient:
    """Send requests to one endpoint: nothing but them and the key leaves, and no redirect is followed.

    They go through a proxy where one is given. `extra` is what has to be installed for it.
    """

    def __init__(self, endpoint: Endpoint, *, proxy: str | None = None, extra: str = "run") -> None:
        try:
            import aiohttp
        except ImportError as error:
            raise ClientMissing(
                "a model behind an endpoint needs a package that is not installed", how_to_install(extra)
            ) from error
        self._library: Any = aiohttp
        self._endpoint = endpoint
        self._proxy = proxy
        self._faults = _Faults(aiohttp)
        self._session: Any = None
        self._addresses: dict[str, str] = {}
        self._limits: dict[float, Any] = {}

    @asynccontextmanager
    async def request(
        self, method: str, path: str, timeout: float, body: bytes | None = None
    ) -> AsyncIterator[HttpAnswer]:
        """Send a request and give its answer; raises `HttpFault`, also where the answer takes longer than `timeout`."""
        if self._session is None:
            self._session = self._opened()
        # What is the same for every request is made once.
        address, limits = self._addresses.get(path), self._limits.get(timeout)
        if address is None:
            parts = urlsplit(self._endpoint.base_url)
            address = parts._replace(path=f"{parts.path.rstrip('/')}/{path}", fragment="").geturl()
            self._addresses[path] = address
        if limits is None:
            limits = self._library.ClientTimeout(total=timeout, sock_connect=min(timeout, CONNECT_S))
            self._limits[timeout] = limits
        try:
            async with self._session.request(
                method,
                address,
                data=body,
                timeout=limits,
                allow_redirects=False,
                proxy=self._proxy,
            ) as response:
                yield HttpAnswer(response, self._faults, timeout)
        except self._faults.kinds as error:
            raise self._faults.told(error, timeout) from error

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
        # How many requests are under way is decided by who sends them; cookies and .netrc are none of ours.
        return library.ClientSession(
            connector=library.TCPConnector(limit=0),
            cookie_jar=library.DummyCookieJar(),
            headers=headers,
            trust_env=False,
        )


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return a body as JSON."""
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # half a character in what somebody said, which this encoder does not spell
        return json.dumps(body).encode()


def environment_proxy(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address, `None` if it names none."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(base_url)
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


class _Faults:
    """Turn what the library raises, one of `kinds`, into a fault in plain words."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self.kinds: tuple[type[Exception], ...] = (TimeoutError, ConnectionError, library.ClientError)

    def told(self, error: Exception, timeout: float) -> HttpFault:
        """Return the fault of a request that could take so many seconds."""
        library: Any = self._library
        if isinstance(error, TimeoutError):
            is_connecting = isinstance(error, library.ConnectionTimeoutError)
            return HttpFault(f"no answer within {timeout:g} s", reached=not is_connecting, is_late=True)
        if isinstance(error, library.ClientSSLError):
            return HttpFault(f"no secure connection to the endpoint ({error.os_error})", reached=False)
        if isinstance(error, library.ClientConnectorError):
            found: OSError = error.os_error
            number = found.errno or 0
            reason = os.strerror(number) if number > 0 else found.strerror or str(found)
            return HttpFault(f"no connection to the endpoint ({reason})", reached=False)
        if isinstance(error, library.InvalidURL):
            return HttpFault("base_url is not an address", reached=False)
        return HttpFault("connection closed mid-response")
