"""Filters, searches, lists to pick from and the palette, key by key."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from textual import events

from tests.support.fake_catalog import FakeCatalog, LazyRows, flow_row
from tests.support.fake_names import FakeNames, HostileNames
from tests.support.finding import finding
from tests.support.hostile import HOSTILE
from tests.support.walker import LONGEST_S, walking
from tests.surface.explorer import ACTIONS, START
from tests.surface.explorer import prompt as prompt_controller
from tests.surface.store import StoreBusy
from tests.surface.tui import Filter, Request, Row, Table


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the store count as soon as a key was handled."""
    monkeypatch.setattr(prompt_controller, "_PAUSE_S", 0.001)


# The prompt


async def test_what_rows_say_is_counted_without_asking_the_store() -> None:
    async with finding() as at:
        asked = len(at.catalog.asked)
        await at.press("slash")
        await at.type("qwen n>20")
        assert at.verdict == "1 of 3 flows matches"
        await at.press(*["backspace"] * 5)
        assert at.verdict == "2 of 3 flows match"
        assert len(at.catalog.asked) == asked


async def test_what_calls_say_is_counted_by_the_store_once_nothing_more_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with finding() as at:
        asked = len(at.catalog.asked)
        await at.press("slash")
        with monkeypatch.context() as patch:
            patch.setattr(prompt_controller, "_PAUSE_S", 3600.0)
            await at.pilot.press(*"persona", "colon")
        await at.press("a")
        assert at.verdict == "3 of 3 flows match"
        assert [request.where for _, request in at.catalog.asked[asked:]] == ["persona:a"]


async def test_of_a_place_that_opened_with_a_filter_the_whole_is_asked_for_once() -> None:
    async with finding((replace(START[0], filter=Filter("weather")),)) as at:
        await at.press("slash")
        await at.type(" qwe")
        assert (at.typed, at.verdict) == ("weather qwe", "1 of 3 flows matches")
        assert [request.where for _, request in at.catalog.asked] == ["weather", ""]


async def test_what_stops_a_count_is_said_and_the_next_key_mends_it() -> None:
    async with finding() as at:
        await at.press("slash")
        at.catalog.error = StoreBusy("x.db: another process is writing to it")
        await at.type("run:a")
        assert "another process" in at.verdict
        at.catalog.error = None
        await at.type("b")
        assert "3 of 3" in at.verdict


async def test_earlier_filters_come_back_and_what_was_typed_chooses_among_them() -> None:
    async with finding() as at:
        for expression in ("qwen", "n>5", "viewing", "qwen"):
            await at.press("slash", "ctrl+u")
            await at.type(expression)
            await at.press("enter")
        await at.press("slash", "ctrl+u", "up")
        assert at.typed == "qwen"
        await at.press("up", "up")
        assert at.typed == "n>5"
        await at.press("up", "up", "down", "down", "down")
        assert at.typed == ""
        await at.type("v")
        await at.press("up")
        assert at.typed == "viewing"
        await at.press("down")
        assert at.typed == "v"
        await at.type("zz")
        await at.press("up")
        assert (at.typed, at.verdict) == ("vzz", "nothing like it was entered before")
        await at.press("ctrl+r", "n", "enter")
        assert at.typed == "n>5"
        assert at.verdict == "2 of 3 flows match"


async def test_tab_finishes_fields_and_names_and_goes_round() -> None:
    names = FakeNames()
    async with finding(names=names) as at:
        await at.press("slash")
        await at.type("sta")
        await at.press("tab")
        assert at.typed == "started_at"
        assert at.verdict.startswith("1 of 3")
        await at.press("tab", "tab", "tab", "shift+tab")
        assert at.typed == "stall"
        await at.press("ctrl+w")
        await at.type("agent:")
        assert "a value is missing" in at.verdict
        await at.press("tab")
        assert at.typed == "agent=gemini"
        assert at.verdict == "1 of 2   gemini   qwen"
        await at.press("tab")
        assert at.typed == "agent=qwen"
        await at.type(" wea")
        await at.press("tab")
        assert at.typed == "agent=qwen flow=weather"
        assert at.verdict == "1 of 3 flows matches"
        await at.press("enter")
        assert at.path.startswith("flows [agent=qwen flow=weather]")


async def test_states_are_those_of_the_flow_one_is_in() -> None:
    names = FakeNames()
    async with finding(names=names) as at:
        await at.press("enter", "enter", "slash")
        await at.type("state:c")
        await at.press("tab")
        assert names.asked == [("state", "flow=viewing agent=gemini")]
        assert at.typed == "state=collect_details"


async def test_what_nothing_goes_on_like_is_said() -> None:
    async with finding() as at:
        await at.press("slash")
        await at.type("stall>0")
        await at.press("tab")
        assert (at.typed, at.verdict) == ("stall>0", "no known name begins like this")


