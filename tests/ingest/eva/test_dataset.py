"""Records of a dataset, filled for the language that was spoken (2.5)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from riff_ingest.eva import read_record
from tests.support.eva_records import write_record
from tests.surface.ingest import BrokenInput, aliases_beside, compute_metrics, filled, read_files, records_of

NAMES = {"first_name": "Zoë", "last_name": "ÅBERG"}
PLAIN = {"first_name": "Zoe", "last_name": "ABERG"}
ALL = (
    "<FIRST_NAME_ROMANIZED>.<LAST_NAME_ROMANIZED> <FIRST_NAME> <LAST_NAME> <PHONE> "
    "<COMPANION_FIRST_NAME_ROMANIZED> <COMPANION_FIRST_NAME>"
)


def text_of(record: dict[str, Any], language: str = "sv") -> str:
    found = filled({"note": [{"deep": ALL}], **record}, language)["note"][0]["deep"]
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({}, ALL),
        ({"culture_overrides": {}}, ALL),
        (
            {"culture_overrides": {"sv": NAMES}},
            "zoë.åberg Zoë ÅBERG <PHONE> <COMPANION_FIRST_NAME_ROMANIZED> <COMPANION_FIRST_NAME>",
        ),
        (
            {
                "culture_overrides": {"sv": {**NAMES, "phone": "08", "companion": {"first_name": "Örjan"}}},
                "romanized_culture_overrides": {"sv": {**PLAIN, "companion": {"first_name": "Orjan"}}},
            },
            "zoe.aberg Zoë ÅBERG 08 orjan Örjan",
        ),
        (
            {
                "culture_overrides": {"sv": {**NAMES, "companion": {"first_name": "Örjan"}}},
                "romanized_culture_overrides": {"en": PLAIN, "sv": PLAIN},
            },
            "zoe.aberg Zoë ÅBERG <PHONE> örjan Örjan",
        ),
    ],
)
def test_every_text_has_names_in_place_of_its_placeholders(record: dict[str, Any], text: str) -> None:
    assert text_of(record) == text


def test_a_record_without_names_for_the_language_says_so() -> None:
    with pytest.raises(BrokenInput, match="no names for the language de"):
        text_of({"culture_overrides": {"sv": NAMES}}, "de")


def test_a_record_is_left_as_it_was() -> None:
    record = {"culture_overrides": {"sv": NAMES}, "user_goal": {"x": ["<FIRST_NAME>"]}}
    filled(record, "sv")
    assert record["user_goal"] == {"x": ["<FIRST_NAME>"]}


ALIASES: list[dict[str, Any]] = [
    {
        "name": "Oslo office",
        "base": ["Oslo", "HQ"],
        "translations": {"sv": ["Oslokontoret", "Oslo"], "de": "Büro Oslo"},
    },
    {"name": "Other", "base": None, "translations": 5},
]


@pytest.mark.parametrize(
    ("language", "place"),
    [("en", "Oslo office"), ("sv", "Oslokontoret"), ("de", "Büro Oslo"), ("fr", "Oslo office")],
)
def test_places_in_the_goal_are_named_in_the_language(language: str, place: str) -> None:
    record = {"user_goal": {"want": "to <LOC:Oslo office>, not <LOC:Other>"}, "note": "<LOC:Oslo office>"}
    found = filled(record, language, ALIASES)
    assert found["user_goal"]["want"] == f"to {place}, not Other"
    assert found["note"] == "<LOC:Oslo office>"


def test_expected_objects_of_a_name_get_its_aliases() -> None:
    expected = {"rooms": {"R1": {"name": "Oslo office"}, "R2": {"name": "Attic"}, "R3": [{"name": "Other"}]}}
    record = {"ground_truth": {"expected_scenario_db": expected}}
    rooms = filled(record, "sv", ALIASES)["ground_truth"]["expected_scenario_db"]["rooms"]
    assert rooms["R1"]["name_aliases"] == ["Oslo", "HQ", "Oslokontoret"]
    assert "name_aliases" not in rooms["R2"]
    assert rooms["R3"][0]["name_aliases"] == []
    assert filled(record, "sv")["ground_truth"]["expected_scenario_db"] == expected


def test_a_dataset_is_an_array_or_lines(tmp_path: Path) -> None:
    records = [{"id": "1.1", "n": 1}, {"id": 2, "n": 2}, {"no": "id"}, "text"]
    wanted = {"1.1": records[0], "2": records[1]}
    pretty, jsonl, one, packed = (tmp_path / name for name in ("a.json", "b.jsonl", "c.jsonl", "d.json.gz"))
    pretty.write_text("\n " + json.dumps(records, indent=1))
    jsonl.write_text("\n\n".join(map(json.dumps, records)))
    one.write_text(json.dumps(records[0]))
    packed.write_bytes(gzip.compress(json.dumps(records).encode()))
    assert records_of(pretty) == records_of(jsonl) == records_of(packed) == wanted
    assert records_of(one) == {"1.1": records[0]}
    jsonl.write_text('{"id": 1}\n{')
    with pytest.raises(BrokenInput):
        records_of(jsonl)


def test_a_broken_line_of_a_dataset_is_named(tmp_path: Path) -> None:
    (path := tmp_path / "airline.jsonl").write_text('{"id": "1.1"}\n\n{"id": \n')
    with pytest.raises(BrokenInput, match=r"^line 3: line is not JSON: it ends too early$"):
        records_of(path)


def test_aliases_lie_beside_the_dataset(tmp_path: Path) -> None:
    path = tmp_path / "itsm_dataset.json"
    assert aliases_beside(path) == []
    folder = tmp_path / "itsm_aliases"
    folder.mkdir()
    (folder / "b.json").write_text(json.dumps(ALIASES[0]))
    (folder / "a.json").write_text(json.dumps([ALIASES[1], "x"]))
    assert aliases_beside(path) == [ALIASES[1], ALIASES[0]]


def test_what_the_dataset_and_the_agents_file_say_is_in_the_context(tmp_path: Path) -> None:
    record = {
        "user_goal": {"high_level_user_goal": "rolls for <FIRST_NAME>"},
        "user_config": {"user_persona": "calm"},
        "current_date_time": "2026-03-01 10:00",
        "ground_truth": {"expected_scenario_db": {"orders": {}}, "expected_trace": [{"tool": "bake"}]},
        "culture_overrides": {"en": {"first_name": "Ann"}},
    }
    agent = {"id": "baker", "role": "bakes", "instructions": "Be kind.", "tools": [{"name": "bake"}, "x"]}
    found = read_record(write_record(tmp_path), dataset_record=record, agent=agent)
    assert found.warnings == []
    assert found.user_goal == {"high_level_user_goal": "rolls for Ann"}
    assert (found.user_persona, found.current_date_time) == ("calm", "2026-03-01 10:00")
    assert (found.expected_scenario_db, found.expected_trace) == ({"orders": {}}, [{"tool": "bake"}])
    assert (found.agent_id, found.agent_role, found.agent_instructions) == ("baker", "bakes", "Be kind.")
    assert found.agent_tools == [{"name": "bake"}]
    found = read_record(tmp_path, dataset_record={"culture_overrides": {"fr": {}}, "ground_truth": 5, "user_config": 5})
    assert found.warnings == ["dataset_record_unfilled: the record has no names for the language en"]
    assert found.expected_scenario_db is None


def test_a_database_with_placeholders_left_in_it_is_held_against_nothing(tmp_path: Path) -> None:
    expected = {"orders": {"O1": {"for": "<FIRST_NAME>"}}, "session": {"caller": "<LAST_NAME>"}}
    record = {"culture_overrides": {"fr": NAMES}, "ground_truth": {"expected_scenario_db": expected}}
    directory = write_record(tmp_path)
    found = read_record(directory, dataset_record=record)
    assert found.expected_scenario_db is None
    scores = compute_metrics(found, read_files(directory))
    assert (scores["task_completion"].score, scores["authentication_success"].score) == (None, None)
