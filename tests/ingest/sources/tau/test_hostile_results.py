"""Results of tau2-bench as they should not be: cut, shuffled, of wrong types. A reason, never an exception."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riff_ingest import Conversation, read_source
from tests.support.examples import examples
from tests.support.tau_runs import action, answer, check, results, rewarded, said, simulation, task, tool
from tests.surface.ingest import SourceReader, facts_of
from tests.surface.store import ConversationFacts

_FIXTURES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(40)
)
_WRONG: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        1e308,
        math.nan,
        math.inf,
        10**30,
        "",
        "x\ud800",
        "7",
        "0001-01-01T00:00:00+14:00",
        [],
        [[]],
        {},
        {"id": {}},
        [None, 3],
    ]
)


def _document() -> dict[str, Any]:
    call = simulation(
        "a",
        messages=[
            said("user", "Cancel it.", 1),
            said("assistant", "Yes.", 2, tool("cancel_order", order={"id": [1]})),
            answer("cancel_order", "done", 3),
            said("user", "###STOP###", 4),
        ],
        reward_info=rewarded(1.0, check(action("cancel_order", order={"id": [1]}), True, "write")),
        agent_usage={"cost": 0.1},
        info={"error": "x"},
    )
    return results([call, simulation("b"), simulation("c")], task("1", action("cancel_order")))


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from _places(inner, (*path, key))


_PLACES = sorted(_places(_document()), key=str)


def _read(path: Path) -> tuple[dict[str, ConversationFacts], SourceReader]:
    """Read and score what can be read of a file."""
    found = read_source(path, kind="tau")
    calls: list[Conversation] = list(found)
    return {call.conversation_id: facts_of(call, default_run="run")[0] for call in calls}, found


@_FIXTURES
@given(changes=st.lists(st.tuples(st.sampled_from(_PLACES), _WRONG), min_size=1, max_size=3))
def test_a_wrong_part_costs_no_other_call(tmp_path: Path, changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    document = _document()
    for (*way, last), value in changes:
        try:
            holder: Any = document
            for key in way:
                holder = holder[key]
            holder[last] = deepcopy(value)  # a later change may go into it
        except (KeyError, IndexError, TypeError):
            continue
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document), "utf-8")
    calls, found = _read(path)
    for place, name in enumerate("abc"):
        untouched = all(tuple(way[:2]) != ("simulations", place) and len(way) > 1 for way, _ in changes)
        assert not untouched or name in calls
    if not calls:
        assert found.skipped


@_FIXTURES
@given(cut=st.integers(0, len(json.dumps(_document())) - 1))
def test_of_a_cut_file_the_whole_calls_are_read_and_the_rest_is_told(tmp_path: Path, cut: int) -> None:
    text = json.dumps(_document())
    path = tmp_path / "run.json"
    path.write_text(text[:cut], "utf-8")
    calls, found = _read(path)
    ends = [text.index(', {"id": "b"'), text.index(', {"id": "c"'), len(text) - 2]
    assert list(calls) == [name for name, end in zip("abc", ends, strict=True) if end <= cut]
    assert "file ends too early" in found.skipped[-1].note.reason


@settings(_FIXTURES, max_examples=examples(15))
@given(data=st.data())
def test_the_order_of_keys_says_nothing(tmp_path: Path, data: st.DataObject) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shuffled(value[key]) for key in data.draw(st.permutations(list(value)))}
        return [shuffled(each) for each in value] if isinstance(value, list) else value

    straight, turned = tmp_path / "straight" / "run.json", tmp_path / "turned" / "run.json"
    for path, document in ((straight, _document()), (turned, shuffled(_document()))):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document), "utf-8")
    assert list(read_source(straight)) == list(read_source(turned))


def test_times_at_the_ends_of_the_calendar_are_none(tmp_path: Path) -> None:
    edges = "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-03-04T09:30:01+00:00"
    messages = [said("user", "Hi", 0, timestamp=at) for at in edges]
    for start in (edges[0], None):
        path = tmp_path / "run.json"
        path.write_text(json.dumps(results([simulation("a", messages=messages, start_time=start)])), "utf-8")
        (call,) = read_source(path)
        assert [turn.t for turn in call.turns] == [None, None, None if start else 0.0]


def test_a_timestamp_that_is_no_text_is_none(tmp_path: Path) -> None:
    document = json.dumps(results([simulation("a")], timestamp="soon")).encode()
    for timestamp in (b'"2026-03-04T\xd79:29:00"', b'"\\ud800"', b"7", b"{}"):
        path = tmp_path / "run.json"
        path.write_bytes(document.replace(b'"soon"', timestamp))
        (call,) = read_source(path)
        assert call.flow == "retail/no-write"


def test_arguments_that_are_nested_too_deeply_are_left_out(tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    path = tmp_path / "run.json"
    document = results([simulation("a", messages=[said("assistant", None, 1, tool("pay", a=deep))])])
    path.write_text(json.dumps(document), "utf-8")
    (call,) = read_source(path)
    assert call.tool_calls[0].arguments is None
    assert call.defects == {"arguments nested too deeply, more than 64 levels (limits.depth)": 1}
    path.write_text(json.dumps(document).replace('"a": [', '"a": [' + "[" * 100_000), "utf-8")
    assert not list(read_source(path, kind="tau"))
