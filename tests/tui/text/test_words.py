"""Names in titles of narrow columns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.surface.tui import LEAST, abbreviated


def test_what_all_names_begin_with_says_nothing() -> None:
    assert abbreviated({"sim-steady", "sim-swift", "sim-thrifty"}) == {
        "sim-steady": "stea",
        "sim-swift": "swif",
        "sim-thrifty": "thri",
    }
    assert abbreviated({"gemini-2.5-flash", "gemini-2.5-pro"}) == {"gemini-2.5-flash": "flas", "gemini-2.5-pro": "pro"}


def test_names_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    assert abbreviated({"judge", "judges"}) == {"judge": "judge", "judges": "judges"}
    assert abbreviated({"codex"}) == {"codex": "code"}
    assert abbreviated({"a", "ab"}) == {"a": "a", "ab": "ab"}
    assert abbreviated([]) == {}


@given(st.sets(st.text(min_size=1, max_size=12), max_size=8))
def test_no_two_names_become_alike(names: set[str]) -> None:
    found = abbreviated(names)
    assert set(found) == names
    assert len(set(found.values())) == len(names)
    assert all(short and short in name for name, short in found.items())
    assert all(len(short) >= min(LEAST, len(name)) or name.endswith(short) for name, short in found.items())
