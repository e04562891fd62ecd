"""Ask a model behind an endpoint that speaks the API of OpenAI; no other module needs the client library."""

from __future__ import annotations

import json
from typing import Any

from riff_ingest.endpoint import LARGEST_BODY, NO_QUOTA, BadAddress, Endpoint, may_pass, retry_after
from riff_ingest.judging.protocol import Answer, Misconfigured, Question, Refused, Signature, Unanswered, Usage

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
_NOT_OF_THE_API = "the endpoint did not answer in the form of the API"


class OpenAIJudge:
    """Ask for one chat completion a try. Nothing but the prompt and the key leaves, to this one host."""

    def __init__(self, endpoint: Endpoint, prompt_hash: str, timeout: float, *, json_mode: bool = True) -> None:
        try:
            import openai
        except ImportError as error:
            raise Misconfigured("it needs the client library: pip install 'riff-tui[judge]'") from error
        try:
            endpoint.check()
        except BadAddress as error:
            raise Misconfigured(error.message) from error
        self._library = openai
        self._endpoint = endpoint
        self._json_mode = json_mode
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
            **({"response_format": {"type": "json_object"}} if self._json_mode else {}),
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
        complaint = self._endpoint.complaint(error.body)
        is_plain = status in (401, 403) or 300 <= status < 400 or not complaint
        reason = f"HTTP {status}" if is_plain else f"HTTP {status}: {complaint}"
        if refusal := self._endpoint.refusal(status, reason, no_quota=error.code in NO_QUOTA):
            return Refused(refusal)
        return Unanswered(reason, again=may_pass(status), after=retry_after(error.response.headers))


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
