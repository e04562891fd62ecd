"""Tell from what an endpoint answers in place of a completion whose fault it is, and whether another try may help."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from riff_ingest.endpoint import NO_QUOTA, Endpoint, may_pass, retry_after
from riff_ingest.runner.chat.protocol import ChatError, ContextFull, EndpointGone, NoSuchModel, RequestWrong
from riff_store.errors import RiffError

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

    `again` says whether another one makes sense, `after` how many seconds the endpoint wants to be left alone, and
    `is_crowded` whether it says that there are too many requests.
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
    """Return the error in a body, in whichever of the usual places it stands."""
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
