"""Decide what follows a refusal of an endpoint: wait, try again or give up."""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from riff_runner.chat.endpoint import NO_QUOTA, Endpoint, may_pass, retry_after
from riff_runner.chat.http_client import HttpClient, HttpFault
from riff_runner.chat.protocol import ChatError, ContextFull, EndpointGone, NoSuchModel, RequestWrong, Waiting
from riff_store.errors import RiffError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limit tries and the seconds between them.

    Pauses double from `pause_s` to `longest_pause_s`, less up to a quarter by chance; an endpoint that asks for more
    than `longest_wait_s` is given up.
    """

    tries: int = 3
    pause_s: float = 0.5
    longest_pause_s: float = 8.0
    longest_wait_s: float = 120.0

    def pause(self, failed: int, asked: float | None, chance: Random) -> float | None:
        """Return the seconds before the next try, `None` if there is none.

        `failed` counts the tries so far, `asked` is the wait that the endpoint asks for.
        """
        if failed >= self.tries:
            return None
        if asked is not None:
            return asked if asked <= self.longest_wait_s else None
        doubled: float = self.pause_s * 2.0 ** (failed - 1)
        return min(self.longest_pause_s, doubled) * (1 - 0.25 * chance.random())


_CONTEXT = re.compile(
    r"context[_ ](length|window|size)|maximum context|prompt is too long|too many (input )?tokens|input is too long",
    re.I,
)
_WRONG = (400, 413, 422)
_OF_KIND = {
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "model_not_found": 404,
    "not_found_error": 404,
}
"""What errors that are told within an answer are called, and the status that they would have had."""


class TryFailed(RiffError):
    """Report a try that brought no answer, through no fault of the request.

    `again` shows whether another one makes sense, `after` how many seconds the endpoint wants to be left alone, and
    `is_crowded` whether it shows that there are too many requests.
    """

    def __init__(
        self, reason: str, *, again: bool = True, after: float | None = None, is_crowded: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.after = after
        self.is_crowded = is_crowded


class ParameterRefused(RiffError):
    """Report that an endpoint does not take parameters of the request, or cannot answer with them."""

    def __init__(self, reason: str, *parameters: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.parameters = parameters


def fault_of(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], body: bytes, optional: Collection[str] = ()
) -> ChatError | TryFailed | ParameterRefused:
    """Return what an answer with such a status means; `optional` are the parameters that may be left out."""
    text = body.decode(errors="replace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        document = None if text.lstrip().startswith("<") else text
    return _fault(endpoint, status, headers, _error_of(document), text, optional)


def told_fault(endpoint: Endpoint, error: Any) -> ChatError | TryFailed | ParameterRefused:
    """Return what an error means that came within an answer."""
    status = next((_OF_KIND[kind] for kind in _kinds(error) if kind in _OF_KIND), 500)
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) <= 599:
        status = int(code)
    return _fault(endpoint, status, {}, error, json.dumps(error), ())


def _fault(
    endpoint: Endpoint, status: int, headers: Mapping[str, str], error: Any, text: str, optional: Collection[str]
) -> ChatError | TryFailed | ParameterRefused:
    words = endpoint.complaint(error)
    reason = f"{status}: {words}" if words else str(status)
    kinds = set(_kinds(error))
    if refusal := endpoint.refusal(status, reason, no_quota=bool(NO_QUOTA & kinds)):
        return NoSuchModel(refusal) if status == 404 else EndpointGone(refusal)
    again = {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())
    if again or may_pass(status):
        after = retry_after(headers)
        return TryFailed(reason, again=again is not False, after=after, is_crowded=status == 429)
    if status in _WRONG:
        if "context_length_exceeded" in kinds or _CONTEXT.search(text):
            return ContextFull(reason)
        if parameter := _refused(error, text, optional):
            return ParameterRefused(reason, parameter)
    return RequestWrong(reason)


def _error_of(document: Any) -> Any:
    """Return the error in a body, in whichever of the usual places it is."""
    if isinstance(document, list) and document:
        document = document[0]
    if not isinstance(document, dict):
        return document
    for name in ("error", "detail"):
        if document.get(name):
            return document[name]
    return document


def _kinds(error: Any) -> Iterator[str]:
    for name in ("code", "type"):
        kind = error.get(name) if isinstance(error, dict) else None
        if isinstance(kind, str):
            yield kind


def _refused(error: Any, text: str, optional: Collection[str]) -> str | None:
    """Return the parameter that an error is about, if it is one that may be left out."""
    named = error.get("param") if isinstance(error, dict) else None
    if isinstance(named, str) and named in optional:
        return named
    return next((name for name in optional if re.search(rf"\b{name}\b", text)), None)


# Ask an endpoint for its models before a run, which costs nothing and finds a wrong address or key.
LONGEST_S = 15.0
MOST_NAMED = 5


async def preflight(http: HttpClient, endpoint: Endpoint, timeout: float) -> str | None:
    """Return a hint where the endpoint lists models and not the one that is meant.

    Raises `EndpointGone` if there is no server or it refuses the key. An endpoint that lists nothing, or is busy, may
    answer all the same.
    """
    try:
        async with http.request("GET", "models", min(timeout, LONGEST_S)) as answer:
            status, headers, body = answer.status, answer.headers, await answer.body()
    except HttpFault as fault:
        if fault.reached:
            return None
        shown = urlsplit(endpoint.base_url)._replace(query="", fragment="").geturl()  # either may contain a secret
        hint = "see that the server runs and that the address after @ is right"
        raise EndpointGone(f"{fault.reason}: {shown}", hint) from None
    if 200 <= status < 300:
        listed = _listed(body)
        if not listed or endpoint.model in listed:
            return None
        more = f" and {len(listed) - MOST_NAMED} more" if len(listed) > MOST_NAMED else ""
        return f"the endpoint lists {', '.join(sorted(listed)[:MOST_NAMED])}{more}, and no {endpoint.model}"
    refusal = fault_of(endpoint, status, headers, body)
    if isinstance(refusal, EndpointGone) and not isinstance(refusal, NoSuchModel):
        raise refusal
    return None


def _listed(body: bytes) -> list[str]:
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return []
    models = document.get("data") if isinstance(document, dict) else None
    named = [model.get("id") for model in models if isinstance(model, dict)] if isinstance(models, list) else []
    return [name for name in named if isinstance(name, str)]


GOOD_ANSWERS = 20
"""Answers after which one more request may be under way at once."""


class Pace:
    """Limit how many requests to a host are under way, once it has complained.

    The first complaint halves what is under way. Others of requests that were sent before it complain of the same
    crowd, and change nothing.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self.under_way = 0
        self._cuts = 0
        self._good = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self, waiting: Waiting = nullcontext) -> int:
        """Wait until one more request may be sent, and return what `slow_down` wants to know of it."""
        if self._waiting or not self._has_room:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                with waiting():
                    await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # it was let in and goes away at the same moment
                    self.leave()
                raise
        else:
            self.under_way += 1
        return self._cuts

    def leave(self) -> None:
        """Take note that a request is over."""
        self.under_way -= 1
        self._let_in()

    def slow_down(self, entered: int) -> None:
        """Halve what may be under way, for a request that entered so."""
        if entered == self._cuts:
            self.limit = max(1, self.under_way // 2)
            self._cuts += 1
            self._good = 0

    def answered(self) -> None:
        """Take note of a good answer."""
        if self.limit is None:
            return
        self._good += 1
        if self._good >= GOOD_ANSWERS:
            self._good = 0
            self.limit += 1
            self._let_in()

    @property
    def _has_room(self) -> bool:
        return self.limit is None or self.under_way < self.limit

    def _let_in(self) -> None:
        while self._waiting and self._has_room:
            turn = self._waiting.popleft()
            if not turn.done():
                self.under_way += 1
                turn.set_result(None)


_PACES: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Pace]] = WeakKeyDictionary()


def pace_of(address: str) -> Pace:
    """Return the pace of a host, the same for all who call it from the running loop."""
    host = urlsplit(address).netloc.lower()
    return _PACES.setdefault(asyncio.get_running_loop(), {}).setdefault(host, Pace())
