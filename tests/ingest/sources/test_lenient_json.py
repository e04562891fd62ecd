from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import BrokenInput, Limits, clean, is_deep, loads

FINITE = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | FINITE | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("data", "value", "defects"),
    [
        (b'{"a": 1}', {"a": 1}, {}),
        (b'{"a": 1, "a": 2}', {"a": 2}, {}),
        (b"\xef\xbb\xbf[1]", [1], {}),
        (b'["\xe4"]', ["ä"], {"not UTF-8": 1}),
        (b"[NaN, -Infinity, 1e999, 1]", [None, None, None, 1], {"number out of range": 3}),
        (b'{"\\ud800": "a\\udc00b\\ud83d\\ude00"}', {"�": "a�b😀"}, {"lone surrogate": 2}),
        (b"[" + b"7" * 5000 + b"]", [None], {"number out of range": 1}),
        (b"[" + str(2**70).encode() + b"]", [2**70], {}),
    ],
)
def test_what_can_be_understood_is_and_the_rest_is_counted(data: bytes, value: Any, defects: dict[str, int]) -> None:
    counted: Counter[str] = Counter()
    assert loads(data, counted) == value
    assert counted == defects


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "line is not JSON: it ends too early"),
        (b'{"a": "secr', "line is not JSON: it ends too early"),
        (b'{"a": 1} {"b": 2}', "line is not JSON: more follows after its end at character 10"),
        (b"{'secret': 1}", "line is not JSON: the name of a key is missing at character 2"),
        (b'{"a" 1}', "line is not JSON: a colon is missing at character 6"),
        (b"[1 2]", "line is not JSON: a comma is missing at character 4"),
        (b"secret", "line is not JSON: a value is missing at character 1"),
        (b'["\x00"]', "line is not JSON: a control character is in a string at character 3"),
        (b'["\\x"]', "line is not JSON: something is unexpected at character 3"),
        (b"[" * 100_000 + b"]" * 100_000, "line is nested too deeply"),
    ],
)
def test_what_cannot_is_named_without_its_content(data: bytes, reason: str) -> None:
    with pytest.raises(BrokenInput) as caught:
        loads(data, Counter())
    assert caught.value.reason == reason


@given(PLAIN)
def test_valid_json_comes_back_as_it_is(value: Any) -> None:
    counted: Counter[str] = Counter()
    assert loads(json.dumps(value).encode(), counted) == value
    assert clean(value, counted) == value
    assert not counted


@given(st.binary() | st.text().map(lambda text: json.dumps(text).encode()[:-1]))
def test_no_bytes_make_it_raise_anything_else(data: bytes) -> None:
    with suppress(BrokenInput):
        json.dumps(loads(data, Counter()), allow_nan=False, ensure_ascii=False).encode()


def test_what_is_nested_too_deeply_is_cut_off() -> None:
    value: Any = "inside"
    for _ in range(Limits().depth):
        value = [value]
    assert not is_deep(value)
    assert is_deep({"a": value})
    counted: Counter[str] = Counter()
    assert clean(value, counted) == value
    assert not is_deep(clean({"a": value}, counted))
    assert counted == {"nested too deeply, more than 64 levels (limits.depth)": 1}