async def test_whatever_is_pasted_or_completed_is_shown_as_text() -> None:
    class One(FakeNames):
        def known(self, field: str, where: str = "") -> list[str]:
            return [text]

    text = ""
    async with finding(names=One()) as at:
        await at.press("slash")
        prompt = at.controls.prompt
        for text in HOSTILE.values():
            prompt.field.set("")
            prompt.field.post_message(events.Paste(text))
            await at.pilot.pause()
            seen = prompt.field.render_line(0).text + at.verdict
            prompt.field.set("agent:")
            await at.press("tab")
            seen += prompt.field.render_line(0).text + at.verdict
            prompt.field.set(text)
            seen += prompt.field.render_line(0).text
            # What joins an emoji stays in it.
            assert seen.replace("\u200d", "").isprintable(), text
            assert not {"\u202e", "\u200b", "\u3164", "\ufe00"} & set(seen)


async def test_a_long_line_scrolls_with_its_cursor() -> None:
    async with finding() as at:
        await at.press("slash")
        at.controls.prompt.field.post_message(events.Paste("x" * 300 + " end"))
        await at.pilot.pause()
        field = at.controls.prompt.field
        assert field.render_line(0).text.endswith("end ")
        assert field.render_line(0).cell_length == field.size.width
        await at.press("home")
        assert field.render_line(0).text.startswith("xxxx")
        await at.press("ctrl+right", "ctrl+k")
        assert field.value.endswith(" end"[:1])


# From match to match


async def test_once_a_filter_is_cleared_its_words_are_gone_to() -> None:
    async with finding() as at:
        await at.press("slash")
        await at.type("qwen")
        await at.press("enter", "escape", "g", "n")
        assert at.row == "viewing qwen"
        await at.press("n")
        assert at.row == "weather qwen"
        await at.press("n")
        assert "no row that matches qwen below" in at.bottom
        await at.press("N")
        assert at.row == "viewing qwen"
        await at.press("4", "n")
        assert "no row that matches" in at.bottom


async def test_a_filter_on_calls_has_no_rows_to_go_to() -> None:
    async with finding() as at:
        await at.press("n")
        assert "no filter was typed yet" in at.bottom
        await at.press("slash")
        await at.type("persona:angry")
        await at.press("enter", "escape", "n")
        assert "filters calls" in at.bottom


async def test_a_search_goes_through_a_conversation_and_on_to_the_next_one() -> None:
    async with finding() as at:
        await at.press("4", "enter", "slash")
        await at.type("day")
        assert at.verdict == "4 of 8 moments match"
        await at.press("enter")
        assert at.row == "1"
        assert "4 moments match" in at.bottom
        strong = [s.text for s in at.controls.transcript.render_line(1) if s.style and s.style.underline]
        assert strong == ["day"]
        await at.press("n")
        assert "next match" in at.bottom
        assert at.row == "2"
        await at.press("n", "n", "n")
        assert ("2 of 6" in at.path, at.row) == (True, "1")
        await at.press("N")
        assert ("1 of 6" in at.path, at.row) == (True, "6")
        await at.press("slash", "enter")
        assert at.row == "6"
        await at.press("slash", "up")
        assert at.typed == "day"
        await at.press("escape", "escape")
        assert at.path.startswith("flows › conversations › c-0000")
        await at.press("n")
        assert ("2 of 6" in at.path, at.row) == (True, "0")


async def test_a_search_that_finds_nothing_or_makes_no_sense_says_so() -> None:
    async with finding() as at:
        await at.press("4", "enter", "slash")
        await at.type("persona:x")
        await at.press("enter")
        assert at.verdict == "^ a conversation has no persona"
        await at.press("ctrl+u")
        await at.type("zebra")
        await at.press("enter")
        assert "nothing here matches zebra" in at.bottom
        await at.press("escape", "N")
        assert "no search was typed" in at.bottom


# However far away


class Far(LazyRows):
    """Rows of which only one far down is bad."""

    def __getitem__(self, index: object) -> Row:  # type: ignore[override]  # slices come as rows one by one
        if isinstance(index, slice):
            return super().__getitem__(index)  # type: ignore[return-value]  # as above
        threads.add(threading.current_thread())
        row = flow_row(index)  # type: ignore[arg-type]  # as above
        return row._replace(severity={"operability": "bad"} if index == 7_000 else {})


threads: set[threading.Thread] = set()


