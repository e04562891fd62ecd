"""Nothing that is pasted presses a key, and no key waits for what comes after it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.message import Message

from tests.surface.explorer import InputParser
from tests.surface.tui import PasteFilter

PIECES = st.sampled_from(["\x1b", "\x1b[200~", "\x1b[201~", "[201~", "a", "é", "\r", "\x07", "\x1b[A", "\x9b"])


def read(*pieces: str) -> list[Message]:
    parser = InputParser()
    return [event for piece in pieces for event in parser.feed(piece)]


def told(found: list[Message]) -> list[str]:
    """What was typed or pasted."""
    names = []
    for event in found:
        if isinstance(event, events.Paste):
            names.append(f"paste {event.text!r}")
        elif isinstance(event, events.Key):
            names.append(event.key)
    return names


def test_escape_sequences_in_a_paste_press_no_key() -> None:
    pasted = "\x1b[200~said \x1b[31mred\x1b[0m\x1b]0;title\x07 and\nq\x1b[201~j"
    wanted = [f"paste {'said [31mred[0m]0;title and' + chr(10) + 'q'!r}", "j"]
    assert told(read(pasted)) == wanted
    assert told(read(*pasted)) == wanted


def test_what_is_typed_goes_through_at_once() -> None:
    assert told(read("j", "\x1b[A", "q")) == ["j", "up", "q"]
    filtered = PasteFilter()
    assert [filtered.take(piece) for piece in ("\x1b", "[20", "1~", "x")] == ["\x1b", "[20", "1~", "x"]


@given(st.lists(PIECES, max_size=12))
def test_it_does_not_matter_where_input_is_cut(pieces: list[str]) -> None:
    whole, cut = "".join(pieces), PasteFilter()
    assert "".join(map(cut.take, whole)) == PasteFilter().take(whole)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40).filter(lambda text: "\x1b[201~" not in text))
def test_a_paste_keeps_all_that_can_be_read(text: str) -> None:
    left = PasteFilter().take(f"\x1b[200~{text}\x1b[201~")
    inner = left.removeprefix("\x1b[200~").removesuffix("\x1b[201~")
    assert len(inner) == len(left) - 12
    assert "\x1b" not in inner
    assert [each for each in text if each.isprintable()] == [each for each in inner if each.isprintable()]
