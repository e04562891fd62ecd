"""What a script can do without the command line: store conversations, and read any source."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import riff_ingest
from riff_ingest import (
    BrokenInput,
    Contract,
    Conversation,
    Driver,
    EventBus,
    SlotFilled,
    StateEntered,
    StateExited,
    Turn,
    TurnComplete,
    read_source,
    store_conversations,
    write_transcripts,
)
from tests.support import tau_runs, tau_ticks
from tests.support.eva_runs import files, make_run
from tests.support.facts import broken_rows, contents
from tests.surface.ingest import ingest
from tests.surface.store import Skipped, Transcripts, UsageError, Writer, call_interaction, forget, open_store, schema


def recorded(name: str = "c-1", *, completed: bool = True, **given: object) -> Conversation:
    bus = EventBus()
    driver = Driver(bus)
    bus.emit(StateEntered("greet", 0.0))
    driver.said("agent", "Hello", t=0.1, latency_ms=700)
    bus.emit(TurnComplete(700, 0.8))
    bus.emit(SlotFilled("day", "Tuesday", "greet", 1.0))
    if completed:
        bus.emit(StateExited("greet", "booked", "done", 2.0))
    contract = Contract(success_terminals=["booked"], required_slots=["day"])
    facts = {"completed": completed, "stop_reason": "terminal" if completed else "max_turns", "contract": contract}
    return driver.finish(name, "viewing", agent_model="model-a", **(facts | given))  # type: ignore[arg-type]


def aspects(store: Path) -> dict[str, float]:
    return {row[2]: row[5] for row in contents(store)["aspect"]}


def test_what_was_recorded_is_kept_with_what_was_said(tmp_path: Path) -> None:
    store = tmp_path / "calls.db"
    summary = store_conversations(store, [recorded("c-1"), recorded("c-2", completed=False)], run="nightly")
    assert (summary.added, summary.replaced, summary.unchanged, summary.notes) == (2, 0, 0, [])
    assert [row[:2] for row in contents(store)["conversation"]] == [("nightly", "c-1"), ("nightly", "c-2")]
    with open_store(store) as opened:
        kept = opened.execute_sql("SELECT body, dictionary_id FROM transcript")
        texts = [Transcripts(opened).document(*row)["turns"][0]["text"] for row in kept]
    assert texts == ["Hello", "Hello"]
    assert broken_rows(store) == []


def test_a_stored_conversation_scores_as_one_that_was_written_and_ingested(tmp_path: Path) -> None:
    (tmp_path / "nightly").mkdir()
    calls = [recorded("c-1"), recorded("c-2", completed=False)]
    path = tmp_path / "nightly" / "flow-transcripts-a.jsonl"
    assert write_transcripts(path, calls) == 2
    with open_store(tmp_path / "ingested.db", write=True, create=True) as opened:
        ingest([path], Writer(opened))
    store_conversations(tmp_path / "stored.db", calls, run="nightly")
    ingested, stored = contents(tmp_path / "ingested.db"), contents(tmp_path / "stored.db")
    assert stored["aspect"] == ingested["aspect"]


def test_storing_a_conversation_again_replaces_it(tmp_path: Path) -> None:
    store = tmp_path / "calls.db"
    store_conversations(store, [recorded(), recorded("c-2")])
    assert aspects(store)["completion"] == 10.0
    again = store_conversations(store, [recorded(completed=False), recorded("c-2")])
    assert (again.added, again.replaced, again.unchanged) == (0, 1, 1)
    assert sorted(row[5] for row in contents(store)["aspect"] if row[2] == "completion") == [0.0, 10.0]
    assert contents(store)["note"] == []
    assert broken_rows(store) == []


def test_a_conversation_that_was_forgotten_is_counted_and_stays_out(tmp_path: Path) -> None:
    store = tmp_path / "calls.db"
    store_conversations(store, [recorded(), recorded("c-2")])
    with open_store(store, write=True) as opened, opened.writing():
        forget(opened, [key for (key,) in opened.execute_sql("SELECT id FROM conversation WHERE name = 'c-2'")])
    again = store_conversations(store, [recorded(), recorded("c-2"), recorded("c-3")])
    assert (again.added, again.unchanged, again.forgotten) == (1, 1, 1)
    assert [row[1] for row in contents(store)["conversation"]] == ["c-1", "c-3"]
    assert len(contents(store)["source"]) == 2


def test_a_conversation_that_came_from_a_file_is_replaced_as_well(tmp_path: Path) -> None:
    (tmp_path / "nightly").mkdir()
    path = tmp_path / "nightly" / "flow-transcripts-a.jsonl"
    write_transcripts(path, [recorded(completed=False)])
    store = tmp_path / "calls.db"
    with open_store(store, write=True, create=True) as opened:
        ingest([path], Writer(opened))
        assert store_conversations(opened, [recorded()], run="nightly").replaced == 1
    assert aspects(store)["completion"] == 10.0
    assert len(contents(store)["conversation"]) == 1


def test_a_store_that_is_open_for_reading_is_opened_once_more_to_write(tmp_path: Path) -> None:
    store = tmp_path / "calls.db"
    store_conversations(store, [])
    with open_store(store) as opened:
        assert store_conversations(opened, [recorded()]).added == 1
        assert opened.execute_sql("SELECT count(*) FROM conversation") == [(1,)]


def test_one_conversation_that_cannot_be_stored_stores_none(tmp_path: Path) -> None:
    store = tmp_path / "calls.db"
    with pytest.raises(BrokenInput, match="flow is missing"):
        store_conversations(store, [recorded(), Conversation(conversation_id="c-2", flow="")])
    assert contents(store)["conversation"] == []


def test_odd_names_and_values_are_stored(tmp_path: Path) -> None:
    store = tmp_path / "calls.db"
    odd = Conversation(
        conversation_id="../\ud800\0", flow="f", run_id="..", slots={"path": Path("x")}, turns=[Turn("agent", "\udcff")]
    )
    assert store_conversations(store, [odd, recorded("..", run_id="a/b"), recorded("b", run_id="a")]).added == 3
    assert broken_rows(store) == []


def test_a_source_is_read_conversation_by_conversation(tmp_path: Path) -> None:
    folder = tmp_path / "nightly"
    folder.mkdir()
    write_transcripts(folder / "flow-transcripts-a.jsonl", [recorded("c-1", contract=None), recorded("c-2")])
    with open(folder / "flow-transcripts-a.jsonl", "a") as file:
        file.write("{broken\n")
    (folder / "viewing.json").write_text(json.dumps({"flow": "viewing", "success_terminals": ["booked"]}))
    found = read_source(folder)
    first = next(found)
    assert (first.conversation_id, first.run_id) == ("c-1", "nightly")
    assert first.contract is not None
    assert first.contract.success_terminals == ["booked"]
    assert [each.conversation_id for each in found] == ["c-2"]
    assert [(part.path, part.note.line) for part in found.skipped] == [(str(folder / "flow-transcripts-a.jsonl"), 3)]


def test_a_run_of_eva_is_read_and_can_be_stored(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", {"1.1.2": files()})
    calls = list(read_source(run))
    assert [each.conversation_id for each in calls] == ["1.1.2"]
    assert store_conversations(tmp_path / "calls.db", calls).added == 1


def test_how_a_stored_voice_call_shared_the_line_is_kept(tmp_path: Path) -> None:
    made = tau_runs.results([tau_ticks.simulation("v", ".ccc....", ".....aaa")], info=tau_ticks.info())
    calls = list(read_source(tau_runs.write_results(tmp_path / "night.json", made)))
    store_conversations(tmp_path / "calls.db", calls)
    with open_store(tmp_path / "calls.db") as store:
        [(key,)] = store.execute(schema.Conversation.select(schema.Conversation.id))
        assert calls[0].interaction is not None
        assert call_interaction(store, key) == calls[0].interaction


def test_what_no_source_knows_is_in_what_was_skipped(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    found = read_source(path)
    assert list(found) == []
    assert found.skipped == [(str(path), Skipped("skipped", None, "file is neither JSON nor TOML"))]


def test_a_path_and_a_kind_have_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_source(tmp_path / "missing")
    with pytest.raises(UsageError, match=r"one of .*tau, .*transcripts, .*flow-file, .*eva"):
        read_source(tmp_path, kind="tape")


def test_every_public_name_is_there_and_documented() -> None:
    for name in riff_ingest.__all__:
        value = getattr(riff_ingest, name)
        assert name == "Event" or value.__doc__, name
        assert name in dir(importlib.import_module(value.__module__)) or name == "Event"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = riff_ingest.nothing


def test_the_public_names_are_these() -> None:
    assert set(riff_ingest.__all__) >= {
        "Conversation", "Turn", "ToolCall", "ReferenceStep", "Contract", "EventBus", "StateEntered", "StateExited",
        "TurnComplete", "GuardEvaluated", "SlotFilled", "Driver", "write_transcripts", "store_conversations",
        "read_source", "compute_state_aspects", "compute_flow_aspects", "Source",
    }  # fmt: skip


def test_importing_the_package_loads_nothing_else() -> None:
    program = "import sys, riff_ingest; print(*(name for name in sys.modules if name.startswith(('riff_', 'msgspec'))))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["riff_ingest"]