async def test_a_bad_cell_far_down_a_long_list_is_found_without_keeping_anybody_waiting() -> None:
    catalog = FakeCatalog()
    table = catalog.show("flows", Request())._replace(view="flows", rows=Far(10_000))
    catalog.show = lambda view, request: table  # type: ignore[method-assign]  # one list is enough
    async with finding(catalog=catalog) as at:
        threads.clear()
        await at.press("e")
        assert (at.controls.table.cursor, at.row) == (7_000, "r7000")
        assert at.controls.table.under is not None
        assert at.controls.table.under.key == "operability"
        assert threading.main_thread() not in threads
        await at.press("e")
        assert "no bad cell below" in at.bottom
        await at.press("G", "E")
        assert at.controls.table.cursor == 7_000
        await at.press("E")
        assert "no bad cell above" in at.bottom


async def test_escape_ends_a_long_search_and_the_cursor_stays() -> None:
    gate = threading.Event()

    class Slow(LazyRows):
        def __getitem__(self, index: object) -> Row:  # type: ignore[override]  # slices come as rows one by one
            if isinstance(index, int) and index >= 2_000:
                assert gate.wait(LONGEST_S)
            return super().__getitem__(index)  # type: ignore[call-overload,no-any-return]  # as above

    catalog = FakeCatalog()
    rows = Slow(100_000)
    table = catalog.show("flows", Request())._replace(rows=rows)
    catalog.show = lambda view, request: table  # type: ignore[method-assign]  # one list is enough
    async with finding(catalog=catalog) as at:
        at.controls.search.remember("nowhere")
        await at.pilot.press("n")
        await at.until(lambda: at.controls.finder.is_searching)
        await at.pilot.press("escape")
        assert "stopped looking at row" in at.bottom
        assert at.controls.table.cursor == 0
        gate.set()


# Lists to pick from


async def test_a_flow_is_picked_into_the_filter_and_taken_off_again() -> None:
    async with finding() as at:
        await at.press("f")
        assert at.offered == ["all flows", "viewing", "weather"]
        await at.type("wthr")
        assert at.offered == ["weather"]
        await at.press("enter")
        assert at.path.startswith("flows [flow=weather]")
        await at.press("f")
        assert at.picker.list.chosen == 2
        await at.press("up", "enter")
        assert at.path.startswith("flows [flow=viewing]")
        await at.press("a", "down", "enter")
        assert at.path.startswith("flows [flow=viewing agent=gemini]")
        await at.press("f", "home", "pageup", "enter")
        assert at.path.startswith("flows [agent=gemini]")
        await at.press("left_square_bracket")
        assert at.path.startswith("flows [flow=viewing agent=gemini]")


async def test_where_rows_above_hold_the_flow_another_one_takes_its_place() -> None:
    names = FakeNames()
    async with finding(names=names) as at:
        await at.press("enter", "enter", "f")
        assert names.asked == [("flow", "agent=gemini")]
        assert at.picker.list.chosen == 1
        await at.press("down", "enter")
        assert at.path.startswith("flows › weather @ gemini › states")
        assert at.catalog.asked[-1][1].where == "agent=gemini flow=weather"
        await at.press("q")
        assert at.path.startswith("flows ")


async def test_a_list_is_left_without_a_trace() -> None:
    async with finding() as at:
        for key in ("f", "a", "R", "ctrl+p"):
            await at.press(key, "x", "escape")
            assert not at.controls.menu.is_open
            await at.press(key, "ctrl+c")
            assert not at.controls.menu.is_open
        assert at.path.startswith("flows ")
        assert len(at.catalog.asked) == 1


async def test_what_fits_nothing_cannot_be_taken() -> None:
    async with finding() as at:
        await at.press("f", "z", "z", "enter")
        assert "nothing matches what was typed" in "".join(text for text, _ in at.picker.foot.lines[0])
        await at.press("backspace", "backspace", "enter")
        assert not at.controls.menu.is_open


async def test_a_conversation_and_skipped_inputs_have_nothing_to_pick() -> None:
    async with finding() as at:
        await at.press("4", "enter", "R")
        assert "has one flow" in at.bottom


async def test_the_letters_that_fit_stand_out() -> None:
    async with finding() as at:
        await at.press("f", "w", "t")
        line = at.picker.list.render_line(0)
        assert [s.text for s in line if s.style and s.style.underline] == ["w", "t"]


async def test_a_click_takes_a_line() -> None:
    async with finding() as at:
        await at.press("f")
        await at.until(lambda: at.app.screen.query_one("ChoiceList").region.height > 2)
        await at.pilot.click("ChoiceList", offset=(3, 2))
        await at.until(lambda: at.path.startswith("flows [flow=weather]"))


async def test_five_thousand_names_can_be_typed_in() -> None:
    async with finding(names=HostileNames(100)) as at:
        await at.press("f")
        assert len(at.offered) == 1 + 100 * len(HOSTILE)
        await at.type("12a99")
        await at.press("pagedown", "pageup", "enter")
        assert at.path.startswith('flows [flow="@someone fixes #12, GH-12 and a/b#399"]')


