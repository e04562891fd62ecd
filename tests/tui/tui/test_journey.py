"""How many keys it takes from a cold start to a call that proves what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.pty_terminal import Terminal
from tests.surface.runner import planted
from tests.surface.store import open_store
from tests.surface.tui import Request, show

MOST_KEYS = 8


@pytest.mark.parametrize(
    ("keys", "where"),
    [("3\r\r", ""), ("\r\r\r\r", "flow=apartment_scheduler")],
    ids=["3 keys over all states", "4 keys down the weakest flow"],
)
def test_a_call_that_the_worst_planted_state_lost_is_few_keys_away(demo: Path, keys: str, where: str) -> None:
    with open_store(demo) as store:
        worst = show(store, "states", Request(where=where)).rows[0].record
    assert (worst["flow"], worst["state"]) in {(weakness.flow, weakness.state) for weakness in planted()}
    assert len(keys) <= MOST_KEYS
    with Terminal(["-c", "from riff_tui.cli import main; main()", "ui", "--fresh", "--store", str(demo)]) as terminal:
        terminal.wait_for("? help")
        for key in keys:
            terminal.press(key)
        terminal.wait_for(f" in {worst['state']},")
        assert "1 of " in terminal.lines[0]
        assert terminal.lines[1].startswith("!")
