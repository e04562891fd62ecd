"""From the judges down to the call that they dispute, on the screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.dump_commands import dumped_rows, rows_on
from tests.support.golden import assert_golden
from tests.support.judged_store import built, calls, verdicts
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link as stack_of
from tests.surface.tui import LISTED

WALK = (("judges", "8"), ("agreement", "enter"), ("disputes", "enter"), ("judged-conversation", "enter"))
SIZES = [(80, 24), (120, 36)]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("judged-screens")
    with built(folder, list(calls()), list(verdicts())) as store:
        yield Path(str(store.location))


def lines(at: Walker) -> str:
    return "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()) + "\n"


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x36"])
async def test_the_way_from_a_judge_to_a_disputed_call_looks_as_it_did(judged: Path, size: tuple[int, int]) -> None:
    async with exploring(judged, size) as at:
        for name, key in WALK:
            await at.press(key)
            assert_golden(lines(at), f"screens/{name}.{size[0]}x{size[1]}.txt")
        await at.press("G", "pagedown")
        assert "codex#bbbbbb on humanness 1.0 (gpt-5; prompt bbbbbb22 version 2" in lines(at)
        await at.press("1", "T")
        assert_golden(lines(at), f"screens/repeats.{size[0]}x{size[1]}.txt")


@pytest.mark.parametrize(("key", "view"), [("B", "agreement"), ("D", "disputes"), ("T", "repeats")])
async def test_keys_open_what_their_dump_commands_print(judged: Path, key: str, view: str) -> None:
    async with exploring(judged) as at:
        await at.press(key)
        assert at.screen.history.here.view == view
        assert rows_on(at) == dumped_rows(judged, at)


async def test_a_pair_is_not_narrowed_to_the_judge_that_it_was_reached_by(judged: Path) -> None:
    async with exploring(judged, start=stack_of("judges", "judge=gemini")) as at:
        await at.press("enter", "enter")
        assert rows_on(at)
        assert rows_on(at) == dumped_rows(judged, at)
        assert {len(row["scores"]) for row in rows_on(at) if isinstance(row, dict)} == {2}


async def test_beside_correctness_enter_lists_the_calls_that_are_told_differently(judged: Path) -> None:
    async with exploring(judged, start=stack_of("agreement", "first=gemini second=correctness")) as at:
        await at.press("enter")
        assert "with correctness" in at.path or "gemini and correctness" in at.path
        assert {row["conversation"] for row in rows_on(at) if isinstance(row, dict)} == {"c-0", "c-4"}


async def test_thin_repeats_say_of_what_there_are_few(judged: Path) -> None:
    async with exploring(judged, (120, 36)) as at:
        await at.press("T")
        assert "fewer than 5 groups are behind it" in lines(at)


async def test_how_many_disputes_there_are_is_said_where_not_all_are_listed(tmp_path: Path) -> None:
    scores = [
        {"run_id": "night", "conversation_id": f"c-{number}", "judge": judge, "score": score}
        for number in range(LISTED + 8)
        for judge, score in (("a", 1), ("b", 2 + number % 7))
    ]
    made = [{**call, "errored": False} for call in calls(LISTED + 8)]
    with built(tmp_path, made, scores) as store:
        async with exploring(Path(str(store.location)), start=stack_of("disputes", "")) as at:
            assert "1 of 50 shown, of 58 disputes" in at.path
        async with exploring(Path(str(store.location)), start=stack_of("disputes", "spread>6")) as at:
            assert "1 of 8 match" in at.path


@pytest.mark.parametrize(
    ("view", "said"),
    [
        ("judges", "No judge scored"),
        ("agreement", "No judge scored"),
        ("disputes", "There are no disputes"),
        ("repeats", "Nothing repeats"),
        ("edits", "No edits of flows are known yet"),
    ],
)
async def test_an_empty_place_says_what_it_lacks(view: str, said: str, tmp_path: Path) -> None:
    with built(tmp_path, list(calls(1)), []) as store:
        async with exploring(Path(str(store.location)), start=stack_of(view, "")) as at:
            assert said in lines(at)
            assert "The store is empty" not in lines(at)


@pytest.mark.parametrize(("view", "said"), [("edits", "No edits of flows"), ("alignment", "People gave no verdict")])
async def test_what_a_place_lacks_is_said_once(view: str, said: str, tmp_path: Path) -> None:
    with built(tmp_path, list(calls(1)), []) as store:
        async with exploring(Path(str(store.location)), start=stack_of(view, "")) as at:
            assert lines(at).count(said) == 1
