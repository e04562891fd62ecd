"""Drawing a list of calls to read: what is kept, what is said, and what is had back."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

import pytest

from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import Annotation, SqliteEngine, add_notes, kept_list, open_store
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def store(tiny: Path, tmp_path: Path) -> str:
    return str(shutil.copy(tiny, tmp_path / "tiny.db"))


def sample(store: str, *options: str) -> int:
    return run(["sample", *options, "--store", store])


def names(store: str) -> list[str]:
    with open_store(store) as opened:
        kept = kept_list(opened)
    return [] if kept is None else [call.names.conversation for call in kept.calls]


def read(store: str, *conversations: str) -> None:
    """Note something on calls."""
    with open_store(store, write=True) as opened:
        add_notes(opened, [Annotation(f"n {name}", name, "ann", note="heard", at=1) for name in conversations])


def test_a_list_is_printed_as_dump_prints_it_and_says_what_comes_next(store: str, capsys: Captured) -> None:
    assert sample(store, "--n", "6", "--mix", "random:4,failing:2") == 0
    drawn = capsys.readouterr()
    assert drawn.err == f"Next: riff-tui ui sample --store {store}\n"
    assert run(["dump", "sample", "--store", store]) == 0
    assert capsys.readouterr().out == drawn.out
    assert len(names(store)) == 6
    assert "Drawn with seed 1: 4 random, 2 failing." in drawn.out


def test_a_list_goes_into_a_file_in_every_format(store: str, tmp_path: Path) -> None:
    out = tmp_path / "list.json"
    assert sample(store, "--n", "3", "-o", str(out)) == 0
    found = json.loads(out.read_text())
    assert [row["conversation"] for row in found["rows"]] == names(store)
    assert (found["n"], found["calls"], found["read"], found["seed"]) == (3, 3, 0, 1)


def test_the_same_question_gives_the_same_list_and_replaces_nothing(store: str, capsys: Captured) -> None:
    assert sample(store, "--n", "6", "--seed", "7") == 0
    before = names(store)
    read(store, before[0])
    capsys.readouterr()
    assert sample(store, "--n", "6", "--seed", "7") == 0
    assert names(store) == before
    assert "The store has this list already.\n" in capsys.readouterr().err


def test_a_list_that_another_takes_the_place_of_can_be_had_back(store: str, capsys: Captured) -> None:
    assert sample(store, "--n", "6", "--where", "flow:e") == 0
    before = names(store)
    read(store, *before[:2])
    assert sample(store, "--n", "6", "--seed", "2") == 0
    said = capsys.readouterr().err
    assert "a list of 6 calls, 2 of which were read; all notes stay." in said
    assert names(store) != before
    [command] = [line for line in said.splitlines() if line.startswith("To have that one back: ")]
    assert sample(store, *shlex.split(command.partition("riff-tui sample ")[2])) == 0
    assert names(store) == before


@pytest.mark.parametrize("seen", [0, 3])
def test_a_list_is_replaced_whether_it_is_read_or_not(store: str, seen: int, capsys: Captured) -> None:
    assert sample(store, "--n", "3") == 0
    read(store, *names(store)[:seen])
    assert sample(store, "--n", "5") == 0
    assert len(names(store)) == 5
    assert "It replaces a list of 3 calls" in capsys.readouterr().err


def test_it_says_where_the_store_would_give_other_calls_today(store: str, tmp_path: Path, capsys: Captured) -> None:
    assert sample(store, "--n", "15") == 0
    before = names(store)
    simulate(tmp_path / "more", conversations=64, seed=3)
    assert run(["ingest", str(tmp_path / "more"), "--store", store]) == 0
    capsys.readouterr()
    assert sample(store, "--n", "15") == 0
    assert "it would have other calls: --replace does that" in capsys.readouterr().err
    assert names(store) == before
    assert sample(store, "--n", "15", "--replace") == 0
    assert names(store) != before


def test_where_there_are_fewer_calls_than_wanted_all_are_drawn_and_that_is_said(store: str, capsys: Captured) -> None:
    assert sample(store, "--n", "50", "--where", "flow=viewing") == 0
    assert (
        "50 calls were wanted; these are all 9 that match flow=viewing and are not errored." in capsys.readouterr().err
    )
    assert len(names(store)) == 9


def test_where_too_few_failed_the_others_are_random_and_that_is_said(store: str, capsys: Captured) -> None:
    assert sample(store, "--n", "12", "--mix", "failing:1") == 0
    said = capsys.readouterr()
    assert "Wanted: 12 failing calls; there are 4 in all, and the rest is random." in said.err
    assert len(names(store)) == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mix", "best:5"], "'best:5' is not a part of a mix of random, failing, outlier"),
        (["--mix", "random"], "'random' is not a part of a mix"),
        (["--mix", "random:-1"], "'random:-1' is not a part of a mix"),
        (["--mix", "random:1,random:2"], "random is in it twice"),
        (["--mix", "random:0"], "all its parts are 0"),
        (["--n", "0"], "0 is not in the range"),
        (["--where", "flow=viewin"], "no flow of that name; viewing?"),
        (["--where", "errored=yes"], "all are errored"),
    ],
)
def test_a_question_without_sense_is_refused_and_nothing_is_drawn(
    store: str, options: list[str], message: str, capsys: Captured
) -> None:
    assert sample(store, *options) == ExitCode.USAGE
    assert message in capsys.readouterr().err
    assert names(store) == []


def test_an_empty_store_has_nothing_to_draw(tmp_path: Path, capsys: Captured) -> None:
    with open_store(tmp_path / "empty.db", write=True, create=True):
        pass
    assert sample(str(tmp_path / "empty.db")) == ExitCode.USAGE
    assert "riff-tui ingest PATH... fills it" in capsys.readouterr().err
    assert sample(str(tmp_path / "none.db")) == ExitCode.STORE
    assert run(["dump", "sample", "--store", str(tmp_path / "empty.db")]) == 0


def test_a_store_without_a_list_says_how_to_draw_one(store: str, capsys: Captured) -> None:
    assert run(["dump", "sample", "--store", store]) == 0
    said = f"No reading list was drawn yet: riff-tui sample --n 100 --store '{store}' draws one."
    assert said in capsys.readouterr().out


def test_of_a_store_that_cannot_be_written_the_list_is_printed_and_not_kept(
    store: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    assert sample(store, "--n", "4") == 0
    of_other = names(store)
    capsys.readouterr()
    monkeypatch.setattr(SqliteEngine, "can_write", lambda engine: False)
    assert sample(store, "--n", "6", "--mix", "random:1", "--format", "json") == 0
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["rows"]) == 6
    assert printed.err == "The store cannot be written, so the list is not kept: -o FILE writes it into a file.\n"
    assert names(store) == of_other
