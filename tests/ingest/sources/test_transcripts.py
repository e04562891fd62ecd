"""Native transcripts: what a line gives, what it inherits, and what is left of one that is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dirty_inputs import FILES, odd_directories, record, write_all, write_lines
from tests.surface.ingest import EVENTS_LONGEST as LONGEST
from tests.surface.ingest import (
    HIGHEST,
    Contract,
    Conversation,
    ExpectedAnswer,
    GuardEvaluated,
    ReadContext,
    ReferenceStep,
    SlotFilled,
    StateContract,
    StateEntered,
    StateExited,
    ToolCall,
    Turn,
    TurnComplete,
)
from tests.surface.ingest import transcripts_read as read
from tests.surface.store import Skipped

TOO_DEEP = "nested too deeply, more than 64 levels (limits.depth)"


def calls(path: Path, contracts: dict[str, Contract] | None = None) -> list[Conversation]:
    return [found[1] for found in read(path, ReadContext(contracts or {})) if isinstance(found, tuple)]


def notes(path: Path) -> list[Skipped]:
    return [found for found in read(path) if isinstance(found, Skipped)]


def one(directory: Path, **fields: Any) -> tuple[Conversation, list[str]]:
    """The call that a line with these fields gives, and the reasons that are reported."""
    path = write_lines(directory / "flow-transcripts-one.jsonl", [record(**fields)])
    (call,) = calls(path)
    found = notes(path)
    assert all((note.kind, note.line, note.conversation) == ("defect", 1, call.conversation_id) for note in found)
    return call, [note.reason for note in found]


def test_a_line_becomes_a_conversation(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "flow-transcripts-a.jsonl", [record("c-1"), record("c-2")])
    found = list(read(path))
    assert found[1] == (
        2,
        Conversation(
            conversation_id="c-2",
            flow="dental",
            run_id="nightly",
            started_at="2026-06-22T02:00:07Z",
            completed=True,
            stop_reason="terminal",
            final_state="booked",
            contract=Contract(success_terminals=["booked"], states={"ask": StateContract(segment="collect")}),
            turns=[Turn("agent", "Grüezi, when?", 0.0, "ask", 800.0)],
            events=[StateEntered("ask", 0.0), TurnComplete(800.0, 0.8), StateExited("ask", "booked", "done", 3.0)],
        ),
    )


def test_a_line_needs_no_more_than_a_name_and_a_flow(tmp_path: Path) -> None:
    directory = tmp_path / "2026-06-22"
    directory.mkdir()
    path = write_lines(directory / "a.jsonl", [{"conversation_id": 7, "flow": "f", "colour": [1], "turns": None}])
    assert list(read(path)) == [(1, Conversation(conversation_id="7", flow="f", run_id="2026-06-22"))]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"flow": "f"}, "conversation_id is missing"),
        ({"conversation_id": None, "flow": "f"}, "conversation_id is missing"),
        ({"conversation_id": "", "flow": "f"}, "conversation_id is missing"),
        ({"conversation_id": ["c"], "flow": "f"}, "conversation_id is not text"),
        ({"conversation_id": True, "flow": "f"}, "conversation_id is not text"),
        ({"conversation_id": "c"}, "flow is missing"),
        ({"conversation_id": "c", "flow": {}}, "flow is not text"),
        ({"conversation_id": "c", "schema": "riff.flow-transcript/2"},
         "schema riff.flow-transcript/2 is not supported, only riff.flow-transcript/1 is"),
        ({"conversation_id": "c", "flow": "f", "schema": "x" * 99},
         f"schema {'x' * 60} is not supported, only riff.flow-transcript/1 is"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_conversation_is_skipped_with_its_place_and_reason(
    tmp_path: Path, line: dict[str, Any], reason: str
) -> None:
    path = write_lines(tmp_path / "a.jsonl", [record("c-1"), line])
    name = "c" if line.get("conversation_id") == "c" else None
    assert notes(path) == [Skipped("skipped", 2, reason, name)]
    assert len(calls(path)) == 1


def test_a_minor_version_of_the_schema_is_fine(tmp_path: Path) -> None:
    assert one(tmp_path, schema="riff.flow-transcript/1.4")[1] == []


@pytest.mark.parametrize(
    ("name", "value", "taken", "reason"),
    [
        ("trial", "x", 0, "trial is not a whole number and is left out"),
        ("trial", 2**70, 0, "trial is not a whole number and is left out"),
        ("trial", 1.5, 0, "trial is not a whole number and is left out"),
        ("duration_s", "long", None, "duration_s is not a number and is left out"),
        ("duration_s", True, None, "duration_s is not a number and is left out"),
        ("completed", "yes", None, "completed is not true or false and is left out"),
        ("errored", 1, False, "errored is not true or false and is left out"),
        ("errors", -1, [], "errors is not a whole number or a list and is left out"),
        ("errors", "boom", [], "errors is not a whole number or a list and is left out"),
        ("slots", [1], {}, "slots is not an object and is left out"),
        ("turns", {"role": "agent"}, [], "turns is not a list and is left out"),
        ("events", "none", [], "events is not a list and is left out"),
        ("aspects", [1], {}, "aspects is not an object and is left out"),
        ("agent_model", ["a", "b"], "(unknown)", "agent_model is not text and is left out"),
        ("contract", [1], None, "contract is not an object and is left out"),
        ("started_at", "yesterday", None, "started_at is not a time and is left out"),
        ("started_at", 1782093607, None, "started_at is not a time and is left out"),
    ],
)
def test_a_field_that_does_not_fit_is_left_out_alone_and_named(
    tmp_path: Path, name: str, value: Any, taken: Any, reason: str
) -> None:
    call, reasons = one(tmp_path, **{name: value})
    assert reasons == [reason]
    assert getattr(call, name) == taken
    whole, _ = one(tmp_path)
    setattr(whole, name, taken)
    assert call == whole


@pytest.mark.parametrize(
    ("name", "value", "taken"),
    [
        ("scenario", 12, "12"),
        ("persona", 0, "0"),
        ("commit", 1234567, "1234567"),
        ("run_id", 0, "0"),
        ("trial", 3.0, 3),
        ("errors", 0, 0),
        ("errors", 4, 4),
        ("agent_model", "", "(unknown)"),
        ("agent_model", None, "(unknown)"),
        ("origin", None, "observed"),
    ],
)
def test_what_was_meant_is_taken_without_a_word(tmp_path: Path, name: str, value: Any, taken: Any) -> None:
    call, reasons = one(tmp_path, **{name: value})
    assert (getattr(call, name), reasons, call.defects) == (taken, [], {})


def test_events_that_are_unknown_or_broken_are_left_out_and_counted(tmp_path: Path) -> None:
    call, reasons = one(
        tmp_path,
        events=[
            {"type": "tool_started", "t": 1},
            {"type": "state_entered", "t": "soon", "state": 5},
            {"type": "state_entered", "t": 1},
            {"type": ["state_entered"]},
            {"t": 1},
            None,
            {"type": "guard_evaluated", "guard": "has_date", "result": {"ok": [1]}, "error": None},
            {"type": "slot_filled", "slot": "date", "value": 0, "state": "ask", "t": 2},
        ],
    )
    assert call.events == [
        StateEntered("5"),
        GuardEvaluated("has_date", {"ok": [1]}),
        SlotFilled("date", 0, "ask", 2.0),
    ]
    assert call.defects == {"unknown event": 1, "broken event": 4, "broken field of event": 1}
    assert reasons == []


def test_turns_and_other_parts_are_judged_one_by_one(tmp_path: Path) -> None:
    call, _ = one(
        tmp_path,
        turns=[{"role": "caller", "text": 5}, {"text": "who?"}, {"role": "agent", "text": None, "t": []}, "hello"],
        tool_calls=[{"name": "book", "arguments": {"day": 1}, "by": None}, {"name": None}],
        expected_steps=[{"name": "book", "called": True, "matched": "no"}, 1],
        aspects={"correctness": 10, "completion": None, "errors": "many", "latency_p95": 1e300},
        state_aspects=[{"state": "ask"}, 4],
    )
    assert call.turns == [Turn("caller", "5"), Turn("agent")]
    assert call.tool_calls == [ToolCall("book", arguments={"day": 1})]
    assert call.expected_steps == [ReferenceStep("book", called=True)]
    assert call.aspects == {"correctness": 10.0, "completion": None}
    assert call.state_aspects == [{"state": "ask"}]
    assert call.defects == {
        "broken turn": 2,
        "broken field of turn": 1,
        "broken tool call": 1,
        "broken expected step": 1,
        "broken field of expected step": 1,
        "broken aspect": 2,
        "broken state row": 1,
    }


def test_durations_that_no_clock_measured_are_not_measured_and_counted(tmp_path: Path) -> None:
    call, reasons = one(
        tmp_path,
        duration_s=-3,
        turns=[{"role": "agent", "latency_ms": -0.5}, {"role": "agent", "latency_ms": 0}],
        events=[{"type": "turn_complete", "latency_ms": -1}, {"type": "turn_complete", "latency_ms": 1e300, "t": -2.0}],
        defects={"negative duration": 1, "negative": -1},
    )
    assert (call.duration_s, reasons) == (None, [])
    assert [turn.latency_ms for turn in call.turns] == [None, 0.0]
    assert call.events == [TurnComplete(), TurnComplete(None, -2.0)]
    assert call.defects == {"negative duration": 4, "duration out of range": 1}


@pytest.mark.parametrize(
    "part",
    [
        {"slots": {"x": ...}},
        {"errors": [{"message": ...}]},
        {"tool_calls": [{"name": "n", "arguments": ...}]},
        {"events": [{"type": "slot_filled", "slot": "s", "value": ...}]},
        {"events": [{"type": "guard_evaluated", "guard": "g", "error": {"a": ...}}]},
        {"state_aspects": [{"state": ...}]},
        {"facts": {"x": ...}},
        {"expected_steps": [{"name": "n", "arguments": ...}]},
    ],
)
def test_values_nested_too_deeply_are_cut_off_and_counted(tmp_path: Path, part: dict[str, Any]) -> None:
    deep = "[" * 200 + "]" * 200
    line = json.dumps({"conversation_id": "c", "flow": "f", **part}, default=lambda _: "DEEP").replace('"DEEP"', deep)
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    (call,) = calls(path)
    assert call.defects == {TOO_DEEP: 1}
    assert b"[" * 100 not in msgspec.json.encode(call)


def test_a_contract_is_inherited_from_its_run_and_flow_and_then_from_the_flow_file(tmp_path: Path) -> None:
    def line(name: str, **fields: Any) -> dict[str, Any]:
        return {"conversation_id": name, "flow": "f", "run_id": "r", **fields}

    path = write_lines(
        tmp_path / "a.jsonl",
        [
            line("described"),
            line("own", contract={"success_terminals": ["a"]}),
            line("inherited", contract=None),
            line("empty", contract={}),
            line("inherits-empty"),
            line("other-run", run_id="r2"),
            line("other-flow", flow="g"),
        ],
    )
    described = Contract(success_terminals=["from the file"])
    assert {call.conversation_id: call.contract for call in calls(path, {"f": described})} == {
        "described": described,
        "own": Contract(success_terminals=["a"]),
        "inherited": Contract(success_terminals=["a"]),
        "empty": Contract(),
        "inherits-empty": Contract(),
        "other-run": described,
        "other-flow": None,
    }


def test_the_parts_of_a_contract_that_fit_are_kept(tmp_path: Path) -> None:
    call, reasons = one(
        tmp_path,
        contract={
            "success_terminals": ["booked"],
            "final_statuses": "done",
            "archetype": None,
            "states": {
                "ask": {"segment": "collect", "required_slots": 5},
                "greet": None,
                "end": {"segment": "closing"},
            },
        },
    )
    assert call.contract == Contract(
        success_terminals=["booked"],
        states={"ask": StateContract("collect"), "greet": StateContract(), "end": StateContract("closing")},
    )
    assert reasons == [
        "contract.states.required_slots does not fit and is left out",
        "contract.states does not fit and is left out",
        "contract.final_statuses does not fit and is left out",
    ]


@pytest.mark.parametrize("name", FILES)
def test_dirty_files_give_what_is_good_in_them_and_say_what_is_not(tmp_path: Path, name: str) -> None:
    data, names, reported = FILES[name]
    path = tmp_path / f"flow-transcripts-{name}.jsonl"
    path.write_bytes(data)
    found = calls(path)
    assert [call.conversation_id for call in found] == names
    reasons = [note.reason for note in notes(path)]
    assert len(reasons) == (reported is not None)
    assert all(reason.startswith(reported or "") for reason in reasons)
    for call in found:
        msgspec.json.encode(call)


@pytest.mark.parametrize(
    ("name", "defects", "persona"),
    [
        ("latin-1", {"not UTF-8": 1}, None),
        ("nan", {"number out of range": 1}, None),
        ("infinite", {"number out of range": 1}, None),
        ("five-thousand-digits", {"number out of range": 1}, None),
        ("lone-surrogate", {"lone surrogate": 1}, "a�b"),
        ("nul-escaped", {}, "a\0b"),
        ("nested-500", {TOO_DEEP: 1}, None),
        ("utf-16", {}, None),
        ("crlf", {}, None),
    ],
)
def test_what_a_dirty_line_lost_is_counted_with_its_call(
    tmp_path: Path, name: str, defects: dict[str, int], persona: str | None
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(FILES[name][0])
    call = calls(path)[1]
    assert (call.defects, call.persona) == (defects, persona)
    assert call.turns == [Turn("agent", "Grüezi, when?", 0.0, "ask", 800.0)]


def test_files_with_any_name_in_directories_with_any_name_are_read(tmp_path: Path) -> None:
    for directory in odd_directories(tmp_path):
        (path,) = directory.iterdir()
        path.write_text(json.dumps({"conversation_id": "c", "flow": "f"}))
        (call,) = calls(path)
        assert call.run_id is not None
        assert call.run_id.encode() == bytes(directory.name, "utf-8", "backslashreplace").replace(
            b"\\udcff", b"\\xff"
        ).replace(b"\\udcfe", b"\\xfe")


def test_dirty_files_do_not_disturb_one_another(tmp_path: Path) -> None:
    for path in write_all(tmp_path):
        assert len(calls(path)) == len(FILES[path.name.removeprefix("flow-transcripts-").removesuffix(".jsonl")][1])


names = st.text(max_size=8)
numbers = st.floats(-1e9, 1e9)
measured = st.floats(0, LONGEST)
values = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | names | st.lists(names, max_size=2)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


contracts = st.builds(
    Contract,
    success_terminals=maybe(st.lists(names, max_size=2)),
    completion_slots=maybe(st.lists(names, max_size=2)),
    archetype=maybe(names),
    states=st.dictionaries(names, st.builds(StateContract, maybe(names), st.lists(names, max_size=2)), max_size=2),
)
events = st.one_of(
    st.builds(StateEntered, names, maybe(numbers), maybe(names)),
    st.builds(StateExited, names, maybe(names), maybe(names), maybe(numbers)),
    st.builds(TurnComplete, maybe(measured), maybe(numbers)),
    st.builds(GuardEvaluated, names, values, values, maybe(numbers)),
    st.builds(SlotFilled, names, values, maybe(names), maybe(numbers)),
)
conversations = st.builds(
    Conversation,
    conversation_id=st.text(min_size=1, max_size=8),
    flow=st.text(min_size=1, max_size=8),
    run_id=st.text(min_size=1, max_size=8),
    commit=maybe(names),
    agent_model=st.text(min_size=1, max_size=8),
    persona=maybe(names),
    trial=st.integers(0, 99),
    started_at=st.sampled_from([None, "2026-06-22T02:00:07Z"]),
    duration_s=maybe(measured),
    completed=maybe(st.booleans()),
    errored=st.booleans(),
    errors=st.integers(0, 9) | st.lists(values, max_size=2),
    contract=maybe(contracts),
    slots=st.dictionaries(names, values, max_size=3),
    turns=st.lists(st.builds(Turn, names, names, maybe(numbers), maybe(names), maybe(measured)), max_size=3),
    events=st.lists(events, max_size=4),
    tool_calls=st.lists(
        st.builds(
            ToolCall,
            names,
            maybe(numbers),
            values,
            values,
            names,
            state=maybe(names),
            seq=maybe(st.integers(0, 99)),
            latency_ms=maybe(measured),
            changes=maybe(st.booleans()),
            fits=maybe(st.booleans()),
        ),
        max_size=2,
    ),
    facts=st.dictionaries(names, values, max_size=2),
    channel=maybe(names),
    expected_answers=st.lists(st.builds(ExpectedAnswer, names, maybe(st.booleans())), max_size=2),
    expected_steps=st.lists(st.builds(ReferenceStep, names, names, st.booleans(), maybe(st.booleans())), max_size=2),
    aspects=st.dictionaries(names, maybe(st.floats(-HIGHEST, HIGHEST)), max_size=2),
    state_aspects=st.lists(st.dictionaries(names, values, max_size=2), max_size=2),
    origin=st.sampled_from(["observed", "derived"]),
    defects=st.dictionaries(names, st.integers(1, 9), max_size=2),
)


@given(conversations)
def test_a_conversation_that_was_written_reads_back_equal(
    tmp_path_factory: pytest.TempPathFactory, call: Conversation
) -> None:
    path = tmp_path_factory.mktemp("trip") / "a.jsonl"
    path.write_bytes(msgspec.json.encode(call))
    assert list(read(path)) == [(1, call)]


@given(conversations)
def test_the_lenient_way_takes_the_same_as_the_quick_one(
    tmp_path_factory: pytest.TempPathFactory, call: Conversation
) -> None:
    path = tmp_path_factory.mktemp("ways") / "a.jsonl"
    path.write_bytes(msgspec.json.encode(call)[:-1] + b',"schema":5}')
    assert list(read(path)) == [(1, call)]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(Conversation.__struct_fields__), anything), st.booleans())
def test_no_json_makes_reading_raise(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any], named: bool
) -> None:
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    identity = {"conversation_id": "c", "flow": "f"} if named else {}
    path.write_text(json.dumps(fields | identity))
    found = list(read(path))
    assert len([item for item in found if isinstance(item, tuple)]) == 1 or not named
    for item in found:
        msgspec.json.encode(item)


@given(
    st.lists(st.binary(max_size=30) | st.sampled_from([b'{"conversation_id":', b'"c"', b',"flow":"f"', b"}", b"\n"]))
)
def test_no_bytes_make_reading_raise(tmp_path_factory: pytest.TempPathFactory, parts: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("bytes") / "a.jsonl"
    path.write_bytes(b"".join(parts))
    for item in read(path):
        assert isinstance(item, tuple | Skipped)


def test_real_dialogues_are_read_without_a_complaint(shared_data: Path) -> None:
    found = list(read(shared_data / "star" / "flow-transcripts-star.jsonl.gz"))
    assert len(found) == 4273
    assert all(isinstance(item, tuple) and not item[1].defects for item in found)


def test_assistant_and_user_are_agent_and_caller_wherever_a_side_is_named(tmp_path: Path) -> None:
    call, reasons = one(
        tmp_path,
        turns=[{"role": "assistant", "text": "Hello."}, {"role": "user", "text": "Hi."}, {"role": "system"}],
        tool_calls=[{"name": "book", "by": "assistant"}, {"name": "pay", "by": "user"}],
        expected_steps=[{"name": "book", "by": "user"}, {"name": "pay", "by": "agent"}],
    )
    assert reasons == []
    assert [turn.role for turn in call.turns] == ["agent", "caller", "system"]
    assert [tool.by for tool in call.tool_calls] == ["agent", "caller"]
    assert [step.by for step in (call.expected_steps or ())] == ["caller", "agent"]
