"""What people say beside judges, on a small screen: from who judges down to the calls that a judge misses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.dump_commands import dumped_rows, rows_on
from tests.support.golden import assert_golden
from tests.support.people_store import store_of_calls, with_notes
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link as stack_of


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with with_notes(store_of_calls(tmp_path_factory.mktemp("people-screens"))) as store:
        yield Path(str(store.location))


def lines(at: Walker) -> str:
    return "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()) + "\n"


async def test_the_way_from_judges_to_the_calls_that_one_misses_can_be_walked(people: Path) -> None:
    async with exploring(people, (80, 24)) as at:
        for name, key in (("judges", "8"), ("alignment", "P")):
            await at.press(key)
            assert rows_on(at) == dumped_rows(people, at)
            assert_golden(lines(at), f"screens/people/{name}.80x24.txt")
        await at.press("enter")
        assert len(rows_on(at)) == 14
        assert rows_on(at) == dumped_rows(people, at)


async def test_details_tell_a_rate_with_its_interval_and_why_it_is_marked(people: Path) -> None:
    async with exploring(people, (80, 24), start=stack_of("alignment", "judge=warm")) as at:
        await at.press("p", "p")
        said = lines(at)
        assert "tpr: the whole 95 % interval is below 50%" in said
        assert re.search(r"tpr +!0\.0% +0–22%\n", said)
        assert not re.search(r"^ 95 %", said, re.MULTILINE)


async def test_the_way_from_a_person_and_a_judge_to_what_they_dispute_looks_as_it_did(people: Path) -> None:
    async with exploring(people, (80, 24), start=stack_of("agreement", "first=warm second:ann")) as at:
        assert_golden(lines(at), "screens/people/agreement.80x24.txt")
        await at.press("enter")
        assert rows_on(at) == dumped_rows(people, at)
        assert_golden(lines(at), "screens/people/disputes.80x24.txt")
