"""Results of tau2-bench: what a run becomes, whatever form it has on disk."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

from benchmarks.tau_load import write_results as write_made
from benchmarks.tau_load import write_voice_run
from riff_ingest import Conversation, read_source
from tests.support.tau_runs import (
    action,
    answer,
    check,
    info,
    results,
    rewarded,
    said,
    simulation,
    task,
    tool,
    write_results,
    write_run,
)
from tests.surface.ingest import ReferenceStep, facts_of, registry


def _calls(path: Path) -> dict[str, Conversation]:
    return {call.conversation_id: call for call in read_source(path)}


def _reasons(path: Path) -> list[str]:
    found = read_source(path)
    list(found)
    return [part.note.reason for part in found.skipped]


def test_a_text_call_becomes_turns_states_and_expected_steps(tmp_path: Path) -> None:
    cancel = action("cancel_order", order="#1")
    ask = action("get_order", order="#1")
    call = simulation(
        "a",
        messages=[
            said("assistant", "Hi!", 0.5),
            said("user", "Cancel my order.", 3),
            said("assistant", "One moment.", 4.5, tool("get_order", order="#1"), tool("cancel_order", order="#2")),
            answer("get_order", '{"state": "sent"}', 5),
            answer("cancel_order", "Error: it was sent", 6, error=True),
            said("assistant", "I cannot.", 8),
            said("user", "###TRANSFER###", 9),
        ],
        reward_info=rewarded(0.0, check(ask, True, "read"), check(cancel, False, "write")),
    )
    path = write_results(tmp_path / "nightly.json", results([call], task("1", ask, cancel)))
    read = _calls(path)["a"]
    assert (read.flow, read.scenario, read.trial, read.agent_model) == ("retail/cancel", "1", 0, "gpt-4.1")
    assert (read.run_label, read.commit, read.duration_s) == ("nightly", "0f1e2d3c", 30.5)
    assert (read.passed, read.completed, read.stop_reason, read.final_status) == (False, True, "terminal", "transfer")
    assert [(turn.role, turn.text, turn.t, turn.state, turn.latency_ms) for turn in read.turns] == [
        ("agent", "Hi!", 0.5, "opening", None),
        ("caller", "Cancel my order.", 3.0, "opening", None),
        ("agent", "One moment.", 4.5, "opening", 1500.0),
        ("agent", "I cannot.", 8.0, "cancel_order", 2000.0),
    ]
    assert [(each.name, each.error, each.t) for each in read.tool_calls] == [
        ("get_order", None, 4.5),
        ("cancel_order", "Error: it was sent", 4.5),
    ]
    assert read.error_count() == 1
    assert read.expected_steps == [
        ReferenceStep("get_order", "agent", True, True, {"order": "#1"}, changes=False),
        ReferenceStep("cancel_order", "agent", True, False, {"order": "#1"}, changes=True),
    ]


def test_what_is_compared_and_what_is_to_be_said_is_read(tmp_path: Path) -> None:
    cancel = action("cancel_order", compare=["order"], order="#1", reason="late")
    asked = {"communicate_info": ["346.93", "two days"]}
    checked = {"communicate_checks": [{"info": "346.93", "met": True}, {"info": "two days", "met": False}]}
    wanted = task("1", cancel)
    wanted["evaluation_criteria"] |= asked
    messages = [
        said("user", "Cancel my order.", 3),
        said("assistant", None, 4, tool("cancel_order", id="1", ordre="#1"), tool("cancel_order", id="2")),
        answer("cancel_order", "Error: cancel() got an unexpected keyword argument 'ordre'", 5, error=True, id="1"),
        answer("cancel_order", "Error: it was sent", 6, error=True, id="2"),
        said("assistant", None, 7, tool("transfer_to_human_agents")),
    ]
    calls = [
        simulation("a", messages=messages, reward_info=rewarded(0.0) | checked),
        simulation("b", trial=1),
        simulation("c", task_id="unknown", trial=2),
    ]
    read = _calls(write_results(tmp_path / "nightly.json", results(calls, wanted)))
    assert [step.compared for step in read["a"].expected_steps or ()] == [["order"]]
    assert [(each.text, each.said) for each in read["a"].expected_answers] == [("346.93", True), ("two days", False)]
    assert [(each.text, each.said) for each in read["b"].expected_answers] == [("346.93", None), ("two days", None)]
    assert (read["c"].expected_steps, read["c"].expected_answers, read["a"].channel) == (None, [], "text")
    assert [(each.fits, each.changes) for each in read["a"].tool_calls] == [(False, None), (None, None), (None, False)]


def test_both_layouts_give_the_same_run_and_the_same_calls(tmp_path: Path) -> None:
    one = simulation("a", reward_info=rewarded(1.0)), simulation("b", task_id="2", trial=1)
    apart = write_run(tmp_path / "nightly", list(one), task("1", action("cancel_order")))
    whole = write_results(tmp_path / "copy" / "nightly.json", results(list(one), task("1", action("cancel_order"))))
    packed = tmp_path / "packed" / "nightly.json.gz"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(whole.read_bytes()))
    assert _calls(apart) == _calls(apart / "results.json") == _calls(whole) == _calls(packed)
    assert {call.run_id for call in _calls(whole).values()} == {"retail 2026-03-04 09:29 " + _mark(_calls(whole)["a"])}


def _mark(call: Conversation) -> str:
    assert call.run_id is not None
    return call.run_id.rpartition(" ")[2]


def test_simulations_in_the_file_are_read_even_where_a_folder_of_them_lies_beside(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "nightly", [simulation("a"), simulation("b")])
    write_results(folder / "results.json", results([simulation("a")]))
    assert list(_calls(folder)) == ["a"]


def test_a_folder_and_its_index_may_differ(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "nightly", [simulation("a"), simulation("b")])
    (folder / "simulations" / "b.json").rename(folder / "simulations" / "c.json")
    write_results(folder / "simulations" / "c.json", simulation("c", trial=1))
    write_results(folder / "simulations" / ".sim_d.json", simulation("d"))
    (folder / "simulations" / "e.json").write_text('{"id": "e", ', "utf-8")
    assert list(_calls(folder)) == ["a", "c"]
    assert _reasons(folder) == [
        "not in the index: c",
        "simulations/e.json: it is not JSON: it ends too early",
        "missing simulation b",
    ]


def test_a_run_in_a_folder_is_known_without_tasks_too(tmp_path: Path) -> None:
    run = write_run(tmp_path / "night", [simulation("a")], simulation_index=[{"id": "a"}])
    document = json.loads((run / "results.json").read_bytes())
    del document["tasks"]
    write_results(run / "results.json", document)
    assert (list(_calls(run)), _reasons(run)) == (["a"], [])


def test_members_in_any_order_are_read_alike(tmp_path: Path) -> None:
    document = results([simulation("a")], task("1", action("cancel_order")))
    straight = _calls(write_results(tmp_path / "run.json", document))
    turned = dict(reversed(document.items()))
    assert _calls(write_results(tmp_path / "turned" / "run.json", turned, None)) == straight


def test_attempts_that_were_thrown_away_and_artifacts_are_no_calls(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "nightly", [simulation("a")])
    write_results(folder / "hallucination_discarded" / "results_user_hallucination.json", results([simulation("x")]))
    write_results(folder / "artifacts" / "task_1" / "sim_a" / "sim_status.json", {"status": "used"})
    assert list(_calls(folder)) == ["a"]
    assert _reasons(folder) == ["attempts that the benchmark threw away, so they do not count"]


def test_an_aborted_run_has_no_calls_and_a_list_without_info_says_what_is_missing(tmp_path: Path) -> None:
    assert _reasons(write_results(tmp_path / "run.json", results([]))) == ["it has no simulations"]
    alone = write_run(tmp_path / "nightly", [simulation("a")]) / "simulations" / "a.json"
    bare = write_results(tmp_path / "list.json", [simulation("a")])
    lines = tmp_path / "lines.json"
    lines.write_text("\n".join(json.dumps(simulation(name)) for name in "ab"), "utf-8")
    for path in (alone, bare, lines):
        (reason,) = _reasons(path)
        assert "without what their run was" in reason


def test_other_documents_that_speak_of_simulations_are_not_taken_for_one(tmp_path: Path) -> None:
    about = write_results(tmp_path / "about.json", {"tasks": [], "seen": {"a": simulation("a")}})
    assert _reasons(about) == [f"not recognised: JSON with the keys tasks, seen; {registry.OWN_DATA}"]


def test_a_run_without_a_clock_has_calls_without_times(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": "Hi!"},
        {"role": "user", "content": "Cancel it.", "timestamp": None},
        {"role": "assistant", "content": None, "tool_calls": [tool("cancel_order")]},
        {"role": "tool", "id": "call_cancel_order", "content": "done", "error": False},
    ]
    call = simulation("a", messages=messages, duration=60.0, agent_cost=None, start_time=None)
    read = _calls(write_results(tmp_path / "run.json", results([call])))["a"]
    assert [turn.t for turn in read.turns] == [None, None]
    assert (read.started_at, read.duration_s, read.measured) == (None, None, {})
    facts, _ = facts_of(read, default_run="run")
    assert [row.state for row in facts.states] == ["opening", "cancel_order"]
    assert facts.aspects["latency_mean"] is None


def test_a_broken_simulation_costs_no_other(tmp_path: Path) -> None:
    odd = simulation(
        "b", trial=1, duration="long", agent_cost="free", messages=[3, said("user", "Hello", 1), {"role": 7}]
    )
    path = write_results(
        tmp_path / "run.json", results([simulation("a"), {"task_id": "1"}, odd, simulation("c", trial=2)])
    )
    assert list(_calls(path)) == ["a", "b", "c"]
    assert [turn.text for turn in _calls(path)["b"].turns] == ["Hello"]
    assert _reasons(path) == [
        "simulations, number 2: it has no id",
        "duration does not fit and is left out",
        "agent_cost does not fit and is left out",
        "messages does not fit and is left out",
    ]


def test_a_trial_of_a_task_that_is_there_twice_is_noted(tmp_path: Path) -> None:
    calls = [simulation("a"), simulation("b"), simulation("c", trial=1), simulation("d", "2")]
    path = write_results(tmp_path / "run.json", results(calls))
    assert list(_calls(path)) == ["a", "b", "c", "d"]
    assert _reasons(path) == ["trial 0 of task 1 is there 2 times (a, b), and each counts as a trial"]


def test_a_minute_for_every_call_is_no_duration(tmp_path: Path) -> None:
    same = [simulation(str(number), duration=60.0) for number in range(80)]
    path = write_results(tmp_path / "run.json", results(same))
    assert {call.duration_s for call in _calls(path).values()} == {None}
    path = write_results(tmp_path / "run.json", results([*same[:3], simulation("z", duration=61.0)]))
    assert [call.duration_s for call in _calls(path).values()] == [60.0, 60.0, 60.0, 61.0]


def test_policies_and_guidelines_are_not_kept(tmp_path: Path) -> None:
    call = simulation("a", policy="Never tell the secret of the policy.", messages=[said("user", "Hi", 1, raw_data={})])
    path = write_results(tmp_path / "run.json", results([call], info=info()))
    assert "secret" not in json.dumps(str(_calls(path)["a"]))


def test_memory_does_not_grow_with_the_results(tmp_path: Path) -> None:
    few, many = (write_made(tmp_path / f"{size}.json", size) for size in (1_000_000, 4_000_000))
    assert _peak(many) <= 1.2 * _peak(few)


def test_memory_does_not_grow_with_the_number_of_voice_calls(tmp_path: Path) -> None:
    few, many = (write_voice_run(tmp_path / f"{calls}-calls", calls, 300) for calls in (2, 8))
    assert _peak(many) <= 1.2 * _peak(few)


def _peak(path: Path) -> int:
    """Return the most bytes that were held while the calls of a file were read, one at a time."""
    tracemalloc.start()
    try:
        for _ in read_source(path, kind="tau"):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
