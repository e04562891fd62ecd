"""What is packed comes back exactly, in few bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.arrays import MOST_ROWS, UNSCORED, decode, decode_keys, encode, is_unscored, joined
from tests.surface.store import StoreError, groups_between

whole = st.integers(-(2**53) + 1, 2**53 - 1).map(float)
values = st.one_of(
    st.lists(st.none() | st.floats(allow_nan=False)),
    st.lists(st.none() | whole),
    st.lists(st.none() | st.integers(0, 100).map(lambda tenths: tenths / 10)),
    st.lists(st.none() | st.integers(-9_999, 999_999).map(lambda parts: parts / 10_000)),
    st.integers(0, 2**52).flatmap(lambda base: st.lists(st.integers(base, base + 2**33).map(float))),
)


def column(given: list[float | None]) -> np.ndarray:
    return np.array(given, np.float64)


@given(values)
def test_every_value_comes_back_to_the_bit(given: list[float | None]) -> None:
    packed = encode(column(given))
    assert decode(packed, len(given)).tobytes() == column(given).tobytes()
    assert not is_unscored(decode(packed, len(given))).any()


@given(st.lists(st.sampled_from(["absent", "unscored", 0.0, 7.3, 1 / 3, 10.0])))
def test_unscored_and_absent_are_told_apart(told: list[str | float]) -> None:
    scores = column([None if isinstance(each, str) else each for each in told])
    scores[[each == "unscored" for each in told]] = UNSCORED
    assert decode(encode(scores), len(told)).tobytes() == scores.tobytes()
    assert is_unscored(scores).tolist() == [each == "unscored" for each in told]


@given(st.lists(st.none() | st.integers(1, 2**40)))
def test_keys_are_whole_and_none_is_zero(given: list[int | None]) -> None:
    assert decode_keys(encode(column(list(given))), len(given)).tolist() == [key or 0 for key in given]


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ([7.0] * 4096, 0),
        ([None] * 4096, 0),
        ([tenths / 10 for tenths in range(101)] * 40, 1),
        ([1_772_416_800_000_000.0 + second * 1_000_000 for second in range(4096)], 4),
        ([None, *(milliseconds / 1000 for milliseconds in range(60_000))], 2),
        ([1 / 3, 0.1] * 2048, 8),
    ],
)
def test_a_value_takes_few_bytes(given: list[float | None], most: int) -> None:
    assert len(encode(column(given))) <= most * len(given) + 11


@given(st.lists(values, min_size=1, max_size=6))
def test_chunks_that_are_opened_together_are_what_they_are_apart(given: list[list[float | None]]) -> None:
    chunks = [(encode(column(each)), len(each)) for each in given]
    found = [decode(body, n) for body, n in joined(chunks)]
    assert np.concatenate(found).tobytes() == column([value for each in given for value in each]).tobytes()
    tenths = [(encode(column([part / 10 for part in range(first, 90)])), 90 - first) for first in (0, 20, 80)]
    assert len(list(joined(tenths))) == 1


def test_what_is_damaged_is_named_so() -> None:
    packed = encode(column([1.0, 2.5]))
    for damaged in (b"", packed[:-1], b"\xff" + packed[1:]):
        with pytest.raises(StoreError, match="damaged"):
            decode(damaged, 2)


def test_rows_that_take_no_room_are_not_made_up() -> None:
    alike = encode(np.full(3, 7.0))
    assert [n for _, n in joined([(alike, 3), (alike, 3)])] == [6]
    for claimed in (MOST_ROWS + 1, -1):
        with pytest.raises(StoreError, match="damaged"):
            list(joined([(alike, claimed)]))


def test_keys_that_no_store_gives_are_not_walked_through() -> None:
    assert list(groups_between(0, 9000)) == [0, 1, 2]
    for first, last in ((1, 2**63 - 1), (-(2**63), 1)):
        with pytest.raises(StoreError, match="as no store gives them"):
            groups_between(first, last)
