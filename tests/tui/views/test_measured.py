"""What says of how few calls a mean is, and where nobody waited for what was typed."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put, state
from tests.surface.store import Store
from tests.surface.tui import Request, Table, show
from tests.surface.tui import sinks_render as render


def printed(table: Table, form: str, width: int | None = None) -> str:
    out = StringIO()
    render(table, form, out, width=width)
    return out.getvalue()


KNOWN = {"correctness": 10.0, "completion": 10.0, "errors": 10.0}


@pytest.fixture
def one_of_forty(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as store:
        rest = [call(f"c{n}", aspects={"completion": 10.0, "errors": 10.0}) for n in range(39)]
        put(store, "calls.jsonl", [call("good", aspects=KNOWN), *rest])
        yield store


def test_one_good_call_of_forty_is_no_perfect_flow(one_of_forty: Store) -> None:
    table = show(one_of_forty, "flows", Request())
    (row,) = table.rows
    assert (row.record["n"], row.record["measured"], row.record["success_rate"]) == (40, 1, 1.0)
    assert (row.record["operability"], row.record["blend"], row.record["quality"]) == (None, None, None)
    assert row.is_thin("success_rate")
    assert not row.is_thin("completion")
    assert "Measured: success is known of 1 of 40 calls." in table.notes
    assert "100% of 1~" in printed(table, "text")
    assert "1.0 of 1~" in printed(table, "markdown")


@pytest.mark.parametrize("view", ["runs", "timeline", "archetypes"])
def test_every_list_of_means_says_it(one_of_forty: Store, view: str) -> None:
    table = show(one_of_forty, view, Request())
    (row,) = table.rows
    assert row.counts["success_rate"].n == 1
    assert "Measured: success is known of 1 of 40 calls." in table.notes


def test_half_of_the_calls_are_enough_to_speak_of_quality(tmp_path: Path) -> None:
    with fresh(tmp_path / "store.db") as store:
        rest = [call(f"c{n}", aspects={"completion": 10.0}) for n in range(5)]
        put(store, "calls.jsonl", [*(call(f"good{n}", aspects=KNOWN) for n in range(5)), *rest])
        (row,) = show(store, "flows", Request()).rows
    assert (row.record["quality"], row.record["operability"]) == (10.0, 10.0)
    assert row.counts["quality"].n == 5


def test_a_typed_flow_is_not_red_for_typing_and_a_spoken_one_is(tmp_path: Path) -> None:
    late: dict[str, Any] = {
        "states": [state("ask", latency_p95_ms=20_000.0, slow=1.0)],
        "aspects": {"latency_p95": 20.0, "slow": 1.0},
    }
    typed = [call(f"t{n}", flow="typed", typed=2, **late) for n in range(6)]
    others = [call(f"o{n}", flow="chat", typed=2, **late) for n in range(6)]
    # What most turns take decides, not what most calls do.
    spoken = [call(f"s{n}", flow="spoken", typed=2 if n else -20, **late) for n in range(6)]
    with fresh(tmp_path / "store.db") as store:
        put(store, "calls.jsonl", [*typed, *spoken])
        for view in ("flows", "states", "segments"):
            table = show(store, view, Request())
            marked = {row.record["flow"]: (row.severity.get("latency_p95"), row.record["slow"]) for row in table.rows}
            assert marked == {"spoken": ("bad", 1.0), "typed": (None, None)}
            assert [note for note in table.notes if note.startswith("Typed: the median turn in typed takes")]
        rows = show(store, "conversations", Request()).rows
        assert {row.record["flow"]: row.severity.get("latency_p95") for row in rows} == {"spoken": "bad", "typed": None}
        assert len(show(store, "states", Request(where="slow>20%")).rows) == 1
        put(store, "others.jsonl", others)
        # A place names no flow but its own.
        for view in ("states", "segments"):
            notes = show(store, view, Request(where="flow=chat")).notes
            assert any("median turn in chat takes" in note for note in notes)
            assert not any("in typed" in note or "typed, " in note for note in notes)


def test_what_has_no_room_is_left_out_but_for_the_sign_of_a_thin_row(one_of_forty: Store) -> None:
    table = show(one_of_forty, "flows", Request())
    wide, narrow = printed(table, "text"), printed(table, "text", width=60)
    assert " of 1~" in wide
    assert all(len(line) <= 60 for line in narrow.splitlines()[2:4])