# The palette


async def test_the_palette_holds_every_action_with_its_keys_and_why_some_do_not_apply() -> None:
    async with finding() as at:
        await at.press("ctrl+p")
        choices = at.picker.list.choices
        assert {choice.lead.split()[0] for choice in choices} == {each.keys[0] for each in ACTIONS}
        assert len(choices) == len(ACTIONS)
        refused = [bool(choice.refusal) for choice in choices]
        assert refused == sorted(refused)
        assert all(choice.more.startswith("not now: ") for choice in choices if choice.refusal)
        await at.type("previous conv")
        assert at.picker.list.choices[at.picker.list.chosen or 0].refusal
        await at.press("enter")
        assert "only in a conversation" in "".join(text for text, _ in at.picker.foot.lines[0])


async def test_what_is_found_in_the_palette_is_done() -> None:
    async with finding() as at:
        await at.press("ctrl+p")
        await at.type("workl")
        await at.press("enter")
        assert "worklist" in at.path
        await at.press("ctrl+p")
        await at.type("theme")
        await at.press("enter")
        assert "theme: dark" in at.bottom


# Further views


async def test_runs_archetypes_and_judges_lead_on_and_skipped_inputs_do_not() -> None:
    columns = FakeCatalog().show("flows", Request()).columns

    class More(FakeCatalog):
        def show(self, view: str, request: Request) -> Table:
            fields = {"runs": "run", "judges": "judge", "archetypes": "archetype", "skipped": "path"}
            field = fields.get(view)
            if view in ("agreement", "disputes"):
                self.asked.append((view, request))
                record = (
                    {"first": "night-1", "second": "x", "exact": 0.5}
                    if view == "agreement"
                    else {"conversation": "c-1"}
                )
                where = "judge=night-1 | judge=x" if view == "agreement" else "run=r conversation=c-1"
                return Table(view, view, columns, [Row("x", record, where=where)])
            if field is None:
                return super().show(view, request)
            self.asked.append((view, request))
            return Table(view, view, columns, [Row("x", {field: "night-1"}, where=f"{field}=night-1")])

    async with finding(catalog=More()) as at:
        await at.press("7", "enter")
        assert at.path.startswith("flows › runs › night-1")
        view, request = at.catalog.asked[-1]
        assert (view, request.where) == ("flows", "run=night-1")
        await at.press("enter", "3")
        assert at.catalog.asked[-1][1].where == "run=night-1 flow=viewing agent=gemini"
        await at.press("A")
        assert at.path.startswith("flows › night-1 › flow viewing  agent gemini › archetypes")
        await at.press("1", "1", "A", "enter")
        assert at.path.startswith("flows › archetypes › night-1")
        await at.press("8", "enter")
        view, request = at.catalog.asked[-1]
        assert (view, request.where) == ("agreement", "archetype=night-1 judge=night-1")
        await at.press("enter")
        view, request = at.catalog.asked[-1]
        assert (view, request.where) == ("disputes", "archetype=night-1 (judge=night-1 | judge=x)")
        assert "judges › night-1 › with x" in at.path
        await at.press("enter")
        view, request = at.catalog.asked[-1]
        assert (view, request.where) == ("conversation", "run=r conversation=c-1")
        await at.press("9", "enter")
        assert "nothing is below a row of skipped" in at.bottom


async def test_a_name_in_the_filter_goes_along_to_another_view() -> None:
    async with finding() as at:
        await at.press("f", "down", "down", "enter", "3")
        assert at.catalog.asked[-1][1].where == "flow=weather"


async def test_what_is_wrong_with_a_filter_is_pointed_at_while_it_is_typed() -> None:
    async with finding() as at:
        await at.press("slash")
        await at.type("flow:dent oper>x")
        line = at.controls.prompt.foot.lines[0]
        said = "".join(text for text, _ in line)
        assert "^" in said
        assert at.screen.last_error is None
        await at.press("backspace")
        await at.type("1")
        assert "match" in at.verdict


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("theme", "t"), ("colour", "t"), ("color", "t"), ("dark", "t"), ("quit", "q"), ("exit", "q"), ("help", "?"),
        ("export", "o"), ("save", "o"), ("search", "/"), ("clipboard", "y"), ("reload", "r"), ("todo", "0"),
        ("suspend", "ctrl+z"), ("diff", "="), ("matrix", "1"), ("reading list", "U"), ("history", "7"), ("git", "H"),
    ],
)  # fmt: skip
async def test_the_palette_finds_an_action_by_words_like_its_own(typed: str, key: str) -> None:
    async with walking() as at:
        await at.press("ctrl+p", *typed)
        choices = at.controls.menu.list
        assert key in {choices.choices[found.index].lead.split()[0] for found in choices._found}
