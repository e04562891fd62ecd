"""What is blamed in the demo, in STAR and in random streams is what a second computation says, and it adds up."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support import failure_oracle
from tests.support.facts import fresh
from tests.support.failure_oracle import Place
from tests.support.random_streams import STATES, demanding_call, random_call
from tests.surface.ingest import ingest
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import Annotation, Store, Writer, add_notes, conversations
from tests.surface.tui import Request, parse, show

SEVERAL = "(several)"
CODES = (None, None, "wrong day", "=cmd|' /C calc'!A0", "\x1b[31mred\x1b[0m", 'a\nb "c" =·', "·")


def assert_same(
    tmp_path: Path, source: Path, lines: Iterable[dict[str, Any]], notes: Sequence[Annotation] = ()
) -> None:
    """Both views count what the oracle counts, and each row leads to exactly its calls."""
    calls = list(lines)
    of_call: dict[str, list[Annotation]] = {}
    for note in notes:
        of_call.setdefault(note.conversation, []).append(note)
    places = [failure_oracle.marked(call, of_call.get(call["conversation_id"], ())) for call in calls]
    with fresh(tmp_path / "calls.db") as store:
        ingest([source], Writer(store))
        add_notes(store, notes)
        cells = show(store, "failure-matrix", Request()).rows
        groups = show(store, "causes", Request()).rows
        keys = ("flow", "last_ok", "first_failed")
        found = {tuple(row.record[key] for key in keys): row.record["n"] for row in cells}
        assert found == failure_oracle.matrix(zip(calls, places, strict=True))
        assert_grouped([row.record for row in groups], calls, places)
        for row in (*cells[:8], *groups[: 30 if notes else 8]):
            listed = conversations(store, parse(f"failed=1 ({row.where})"))
            assert len(listed) == row.record["n"]
            if row.record["first_failed"] != SEVERAL:
                assert {call.first_failed for call in listed} == {row.record["first_failed"]}
        assert_conserved(store, calls, places)


def assert_grouped(
    groups: Sequence[Mapping[str, Any]], calls: Sequence[dict[str, Any]], places: Sequence[Place | None]
) -> None:
    """Each group holds the calls that share what the oracle says; those of one call each may be put together."""
    wanted = Counter(
        (call["flow"], *place.group) for call, place in zip(calls, places, strict=True) if place is not None
    )
    several, found = Counter[str](), Counter[tuple[Any, ...]]()
    for group in groups:
        if group["first_failed"] == SEVERAL:
            several[group["flow"]] += group["n"]
            continue
        (of_class,) = {failure_oracle.CLASSES.get(kind, kind) for kind in group["kinds"]}
        found[group["flow"], group["first_failed"], of_class, group["detail"]] += group["n"]
    left = wanted - found
    # Groups of one place that errors divide are single ones of a larger group here.
    assert found - wanted == Counter()
    assert Counter({flow: sum(n for key, n in left.items() if key[0] == flow) for flow in several}) == several
    assert left.total() == several.total()


def assert_conserved(store: Store, calls: Sequence[dict[str, Any]], places: Sequence[Place | None]) -> None:
    """Every call is a success, failed, unknown or errored, and every failed one is blamed on one state or on none."""
    ends: dict[str, Counter[str]] = {}
    for call in calls:
        is_success = failure_oracle.success(call)
        known = "unknown" if is_success is None else "success" if is_success else "failed"
        ends.setdefault(call["flow"], Counter())["errored" if failure_oracle.is_excluded(call) else known] += 1
    blamed = Counter(call["flow"] for call, place in zip(calls, places, strict=True) if place and place.kind != "none")
    for row in show(store, "flows", Request(by=("flow",))).rows:
        flow, failed = row.record["flow"], row.record["failed"] or 0
        assert failed == ends[flow]["failed"]
        assert row.record["n"] == sum(ends[flow].values()) - ends[flow]["errored"]
        assert row.record["excluded"] == ends[flow]["errored"]
        for expression, end in (("failed=1", "failed"), ("failed=0", "success"), ("failed=· errored=no", "unknown")):
            assert len(conversations(store, parse(f"flow={flow} {expression}"))) == ends[flow][end]
        for view, by in (("states", ()), ("segments", ()), ("states", ("agent",)), ("states", ("run",))):
            rows = show(store, view, Request(where=f"flow={flow}", by=by)).rows
            assert sum(each.record["failed"] or 0 for each in rows) == blamed[flow], (view, by)
        listed = show(store, "worklist", Request(where=f"flow={flow}", limit=1000)).rows
        of_states = [each.record["failed"] for each in listed if each.record["list"] == "states"]
        assert sum(of_states) == failed
        assert sum(each.record["failed"] for each in listed if each.record["list"] == "flows") == failed
    assert not conversations(store, parse("lost=1 success=1"))
    assert not conversations(store, parse("lost=1 errored=yes"))


def random_notes(calls: Iterable[dict[str, Any]], chance: random.Random) -> Iterator[Annotation]:
    """What several people wrote on some calls, served ones and states that a call never came to among them."""
    for call in calls:
        for author in ("ann", "bo", "cy")[: chance.choice((0, 0, 1, 3))]:
            yield Annotation(
                id=f"{chance.random()}",
                conversation=call["conversation_id"],
                author=author,
                turn=chance.choice((None, 1, 2, 3)),
                state=chance.choice((None, *STATES, "nowhere")),
                verdict=chance.choice((None, "pass", "fail")),
                code=chance.choice(CODES),
                at=chance.choice((None, 1, 2)),
                deleted=chance.random() < 0.05,
            )


def test_demo(tmp_path: Path) -> None:
    simulate(tmp_path / "demo", conversations=480, seed=9)
    paths = (tmp_path / "demo").rglob("flow-transcripts-*.jsonl")
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    assert_same(tmp_path, tmp_path / "demo", map(json.loads, lines))


def test_star(tmp_path: Path, shared_data: Path) -> None:
    path = shared_data / "star" / "flow-transcripts-star.jsonl.gz"
    with gzip.open(path) as lines:
        assert_same(tmp_path, path, map(json.loads, lines))


@pytest.mark.parametrize("make", [random_call, demanding_call])
@pytest.mark.parametrize("seed", [4, 5])
def test_random_streams(tmp_path: Path, make: Callable[[int, random.Random], dict[str, Any]], seed: int) -> None:
    chance = random.Random(seed)
    # A call without a contract would be given that of an earlier line of its flow.
    calls = [make(number, chance) for number in range(500)]
    calls = [call | {"contract": call["contract"] or {}} for call in calls]
    path = tmp_path / "flow-transcripts-random.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    assert_same(tmp_path, path, calls)
    (tmp_path / "calls.db").unlink()
    assert_same(tmp_path, path, calls, list(random_notes(calls, chance)))
