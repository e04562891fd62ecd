"""The walk from flows to a conversation and back, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.dom import DOMNode
from textual.widget import Widget

from tests.support.fake_catalog import FakeCatalog, LazyRows, flow_row
from tests.support.walker import LONGEST_S, Walker, send, walking
from tests.surface.explorer import ACTIONS, START, Backend, Explorer, ExplorerScreen, Location, textual_keys
from tests.surface.store import StoreBusy
from tests.surface.tui import Filter, FilterError, Request, Row, Table


async def test_enter_goes_down_to_a_conversation_and_escape_comes_up_to_the_same_rows() -> None:
    async with walking() as at:
        assert "1 of 3 · 2 flows · 2 agents · 38 calls · 3 min ago" in at.path
        await at.press("enter")
        assert at.path.startswith("flows › viewing @ gemini")
        await at.press("enter", "j", "enter")
        assert at.path.startswith("flows › viewing @ gemini › collect › confirm")
        assert "[confirm]" in at.head
        await at.press("j", "j", "enter")
        assert "c-0002" in at.path
        assert "3 of 6" in at.path
        assert "greet" in at.head
        await at.press("escape")
        assert at.row == "c-0002"
        await at.press("escape")
        assert at.row == "viewing confirm"
        await at.press("backspace", "q")
        assert (at.path.split()[0], at.row) == ("flows", "viewing gemini")


@pytest.mark.parametrize(
    ("sequence", "opened"),
    [
        ("\x1b[<0;2;4M\x1b[<0;2;4m\r", "flows › viewing @ qwen"),
        ("\x1b[<0;2;3M\x1b[<0;2;3mj", "flows › viewing @ gemini"),
        ("\x1b[<65;2;4M\r", "flows › weather @ qwen"),
        ("/\x1b[200~flow:weather\x1b[201~\r", "flows [flow:weather]"),
    ],
    ids=["a click and Enter", "a click on the row of the cursor and j", "the wheel and Enter", "a paste and Enter"],
)
async def test_a_key_follows_the_click_or_the_paste_that_came_along_with_it(sequence: str, opened: str) -> None:
    async with walking() as at:
        send(at.app, sequence)
        await at.settle()
        assert at.path.startswith(opened)


async def test_the_store_is_asked_with_the_names_of_the_rows_above() -> None:
    async with walking() as at:
        await at.press("enter", "enter", "enter")
        asked = [(view, request.where) for view, request in at.catalog.asked]
        assert asked[0] == ("flows", "")
        assert ("segments", "flow=viewing agent=gemini") in asked
        assert ("states", "flow=viewing agent=gemini segment=collect") in asked
        assert ("neighbors", "flow=viewing agent=gemini segment=collect state=collect_details") in asked
        assert ("conversations", "flow=viewing agent=gemini segment=collect state=collect_details") in asked


async def test_columns_that_the_place_fixes_are_not_repeated_in_every_row() -> None:
    async with walking() as at:
        await at.press("3")
        assert at.controls.table.columns[0].key == "flow"
        await at.press("1", "enter", "enter")
        assert at.controls.table.columns[0].key == "state"


async def test_going_up_asks_nothing_again_and_refresh_does() -> None:
    async with walking() as at:
        await at.press("enter")
        before = len(at.catalog.asked)
        await at.press("escape", "right_square_bracket", "left_square_bracket")
        assert len(at.catalog.asked) == before
        await at.press("j", "r")
        assert len(at.catalog.asked) == before + 1
        assert at.row == "viewing confirm"


async def test_back_and_forward_walk_through_where_one_was() -> None:
    async with walking() as at:
        await at.press("enter", "0", "left_square_bracket")
        assert at.path.startswith("flows › viewing @ gemini")
        await at.press("left_square_bracket", "left_square_bracket")
        assert "no earlier place" in at.bottom
        await at.press("right_square_bracket", "right_square_bracket")
        assert "worklist" in at.path


async def test_the_worklist_jumps_to_the_place_of_an_entry() -> None:
    async with walking() as at:
        await at.press("0", "G", "enter")
        assert at.path.startswith("flows › worklist › ")
        assert "[collect_details]" in at.head
        await at.press("q", "q")
        assert at.path.startswith("flows ")


async def test_numbers_choose_a_view_of_what_one_is_in_and_then_of_everything() -> None:
    async with walking() as at:
        await at.press("enter", "enter", "3")
        assert at.path.startswith("flows › viewing @ gemini › states")
        await at.press("3")
        assert at.path.startswith("flows › states")
        await at.press("4", "2", "1")
        assert at.path.startswith("flows ")


async def test_the_conversations_that_stalled_in_a_state_come_first() -> None:
    async with walking() as at:
        await at.press("enter", "enter", "enter")
        finals = [row.record["final_state"] for row in at.controls.table.table.rows]
        assert finals == ["collect_details"] * 4 + ["closing"] * 2


async def test_one_walks_the_machine_from_neighbour_to_neighbour() -> None:
    async with walking() as at:
        await at.press("3", "v")
        assert "[collect_details]" in at.head
        assert "centre" in at.bottom
        await at.press("enter")
        assert "[confirm]" in at.head
        await at.press("h", "h", "h", "h", "enter")
        assert "[triage]" in at.head or "[greet]" in at.head
        await at.press("escape")
        assert "M matrix" in at.bottom
        await at.press("v", "v", "q", "left_square_bracket", "left_square_bracket")
        assert "[confirm]" in at.head


async def test_a_frame_says_that_the_graph_has_the_keys_and_what_enter_does() -> None:
    async with walking() as at:
        await at.press("3", "enter")
        assert "─ graph ─" not in at.head
        await at.press("v")
        assert "─ graph ─" in at.head
        assert "Enter puts a state in the middle, and lists the calls of a step or an end" in at.head
        assert "⏎ centre" in at.bottom
        await at.press("h")
        assert "⏎ calls" in at.bottom
        await at.press("h", "enter")
        assert "in the middle already" in at.bottom
        await at.press("escape")
        assert "─ graph ─" not in at.head


async def test_enter_on_a_step_or_an_outcome_lists_its_calls_and_back_is_the_graph() -> None:
    async with walking() as at:
        await at.press("3", "v", "h", "enter")
        assert at.path.startswith("flows › states › collect_details › collect_details → confirm")
        asked = [request.where for view, request in at.catalog.asked if view == "conversations"]
        assert asked[-1].endswith("errored=false (state=collect_details went_to=confirm)")
        await at.press("backspace")
        assert "─ graph ─" in at.head
        await at.press("l", "j", "enter")
        assert at.path.startswith("flows › states › collect_details › collect_details → escalated")
        await at.press("backspace", "h", "h", "j", "enter")
        assert at.path.startswith("flows › states › collect_details › collect_details → collect_details")


async def test_next_and_previous_follow_the_list_that_one_came_from() -> None:
    async with walking() as at:
        await at.press("4", "enter", "n", "n", "p")
        assert "2 of 6" in at.path
        await at.press("p", "p")
        assert "first of the list" in at.bottom
        await at.press("G", "n", "n", "n", "n", "n", "n")
        assert "last of the list" in at.bottom
        await at.press("escape")
        assert at.controls.table.cursor == 5


async def test_the_list_is_not_forgotten_however_many_conversations_one_reads() -> None:
    class Many(FakeCatalog):
        def show(self, view: str, request: Request) -> Table:
            table = super().show(view, request)
            rows = [row._replace(id=f"{copy}{row.id}") for copy in range(5) for row in table.rows]
            return table._replace(rows=rows) if view == "conversations" else table

    async with walking(catalog=Many()) as at:
        await at.press("4", "enter", *["n"] * 20)
        assert "21 of 30" in at.path


async def test_escape_gives_up_a_place_that_takes_long_to_read() -> None:
    import threading

    gate = threading.Event()
    catalog = FakeCatalog()

    def show(view: str, request: Request) -> Table:
        if view == "segments":
            assert gate.wait(LONGEST_S)
        return catalog.show(view, request)

    app = Explorer(Backend(show))
    async with app.run_test(size=(100, 30)) as pilot:
        at = Walker(app, pilot, catalog)
        await at.press("j")
        await pilot.press("enter")
        await at.until(lambda: "reading segments" in at.bottom)
        await pilot.press("escape")
        assert "stopped" in at.bottom
        gate.set()
        await at.press("j")
        assert at.path.startswith("flows  ")


async def test_a_refresh_that_takes_a_while_leaves_the_cursor_where_it_went_meanwhile() -> None:
    import threading

    gate = threading.Event()
    gate.set()
    catalog = FakeCatalog()

    def show(view: str, request: Request) -> Table:
        assert gate.wait(LONGEST_S)
        return catalog.show(view, request)

    app = Explorer(Backend(show))
    async with app.run_test(size=(100, 30)) as pilot:
        at = Walker(app, pilot, catalog)
        await at.press("g")
        gate.clear()
        await pilot.press("r", "j", "j")
        gate.set()
        await at.settle()
        assert at.row == "weather qwen"


async def test_a_filter_is_typed_counted_applied_and_cleared() -> None:
    async with walking() as at:
        await at.press("slash", *"qwen")
        assert "2 of 3 flows match" in "".join(text for text, _ in at.controls.prompt.foot.lines[0])
        await at.press("enter")
        assert at.path.startswith("flows [qwen]")
        assert "1 of 2 match · 1 hidden" in at.path
        assert at.catalog.asked[-1][1].where == "qwen"
        await at.press("escape")
        assert at.path.startswith("flows  ")
        assert at.row == "viewing qwen"


async def test_a_place_that_was_read_does_not_take_what_is_typed_meanwhile() -> None:
    import threading

    gate, answered = threading.Event(), threading.Event()
    catalog = FakeCatalog()

    def show(view: str, request: Request) -> Table:
        if view == "states":
            assert gate.wait(LONGEST_S)
            answered.set()
        return catalog.show(view, request)

    app = Explorer(Backend(show))
    async with app.run_test(size=(100, 30)) as pilot:
        at = Walker(app, pilot, catalog)
        await at.settle()
        await pilot.press("3")
        await at.until(lambda: "reading states" in at.bottom)
        await pilot.press("slash", *"we")
        gate.set()
        await at.until(answered.is_set)
        await at.until(lambda: app.screen.worker.idle)  # type: ignore[attr-defined]  # the explorer's screen
        await pilot.press(*"ath")
        assert at.controls.prompt.field.value == "weath"
        assert at.path.startswith("flows  ")
        await pilot.press("escape")
        await at.until(lambda: at.path.startswith("flows › states"))
        gate.clear()
        await at.press("1")
        at.controls.navigator.forget(None)
        await pilot.press("3")
        await at.until(lambda: "reading states" in at.bottom)
        await pilot.press("slash", *"weath", "enter")
        gate.set()
        await at.settle()
        assert at.path.startswith("flows [weath]")


async def test_a_wrong_filter_is_explained_under_its_place_and_cannot_be_applied() -> None:
    async with walking() as at:
        await at.press("slash", *"stall>x", "enter")
        verdict = at.controls.prompt.foot.lines[0][0][0]
        assert verdict == "       ^ x is not a number"
        assert at.controls.prompt.is_open
        await at.press("escape")
        assert not at.controls.prompt.is_open
        assert at.path.startswith("flows  ")


async def test_an_error_about_the_whole_filter_points_into_what_was_typed() -> None:
    async with walking(catalog=FakeCatalog()) as at:
        await at.press("enter", "slash", *"opening")
        at.catalog.error = FilterError("rows here have no opening", len("flow=viewing agent=gemini ") + 2)
        await at.press("enter")
        verdict = at.controls.prompt.foot.lines[0][0][0]
        assert verdict == "   ^ rows here have no opening"


async def test_what_is_pasted_into_the_filter_cannot_act_on_the_terminal() -> None:
    from textual import events

    async with walking() as at:
        await at.press("slash")
        field = at.controls.prompt.query_one("#field")
        field.post_message(events.Paste("que\x1b]52;c;x\x07ry\u202e\nmore"))
        await at.pilot.pause()
        assert field.value == "que]52;c;xry more"  # type: ignore[attr-defined]  # an input


async def test_sorting_turns_round_from_the_order_of_the_view_and_goes_to_the_first_row() -> None:
    async with walking() as at:
        await at.press("j", "s")
        assert at.catalog.asked[-1][1].sort == "-blend"
        assert (at.controls.table.cursor, at.row) == (0, "weather qwen")
        assert "sorted by score, highest first; - undoes it" in at.bottom
        await at.press("s")
        assert at.screen.history.here.order == "blend"
        assert "in their own order" in at.bottom
        await at.press("S", "h", "h", "S")
        assert at.catalog.asked[-1][1].sort == "-agent"
        assert "sorted by Agent, last first" in at.bottom


async def test_the_last_view_of_a_sorted_list_is_the_order_and_the_row_before_it() -> None:
    async with walking() as at:
        await at.press("j", "s", "j", "minus")
        assert (at.row, at.screen.history.here.sort) == ("viewing qwen", None)
        await at.press("minus")
        assert (at.controls.table.cursor, at.screen.history.here.sort) == (1, "-blend")
        await at.press("enter", "minus", "s")
        assert at.screen.history.here.sort == ""


async def test_the_top_line_follows_the_cursor_and_counts_what_a_filter_leaves() -> None:
    async with walking() as at:
        assert "1 of 3 · 2 flows" in at.path
        await at.press("j")
        assert "2 of 3 · 2 flows" in at.path
        await at.press("slash", *"qwen", "enter")
        assert "1 of 2 match · 1 hidden" in at.path
        await at.press("escape", "slash", *"nobody", "enter")
        assert "0 of 3 match" in at.path


async def test_the_key_of_a_view_narrows_it_to_the_place_and_says_what_it_widens() -> None:
    async with walking() as at:
        await at.press("enter", "4")
        assert at.path.startswith("flows › viewing @ gemini › conversations ")
        assert "4 whole store" in at.bottom
        await at.press("4")
        assert at.path.startswith("flows › conversations ")
        assert "conversations of the whole store; [ goes back" in at.bottom
        await at.press("4")
        assert "already the whole store" in at.bottom


async def test_the_order_of_the_view_is_marked_as_a_chosen_one_is() -> None:
    async with walking() as at:
        head = at.controls.table.render_line(0).text
        assert "score▲" in head
        await at.press("s")
        assert "score▼" in at.controls.table.render_line(0).text


async def test_an_order_ends_with_the_view_unless_it_is_kept() -> None:
    async with walking() as at:
        await at.press("3", "l", "s", "1", "3")
        assert at.screen.history.here.sort is None
        await at.press("l", "s")
        chosen = at.screen.history.here.sort
        assert chosen
        await at.press("O")
        assert "from now on" in at.bottom
        await at.press("1", "3")
        assert at.screen.history.here.sort == chosen
        await at.press("O", "1", "3")
        assert at.screen.history.here.sort is None
        await at.press("O")
        assert "nothing was sorted here" in at.bottom


async def test_a_key_that_does_not_apply_says_why() -> None:
    async with walking() as at:
        await at.press("N")
        assert "no filter was typed yet" in at.bottom
        await at.press("v")
        assert "cursor on a state" in at.bottom
        await at.press("j")
        assert "? help" in at.bottom


async def test_what_stops_a_question_is_said_and_the_place_stays() -> None:
    async with walking() as at:
        at.catalog.error = StoreBusy("x.db: another process is writing to it")
        await at.press("enter")
        assert "another process is writing" in at.bottom
        assert at.path.startswith("flows ")
        at.catalog.error = ZeroDivisionError("words of a caller")
        await at.press("enter")
        assert "unexpected ZeroDivisionError" in at.bottom
        assert "caller" not in at.bottom
        at.catalog.error = None
        await at.press("enter")
        assert at.path.startswith("flows › viewing")


async def test_the_command_that_prints_the_same_is_shown_whole() -> None:
    async with walking(size=(60, 20)) as at:
        await at.press("enter", "enter", "enter", "d")
        said = " ".join(at.bottom.split())
        where = "--where 'flow=viewing agent=gemini segment=collect state=collect_details'"
        assert said == f"riff-tui dump neighbors {where} · riff-tui dump conversations {where}"


async def test_help_tells_purpose_columns_keys_and_what_does_not_apply() -> None:
    async with walking(size=(100, 180)) as at:
        await at.press("question_mark")
        text = "\n".join(line.text for line in at.app.screen._compositor.render_strips())
        assert "Every flow with every agent" in text
        assert "oper (operability)" in text
        assert "higher is better" in text
        assert "not now: only in a conversation" in text
        assert "riff-tui dump flows" in text
        for each in ACTIONS:
            assert each.help.split()[0] in text
        await at.press("j", "q")
        assert at.app.screen is at.screen


async def test_help_that_was_asked_for_during_a_read_is_about_the_place_that_was_read() -> None:
    import threading

    gate = threading.Event()
    catalog = FakeCatalog()

    def show(view: str, request: Request) -> Table:
        assert view == "flows" or gate.wait(LONGEST_S)
        return catalog.show(view, request)

    app = Explorer(Backend(show))
    async with app.run_test(size=(100, 180)) as pilot:
        at = Walker(app, pilot, catalog)
        await at.settle()
        await pilot.press("3")
        await at.until(lambda: "reading states" in at.bottom)
        await pilot.press("question_mark", "j")

        def text() -> str:
            return "\n".join(line.text for line in app.screen._compositor.render_strips())

        await at.until(lambda: "Every flow with every agent" in text())
        gate.set()
        await at.until(lambda: "How calls fare in each state" in text())
        await at.press("q")
        assert at.path.startswith("flows › states")


@pytest.mark.parametrize(
    ("key", "copied"),
    [
        ("r", "Flow viewing · Agent gemini · n 11 · score 0.3"),
        ("c", "0.3"),
        ("d", "riff-tui dump flows"),
        ("m", "| viewing "),
    ],
)
async def test_copying_always_leaves_a_file_and_names_it(key: str, copied: str) -> None:
    async with walking(size=(200, 30)) as at:
        await at.press("y")
        await at.press(key)
        await at.settle()
        assert "copied" in at.bottom
        path = Path(at.bottom.rsplit("to ", 1)[1].strip())
        assert copied in path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600


async def test_colours_change_in_place() -> None:
    async with walking() as at:
        await at.press("t")
        assert at.controls.table.palette.name == "dark"
        assert "theme: dark" in at.bottom
        await at.press("t", "t", "t")
        assert at.controls.table.palette.name == "ansi"


async def test_q_on_the_first_screen_quits_and_ctrl_c_in_the_prompt_only_closes_it() -> None:
    async with walking() as at:
        await at.press("slash", "ctrl+c")
        assert not at.controls.prompt.is_open
        await at.press("q")
        assert at.app.return_code == 0


async def test_it_opens_where_it_was_told_to() -> None:
    async with walking((*START, Location("states", filter=Filter("stall>0.3")))) as at:
        assert at.path.startswith("flows › states [stall>0.3]")
        await at.press("q")
        assert at.path.startswith("flows ")


async def test_a_long_list_is_fetched_page_by_page_on_another_thread() -> None:
    import threading

    class Threads(LazyRows):
        def __getitem__(self, index: object) -> Row:  # type: ignore[override]  # slices come as rows one by one
            threads.add(threading.current_thread() is threading.main_thread())
            return super().__getitem__(index)  # type: ignore[call-overload,no-any-return]  # as above

    threads: set[bool] = set()
    rows = Threads(1_000)
    catalog = FakeCatalog()

    def show(view: str, request: Request) -> Table:
        table = catalog.show(view, request)
        return Table("conversations", "", table.columns, rows) if view == "conversations" else table

    app = Explorer(Backend(show))
    async with app.run_test(size=(100, 30)) as pilot:
        at = Walker(app, pilot, catalog)
        await at.press("4", "G")
        assert at.controls.table.cursor == 999
        assert threads == {False}
        assert at.row == flow_row(999).id
        assert len(rows.touched) <= 2 * 256
        await at.press("g", "pagedown", "e")


def test_no_widget_and_no_screen_binds_a_key_that_terminals_and_multiplexers_own() -> None:
    # ctrl+z does what terminals do by it.
    taken = {f"ctrl+{letter}" for letter in "abhijmsq"}
    kinds: list[type[DOMNode]] = [Explorer, *every_kind_of(Widget)]
    for kind in kinds:
        if kind.__module__.startswith("riff_tui."):
            bound = kind._merged_bindings
            assert bound is not None
            assert not taken & set(bound.key_to_bindings), kind


def every_kind_of(kind: type[Widget]) -> Iterator[type[Widget]]:
    for each in kind.__subclasses__():
        yield each
        yield from every_kind_of(each)


def test_every_action_is_bound_to_its_keys() -> None:
    bindings = ExplorerScreen._merged_bindings
    assert bindings is not None
    bound = set(bindings.key_to_bindings)
    for each in ACTIONS:
        assert set(textual_keys(each.keys).split(",")) <= bound
