"""Runs of EVA made by code, small enough for a test."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.eva_load import record_files
from tests.support.facts import fresh
from tests.surface.ingest import IngestSummary, ingest
from tests.surface.store import Transcripts, Writer, open_store

RUN = "2026-06-22_02-00-00.000000_airline_en_made"
CONFIG = {
    "run_id": RUN,
    "domain": "airline",
    "model": {"stt": "ear", "llm": "mind-2", "tts": "mouth"},
    "provenance": {"git_commit_sha": "dacb181", "git_branch": "main"},
}


def files(record: str = "1.1.2", seed: int = 1, **given: Any) -> dict[str, bytes]:
    """The files of a small record by name."""
    return record_files(seed, record=record, **{"turns": 5, "prompt_bytes": 50, **given})


def changed(record: Mapping[str, bytes], name: str, **values: Any) -> dict[str, bytes]:
    """A record in which keys of one of its documents have other values."""
    return {**record, name: json.dumps({**json.loads(record[name]), **values}).encode()}


def with_metrics(record: Mapping[str, bytes], **scores: Any) -> dict[str, bytes]:
    """A record with a metrics.json."""
    named = {name: {"name": name, "details": {}, "error": None, **score} for name, score in scores.items()}
    return {**record, "metrics.json": json.dumps({"record_id": "1.1.2", "context": None, "metrics": named}).encode()}


def make_run(
    root: Path, records: Mapping[str, Mapping[str, bytes]], config: Mapping[str, Any] | None = None, name: str = RUN
) -> Path:
    """A run's directory with the files of records by output id; without a configuration it has today's."""
    run = root / name
    for output_id, contents in records.items():
        directory = run / "records" / output_id
        directory.mkdir(parents=True)
        for file, content in contents.items():
            (directory / file).write_bytes(content)
    run.mkdir(exist_ok=True)
    (run / "config.json").write_text(json.dumps(CONFIG if config is None else config))
    return run


def take(store: Path, *paths: Path, **options: Any) -> IngestSummary:
    """Ingest into a store."""
    with fresh(store) as opened:
        return ingest(paths, Writer(opened), **options)


def ask(store: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows of a store."""
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute(sql).fetchall()


def notes(store: Path) -> list[tuple[str, str]]:
    """Return what was not taken as it was: kind and reason, in order."""
    return ask(store, "SELECT kind, reason FROM skipped_input ORDER BY kind, reason")


def kept(store: Path) -> dict[str, Any]:
    """The transcript that the store keeps of its one call."""
    with open_store(store) as opened:
        [kept] = opened.execute_sql("SELECT body, dictionary_id FROM transcript")
        return Transcripts(opened).document(*kept)
