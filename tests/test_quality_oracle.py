"""What is said of judges, time and change in the demo is what pandas and scipy make of the same lines.

Figures of single calls come from the oracle; everything that is made of them is computed here another way.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.support import oracle
from tests.support.oracle import Row
from tests.surface.ingest import ingest
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import Store, Writer, open_store
from tests.surface.tui import Request, run, show

COMPUTED = "(computed)"
PARTS = ["correctness", "completion", "errors", "latency_p95"]


class Demo:
    """The demo's calls and verdicts as tables, and the store that was made of them."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.path = folder / "all.db"
        self.store = store
        calls = list(_lines(folder, "flow-transcripts-*.jsonl"))
        self.calls = pd.DataFrame([_flat(call) for call in calls])
        good = self.calls[~self.calls.errored]
        self.good = good
        scores = pd.DataFrame(_lines(folder, "humanness-*.jsonl")).dropna(subset=["score"])
        keys = ["run_id", "conversation_id"]
        self.judged = good.merge(scores[[*keys, "judge", "score"]], on=keys)

    def rows(self, view: str, **asked: Any) -> list[Row]:
        return [dict(row.record) for row in show(self.store, view, Request(**asked)).rows]


def _lines(folder: Path, pattern: str) -> Iterator[Row]:
    for path in sorted(folder.rglob(pattern)):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _flat(call: Row) -> Row:
    names = ("run_id", "conversation_id", "flow", "agent_model", "persona", "scenario", "commit", "started_at")
    kept = {name: call.get(name) for name in names}
    return {**kept, "trial": call.get("trial", 0), "errored": bool(call.get("errored")), **oracle.aspects(call)}


def quality(parts: pd.Series[Any], humanness: float | None) -> float | None:
    judged = {} if humanness is None else {"one": humanness}
    return oracle.operability({**{name: parts[name] for name in PARTS}, "humanness": judged})


def means(demo: Demo, by: list[str]) -> dict[tuple[str, ...], float]:
    """The mean quality of each cell's calls without judges, and of each judge's own scores."""
    calls = demo.good.assign(quality=[quality(call, None) for _, call in demo.good.iterrows()])
    found = {(*_names(names), COMPUTED): mean for names, mean in calls.groupby(by).quality.mean().items()}
    return found | {tuple(names): mean for names, mean in demo.judged.groupby([*by, "judge"]).score.mean().items()}


def _names(found: Any) -> tuple[str, ...]:
    return found if isinstance(found, tuple) else (found,)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    folder = tmp_path_factory.mktemp("demo")
    simulate(folder, conversations=960, seed=5)
    with open_store(folder / "all.db", write=True, create=True) as store:
        ingest([folder], Writer(store))
        yield Demo(folder, store)


def test_the_timeline_is_of_each_runs_calls(demo: Demo) -> None:
    wanted = pd.Series(means(demo, ["run_id"]))
    rows = demo.rows("timeline")
    starts = demo.calls.groupby("run_id").started_at.min().sort_values()
    assert [row["run"] for row in rows] == list(starts.index)
    for row in rows:
        assert row["quality"] == pytest.approx(wanted[row["run"]].to_dict(), abs=1e-9)
        here = demo.good[demo.good.run_id == row["run"]]
        assert (row["n"], row["flows"]) == (len(here), here.flow.nunique())
        served = (here.correctness == 10) & (here.completion == 10)
        assert row["success_rate"] == pytest.approx(served.mean(), abs=1e-9)


def test_the_flow_table_has_the_mean_of_each_cell(demo: Demo) -> None:
    found = {
        (row["flow"], cell["agent"], cell["judge"]): cell["quality"]
        for row in demo.rows("flow-table")
        for cell in row["cells"]
        if cell["quality"] is not None
    }
    assert found == pytest.approx(means(demo, ["flow", "agent_model"]), abs=1e-9)


def test_effects_are_those_of_least_squares_and_judges_are_compared_on_common_calls(demo: Demo) -> None:
    alone = demo.good.assign(judge=COMPUTED, y=[quality(call, None) for _, call in demo.good.iterrows()])
    judged = demo.judged.assign(y=[quality(call, call.score) for _, call in demo.judged.iterrows()])
    data = pd.concat([alone, judged]).rename(columns={"agent_model": "agent"})
    by_call = data.groupby(["run_id", "conversation_id"]).judge.transform("nunique")
    common = data[by_call == data.judge.nunique()]
    rows = demo.rows("effects")
    factors = ["judge", "agent", "flow", "persona"]
    for factor in factors:
        used = common if factor == "judge" else data
        total = _squares_left(used, [])
        found = {row["level"]: row for row in rows if row["factor"] == factor}
        for level, estimate in _effects(used, factor, factors).items():
            assert found[level]["effect"] == pytest.approx(estimate, abs=1e-8)
            assert found[level]["low"] < estimate < found[level]["high"]
        others = [name for name in factors if name != factor]
        share = (_squares_left(used, others) - _squares_left(used, factors)) / total
        assert found[None]["share"] == pytest.approx(share, abs=1e-8)
        assert found[None]["alone"] == pytest.approx(1 - _squares_left(used, [factor]) / total, abs=1e-8)


def _design(data: pd.DataFrame, names: list[str]) -> np.ndarray[Any, Any]:
    """A column of ones, and sum-to-zero contrasts of each factor."""
    columns = [np.ones(len(data))]
    for name in names:
        *levels, least = sorted(data[name].unique())
        columns += [(data[name] == level).to_numpy(float) - (data[name] == least) for level in levels]
    return np.column_stack(columns)


