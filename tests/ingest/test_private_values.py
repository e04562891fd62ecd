"""What must not be stored of a call: it is found however it is written, and nothing else is taken away."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import JSON
from tests.surface.ingest import PrivateValues, addresses_in

NUMBER = "+14155550123"


@pytest.mark.parametrize(
    "written",
    [
        "+14155550123",
        "14155550123",
        "0014155550123",
        "4155550123",
        "(415) 555-0123",
        "415.555.0123",
        "+1 415 555 01 23",
        "1-415-555-0123",
        "415/5550123",
    ],
)
def test_a_number_is_found_however_it_is_written(written: str) -> None:
    assert PrivateValues([NUMBER]).text(f"Call {written}, please.") == "Call [number], please."


@pytest.mark.parametrize("text", ["415555", "order 94155550124", "7.4155550123", "2026-06-15", "1 2 3", "+5 is warm"])
def test_other_digits_stay(text: str) -> None:
    assert PrivateValues([NUMBER]).text(text) == text


def test_a_number_of_the_country_itself_is_found_with_its_trunk_zero() -> None:
    hidden = PrivateValues(["+4930123456789"])
    assert hidden.text("030 123456789 or 0049 30 123456789") == "[number] or [number]"


def test_a_number_with_a_plus_is_hidden_whosever_it_is() -> None:
    assert PrivateValues().text("ring +49 30 1234567 or +1") == "ring [number] or +1"


def test_tokens_and_addresses_are_found_inside_of_texts() -> None:
    hidden = PrivateValues(tokens=["key-9f8e"], addresses=["wss://x.example/listen"])
    said = "key-9f8e at wss://x.example/listen, Bearer abcdefgh12, eyJhbGciOiJI.eyJzdWIi.c2ln"
    assert hidden.text(said) == "[token] at [url], [token], [token]"


@pytest.mark.parametrize("part", ["eyJ-", "eyJa", "http://", "https://a/", "Bearer ", "+1 ", "1-"])
def test_a_text_that_begins_something_again_and_again_is_read_once(part: str) -> None:
    said = part * (300_000 // len(part))
    assert PrivateValues([NUMBER]).text(said) == said


def test_a_token_is_found_behind_what_only_begins_like_one() -> None:
    hidden = PrivateValues()
    assert hidden.text("eyJ.abc, eyJhbGciOiJI and x-eyJhbGciOiJI.eyJzdWIi") == "eyJ.abc, eyJhbGciOiJI and x-[token]"


def test_a_link_loses_its_signature_and_no_other_query() -> None:
    hidden = PrivateValues()
    assert hidden.text("https://a.example/x?page=2") == "https://a.example/x?page=2"
    assert hidden.text("see https://a.example/x?X-Amz-Signature=1&b=2 now") == "see https://a.example/x?[hidden] now"


def test_values_are_searched_to_the_last_and_secrets_go_by_their_names() -> None:
    given_ = {"to": [NUMBER, 14155550123, 7], "access_token": "t", "apiKey": "k", "keyboard": "qwerty", "done": True}
    assert PrivateValues([NUMBER]).value(given_) == {
        "to": ["[number]", "[number]", 7],
        "access_token": "[hidden]",
        "apiKey": "[hidden]",
        "keyboard": "qwerty",
        "done": True,
    }


def test_addresses_are_found_in_objects_below() -> None:
    record = {"recording_url": "https://a", "monitor": {"listenUrl": "wss://b", "n": 1}, "curl": None}
    assert sorted(addresses_in(record)) == ["https://a", "wss://b"]


@given(JSON)
def test_any_value_comes_back_as_one_of_its_kind(value: object) -> None:
    hidden = PrivateValues([NUMBER], ["secret-token"], ["https://x"])
    assert type(hidden.value(value)) is type(value)


@given(st.sampled_from(["1", "1 ", "+1", "4155550", "https://a?", "eyJ", "(", "0."]))
def test_no_text_takes_long(piece: str) -> None:
    began = time.process_time()
    PrivateValues([NUMBER], ["secret-token"], ["https://x"]).text(piece * 20_000)
    assert time.process_time() - began < 5
