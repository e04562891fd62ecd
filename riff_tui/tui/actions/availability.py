"""Return why a key does not apply, an empty text where it does."""

from __future__ import annotations

from riff_tui.tui.actions.context import ActionContext

NOT_READ = "the rows are not read yet"


def needs_rows(context: ActionContext) -> str:
    if context.rows:
        return ""
    return NOT_READ if context.loading else "there are no rows here"


def needs_below(context: ActionContext) -> str:
    if not context.rows:
        return NOT_READ if context.loading else "there is no row to open"
    return "" if context.below else f"nothing lies below a row of {context.noun}"


def needs_depth(context: ActionContext) -> str:
    searching = context.kind == "conversation" and context.searched
    begun = context.loading or context.pane or context.graph
    if begun or context.filtered or searching or context.depth > 1:
        return ""
    return "this is the first screen; q quits"


def needs_column(context: ActionContext) -> str:
    if context.kind == "conversation":
        return "a call is shown in the order in which it happened"
    if context.spec.words.ranked:
        return f"the {context.noun} is ranked {context.spec.words.ranked}"
    return "" if context.column else "the column under the cursor has no order"


def needs_order(context: ActionContext) -> str:
    if context.kind == "conversation":
        return needs_column(context)
    return "" if context.sorted or context.order_kept else "nothing was sorted here: s sorts by a column"


def needs_folding(context: ActionContext) -> str:
    if context.pair or not context.spec.regroups:
        return "only flows fold and unfold; 1 goes there"
    return needs_rows(context)


def needs_calls(context: ActionContext) -> str:
    if context.pair:
        return needs_unpaired(context)
    if context.kind == "conversation":
        return "a call has one flow, one agent and one run; Esc goes to its list"
    return context.spec.filters.refusal


def needs_aspects(context: ActionContext) -> str:
    return "" if context.spec.aspects else "only effects explain one aspect or another; F goes there"


def needs_words(context: ActionContext) -> str:
    if context.searched:
        return needs_rows(context)
    if context.kind == "conversation":
        return "no search was typed: / takes one"
    return "no filter was typed yet: / takes one, and once Esc shows all rows again, n goes to those that match"


def needs_siblings(context: ActionContext) -> str:
    if context.kind != "conversation":
        return "only in a conversation"
    return "" if context.siblings > 1 else "the list it came from holds no other conversation"


def needs_matches(context: ActionContext) -> str:
    return "" if context.searched else needs_siblings(context)


def needs_back(context: ActionContext) -> str:
    return "" if context.back else "there is no earlier place"


def needs_forward(context: ActionContext) -> str:
    return "" if context.forward else "there is no later place"


def needs_state(context: ActionContext) -> str:
    return "" if context.neighbors else "put the cursor on a state: neighbours belong to a state"


def needs_store(context: ActionContext) -> str:
    return "" if context.stored else "there is no store here to make a case from"


def needs_notebook(context: ActionContext) -> str:
    return "" if context.notebook else "nothing is noted here: the explorer was opened with --read-only"


def needs_written(context: ActionContext) -> str:
    return needs_notebook(context) or ("" if context.written else "nothing to take back: nothing was noted so far")


def needs_code(context: ActionContext) -> str:
    if context.view != "codes":
        return "only codes are renamed; # lists them"
    return needs_notebook(context) or needs_rows(context)


def needs_renamed(context: ActionContext) -> str:
    return needs_code(context) or needs_written(context)


def needs_dump(context: ActionContext) -> str:
    return "" if context.dump else "no dump prints this"


def needs_live(context: ActionContext) -> str:
    return "" if context.live else "this store is not watched; r reads it again"


def needs_error(context: ActionContext) -> str:
    return "" if context.failed else "nothing went wrong so far"


def needs_cells(context: ActionContext) -> str:
    return needs_rows(context) if context.kind != "conversation" else "a conversation has lines, not cells"


def needs_markable(context: ActionContext) -> str:
    if context.kind == "conversation":
        return "only rows of lists can be marked"
    return "these are the two rows that were marked; Esc goes back to them" if context.pair else ""


def needs_markable_row(context: ActionContext) -> str:
    return needs_markable(context) or needs_rows(context)


def needs_marks(context: ActionContext) -> str:
    return needs_markable(context) or ("" if context.marks else "no row is marked here; m marks one")


def needs_pair(context: ActionContext) -> str:
    if context.pair or context.sided:
        return ""
    reason = needs_markable(context) or context.unlike
    if reason:
        return reason
    if not context.marks:
        return "mark a row with m first, then a second one, or go to it"
    if context.marks == 1 and (context.at_mark or not context.rows):
        return "one row is marked; go to another one, or mark it as well"
    return f"{context.marks} rows are marked, and it takes two; x clears the marks" if context.marks > 2 else ""


def needs_unpaired(context: ActionContext) -> str:
    return "a comparison of two rows cannot be narrowed; Esc goes back to the list" if context.pair else ""


def needs_choosable(context: ActionContext) -> str:
    if context.kind == "conversation":
        return "a conversation has lines, not columns"
    if context.choosable:
        return ""
    return NOT_READ if context.loading and not context.rows else f"the columns of {context.noun} are always the same"


def needs_list_columns(context: ActionContext) -> str:
    return "a conversation has lines, not columns" if context.kind == "conversation" else ""


def needs_row_or_pane(context: ActionContext) -> str:
    return "" if context.pane else needs_rows(context)


def needs_pane(context: ActionContext) -> str:
    return "" if context.pane else "the detail pane is closed; p opens it"


def needs_lanes(context: ActionContext) -> str:
    return "" if context.lanes else "only a voice call has lanes"


def needs_farther_lanes(context: ActionContext) -> str:
    if context.lanes == "nearest":
        return "this is as near as it goes"
    return needs_lanes(context)


def needs_part_of_lanes(context: ActionContext) -> str:
    if context.lanes == "all":
        return "the whole call is shown; > goes nearer"
    return needs_lanes(context)


def needs_last(context: ActionContext) -> str:
    return "" if context.last else "no other view was left so far"
