"""Which edits a run contains, against what plain Python takes from the same random histories."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import Commit, Edits, FlowEdit, Writer, edit_effects, open_store, score_pages, timeline

DAY = 86_400_000_000
BEGIN = 1_782_000_000_000_000
FLOWS = ("dental", "viewing")


@dataclass(frozen=True)
class Past:
    """A history with branches, edits of flows whose times say nothing about it, and runs of some of its commits."""

    commits: Sequence[Commit]
    edits: Sequence[FlowEdit]
    runs: Mapping[str, tuple[str | None, int | None]]

    def contains(self, run: str, edit: FlowEdit) -> bool:
        commit, started = self.runs[run]
        if self.knows(run):
            return edit.commit in self.ancestors(commit or "")
        return edit.merged and started is not None and edit.time <= started

    def knows(self, run: str) -> bool:
        return any(commit.id == self.runs[run][0] for commit in self.commits)

    def ancestors(self, tip: str) -> set[str]:
        found = {tip}
        for commit in reversed(self.commits):
            if commit.id in found:
                found.update(commit.parents)
        return found

    def last(self, run: str, *flows: str) -> FlowEdit | None:
        own = [edit for edit in self.edits if edit.flow in flows and self.contains(run, edit)]
        if self.knows(run):
            own = [edit for edit in own if not any(
                other.commit != edit.commit and edit.commit in self.ancestors(other.commit) for other in own
            )]  # fmt: skip
        place = {commit.id: number for number, commit in enumerate(self.commits)}
        return max(own, key=lambda edit: (edit.time, place[edit.commit]), default=None)


def past(seed: int) -> Past:
    chance = random.Random(seed)
    ids = [f"{chance.getrandbits(160):040x}" for _ in range(30)]
    commits = [
        Commit(ids[place], tuple(chance.sample(ids[max(0, place - 5) : place], min(place, chance.choice((1, 1, 2))))))
        for place in range(len(ids))
    ]
    made = Past(commits, [], {})
    head = made.ancestors(ids[-1])
    times = {commit: BEGIN + chance.randrange(12) * DAY // 2 for commit in ids}
    edits = [
        FlowEdit(flow, commit, times[commit], "Ada", commit, "p", commit in head)
        for commit in ids
        for flow in FLOWS
        if chance.random() < 0.25
    ]
    named = [None, "0123456", *chance.sample(ids, 8)]
    started = [chance.choice([None, *(BEGIN + each * DAY // 2 for each in range(12))]) for _ in named]
    return Past(commits, edits, {f"r-{n}": each for n, each in enumerate(zip(named, started, strict=True))})


def stored(made: Past, path: Path) -> Path:
    calls = [
        call(f"{run}-{flow}", run=run, flow=flow, commit=commit, started_at=started)
        for run, (commit, started) in made.runs.items()
        for flow in FLOWS
    ]
    with fresh(path) as store:
        put(store, "/in/a.jsonl", calls)
        writer = Writer(store)
        with writer.batch():
            edits = {flow: [edit for edit in made.edits if edit.flow == flow] for flow in FLOWS}
            writer.put_edits("root", {flow: found for flow, found in edits.items() if found}, made.commits)
    return path


@pytest.mark.parametrize("seed", range(12))
def test_a_score_names_the_last_edit_that_its_run_contains_and_what_tells_it(seed: int, tmp_path: Path) -> None:
    made = past(seed)
    with open_store(stored(made, tmp_path / "w.db")) as store:
        found_calls = [found for page in score_pages(store) for found in page.calls]
    assert {(found.run, found.flow) for found in found_calls} == {(run, flow) for run in made.runs for flow in FLOWS}
    for each in found_calls:
        last = made.last(each.run, each.flow)
        basis = "commit" if made.knows(each.run) else "time"
        found = None if each.edit is None else (each.edit.edit.commit, each.edit.basis)
        assert found == (None if last is None else (last.commit, basis))


@pytest.mark.parametrize("seed", range(12))
def test_a_run_shows_the_edit_of_its_flows_that_came_last_in_history(seed: int, tmp_path: Path) -> None:
    made = past(seed)
    with open_store(stored(made, tmp_path / "w.db")) as store:
        shown = {run.run: run.edit for run in timeline(store).runs}
    assert shown.keys() == made.runs.keys()
    for run, edit in shown.items():
        each = [found for flow in FLOWS if (found := made.last(run, flow))]
        latest = max(each, key=lambda found: found.time, default=None)
        last = made.last(run, *FLOWS) if made.knows(run) else latest
        assert (edit and edit.edit.commit) == (last and last.commit)


@pytest.mark.parametrize("seed", range(12))
def test_an_edit_stands_between_runs_of_one_line_of_work(seed: int, tmp_path: Path) -> None:
    made = past(seed)
    with open_store(stored(made, tmp_path / "w.db")) as store:
        found = {(effect.edit.flow, effect.edit.commit): effect for effect in edit_effects(store)}
    starts = {run: started for run, (_, started) in made.runs.items() if started is not None}
    runs = sorted(starts, key=lambda run: (starts[run], run))
    seen = set()
    for edit in made.edits:
        others = [other for other in made.edits if other.flow == edit.flow]
        after = [place for place, run in enumerate(runs) if made.contains(run, edit)]
        if not after and not edit.merged:
            continue
        seen.add((edit.flow, edit.commit))
        following = runs[after[0]] if after else None
        before = [
            run
            for run in runs[: after[0] if after else None]
            if following is None
            or all(made.contains(following, other) for other in others if made.contains(run, other))
        ]
        effect = found[edit.flow, edit.commit]
        around = [run for run in (effect.previous_run, effect.next_run) if run is not None]
        assert (effect.previous_run, effect.next_run) == (before[-1] if before else None, following)
        assert effect.runs == sum(made.last(run, edit.flow) == edit for run in runs)
        assert effect.basis == (("commit" if all(map(made.knows, around)) else "time") if around else None)
    assert found.keys() == seen


def test_a_flow_of_two_repositories_goes_by_the_one_that_knows_the_run(tmp_path: Path) -> None:
    here, there = "aa" * 20, "bb" * 20
    with fresh(tmp_path / "w.db") as store:
        put(store, "/in/a.jsonl", [
            call(name, run=name, flow="dental", commit=commit, started_at=BEGIN + 9 * DAY, line=line)
            for line, (name, commit) in enumerate((("here", here), ("there", there), ("nowhere", None)), 1)
        ])  # fmt: skip
        writer = Writer(store)
        for commit, day in ((here, 1), (there, 2)):
            with writer.batch():
                edit = FlowEdit("dental", commit, BEGIN + day * DAY, "Ada", "x", "p")
                writer.put_edits(commit, {"dental": [edit]}, [Commit(commit, ())])
        edits = Edits(store)
        last = {run: edits.last("dental", run) for run in ("here", "there", "nowhere")}
    assert {run: (each.edit.commit, each.basis) for run, each in last.items() if each} == {
        "here": (here, "commit"), "there": (there, "commit"), "nowhere": (there, "time"),
    }  # fmt: skip
