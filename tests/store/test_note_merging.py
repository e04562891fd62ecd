"""What counts of the lines that people wrote is the same in whatever order, how often and in which files they come."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.annotations import ANY_NOTE, ENTANGLED
from tests.support.examples import examples
from tests.support.facts import call, fresh, put
from tests.surface.store import (
    Annotation,
    add_notes,
    counted,
    decisive,
    encoded,
    merged,
    notes_by_call,
    place_in_time,
    read_notes,
    standing,
)

FEW = settings(max_examples=examples(8), deadline=None)


def line(id: str, supersedes: str | None = None, at: int | None = 1, **given: object) -> Annotation:
    return Annotation(id, "c-1", "ann", at=at, supersedes=supersedes, **{"code": id, **given})  # type: ignore[arg-type]


def ids(lines: Iterable[Annotation]) -> list[str]:
    return [each.id for each in lines]


def threads(lines: Sequence[Annotation]) -> list[list[Annotation]]:
    """Join lines that supersede one another, also by way of lines that nobody has."""
    groups: list[tuple[set[str], list[Annotation]]] = []
    for each in lines:
        names = {each.id, *([each.supersedes] if each.supersedes else [])}
        touching = [group for group in groups if group[0] & names]
        groups = [group for group in groups if group not in touching]
        groups.append((names.union(*(group[0] for group in touching)), [*(x for g in touching for x in g[1]), each]))
    return [group for _, group in groups]


def stands(thread: Sequence[Annotation]) -> list[Annotation]:
    replaced = {each.supersedes for each in thread if each.supersedes != each.id}
    latest = max([each for each in thread if each.id not in replaced] or thread, key=place_in_time)
    return [] if latest.deleted else [latest]


@given(ENTANGLED, st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(lines: list[Annotation], random: Random) -> None:
    again = [*lines, *random.choices(lines, k=3)] if lines else []
    random.shuffle(again)
    assert merged(again) == merged(lines)
    assert standing(again) == standing(lines)
    assert counted(standing(again)) == counted(standing(lines))


@given(ENTANGLED)
def test_of_each_thread_one_line_stands_at_most(lines: list[Annotation]) -> None:
    wanted = [each for thread in threads(list(merged(lines).values())) for each in stands(thread)]
    assert standing(lines) == sorted(wanted, key=place_in_time)


@given(ENTANGLED)
def test_an_author_has_one_verdict_and_each_code_once(lines: list[Annotation]) -> None:
    found = standing(lines)
    kept = counted(found)
    for author in ("ann", "bob"):
        own = [each for each in found if each.author == author]
        verdicts = [each.verdict for each in own if each.verdict]
        assert [each.verdict for each in kept if each.author == author and each.verdict] == verdicts[-1:]
        codes = [each.code for each in kept if each.author == author and each.code]
        assert sorted(codes) == sorted({each.code for each in own if each.code})
    assert [each.note for each in kept if each.note] == [each.note for each in found if each.note]
    assert counted(kept) == kept


@settings(max_examples=examples(20))
@given(ANY_NOTE, ANY_NOTE, ANY_NOTE)
def test_which_of_two_lines_holds_does_not_depend_on_who_came_first(
    a: Annotation, b: Annotation, c: Annotation
) -> None:
    assert decisive(a, b) == decisive(b, a)
    assert decisive(decisive(a, b), c) == decisive(a, decisive(b, c))
    assert decisive(a, a) == a


def test_lines_that_supersede_themselves_or_each_other_hide_nothing() -> None:
    assert ids(standing([line("a", "a")])) == ["a"]
    assert ids(standing([line("a", "b"), line("b", "a", at=2)])) == ["b"]
    assert ids(standing([line("a", "c"), line("b", "a"), line("c", "b"), line("d", "c")])) == ["d"]
    assert ids(standing([line("b", "gone"), line("c", "gone", at=2)])) == ["c"]


def test_of_lines_of_the_same_time_the_one_with_the_higher_id_holds() -> None:
    assert ids(standing([line("b", "a"), line("c", "a"), line("a")])) == ["c"]
    assert ids(standing([line("b", "a", at=None), line("c", "a", at=0), line("a", at=None)])) == ["c"]


@FEW
@given(ENTANGLED, st.lists(st.integers(0, 3), min_size=8, max_size=8), st.permutations(range(4)))
def test_any_split_into_files_leaves_the_same_notes(
    lines: list[Annotation], places: list[int], order: list[int]
) -> None:
    files = [[each for each, place in zip(lines, places, strict=False) if place == file] for file in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        with fresh(Path(folder) / "whole.db") as whole:
            put(whole, "/in/a.jsonl", [call("c-1"), call("c-2")])
            add_notes(whole, lines)
            wanted, counts = read_notes(whole), notes_by_call(whole)
            assert notes_by_call(whole, counts) == counts
        with fresh(Path(folder) / "split.db") as split:
            for file in order[:2]:
                add_notes(split, files[file])
            put(split, "/in/a.jsonl", [call("c-1"), call("c-2")])
            for file in (*order[2:], *order):
                again = add_notes(split, files[file])
            assert again.new == again.changed == 0
            assert read_notes(split) == wanted
            assert notes_by_call(split) == counts


@FEW
@given(st.lists(ANY_NOTE, max_size=5, unique_by=lambda note: note.id))
def test_a_store_gives_back_every_note_as_it_was(notes: list[Annotation]) -> None:
    with tempfile.TemporaryDirectory() as folder, fresh(Path(folder) / "calls.db") as store:
        assert add_notes(store, notes).new == len(notes)
        assert read_notes(store) == sorted(map(encoded, notes), key=lambda note: note.id.encode())
