"""The last edit of a flow before a run, wherever it is shown, against what plain Python takes from the same facts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import pytest

from tests.support.facts import call, fresh, grouped_by, put, verdict
from tests.support.random_stores import FLOWS, World, close, grouped, quality, selected, successes, world
from tests.surface.store import (
    Edits,
    FlowEdit,
    LastEdit,
    Store,
    Writer,
    edit_effects,
    flow_cells,
    open_store,
    score_pages,
    timeline,
)
from tests.surface.tui import parse

DAY = 86_400_000_000
BEGIN = 1_782_000_000_000_000


def history(seed: int) -> list[FlowEdit]:
    """Edits of some flows and of one without calls, around the times of the runs, some at one moment."""
    chance = random.Random(seed)
    return [
        FlowEdit(flow, f"{number:040x}", BEGIN + chance.randrange(-2, 4) * DAY // 2, "Ada", f"Change {number}", "p")
        for number in range(14)
        for flow in ((*FLOWS[:2], "uncalled")[chance.randrange(3)],)
    ]


def with_edits(made: World, path: Path, edits: Sequence[FlowEdit], repository: str = "root") -> Store:
    made.store(path).close()
    record(path, edits, repository)
    return open_store(path)


def record(path: Path, edits: Sequence[FlowEdit], repository: str = "root") -> None:
    by_flow = grouped_edits(edits)
    with open_store(path, write=True) as store:
        writer = Writer(store)
        with writer.batch():
            writer.put_edits(repository, by_flow)


def grouped_edits(edits: Sequence[FlowEdit]) -> dict[str, list[FlowEdit]]:
    found: dict[str, list[FlowEdit]] = {}
    for edit in edits:
        found.setdefault(edit.flow, []).append(edit)
    return found


def starts(made: World) -> dict[str, int | None]:
    return {
        run: min((facts.started_at for facts in calls if facts.started_at is not None), default=None)
        for run, calls in grouped(made.calls, lambda facts: facts.run_id).items()
    }


def last_by_hand(edits: Sequence[FlowEdit], flow: str, moment: int | None) -> str | None:
    """The commit that metrics.md, section 8 means: the latest that is not after the moment, of equals the last."""
    found: FlowEdit | None = None
    for edit in edits:
        if edit.flow == flow and moment is not None and edit.time <= moment and (not found or edit.time >= found.time):
            found = edit
    return found.commit if found else None


def commit(last: LastEdit | None) -> str | None:
    return last.edit.commit if last else None


@pytest.mark.parametrize("seed", range(6))
def test_each_score_has_the_last_edit_before_its_run(seed: int, tmp_path: Path) -> None:
    made, edits = world(seed, 60), history(seed)
    begun = starts(made)
    with with_edits(made, tmp_path / "w.db", edits) as store:
        found = [scored for page in score_pages(store) for scored in page.calls]
    assert found
    for scored in found:
        assert commit(scored.edit) == last_by_hand(edits, scored.flow, begun[scored.run])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("expression", ["", "flow=dental", "persona=hurried"])
def test_a_run_shows_the_latest_edit_of_its_flows(seed: int, expression: str, tmp_path: Path) -> None:
    made, edits, predicate = world(seed, 60), history(seed), parse(expression)
    begun = starts(made)
    flows = {
        run: {facts.flow for facts in calls}
        for run, calls in grouped(selected(made, predicate), lambda facts: facts.run_id).items()
    }
    with with_edits(made, tmp_path / "w.db", edits) as store:
        found = {run.run: run.edit for run in timeline(store, predicate).runs}
    times = {edit.commit: edit.time for edit in edits}
    for run, edit in found.items():
        wanted = [last for flow in flows[run] if (last := last_by_hand(edits, flow, begun[run]))]
        assert (edit.edit.time if edit else None) == max((times[each] for each in wanted), default=None)
        candidates: list[str | None] = [*wanted] or [None]
        assert commit(edit) in candidates


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("expression", "by"), [("", ()), ("", ("run",)), ("run:night-1", ()), ("persona=hurried", ())])
def test_a_cell_shows_the_last_edit_before_its_latest_run(
    seed: int, expression: str, by: tuple[str, ...], tmp_path: Path
) -> None:
    made, edits, predicate = world(seed, 60), history(seed), parse(expression)
    begun, keys = starts(made), ("flow", "agent", *by)
    with with_edits(made, tmp_path / "w.db", edits) as store:
        found = flow_cells(store, predicate, keys, edits=True)
        assert all(cell.last_edit is None for cell in flow_cells(store, predicate, keys))
    cells = grouped(selected(made, predicate), lambda facts: tuple(grouped_by(facts, key) for key in keys))
    assert {tuple(cell.keys.values()) for cell in found} == set(cells)
    for cell in found:
        moments = [moment for facts in cells[tuple(cell.keys.values())] if (moment := begun[facts.run_id]) is not None]
        flow = cell.keys["flow"] or ""
        assert commit(cell.last_edit) == last_by_hand(edits, flow, max(moments, default=None))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("expression", ["", "agent=gemini", "persona=hurried"])
def test_an_edit_stands_between_the_runs_around_it(seed: int, expression: str, tmp_path: Path) -> None:
    made, edits, predicate = world(seed, 60), history(seed), parse(expression)
    begun = starts(made)
    with with_edits(made, tmp_path / "w.db", edits) as store:
        found = edit_effects(store, predicate)
    assert sorted(effect.edit.commit for effect in found) == sorted(edit.commit for edit in edits)
    order = [(effect.edit.flow, -effect.edit.time) for effect in found]
    assert order == sorted(order)
    left = selected(made, predicate)
    for effect in found:
        own = grouped([facts for facts in left if facts.flow == effect.edit.flow], lambda facts: facts.run_id)
        timed = sorted((moment, run) for run in own if (moment := begun[run]) is not None)
        before = [run for moment, run in timed if moment < effect.edit.time]
        after = [run for moment, run in timed if moment >= effect.edit.time]
        assert effect.previous_run == (before[-1] if before else None)
        assert effect.next_run == (after[0] if after else None)
        with_it = [run for run in after if last_by_hand(edits, effect.edit.flow, begun[run]) == effect.edit.commit]
        assert effect.runs == len(with_it)
        agents = {name: {facts.agent_model for facts in own[name]} for name in own}
        both = agents[before[-1]] & agents[after[0]] if before and after else None
        for run, outcome in ((effect.previous_run, effect.before), (effect.next_run, effect.after)):
            calls = [facts for facts in own.get(run or "", ()) if both is None or facts.agent_model in both]
            if not calls:
                assert outcome is None
                continue
            assert outcome is not None
            assert outcome.n == sum(not facts.errored for facts in calls)
            assert close(outcome.quality.mean, mean(quality(made, calls)))
            assert close(outcome.success.mean, mean(successes(calls)))


def test_an_edit_has_a_verdict_only_where_success_changed_by_more_than_chance(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    failed = {"correctness": 0.0, "completion": 10.0}
    with fresh(path) as store:
        for flow, good in (("fell", (20, 8)), ("same", (15, 14))):
            for day, passing in enumerate(good):
                calls = [
                    call(f"{flow}-{day}-{number}", flow=flow, run=f"r-{day}", started_at=BEGIN + day * DAY,
                         **({} if number < passing else {"aspects": failed}))
                    for number in range(20)
                ]  # fmt: skip
                put(store, f"/in/{flow}-{day}.jsonl", calls)
    record(path, [FlowEdit(flow, flow, BEGIN + DAY // 2, "Ada", flow, "p") for flow in ("fell", "same")])
    with open_store(path) as store:
        found = {effect.edit.flow: effect.change for effect in edit_effects(store)}
    fell, same = found["fell"], found["same"]
    assert fell is not None
    assert same is not None
    assert (fell.verdict, fell.effect, fell.n_before, fell.n_after) == ("worse", -0.6, 20, 20)
    assert (same.verdict, same.p_adjusted) == ("noise", 1.0)
    assert fell.p_adjusted == pytest.approx(2 * fell.p)


def test_qualities_by_other_judges_are_not_alike(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call(f"c-{day}", run=f"r-{day}", started_at=BEGIN + day * DAY) for day in range(3)])
        put(store, "/in/h.jsonl", [verdict(f"c-{day}", 5.0, run=f"r-{day}", line=day) for day in (1, 2)])
    record(path, [FlowEdit("viewing", str(day), BEGIN + day * DAY - 1, "Ada", "s", "p") for day in (1, 2)])
    with open_store(path) as store:
        assert {effect.edit.commit: effect.judged_alike for effect in edit_effects(store)} == {"1": False, "2": True}


def mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def test_edits_between_the_same_runs_are_tied(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with fresh(path) as store:
        calls = [call(f"c-{day}", run=f"r-{day}", started_at=BEGIN + day * DAY) for day in (0, 4)]
        put(store, "/in/a.jsonl", calls)
    times = {"a": -1, "b": 1, "c": 2, "d": 4, "e": 5}
    record(path, [FlowEdit("viewing", name, BEGIN + day * DAY, "Ada", name, "p") for name, day in times.items()])
    with open_store(path) as store:
        found = {effect.edit.commit: effect for effect in edit_effects(store)}
    assert {name: (each.together, each.runs) for name, each in found.items()} == {
        "a": (1, 1), "b": (3, 0), "c": (3, 0), "d": (3, 1), "e": (1, 0),
    }  # fmt: skip
    assert [name for name, each in found.items() if each.next_run == "r-4"] == ["d", "c", "b"]


def test_of_edits_at_one_moment_the_later_in_the_history_holds_in_any_repository(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call(name, run=name, started_at=at) for name, at in
                                   (("now", BEGIN), ("just before", BEGIN - 1), ("some day", None))])  # fmt: skip
    record(path, [FlowEdit("f", name, BEGIN, "Ada", name, "p") for name in ("x", "y")], "one")
    record(path, [FlowEdit("f", "z", BEGIN, "Ada", "z", "p")], "two")
    with open_store(path) as store:
        edits = Edits(store)
    assert edits
    assert commit(edits.last("f", "now")) == "y"
    assert edits.last("f", "just before") is None
    assert edits.last("f", "some day") is None
    assert edits.last("f", "another") is None
    assert edits.last("other", "now") is None
    assert edits.last(None, "now") is None
    assert edits.last("f", None) is None


def test_a_store_without_edits_has_none_anywhere(tmp_path: Path) -> None:
    with world(1, 30).store(tmp_path / "w.db") as store:
        assert not Edits(store)
        assert edit_effects(store) == []
        assert all(run.edit is None for run in timeline(store).runs)
        assert all(cell.last_edit is None for cell in flow_cells(store, edits=True))
        assert all(found.edit is None for page in score_pages(store) for found in page.calls)
