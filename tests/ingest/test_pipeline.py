"""Whole ingests: what is read again, in which order, and that dirt stops nothing."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import broken_rows, contents
from tests.surface.ingest import IngestSummary, InputPlan, Item, Progress, ingest, loaded, pipeline
from tests.surface.store import FileResult, SourceFile, Writer, open_store
from tests.surface.store import Item as StoredItem


def line(name: str, **given: Any) -> bytes:
    record: dict[str, Any] = {
        "conversation_id": name,
        "flow": "viewing",
        "agent_model": "model-a",
        "completed": True,
        "stop_reason": "terminal",
        "contract": {"success_terminals": ["booked"]},
        "events": [
            {"type": "state_entered", "t": 0, "state": "greet"},
            {"type": "turn_complete", "t": 1, "latency_ms": 700},
            {"type": "state_exited", "t": 2, "state": "greet", "to_state": "booked", "reason": "done"},
            {"type": "state_entered", "t": 2, "state": "booked"},
        ],
        "turns": [{"role": "agent", "text": "Hi", "t": 0.2}],
    }
    return json.dumps(record | given).encode() + b"\n"


def verdict(name: str, score: float, **given: Any) -> bytes:
    record = {"conversation_id": name, "judge": "codex", "score": score, "judged_at": "2026-06-22T03:00:00Z"}
    return json.dumps(record | given).encode() + b"\n"


def take(store: Path, *paths: Path, **options: Any) -> IngestSummary:
    with open_store(store, write=True, create=True) as opened:
        return ingest(paths, Writer(opened), **options)


@pytest.fixture
def night(tmp_path: Path) -> Path:
    folder = tmp_path / "night-1"
    folder.mkdir()
    (folder / "flow-transcripts-a.jsonl").write_bytes(line("c-1") + line("c-2"))
    (folder / "flow-transcripts-b.jsonl.gz").write_bytes(gzip.compress(line("c-3"), mtime=0))
    (folder / "humanness-codex.jsonl").write_bytes(verdict("c-1", 7.0) + verdict("c-9", 3.0))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def test_a_folder_is_taken_with_its_name_as_the_run(night: Path, store: Path) -> None:
    summary = take(store, night)
    assert (summary.count("taken"), summary.conversations("taken"), summary.scores) == (3, 3, 2)
    found = contents(store)
    assert [(row[0], row[1]) for row in found["conversation"]] == [("night-1", name) for name in ("c-1", "c-2", "c-3")]
    assert [row[1] for row in found["aspect"] if row[2] == "humanness"] == ["c-1"]


def test_taking_the_same_input_again_changes_nothing(night: Path, store: Path) -> None:
    take(store, night)
    before = store.read_bytes()
    summary = take(store, night)
    assert summary.count("unchanged") == 3
    assert store.read_bytes() == before


def test_rebuilding_gives_the_same_store(night: Path, store: Path) -> None:
    take(store, night)
    before = contents(store)
    assert take(store, night, rebuild=True).count("changed") == 3
    assert contents(store) == before


def grow(night: Path) -> None:
    with open(night / "flow-transcripts-a.jsonl", "ab") as file:
        file.write(line("c-4"))


def shrink(night: Path) -> None:
    (night / "flow-transcripts-a.jsonl").write_bytes(line("c-2", completed=False))


def share(night: Path) -> None:
    (night / "flow-transcripts-b.jsonl.gz").write_bytes(line("c-1", flow="other"))


def unshare(night: Path) -> None:
    (night / "flow-transcripts-c.jsonl").write_bytes(line("c-5"))


def judge_again(night: Path) -> None:
    (night / "humanness-codex.jsonl").write_bytes(verdict("c-1", 2.0) + verdict("c-2", 5.0))


@pytest.mark.parametrize("change", [grow, shrink, share, unshare, judge_again])
def test_a_changed_input_gives_what_a_fresh_ingest_gives(change: Any, night: Path, store: Path, tmp_path: Path) -> None:
    (night / "flow-transcripts-c.jsonl").write_bytes(line("c-1", flow="shared") + line("c-5"))
    take(store, night)
    change(night)
    take(store, night)
    take(tmp_path / "new.db", night)
    assert contents(store) == contents(tmp_path / "new.db")
    assert broken_rows(store) == []


def test_nothing_is_read_while_others_wait_for_the_store(
    night: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bool] = []
    with open_store(store, write=True, create=True) as opened:

        def watched(*given: Any) -> Iterator[tuple[InputPlan, Iterable[Item]]]:
            for plan, items in loaded(*given):
                yield plan, watching(items)

        def watching(items: Iterable[Item]) -> Iterator[Item]:
            for item in items:
                read.append(opened.engine.in_transaction)
                yield item

        monkeypatch.setattr(pipeline, "loaded", watched)
        ingest([night], Writer(opened))
    assert len(read) == 5
    assert not any(read)


def test_of_long_calls_few_are_read_ahead(night: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "READ_AHEAD_BYTES", 1)
    held: list[int] = []

    class Watched(Writer):
        def put_file(self, file: SourceFile, items: Iterable[StoredItem], *, rebuild: bool = False) -> FileResult:
            held.append(len(reported))
            return super().put_file(file, items, rebuild=rebuild)

    reported: list[int] = []
    monkeypatch.setattr(pipeline, "REPORT_EVERY", 1)
    (night / "flow-transcripts-a.jsonl").write_bytes(b"".join(line(f"c-{number}") for number in range(20)))
    with open_store(store, write=True, create=True) as opened:
        ingest(
            [night / "flow-transcripts-a.jsonl"],
            Watched(opened),
            progress=lambda progress: reported.append(progress.conversations),
        )
    assert (held, len(reported) >= 20) == ([1], True)


def test_verdicts_right_behind_calls_go_in_with_them_however_slow_reading_is(
    night: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH_SECONDS", 0.0)
    (night / "humanness-later.jsonl").write_bytes(verdict("c-2", 5.0))
    batches: list[list[str]] = []

    class Watched(Writer):
        @contextmanager
        def batch(self, files: Iterable[SourceFile] = (), *, rebuild: bool = False) -> Iterator[None]:
            batches.append([])
            with super().batch(files, rebuild=rebuild):
                yield

        def put_file(self, file: SourceFile, items: Iterable[StoredItem], *, rebuild: bool = False) -> FileResult:
            batches[-1].append(Path(file.path).name)
            return super().put_file(file, items, rebuild=rebuild)

    with open_store(store, write=True, create=True) as opened:
        ingest([night], Watched(opened))
    assert batches == [
        ["flow-transcripts-a.jsonl"],
        ["flow-transcripts-b.jsonl.gz", "humanness-codex.jsonl"],
        ["humanness-later.jsonl"],
    ]


def test_the_order_of_arguments_and_the_number_of_jobs_do_not_matter(night: Path, tmp_path: Path) -> None:
    (night / "flow-transcripts-b2.jsonl").write_bytes(line("c-1", persona="later"))
    files = sorted(night.iterdir())
    take(tmp_path / "1.db", night)
    take(tmp_path / "2.db", *reversed(files))
    take(tmp_path / "3.db", *files, jobs=2)
    assert contents(tmp_path / "1.db") == contents(tmp_path / "2.db") == contents(tmp_path / "3.db")
    assert len(contents(tmp_path / "1.db")["conversation"]) == 3


def test_without_text_the_scores_are_the_same_and_nothing_said_is_kept(
    night: Path, store: Path, tmp_path: Path
) -> None:
    take(store, night, with_text=False)
    take(tmp_path / "text.db", night)
    assert contents(store) == contents(tmp_path / "text.db")
    with open_store(store) as opened:
        assert opened.execute_sql("SELECT count(*) FROM transcript") == [(0,)]
    take(store, night)
    with open_store(store) as opened:
        assert opened.execute_sql("SELECT count(*) FROM transcript") == [(3,)]


def test_a_broken_line_is_recorded_and_the_rest_is_taken(night: Path, store: Path) -> None:
    (night / "flow-transcripts-a.jsonl").write_bytes(line("c-1") + b"{oops\n" + line("c-2"))
    (night / "flow-transcripts-z.jsonl").write_bytes(b"\x00\x01\x02")
    summary = take(store, night)
    assert summary.skipped == 2
    assert take(store, night).skipped == 2
    notes = contents(store)["note"]
    assert (str(night / "flow-transcripts-a.jsonl"), "skipped", 2, None, None) in notes
    assert len(contents(store)["conversation"]) == 3


def test_what_is_no_file_is_listed_and_stops_nothing(night: Path, store: Path) -> None:
    (night / "odd.jsonl").mkdir()
    (night.parent / "elsewhere.jsonl").write_bytes(line("c-8"))
    (night / "link.jsonl").symlink_to(night.parent / "elsewhere.jsonl")
    os.mkfifo(night / "flow-transcripts-pipe.jsonl")
    summary = take(store, night)
    assert (summary.conversations("taken"), summary.skipped) == (3, 2)
    assert [row[0] for row in contents(store)["note"]] == [
        str(night / name) for name in ("flow-transcripts-pipe.jsonl", "link.jsonl")
    ]


def test_a_flow_file_gives_its_contract_to_transcripts_that_bring_none(night: Path, store: Path) -> None:
    (night / "flow-transcripts-a.jsonl").write_bytes(line("c-1", contract=None) + line("c-2", contract=None))
    flow = night.parent / "viewing.toml"
    flow.write_text('flow = "viewing"\nsuccess_terminals = ["booked"]\nedges = [["greet", "booked"]]\n')
    take(store, night / "flow-transcripts-a.jsonl")
    assert [row for row in contents(store)["aspect"] if row[2] == "correctness"] == []
    take(store, night / "flow-transcripts-a.jsonl", flow_files=[flow])
    assert [row[5] for row in contents(store)["aspect"] if row[2] == "correctness"] == [10.0, 10.0]
    take(store, night / "flow-transcripts-a.jsonl")
    assert [row[5] for row in contents(store)["aspect"] if row[2] == "correctness"] == [10.0, 10.0]


def test_progress_ends_with_every_file_and_every_conversation(night: Path, store: Path) -> None:
    seen: list[tuple[int, int]] = []

    def watch(progress: Progress) -> None:
        seen.append((progress.done_files, progress.conversations))

    take(store, night, progress=watch)
    assert seen[-1] == (3, 3)


def test_real_dialogues_are_taken_whole_and_again_without_a_change(shared_data: Path, store: Path) -> None:
    summary = take(store, shared_data / "star")
    assert (summary.conversations("taken"), summary.skipped) == (4273, 0)
    before = store.read_bytes()
    assert take(store, shared_data / "star").count("unchanged") == 1
    assert store.read_bytes() == before
    assert broken_rows(store) == []


@pytest.mark.parametrize(
    "given",
    [
        {"events": [{"type": "state_entered", "state": "a"}, {"type": "turn_complete", "latency_ms": 1e12}]},
        {"turns": [{"role": "agent", "latency_ms": 1e12}]},
        {"duration_s": 1e300},
        {"aspects": {"correctness": 1e12}},
        {"aspects": {"errors": -1e12, "turn_count": 1e9}},
        {"errors": 2**53},
        {"defects": {"odd": 2**62, "strange": 2**62}},
        {"state_aspects": [{"state": "a", "revisit": 1e300, "dwell_turns": 1e12, "latency_p95_ms": 1e12}]},
        {"state_aspects": [{"state": "a", "guard_error": 1e18, "progress": -1e18}]},
        {"state_aspects": [{"state": "a", "to_states": {"b": 2**63, "c": 2**62}}]},
        {"state_aspects": [{"state": "a", "stall": 1}, {"state": "a", "stall": 0}]},
    ],
)
def test_numbers_that_nobody_can_have_measured_stop_no_ingest(store: Path, night: Path, given: dict[str, Any]) -> None:
    odd = b"".join(line(f"odd-{number}", **({"events": []} | given)) for number in range(40))
    (night / "flow-transcripts-odd.jsonl").write_bytes(odd)
    assert take(store, night).conversations("taken") == 43
    assert broken_rows(store) == []
