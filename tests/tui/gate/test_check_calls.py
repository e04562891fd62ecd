"""The command of a check opens exactly the calls that it was computed from, whatever was compared."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.facts import call, fresh, put, verdict
from tests.support.hostile import HOSTILE
from tests.surface.store import ConversationFacts, Interaction, Item, Store, Term, encodable
from tests.surface.tui import (
    Check,
    Decision,
    Request,
    Row,
    configured,
    decision_with_commands,
    one_line,
    parse,
    show,
    ui_command,
)
from tests.surface.tui import where as where_of

GOOD = {"correctness": 10.0, "completion": 10.0, "errors": 10.0, "latency_p95": 0.5}
BAD = {"correctness": 0.0, "completion": 0.0, "errors": 5.0, "latency_p95": 4.0}
N = 30


def calls(run: str, name: str, aspects: dict[str, float], n: int = N, **given: Any) -> list[ConversationFacts]:
    """Calls of tasks 0 to n; those whose name begins with `in` are the ones that a check has to rest on."""
    return [
        call(f"{name}-{number}", run=run, aspects=aspects, **{"scenario": f"task {number}", **given})
        for number in range(n)
    ]


def store_of(path: Path, *items: Iterable[Item]) -> Store:
    store = fresh(path / "store.db")
    put(store, "calls.jsonl", [item for each in items for item in each])
    return store


def decided(store: Store, where: str = "", *drops: str, sides: tuple[str, str] = ("a", "b")) -> Decision:
    return decision_with_commands(store, *sides, parse(where), configured(drops, environ={}))


def opened(store: Store, check: Check) -> Sequence[Row]:
    """The rows that the command of a check shows."""
    program, command, view, *options = shlex.split(check.command)
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert (program, command, set(given)) == ("riff-tui", "ui", {"--where", "--sort"})
    return list(show(store, view, Request(where=given["--where"], sort=given["--sort"])).rows)


def assert_each_opens_its_calls(store: Store, found: Decision) -> None:
    told = [*found.of("failed"), *found.recovered]
    assert told
    for check in told:
        rows = opened(store, check)
        names = [str(row.record["conversation"]) for row in rows]
        assert all(name.startswith("in") for name in names), check.command
        assert len(rows) == check.n_candidate, check.command
        assert {row.record["flow"] for row in rows} == {check.flow}
        assert not any(row.record["errored"] for row in rows)


def test_calls_without_a_task_are_all_there_but_the_errored_ones(tmp_path: Path) -> None:
    with store_of(
        tmp_path,
        calls("a", "before", GOOD, scenario=None),
        calls("b", "in", BAD, scenario=None),
        calls("b", "errored", BAD, 3, scenario=None, errored=True),
        calls("b", "other", GOOD, scenario=None, flow="weather"),
        calls("a", "other", GOOD, scenario=None, flow="weather"),
    ) as store:
        found = decided(store, "", "latency_p95=0.5", "quality=1")
        assert {check.aspect for check in found.of("failed")} == {
            "success_rate", "completion", "errors", "latency_p95", "quality",
        }  # fmt: skip
        assert_each_opens_its_calls(store, found)


@pytest.mark.parametrize(
    ("added", "told_by"),
    [
        ({"trial": 2}, "trial=0"),
        ({"agent": "model-b"}, "agent=model-a"),
        ({"scenario": "new"}, "!scenario=new"),
    ],
)
def test_calls_of_tasks_that_the_baseline_lacks_are_left_out_by_what_tells_them(
    tmp_path: Path, added: dict[str, Any], told_by: str
) -> None:
    with store_of(
        tmp_path, calls("a", "before", GOOD), calls("b", "in", BAD), calls("b", "added", GOOD, 9, **added)
    ) as store:
        found = decided(store)
        assert_each_opens_its_calls(store, found)
        for check in found.of("failed"):
            assert check.pairs == N
            assert told_by in check.command


def test_calls_whose_partner_errored_are_left_out_by_their_names(tmp_path: Path) -> None:
    trials = [(number, trial) for number in range(N // 2) for trial in (1, 2)]
    lost = {(3, 1), (4, 2)}
    before = [
        call(f"a-{number}-{trial}", run="a", scenario=f"{number}", trial=trial, aspects=GOOD, errored=task in lost)
        for task in trials
        for number, trial in [task]
    ]
    after = [
        call(f"{'alone' if task in lost else 'in'}-{number}-{trial}", run="b", scenario=f"{number}", trial=trial,
             aspects=BAD)
        for task in trials
        for number, trial in [task]
    ]  # fmt: skip
    with store_of(tmp_path, before, after) as store:
        found = decided(store)
        assert_each_opens_its_calls(store, found)
        assert "!(conversation=alone-3-1 | conversation=alone-4-2)" in found.of("failed")[0].command


def test_ids_that_come_back_are_told_apart(tmp_path: Path) -> None:
    """Two trials of a task have the same id; of one of them the partner was not measured."""
    before = [
        call(f"in-{number}", run="a", scenario=f"task {number}", trial=trial, aspects=GOOD)
        for number in range(N)
        for trial in (1, 2)
        if (number, trial) != (7, 2)
    ]
    after = [
        call(f"in-{number}", run="b", scenario=f"task {number}", trial=trial, aspects=BAD)
        for number in range(N)
        for trial in (1, 2)
    ]
    with store_of(tmp_path, before, after) as store:
        found = decided(store)
        assert_each_opens_its_calls(store, found)
        shown = {(row.record["conversation"], row.record["trial"]) for row in opened(store, found.of("failed")[0])}
        assert ("in-7", 2) not in shown
        assert ("in-7", 1) in shown


def test_a_filter_of_the_gate_is_one_of_the_command(tmp_path: Path) -> None:
    rude = [call(f"rude-{number}", run="b", persona="rude", aspects=BAD) for number in range(N)]
    with store_of(
        tmp_path, calls("a", "before", GOOD, persona="calm"), calls("b", "in", BAD, persona="calm"), rude
    ) as store:
        for where in (
            "persona=calm",
            "calm",
            "!rude state=greet (persona:calm | nothing)",
            "flow=viewing persona=calm",
        ):
            assert_each_opens_its_calls(store, decided(store, where))


def test_a_check_of_a_judge_opens_what_this_judge_scored_the_worst_first(tmp_path: Path) -> None:
    scored = [
        verdict(f"{name}-{number}", score - number / 100, run=run, judge=judge)
        for run, name, score in (("a", "before", 9.0), ("b", "in", 3.0))
        for judge in ("codex", "gemini 2")
        for number in range(N if judge == "codex" else N // 2)
    ]
    with store_of(tmp_path, calls("a", "before", GOOD), calls("b", "in", GOOD), scored) as store:
        found = decided(store, "", "humanness=0.5")
        assert {check.judge: check.n_candidate for check in found.of("failed")} == {"codex": N, "gemini 2": N // 2}
        assert_each_opens_its_calls(store, found)
        for check in found.of("failed"):
            names = [row.record["conversation"] for row in opened(store, check)]
            assert names == [f"in-{number}" for number in range(check.n_candidate)][::-1]


@pytest.mark.parametrize("added", [{"trial": 2}, {"scenario": None}])
def test_a_check_of_a_figure_over_events_opens_the_calls_that_had_any(tmp_path: Path, added: dict[str, Any]) -> None:
    quick = Interaction(calls=1, response=3, response_latency=3.0, yielded=2, yield_latency=1.0)
    deaf = Interaction(calls=1, response=3, response_latency=3.0, no_yield=2)
    silent = Interaction(calls=1, response=3, response_latency=3.0)
    with store_of(
        tmp_path,
        calls("a", "before", GOOD, interaction=quick),
        calls("b", "in", GOOD, interaction=deaf),
        calls("b", "added", GOOD, 1, interaction=deaf, **added),
        [call("silent", run="b", scenario="silent", aspects=GOOD, interaction=silent)],
        [call("before-silent", run="a", scenario="silent", aspects=GOOD, interaction=silent)],
    ) as store:
        found = decided(store, "", "yield_rate=10%")
        assert [check.aspect for check in found.of("failed")] == ["yield_rate"]
        assert_each_opens_its_calls(store, found)


@pytest.mark.parametrize("drop", ["latency_p95=0.5", "completion=0", "quality=0", "errors=0", "success_rate=0"])
def test_the_worst_calls_stand_first(tmp_path: Path, drop: str) -> None:
    good, bad = calls("b", "in-good", GOOD, 9), calls("b", "in-bad", BAD, N, scenario=None)
    with store_of(tmp_path, calls("a", "before", GOOD, scenario=None), good, bad) as store:
        found = decided(store, "", drop)
        check = next(each for each in found.of("failed") if each.aspect == drop.partition("=")[0])
        names = [str(row.record["conversation"]) for row in opened(store, check)]
        assert [name[:6] for name in names] == ["in-bad"] * N + ["in-goo"] * 9


def test_agents_are_compared_and_named_likewise(tmp_path: Path) -> None:
    with store_of(
        tmp_path, calls("night", "before", GOOD, agent="old"), calls("night", "in", BAD, agent="new"),
        calls("night", "third", BAD, agent="third"),
    ) as store:  # fmt: skip
        found = decided(store, sides=("agent:old", "agent:new"))
        assert_each_opens_its_calls(store, found)
        assert {check.agent for check in found.of("failed")} == {"new"}
        assert {check.since for check in found.of("failed")} == {None}


def test_the_agent_is_named_where_one_alone_led_the_calls(tmp_path: Path) -> None:
    both = [*calls("b", "in-x", BAD, flow="mixed"), *calls("b", "in-y", BAD, flow="mixed", agent="model-b", trial=2)]
    with store_of(
        tmp_path, calls("a", "before", GOOD), calls("b", "in", BAD), both,
        calls("a", "x", GOOD, flow="mixed"), calls("a", "y", GOOD, flow="mixed", agent="model-b", trial=2),
    ) as store:  # fmt: skip
        found = decided(store)
        assert {check.flow: check.agent for check in found.of("failed")} == {"viewing": "model-a", "mixed": None}


def test_what_recovered_is_told_by_the_same_test_the_other_way_round(tmp_path: Path) -> None:
    with store_of(tmp_path, calls("a", "in", BAD), calls("b", "in", GOOD)) as store:
        found = decided(store)
        assert found.passed
        assert {check.aspect for check in found.recovered} == {"success_rate", "completion", "errors"}
        assert_each_opens_its_calls(store, found)
        back = decided(store, sides=("b", "a"))
        assert {check.name: check.p_adjusted for check in back.of("failed")} == {
            check.name: check.p_adjusted for check in found.recovered
        }
        assert not back.recovered


def test_no_name_leads_anywhere_else(tmp_path: Path) -> None:
    names = [encodable(name) for name in HOSTILE.values() if name.strip()]
    flows = [f"{name}'; touch x; `touch x` $(touch x) ''" for name in names]
    before = [calls("a", f"before-{flow}", GOOD, 12, flow=flow) for flow in flows]
    after = [calls(names[0], f"in-{flow}", BAD, 12, flow=flow) for flow in flows]
    with store_of(tmp_path, *before, *after) as store:
        found = decided(store, sides=("a", f"run:{names[0]}"))
        assert set(found.failing) == set(flows)
        # What is checked of a flow changes nothing of how it is named.
        of_each_flow = tuple(check for check in found.of("failed") if check.aspect == "completion")
        assert [check.flow for check in of_each_flow] == found.failing
        assert_each_opens_its_calls(store, found._replace(checks=of_each_flow))
        for check in found.of("failed"):
            assert check.command == one_line(check.command)
            assert "`" not in check.command
            assert "<" not in check.command


@given(st.lists(st.text(min_size=1), min_size=2, max_size=2), st.text(), st.text())
def test_a_command_is_the_same_words_to_every_shell(names: list[str], sort: str, at: str) -> None:
    flow, run = (name.encode("utf-8", "replace").decode().replace("\0", "") or "x" for name in names)
    where = where_of({"run": run, "flow": flow})
    store = f"{run}'\"$(exit)".replace("\0", "")
    command = ui_command("conversation", Request(where=where, sort=sort), at=at, store=store)
    words = shlex.split(command)
    wanted = ["riff-tui", "ui", "conversation", "--where", where, *(["--sort", sort] if sort else [])]
    assert words == [*wanted, *(["--at", at] if at else []), "--store", store]


@pytest.mark.parametrize(
    "name", [*(name for name in HOSTILE.values() if name.strip()), "'", "'; exit 3; '", "!!", "$(id)"]
)
def test_a_shell_takes_a_name_for_a_word(name: str) -> None:
    name = name.encode("utf-8", "replace").decode().replace("\0", "")
    where = where_of({"flow": name})
    command = ui_command("conversations", Request(where=where), store=f"{name}.db")
    arguments = command.removeprefix("riff-tui ")
    done = subprocess.run(["sh", "-c", f"printf '%s\\0' {arguments}"], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == ["ui", "conversations", "--where", where, "--store", f"{name}.db"]
    assert parse(where) == Term("flow", "=", name)
