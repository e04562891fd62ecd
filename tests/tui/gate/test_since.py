"""A regression is told with the run in which it began, however many runs have had it since."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import ConversationFacts
from tests.surface.tui import configured, decision_with_commands

ASPECTS = {
    "g": {"correctness": 10.0, "completion": 10.0, "errors": 10.0},
    "b": {"correctness": 0.0, "completion": 0.0, "errors": 10.0},
}


def night(number: int, kind: str, n: int = 20, **given: Any) -> list[ConversationFacts]:
    """One night's calls: `g`ood, `b`ad, or `f`ew of them; the nights follow one upon the other."""
    count = 2 if kind == "f" else n
    return [
        call(f"n{number}-{task}", run=f"night-{number}", started_at=number * 10**9, scenario=f"{task}",
             aspects=ASPECTS["b" if kind == "f" else kind], **given)
        for task in range(count)
    ]  # fmt: skip


def since(path: Path, nights: str, **of_third: Any) -> dict[str, str | None]:
    """Since when the last night fails against the first one, by what is checked."""
    with fresh(path / "store.db") as store:
        for number, kind in enumerate(nights):
            put(store, f"{number}.jsonl", night(number, kind, **(of_third if number == 2 else {})))
        found = decision_with_commands(store, "night-0", f"night-{len(nights) - 1}", None, configured((), environ={}))
    return {check.name: check.since for check in found.of("failed")}


@pytest.mark.parametrize(
    ("nights", "first"),
    [
        ("gb", "night-1"),
        ("ggb", "night-2"),
        ("gbb", "night-1"),
        ("ggbbb", "night-2"),
        ("gbgb", "night-3"),
        ("gbfb", "night-1"),
        ("gfb", "night-2"),
    ],
)
def test_it_began_in_the_first_night_from_which_on_it_always_failed(tmp_path: Path, nights: str, first: str) -> None:
    assert since(tmp_path, nights) == {"success_rate": first, "completion": first}


def test_runs_of_other_branches_say_nothing_of_it(tmp_path: Path) -> None:
    assert since(tmp_path, "gbgb", branch="main")["completion"] == "night-1"


def test_each_check_has_a_night_of_its_own(tmp_path: Path) -> None:
    with fresh(tmp_path / "store.db") as store:
        for number in range(4):
            kinds = {"x": "b" if number > 1 else "g", "y": "b" if number > 2 else "g"}
            items = [one for flow, kind in kinds.items() for one in night(number, kind, flow=flow)]
            put(store, f"{number}.jsonl", items)
        found = decision_with_commands(store, "night-0", "night-3", None, configured((), environ={}))
    assert {(check.flow, check.since) for check in found.of("failed")} == {("x", "night-2"), ("y", "night-3")}


def test_what_passes_began_nowhere(tmp_path: Path) -> None:
    assert since(tmp_path, "gbg") == {}
