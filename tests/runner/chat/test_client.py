"""A client tries again where that may help, tells a full account from a busy server, and lets nothing out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support.chat_server import Play, Said, always, chat_server, first, saying, well
from tests.support.judge_endpoint import Asked, Reply, error
from tests.support.judged_calls import KEY, KEY_VARIABLE
from tests.surface.runner import (
    ChatClient,
    ChatReply,
    ContextFull,
    Endpoint,
    EndpointDown,
    EndpointGone,
    NoSuchModel,
    RequestWrong,
    pace_of,
)
from tests.surface.runner import RetriesRetryPolicy as RetryPolicy
from tests.surface.store import UsageError

pytest.importorskip("aiohttp")

QUICK = RetryPolicy(pause_s=0.001)
HELLO = [{"role": "user", "content": "Hello."}]


async def asked(
    url: str, model: str = "played", key: str | None = None, extra: dict[str, Any] | None = None, **options: Any
) -> ChatReply:
    """Complete one chat."""
    endpoint = Endpoint(url, model, key, KEY_VARIABLE if key else None, extra or {})
    client = ChatClient(
        endpoint, timeout=options.pop("timeout", 5.0), stream=options.pop("stream", True), retries=QUICK
    )
    try:
        return await client.complete(HELLO, **options)
    finally:
        await client.close()


async def played(play: Play, **options: Any) -> tuple[ChatReply, list[Asked]]:
    with chat_server({"played": play}) as server:
        return await asked(server.url, **options), server.completions


async def checked(play_models: Reply, **options: Any) -> str | None:
    with chat_server({"played": well}, play_models) as server:
        client = ChatClient(Endpoint(server.url, "played", **options))
        try:
            return await client.check()
        finally:
            await client.close()


async def test_nothing_but_the_request_and_the_key_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    _, (request,) = await played(well, key=KEY)
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers.keys() <= {
        "host", "accept", "accept-encoding", "content-type", "content-length", "user-agent", "authorization",
    }  # fmt: skip
    assert request.headers["user-agent"] == "riff-tui"


async def test_an_endpoint_without_a_key_gets_none() -> None:
    _, (request,) = await played(well)
    assert "authorization" not in request.headers


async def test_a_query_of_the_address_stays_behind_its_path() -> None:
    with chat_server({"played": well}) as server:
        await asked(f"{server.url}/?api-version=7")
        assert server.endpoint.asked[0].path == "/v1/chat/completions?api-version=7"


async def test_what_the_endpoint_wants_on_top_is_sent() -> None:
    _, (request,) = await played(well, extra={"top_p": 0.5, "temperature": 0.3})
    assert (request.body["top_p"], request.body["temperature"]) == (0.5, 0.3)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_no_redirect_is_followed(status: int) -> None:
    with (
        chat_server({"played": well}) as other,
        chat_server({"played": always(Reply(status, headers={"Location": f"{other.url}/chat/completions"}))}) as server,
    ):
        with pytest.raises(EndpointGone, match="redirects"):
            await asked(server.url, key=KEY)
        assert not other.endpoint.asked


@pytest.mark.parametrize("address", ["http://host.example/v1", "http://10.0.0.1/v1"])
def test_a_key_goes_nowhere_in_the_clear(address: str) -> None:
    with pytest.raises(UsageError, match="https"):
        ChatClient(Endpoint(address, "m", KEY, KEY_VARIABLE))


@pytest.mark.parametrize(
    "address", ["", "host/v1", "ftp://host", "https://user:word@host/v1", "https://[::1", "http://h:x"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="not the address"):
        ChatClient(Endpoint(address, "m"))


async def test_the_endpoints_words_are_cut_and_hold_no_key() -> None:
    with pytest.raises(RequestWrong) as caught:
        await played(always(error(400, f"no\n {KEY} {'x' * 900}")), key=KEY)
    assert str(caught.value).startswith(f"400: no ${KEY_VARIABLE} xxx")
    assert len(str(caught.value)) <= 210


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(401), EndpointGone),
        (error(403), EndpointGone),
        (error(402), EndpointGone),
        (error(404), NoSuchModel),
        (error(429, code="insufficient_quota"), EndpointGone),
        (error(400, "no"), RequestWrong),
        (error(422, "no"), RequestWrong),
        (error(413, "prompt is too long"), ContextFull),
        (error(400, "This model's maximum context length is 8192 tokens. However, you requested 9000"), ContextFull),
        (error(400, "Input is too long for requested model."), ContextFull),
        (error(408), EndpointDown),
        (error(409), EndpointDown),
        (error(429), EndpointDown),
        (error(500), EndpointDown),
        (error(529), EndpointDown),
        (error(400, headers={"x-should-retry": "true"}), EndpointDown),
        (Reply(200, b'{"error": {"message": "no", "type": "insufficient_quota"}}'), EndpointGone),
        (Reply(200, b'{"error": {"message": "no", "code": "context_length_exceeded"}}'), ContextFull),
        (Reply(200, b'{"error": {"message": "no", "code": 404}}'), NoSuchModel),
        (Reply(200, b'{"error": "no"}'), EndpointDown),
        (Reply(400, b'[{"error": {"message": "API key not valid"}}]'), RequestWrong),
        (Reply(503, b"<html>Bad Gateway</html>"), EndpointDown),
    ],
)
async def test_what_an_endpoint_answers_is_told_apart(reply: Reply, kind: type[Exception]) -> None:
    with chat_server({"played": always(reply)}) as server:
        with pytest.raises(kind) as caught:
            await asked(server.url)
        assert type(caught.value) is kind
        assert len(server.completions) == (3 if kind is EndpointDown else 1)
    assert "<html>" not in str(caught.value)


async def test_an_answer_without_end_is_given_up_where_it_is_too_large() -> None:
    with chat_server() as server, pytest.raises(EndpointDown, match="the answer is too large, 3 times"):
        await asked(server.url, "too-large", timeout=60.0)


async def test_each_try_is_told_of() -> None:
    seen: list[tuple[str, str]] = []
    busy = error(503, "busy", {"retry-after-ms": "1"})
    await played(
        first(busy, busy),
        on_retry=lambda message, seconds: seen.append(("retry", message)) if seconds > 0 else None,
        on_wait=lambda why: seen.append(("wait", why)),
    )
    assert seen == [("wait", "503: busy"), ("retry", "503: busy")] * 2


async def test_a_parameter_is_left_out_for_all_that_follows() -> None:
    def play(request: Asked, before: int) -> Reply:
        if "seed" in request.body:
            return Reply(422, b'{"detail": [{"loc": ["body", "seed"], "msg": "extra fields not permitted"}]}')
        return well(request, before)

    with chat_server({"played": play}) as server:
        client = ChatClient(Endpoint(server.url, "played"), retries=QUICK)
        replies = await asyncio.gather(*(client.complete(HELLO, seed=7) for _ in range(4)))
        last = await client.complete(HELLO, seed=7)
        await client.close()
    assert [reply.dropped for reply in (*replies, last)] == [("seed",)] * 5
    assert "seed" not in server.completions[-1].body


async def test_a_limit_that_thinking_uses_up_is_left_out() -> None:
    def thinks_long(request: Asked, before: int) -> Reply:
        if {"max_completion_tokens", "max_tokens"} & request.body.keys():
            return saying(Said("<think>They want a flat, so", finish="length"))(request)
        return well(request, before)

    reply, requests = await played(thinks_long)
    assert (reply.text, reply.notes) == ("What else can I do for you?", ())
    assert reply.dropped == ("max_completion_tokens", "max_tokens")
    assert len(requests) == 2


async def test_a_parameter_that_is_not_sent_cannot_be_left_out() -> None:
    with chat_server({"played": always(error(400, "temperature and seed are both wrong"))}) as server:
        with pytest.raises(RequestWrong, match="both wrong"):
            await asked(server.url, seed=7)
        assert len(server.completions) == 3


async def test_a_whole_answer_is_asked_for_and_has_no_first_word() -> None:
    reply, (request,) = await played(well, stream=False)
    assert (request.body["stream"], "stream_options" in request.body) == (False, False)
    assert (reply.ttft_ms, reply.ms > 0, reply.usage.prompt_tokens) == (None, True, 100)


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_server_may_stream_or_not_as_it_likes(wanted: bool) -> None:
    def stubborn(request: Asked) -> Reply:
        request.body["stream"] = not wanted
        return saying(Said("Which day?"))(request)

    reply, _ = await played(always(stubborn), stream=wanted)
    assert reply.text == "Which day?"


async def test_agent_and_caller_of_one_host_slow_down_together() -> None:
    seen: list[int | None] = []
    with chat_server({"played": first(error(429, "too many", {"retry-after-ms": "1"}))}) as server:
        agent, caller = (ChatClient(Endpoint(server.url, "played"), retries=QUICK) for _ in range(2))
        await asyncio.gather(*(client.complete(HELLO) for client in (agent, caller) for _ in range(8)))
        seen.append(pace_of(server.url).limit)
        await agent.close()
        await caller.close()
    assert seen[0] is not None
    assert 1 <= seen[0] <= 8


@pytest.mark.parametrize(
    ("reply", "hint"),
    [
        (Reply(200, b'{"data": [{"id": "played"}, {"id": "other"}]}'), None),
        (Reply(200, b'{"data": [{"id": "b"}, {"id": "a"}]}'), "the endpoint lists a, b, and no played"),
        (Reply(200, b'{"data": []}'), None),
        (Reply(200, b"<html>"), None),
        (Reply(200, b'{"models": [3]}'), None),
        (error(404), None),
        (error(405), None),
        (error(429), None),
        (error(500), None),
        (error(501), None),
    ],
)
async def test_a_check_costs_nothing_and_only_hints(reply: Reply, hint: str | None) -> None:
    assert await checked(reply) == hint


@pytest.mark.parametrize("reply", [error(401), error(403), Reply(302, headers={"Location": "/"})])
async def test_a_check_finds_a_key_that_is_not_taken(reply: Reply) -> None:
    with pytest.raises(EndpointGone):
        await checked(reply, key=KEY, key_variable=KEY_VARIABLE)


async def test_a_check_finds_that_there_is_no_server() -> None:
    with chat_server() as server:
        url = server.url
    client = ChatClient(Endpoint(f"{url}?token=secret", "played"))
    with pytest.raises(EndpointGone, match=r"no connection to the endpoint .*see that the server runs") as caught:
        await client.check()
    await client.close()
    assert url in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_a_model_that_is_not_known_is_told_with_those_that_are() -> None:
    plays = {"played": always(error(404, "no such model"))}
    with chat_server(plays, Reply(200, b'{"data": [{"id": "a"}]}')) as server:
        client = ChatClient(Endpoint(server.url, "played"))
        await client.check()
        with pytest.raises(NoSuchModel, match=r"no such model.*; the endpoint lists a, and no played"):
            await client.complete(HELLO)
        await client.close()
