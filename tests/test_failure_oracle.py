"""The failure matrix of the demo, of STAR and of random streams is what a second computation from the lines says."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from riff_ingest.pipeline import ingest
from riff_ingest.simulate import simulate
from riff_store.writer import Writer
from riff_tui.catalog import show
from riff_tui.request import Request
from tests.support import failure_oracle
from tests.support.facts import fresh
from tests.support.random_streams import random_call


def assert_same(tmp_path: Path, source: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Both views count what the oracle counts, and each row leads to exactly its calls."""
    calls = list(lines)
    wanted = failure_oracle.matrix(calls)
    with fresh(tmp_path / "calls.db") as store:
        ingest([source], Writer(store))
        cells = show(store, "failure-matrix", Request()).rows
        groups = show(store, "causes", Request()).rows
        keys = ("flow", "last_ok", "first_failed")
        assert {tuple(row.record[key] for key in keys): row.record["n"] for row in cells} == wanted
        kinds = Counter(place[2] for call in calls if (place := failure_oracle.first_failed(call)) is not None)
        by_kind: Counter[str] = Counter()
        for row in groups:
            by_kind[row.record["kind"]] += row.record["n"]
        assert by_kind == kinds
        for row in (*cells[:8], *groups[:8]):
            assert len(show(store, "conversations", Request(where=f"errored=no {row.where}")).rows) == row.record["n"]


def test_demo(tmp_path: Path) -> None:
    simulate(tmp_path / "demo", conversations=480, seed=9)
    paths = (tmp_path / "demo").rglob("flow-transcripts-*.jsonl")
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    assert_same(tmp_path, tmp_path / "demo", map(json.loads, lines))


def test_star(tmp_path: Path, shared_data: Path) -> None:
    path = shared_data / "star" / "flow-transcripts-star.jsonl.gz"
    with gzip.open(path) as lines:
        assert_same(tmp_path, path, map(json.loads, lines))


def test_random_streams(tmp_path: Path) -> None:
    chance = random.Random(4)
    # A call without a contract would be given that of an earlier line of its flow.
    calls = [random_call(number, chance) for number in range(1000)]
    calls = [call | {"contract": call["contract"] or {}} for call in calls]
    path = tmp_path / "flow-transcripts-random.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    assert_same(tmp_path, path, calls)
