"""Ask a model behind an endpoint that speaks the API of OpenAI; no other module needs the client library."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from riff_ingest.judging.protocol import Answer, Misconfigured, Question, Refused, Signature, Unanswered, Usage

LARGEST_BODY = 4 * 1024 * 1024
LONGEST_COMPLAINT = 200
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_KEY = re.compile(r"[!-~]+")
_SENT_HEADERS = frozenset(
    [
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "transfer-encoding",
        "user-agent",
    ]
)
_RAW = "x-stainless-raw-response"  # by which the client knows that the body is wanted as it comes
_TRANSPORTS = ("httpx2", "httpx")
_NO_QUOTA = "insufficient_quota"
_NOT_OF_THE_API = "the endpoint did not answer in the form of the API"


@dataclass(frozen=True)
class Endpoint:
    """Describe where a model is reached; `key` is the secret itself and is shown by nothing."""

    base_url: str
    model: str
    key: str | None = field(default=None, repr=False)
    key_variable: str | None = None
    json_mode: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise `Misconfigured` for an address that is none, or to which a key would go in the clear."""
        try:
            parts = urlsplit(self.base_url)
            known = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            known = False
        if not known or parts.username or parts.password:
            raise Misconfigured("base_url is not the address of an endpoint, such as https://host/v1")
        if self.key and not _KEY.fullmatch(self.key):
            raise Misconfigured(f"what ${self.key_variable} holds is no key")
        if self.key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise Misconfigured("base_url has to be https, or the key would be sent unencrypted")


class OpenAIJudge:
    """Ask for one chat completion a try. Nothing but the prompt and the key leaves, to this one host."""

    def __init__(self, endpoint: Endpoint, prompt_hash: str, timeout: float) -> None:
        try:
            import openai
        except ImportError as error:
            raise Misconfigured("it needs the client library: pip install 'riff-tui[judge]'") from error
        endpoint.check()
        self._library = openai
        self._endpoint = endpoint
        self._signature = Signature(endpoint.model, prompt_hash)
        http_client = openai.DefaultAsyncHttpxClient(follow_redirects=False, event_hooks={"request": [self._stripped]})
        self._client = openai.AsyncOpenAI(
            api_key=endpoint.key or "none",
            base_url=endpoint.base_url,
            timeout=timeout,
            max_retries=0,
            http_client=http_client,
        )
        self._host = self._client.base_url.host

    def signature(self, run: str, conversation: str) -> Signature:
        """Return the model and the prompt, for every call."""
        return self._signature

    async def ask(self, question: Question) -> Answer:
        """Return the model's words, or why there are none."""
        try:
            body = await self._body(question)
        except self._library.APIStatusError as error:
            raise self._by_status(error) from None
        except self._library.APITimeoutError:
            raise Unanswered("no answer in time") from None
        except self._library.APIConnectionError as error:
            if isinstance(error.__cause__, Refused):
                raise error.__cause__ from None
            raise Unanswered("no connection to the endpoint") from None
        return _answer(body)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _body(self, question: Question) -> bytes:
        request = self._client.chat.completions.with_streaming_response.create(
            model=self._endpoint.model,
            messages=[
                {"role": "system", "content": question.prompt.rubric},
                {"role": "user", "content": question.prompt.call},
            ],
            **({"response_format": {"type": "json_object"}} if self._endpoint.json_mode else {}),
            extra_body=dict(self._endpoint.extra) or None,
        )
        async with request as response:
            body = b""
            try:
                async for piece in response.iter_bytes():
                    body += piece
                    if len(body) > LARGEST_BODY:
                        raise Unanswered("the answer is too large", again=False)
            except Exception as error:
                # The transport's own errors come through here, and which library it is depends on the client's version.
                if type(error).__module__.partition(".")[0] not in _TRANSPORTS:
                    raise
                raise Unanswered("the answer broke off") from error
            return body

    async def _stripped(self, request: Any) -> None:
        """Let only what the API needs go out: the client adds to it from the environment and about the machine."""
        if request.url.host != self._host:
            raise Refused("the client was about to call another host than that of base_url")
        for name in [name for name in request.headers if name.lower() not in (*_SENT_HEADERS, _RAW)]:
            del request.headers[name]
        if self._endpoint.key:
            request.headers["Authorization"] = f"Bearer {self._endpoint.key}"

    def _by_status(self, error: Any) -> Unanswered | Refused:
        status = int(error.status_code)
        if status in (401, 403):
            variable = f" in ${self._endpoint.key_variable}" if self._endpoint.key_variable else ""
            return Refused(f"the endpoint does not take the key{variable} (HTTP {status})")
        if 300 <= status < 400:
            return Refused(f"the endpoint redirects (HTTP {status}), which is not followed; correct base_url")
        reason = f"HTTP {status}{self._complaint(error.body)}"
        if status == 404:
            return Refused(f"the endpoint knows no such address or model ({reason})")
        if status == 402 or error.code == _NO_QUOTA:
            return Refused(f"the account has no credit left ({reason})")
        again = status in (408, 409, 425, 429) or status >= 500
        return Unanswered(reason, again=again, after=_retry_after(error.response.headers))

    def _complaint(self, body: Any) -> str:
        """Return what the endpoint says is wrong, in one short line without the key."""
        if isinstance(body, list) and body and isinstance(body[0], dict):
            body = body[0].get("error")
        message = body.get("message") if isinstance(body, dict) else None
        if not isinstance(message, str) or not message.strip():
            return ""
        line = " ".join(message.split())
        if self._endpoint.key:
            line = line.replace(self._endpoint.key, f"${self._endpoint.key_variable}")
        return f": {line[:LONGEST_COMPLAINT]}"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait: `Retry-After` as a number or as a date."""
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if seconds < float("inf") else None


def _answer(body: bytes) -> Answer:
    try:
        document = json.loads(body)
        choice = document["choices"][0]
        message = choice["message"]
        text, refusal, finish = message.get("content"), message.get("refusal"), choice.get("finish_reason")
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return Answer(fault=_NOT_OF_THE_API)
    usage = _usage(document.get("usage"))
    if finish == "length":
        return Answer(fault="the answer was cut off at the model's limit", usage=usage)
    if finish == "content_filter":
        return Answer(fault="the endpoint's filter withheld the answer", usage=usage)
    if not isinstance(text, str) or not text.strip():
        return Answer(fault="the model refused to answer" if refusal else "the answer is empty", usage=usage)
    return Answer(text, usage=usage)


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return Usage(*(count if type(count) is int and count >= 0 else 0 for count in counts))
