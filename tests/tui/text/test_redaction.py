"""What points at a person is replaced, the same thing by the same placeholder, and the rest stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import Redactor


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("write to jo.doe+x@example.co.uk please", "write to [email 1] please"),
        ("call +49 (171) 123-4567", "call [phone 1]"),
        ("or 0171 1234567", "or [phone 1]"),
        ("(555) 123-4567", "[phone 1]"),
        ("card 4111 1111 1111 1111", "card [card 1]"),
        ("IBAN DE89 3704 0044 0532 0130 00.", "IBAN [iban 1]."),
        ("order 123456", "order [number 1]"),
        ("from 192.168.0.17", "from [ip 1]"),
        ("from fe80::1ff:fe23:4567:890a", "from [ip 1]"),
        ("key sk-abcdefghijklmnop1234", "key [token 1]"),
        ("eyJhbGciOi.eyJzdWIiOiIx.sig-nature", "[token 1]"),
        ("9f8e7d6c5b4a39281706f5e4d3c2b1a0", "[token 1]"),
    ],
)
def test_what_points_at_a_person_is_replaced(said: str, shown: str) -> None:
    assert Redactor()(said) == shown


@pytest.mark.parametrize(
    "said",
    [
        "on 2026-06-22 at 14:30",
        "room 12, 3 days, 12.50",
        "apartment_scheduler_collect_details",
        "[noise] yes",
        "05/12/2026",
    ],
)
def test_what_a_reader_needs_stays(said: str) -> None:
    assert Redactor()(said) == said


def test_the_same_thing_has_the_same_placeholder_however_it_is_written() -> None:
    redact = Redactor()
    assert redact("a@b.de, c@d.de, A@B.de") == "[email 1], [email 2], [email 1]"
    assert redact("555-123-4567 or 555 123 4567") == "[phone 1] or [phone 1]"
    assert redact("c@d.de") == "[email 2]"


@given(st.text())
def test_any_text_can_be_redacted_twice_without_a_change(text: str) -> None:
    redact = Redactor()
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "piece", ["a", "1", "1 ", "a1-", "A1", ":", "1.", "@", "eyJ", "(1", "+", "a-", "-", "eyJ-", "a@b-"]
)
def test_a_turn_without_an_end_is_no_trap(piece: str) -> None:
    """Patterns that try every start against every end would not come back from this."""
    assert isinstance(Redactor()(piece * 50_000), str)
