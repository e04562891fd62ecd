"""Calls of one id are told apart wherever a row leads to a call."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, verdict
from tests.surface.explorer import descend, link, open_link
from tests.surface.store import Failure, Item, Store, told_by
from tests.surface.tui import Request, UsageError, show

NAMED = [
    ("viewing", "model-a", 0),
    ("viewing", "model-a", 1),
    ("viewing", "model-b", 0),
    ("dental", "model-a", 0),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Four calls of one id and one that is alone, all of them judged apart and failed in two runs."""
    items: list[Item] = []
    line = 0
    for run in ("night-1", "night-2"):
        for name, named in (("case-0", NAMED), ("alone", NAMED[:1])):
            for flow, agent, trial in named:
                who = {"run": run, "flow": flow, "agent": agent, "trial": trial}
                lost = Failure("greet", "collect", "stall")
                line += 1
                failed = {"correctness": 0.0, "completion": 0.0}
                items.append(call(name, **who, line=line, scenario=f"{flow} {name}", aspects=failed, failure=lost))
                for judge, score in (("codex", 1.0 + line / 10), ("gemini", 9.0)):
                    line += 1
                    items.append(verdict(name, score, judge=judge, line=line, **who))
    with fresh(tmp_path / "calls.db") as opened:
        put(opened, "/in/a.jsonl", items)
        yield opened


def test_a_call_is_named_by_as_little_as_it_takes(store: Store) -> None:
    rows = show(store, "conversations", Request(where="run=night-1")).rows
    assert {row.where for row in rows} == {
        "run=night-1 conversation=alone",
        "run=night-1 conversation=case-0 flow=dental",
        "run=night-1 conversation=case-0 flow=viewing agent=model-b",
        "run=night-1 conversation=case-0 flow=viewing agent=model-a trial=0",
        "run=night-1 conversation=case-0 flow=viewing agent=model-a trial=1",
    }


@pytest.mark.parametrize("view", ["conversations", "disputes", "failures"])
def test_every_row_leads_to_a_call_of_its_own(store: Store, view: str) -> None:
    sides = ("run:night-1", "run:night-2") if view == "failures" else None
    table = show(store, view, Request(sides=sides))
    wheres = [row.where for row in table.rows]
    assert len(wheres) == (5 if view == "failures" else 10)
    assert len({row.id for row in table.rows}) == len(set(wheres)) == len(wheres)
    for row in table.rows:
        assert len(show(store, "conversations", Request(where=row.where)).rows) == 1
        found = show(store, "conversation", Request(where=row.where)).extras["call"]
        assert found["flow"] == row.record["flow"]
        assert found["conversation"] == row.record.get("conversation", found["conversation"])


@pytest.mark.parametrize("view", ["failure-matrix", "causes"])
def test_the_example_of_a_group_is_one_call(store: Store, view: str) -> None:
    for row in show(store, view, Request()).rows:
        assert len(show(store, "conversations", Request(where=row.record["example"])).rows) == 1


def test_an_id_of_several_calls_is_answered_with_the_filters_that_decide(store: Store) -> None:
    with pytest.raises(UsageError) as told:
        show(store, "conversation", Request(where="run=night-1 conversation=case-0"))
    assert str(told.value).startswith("4 calls match this filter; name one of them, such as ")
    for wanted in ("flow=dental'", "agent=model-b'", "trial=0'", "trial=1'"):
        assert wanted in str(told.value)


def test_the_way_down_and_its_link_lead_to_the_same_call(store: Store) -> None:
    table = show(store, "conversations", Request(where="flow=viewing"))
    for row in table.rows:
        place = descend(open_link("conversations", "flow=viewing")[-1], table, row)
        assert place is not None
        assert open_link("conversation", place.where.text)[-1].where.text == place.where.text
        assert f"--where '{row.where}'" in link(place)


def test_calls_that_are_alone_with_their_id_cost_no_name(store: Store) -> None:
    keys = dict(store.execute_sql("SELECT id, name FROM conversation"))
    assert {keys[key] for key in told_by(store, sorted(keys))} == {"case-0"}
