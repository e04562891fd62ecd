"""What the views say of calls, dirty streams among them, is what a second computation from the same lines says."""

from __future__ import annotations

import gzip
import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import oracle
from tests.support.blame_oracle import success
from tests.support.oracle import Call, Row
from tests.support.random_streams import random_call
from tests.surface.ingest import ingest
from tests.surface.runner import riff_runner_simulate
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import Store, Writer, open_store
from tests.surface.tui import Request, show

FLOWS = Path(riff_runner_simulate.__file__).parent / "flows"
SUCCESS = ("success_rate", "success_overall", "caller_failed")


class Evidence:
    """Calls and scores as they are in files, and the store that was made of them."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        self.store = store
        self.calls = list(_lines(folder, "flow-transcripts-*.jsonl"))
        self.scores = list(_lines(folder, "humanness-*.jsonl"))

    def rows(self, view: str, **asked: Any) -> list[Row]:
        return [dict(row.record) for row in show(self.store, view, Request(**asked)).rows]


def _lines(folder: Path, pattern: str) -> Iterator[Row]:
    for path in sorted(folder.rglob(pattern)):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _spoil(call: Call, chance: random.Random) -> Call:
    """The call with events missing, doubled and in the wrong order, as faulty recorders leave them."""
    events = []
    for event in call["events"]:
        events += [event] * chance.choices((0, 1, 2), (0.1, 0.85, 0.05))[0]
    if events and chance.random() < 0.3:
        place = chance.randrange(len(events))
        events.insert(chance.randrange(len(events)), events.pop(place))
    return {**call, "events": events or call["events"]}


def _caller(chance: random.Random) -> Row:
    """What played the caller: some fail, of which not every line shows that the call is errored."""
    failed = chance.random() < 0.1
    known = {"caller": chance.choice(("scripted", "gpt")), "caller_ok": not failed}
    return known | ({"errored": True, "error": "caller: repeats itself"} if failed and chance.random() < 0.5 else {})


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    folder, chance = tmp_path_factory.mktemp("oracle"), random.Random(7)
    simulate(folder, conversations=480, seed=3)
    for path in folder.rglob("flow-transcripts-*.jsonl"):
        calls = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        played = (call | _caller(chance) for call in calls)
        spoilt = [json.dumps(_spoil(call, chance) if chance.random() < 0.5 else call) + "\n" for call in played]
        path.write_text("".join(spoilt), encoding="utf-8")
    with open_store(folder / "all.db", write=True, create=True) as store:
        ingest([folder], Writer(store))
        yield Evidence(folder, store)


def assert_same(found: list[Row], wanted: list[Row], names: tuple[str, ...], values: tuple[str, ...]) -> None:
    """The same rows in the same order, their values equal but for the last digits."""
    assert [oracle.picked(row, names) for row in found] == [oracle.picked(row, names) for row in wanted]
    for one, other in zip(found, wanted, strict=True):
        for value in values:
            assert one[value] == pytest.approx(other[value], rel=1e-9, abs=1e-9), (oracle.picked(other, names), value)


@pytest.mark.parametrize("by", [("flow", "agent"), ("flow",), ("agent",), ("run", "flow"), ("persona",), ("caller",)])
def test_flows(evidence: Evidence, by: tuple[str, ...]) -> None:
    wanted = oracle.flows(evidence.calls, evidence.scores, by)
    if by == ("flow", "agent"):
        assert evidence.rows("flows") == evidence.rows("flows", by=by)
    values = (
        "n",
        "excluded",
        *SUCCESS,
        "operability",
        "blend",
        "quality",
        "failed",
        "lost",
        *oracle.ASPECTS,
        "humanness",
    )
    assert_same(evidence.rows("flows", by=by), wanted, by, values)


@pytest.mark.parametrize("by", [(), ("agent",), ("run",), ("scenario",)])
def test_states(evidence: Evidence, by: tuple[str, ...]) -> None:
    wanted = oracle.states(evidence.calls, by)
    values = ("segment", "n", *oracle.METRICS, "to_states")
    assert_same(evidence.rows("states", by=by), wanted, ("flow", "state", *by), values)


@pytest.mark.parametrize("by", [(), ("agent",), ("persona",)])
def test_segments(evidence: Evidence, by: tuple[str, ...]) -> None:
    wanted = oracle.segments(evidence.calls, by)
    values = ("n", *oracle.METRICS, "worst_state", "worst_stall", "worst_n")
    assert_same(evidence.rows("segments", by=by), wanted, ("flow", "segment", *by), values)


def test_a_filter_on_calls_leaves_what_the_same_calls_alone_would_give(evidence: Evidence) -> None:
    persona = evidence.calls[0]["persona"]
    calls = [call for call in evidence.calls if call["persona"] == persona and not call["completed"]]
    found = evidence.rows("states", where=f"persona={persona} completed=no")
    assert_same(found, oracle.states(calls), ("flow", "state"), ("n", *oracle.METRICS, "to_states"))


def test_each_call(evidence: Evidence) -> None:
    wanted = {(call["run_id"], call["conversation_id"]): oracle.aspects(call) for call in evidence.calls}
    rows = evidence.rows("conversations")
    assert len(rows) == len(wanted)
    for row in rows:
        for aspect in ("correctness", "latency_p95", "turn_count"):
            assert row[aspect] == pytest.approx(wanted[row["run"], row["conversation"]][aspect])


def test_the_worklist(evidence: Evidence) -> None:
    wanted = oracle.worklist(evidence.calls, evidence.scores)
    rows = evidence.rows("worklist", limit=100)
    for listed, key in (("flows", "agent"), ("segments", "segment"), ("states", "state")):
        assert wanted[listed]
        assert [(row["flow"], row[key], row["failed"]) for row in rows if row["list"] == listed] == wanted[listed]


def test_the_neighbours_of_every_state_of_a_flow(evidence: Evidence) -> None:
    flow = "dog_grooming"
    taken = oracle.steps(evidence.calls, flow)
    for state in dict.fromkeys(start for start, _ in taken):
        table = show(evidence.store, "neighbors", Request(where=f"flow={flow} state={state}"))
        found = {(row.record["direction"], row.record["state"]): row.record["count"] for row in table.rows}
        before = {("in", start): count for (start, end), count in taken.items() if end == state != start}
        after = {("out", end): count for (start, end), count in taken.items() if start == state != end}
        loops = {("self", state): taken[state, state]} if taken[state, state] else {}
        came, began, stopped = oracle.ways(evidence.calls, flow, state)
        # Of some calls the evidence lacks the event that leads to a state, or the one that enters it.
        unled = max(0, came - sum((before | loops).values()))
        starts = {("in", None): unled} if unled else {}
        assert abs(unled - began) <= 1
        ends = {("out", None): stopped.total()} if stopped else {}
        assert found == before | starts | loops | after | ends
        # Whoever came there went on from there or ended there.
        assert sum((loops | after | ends).values()) == came
        left = [row.record["share"] for row in table.rows if row.record["direction"] != "in"]
        assert sum(left) == pytest.approx(1)
        (ended,) = [row.record for row in table.rows if row.record.get("outcome") == "ended"] or [{"stop_reasons": {}}]
        assert ended["stop_reasons"] == stopped
        wanted = oracle.blast(evidence.calls, flow, state)
        assert {row["state"] for row in table.extras["blast"]} == wanted.keys()
        for row in table.extras["blast"]:
            assert oracle.picked(row, ("through", "reached", "starved")) == pytest.approx(wanted[row["state"]])
        starved = [(-row["starved"], -row["through"], row["state"]) for row in table.extras["blast"]]
        assert starved == sorted(starved)
        assert table.extras["reach"] == {row["state"]: row["through"] for row in table.extras["blast"]}


def test_rates_have_wilsons_interval(evidence: Evidence) -> None:
    for row in evidence.rows("states"):
        for rate in ("progress", "stall", "escalation"):
            assert row["intervals"][rate] == pytest.approx(oracle.wilson(row[rate], row["n"]), abs=1e-9)


def test_funnels(evidence: Evidence) -> None:
    assert_funnels(evidence)
    rows = evidence.rows("funnel")
    for call in oracle.counted(evidence.calls):
        for terminals, outcome in ((oracle.success_terminals, "success"), (oracle.escalation_terminals, "escalation")):
            named = [row["outcome"] for row in rows if row["flow"] == call["flow"] and row["state"] in terminals(call)]
            assert set(named) <= {outcome}


def test_coverage(evidence: Evidence, tmp_path: Path) -> None:
    """Of what calls touched, then of what flow files declare and some of which no call touched."""
    assert_coverage(evidence)
    paths = [FLOWS / f"{flow}.toml" for flow in sorted({call["flow"] for call in evidence.calls})]
    with open_store(tmp_path / "all.db", write=True, create=True) as store:
        ingest([evidence.folder, *paths], Writer(store))
        wanted = oracle.coverage(evidence.calls, [tomllib.loads(path.read_text("utf-8")) for path in paths])
        assert covered(store) == wanted
    assert any(not calls for calls, _, _ in wanted.values())


def assert_coverage(evidence: Evidence) -> None:
    """Each item as the lines say, figure by figure."""
    assert covered(evidence.store) == oracle.coverage(evidence.calls)


def covered(store: Store) -> dict[tuple[str, str, str], tuple[int, int, int]]:
    rows = [row.record for row in show(store, "coverage", Request()).rows]
    return {(row["flow"], row["kind"], row["item"]): (row["calls"], row["served"], row["failed"]) for row in rows}


def assert_funnels(evidence: Evidence) -> None:
    """Each flow as the lines say, figure by figure, its states in their order, its failed calls all there."""
    found = evidence.rows("funnel")
    wanted = oracle.funnel(evidence.calls)
    assert {(row["flow"], row["state"]) for row in found} == wanted.keys()
    for row in found:
        for value, figure in wanted[row["flow"], row["state"]].items():
            assert row[value] == pytest.approx(figure), (row["flow"], row["state"], value)
    for flow in {row["flow"] for row in found}:
        places = [row["position"] for row in found if row["flow"] == flow and row["outcome"] is None and row["reached"]]
        assert places == sorted(places)
    failed = {row["flow"]: row["failed"] for row in evidence.rows("flows", by=("flow",))}
    for flow, count in failed.items():
        blamed = sum(row["failed"] for row in found if row["flow"] == flow)
        assert blamed + oracle.blamed_nowhere(evidence.calls, flow) == count


def test_routes(evidence: Evidence) -> None:
    assert_routes(evidence)


def assert_routes(evidence: Evidence) -> None:
    """Each route as the lines say, figure by figure, and the steps of each flow as suspicious as they make them."""
    found = {(row["flow"], tuple(row["route"] or ()) or None): row for row in evidence.rows("routes")}
    wanted = oracle.routes(evidence.calls, {})
    assert found.keys() == wanted.keys()
    for names, row in wanted.items():
        for value, figure in row.items():
            assert found[names][value] == pytest.approx(figure), (names, value)
    calls = {(call["run_id"], call["conversation_id"]): call for call in evidence.calls}
    for (flow, route), row in found.items():
        (example,) = evidence.rows("conversations", where=row["example"]) if row["n"] > 1 else (None,)
        if example is not None:
            call = calls[example["run"], example["conversation"]]
            assert (call["flow"], oracle.route_of(call) or None) == (flow, route)
            assert success(call) is False or not row["failed"]


def assert_suspicions(evidence: Evidence, every: int = 1) -> None:
    places = sorted({(row["flow"], row["state"]) for row in evidence.rows("states")})
    for flow, state in places[::every]:
        wanted = oracle.suspicions(evidence.calls, flow)
        for row in evidence.rows("neighbors", where=f"flow={flow} state={state}"):
            step = (state, row["state"]) if row["direction"] == "out" else (row["state"], state)
            expected = wanted.get(step, (None, None))
            assert (row["suspicion"], row["p"]) == pytest.approx(expected), (flow, step)


def test_how_suspicious_steps_are(evidence: Evidence) -> None:
    assert_suspicions(evidence, 4)


# Streams of any kind, and real dialogues


@pytest.fixture(scope="module", params=["random", pytest.param("star", marks=pytest.mark.nightly)])
def streams(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "star":
        packed = request.getfixturevalue("shared_data") / "star" / "flow-transcripts-star.jsonl.gz"
        (folder / "flow-transcripts-star.jsonl").write_bytes(gzip.decompress(packed.read_bytes()))
    else:
        chance = random.Random(11)
        # A call without a contract would be given that of an earlier line of its flow.
        calls = [random_call(number, chance) for number in range(500)]
        lines = [json.dumps(call | {"contract": call["contract"] or {}}) + "\n" for call in calls]
        (folder / "flow-transcripts-random.jsonl").write_text("".join(lines), encoding="utf-8")
    with open_store(folder / "all.db", write=True, create=True) as store:
        ingest([folder], Writer(store))
        yield Evidence(folder, store)


def test_flows_of_any_streams(streams: Evidence) -> None:
    values = ("n", "excluded", *SUCCESS, "operability", "blend", "quality", "failed", "lost", "errors")
    assert_same(streams.rows("flows"), oracle.flows(streams.calls, ()), ("flow", "agent"), values)


def test_states_of_any_streams(streams: Evidence) -> None:
    found = {(row["flow"], row["state"]): row for row in streams.rows("states")}
    wanted = {(row["flow"], row["state"]): row for row in oracle.states(streams.calls)}
    assert found.keys() == wanted.keys()
    for names, row in wanted.items():
        for value in ("n", "progress", "stall", "lost", "escalation", "revisit", "guard_error", "to_states"):
            assert found[names][value] == pytest.approx(row[value]), (names, value)


def test_funnels_of_any_streams(streams: Evidence) -> None:
    assert_funnels(streams)


def test_routes_of_any_streams(streams: Evidence) -> None:
    assert_routes(streams)


def test_how_suspicious_steps_of_any_streams_are(streams: Evidence) -> None:
    assert_suspicions(streams, 30)


def test_coverage_of_any_streams(streams: Evidence) -> None:
    assert_coverage(streams)


def test_the_blast_radius_of_any_streams(streams: Evidence) -> None:
    places = sorted({(row["flow"], row["state"]) for row in streams.rows("states")})
    for flow, state in places[:: max(1, len(places) // 12)]:
        blast = show(streams.store, "neighbors", Request(where=f"flow={flow} state={state}")).extras["blast"]
        wanted = oracle.blast(streams.calls, flow, state)
        assert {row["state"] for row in blast} == wanted.keys(), (flow, state)
        for row in blast:
            assert oracle.picked(row, ("through", "reached", "starved")) == pytest.approx(wanted[row["state"]])
