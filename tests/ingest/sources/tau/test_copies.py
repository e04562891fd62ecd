"""Copies of a run: of each call the fuller one counts, once, in whatever order they are read."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import detail_of, fresh
from tests.support.tau_runs import action, check, results, rewarded, simulation, task, write_results, write_run
from tests.surface.ingest import ingest
from tests.surface.store import Note, Store, Writer, conversations, flow_cells, judges

CLEAN = {"summary": "Well done.", "has_errors": False, "errors": [], "cost": 0.1}
RUDE = CLEAN | {"errors": [{"source": "agent", "severity": "minor", "reasoning": "Rude.", "turn_idx": 2}]}


def copies(folder: Path) -> list[Path]:
    """A run, its reviewed copy with two of three reviews, and one that was scored again."""
    plain = [simulation(f"s-{number}", reward_info=rewarded(0.0)) for number in range(3)]
    reviewed = [plain[0] | {"review": CLEAN}, plain[1] | {"review": RUDE}, plain[2]]
    updated = [each | {"reward_info": rewarded(1.0)} for each in plain]
    return [
        write_results(folder / "results.json", results(plain)),
        write_results(folder / "results_reviewed.json", results(reviewed)),
        write_results(folder / "updated_results.json", results(updated)),
    ]


def told(store: Store) -> dict[str, Any]:
    """What stands of each call, and of the judge of the agent."""
    calls = {call.conversation: call.correctness for call in conversations(store)}
    [agent] = [judge for judge in judges(store) if judge.aspect == "agent"]
    return {"calls": calls, "judge": (agent.n, agent.mean.mean)}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("order", permutations(range(3)))
def test_each_call_counts_once_and_the_fuller_copy_of_it_stays(
    tmp_path: Path, order: tuple[int, ...], at_once: bool
) -> None:
    files = copies(tmp_path / "run")
    with fresh(tmp_path / "calls.db") as store:
        for paths in [[files[at] for at in order]] if at_once else [[files[at]] for at in order]:
            ingest(paths, Writer(store))
        assert told(store) == {"calls": {"s-0": 0.0, "s-1": 0.0, "s-2": 10.0}, "judge": (2, 7.5)}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_copy_whose_checks_make_another_family_of_the_task_is_no_second_call(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    sealed = action("seal_parcel")
    before = results([simulation("s-0", reward_info=None)], task("1", sealed))
    scored = simulation("s-0", reward_info=rewarded(1.0, check(sealed, True, "read")))
    files = [
        write_results(tmp_path / "night.json", before),
        write_results(tmp_path / "updated_night.json", results([scored], task("1", sealed))),
    ]
    with fresh(tmp_path / "calls.db") as store:
        for at in order:
            ingest([files[at]], Writer(store))
        assert [call.flow for call in conversations(store)] == ["retail/no-write"]
        assert [(cell.keys["flow"], cell.n) for cell in flow_cells(store)] == [("retail/no-write", 1)]


def test_both_layouts_are_one_run_with_their_summary_of_judges_and_their_notes(tmp_path: Path) -> None:
    calls = [simulation("s-0"), simulation("s-1", review=RUDE)]
    write_results(tmp_path / "night.json", results(calls))
    write_run(tmp_path / "night", calls)
    entry = {"simulation_id": "s-1", "judge_verdict": "fail", "judge_model": "gpt-9", "judge_prompt_name": "policy"}
    write_results(tmp_path / "night.summary_policy.json", {"entries": [entry]})
    note = {"id": "note_1", "note": "Hm.", "author_email": "a@example.org", "simulation_id": "s-1", "trial": 0}
    write_results(tmp_path / "notes" / "task_1_note_1_note.json", note)
    with fresh(tmp_path / "calls.db") as store:
        summary = ingest([tmp_path], Writer(store))
        assert (summary.unjoined.waiting, summary.annotations, summary.skipped) == (0, 1, 0)
        [_, call] = sorted(conversations(store), key=lambda call: call.conversation)
        detail = detail_of(store, call.run, "s-1")
        assert detail is not None
        assert [(each.judge, each.aspect, each.score, each.evidence) for each in detail.verdicts] == [
            ("tau2-review", "agent", 5.0, [3]),
            ("gpt-9 policy", "policy", 0.0, None),
            ("tau2-review", "user", 10.0, None),
        ]
        assert [each.text for each in detail.notes] == ["Hm."]


def test_the_made_run_has_the_verdicts_and_notes_that_are_expected(tmp_path: Path, shared_data: Path) -> None:
    expected = json.loads((shared_data / "tau3" / "expected.json").read_text())["sets"]["dev/retail_voice"]
    severities = expected["agent_metrics"]["agent_errors_by_severity"]
    with fresh(tmp_path / "calls.db") as store:
        ingest([shared_data / "tau3" / "voice"], Writer(store))
        run = next(iter(conversations(store))).run
        noted: list[Note] = []
        for name, call in expected["calls"].items():
            detail = detail_of(store, run, name)
            assert detail is not None
            found = {f"{each.judge}/{each.aspect}": each.score for each in detail.verdicts}
            assert found == call["riff"].get("judges", {})
            noted += detail.notes
            agent = next(
                (each for each in detail.verdicts if (each.judge, each.aspect) == ("tau2-review", "agent")), None
            )
            if agent is not None:
                assert {each: (agent.rationale or "").count(f" {each}, ") for each in severities} == severities
        assert len(noted) == len(list((shared_data / "tau3" / "voice" / "notes").iterdir()))
