"""How a database differs is told line by line, whatever a stranger's diff holds."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import JSON
from tests.support.voice_answers import VOICE
from tests.surface.tui import DEEPEST, differences, per_table


def test_each_difference_is_a_line_with_its_way() -> None:
    found = differences(VOICE.task.diff, VOICE.task.mismatches)
    assert [each.line for each in found] == [
        'session / member_id: "m-7" → null',
        "bookings / B-2: this record is there",
        "bookings / B-1: this record is missing",
        "bookings / Abernathy / phone: this field is missing",
        'bookings / Abernathy / day: "Tuesday" → "Thursday"',
        'bookings / Abernathy / reminders / 1: "sms" → null',
    ]
    assert per_table(found) == {"session": 1, "bookings": 5}


def test_tables_that_came_went_or_are_none_are_told() -> None:
    diff = {
        "tables_added": ["extra"],
        "tables_removed": ["gone"],
        "tables_modified": {"count": {"type": "non_dict_table", "expected": 1, "actual": 2}},
    }
    assert [each.line for each in differences(diff)] == [
        "extra: this table is there",
        "gone: this table is missing",
        "count: 1 → 2",
    ]


def test_a_diff_that_goes_down_for_ever_ends() -> None:
    node: dict[str, Any] = {"type": "value_mismatch", "expected": 1, "actual": 2}
    for _ in range(200):
        node = {"fields_modified": {"x": node}}
    [found] = differences({"tables_modified": {"t": {"records_modified": {"r": node}}}})
    assert len(found.path) <= DEEPEST + 4


KEYS = st.sampled_from(
    ["tables_added", "tables_modified", "records_modified", "fields_modified", "type", "differences", "x"]
)
DIFFS = st.dictionaries(KEYS, st.recursive(JSON, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=8))


@given(diff=DIFFS, mismatches=st.dictionaries(st.text(max_size=4), JSON, max_size=2))
def test_any_diff_can_be_told(diff: dict[str, Any], mismatches: dict[str, Any]) -> None:
    assert all(each.path and each.line for each in differences(diff, mismatches))
