"""Errors of one kind have one class, whatever numbers and names their messages hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import JSON
from tests.surface.ingest import LONGEST_MESSAGE, error_class


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("timeout after 5 s", "timeout after * s"),
        ("order ORD-7781 not found", "order ORD-* not found"),
        ("no unit 'C 12' at \"Elm Street\"", "no unit * at *"),
        ("it didn't answer, and it won't", "it didn't answer, and it won't"),
        ("GET https://api.example/v1/slots?id=3 failed", "GET * failed"),
        ("at 2026-06-22T02:00:07.5Z: gone", "at *: gone"),
        ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 and deadbeef", "id * and *"),
        ("took 1,250.75 ms, 10/12 done", "took * ms, * done"),
        ("  two\t blanks \n  at File 3", "two blanks"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'date'\n", "KeyError: *"),
        ({"kind": "tool", "message": "busy"}, "busy"),
        ({"error": {"message": "nested 7"}}, "nested *"),
        ([{"message": "first"}, "second"], "first"),
        ({"other": "x"}, "{*: *}"),
        ("ü" * 200, "ü" * LONGEST_MESSAGE),
    ],
)
def test_what_varies_is_left_out(message: object, wanted: str) -> None:
    found = error_class(message)
    assert found == (wanted if any(map(str.isalpha, wanted)) else None)


@pytest.mark.parametrize("nothing", [None, True, 17, 0.5, "", "  \n ", "404", "'quoted'", {}, []])
def test_an_error_without_words_has_no_class(nothing: object) -> None:
    assert error_class(nothing) is None


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.text(st.characters(codec="ascii"), max_size=40))
def test_calls_that_differ_in_a_number_share_a_class(one: int, other: int, words: str) -> None:
    message = f"failed after {{}} ms {words}"
    assert error_class(message.replace("{}", str(one))) == error_class(message.replace("{}", str(other)))


@given(JSON | st.text(max_size=3000))
def test_any_error_has_a_short_class_in_one_line(error: object) -> None:
    found = error_class(error)
    if found is not None:
        assert 0 < len(found) <= LONGEST_MESSAGE
        assert found == " ".join(found.split())
        assert not any(character in "0123456789" for character in found)
        assert error_class(json.loads(json.dumps(error))) == found
