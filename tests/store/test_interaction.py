"""The sums of how the sides shared the line, their figures, and the cells that the store keeps of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.facts import call, fresh, put
from tests.surface.store import SUMS, Interaction, examine, panel
from tests.surface.store import schema as m

COUNTS = st.builds(Interaction, **{name: st.integers(0, 50) for name in SUMS})


def test_no_call_has_no_figures() -> None:
    assert panel(None) is None
    assert panel(Interaction()) is None


def test_what_never_happened_has_no_rate() -> None:
    figures = panel(Interaction(calls=1, response=2, response_latency=3.0))
    assert figures is not None
    assert (figures["response_latency_mean"], figures["response_rate"]) == (1.5, 1.0)
    assert figures["yield_rate"] is None
    assert figures["selectivity_vocal_tic"] is None
    assert figures["counts"]["n_simulations"] == 1


def test_selectivity_is_the_share_of_sounds_that_the_agent_talked_through() -> None:
    figures = panel(Interaction(calls=1, backchannel_correct=3, backchannel_error=1))
    assert figures is not None
    assert figures["selectivity_backchannel"] == 0.75


@given(COUNTS, COUNTS)
def test_sums_add_up_one_by_one(a: Interaction, b: Interaction) -> None:
    assert all(getattr(a + b, name) == getattr(a, name) + getattr(b, name) for name in SUMS)


def test_a_cell_keeps_errored_calls_apart(tmp_path: Path) -> None:
    heard = Interaction(calls=1, response=2, response_latency=0.3)
    with fresh(tmp_path / "calls.db") as store:
        put(
            store,
            "/in/a.jsonl",
            [
                call("c-1", interaction=heard),
                call("c-2", interaction=heard),
                call("c-3", interaction=heard, errored=True),
                call("c-4"),
            ],
        )
        row = m.INTERACTION.rollup
        query = row.select(row.errored, row.calls, row.response, row.response_latency).order_by(row.errored)
        assert list(store.execute(query)) == [(False, 2, 4, 600_000_000), (True, 1, 2, 300_000_000)]
        assert examine(store).wrong == []


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_copies_of_a_call_the_fuller_one_stays(first: int, tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        for filled in (first, 1 - first):
            put(store, f"/in/{filled}.json", [call("c-1", filled=filled, line=filled)], sha256=f"{filled}")
        assert list(store.execute(m.Conversation.select(m.Conversation.line))) == [(1,)]


@pytest.mark.parametrize("lines", [(0, 1), (1, 0)])
def test_of_two_copies_in_a_file_the_fuller_one_stays(lines: tuple[int, int], tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.json", [call("c-1", filled=line, line=line) for line in lines])
        assert list(store.execute(m.Conversation.select(m.Conversation.line))) == [(1,)]
