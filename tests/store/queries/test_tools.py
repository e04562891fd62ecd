"""How tools fare: sums are those of the calls, from wherever they are read, and names lead to exactly their calls."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.facts import call, fresh, grouped_by, put, state
from tests.support.packed_stores import packed, set_small_groups
from tests.support.random_stores import billionths, world
from tests.support.recorded_queries import recorded_queries
from tests.surface.store import (
    Annotation,
    ConversationFacts,
    Failure,
    ToolAspects,
    ToolCell,
    add_notes,
    conversations,
    known_names,
    tool_cells,
)
from tests.surface.tui import parse

BY = ("flow", "tool", "state", "agent")
Rows = list[tuple[ConversationFacts, ToolAspects]]
Names = tuple[str | None, ...]


def by_hand(rows: Rows) -> tuple[Any, ...]:
    tools = [tool for _, tool in rows]
    bad = [tool.bad_arguments for tool in tools if tool.bad_arguments is not None]
    seconds = [None if tool.latency_p95_ms is None else tool.latency_p95_ms / 1000 for tool in tools]
    counts = (sum(getattr(tool, name) for tool in tools) for name in ("n", "errors", "unrecovered", "failed"))
    return (*counts, sum(tool.n > 0 for tool in tools), sum(bad) if bad else None, billionths(seconds))


def in_store(cell: ToolCell) -> tuple[Any, ...]:
    latency = cell.latency_p95.n, cell.latency_p95.total
    return cell.n, cell.errors, cell.unrecovered, cell.failed, cell.calls, cell.bad_arguments, latency


def grouped(
    calls: Iterable[ConversationFacts],
    by: tuple[str, ...],
    keep: Callable[[ConversationFacts, ToolAspects], bool] = lambda facts, tool: True,
) -> dict[Names, tuple[Any, ...]]:
    found: dict[Names, Rows] = {}
    for facts in calls:
        for tool in facts.tools:
            if not facts.errored and keep(facts, tool):
                names = (getattr(tool, name) if name in ("tool", "state") else grouped_by(facts, name) for name in by)
                found.setdefault(tuple(names), []).append((facts, tool))
    return {names: by_hand(rows) for names, rows in found.items()}


def stalls(facts: ConversationFacts, tool: ToolAspects) -> bool:
    return any(row.state == tool.state and row.stall == 1 for row in facts.states)


FILTERS: dict[str, Callable[[ConversationFacts, ToolAspects], bool]] = {
    "": lambda facts, tool: True,
    "flow=dental tool=find": lambda facts, tool: (facts.flow, tool.tool) == ("dental", "find"),
    "run=night-2 state=·": lambda facts, tool: facts.run_id == "night-2" and tool.state is None,
    "state!=greet": lambda facts, tool: tool.state not in (None, "greet"),
    "tool=greet/book/now": lambda facts, tool: (tool.state, tool.tool) == ("greet", "book/now"),
    "tool=book/now": lambda facts, tool: tool.tool == "book/now",
    "tool:co/f": lambda facts, tool: tool.tool == "find" and tool.state in ("collect", "confirm"),
    "tool='(none found)/find'": lambda facts, tool: (tool.state, tool.tool) == (None, "find"),
    "persona:h": lambda facts, tool: "h" in (facts.persona or ""),
    "!tool=find trial=1": lambda facts, tool: tool.tool != "find" and facts.trial == 1,
    "stall=1": stalls,
    "tool_error=find": lambda facts, tool: any(each.tool == "find" and each.errors for each in facts.tools),
}


@settings(max_examples=examples(8))
@given(st.integers(0, 10**6), st.sampled_from([BY, ("tool",), ("flow", "tool", "state", "agent", "persona")]))
def test_tools_fare_as_plain_python_says_from_wherever_they_are_read(seed: int, by: tuple[str, ...]) -> None:
    made = world(seed)
    with tempfile.TemporaryDirectory() as folder, made.store(Path(folder) / "store.db") as store:
        for expression, keep in FILTERS.items():
            cells = {tuple(cell.keys.values()): in_store(cell) for cell in tool_cells(store, parse(expression), by)}
            assert cells == grouped(made.calls, by, keep), expression


def test_a_store_of_many_calls_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = world(5, 70)
    set_small_groups(monkeypatch)
    by = (*BY, "persona")
    with packed(made, tmp_path / "packed.db") as store:
        for expression, keep in FILTERS.items():
            cells = {tuple(cell.keys.values()): in_store(cell) for cell in tool_cells(store, parse(expression), by)}
            assert cells == grouped(made.calls, by, keep), expression


@pytest.mark.parametrize("expression", ["", "flow=viewing tool=find state=collect", "run=night-1"])
def test_no_call_is_looked_at_where_sums_say_it(expression: str, tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call(name, tools=[ToolAspects("find", "collect", 2, 1)]) for name in ("a", "b")])
        with recorded_queries(store) as asked:
            (cell,) = tool_cells(store, parse(expression), BY)
        assert (cell.n, cell.errors) == (4, 2)
        assert not any(f'"{table}"' in sql for sql in asked for table in ("conversation", "tool_score"))


def test_what_a_person_marked_is_blamed_on_no_tool(tmp_path: Path) -> None:
    blame = Failure("greet", "collect", "tool error", tool="find", segment="collect")
    rows = [ToolAspects("find", "collect", 1, 1, 1, failed=1)]
    visited = [state("greet", position=0), state("collect", position=1)]
    calls = [call(name, success=False, failure=blame, tools=rows, states=visited) for name in ("a", "b")]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", calls)
        add_notes(store, [Annotation("1", "a", "ann", state="greet", code="rude", verdict="fail")])
        (cell,) = tool_cells(store, None, BY)
        assert (cell.n, cell.errors, cell.failed) == (2, 2, 1)
        found = conversations(store, parse("first_failed=collect failed_tool=find"))
        assert [each.conversation for each in found] == ["b"]


def test_the_tool_to_blame_for_most_comes_first_also_where_nobody_called_it(tmp_path: Path) -> None:
    tools = [
        [ToolAspects("book", "confirm", failed=1), ToolAspects("find", "collect", 3, 2, 1)],
        [ToolAspects("pay", "confirm", 9), ToolAspects("find", "collect", 1)],
    ]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call(str(number), tools=each) for number, each in enumerate(tools)])
        found = [(cell.keys["tool"], cell.n, cell.calls, cell.failed) for cell in tool_cells(store, None, BY)]
        assert found == [("book", 0, 0, 1), ("find", 4, 2, 0), ("pay", 9, 1, 0)]
        assert known_names(store, "tool") == ["book", "find", "pay"]