def _fitted(data: pd.DataFrame, names: list[str]) -> tuple[np.ndarray[Any, Any], float]:
    x, y = _design(data, names), data.y.to_numpy(float)
    found = np.linalg.lstsq(x, y, rcond=None)[0]
    return found, float(((y - x @ found) ** 2).sum())


def _squares_left(data: pd.DataFrame, names: list[str]) -> float:
    return _fitted(data, names)[1]


def _effects(data: pd.DataFrame, factor: str, factors: list[str]) -> dict[str, float]:
    levels = sorted(data[factor].unique())
    # Its own contrasts come first after the ones, whatever the order of the others.
    own = _fitted(data, [factor, *(name for name in factors if name != factor)])[0][1 : len(levels)]
    return dict(zip(levels, [*own, -sum(own)], strict=True))


def test_a_comparison_has_the_p_values_of_scipy(demo: Demo) -> None:
    runs = list(demo.calls.groupby("run_id").started_at.min().sort_values().index)
    first, last = runs[0], runs[-1]
    keys = ["flow", "scenario", "persona", "trial", "agent_model"]
    sides = [demo.good[demo.good.run_id == name] for name in (first, last)]
    pairs = sides[0].merge(sides[1], on=keys, suffixes=("_a", "_b"), validate="one_to_one")
    rows = demo.rows("compare", sides=(first, last))
    assert {row["flow"] for row in rows} == set(pairs.flow)
    checked = 0
    for row in rows:
        own = pairs[pairs.flow == row["flow"]]
        aspect = "correctness" if row["aspect"] == "success_rate" else row["aspect"]
        if aspect not in oracle.ASPECTS:
            continue
        a, b = own[f"{aspect}_a"], own[f"{aspect}_b"]
        if row["aspect"] == "success_rate":
            a, b = (a == 10).astype(float), (b == 10).astype(float)
        assert (row["a"], row["b"]) == pytest.approx((a.mean(), b.mean()), abs=1e-9)
        assert row["n_a"] == row["n_b"] == row["pairs"] == len(own)
        difference = b - a
        up, down = int((difference > 1e-9).sum()), int((difference < -1e-9).sum())
        if row["aspect"] in ("success_rate", "completion"):
            p = stats.binomtest(up, up + down).pvalue if up + down else 1.0
            assert row["p"] == pytest.approx(p, abs=1e-9), row["aspect"]
        else:
            assert row["p"] == pytest.approx(_p_of_means(difference.to_numpy()), abs=0.02), row["aspect"]
            assert (row["up"], row["down"]) == (up, down)
            assert row["p"] > 0.05 or row["low"] > 0 or row["high"] < 0
        checked += 1
    assert checked >= 6 * len(set(pairs.flow)) - 6
    tested = [row for row in rows if row["p"] is not None]
    adjusted = stats.false_discovery_control([row["p"] for row in tested])
    assert [row["p_adjusted"] for row in tested] == pytest.approx(list(adjusted), abs=1e-9)


def _p_of_means(difference: np.ndarray[Any, Any]) -> float:
    """The larger of the share of flips of signs whose mean is as far from 0, of many, and Student's p."""
    if not np.abs(difference).max() > 1e-9:
        return 1.0
    flips = stats.permutation_test((difference,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1)
    return max(float(flips.pvalue), float(stats.ttest_1samp(difference, 0).pvalue))


def test_the_export_joins_to_every_mean_of_the_flow_matrix(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "--store", str(demo.path)]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out), quoting=csv.QUOTE_MINIMAL)
    assert not table.duplicated(["run", "conversation", "aspect", "judge"]).any()
    means = table[~table.errored].groupby(["flow", "agent", "aspect", "judge"]).value.mean()
    for row in demo.rows("flows"):
        here = means[row["flow"], row["agent"]]
        for aspect in oracle.ASPECTS:
            assert row[aspect] == pytest.approx(here.get((aspect, COMPUTED)), abs=1e-9)
        for judge, score in row["humanness"].items():
            assert score == pytest.approx(here["humanness", judge], abs=1e-9)


def test_the_gate_on_the_demo_fails_what_scipy_finds_fallen(demo: Demo, capsys: pytest.CaptureFixture[str]) -> None:
    runs = list(demo.calls.groupby("run_id").started_at.min().sort_values().index)
    asked = ["gate", "--baseline", runs[0], "--candidate", runs[-1], "--store", str(demo.path), "--format", "json"]
    code = run(asked)
    found = json.loads(capsys.readouterr().out)
    compared = {(row["flow"], row["aspect"]): row for row in demo.rows("compare", sides=(runs[0], runs[-1]))}
    decided = [row for row in found["rows"] if row["standing"] != "too few" and row["check"] == "aspect"]
    assert decided
    adjusted = stats.false_discovery_control([row["p"] for row in decided])
    for row, p in zip(decided, adjusted, strict=True):
        assert row["p"] == pytest.approx(compared[row["flow"], row["aspect"]]["p"])
        assert row["p_adjusted"] == pytest.approx(p, abs=1e-9)
        assert row["change"] == pytest.approx(row["candidate"] - row["baseline"], abs=1e-9)
    failing = {row["flow"] for row in found["rows"] if row["standing"] == "failed"}
    assert set(found["failing"]) == failing
    assert code == (3 if failing else 0)
