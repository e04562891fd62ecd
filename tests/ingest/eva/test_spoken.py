"""How much of what was written was spoken (R7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import LABELS, LoggedEntry, Voiced, spoken_only
from tests.surface.ingest import history_pipeline_spoken_part as part_spoken_by

LONG = "Your two dozen rolls will be ready on Friday morning at seven."


def spoken_part(content: str, pieces: Sequence[str]) -> str | None:
    return part_spoken_by(content, Voiced(pieces))


@pytest.mark.parametrize(
    ("written", "pieces", "spoken"),
    [
        (LONG, [LONG], LONG),
        (LONG, ["YOUR two dozen rolls, will be ready on friday - morning at seven"], LONG),
        ("rolls", [LONG], "rolls"),
        (LONG, ["Your two dozen rolls will be ready ", "on Friday morning at seven."], LONG),
        (LONG, ["[pause] Your two dozen rolls will be", "ready on Friday morning at seven [pause]"], LONG),
        (LONG, ["Your two dozen rolls will be rea"], "Your two dozen rolls will be"),
        (LONG, ["no", "Your two dozen rolls will go"], "Your two dozen rolls will"),
        (LONG, ["Well. Your two dozen rolls will be"], None),
        (LONG, ["Your two dozen"], None),
        (LONG, ["Your two dozen rolls w"], None),
        ("", [LONG], None),
        ("?!", [LONG], None),
        ("[pause]", [LONG], None),
        (LONG, [], None),
        (LONG, ["...", "[pause]"], None),
    ],
)
def test_a_text_is_kept_as_far_as_it_was_spoken(written: str, pieces: list[str], spoken: str | None) -> None:
    assert spoken_part(written, pieces) == spoken


def test_twenty_letters_are_enough_and_nineteen_are_chance() -> None:
    assert spoken_part("abcdefghij klmnopqrst uvw", ["abcdefghij klmnopqrst x"]) == "abcdefghij klmnopqrst"
    assert spoken_part("abcdefghij klmnopqrs uvw", ["abcdefghij klmnopqrs x"]) is None


def test_words_of_labels_count_where_a_text_is_cut() -> None:
    """Quirk 5: one in front costs real words, one behind is cut off."""
    assert spoken_part(f"[assistant interrupts] {LONG}", ["Your two dozen rolls will be, uh"]) == (
        "[assistant interrupts] Your two dozen rolls"
    )
    assert spoken_part(f"{LONG} [likely cut off by user]", ["Your two dozen rolls will be, uh"]) == (
        "Your two dozen rolls will be"
    )
    whole = f"{LONG} [likely cut off by user]"
    assert spoken_part(whole, [LONG]) == whole


def test_only_marked_entries_are_looked_at_and_only_in_their_turn() -> None:
    trace = [
        LoggedEntry("intended", 1, role="assistant", content=LONG, needs_check=True),
        LoggedEntry("intended", 2, role="assistant", content=LONG, needs_check=True),
        LoggedEntry("intended", 3, role="assistant", content=LONG, needs_check=True, nudge=True),
        LoggedEntry("transcribed", 4, role="user", content="never spoken by the agent"),
    ]
    kept = spoken_only(trace, {2: [LONG]})
    assert [(entry.turn_id, entry.content) for entry in kept] == [(2, LONG), (3, LONG), (4, trace[3].content)]
    assert not any(entry.needs_check or entry.nudge for entry in kept)


def by_the_page(content: str, pieces: list[str]) -> str | None:
    """The rule as it is written, step by step."""

    def bare(text: str) -> str:
        for label in LABELS:
            text = text.replace(label, "")
        return "".join(sign for sign in text if sign.isalnum()).lower()

    written, spoken = bare(content), [bare(piece) for piece in pieces if bare(piece)]
    if not written or not spoken:
        return None
    if any(written in each for each in spoken) or written in "".join(spoken):
        return content
    free = content
    for label in LABELS:
        free = free.replace(label, "")
    words = free.split()
    counts = [k for k in range(1, len(words) + 1) if any(each.startswith(bare(" ".join(words[:k]))) for each in spoken)]
    if not counts or len(bare(" ".join(words[: counts[-1]]))) < 20:
        return None
    return " ".join(content.split()[: counts[-1]])


WORDS = st.sampled_from(["rolls", "and", "a", "cake", "—", "DOZEN", "Straße", "İstanbul", *LABELS, "tomorrow", "?"])
TEXT = st.lists(WORDS, max_size=12).map(" ".join)


@given(content=TEXT, pieces=st.lists(TEXT, max_size=3), cut=st.integers(0, 60))
def test_it_is_the_rule_as_written(content: str, pieces: list[str], cut: int) -> None:
    pieces = [*pieces, content[:cut] + " uh"]
    assert spoken_part(content, pieces) == by_the_page(content, pieces)


def test_it_is_the_rule_as_written_at_every_cut() -> None:
    for cut, tail in product(range(len(LONG)), ("", "x", " and so on")):
        pieces = [LONG[:cut] + tail]
        assert spoken_part(LONG, pieces) == by_the_page(LONG, pieces)


def test_a_log_of_one_endless_turn_is_checked_soon() -> None:
    pieces = [f"{number} rolls are ready, and {number} more" for number in range(3_000)]
    trace = [
        LoggedEntry("intended", 1, role="assistant", content=f"{piece} soon", needs_check=True) for piece in pieces
    ]
    began = process_time()
    kept = spoken_only(trace, {1: pieces})
    assert [entry.content for entry in kept[:2]] == pieces[:2]
    assert len(kept) == len(trace)
    assert process_time() - began < 10
