"""Which directories of a run are conversations, and what their names say (1)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riff_ingest.eva import read_record
from tests.surface.ingest import (
    configuration,
    conversations,
    identity_of,
    is_archived,
    natural,
    record_and_trial,
    run_name,
    run_of,
)


@pytest.mark.parametrize(
    ("output_id", "record", "trial"),
    [
        ("1.2.1/trial_0", "1.2.1", 0),
        ("1.2.1_trial_0", "1.2.1", 0),
        ("1.2.1", "1.2.1", None),
        ("1.2.1_trial_0_attempt_1", "1.2.1", 0),
        ("1.2.1/trial_0_attempt_1", "1.2.1", 0),
        ("1.2.1/trial_0_failed_attempt_12", "1.2.1", 0),
        ("1.2.1_attempt_2", "1.2.1", None),
        ("my_record_trial_3", "my_record", 3),
        ("x_failed_attempt_1", "x", None),
        ("x_extra_0", "x", None),
        ("x_unvalidated_2", "x", None),
        ("x_attempt_1_attempt_2", "x_attempt_1", None),
        ("x_attempt", "x_attempt", None),
        ("x_attempt_1b", "x_attempt_1b", None),
        ("x_attempt_1\n", "x_attempt_1\n", None),
        ("x_attempt_\u0661", "x_attempt_\u0661", None),
        ("xattempt_1", "xattempt_1", None),
        ("trial_4", "trial_4", None),
        ("x/trial_", "x/trial_", None),
        ("x_trial_1/trial_2", "x_trial_1", 2),
        ("x_trial_1_extra", "x_trial_1_extra", None),
        ("", "", None),
    ],
)
def test_a_name_says_which_record_and_which_trial(output_id: str, record: str, trial: int | None) -> None:
    assert record_and_trial(output_id) == (record, trial)


@given(st.text(), st.none() | st.integers(0, 99), st.sampled_from(["", "_attempt_1", "_failed_attempt_20", "_extra_0"]))
def test_record_and_trial_come_back_out_of_any_name(record: str, trial: int | None, suffix: str) -> None:
    if record_and_trial(record) != (record, None):
        return
    name = record if trial is None else f"{record}/trial_{trial}"
    assert record_and_trial(name + suffix) == (record, trial)


def test_conversations_are_those_that_count_in_natural_order(tmp_path: Path) -> None:
    for name in (
        "1.10.1", "1.9.1", "1.2.1/trial_0", "1.2.1/trial_10", "1.2.1/trial_2", "1.2.1/trial_1_failed_attempt_1",
        "1.9.1_failed_attempt_1", "3.1/trial_0_extra_1", "4.1/logs", "5_trial_1",
    ):  # fmt: skip
        (tmp_path / "records" / name).mkdir(parents=True)
    (tmp_path / "records" / "notes.txt").write_text("")
    assert [each.output_id for each in conversations(tmp_path)] == [
        "1.2.1/trial_0", "1.2.1/trial_2", "1.2.1/trial_10", "1.9.1", "1.10.1", "3.1", "4.1", "5/trial_1",
    ]  # fmt: skip


def test_a_run_without_records_has_no_conversations(tmp_path: Path) -> None:
    assert conversations(tmp_path) == []


@pytest.mark.parametrize(
    ("place", "record", "trial"),
    [
        ("run/records/1.2", "1.2", None),
        ("run/records/1.2/trial_3", "1.2", 3),
        ("run/records/1.2/trial_3_failed_attempt_1", "1.2", 3),
        ("run/records/1.2_trial_3", "1.2", 3),
        ("run/records/trial_3", "trial_3", None),
        ("elsewhere/1.2", "1.2", None),
    ],
)
def test_a_directory_says_by_its_place_what_it_is(tmp_path: Path, place: str, record: str, trial: int | None) -> None:
    found = identity_of(tmp_path / place, None, configuration({}))
    assert (found.record, found.trial) == (record, trial)
    (tmp_path / place).mkdir(parents=True)
    assert read_record(tmp_path / place).record_id == record


def test_a_directory_says_so_from_within_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run" / "records" / "1.2" / "trial_3").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "run" / "records" / "1.2" / "trial_3")
    assert read_record(Path()).record_id == "1.2"
    assert run_of(Path()) == Path(os.path.realpath(tmp_path / "run"))
    assert run_of(Path("..")) == Path(os.path.realpath(tmp_path / "run"))
    assert run_of(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "time", "system"),
    [
        ("2026-02-25_05-17-58.773402", "2026-02-25_05-17-58.773402", None),
        ("2026-02-25_05-17-58.773402_airline_en_gpt_ink", "2026-02-25_05-17-58.773402", "airline_en_gpt_ink"),
        ("2026-02-25_05-17-58.773402_", None, None),
        ("2026-02-25_05-17-58", None, None),
        ("nightly", None, None),
    ],
)
def test_a_runs_name_says_when_and_what(name: str, time: str | None, system: str | None) -> None:
    assert run_name(name) == (time, system)


def test_numbers_in_names_count_as_numbers() -> None:
    names = ["1.10.2", "1.9.1", "a", "1.9", "10", "2", "1.9.1_x"]
    assert sorted(names, key=natural) == ["1.9", "1.9.1", "1.9.1_x", "1.10.2", "2", "10", "a"]
    assert is_archived("x_attempt_1")
    assert not is_archived("x_trial_1")
