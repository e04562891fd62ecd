"""What stands at the head of a call on a small terminal."""

from __future__ import annotations

from riff_tui.table import Table
from riff_tui.text.glyphs import UNICODE
from riff_tui.tui.render.conversation_header import conversation_lines
from riff_tui.tui.render.palette import PALETTES

JUDGES = ("sim-strict", "sim-warm", "sim-wavering")


def told(judges: tuple[str, ...], width: int) -> list[str]:
    judged = [{"judge": judge, "score": 3.3} for judge in judges]
    extras = {"call": {"stop_reason": "terminal"}, "aspects": {"computed": {"correctness": 10.0}, "judged": judged}}
    table = Table("conversation", "", (), (), extras=extras)
    lines = conversation_lines(table, width, UNICODE, PALETTES["ansi"])
    return ["".join(text for text, _ in line) for line in lines]


def test_every_score_of_a_dispute_is_on_the_first_screen_of_the_call() -> None:
    assert len(told(JUDGES[:1], 80)) == 2
    lines = told(JUDGES, 80)
    assert len(lines) == 3
    assert all(f"{judge} 3.3" in lines[2] for judge in JUDGES)
    assert len(told(JUDGES, 120)) == 2
