"""The failure matrix of the demo, of STAR and of random streams is what a second computation from the lines says."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support import failure_oracle
from tests.support.facts import fresh
from tests.support.failure_oracle import SEVERAL
from tests.support.random_streams import STATES, random_call
from tests.surface.ingest import ingest
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import Annotation, Writer, add_notes, conversations
from tests.surface.tui import Request, parse, show

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
        wanted = Counter(
            (call["flow"], *place.group) for call, place in zip(calls, places, strict=True) if place is not None
        )
        assert sum(row.record["n"] for row in groups) == wanted.total()
        of_class = Counter[tuple[Any, ...]]()
        for record in (row.record for row in groups if row.record["first_failed"] != SEVERAL):
            place = failure_oracle.Place("", record["first_failed"], record["kind"], record["detail"])
            of_class[(record["flow"], *place.group)] += record["n"]
        assert of_class <= wanted  # those of one call each may be in a group together
        for row in (*cells[:8], *groups[: 30 if notes else 8]):
            listed = conversations(store, parse(f"errored=no {row.where}"))
            assert len(listed) == row.record["n"]
            if row.record["first_failed"] != SEVERAL:
                assert {call.first_failed for call in listed} == {row.record["first_failed"]}


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


@pytest.mark.nightly
def test_star(tmp_path: Path, shared_data: Path) -> None:
    path = shared_data / "star" / "flow-transcripts-star.jsonl.gz"
    with gzip.open(path) as lines:
        assert_same(tmp_path, path, map(json.loads, lines))


def test_random_streams(tmp_path: Path) -> None:
    chance = random.Random(4)
    # A call without a contract would be given that of an earlier line of its flow.
    calls = [random_call(number, chance) for number in range(500)]
    calls = [call | {"contract": call["contract"] or {}} for call in calls]
    path = tmp_path / "flow-transcripts-random.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    assert_same(tmp_path, path, calls)
    (tmp_path / "calls.db").unlink()
    assert_same(tmp_path, path, calls, list(random_notes(calls, chance)))
