"""Why a key does not apply; an empty text where it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riff_tui.tui.actions.registry import ActionContext


def needs_rows(situation: ActionContext) -> str:
    return "" if situation.rows else "there are no rows here"


def needs_below(situation: ActionContext) -> str:
    if not situation.rows:
        return "there is no row to open"
    return "" if situation.below else f"nothing lies below a row of {situation.view}"


def needs_depth(situation: ActionContext) -> str:
    searched = situation.kind == "conversation" and situation.sought
    begun = situation.travelling or situation.pane or situation.graph
    if begun or situation.filtered or searched or situation.depth > 1:
        return ""
    return "this is the first screen; q quits"


def needs_column(situation: ActionContext) -> str:
    if situation.kind == "conversation":
        return "a conversation keeps the order in which it happened"
    if situation.view == "worklist":
        return "the worklist is ranked by what to fix first"
    return "" if situation.column else "the column under the cursor has no order"


def needs_calls(situation: ActionContext) -> str:
    if situation.pair:
        return needs_unpaired(situation)
    if situation.kind == "conversation":
        return "a conversation is of one flow, one agent and one run; Esc goes to its list"
    return "what was skipped belongs to no flow, agent or run" if situation.view == "skipped" else ""


def needs_aspects(situation: ActionContext) -> str:
    return "" if situation.view == "effects" else "only effects explain one aspect or another; F goes there"


def needs_words(situation: ActionContext) -> str:
    if situation.sought:
        return needs_rows(situation)
    if situation.kind == "conversation":
        return "nothing is searched for: / takes words"
    return "nothing was filtered by yet: / takes words, and once Esc shows all rows again, n goes to those that match"


def needs_siblings(situation: ActionContext) -> str:
    if situation.kind != "conversation":
        return "only in a conversation"
    return "" if situation.siblings > 1 else "the list it came from holds no other conversation"


def needs_matches(situation: ActionContext) -> str:
    return "" if situation.sought else needs_siblings(situation)


def needs_back(situation: ActionContext) -> str:
    return "" if situation.back else "there is no earlier place"


def needs_forward(situation: ActionContext) -> str:
    return "" if situation.forward else "there is no later place"


def needs_state(situation: ActionContext) -> str:
    return "" if situation.neighbors else "put the cursor on a state: neighbours belong to a state"


def needs_dump(situation: ActionContext) -> str:
    return "" if situation.dump else "no dump prints this"


def needs_live(situation: ActionContext) -> str:
    return "" if situation.live else "nothing is followed here; r asks the store again"


def needs_trouble(situation: ActionContext) -> str:
    return "" if situation.trouble else "nothing went wrong so far"


def needs_cells(situation: ActionContext) -> str:
    return needs_rows(situation) if situation.kind != "conversation" else "a conversation has lines, not cells"


def needs_markable(situation: ActionContext) -> str:
    if situation.kind == "conversation":
        return "rows of lists can be marked, a conversation has none"
    return "these are the two rows that were marked; Esc goes back to them" if situation.pair else ""


def needs_markable_row(situation: ActionContext) -> str:
    return needs_markable(situation) or needs_rows(situation)


def needs_marks(situation: ActionContext) -> str:
    return needs_markable(situation) or ("" if situation.marks else "no row is marked here; m marks one")


def needs_pair(situation: ActionContext) -> str:
    if situation.pair or situation.sided:
        return ""
    reason = needs_markable(situation) or situation.unlike
    if reason:
        return reason
    if not situation.marks:
        return "mark a row with m first, then a second one, or go to it"
    if situation.marks == 1 and (situation.at_mark or not situation.rows):
        return "one row is marked; go to another one, or mark it as well"
    return f"{situation.marks} rows are marked, and it takes two; x clears the marks" if situation.marks > 2 else ""


def needs_unpaired(situation: ActionContext) -> str:
    return "two rows are compared whole; Esc goes back to the list" if situation.pair else ""


def needs_choosable(situation: ActionContext) -> str:
    if situation.kind == "conversation":
        return "a conversation has lines, not columns"
    return "" if situation.choosable else f"the columns of {situation.view} are always the same"


def needs_list_columns(situation: ActionContext) -> str:
    return "a conversation has lines, not columns" if situation.kind == "conversation" else ""


def needs_row_or_pane(situation: ActionContext) -> str:
    return "" if situation.pane else needs_rows(situation)


def needs_pane(situation: ActionContext) -> str:
    return "" if situation.pane else "the detail pane is closed; p opens it"


def needs_lanes(situation: ActionContext) -> str:
    return "" if situation.lanes else "only a voice call has lanes"


def needs_farther_lanes(situation: ActionContext) -> str:
    if situation.lanes == "nearest":
        return "nearer than this is nothing to see"
    return needs_lanes(situation)


def needs_part_of_lanes(situation: ActionContext) -> str:
    if situation.lanes == "all":
        return "the whole call is shown; > goes nearer"
    return needs_lanes(situation)


def needs_last(situation: ActionContext) -> str:
    return "" if situation.last else "no other view was left so far"
