"""What a call tells of its tools: where each was called, what failed and was made good, and which is to blame."""

from __future__ import annotations

from typing import Any

from tests.surface.ingest import (
    Contract,
    Conversation,
    Event,
    StateContract,
    StateEntered,
    StateExited,
    ToolCall,
    facts_of,
)
from tests.surface.store import ToolAspects

EVENTS: list[Event] = [
    StateEntered("greet", t=0.0),
    StateExited("greet", "collect", t=10.0),
    StateEntered("collect", t=10.0),
    StateExited("collect", "booked", t=20.0),
    StateEntered("booked", t=20.0),
]


def rows(*tools: ToolCall, **given: Any) -> list[ToolAspects]:
    settings: dict[str, Any] = {"events": EVENTS, "contract": Contract(success_terminals=["booked"])}
    call = Conversation(conversation_id="1", flow="viewing", tool_calls=list(tools), **(settings | given))
    return sorted(facts_of(call, default_run="night-1")[0].tools, key=lambda row: (row.tool, row.state or ""))


def test_a_call_without_tools_has_no_rows() -> None:
    assert rows() == []


def test_an_error_is_made_good_by_a_good_call_of_the_same_tool_anywhere_later() -> None:
    found = rows(
        ToolCall("find", 1.0, error="timeout"),
        ToolCall("find", 11.0, error="timeout"),
        ToolCall("find", 12.0),
        ToolCall("book", 13.0),
        ToolCall("book", 14.0, error="gone"),
        ToolCall("book", 15.0, by="caller"),
    )
    assert found == [
        ToolAspects("book", "collect", 2, 1, 1),
        ToolAspects("find", "collect", 2, 1, 0),
        ToolAspects("find", "greet", 1, 1, 0),
        ToolAspects("user:book", "collect", 1),
    ]


def test_arguments_that_do_not_fit_are_counted_where_a_schema_is_known_and_make_nothing_good() -> None:
    found = rows(
        ToolCall("find", 1.0, error="timeout", fits=True), ToolCall("find", 2.0, fits=False), ToolCall("book", 3.0)
    )
    assert [(row.tool, row.n, row.errors, row.unrecovered, row.bad_arguments) for row in found] == [
        ("book", 1, 0, 0, None),
        ("find", 2, 1, 1, 1),
    ]


def test_how_long_a_tool_took_is_the_95th_percentile_of_its_calls_that_tell() -> None:
    (row,) = rows(*(ToolCall("find", 1.0, latency_ms=float(ms)) for ms in range(0, 2100, 100)), ToolCall("find", 1.0))
    assert (row.n, row.latency_p95_ms) == (22, 1900.0)


def test_a_tool_is_of_the_state_that_it_names_or_the_flow_gives_it_to() -> None:
    contract = Contract(success_terminals=["booked"], states={"greet": StateContract(tool="find")})
    assert [row.state for row in rows(ToolCall("find", 11.0), contract=contract)] == ["greet"]
    assert [row.state for row in rows(ToolCall("find", 11.0, state="greet"))] == ["greet"]
    assert [row.state for row in rows(ToolCall("find", state="confirm"), events=[])] == ["confirm"]
    assert [row.state for row in rows(ToolCall("find"), events=[])] == [None]


def test_a_failed_call_blames_the_tool_that_failed_or_was_never_called() -> None:
    lost = {"completed": False, "events": EVENTS[:3]}
    (row,) = rows(ToolCall("find", 1.0, error="timeout"), **lost)
    assert (row.state, row.errors, row.failed) == ("greet", 1, 1)
    contract = Contract(success_terminals=["booked"], states={"greet": StateContract(tool="find")})
    assert rows(**lost, contract=contract) == [ToolAspects("find", "greet", failed=1)]
    # Of a call that is excluded nothing is to blame.
    assert [row.failed for row in rows(ToolCall("find", 1.0, error="timeout"), **lost, errored=True)] == [0]
