"""The doctor tells a whole store from one that is not, and what was skipped."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.earlier_schema import EARLIER, earlier_store, stepped
from tests.support.golden import assert_golden
from tests.support.tiny_store import name
from tests.surface.ingest import line_of
from tests.surface.store import SCHEMA_VERSION, Annotation, add_notes, backup_path, open_store
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]


def test_the_doctor_finds_a_whole_store_well_and_lists_what_was_skipped(tiny: Path, capsys: Captured) -> None:
    assert run(["doctor", "--store", str(tiny)]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert err == ""
    facts = dict(line.split(maxsplit=1) for line in out.partition("\n\n")[0].splitlines())
    assert {"calls": "20", "errored": "1", "skipped": "1", "integrity": "ok", "sums": "ok"}.items() <= facts.items()
    assert re.search(r"flow-transcripts-tiny\.jsonl +9 +skipped", out)


def test_the_doctor_names_what_is_wrong_and_exits_4(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(tiny.read_bytes())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE state_rollup SET stall = stall + 1 WHERE n = 6")
    connection.commit()
    connection.close()
    assert run(["doctor", "--store", str(path)]) == ExitCode.STORE
    out, err = capsys.readouterr()
    assert "sums        states: " in out
    assert (
        "\nsums: the calls themselves may be right, and figures that are summed wrong: restore a copy, or ingest" in out
    )
    assert "riff-tui: error: " in err


def test_the_doctor_migrates_an_older_store_as_its_refusal_says_and_tells_of_the_copy(
    tmp_path: Path, capsys: Captured
) -> None:
    path = earlier_store(tmp_path / "of last year.db")
    with stepped():
        assert run(["dump", "flows", "--store", str(path)]) == ExitCode.STORE
        said = re.search(r"`riff-tui (doctor --migrate .*)`", capsys.readouterr().err)
        assert said is not None
        assert run(shlex.split(said[1])) == ExitCode.OK
    assert str(backup_path(path, EARLIER)) in capsys.readouterr().err
    assert run(["dump", "flows", "--store", str(path)]) == ExitCode.OK


def test_a_quick_look_says_what_it_left_out_and_finds_what_it_looks_at(
    tiny: Path, tmp_path: Path, capsys: Captured
) -> None:
    path = Path(shutil.copy(tiny, tmp_path / "store.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE state_rollup SET progress = progress + 1")
        assert run(["doctor", "--quick", "--store", str(path)]) == ExitCode.OK
        out = capsys.readouterr().out
        assert "\ntotals      ok\nunchecked   integrity, values, references, columns, sums: leave out --quick" in out
        assert re.search(r"^calls +20$", out, re.MULTILINE)
        connection.execute("UPDATE state_total SET n = n + 1")
        assert run(["doctor", "--quick", "--json", "--store", str(path)]) == ExitCode.STORE
    told = json.loads(capsys.readouterr().out)
    ((check, problem),) = ((each["check"], each["problems"]) for each in told["checks"])
    assert check == "totals"
    assert problem[0].startswith("state totals: ")
    assert told["unchecked"] == ["integrity", "values", "references", "columns", "sums"]
    assert run(["doctor", "--json", "--store", str(tiny)]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["unchecked"] == []


def test_the_doctor_makes_no_store(tmp_path: Path, capsys: Captured) -> None:
    assert run(["doctor", "--migrate", "--store", str(tmp_path / "none.db")]) == ExitCode.STORE
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_says_what_to_do_about_notes_that_count_nowhere(
    tiny: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, kept = tmp_path / "store.db", tmp_path / "config" / "notes.jsonl"
    path.write_bytes(tiny.read_bytes())
    kept.parent.mkdir()
    monkeypatch.setenv("RIFF_TUI_CONFIG", str(kept.with_name("settings.toml")))
    kept.write_text(f"{line_of(Annotation('n-9', name(0), 'ann'))}\n", encoding="utf-8")
    with open_store(path, write=True) as store:
        add_notes(
            store, [Annotation("n-1", "nowhere", "ann"), Annotation("n-2", "nowhere", "bob", supersedes="n-1", at=1)]
        )
        add_notes(store, [Annotation("n-3", "nowhere", "cy", supersedes="n-1")])
    assert run(["doctor", "--store", str(path)]) == ExitCode.OK
    out = capsys.readouterr().out
    assert "notes       1\nauthors     1\n" in out
    assert "1 note on calls that are not there: ingest the files with these calls." in out
    assert f"1 note that could not be written before, in {kept}: riff-tui notes import {kept}" in out


def test_programs_are_told_the_same(
    tiny: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(tiny, tmp_path / "store.db"))
    monkeypatch.chdir(tmp_path)
    assert run(["doctor", "--json", "--store", "store.db"]) == ExitCode.OK
    told = capsys.readouterr().out.replace(f'"size": {path.stat().st_size}', '"size": 0')
    assert_golden(told.replace(str(tiny.parent), "/in"), "doctor.json")


def test_programs_are_told_what_is_wrong_and_what_to_do(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    path = Path(shutil.copy(tiny, tmp_path / "store.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE call_rollup SET n = n + 1")
        connection.execute("UPDATE conversation SET duration_s = 'long' WHERE id = 1")
    assert run(["doctor", "--json", "--store", str(path)]) == ExitCode.STORE
    told = json.loads(capsys.readouterr().out)
    found = {each["check"]: each for each in told["checks"]}
    assert (told["whole"], told["readable"], told["schema"]) == (False, True, SCHEMA_VERSION)
    assert found["integrity"] == {"check": "integrity", "problems": [], "advice": None}
    assert found["values"]["problems"] == ["1 rows of conversation have values that do not fit their columns"]
    assert all("ingest the files again" in found[check]["advice"] for check in ("values", "sums"))


@pytest.mark.parametrize("kind", ["missing", "no store", "older"])
def test_programs_are_told_of_a_store_that_cannot_be_opened(kind: str, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "store.db"
    if kind == "older":
        earlier_store(path)
    elif kind == "no store":
        path.write_text("nothing of ours", encoding="utf-8")
    assert run(["doctor", "--json", "--store", str(path)]) == ExitCode.STORE
    out, err = capsys.readouterr()
    told = json.loads(out)
    ((check,), keys) = told["checks"], ("whole", "readable", "size", "schema", "skipped")
    assert [told[key] for key in keys] == [False, False, None, None, None]
    assert check["check"] == "opening"
    refused = json.loads(err)
    sentence = "; ".join(filter(None, (refused["error"], refused["hint"])))
    assert check["problems"][0] in sentence
    assert (check["advice"] or "") in sentence
