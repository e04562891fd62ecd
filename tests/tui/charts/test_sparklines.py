"""Lines from run to run, to be read at a glance and in a dump alike."""

from __future__ import annotations

from tests.surface.tui import Sparklines, cell_width


def test_all_series_are_drawn_on_one_scale() -> None:
    lines = Sparklines({"success": [0.52, 0.64, 0.02], "warm": [5.2, 6.4, 0.2, None]}, rates=["success"]).draw()
    assert lines == [
        "success  ▅▅▁  2% to 64%, last 2%",
        "warm     ▅▅▁·  0.2 to 6.4, last 0.2",
    ]


def test_a_little_less_of_much_is_no_abyss() -> None:
    (line,) = Sparklines({"success": [0.97, 0.96, 0.95]}, rates=["success"]).draw()
    assert line == "success  ███  95% to 97%, last 95%"


def test_two_values_are_no_line() -> None:
    assert Sparklines({"a": [1.0, None, 2.0], "b": [None], "c": []}).draw() == []


def test_where_there_is_no_room_the_latest_runs_are_shown() -> None:
    values = [float(number % 7) for number in range(500)]
    (line,) = Sparklines({"日本語" * 20: values}).draw(width=60)
    assert cell_width(line) <= 60
    assert "last 2.0" in line
    (whole,) = Sparklines({"x": values}).draw(width=1000)
    drawn = line.split("  ")[1].strip()
    assert len(drawn) >= 8
    assert whole.split("  ")[1].endswith(drawn)


def test_hostile_names_are_text_and_ascii_is_enough() -> None:
    (line,) = Sparklines({"\x1b[2J[bold]": [0.0, 5.0, 10.0]}).draw(ascii_only=True)
    assert "\x1b" not in line
    assert line.endswith("  _-^  0.0 to 10.0, last 10.0")
