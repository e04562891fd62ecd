"""From a flow to where its calls first went wrong, and on to exactly these calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import tau_runs
from tests.support.facts import call, fresh, put
from tests.support.walker import exploring
from tests.surface.explorer import open_link as stack_of
from tests.surface.ingest import ingest
from tests.surface.store import ConversationFacts, Failure, Writer

DEAD_END, TOOL = (
    Failure("greet", "collect", "dead end"),
    Failure("collect", "book", "tool error", "find", "timeout after * s"),
)


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    def failed(name: str, failure: Failure, **given: str) -> ConversationFacts:
        return call(name, failure=failure, **given)

    with fresh(tmp_path / "calls.db") as store:
        elsewhere = [failed(f"o-{number}", DEAD_END, flow="grooming") for number in range(4)]
        calls = [failed("s-1", DEAD_END), failed("s-2", DEAD_END), failed("t-1", TOOL), call("good")]
        put(store, "calls.jsonl", [*calls, *elsewhere])
    return tmp_path / "calls.db"


@pytest.mark.parametrize("key", ["M", "C"])
async def test_one_key_leads_from_a_flow_to_its_failed_calls(failing: Path, key: str) -> None:
    async with exploring(failing, start=stack_of("segments", "flow=viewing")) as at:
        await at.press(key)
        loaded = at.screen.loaded
        assert loaded is not None
        assert [row.record["n"] for row in loaded.main.rows] == [2, 1]
        await at.press("j", "enter")
        loaded = at.screen.loaded
        assert loaded is not None
        assert [row.record["conversation"] for row in loaded.main.rows] == ["t-1"]


@pytest.mark.parametrize("key", ["M", "C"])
async def test_the_list_of_failed_calls_begins_with_the_cursor_on_the_shortest(tmp_path: Path, key: str) -> None:
    with fresh(tmp_path / "calls.db") as store:
        # More calls than one page of a list holds.
        calls = [
            call(f"s-{number:03}", failure=DEAD_END, duration_s=2.0 if number == 300 else 9.0) for number in range(310)
        ]
        put(store, "calls.jsonl", calls)
    async with exploring(tmp_path / "calls.db", start=stack_of("segments", "flow=viewing")) as at:
        await at.press(key)
        row = at.controls.table.row
        assert row is not None
        assert "s-300" in row.record["example"]
        await at.press("enter")
        assert len(at.controls.table.table.rows) == 310
        row = at.controls.table.row
        assert row is not None
        assert row.record["conversation"] == "s-300"


async def test_the_grid_of_a_flow_stands_above_its_cells(failing: Path) -> None:
    async with exploring(failing, (80, 24), start=stack_of("failure-matrix", "flow=viewing")) as at:
        lines = [strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()]
        assert lines[1].split() == ["last", "good", "collect", "book", "calls"]
        assert lines[2].split() == ["greet", "[2]", "·", "2"]
        assert lines[3].split() == ["collect", "·", "1", "1"]


async def test_a_failed_call_opens_where_it_went_wrong_and_another_at_its_beginning(tiny: Path) -> None:
    for conversation, begun, told in (
        (
            "c-0000",
            "has_name raised: KeyError: 'name'",
            "!guard error has_name in collect_details, after greet · max_turns",
        ),
        ("c-0004", None, " terminal in booked · persona"),
    ):
        link = stack_of("conversation", f"run=run-1 conversation={conversation}")
        async with exploring(tiny, (80, 24), start=link) as at:
            row = at.controls.transcript.row
            assert row is not None
            assert row.record["detail"] == begun
            lines = [strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()]
            assert lines[1].startswith(told)


async def test_the_head_of_a_call_is_short_until_it_is_unfolded_or_the_screen_is_tall(tiny: Path) -> None:
    link = stack_of("conversation", "run=run-1 conversation=c-0000")
    async with exploring(tiny, (80, 24), start=link) as at:

        def head() -> list[str]:
            lines = [strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()]
            return lines[: next((number for number, line in enumerate(lines) if line.startswith("────")), 0)]

        await at.until(lambda: len(head()) == 3)
        assert "█ collect_details █" in head()[2]
        assert "v timeline" in at.bottom
        await at.press("v")
        await at.until(lambda: len(head()) > 5)
        assert any("0 s" in line for line in head())
        assert "v short head" in at.bottom
        await at.press("v")
        await at.until(lambda: len(head()) == 3)
    async with exploring(tiny, (120, 36), start=link) as at:
        await at.until(lambda: any("0 s" in line for line in head()))


async def test_a_key_goes_from_one_moment_of_trouble_to_the_next_and_says_where_there_is_none(tiny: Path) -> None:
    async with exploring(tiny, (80, 24), start=stack_of("conversation", "run=run-1 conversation=c-0000")) as at:
        await at.press("g", "e")
        row = at.controls.transcript.row
        assert row is not None
        assert row.record["detail"] == "has_name raised: KeyError: 'name'"
    async with exploring(tiny, (80, 24), start=stack_of("conversation", "run=run-1 conversation=c-0004")) as at:
        await at.press("e")
        assert "no moment of trouble below" in at.bottom


async def test_the_hint_says_what_enter_opens_from_the_row_under_the_cursor(tiny: Path) -> None:
    async with exploring(tiny, (120, 36), start=stack_of("worklist", "")) as at:
        for listed, opened in (("flows", "segments"), ("segments", "states"), ("states", "conversations")):
            row = at.controls.table.row
            assert row is not None
            assert row.record["list"] == listed
            assert f"⏎ {opened}" in at.bottom
            await at.press("j")


async def test_a_state_of_the_worklist_opens_the_calls_that_it_counts(tiny: Path) -> None:
    async with exploring(tiny, (120, 36), start=stack_of("worklist", "")) as at:
        await at.press("G")
        row = at.controls.table.row
        assert row is not None
        assert (row.record["state"], row.record["failed"]) == ("collect_details", 4)
        await at.press("enter")
        assert len(at.controls.table.table.rows) == 4


async def test_a_call_opens_at_the_step_whose_lack_its_list_is_about(tmp_path: Path) -> None:
    asked, other = tau_runs.action("refund", order="1"), tau_runs.action("cancel", order="1")
    failed = tau_runs.simulation(
        "c", reward_info=tau_runs.rewarded(0.0, *(tau_runs.check(each, False) for each in (asked, other)))
    )
    run = tau_runs.results([failed], tau_runs.task("1", asked, other))
    with fresh(tmp_path / "calls.db") as store:
        ingest([tau_runs.write_results(tmp_path / "run.json", run)], Writer(store))
    for step in ("refund", "cancel"):
        listed = stack_of("conversations", f"missed_step={step} failed=true")
        async with exploring(tmp_path / "calls.db", (120, 36), start=listed) as at:
            await at.until(
                lambda: (
                    "never called"
                    in "\n".join("".join(text for text, _ in line) for line in at.controls.detail.pane._lines)
                )
            )
            await at.press("enter")
            row = at.controls.transcript.row
            assert row is not None
            assert row.record["detail"].split(",")[0].endswith(f" {step}: never called")
