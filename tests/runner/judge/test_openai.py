"""An endpoint may misbehave in any way: it is asked again, left unscored with a reason, or the run stops."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.support.judge_endpoint import PATH, Asked, Behaviour, Endpoint, Reply, completion, error, serving, verdict
from tests.support.judged_calls import KEY, KEY_VARIABLE
from tests.surface.ingest import Turn
from tests.surface.runner import (
    LARGEST_BODY,
    CallToJudge,
    ConversationName,
    JudgePrompt,
    JudgingOutcome,
    Misconfigured,
    OpenAIJudge,
    Question,
    Refused,
    Retry,
    Rubric,
    Usage,
    environment_proxy,
    retry_after,
)
from tests.surface.runner import Endpoint as Address
from tests.surface.runner import RetryRetryPolicy as RetryPolicy

pytest.importorskip("aiohttp")

CALL = CallToJudge(ConversationName("run-1", "c-1"), [Turn("agent", "Good morning."), Turn("caller", "Hello.")])
QUICK = RetryPolicy(timeout=60.0, tries=3, pause=0.01, longest_pause=0.02)
GOOD = completion(verdict())
SENT = {"host", "accept", "accept-encoding", "content-type", "content-length", "user-agent", "authorization"}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def in_turn(replies: Iterable[Reply]) -> Behaviour:
    """Give these replies one after the other, the last one for ever."""
    left = list(replies)
    return lambda asked: left.pop(0) if len(left) > 1 else left[0]


async def asked_of(
    endpoint: Endpoint, policy: RetryPolicy = QUICK, *, json_mode: bool = True, **fields: Any
) -> tuple[JudgingOutcome, Retry]:
    described: dict[str, Any] = {"model": "played-1", "key": KEY, "key_variable": KEY_VARIABLE, **fields}
    address = Address(endpoint.url, **described)
    judge = OpenAIJudge(address, policy.timeout, json_mode=json_mode)
    asking = Retry(judge, Rubric(), policy)
    try:
        return await asking.outcome(CALL), asking
    finally:
        await judge.close()


def outcome_of(
    behave: Behaviour, policy: RetryPolicy = QUICK, **fields: Any
) -> tuple[JudgingOutcome, list[Asked], Retry]:
    with serving(behave) as endpoint:
        outcome, asking = asyncio.run(asked_of(endpoint, policy, **fields))
        return outcome, endpoint.asked, asking


def test_a_good_answer_is_a_verdict_and_is_counted() -> None:
    outcome, asked, asking = outcome_of(lambda asked: GOOD)
    assert outcome.verdict is not None
    assert outcome.verdict.score == 7.0
    assert asking.spent == Usage(1000, 50)
    assert len(asked) == 1


def test_the_request_holds_the_prompt_and_the_key_and_nothing_about_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "someone-elses")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Other: someone-elses\nAuthorization: Bearer someone-elses")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    _, (asked,), _ = outcome_of(lambda asked: GOOD, extra={"temperature": 0, "max_tokens": 300})
    assert asked.path == PATH
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers.keys() == SENT
    assert "someone-elses" not in str(asked)
    assert asked.body["model"] == "played-1"
    assert asked.body["temperature"] == 0
    assert asked.body["max_tokens"] == 300
    assert asked.body["response_format"] == {"type": "json_object"}
    assert asked.rubric == Rubric().text
    assert [turn["text"] for turn in asked.turns] == ["Good morning.", "Hello."]
    assert "run-1" not in json.dumps(asked.body)
    assert "c-1" not in asked.call


def test_an_endpoint_without_a_key_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "someone-elses")
    outcome, (asked,), _ = outcome_of(lambda asked: GOOD, key=None, key_variable=None, json_mode=False)
    assert outcome.verdict is not None
    assert "authorization" not in asked.headers
    assert "response_format" not in asked.body


@pytest.mark.parametrize(
    "bad",
    [
        error(429, headers={"Retry-After": "0"}),
        error(429, headers={"Retry-After": "soon"}),
        error(408),
        error(500),
        error(503),
        Reply(502, b"<html>Bad Gateway</html>"),
        Reply(200, GOOD.body[:40], promised=len(GOOD.body)),
        Reply(200, b"", promised=100),
        Reply(200, b"not gzip", {"Content-Encoding": "gzip"}),
    ],
    ids=lambda reply: f"{reply.status}-{len(reply.body)}",
)
def test_what_may_pass_is_tried_again(bad: Reply) -> None:
    outcome, asked, _ = outcome_of(in_turn([bad, bad, GOOD]))
    assert outcome.verdict is not None
    assert len(asked) == 3
    assert len({each.call for each in asked}) == 1


@pytest.mark.parametrize(
    ("bad", "reason", "tries"),
    [
        (error(429, "slow down"), "HTTP 429: slow down, 3 times", 3),
        (error(500, "oh"), "HTTP 500: oh, 3 times", 3),
        (Reply(500, b"<html>"), "HTTP 500, 3 times", 3),
        (Reply(200, b"{", promised=100), "connection closed mid-response, 3 times", 3),
        (error(400, "too long"), "HTTP 400: too long", 1),
        (Reply(400, b'[{"error": {"message": "API key not valid"}}]'), "HTTP 400: API key not valid", 1),
    ],
)
def test_what_does_not_pass_leaves_the_call_unscored(bad: Reply, reason: str, tries: int) -> None:
    outcome, asked, _ = outcome_of(lambda asked: bad)
    assert outcome == JudgingOutcome(None, reason, answered=False)
    assert len(asked) == tries


def test_what_an_endpoint_complains_of_is_one_short_line_without_the_key() -> None:
    outcome, _, _ = outcome_of(lambda asked: error(422, f"no\n{KEY} {'x' * 500}"))
    assert str(outcome.unscored).startswith(f"HTTP 422: no ${KEY_VARIABLE} xxx")
    assert len(str(outcome.unscored)) <= 220


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (completion("I would say nine."), "the answer is not JSON"),
        (completion(verdict(11)), "the score is not from 0 to 10"),
        (completion(verdict(evidence=[3])), "the evidence names a turn that was not shown"),
        (completion(f"{verdict(10)}\n{verdict(2)}"), "the answer is not JSON"),
        (completion(None), "the answer is empty"),
        (completion([{"type": "text", "text": verdict()}]), "the answer is empty"),
        (completion(verdict(), finish="length"), "the answer was cut off at the model's limit"),
        (completion(verdict(), finish="content_filter"), "the endpoint's filter withheld the answer"),
        (Reply(200, b"<html>Log in</html>", {"Content-Type": "text/html"}), "did not answer in the form of the API"),
        (Reply(200, b"null"), "did not answer in the form of the API"),
        (Reply(200, b'{"choices": []}'), "did not answer in the form of the API"),
        (Reply(200, b'{"choices": [{"message": "hi"}]}'), "did not answer in the form of the API"),
        (Reply(200, b"[" * 100_000), "did not answer in the form of the API"),
        (Reply(200, b""), "did not answer in the form of the API"),
    ],
)
def test_what_is_no_verdict_is_asked_for_twice_at_most(bad: Reply, reason: str) -> None:
    outcome, asked, _ = outcome_of(lambda asked: bad)
    assert outcome.verdict is None
    assert reason in str(outcome.unscored)
    assert len(asked) == 2
    assert len({each.call for each in asked}) == 2, "each question has a code of its own"
    assert outcome_of(in_turn([bad, GOOD]))[0].verdict is not None


def test_what_is_no_verdict_is_paid_for_all_the_same() -> None:
    _, _, asking = outcome_of(in_turn([completion("nine"), GOOD]))
    assert asking.spent == Usage(2000, 100)


@pytest.mark.parametrize("usage", [[], "x", {"prompt_tokens": "9"}, {"prompt_tokens": -1}, {"prompt_tokens": True}])
def test_usage_that_makes_no_sense_counts_nothing(usage: object) -> None:
    assert outcome_of(lambda asked: completion(verdict(), usage=usage))[2].spent == Usage()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (error(401, f"Incorrect API key: {KEY}"), rf"does not take the key in \${KEY_VARIABLE} \(HTTP 401\)"),
        (error(403), "HTTP 403"),
        (error(404, "no such model"), r"no such address or model \(HTTP 404: no such model\)"),
        (error(402), "no credit"),
        (error(429, code="insufficient_quota"), "no credit"),
        (error(429, headers={"Retry-After": "3600"}), "asked again in 60 minutes only"),
        (error(503, headers={"Retry-After": "1e9"}), "asked again"),
    ],
)
def test_what_holds_for_every_call_stops_the_run(bad: Reply, message: str) -> None:
    with serving(lambda asked: bad) as endpoint:
        with pytest.raises(Refused, match=message) as caught:
            asyncio.run(asked_of(endpoint))
        assert KEY not in str(caught.value)
        assert len(endpoint.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(status: int) -> None:
    with serving(lambda asked: GOOD) as elsewhere:
        target = f"{elsewhere.url}/chat/completions"
        with serving(lambda asked: Reply(status, headers={"Location": target})) as endpoint:
            with pytest.raises(Refused, match="redirects"):
                asyncio.run(asked_of(endpoint))
            assert len(endpoint.asked) == 1
        assert not elsewhere.asked


@pytest.mark.parametrize("slow", [Reply(delay=300.0), Reply(body=b"x" * 1000, drip=0.15)], ids=["silent", "dripping"])
def test_an_answer_that_takes_too_long_is_given_up(slow: Reply) -> None:
    before = time.monotonic()
    outcome, asked, _ = outcome_of(lambda asked: slow, RetryPolicy(0.2, tries=2, pause=0.01))
    assert outcome == JudgingOutcome(None, "no answer in time, 2 times", answered=False)
    assert len(asked) == 2
    assert time.monotonic() - before < 100


def test_an_answer_without_an_end_is_given_up() -> None:
    outcome, _, _ = outcome_of(lambda asked: Reply(body=b"x" * (LARGEST_BODY + 1)))
    assert outcome == JudgingOutcome(None, "the answer is too large", answered=False)


def test_nobody_at_the_address_is_no_connection() -> None:
    with serving(lambda asked: GOOD) as endpoint:
        pass
    outcome, _ = asyncio.run(asked_of(endpoint))
    refused = f"no connection to the endpoint ({os.strerror(errno.ECONNREFUSED)}), 3 times"
    assert outcome == JudgingOutcome(None, refused, answered=False)


def test_requests_go_through_the_proxy_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda asked: GOOD) as endpoint:
        proxy = endpoint.url.removesuffix("/v1")
        monkeypatch.setenv("http_proxy", proxy)
        endpoint.url = "http://model.example/v1"
        outcome, _ = asyncio.run(asked_of(endpoint, key=None, key_variable=None))
        assert outcome.verdict is not None
        (asked,) = endpoint.asked
        assert asked.headers["host"] == "model.example"
        monkeypatch.setenv("no_proxy", "model.example")
        assert environment_proxy(endpoint.url) is None
        monkeypatch.delenv("no_proxy")
        monkeypatch.setenv("http_proxy", proxy.removeprefix("http://"))
        assert environment_proxy(endpoint.url) == proxy
        assert environment_proxy("https://model.example/v1") is None


def test_a_proxy_of_another_kind_is_refused_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://me:secret@127.0.0.1:1080")
    with pytest.raises(Misconfigured, match="proxy of the kind socks5") as caught:
        OpenAIJudge(Address("https://example.org/v1", "m"), 1.0)
    assert "secret" not in str(caught.value)


def test_half_a_character_in_what_was_said_does_not_end_the_call() -> None:
    with serving(lambda asked: GOOD) as endpoint:
        judge = OpenAIJudge(Address(endpoint.url, "m", extra={"user": "\ud83d"}), 60.0)

        async def ask() -> str:
            try:
                return (await judge.ask(Question(ConversationName("run-1", "c-1"), JudgePrompt("rubric", "call")))).text
            finally:
                await judge.close()

        assert asyncio.run(ask()) == verdict()
        assert endpoint.asked[0].body["user"] == "\ud83d"


def test_retry_after_is_heeded_as_a_number_and_as_a_date() -> None:
    before = time.monotonic()
    outcome, *_ = outcome_of(in_turn([error(429, headers={"Retry-After": "0.3"}), GOOD]))
    assert outcome.verdict is not None
    assert time.monotonic() - before >= 0.3
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert 80 < (retry_after({"retry-after": soon}) or 0) <= 90
    assert retry_after({"retry-after": format_datetime(datetime(2020, 1, 1), usegmt=False)}) == 0.0
    assert [retry_after({"retry-after": text}) for text in ("", "soon", "nan", "inf", "-3")] == [
        None, None, None, None, 0.0,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("url", "fields", "message"),
    [
        ("ftp://example.org/v1", {}, "not the address"),
        ("example.org/v1", {}, "not the address"),
        ("https://", {}, "not the address"),
        ("https://[::1/v1", {}, "not the address"),
        ("https://me:secret@example.org/v1", {}, "not the address"),
        ("http://example.org/v1", {"key": KEY}, "has to be https"),
        ("https://example.org/v1", {"key": "two words", "key_variable": "K"}, r"what \$K contains is not a key"),
        ("https://example.org/v1", {"key": "ключ", "key_variable": "K"}, r"what \$K contains is not a key"),
    ],
)
def test_an_address_that_makes_no_sense_is_refused(url: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Misconfigured, match=message) as caught:
        OpenAIJudge(Address(url, "m", **fields), 1.0)
    assert "secret" not in str(caught.value)


def test_an_address_is_shown_without_its_key() -> None:
    assert KEY not in repr(Address("https://example.org/v1", "m", KEY, "K"))


@pytest.fixture
def without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp", None)


@pytest.mark.usefixtures("without_library")
def test_a_missing_client_library_is_named_with_what_to_install() -> None:
    with pytest.raises(Misconfigured, match=r"pip install aiohttp$"):
        OpenAIJudge(Address("https://example.org/v1", "m"), 1.0)
