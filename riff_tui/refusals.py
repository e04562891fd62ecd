"""Why a key for marks, columns, the pane or the last view does not apply; an empty text where it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riff_tui.actions import Situation


def needs_markable(situation: Situation) -> str:
    if situation.kind == "conversation":
        return "rows of lists can be marked, a conversation has none"
    return "these are the two rows that were marked; Esc goes back to them" if situation.pair else ""


def needs_markable_row(situation: Situation) -> str:
    return needs_markable(situation) or _rows(situation)


def needs_marks(situation: Situation) -> str:
    return needs_markable(situation) or ("" if situation.marks else "no row is marked here; m marks one")


def needs_pair(situation: Situation) -> str:
    if situation.pair:
        return ""
    reason = needs_markable(situation) or situation.unlike
    if reason:
        return reason
    if not situation.marks:
        return "mark a row with m first, then a second one, or go to it"
    if situation.marks == 1 and (situation.at_mark or not situation.rows):
        return "one row is marked; go to another one, or mark it as well"
    return f"{situation.marks} rows are marked, and it takes two; x clears the marks" if situation.marks > 2 else ""


def needs_unpaired(situation: Situation) -> str:
    return "two rows are compared whole; Esc goes back to the list" if situation.pair else ""


def needs_choosable(situation: Situation) -> str:
    if situation.kind == "conversation":
        return "a conversation has lines, not columns"
    return "" if situation.choosable else f"the columns of {situation.view} are always the same"


def needs_list_columns(situation: Situation) -> str:
    return "a conversation has lines, not columns" if situation.kind == "conversation" else ""


def needs_row_or_pane(situation: Situation) -> str:
    return "" if situation.pane else _rows(situation)


def needs_pane(situation: Situation) -> str:
    return "" if situation.pane else "the detail pane is closed; p opens it"


def needs_last(situation: Situation) -> str:
    return "" if situation.last else "no other view was left so far"


def _rows(situation: Situation) -> str:
    return "" if situation.rows else "there are no rows here"
