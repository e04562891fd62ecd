"""Logs as they should not be: whatever happens to a record, it is read, stored, and what was wrong is told."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riff_ingest.eva import read_record
from tests.support.eva_runs import files, make_run, notes, take, with_metrics
from tests.support.examples import examples
from tests.surface.ingest import Item, load, plan_of
from tests.surface.store import ConversationFacts, Skipped

FRAMEWORK, SIMULATOR, AUDIT = "framework_logs.jsonl", "user_simulator_events.jsonl", "audit_log.json"
RECORD = with_metrics(files(), faithfulness={"normalized_score": 0.5}, task_completion={"score": 1.0})
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**60, 10**400, 1e308, -5e15, float("nan"), "", "9" * 5000, [], {}, [[[]]], {"text": {}},
    "\ud800", "\x1b[2J", "../../x", "[/red]", "x" * 300,
)  # fmt: skip


def read(record: Mapping[str, bytes]) -> tuple[list[str], list[Item]]:
    """The warnings of a record, and all that ingest makes of it."""
    with tempfile.TemporaryDirectory() as folder:
        directory = make_run(Path(folder), {"1.1.2": record}) / "records" / "1.1.2"
        return read_record(directory).warnings, list(load(plan_of(directory, "eva", with_text=True)))


def lines(record: Mapping[str, bytes], log: str) -> list[bytes]:
    return record[log].splitlines(keepends=True)


def entries(record: Mapping[str, bytes]) -> list[dict[str, Any]]:
    return list(json.loads(record[AUDIT])["transcript"])


def with_entries(record: Mapping[str, bytes], transcript: list[dict[str, Any]]) -> dict[str, bytes]:
    return {**record, AUDIT: json.dumps({"transcript": transcript}).encode()}


def later(line: bytes, by: int) -> bytes:
    """The line of a log with a later time."""
    record = json.loads(line)
    return json.dumps({**record, "timestamp": record["timestamp"] + by}).encode() + b"\n"


def told(record: Mapping[str, bytes], kind: str) -> None:
    """Reading a record warns of a kind of trouble, and ingest stores the call and hands the warning on."""
    warnings, items = read(record)
    assert kind in {warning.partition(":")[0] for warning in warnings}, warnings
    assert isinstance(items[0], ConversationFacts)
    assert {item.reason for item in items if isinstance(item, Skipped)} >= set(warnings)


def test_a_record_as_it_should_be_gives_no_warning() -> None:
    warnings, items = read(RECORD)
    assert warnings == []
    assert not any(isinstance(item, Skipped) for item in items)


@given(log=st.sampled_from([FRAMEWORK, SIMULATOR]), seed=st.integers(0, 2**32))
@settings(max_examples=examples(20))
def test_shuffled_lines_are_told(log: str, seed: int) -> None:
    shuffled = lines(RECORD, log)
    random.Random(seed).shuffle(shuffled)
    told({**RECORD, log: b"".join(shuffled)}, f"{log.split('_')[0].replace('user', 'simulator')}_log_out_of_order")


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(15))
def test_shuffled_entries_are_told(seed: int) -> None:
    shuffled = entries(RECORD)
    random.Random(seed).shuffle(shuffled)
    told(with_entries(RECORD, shuffled), "audit_out_of_order")


@given(data=st.data())
@settings(max_examples=examples(20))
def test_a_line_that_stands_there_twice_is_told(data: st.DataObject) -> None:
    doubled = lines(RECORD, SIMULATOR)
    place = data.draw(st.integers(0, len(doubled) - 1))
    doubled.insert(place, doubled[place])
    told({**RECORD, SIMULATOR: b"".join(doubled)}, "simulator_log_duplicate_line")
    twice = entries(RECORD)
    place = data.draw(st.integers(0, len(twice) - 1))
    twice.insert(place, twice[place])
    told(with_entries(RECORD, twice), "audit_duplicate_entry")


def test_doubled_ends_of_turns_and_sentences_are_told_but_words_may_be_said_twice() -> None:
    log = lines(RECORD, FRAMEWORK)
    ends = [place for place, line in enumerate(log) if b'"turn_end"' in line]
    words = [place for place, line in enumerate(log) if b'"tts_text"' in line]
    doubled = [*log[: ends[1]], log[ends[1]], *log[ends[1] :]]
    told({**RECORD, FRAMEWORK: b"".join(doubled)}, "framework_log_duplicate_line")
    stuttered = [*log[: words[3]], log[words[3]], *log[words[3] :]]
    assert read({**RECORD, FRAMEWORK: b"".join(stuttered)})[0] == []


@given(log=st.sampled_from([FRAMEWORK, SIMULATOR]), data=st.data())
@settings(max_examples=examples(20))
def test_a_line_that_comes_too_late_is_told(log: str, data: st.DataObject) -> None:
    delayed = lines(RECORD, log)
    place = data.draw(st.integers(0, len(delayed) - 20))
    if b'"transcript"' in delayed[place]:
        place += 1  # lines of this type are not read
    delayed[place] = later(delayed[place], 3_600_000)
    told({**RECORD, log: b"".join(delayed)}, f"{log.split('_')[0].replace('user', 'simulator')}_log_out_of_order")


@given(name=st.sampled_from(sorted(RECORD)), data=st.data())
@settings(max_examples=examples(30))
def test_a_file_that_ends_too_early_is_told(name: str, data: st.DataObject) -> None:
    content = RECORD[name].rstrip()
    end = data.draw(st.integers(1, len(content) - 1))
    cut = content[:end]
    if name.endswith(".jsonl") and cut.rsplit(b"\n", 1)[-1].strip() == b"":
        return  # it ends with a whole line
    kinds = {FRAMEWORK: "framework_log_broken_line", SIMULATOR: "simulator_log_broken_line", AUDIT: "audit_log_missing"}
    kind = kinds.get(name, f"{name.removesuffix('.json')}_unreadable")
    if name == "metrics.json":
        _, items = read({**RECORD, name: cut})
        assert any(isinstance(item, Skipped) and item.reason.startswith(kind) for item in items)
    elif not (name.endswith(".jsonl") and b"\n" + cut.rsplit(b"\n", 1)[-1] + b"\n" in b"\n" + content + b"\n"):
        told({**RECORD, name: cut}, kind)


@given(names=st.sets(st.sampled_from(sorted(RECORD))))
@settings(max_examples=examples(20))
def test_any_files_may_be_missing(names: set[str]) -> None:
    _, items = read({name: content for name, content in RECORD.items() if name not in names})
    assert sum(isinstance(item, ConversationFacts) for item in items) == 1


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(60))
def test_whatever_a_file_holds_the_call_is_stored(seed: int) -> None:
    _, items = read(_mutated(RECORD, random.Random(seed)))
    assert sum(isinstance(item, ConversationFacts) for item in items) == 1


@pytest.mark.parametrize("change", ["drop", "double", "shuffle", "odd"])
def test_the_real_record_survives_the_same(shared_data: Path, tmp_path: Path, change: str) -> None:
    real = shared_data / "eva" / "run-real" / "records" / "1.1.2"
    unread = ("transcript.jsonl", "pipecat_metrics.jsonl")
    record = {path.name: path.read_bytes() for path in real.iterdir() if path.name not in unread}
    dice = random.Random(change)
    for round_ in range(4):
        changed = _CHANGES[change](record, dice)
        store = tmp_path / f"{round_}.db"
        assert take(store, make_run(tmp_path / str(round_), {"1.1.2": changed})).conversations("taken") == 1
        if change in ("double", "shuffle"):
            assert notes(store)


def test_a_line_of_the_real_record_that_is_gone_is_noted(shared_data: Path, tmp_path: Path) -> None:
    real = shared_data / "eva" / "run-real" / "records" / "1.1.2"
    record = {path.name: path.read_bytes() for path in real.iterdir()}
    for place in (0, 7, 30, 61):
        kept = lines(record, "elevenlabs_events.jsonl")
        del kept[place]
        store = tmp_path / f"{place}.db"
        changed = {**record, "elevenlabs_events.jsonl": b"".join(kept)}
        take(store, make_run(tmp_path / str(place), {"1.1.2": changed}))
        assert any("simulator_log_lines_missing" in reason for _, reason in notes(store))


def _mutated(record: Mapping[str, bytes], dice: random.Random) -> dict[str, bytes]:
    found = dict(record)
    for _ in range(dice.randrange(1, 4)):
        found = dice.choice(list(_CHANGES.values()))(found, dice)
    return found


def _dropped(record: Mapping[str, bytes], dice: random.Random) -> dict[str, bytes]:
    log = _log_of(record, dice)
    kept = lines(record, log)
    for _ in range(min(len(kept), dice.randrange(1, 6))):
        kept.pop(dice.randrange(len(kept)))
    return {**record, log: b"".join(kept)}


def _doubled(record: Mapping[str, bytes], dice: random.Random) -> dict[str, bytes]:
    simulator = next(name for name in (SIMULATOR, "elevenlabs_events.jsonl") if name in record)
    found = lines(record, simulator)
    place = dice.randrange(len(found))
    found.insert(dice.randrange(len(found)), found[place])
    return {**record, simulator: b"".join(found)}


def _shuffled(record: Mapping[str, bytes], dice: random.Random) -> dict[str, bytes]:
    log = _log_of(record, dice)
    found = lines(record, log)
    dice.shuffle(found)
    return {**record, log: b"".join(found)}


def _with_odd_value(record: Mapping[str, bytes], dice: random.Random) -> dict[str, bytes]:
    name = dice.choice([name for name in record if ".json" in name])
    if name.endswith(".jsonl"):
        found = lines(record, name)
        place = dice.randrange(len(found)) if found else 0
        found[place : place + 1] = [_odd(line, dice) + b"\n" for line in found[place : place + 1]]
        return {**record, name: b"".join(found)}
    return {**record, name: _odd(record[name], dice)}


def _odd(content: bytes, dice: random.Random) -> bytes:
    try:
        value = json.loads(content)
    except ValueError:
        return content[: dice.randrange(len(content) + 1)]
    return json.dumps(_bent(value, dice)).encode()


def _bent(value: Any, dice: random.Random) -> Any:
    """A value in which something, at any depth, is something else or gone."""
    if isinstance(value, dict) and value and dice.random() < 0.9:
        key = dice.choice(list(value))
        if dice.random() < 0.1:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _bent(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        place = dice.randrange(len(value))
        return [*value[:place], _bent(value[place], dice), *value[place + 1 :]]
    return dice.choice(ODD)


def _log_of(record: Mapping[str, bytes], dice: random.Random) -> str:
    return dice.choice([name for name in record if name.endswith(".jsonl")])


_CHANGES: dict[str, Callable[[Mapping[str, bytes], random.Random], dict[str, bytes]]] = {
    "drop": _dropped,
    "double": _doubled,
    "shuffle": _shuffled,
    "odd": _with_odd_value,
}
