"""Ask a model behind an endpoint that speaks the API of OpenAI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from riff_runner.chat.endpoint import NO_QUOTA, BadAddress, Endpoint, may_pass, retry_after
from riff_runner.chat.http_client import ClientMissing, HttpClient, HttpFault, encoded, environment_proxy
from riff_runner.judge.protocol import Answer, Misconfigured, Question, Refused, Unanswered, Usage

_PATH = "chat/completions"
_NOT_OF_THE_API = "the endpoint did not answer in the form of the API"


class OpenAIJudge:
    """Ask for one chat completion a try. Nothing but the prompt and the key leaves, to this one host."""

    def __init__(self, endpoint: Endpoint, timeout: float, *, json_mode: bool = True) -> None:
        """Raise `Misconfigured` for an address that is none, and where the HTTP client is missing."""
        try:
            endpoint.check()
        except BadAddress as error:
            raise Misconfigured(error.message) from error
        self._endpoint = endpoint
        self._timeout = timeout
        self._json_mode = json_mode
        try:
            self._http = HttpClient(endpoint, proxy=_proxy(endpoint.base_url), extra="judge")
        except ClientMissing as error:
            raise Misconfigured(f"it needs the HTTP client: {error.hint}") from error

    async def ask(self, question: Question) -> Answer:
        """Return the model's words, or why there are none."""
        try:
            async with self._http.request("POST", _PATH, self._timeout, encoded(self._body(question))) as answer:
                body = await answer.body()
                if not 200 <= answer.status < 300:
                    raise self._by_status(answer.status, answer.headers, body)
        except HttpFault as fault:
            reason = "no answer in time" if fault.is_late else fault.reason
            raise Unanswered(reason, again=fault.again) from None
        return _answer(body)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.close()

    def _body(self, question: Question) -> dict[str, Any]:
        return {
            "model": self._endpoint.model,
            "messages": [
                {"role": "system", "content": question.prompt.rubric},
                {"role": "user", "content": question.prompt.call},
            ],
            **({"response_format": {"type": "json_object"}} if self._json_mode else {}),
            **self._endpoint.extra,
        }

    def _by_status(self, status: int, headers: Mapping[str, str], body: bytes) -> Unanswered | Refused:
        error = _error_in(body)
        complaint = self._endpoint.complaint(error)
        is_plain = status in (401, 403) or 300 <= status < 400 or not complaint
        reason = f"HTTP {status}" if is_plain else f"HTTP {status}: {complaint}"
        code = error.get("code") if isinstance(error, dict) else None
        if refusal := self._endpoint.refusal(status, reason, no_quota=isinstance(code, str) and code in NO_QUOTA):
            return Refused(refusal)
        return Unanswered(reason, again=may_pass(status), after=retry_after(headers))


def _proxy(base_url: str) -> str | None:
    """Return the proxy of the environment; raises `Misconfigured` for one of a kind that is not known."""
    proxy = environment_proxy(base_url)
    kind = urlsplit(proxy).scheme if proxy else "http"
    if kind not in ("http", "https"):
        raise Misconfigured(f"the environment names a proxy of the kind {kind}, and only http is known; see NO_PROXY")
    return proxy


def _error_in(body: bytes) -> Any:
    """Return what a body reports of an error: the object of that name, else all of it."""
    text = body.decode(errors="replace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return document.get("error", document) if isinstance(document, dict) else document


def _answer(body: bytes) -> Answer:
    try:
        document = json.loads(body)
        choice = document["choices"][0]
        message = choice["message"]
        text, refusal, finish = message.get("content"), message.get("refusal"), choice.get("finish_reason")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return Answer(fault=_NOT_OF_THE_API)
    counted = document.get("usage")
    counts = (counted.get(key) for key in ("prompt_tokens", "completion_tokens")) if isinstance(counted, dict) else ()
    usage = Usage(*(count if type(count) is int and count >= 0 else 0 for count in counts))
    if finish == "length":
        return Answer(fault="the answer was cut off at the model's limit", usage=usage)
    if finish == "content_filter":
        return Answer(fault="the endpoint's filter withheld the answer", usage=usage)
    if not isinstance(text, str) or not text.strip():
        return Answer(fault="the model refused to answer" if refusal else "the answer is empty", usage=usage)
    return Answer(text, usage=usage)
