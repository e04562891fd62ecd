"""One file a webhook, in any order and over several ingests: what another one tells more of is no loss."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from tests.support import bland_calls, elevenlabs_calls, trajectories
from tests.support.facts import contents
from tests.support.retell_calls import retell_call, spoke
from tests.support.vapi_calls import report, said, vapi_call
from tests.surface.ingest import IngestSummary, ingest
from tests.surface.store import Writer, forget, open_store

ANALYZED: dict[str, Any] = {"call_analysis": {"call_successful": True}}
RETELL = [
    {"event": "call_started", "call": retell_call(call_status="ongoing", items=[])},
    {"event": "call_ended", "call": retell_call()},
    {"event": "call_analyzed", "call": retell_call(**ANALYZED)},
]
SAID = elevenlabs_calls.item("agent", "Hello.", 0)
VAPI = [
    {"message": {"type": kind, "call": {"id": "c-1", "orgId": "o"}}}
    for kind in ("status-update", "transcript", "conversation-update", "speech-update", "hang", "tool-calls")
]


def take(store: Path, *paths: Path) -> IngestSummary:
    with open_store(store, write=True, create=True) as opened:
        return ingest(paths, Writer(opened))


def is_strict(summary: IngestSummary) -> bool:
    """Tell whether `--strict` ends with 0."""
    return not (summary.skipped or summary.replaced or summary.dropped or summary.is_empty)


def files(directory: Path, hooks: list[dict[str, Any]]) -> list[Path]:
    paths = [directory / f"{place}.json" for place in range(len(hooks))]
    for path, hook in zip(paths, hooks, strict=True):
        path.write_text(json.dumps(hook))
    return paths


def noted(store: Path) -> list[tuple[str, str]]:
    with open_store(store) as opened:
        rows = opened.execute_sql(
            "SELECT s.path, k.kind FROM skipped_input k JOIN source_file s ON s.id = k.source_file_id ORDER BY 1"
        )
    return [(Path(path).name, kind) for path, kind in rows]


@pytest.mark.parametrize("hooks", [RETELL, [*VAPI, report(vapi_call("c-1"))]])
def test_the_events_before_the_last_one_are_no_loss(tmp_path: Path, hooks: list[dict[str, Any]]) -> None:
    paths = files(tmp_path, hooks)
    summary = take(tmp_path / "s.db", *paths)
    assert is_strict(summary)
    assert summary.conversations("taken") == 1
    assert noted(tmp_path / "s.db") == [(path.name, "superseded") for path in paths[:-1]]
    assert all(result.superseded == 1 for result in summary.results[:-1])


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_events_that_come_one_by_one_give_the_same_in_whatever_order(tmp_path: Path, order: tuple[int, ...]) -> None:
    paths = files(tmp_path, RETELL)
    for place in order:
        summary = take(tmp_path / "s.db", paths[place])
        had_ended = bool({1, 2}.intersection(order[: order.index(place) + 1]))
        assert is_strict(summary) == had_ended
    assert noted(tmp_path / "s.db") == [("0.json", "superseded"), ("1.json", "superseded")]
    assert is_strict(take(tmp_path / "s.db", *paths))
    take(tmp_path / "at-once.db", *paths)
    assert contents(tmp_path / "s.db") == contents(tmp_path / "at-once.db")


BARE: dict[str, Any] = {"agent_name": None, "agent_version": None}
OTHERWISE_NAMED = [
    ({"event": "call_ended", "call": retell_call(**BARE)}, RETELL[2]),
    (
        report(vapi_call("c-1", assistant=None, analysis=None, assistantVersion=None)),
        report(vapi_call("c-1", assistant={"name": "Desk"}, analysis={"successEvaluation": "true"})),
    ),
    (
        elevenlabs_calls.hook(elevenlabs_calls.plain(agent_name=None)),
        elevenlabs_calls.hook(
            elevenlabs_calls.plain(version_id="agtvrsn_000001", analysis={"call_successful": "unknown"})
        ),
    ),
    (bland_calls.call(completed=None), bland_calls.call(pathway_id="another")),
]


@pytest.mark.parametrize(("less", "more"), OTHERWISE_NAMED)
def test_a_call_is_one_whatever_its_records_call_its_agent(tmp_path: Path, less: Any, more: Any) -> None:
    first, second = files(tmp_path, [less, more])
    take(tmp_path / "at-once.db", first, second)
    assert noted(tmp_path / "at-once.db") == [("0.json", "superseded")]
    for name, order in (("a.db", (first, second)), ("b.db", (second, first))):
        for path in order:
            assert is_strict(take(tmp_path / name, path))
        assert contents(tmp_path / name) == contents(tmp_path / "at-once.db")
        again = take(tmp_path / name, first, second)
        assert [result.status for result in again.results] == ["unchanged", "unchanged"]
    second.write_text("[]")
    take(tmp_path / "a.db", first, second)
    with open_store(tmp_path / "a.db") as opened:
        rows = opened.execute_sql("SELECT s.path FROM conversation c JOIN source_file s ON s.id = c.source_file_id")
        assert [Path(path).name for (path,) in rows] == ["0.json"]


def test_verdicts_of_every_record_of_a_call_are_on_the_one_that_counts(tmp_path: Path) -> None:
    judged: dict[str, Any] = {"analysis": {"successEvaluation": "true"}}
    hook = report(vapi_call("c-1", assistant={"name": "Desk"}, **judged))
    paths = files(tmp_path, [hook, vapi_call("c-1", assistant=None, **judged)])
    for path in paths:
        assert not any(take(tmp_path / "s.db", path).unjoined)


def test_a_call_that_was_forgotten_does_not_come_back_from_another_record(tmp_path: Path) -> None:
    less, more = files(tmp_path, [*OTHERWISE_NAMED[0]])
    take(tmp_path / "s.db", less, more)
    with open_store(tmp_path / "s.db", write=True) as opened, opened.writing():
        forget(opened, [key for (key,) in opened.execute_sql("SELECT id FROM conversation")])
    assert take(tmp_path / "s.db", less, more).conversations("taken", "changed", "unchanged") == 0


def test_a_call_that_never_ended_is_missed_until_its_end_is_told_and_again_when_that_goes(tmp_path: Path) -> None:
    started, ended = files(tmp_path, [RETELL[0], RETELL[1]])
    assert not is_strict(take(tmp_path / "s.db", started))
    assert is_strict(take(tmp_path / "s.db", started, ended))
    ended.write_text(json.dumps({"event": "call_ended", "call": retell_call("another")}))
    summary = take(tmp_path / "s.db", started, ended)
    assert (summary.skipped, noted(tmp_path / "s.db")) == (1, [("0.json", "skipped")])


def test_two_records_of_one_stage_with_the_same_words_are_one(tmp_path: Path) -> None:
    assert is_strict(take(tmp_path / "s.db", *files(tmp_path, [RETELL[2], RETELL[2]])))


def test_two_records_of_one_stage_with_other_words_are_a_loss_unless_one_is_later(tmp_path: Path) -> None:
    items = [{"role": "agent", "content": "Another greeting."}]
    other = {"event": "call_analyzed", "call": retell_call(items=items, **ANALYZED)}
    assert not is_strict(take(tmp_path / "s.db", *files(tmp_path, [RETELL[2], other])))
    later = other | {"event_timestamp": 1_781_485_300_000}
    assert is_strict(take(tmp_path / "t.db", *files(tmp_path, [later, RETELL[2]])))
    with open_store(tmp_path / "t.db") as opened:
        assert opened.execute_sql("SELECT source_file_id FROM conversation") == opened.execute_sql(
            "SELECT id FROM source_file WHERE path LIKE '%0.json'"
        )


ELEVENLABS = [elevenlabs_calls.hook(elevenlabs_calls.plain(transcript=some)) for some in ([SAID], [SAID, SAID])]


@pytest.mark.parametrize(
    ("same", "other"),
    [
        (
            RETELL[2],
            {"event": "call_analyzed", "call": retell_call(items=[spoke("agent", "Other.", 0, 1)], **ANALYZED)},
        ),
        (vapi_call("c-1"), vapi_call("c-1", messages=[said("bot", "Other.", 0)])),
        (bland_calls.call(), bland_calls.call(transcripts=bland_calls.call()["transcripts"][:1])),
        (ELEVENLABS[0], ELEVENLABS[1]),
        (trajectories.results()[0], trajectories.results()[0] | {"reward": 0.0}),
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_records_of_one_stage_in_one_file_are_a_loss_where_their_words_differ(
    tmp_path: Path, name: str, same: Any, other: Any
) -> None:
    def found(*records: Any) -> tuple[bool, list[str]]:
        path, store = tmp_path / name, tmp_path / "s.db"
        path.write_text(json.dumps(records) if name == "a.json" else "\n".join(map(json.dumps, records)))
        summary = take(store, path)
        assert summary.conversations("taken", "changed") == 1
        assert is_strict(take(store, path)) == is_strict(summary)
        assert summary.winners == ([str(path)] if summary.replaced else [])
        return is_strict(summary), [kind for _, kind in noted(store) if kind != "defect"]

    assert found(same, same) == (True, ["superseded"])
    assert found(same, other, same) == (False, ["superseded", "replaced"])


def test_times_in_seconds_are_those_in_milliseconds(tmp_path: Path) -> None:
    ended = retell_call(start_timestamp=1_781_485_200, end_timestamp=1_781_485_260, duration_ms=None)
    take(
        tmp_path / "s.db", *files(tmp_path, [{"event": "call_ended", "call": ended, "event_timestamp": 1_781_485_261}])
    )
    with open_store(tmp_path / "s.db") as opened:
        query = "SELECT r.name, c.started_at, c.duration_s FROM conversation c JOIN run r ON r.id = c.run_id"
        rows = opened.execute_sql(query)
    assert list(rows) == [("2026-06-15@v3", 1_781_485_200_000_000, 60.0)]
