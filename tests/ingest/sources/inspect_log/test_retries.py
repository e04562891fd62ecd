"""Logs that go on where another one ended: a call counts once, in the log that began last, wherever the logs are."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import read_source
from tests.support import inspect_logs as logs
from tests.support.facts import contents
from tests.surface.ingest import IngestSummary, ingest
from tests.surface.store import Writer, open_store


def sample(name: str, uuid: str | None, value: str | None, **fields: Any) -> dict[str, Any]:
    scores = {} if value is None else {"includes": {"value": value}}
    error = {} if value is not None else {"error": {"message": "the provider broke"}}
    return logs.sample(name, uuid=uuid, scores=scores, **error, **fields)


FIRST = [sample("a", "1", "C"), sample("b", "2", None)]
SECOND = [sample("a", "1", "C"), sample("b", "3", "I", error_retries=[{"message": "broke"}]), sample("c", "4", "C")]


def attempt(path: Path, number: int, samples: list[dict[str, Any]], **fields: Any) -> Path:
    created = (logs.START + timedelta(hours=number)).isoformat()
    path.parent.mkdir(exist_ok=True)
    keys = {"eval_id": f"e{number}", "run_id": f"r{number}", "created": created}
    return logs.write_eval(path, samples, **{**keys, "task_id": "T", **fields})


def take(store: Path, *paths: Path) -> IngestSummary:
    with open_store(store, write=True, create=True) as opened:
        return ingest(paths, Writer(opened))


def stored(store: Path) -> list[tuple[str, str, bool, bool | None]]:
    """Return run, call, whether it errored and whether it succeeded of all that a store holds."""
    with open_store(store) as opened:
        rows = opened.execute_sql(
            "SELECT r.name, c.name, c.errored, c.success FROM conversation c JOIN run r ON r.id = c.run_id"
            " ORDER BY 1, 2"
        )
    return [
        (run, name, bool(errored), None if success is None else bool(success)) for run, name, errored, success in rows
    ]


ONCE = [("r1/viewing", "a", False, True), ("r1/viewing", "b", False, False), ("r1/viewing", "c", False, True)]


@pytest.mark.parametrize(("first", "second"), [("one", "two"), ("two", "one"), ("same", "same")])
def test_a_call_that_a_retry_copied_or_made_again_counts_once_in_the_retry(
    tmp_path: Path, first: str, second: str
) -> None:
    old = attempt(tmp_path / first / "z.eval", 0, FIRST)
    new = attempt(tmp_path / second / "a.eval", 1, SECOND)
    summary = take(tmp_path / "s.db", old, new)
    assert stored(tmp_path / "s.db") == ONCE
    assert (summary.skipped, summary.replaced) == (0, 0)
    with open_store(tmp_path / "s.db") as opened:
        noted = opened.execute_sql(
            "SELECT kind, conversation, reason FROM skipped_input ORDER BY line IS NOT NULL, line"
        )
    assert list(noted) == [
        ("superseded", None, "retried: none of its 2 calls is left in this run"),
        ("superseded", "a", "copied into the retry a.eval, where it counts"),
        ("superseded", "b", "it did not count and was run again in the retry a.eval"),
    ]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_logs_that_come_one_by_one_give_the_same_store(tmp_path: Path, order: tuple[int, int]) -> None:
    paths = [attempt(tmp_path / "x" / "a.eval", 0, FIRST), attempt(tmp_path / "y" / "b.eval", 1, SECOND)]
    take(tmp_path / "at-once.db", *paths)
    for place in order:
        take(tmp_path / "one-by-one.db", paths[place])
    assert contents(tmp_path / "one-by-one.db") == contents(tmp_path / "at-once.db")
    again = take(tmp_path / "one-by-one.db", *paths)
    assert again.count("unchanged") == 2


def test_another_task_is_another_run(tmp_path: Path) -> None:
    old, new = attempt(tmp_path / "a.eval", 0, FIRST), attempt(tmp_path / "b.eval", 1, SECOND, task_id="U")
    take(tmp_path / "s.db", old, new)
    assert [(run, name) for run, name, *_ in stored(tmp_path / "s.db")] == [
        ("r0/viewing", "a"), ("r0/viewing", "b"), ("r1/viewing", "a"), ("r1/viewing", "b"), ("r1/viewing", "c"),
    ]  # fmt: skip


def test_copies_without_an_id_of_their_own_are_known_by_their_times(tmp_path: Path) -> None:
    first = [sample("a", None, "C"), sample("b", None, "C", started_at=logs.at(5)), sample("d", None, "C")]
    second = [sample("a", None, "C"), sample("b", None, "C", started_at=logs.at(6))]
    attempt(tmp_path / "logs" / "a.eval", 0, first)
    attempt(tmp_path / "logs" / "b.eval", 1, second)
    found = [(call.run_id, call.conversation_id) for call in read_source(tmp_path / "logs")]
    assert found == [("r0/viewing", "b"), ("r0/viewing", "d"), ("r1/viewing", "a"), ("r1/viewing", "b")]


def test_of_logs_that_began_at_once_the_name_decides(tmp_path: Path) -> None:
    for name, number in (("2.eval", 0), ("1.eval", 1)):
        attempt(tmp_path / "logs" / name, number, SECOND, created=logs.at(0))
    assert {call.run_id for call in read_source(tmp_path / "logs")} == {"r0/viewing"}
