"""Who called is said where it matters: beside comparisons of other callers, and of calls that their caller spoilt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.tui import run

Captured = pytest.CaptureFixture[str]
UNLIKE = "Not alike: "


def stored(tmp_path: Path, callers: dict[str, str | None], **given: Any) -> str:
    path = tmp_path / "calls.db"
    store = fresh(path)
    calls = [
        call(f"{run_id}-{number}", run=run_id, caller=caller, **(given if number == 9 else {}))
        for run_id, caller in callers.items()
        for number in range(10)
    ]
    put(store, "calls.jsonl", calls)
    store.close()
    return str(path)


def printed(capsys: Captured, *command: str) -> str:
    run(list(command))
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("compare", "old", "new"), "A was called by scripted; B by gpt. What differs may be their callers."),
        (
            ("gate", "--baseline", "old", "--candidate", "new"),
            "the baseline was called by scripted, the candidate by gpt. What differs may be their callers.",
        ),
    ],
)
def test_a_comparison_of_calls_by_other_callers_says_so(
    tmp_path: Path, capsys: Captured, command: tuple[str, ...], said: str
) -> None:
    store = stored(tmp_path, {"old": "scripted", "new": "gpt"})
    assert UNLIKE + said in printed(capsys, *command, "--store", store)


@pytest.mark.parametrize("callers", [("scripted", "scripted"), ("scripted", None), (None, None)])
@pytest.mark.parametrize("command", [("compare", "old", "new"), ("gate", "--baseline", "old", "--candidate", "new")])
def test_of_callers_that_are_alike_or_not_known_nothing_is_said(
    tmp_path: Path, capsys: Captured, command: tuple[str, ...], callers: tuple[str | None, str | None]
) -> None:
    store = stored(tmp_path, dict(zip(("old", "new"), callers, strict=True)))
    shown = printed(capsys, *command, "--store", store)
    assert "success_rate" in shown
    assert UNLIKE not in shown


@pytest.mark.parametrize("view", ["worklist", "segments", "states"])
def test_calls_that_their_caller_spoilt_are_told_from_errored_ones(tmp_path: Path, capsys: Captured, view: str) -> None:
    store = stored(tmp_path, {"old": "gpt", "new": "gpt"}, caller_ok=False)
    assert "Excluded: 2 calls are not counted in averages: 2 whose caller failed." in printed(
        capsys, "dump", view, "--store", store
    )
