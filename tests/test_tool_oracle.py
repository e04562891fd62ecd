"""How tools fare in the demo and in results of tau2-bench is what a second computation from the files says."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.facts import fresh
from tests.surface.ingest import ingest
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import Store, Writer, conversations
from tests.surface.tui import Request, parse, show

COUNTS = ("n", "errors", "unrecovered")


class Called(NamedTuple):
    """A call of a tool as a file has it."""

    tool: str
    failed: bool


def counts(conversations: Iterable[tuple[tuple[str, ...], list[Called]]]) -> dict[tuple[str, ...], Counter[str]]:
    """Count by what names a conversation and by tool."""
    found: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for names, calls in conversations:
        for place, called in enumerate(calls):
            later = any(each.tool == called.tool and not each.failed for each in calls[place + 1 :])
            found[*names, called.tool].update(n=1, errors=called.failed, unrecovered=called.failed and not later)
    return dict(found)


def shown(store: Store, *names: str) -> dict[tuple[str, ...], Counter[str]]:
    """The same of what the view shows, over all states."""
    found: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in show(store, "tools", Request()).rows:
        if row.record["n"]:
            cell = tuple(str(row.record[name]) for name in (*names, "tool"))
            found[cell].update({count: row.record[count] for count in COUNTS})
    return dict(found)


def assert_rows_lead_to_their_calls(store: Store) -> None:
    rows = show(store, "tools", Request()).rows
    for row in (*rows[:10], *rows[-10:]):
        listed = len(conversations(store, parse(row.leads)))
        if row.record["failed"] or not row.record["errors"]:
            assert listed == row.record["failed" if row.record["failed"] else "calls"], row.leads
        else:
            assert 0 < listed <= row.record["calls"], row.leads
    failed = conversations(store, parse("failed=1 failed_tool!=·"))
    assert sum(row.record["failed"] for row in rows) == len(failed)


def test_demo(tmp_path: Path) -> None:
    simulate(tmp_path / "demo", conversations=480, seed=9)
    paths = (tmp_path / "demo").rglob("flow-transcripts-*.jsonl")
    lines = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    wanted = counts(
        ((call["flow"], call["agent_model"]), [Called(tool["name"], bool(tool.get("error"))) for tool in tools])
        for call in lines
        if not call.get("errored") and (tools := call.get("tool_calls"))
    )
    with fresh(tmp_path / "calls.db") as store:
        ingest([tmp_path / "demo"], Writer(store))
        assert shown(store, "flow", "agent") == wanted
        assert sum(count["errors"] for count in wanted.values()) > 50
        assert_rows_lead_to_their_calls(store)


def test_tau2(tmp_path: Path, shared_data: Path) -> None:
    paths = sorted((shared_data / "tau2").glob("*telecom*.json")) + sorted((shared_data / "tau2").glob("*retail*.json"))
    wanted = counts(((), list(_of_messages(run["messages"]))) for path in paths for run in _runs(path))
    with fresh(tmp_path / "calls.db") as store:
        ingest(paths, Writer(store))
        assert shown(store) == wanted
        assert_rows_lead_to_their_calls(store)


def _runs(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["simulations"]
    return found


def _of_messages(messages: list[dict[str, Any]]) -> Iterator[Called]:
    failed = {message["id"]: bool(message.get("error")) for message in messages if message["role"] == "tool"}
    for message in messages:
        for tool in message.get("tool_calls") or ():
            by_caller = "user:" if message["role"] == "user" else ""
            yield Called(f"{by_caller}{tool['name']}", failed[tool["id"]])
