"""What lasts comes back as it was, whatever happened to the file, and two explorers leave each other's alone."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.explorer import (
    FORM,
    LARGEST,
    MOST_FILTERS,
    MOST_MARKS,
    START,
    Location,
    SessionFile,
    SessionState,
    Unreadable,
    decoded,
    encoded,
    session_path,
)
from tests.surface.tui import Filter, OutputError

STACK = (
    *START,
    Location("states", "collect", Filter("flow=viewing segment=collect"), Filter("stall>0.3"), "-n", "r1", "stall", 3),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return session_path(str(tmp_path / "store.db"), tmp_path / "state")


def kept(file: Path) -> SessionState:
    """What another session finds."""
    session = SessionFile(file)
    assert session.complaint == ""
    return session.state


def test_everything_that_was_chosen_comes_back(file: Path) -> None:
    session = SessionFile(file, "/data/store.db")
    session.set_stack(STACK)
    session.sort("states", "-stall")
    session.choose_columns("flows", ["+trend", "-n"])
    session.mark("flows", ["viewing gemini", "weather qwen"])
    session.add_filter("stall>0.3")
    session.add_filter("qwen")
    session.add_filter("stall>0.3")
    session.set_theme("dark")
    session.write()
    assert kept(file) == SessionState(
        STACK,
        {"states": "-stall"},
        {"flows": ("+trend", "-n")},
        {"flows": ("viewing gemini", "weather qwen")},
        ("qwen", "stall>0.3"),
        "dark",
    )
    assert json.loads(file.read_text())["store"] == "/data/store.db"


def test_filters_are_plain_text_in_the_file(file: Path) -> None:
    place = {"view": "states", "crumb": "collect", "scope": "flow=viewing segment=collect", "filter": "a  |  b"}
    rest = {
        "sort": "-n",
        "row": "r1",
        "column": "stall",
        "index": 3,
        "graph": False,
        "of": "",
        "aspect": "",
        "reason": "",
        "unfolded": False,
    }
    lists: dict[str, list[str]] = {"pair": [], "sides": [], "by": []}
    session = {"stack": [{**place, **rest, **lists}], "sorts": {}, "columns": {}, "marks": {}, "filters": ["a  |  b"]}
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"form": 1, "store": "", "kept": {**session, "theme": None}}))
    scope, typed = Filter("flow=viewing segment=collect"), Filter("a  |  b")
    found = SessionFile(file)
    assert found.state.stack == (Location("states", "collect", scope, typed, "-n", "r1", "stall", 3),)
    found.set_theme("dark")
    found.write()
    assert json.loads(file.read_text())["kept"] == {**session, "theme": "dark", "preview": True, "greeted": False}


@pytest.mark.parametrize("damage", [3, None, ["a"], {"text": "a"}])
def test_a_filter_that_is_no_text_is_damage(file: Path, damage: object) -> None:
    stack = [{"view": "states", "filter": damage}]
    with pytest.raises(Unreadable, match="damaged"):
        decoded(json.dumps({"form": FORM, "store": "", "kept": {"stack": stack}}).encode())


def test_what_is_taken_back_is_forgotten(file: Path) -> None:
    session = SessionFile(file)
    for sort, columns, marks in (("n", ["+x"], ["r1"]), (None, None, [])):
        session.sort("flows", sort)
        session.choose_columns("flows", columns)
        session.mark("flows", marks)
        session.write()
    assert kept(file) == SessionState()


def test_the_file_is_private_and_one_for_each_store_by_whatever_path(tmp_path: Path) -> None:
    store, link = tmp_path / "a" / "store.db", tmp_path / "link.db"
    store.parent.mkdir()
    store.touch()
    link.symlink_to(store)
    file = session_path(str(store), tmp_path / "state")
    assert session_path(str(link), tmp_path / "state") == file
    assert session_path(str(tmp_path / "b" / "store.db"), tmp_path / "state") != file
    session = SessionFile(file)
    session.set_theme("dark")
    session.write()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_nothing_is_written_before_something_changed(file: Path) -> None:
    told: list[None] = []
    session = SessionFile(file)
    session.changed = lambda: told.append(None)
    session.opened(START)
    session.set_stack((replace(START[0], row="r2", index=2),))
    session.sort("states", None)
    session.add_filter("")
    session.write()
    assert not told
    assert not file.exists()
    session.set_stack(STACK)
    session.set_stack(START)
    assert len(told) == 2
    session.write()
    assert kept(file) == SessionState(START)


def test_a_fresh_session_begins_with_nothing_and_loses_nothing(file: Path) -> None:
    session = SessionFile(file)
    session.set_stack(STACK)
    session.mark("flows", ["r1"])
    session.write()
    fresh = SessionFile(file, fresh=True)
    assert fresh.state == SessionState()
    fresh.opened(START)
    fresh.set_stack(START)
    fresh.write()
    assert kept(file).stack == STACK
    fresh.sort("runs", "n")
    fresh.write()
    assert kept(file) == SessionState(STACK, {"runs": "n"}, marks={"flows": ("r1",)})


def test_two_explorers_on_one_store_keep_each_what_was_changed_in_it(file: Path) -> None:
    first, second = SessionFile(file), SessionFile(file)
    first.sort("flows", "n")
    first.mark("states", ["r1"])
    first.add_filter("one")
    second.sort("states", "-stall")
    second.add_filter("two")
    first.write()
    second.write()
    first.set_theme("dark")
    first.write()
    assert kept(file) == SessionState(
        (), {"flows": "n", "states": "-stall"}, {}, {"states": ("r1",)}, ("one", "two"), "dark"
    )
    second.sort("flows", "-n")
    second.write()
    first.set_stack(STACK)
    first.write()
    assert kept(file).sorts["flows"] == "-n"


def test_a_reader_never_finds_half_a_file_however_many_write_it(file: Path) -> None:
    def work(name: str) -> None:
        session = SessionFile(file)
        for number in range(25):
            session.mark(name, [f"row {each}" for each in range(number * 20)])
            session.write()

    writers = [threading.Thread(target=work, args=(name,)) for name in ("flows", "states", "runs")]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert SessionFile(file).complaint == ""
    assert kept(file).marks
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def good(**changes: object) -> bytes:
    document = json.loads(encoded(SessionState(STACK, theme="dark"), "store.db"))
    return json.dumps({**document, **changes}).encode()


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "damaged"),
        (b"\x00" * 100, "damaged"),
        (b"[" * 100_000, "damaged"),
        (b"null", "damaged"),
        (good()[:-20], "damaged"),
        (good().replace(b"states", b"\xff\xfe"), "damaged"),
        (good(kept={"stack": 7}), "damaged"),
        (good(kept={"stack": [{"view": "states", "index": 1e400}]}).replace(b"Infinity", b"1e999"), "damaged"),
        (good(form="one"), "damaged"),
        (good(form=FORM + 1), "newer"),
        (good(form=FORM - 1), "older"),
        (b" " * (LARGEST + 1), "too large"),
    ],
)
def test_a_file_that_makes_no_sense_is_said_and_ignored_and_written_anew(file: Path, raw: bytes, reason: str) -> None:
    file.parent.mkdir(parents=True)
    file.write_bytes(raw)
    session = SessionFile(file)
    assert session.state == SessionState()
    assert reason in session.complaint
    assert str(file) in session.complaint
    session.sort("flows", "n")
    session.write()
    assert kept(file) == SessionState(sorts={"flows": "n"})


@pytest.mark.parametrize(
    "place",
    [
        {"view": "dances"},
        {"view": "states", "filter": "stall>"},
        {"view": "states", "scope": "(("},
        {"view": "states", "index": -1},
        {"view": "states", "crumb": "x" * 5_000},
    ],
)
def test_a_place_that_makes_no_sense_is_left_out_and_the_rest_stays(place: dict[str, object]) -> None:
    raw = json.loads(good())
    raw["kept"]["stack"] = [place]
    raw["kept"]["filters"] = ["a", "b>", "c" * 5_000]
    assert decoded(json.dumps(raw).encode()) == SessionState(filters=("a",), theme="dark")


@given(st.binary(max_size=200) | st.integers(0, 400).map(lambda at: good()[:at] + b"#" + good()[at + 1 :]))
def test_no_bytes_are_more_than_unreadable(raw: bytes) -> None:
    with contextlib.suppress(Unreadable):
        assert isinstance(decoded(raw), SessionState)


def test_no_more_is_kept_than_a_session_could_want() -> None:
    lasting = SessionState(
        START * 100, marks={"flows": tuple(map(str, range(9_999)))}, filters=tuple(f"f{n}" for n in range(999))
    )
    found = decoded(encoded(lasting, "\x1b]52;c;x\x07"))
    assert len(found.filters) == MOST_FILTERS
    assert found.filters[-1] == "f998"
    assert len(found.marks["flows"]) == MOST_MARKS
    assert len(found.stack) < 100


@pytest.mark.parametrize(
    "make", [lambda path: path.symlink_to("elsewhere"), os.mkfifo, os.mkdir], ids=["link", "pipe", "directory"]
)
def test_nothing_but_a_plain_file_is_read_or_written(file: Path, make: Callable[[Path], None]) -> None:
    file.parent.mkdir(parents=True)
    (file.parent / "elsewhere").write_bytes(good())
    make(file)
    session = SessionFile(file)
    assert session.state == SessionState()
    assert "ignored" in session.complaint
    session.set_theme("light")
    with pytest.raises(OutputError):
        session.write()
    assert (file.parent / "elsewhere").read_bytes() == good()


def test_what_could_not_be_written_is_written_with_the_next_change(file: Path) -> None:
    session = SessionFile(file)
    session.sort("flows", "n")
    file.parent.parent.touch()
    with pytest.raises(OutputError):
        session.write()
    file.parent.parent.unlink()
    session.set_theme("dark")
    session.write()
    assert kept(file) == SessionState(sorts={"flows": "n"}, theme="dark")


def test_names_that_are_no_text_are_said_and_not_written(file: Path) -> None:
    session = SessionFile(file)
    session.set_stack((Location("states", filter=Filter("\udcff")),))
    with pytest.raises(OutputError, match="not text"):
        session.write()


def test_without_a_file_it_lasts_as_long_as_the_session() -> None:
    session = SessionFile()
    session.sort("flows", "n")
    session.write()
    assert session.state.sorts == {"flows": "n"}
