"""A large file is shared between processes, line by line as if it were read by one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.surface.ingest import InputPlan, Item, ReadItem, ingest, scored
from tests.surface.ingest import loader as parallel
from tests.surface.store import ALL, JudgedScore, Skipped, Writer, open_store

CONTRACTS = [{"success_terminals": ["booked"]}, {"success_terminals": ["collect"], "escalation_terminals": []}]


def call(number: int, **given: Any) -> bytes:
    events = [
        {"type": "state_entered", "state": "collect", "t": 0},
        {"type": "turn_complete", "latency_ms": -5 if number % 7 == 0 else 400 + number, "t": 2},
        {"type": "state_exited", "state": "collect", "to_state": "booked", "t": 3},
        {"type": "state_entered", "state": "booked", "t": 3},
    ]
    document = {
        "conversation_id": f"c-{number}", "flow": f"flow-{number % 2}", "run_id": "night", "completed": True,
        "stop_reason": "terminal", "events": events, "turns": [{"role": "agent", "text": "Hello" * 20}],
    }  # fmt: skip
    return json.dumps(document | given).encode()


def lines() -> list[bytes]:
    """Calls of which few bring a contract, and one of these another one, with lines between them that are broken."""
    found = [call(number) for number in range(60)]
    found[0] = call(0, contract=CONTRACTS[0])
    found[31] = call(31, contract=CONTRACTS[0])
    found[40] = call(40, contract=CONTRACTS[1])
    found[20:20] = [b"{oops", b"", b'{"flow": "viewing"}', b"\xff\xfe", call(7, persona="later")]
    return found


def verdicts() -> list[bytes]:
    found = [{"conversation_id": f"c-{n}", "run_id": "night", "judge": "codex", "score": n % 11} for n in range(60)]
    return [json.dumps(each).encode() for each in found] + [b"[]"]


def taken(store: Path, folder: Path, jobs: int) -> dict[str, Any]:
    """Return every row of a store that was filled so, and has a dictionary that transcripts are compressed by."""
    with open_store(store, write=True, create=True) as opened:
        with opened.writing():
            opened.execute_sql("INSERT INTO text_dictionary (body) VALUES (?)", (b"Hello" * 20,))
        ingest([folder], Writer(opened), jobs=jobs)
        return {
            table: opened.execute_sql(f'SELECT * FROM "{table}" ORDER BY 1, 2')
            for table in (str(model._meta.table_name) for model in ALL)
        }


def test_a_file_that_is_shared_gives_the_rows_of_one_that_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "night"
    folder.mkdir()
    (folder / "flow-transcripts-a.jsonl").write_bytes(b"\n".join(lines()) + b'\n{"conversation_id": "cut')
    (folder / "humanness-a.jsonl").write_bytes(b"\n".join(verdicts()))
    whole = taken(tmp_path / "whole.db", folder, jobs=1)
    assert {row[2] for row in whole["skipped_input"]} >= {"skipped", "defect", "replaced"}
    assert {row[2] for row in whole["transcript"]} == {1}

    read_here: list[InputPlan] = []

    def counted(plan: InputPlan, items: Iterable[ReadItem]) -> Iterator[Item]:
        read_here.append(plan)
        return scored(plan, items)

    monkeypatch.setattr(parallel, "SHARED_BYTES", 1)
    monkeypatch.setattr(parallel, "PIECE_BYTES", 4000)
    monkeypatch.setattr(parallel, "scored", counted)
    shared = taken(tmp_path / "shared.db", folder, jobs=2)
    assert shared == whole
    assert 2 < len(read_here) < 8, "the first piece of each file, and those that were read without a contract"


def test_of_many_files_the_first_is_read_while_the_processes_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "night"
    folder.mkdir()
    for name, some in (("a", lines()[:30]), ("b", lines()[30:]), ("c", lines()[:9])):
        (folder / f"flow-transcripts-{name}.jsonl").write_bytes(b"\n".join(some))
    whole = taken(tmp_path / "whole.db", folder, jobs=1)
    read_here: list[str] = []

    def counted(plan: InputPlan, items: Iterable[ReadItem]) -> Iterator[Item]:
        read_here.append(Path(plan.file.path).name)
        return scored(plan, items)

    monkeypatch.setattr(parallel, "scored", counted)
    monkeypatch.setattr(parallel, "AHEAD_BYTES", 1)
    monkeypatch.setattr(parallel, "START_BYTES", 1)
    assert taken(tmp_path / "shared.db", folder, jobs=2) == whole
    assert read_here == ["flow-transcripts-a.jsonl"]


def test_what_a_plug_in_reads_passes_between_processes_even_where_it_is_half_a_character() -> None:
    said = JudgedScore("night", "c-1", "codex", 7.5, None, evidence=[1, 2])
    items: list[Item] = [said, said, Skipped("defect", 3, "half a \ud83d is left"), Skipped("skipped", 4, "no"), said]
    found = parallel.unpacked(parallel.packed(items))
    assert found is not None
    assert list(found) == items


def test_what_does_not_fit_its_kind_is_read_again_where_it_is_written() -> None:
    unfit: Any = 7
    said: list[Item] = [
        JudgedScore("night", "c-1", "codex", 7.5, None),
        JudgedScore("night", unfit, "codex", 1.0, None),
    ]
    assert parallel.unpacked(parallel.packed(said)) is None
