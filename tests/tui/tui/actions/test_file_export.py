"""A place as a file: the format by its ending, nothing lost, no link followed, and nobody's words in a post."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from tests.support.fake_catalog import FakeCatalog, LazyRows, flow_table
from tests.support.hostile import HOSTILE
from tests.support.walker import LONGEST_S, Walker, walking
from tests.surface.explorer import (
    AS_IT_IS,
    Backend,
    ColumnChoice,
    Exists,
    Explorer,
    ExportStopped,
    Field,
    FileExport,
    LoadedView,
    Location,
    default_name,
    export_table,
    load,
    parse_target,
)
from tests.surface.store import open_store
from tests.surface.tui import Filter, OutputError, Request, Table, UsageError, catalog

FLOWS = flow_table(5, notes=["Units: 0-10."])


def written(path: Path, table: Table = FLOWS, form: str = "markdown", *, over: bool = False) -> str:
    FileExport().write(table, path, form, over=over, ascii_only=False)
    return path.read_text()


# The name


def test_every_place_has_a_name_of_its_own_that_every_file_system_takes() -> None:
    places = [
        Location("states"),
        Location("states", scope=Filter("flow=a")),
        Location("states", scope=Filter("flow=a"), filter=Filter("stall>0.3")),
        Location("side_by_side", of="states", pair=("state=a", "state=b")),
        Location("states", scope=Filter("flow=apartment_scheduler agent=sim-deliberate segment=action persona=a")),
        Location("states", scope=Filter("flow=apartment_scheduler agent=sim-deliberate segment=action persona=b")),
        *(Location("conversation", scope=Filter(text)) for text in HOSTILE.values()),
    ]
    names = [default_name(place) for place in places]
    assert len(set(names)) == len(names)
    assert names[0].startswith("states-")
    assert max(map(len, names)) <= 40
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") for name in names)
    assert all(parse_target(name, FLOWS)[1] == "markdown" for name in names)


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.md", "markdown"), ("a.TXT", "text"), ("b.csv", "csv"), ("c.json", "json"), ("d.jsonl", "jsonl")],
)
def test_the_ending_says_the_format(name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_target(f" {name} ", FLOWS) == (tmp_path / name, form)


@pytest.mark.parametrize("name", ["", "a", "a.png", ".md", "a.dot", "folder/"])
def test_another_ending_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UsageError, match=r"\.md .*\.csv"):
        parse_target(name, FLOWS)


def test_a_graph_has_formats_of_its_own() -> None:
    found = FakeCatalog().show("neighbors", Request(where="state=confirm"))
    assert parse_target("a.dot", found)[1] == "dot"


# The file


def test_a_file_is_for_its_owner_alone_and_another_one_is_not_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    assert "apartment_scheduler_0" in written(path)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("dear")
    with pytest.raises(Exists):
        written(path)
    assert path.read_text() == "dear"
    assert "apartment_scheduler_0" in written(path, over=True)


@pytest.mark.parametrize("over", [False, True])
def test_nothing_is_written_through_a_link(tmp_path: Path, over: bool) -> None:
    victim = tmp_path / "victim"
    victim.write_text("dear")
    for name, to in (("link.md", victim), ("dangling.md", tmp_path / "new")):
        (tmp_path / name).symlink_to(to)
        with pytest.raises(OutputError, match="link"):
            written(tmp_path / name, over=over)
    assert victim.read_text() == "dear"
    assert not (tmp_path / "new").exists()


def test_a_directory_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="directory does not exist"):
        written(tmp_path / "none" / "a.md")


def test_writing_can_be_stopped_and_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("dear")
    writing = FileExport()

    class Stopping(LazyRows):
        def __getitem__(self, index: object) -> object:  # type: ignore[override]  # rows, one by one
            if len(self.touched) == 3:
                writing.stop()
            return super().__getitem__(index)  # type: ignore[call-overload]  # as above

    table = FLOWS._replace(rows=Stopping(1_000))
    with pytest.raises(ExportStopped):
        writing.write(table, path, "jsonl", over=True, ascii_only=False)
    assert path.read_text() == "dear"
    assert [each.name for each in tmp_path.iterdir()] == ["a.jsonl"]
    assert (writing.rows, writing.of) == (4, 1_000)


@pytest.mark.parametrize("form", ["markdown", "text", "csv", "json", "jsonl"])
def test_every_row_is_in_it(tmp_path: Path, form: str) -> None:
    text = written(tmp_path / "a", FLOWS._replace(rows=LazyRows(600)), form)
    assert all(f"_{index}" in text for index in (0, 299, 599))


# What belongs into it


def place_of(show: object, place: Location) -> LoadedView:
    return load(show, place)  # type: ignore[arg-type]  # a catalog's show


def test_people_get_the_columns_that_were_chosen_and_programs_all_of_them() -> None:
    show = FakeCatalog().show
    place = Location("segments")
    choice = ColumnChoice(frozenset({"intervals.stall"}), frozenset({"n"}))
    table = export_table(show, place, place_of(show, place), choice, "markdown")
    assert [column.key for column in table.columns if column.shown] == [
        "flow", "segment", "progress", "stall", "intervals.stall", "dwell_turns"
    ]  # fmt: skip
    table = export_table(show, place, place_of(show, place), choice, "json")
    assert "n" in [column.key for column in table.columns if column.shown]


def test_what_is_written_is_filtered_and_sorted_as_it_is_shown() -> None:
    show = FakeCatalog().show
    place = Location("flows", filter=Filter("qwen"), sort="-operability")
    table = export_table(show, place, place_of(show, place), AS_IT_IS, "csv")
    assert [row.id for row in table.rows] == ["weather qwen", "viewing qwen"]


def test_words_of_callers_go_redacted_into_what_is_made_to_be_posted() -> None:
    catalog_ = FakeCatalog()
    place = Location("conversation", scope=Filter("run=r1 conversation=c"))
    reading = place_of(catalog_.show, place)
    for form, redact in (("markdown", True), ("svg", True), ("text", False), ("json", False)):
        export_table(catalog_.show, place, reading, AS_IT_IS, form)
        assert catalog_.asked[-1][1].redact is redact


def test_a_comparison_is_written_as_it_stands(tmp_path: Path) -> None:
    show = FakeCatalog().show
    place = Location("side_by_side", of="flows", pair=("viewing gemini", "viewing qwen"))
    table = export_table(show, place, place_of(show, place), AS_IT_IS, "json")
    document = json.loads(written(tmp_path / "a.json", table, "json"))
    assert document["a"] == {"flow": "viewing", "agent": "gemini"}
    assert {row["metric"] for row in document["rows"]} >= {"operability", "correctness"}


def test_a_file_of_a_real_store_is_the_dump_of_it(tiny: Path, tmp_path: Path) -> None:
    with open_store(tiny) as store:

        def show(view: str, request: Request) -> Table:
            return catalog.show(store, view, request)

        for view, where in (("states", "flow=viewing"), ("conversations", ""), ("worklist", "")):
            place = Location(view, scope=Filter(where))
            table = export_table(show, place, place_of(show, place), AS_IT_IS, "text")
            expected = written(tmp_path / f"{view}.dump", show(view, Request(where=where)), "text")
            assert written(tmp_path / f"{view}.txt", table, "text") == expected


# The prompt


def asking(at: Walker) -> Field:
    found = at.screen.query_one(Field)
    assert found.is_open
    return found


def typed(at: Walker, text: str) -> None:
    asking(at).field.set(text)


def foot(at: Walker) -> str:
    return " ".join("".join(text for text, _ in line) for line in asking(at).foot.lines)


async def test_a_name_is_proposed_and_the_path_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with walking(size=(120, 30)) as at:
        await at.press("o")
        assert ".md .txt .csv" in foot(at)
        await at.press("enter")
        path = tmp_path / default_name(Location("flows"))
        assert str(path) in "".join(at.bottom.split("\n"))
        assert "| viewing " in path.read_text()


async def test_what_is_there_is_overwritten_by_a_second_enter_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("dear")
    async with walking(size=(120, 30)) as at:
        await at.press("o")
        typed(at, str(path))
        await at.press("enter")
        assert "press Enter again to overwrite it" in foot(at)
        assert path.read_text() == "dear"
        await at.press("x", "backspace", "enter")
        assert "press Enter again to overwrite it" in foot(at)
        await at.press("enter")
        assert "written to" in at.bottom
        assert path.read_text().startswith("flow,agent")


async def test_what_stops_it_is_said_and_another_name_can_be_tried(tmp_path: Path) -> None:
    async with walking(size=(120, 30)) as at:
        await at.press("o")
        for name, said in (
            ("a.png", "the ending of the name chooses the format"),
            (str(tmp_path / "none" / "a.md"), "directory does not exist"),
            ("~nobody_of_that_name/a.md", "home"),
        ):
            typed(at, name)
            await at.press("enter")
            assert said in foot(at)
        await at.press("escape")
        assert at.screen.dialog is None
        await at.press("o", "ctrl+c")
        assert at.screen.dialog is None
        assert at.app.return_code is None


async def test_long_writing_tells_how_far_it_is_and_escape_stops_it(tmp_path: Path) -> None:
    gate = threading.Event()

    class Slow(FakeCatalog):
        def show(self, view: str, request: Request) -> Table:
            class Rows(LazyRows):
                def __getitem__(self, index: object) -> object:  # type: ignore[override]  # rows, one by one
                    if len(self.touched) > 300:
                        assert gate.wait(LONGEST_S)
                    return super().__getitem__(index)  # type: ignore[call-overload]  # as above

            return super().show(view, request)._replace(rows=Rows(1_000))

    path = tmp_path / "a.jsonl"
    async with walking(size=(120, 30), catalog=Slow()) as at:
        await at.press("o")
        typed(at, str(path))
        await at.pilot.press("enter")
        await at.until(lambda: "of 1,000" in foot(at))
        await at.pilot.press("escape")
        gate.set()
        await at.settle()
        assert "stopped" in foot(at)
        assert not path.exists()


async def test_an_empty_place_has_a_file_too(tmp_path: Path) -> None:
    app = Explorer(Backend(lambda view, request: Table(view, "Nothing", FLOWS.columns, [])))
    async with app.run_test(size=(120, 30)) as pilot:
        at = Walker(app, pilot, FakeCatalog())
        await at.settle()
        await at.press("o")
        typed(at, str(tmp_path / "a.txt"))
        await at.press("enter")
        assert "No rows." in (tmp_path / "a.txt").read_text()
