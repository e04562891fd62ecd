"""What was said is printed as it is found: calls, turns, and who said it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import riff_tui
from tests.support.facts import call, fresh, put
from tests.surface.ingest import Turn
from tests.surface.store import EventColumns, spell

NOT_KEPT = "is not kept, so nothing is found there; ingest without --no-text keeps it."


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Three calls, one of which says it twice, and one of which no text is kept."""
    said: dict[str, list[tuple[Any, ...]]] = {
        "c-1": [("agent", "Good day"), ("caller", "Sorry, WRONG number", 3.5, "greet"), ("agent", "Bye")],
        "c-2": [("agent", "Is that a wrong\x1b[31m number?"), ("caller", "no"), ("agent", "wrong number\n!")],
        "c-3": [("caller", "Mail ann@example.com, wrong numbers")],
    }
    path = tmp_path / "store.db"
    with fresh(path) as opened:
        spelled = {name: spell([Turn(*turn) for turn in turns], EventColumns(), {}) for name, turns in said.items()}
        calls = [call(name, transcript=text, agent="ab"[name == "c-3"]) for name, text in spelled.items()]
        put(opened, "calls.jsonl", [*calls, call("c-4", agent="silent")])
    return str(path)


def test_each_hit_is_a_line(store: str) -> None:
    found = riff_tui("search", "wrong number", "--store", store)
    assert found.stdout.splitlines() == [
        "run=night-1 conversation=c-3 turn 1 caller: Mail ann@example.com, wrong numbers",
        "run=night-1 conversation=c-2 turn 3 agent: wrong number⏎!",
        "run=night-1 conversation=c-1 turn 2 caller: Sorry, WRONG number",
    ]
    assert found.stderr.splitlines() == [
        f"What was said in 1 of these 4 calls {NOT_KEPT}",
        "3 hits in 3 of 4 calls.",
    ]


def test_a_filter_leaves_fewer_calls(store: str) -> None:
    found = riff_tui("search", "wrong number", "--where", "agent=b caller_said:mail", "--store", store)
    assert (found.stdout.count("\n"), found.stderr) == (1, "1 hit in 1 of 1 calls.\n")
    found = riff_tui("search", "x", "--where", "agent=zz", "--store", store)
    assert found.stderr.splitlines() == ["agent=zz: no agent of that name.", "0 hits in 0 of 0 calls."]


def test_context_is_told_from_hits(store: str) -> None:
    found = riff_tui("search", "/wrong.+number/", "--context", "1", "--store", store)
    assert found.stdout.splitlines() == [
        "run=night-1 conversation=c-3 turn 1 caller: Mail ann@example.com, wrong numbers",
        "--",
        "run=night-1 conversation=c-2 turn 1 agent: Is that a wrong␛[31m number?",
        "run=night-1 conversation=c-2 turn 2 caller- no",
        "run=night-1 conversation=c-2 turn 3 agent: wrong number⏎!",
    ]
    apart = riff_tui("search", "/WRONG.+m|^wro/i", "--context", "0", "--where", "conversation=c-2", "--store", store)
    assert [line.split(" turn ")[1][0] for line in apart.stdout.splitlines()] == ["1", "3"]


def test_programs_read_an_object(store: str) -> None:
    found = json.loads(riff_tui("search", "wrong", "--json", "--context", "1", "--store", store).stdout)
    assert {key: found[key] for key in ("view", "schema_version", "text", "filter", "searched", "found", "hits")} == {
        "view": "search", "schema_version": 1, "text": "wrong", "filter": "", "searched": 4, "found": 3, "hits": 4,
    }  # fmt: skip
    assert len(found["notes"]) == 1
    assert found["rows"][-1] == {
        "run": "night-1", "conversation": "c-1", "flow": "viewing", "agent": "a", "trial": 0,
        "turn": 2, "t": 3.5, "state": "greet", "role": "caller", "text": "Sorry, WRONG number",
        "before": [{"turn": 1, "t": None, "state": None, "role": "agent", "text": "Good day"}],
        "after": [{"turn": 3, "t": None, "state": None, "role": "agent", "text": "Bye"}],
    }  # fmt: skip
    nothing = json.loads(riff_tui("search", "nobody said this", "--json", "--store", store).stdout)
    assert (nothing["rows"], nothing["hits"]) == ([], 0)


def test_what_points_at_a_person_can_be_taken_out(store: str) -> None:
    found = riff_tui("search", "example.com", "--redact", "--store", store)
    assert found.stdout.endswith("caller: Mail [email 1], wrong numbers\n")
    assert "Redacted by pattern" in found.stderr
    assert "ann@" not in riff_tui("search", "example.com", "--redact", "--json", "--store", store).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ", "TEXT is blank"),
        ("/(a/", "TEXT: this regular expression makes no sense"),
        ("x" * 20_000, "longer than 10,000 characters"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, said: str, store: str) -> None:
    found = riff_tui("search", text, "--store", store)
    assert (found.returncode, found.stdout) == (2, "")
    assert said in found.stderr


def test_ascii_is_kept_to_where_it_is_asked_for(store: str, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with fresh(path) as opened:
        put(opened, "calls.jsonl", [call("c-1", transcript=spell([Turn("caller", "Grüße")], EventColumns(), {}))])
    assert riff_tui("search", "ÜSS", "--ascii", "--store", path).stdout == ""
    assert riff_tui("search", "ÜßE", "--ascii", "--store", path).stdout.endswith("caller: Gr\\xfc\\xdfe\n")


def test_every_view_says_where_no_text_is_kept(store: str, tmp_path: Path) -> None:
    path = tmp_path / "silent.db"
    with fresh(path) as opened:
        put(opened, "calls.jsonl", [call("c-1"), call("c-2")])
    for view in ("conversations", "flows", "states", "worklist", "causes"):
        told = riff_tui("dump", view, "--where", "said:x", "--store", path).stdout
        assert f"What was said in these 2 calls {NOT_KEPT}" in told
    assert "not kept" not in riff_tui("dump", "flows", "--where", "said:wrong agent=a", "--store", store).stdout
