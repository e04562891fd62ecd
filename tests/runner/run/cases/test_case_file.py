"""Cases: what is written is read again as it was, and a file that is none says where."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import Contract
from tests.surface.runner import (
    CASE_SCHEMA,
    CaseFact,
    CaseFailure,
    CaseFile,
    CaseLine,
    CaseOrigin,
    RunnableFlow,
    RunScenario,
    SpokenFact,
    case_text,
    is_case_file,
    read_case,
)
from tests.surface.store import UsageError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SPOKEN = TEXT.filter(lambda text: bool(text.strip()))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CASES = st.builds(
    CaseFile,
    case_schema=st.just(CASE_SCHEMA),
    flow=SPOKEN,
    name=SPOKEN,
    persona=st.none() | TEXT,
    tasks=st.lists(TEXT, max_size=2),
    path=st.lists(TEXT, max_size=3),
    redacted=st.booleans(),
    origin=st.none() | st.builds(CaseOrigin, TEXT, TEXT, st.none() | TEXT, st.none() | TEXT, st.integers(0, 9)),
    broke=st.none() | st.builds(CaseFailure, TEXT, st.none() | TEXT),
    facts=st.dictionaries(TEXT, st.builds(CaseFact, VALUES, TEXT), max_size=3),
    lines=st.lists(st.builds(CaseLine, SPOKEN, st.none() | TEXT), max_size=3),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


@given(case=CASES)
def test_a_case_is_read_as_it_was_written(case: CaseFile, folder: Path) -> None:
    file = folder / "call.toml"
    file.write_text(case_text(case), encoding="utf-8")
    assert read_case(file) == case


@given(value=st.integers() | st.floats() | st.none() | st.text())
def test_any_value_of_json_makes_a_file_that_is_toml(value: Any) -> None:
    case = CaseFile(case_schema=CASE_SCHEMA, flow="f", name="n", facts={"slot": CaseFact(value)})
    assert tomllib.loads(case_text(case))["flow"] == "f"


def test_nothing_in_a_case_is_live_on_a_terminal() -> None:
    case = CaseFile(case_schema=CASE_SCHEMA, flow="f", name="n", lines=[CaseLine("\x1b[2J\u202egnp.exe\x9b")])
    assert all(sign.isprintable() or sign == "\n" for sign in case_text(case))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('flow = "a"', 'schema is missing (`schema = "riff.case/1"`); riff-tui case writes one'),
        ('schema = "riff.case/9"', "schema is 'riff.case/9'"),
        ("flow = \n", "is not TOML (Invalid value (at line 1, column 8))"),
        ('schema = "riff.case/1"\nname = "n"', "missing required field `flow`"),
        ('schema = "riff.case/1"\nflow = " "\nname = "n"', "flow is empty"),
        ('schema = "riff.case/1"\nflow = "f"\nname = "n"\nfact = {}', "unknown field `fact`; did you mean facts?"),
        (
            'schema = "riff.case/1"\nflow = "f"\nname = "n"\n[[lines]]\ntext = "a"\n[[lines]]\ntext = 1',
            "lines[1].text: Expected `str`, got `int`",
        ),
        ('schema = "riff.case/1"\nflow = "f"\nname = "n"\n[[lines]]\ntext = " "', "line 1 of [[lines]] is empty"),
    ],
)
def test_a_file_that_is_no_case_says_where(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "call.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        read_case(file)
    assert str(file) in str(refused.value)
    assert told in str(refused.value)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_case(tmp_path / "none.toml")


def test_a_scenario_that_ends_in_toml_is_a_case() -> None:
    assert is_case_file("cases/stuck.toml")
    assert not is_case_file("relocating")


def test_a_case_is_played_with_its_own_facts_and_the_tasks_of_the_scenario_that_it_had() -> None:
    usual = RunScenario(
        "leak",
        tasks=("leak",),
        says=("There's a leak.",),
        goal="Get a plumber.",
        facts={"unit": SpokenFact("12", "twelve"), "name": SpokenFact("Ana", "Ana")},
        pools={"phone": "phone"},
    )
    flow = RunnableFlow("taps", Contract(), "start", {}, {}, (usual, RunScenario("leak-again")))
    case = CaseFile(
        case_schema=CASE_SCHEMA,
        flow="taps",
        name="stuck",
        origin=CaseOrigin("r", "c", scenario="leak-hurried"),
        facts={"unit": CaseFact(4, "number four")},
        lines=[CaseLine("My tap drips.", "start"), CaseLine("Four.", "where")],
    )
    scenario = case.scenario(flow)
    assert scenario.tasks == ("leak",)
    assert scenario.goal == "Get a plumber."
    assert scenario.pools == {"phone": "phone"}
    assert scenario.says == ("My tap drips.",)
    assert scenario.facts == {"unit": SpokenFact(4, "number four"), "name": SpokenFact("Ana", "Ana")}
    assert [(line.text, line.state) for line in scenario.script] == [("My tap drips.", "start"), ("Four.", "where")]


def test_a_case_of_another_flow_is_refused() -> None:
    flow = RunnableFlow("taps", Contract(), "start", {}, {}, ())
    with pytest.raises(UsageError, match="of the flow drains, not of taps"):
        CaseFile(case_schema=CASE_SCHEMA, flow="drains", name="stuck").scenario(flow)
