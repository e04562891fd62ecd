"""Every mark has a reason, and the reason names the bound by which the mark is set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.view_answers import call, state_cell
from tests.surface.explorer import reason, reasons, thinness
from tests.surface.tui import CONVERSATIONS_COLUMNS as COLUMNS
from tests.surface.tui import Column, Row, Severity, Table, cells, row, states

SHARES = st.none() | st.floats(0, 1)
SCORES = ("operability", "correctness", "completion", "errors")


@given(
    st.fixed_dictionaries(
        {
            **dict.fromkeys(
                ("progress", "stall", "escalation", "slot_fill_rate", "slow", "missed_failed", "wrong_failed"), SHARES
            ),
            **dict.fromkeys(("dwell_turns", "latency_p95", "guard_error"), st.none() | st.floats(0, 20)),
            **dict.fromkeys(SCORES, st.none() | st.floats(0, 10)),
        }
    )
)
def test_every_mark_has_a_reason(record: dict[str, float | None]) -> None:
    marks = cells.state_marks(record) | cells.score_marks(record, SCORES)
    for key, severity in marks.items():
        assert key == "" or reason(key, severity)


@pytest.mark.parametrize(
    ("key", "severity", "said"),
    [
        ("stall", "bad", "25% or more of the calls"),
        ("stall", "warn", "15% or more of the calls"),
        ("latency_p95", "bad", "above 8.0 s"),
        ("latency_mean", "warn", "above 5.0 s"),
        ("humanness.codex", "bad", "4 or less of 10"),
        ("correctness", "warn", "below 7 of 10"),
        ("slow", "warn", "20% or more of the turns"),
        ("slot_fill_rate", "bad", "below 30% while progress is below 70%"),
        ("completed", "bad", "did not run to its own end"),
        ("stall", "good", ""),
        ("unheard_of", "bad", ""),
    ],
)
def test_a_reason_names_its_bound(key: str, severity: Severity, said: str) -> None:
    assert said in reason(key, severity)
    assert bool(said) == bool(reason(key, severity))


def test_the_gravest_comes_first_under_the_title_of_its_column() -> None:
    table = states([state_cell("f", "s", n=3, stall=0.3, progress=0.5, latency_p95=6.0)])
    found = list(reasons(table, table.rows[0]))
    assert [(severity, title) for severity, title, _ in found] == [
        ("bad", "stall"), ("warn", "progress"), ("warn", "lat_p95(s)")
    ]  # fmt: skip
    assert "fewer than 5 calls" in thinness(table.rows[0])


def test_every_mark_of_a_call_is_explained() -> None:
    for line in (row(call(error_count=2, latency_p95=9.0)), row(call(errored=True))):
        found = list(reasons(Table("conversations", "", COLUMNS, [line]), line))
        assert len(found) == len([key for key in line.severity if key])


def test_a_row_without_marks_needs_no_reasons() -> None:
    plain = Row("x", {"stall": 0.0}, severity={"": "bad"})
    assert list(reasons(Table("states", "", [Column("stall", "stall")], [plain]), plain)) == []
    assert thinness(plain) == ""
