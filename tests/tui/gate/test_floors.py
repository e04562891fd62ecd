"""How much of a flow a candidate has to touch: what it did not is named in every report, and nonsense is refused."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put
from tests.support.golden import printed
from tests.surface.store import DescribedFlow, DescribedState, Store, Touched
from tests.surface.tui import (
    Decision,
    UsageError,
    commands,
    configured,
    decision_with_commands,
    gate,
    parse,
    reports,
    short_summary,
)

WHOLE = Touched(["greet", "ask", "booked"], 3, [0, 1, 1, 2], slots=["day"])
SHORT = Touched(["greet", "booked"], 2, [0, 1], slots=["day"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A flow with a file of four edges, of which the old run took three and the new one two, and one without a file."""
    states = [
        DescribedState("greet", "", None),
        DescribedState("ask", "", None),
        DescribedState("booked", "", "success"),
    ]
    edges = [("greet", "ask"), ("ask", "booked"), ("greet", "booked"), ("ask", "greet")]
    store = fresh(tmp_path / "calls.db")
    put(store, "flow.toml", [DescribedFlow("viewing", None, states, edges)])
    made = [("old", 1, WHOLE), ("old", 1, SHORT), *[("new", 2, WHOLE)] * 2]
    calls = [
        call(f"{flow}-{number}", run=run, started_at=at, flow=flow, path=path, scenario=str(number))
        for flow in ("viewing", "learned")
        for number, (run, at, path) in enumerate(made)
    ]
    put(store, "calls.jsonl", calls)
    return store


def decided(store: Store, *floors: str, where: str = "", **given: Any) -> Decision:
    rules = configured((), min_coverage=floors, environ={"RIFF_TUI_CONFIG": "/nowhere"}, **given)
    return decision_with_commands(store, "old", "new", parse(where), rules, "my.db")


def test_a_flow_of_which_too_little_was_touched_fails_with_what_is_missing(store: Store) -> None:
    found = decided(store, "edges=75%", "states=1")
    (check,) = [each for each in found.of("failed") if each.flow == "viewing"]
    assert (check.aspect, check.baseline, check.candidate, check.n_candidate) == ("edges", 0.75, 0.5, 4)
    assert check.missing == ("ask > greet", "greet > booked")
    assert check.since is None
    assert check.command == ("riff-tui ui coverage --where 'run=new flow=viewing kind=edge calls=0' --store 'my.db'")
    assert found.failing == ["learned", "viewing"]
    assert [(each.flow, each.status) for each in found.checks if each.aspect == "states"] == [
        ("learned", "held"),
        ("viewing", "held"),
    ]


@pytest.mark.parametrize(
    ("floor", "passes"), [("50%", True), ("0.5", True), ("50.1%", False), ("100%", False), ("0", True)]
)
def test_as_much_as_it_takes_is_enough(floor: str, passes: bool, store: Store) -> None:
    assert decided(store, f"edges={floor}", where="flow=viewing").passed is passes


def test_without_a_file_it_is_what_earlier_runs_touched(store: Store) -> None:
    (check,) = [each for each in decided(store, "edges=1").of("failed") if each.flow == "learned"]
    assert (check.baseline, check.missing) == (1.0, ("greet > booked",))
    assert check.candidate == pytest.approx(2 / 3)


def test_every_report_names_what_is_missing(store: Store) -> None:
    found = decided(store, "edges=75%", where="flow=viewing")
    missing = "ask > greet, greet > booked"
    note = f"Not touched in new, viewing: edges {missing}."
    moved = "edges covered 3 of 4 → 2 of 4, 75% at least"
    assert note in gate(found).notes
    assert note in printed(gate(found), "text")
    assert note.replace(">", "&gt;") in printed(gate(found), "markdown")
    (because,) = json.loads(printed(gate(found), "json"))["because"]
    assert (because["check"], because["aspect"], because["n"]) == ("covered", "edges", 2)
    assert because["missing"] == ["ask > greet", "greet > booked"]
    xml = io.StringIO()
    reports.write(found, xml)
    assert "ask &gt; greet\ngreet &gt; booked\nriff-tui ui coverage" in xml.getvalue()
    assert (
        f"::error title=riff-tui gate%3A viewing::{moved.replace('%', '%25')} (not touched: {missing})"
        in commands(found)[0]
    )
    assert f"{moved} (not touched: {missing})".replace(">", "&gt;") in short_summary(found)


@pytest.mark.parametrize(
    ("floor", "reason"),
    [
        ("edges", "--min-coverage edges: it takes KIND=X, such as edges=90%"),
        ("edgs=90%", "--min-coverage edgs: no items of flows are called that"),
        ("=90%", "no items of flows are called that"),
        ("edges=much", "--min-coverage edges much: it takes a share from 0 to 1"),
        ("edges=-1", "it takes a share from 0 to 1"),
        ("edges=120%", "it takes a share from 0 to 1"),
        ("edges=nan", "it takes a share from 0 to 1"),
        ("guards=1", "--min-coverage guards: no flow of new has any that are declared or were ever touched"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(floor: str, reason: str, store: Store) -> None:
    with pytest.raises(UsageError, match=reason):
        decided(store, floor)
    with pytest.raises(UsageError, match="states: is given twice, with different shares"):
        decided(store, "states=1", "states=90%")


def test_a_settings_file_asks_for_it_as_well_and_options_go_before(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('[gate.min_coverage]\nedges = "75%"\nslots = 1', encoding="utf-8")
    environ = {"RIFF_TUI_CONFIG": str(path)}
    assert configured((), environ=environ).min_coverage == {"edge": 0.75, "slot": 1.0}
    assert configured((), min_coverage=["edges=0.1"], environ=environ).min_coverage == {"edge": 0.1, "slot": 1.0}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[gate]\nmin_coverage = 1", r"such as \[gate.min_coverage\]"),
        (
            "[gate.min_coverage]\nedgs = 1",
            "gate.min_coverage edgs: no items of flows are called that; did you mean edges",
        ),
        ("[gate.min_coverage]\nedges = true", "gate.min_coverage.edges True: it takes a share"),
    ],
)
def test_a_settings_file_that_makes_no_sense_is_named(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=reason) as caught:
        configured([], environ={"RIFF_TUI_CONFIG": str(path)})
    assert str(path) in str(caught.value)
