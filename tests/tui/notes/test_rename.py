"""Renaming codes and merging them: who said it, and what counts, stays."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import Annotation, counted, standing
from tests.surface.tui import renamed


def line(id: str, code: str | None = "wrong day", **given: Any) -> Annotation:
    return Annotation(id, "c-1", **({"author": "ann", "code": code, "at": 1} | given))


def after(lines: list[Annotation], old: str = "wrong day", new: str = "date", editor: str = "bob") -> list[Annotation]:
    return standing([*lines, *renamed(lines, old, new, editor=editor)])


def test_a_code_is_renamed_wherever_it_stands_and_its_author_stays() -> None:
    first = line("1", turn=3, state="collect", verdict="fail", note="said Monday", run="r", labels=["x"])
    taken_back = line("3", supersedes="2", deleted=True, at=2)
    found = after([first, line("2"), taken_back, line("4", code="rude"), line("5", code=None, note="a remark")])
    assert [(each.code, each.author, each.editor) for each in found] == [
        ("date", "ann", "bob"), ("rude", "ann", None), (None, "ann", None),
    ]  # fmt: skip
    kept = ("turn", "state", "verdict", "note", "run", "labels", "at", "conversation")
    assert [getattr(found[0], name) for name in kept] == [getattr(first, name) for name in kept]


def test_who_renames_a_code_of_their_own_is_no_editor() -> None:
    assert [each.editor for each in after([line("1")], editor="ann")] == [None]


def test_merged_codes_count_once_of_an_author() -> None:
    lines = [line("1", code="wrong day"), line("2", code="date", at=2)]
    assert [each.code for each in counted(after(lines))] == ["date"]


def test_a_rename_changes_nobodys_last_word() -> None:
    lines = [line("1", verdict="fail"), line("2", code=None, verdict="pass", at=2)]
    assert [each.verdict for each in counted(after(lines)) if each.verdict] == ["pass"]


def test_a_rename_is_taken_back_by_the_lines_that_it_wrote() -> None:
    lines = [line("1", author="ann"), line("2", code="date", author="bob")]
    written = renamed(lines, "wrong day", "date", editor="bob")
    back = renamed(written, "date", "wrong day", editor="bob")
    codes = {each.author: each.code for each in standing([*lines, *written, *back])}
    assert codes == {"ann": "wrong day", "bob": "date"}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["x", "y", None])), max_size=8))
def test_no_line_is_lost_and_the_old_code_is_gone(given: list[tuple[str, str | None]]) -> None:
    lines = [line(str(place), code=code, author=who, at=place) for place, (who, code) in enumerate(given)]
    found = after(lines, "x", "y")
    assert [(each.author, each.at) for each in found] == [(each.author, each.at) for each in lines]
    assert [each.code for each in found] == ["y" if each.code == "x" else each.code for each in lines]
    assert renamed(found, "x", "y", editor="bob") == renamed(found, "y", "y", editor="bob") == []
