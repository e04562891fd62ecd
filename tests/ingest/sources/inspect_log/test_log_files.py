"""Logs that are broken, hostile or not finished: what can be read is taken, the rest has a reason."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riff_ingest import Conversation
from tests.support import inspect_logs as logs
from tests.support.examples import examples
from tests.support.limits import limited
from tests.support.strategies import JSON
from tests.surface.ingest import INSPECT_LOG_SOURCE as SOURCE
from tests.surface.ingest import ReadContext, archive, detect, facts_of, find_inputs, to_conversation
from tests.surface.ingest import archive as log
from tests.surface.store import Skipped

anything = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(20)
)


def read(path: Path) -> tuple[list[Conversation], list[tuple[str | None, str]]]:
    """Return the calls of a file, each of which can be stored, and what was left out."""
    found = list(SOURCE.items(path, ReadContext()))
    calls = [item[1] for item in found if isinstance(item, tuple)]
    for call in calls:
        facts_of(call, default_run="run")
    return calls, [(item.conversation, item.reason) for item in found if isinstance(item, Skipped)]


def read_zip(directory: Path, members: list[logs.Member]) -> tuple[list[Conversation], list[tuple[str | None, str]]]:
    path = directory / "log.eval"
    path.write_bytes(logs.zip_of(members))
    return read(path)


def names(calls: list[Conversation]) -> list[str]:
    return [call.conversation_id for call in calls]


def two() -> list[logs.Member]:
    """The members of a log with two calls."""
    return logs.members([logs.viewing("s1"), logs.viewing("s2")])


def with_sample(**says: int) -> list[logs.Member]:
    """The same, in which the list of members says something else of the first call."""
    return [each._replace(says=says) if each.name.startswith("samples/s1") else each for each in two()]


def test_of_two_members_of_one_name_the_last_holds(tmp_path: Path) -> None:
    first = [logs.member("samples/s1_epoch_1.json", logs.viewing("earlier")), logs.member("header.json", b"broken")]
    calls, left_out = read_zip(tmp_path, [*first, *two()])
    assert (names(calls), left_out) == (["s1", "s2"], [])


def test_a_run_that_goes_on_is_read_from_its_journal(tmp_path: Path) -> None:
    members = [each for each in two() if each.name not in ("header.json", "summaries.json")]
    calls, left_out = read_zip(tmp_path, members)
    assert names(calls) == ["s1", "s2"]
    assert {(call.flow, call.agent_model) for call in calls} == {("viewing", "acme/agent")}
    assert left_out == [(None, log.UNFINISHED)]
    assert detect(tmp_path / "log.eval").reason == "it is a zip file with _journal/start.json"


@pytest.mark.parametrize(
    ("status", "reason"),
    [("error", "its run ended with an error"), ("cancelled", "its run was cancelled"), ("started", log.UNFINISHED)],
)
def test_a_run_that_did_not_end_well_says_so_in_both_forms(tmp_path: Path, status: str, reason: str) -> None:
    header = logs.header() | {"status": status}
    (tmp_path / "log.json").write_text(json.dumps(header | {"samples": [logs.viewing()]}))
    assert read(tmp_path / "log.json") == read_zip(tmp_path, [*two()[:2], logs.member("header.json", header)])
    assert read(tmp_path / "log.json")[1] == [(None, reason)]


def test_a_log_without_samples_says_so(tmp_path: Path) -> None:
    assert read(logs.write_json(tmp_path / "log.json", [])) == ([], [(None, to_conversation.NO_SAMPLES)])
    assert read(logs.write_eval(tmp_path / "log.eval", [])) == ([], [(None, to_conversation.NO_SAMPLES)])


def test_a_header_that_is_damaged_is_replaced_by_the_journal(tmp_path: Path) -> None:
    members = [*two(), logs.member("header.json", b'{"eval": ')]
    calls, left_out = read_zip(tmp_path, members)
    assert names(calls) == ["s1", "s2"]
    assert left_out == [(None, "header.json cannot be read: header.json is not JSON: it ends too early")]


def test_a_sample_in_chunks_is_not_read_and_said_so_once(tmp_path: Path) -> None:
    chunks = [logs.member(f"samples/big_epoch_1/{name}", {}) for name in ("sample.json", "messages/0.json")]
    calls, left_out = read_zip(tmp_path, [*two(), *chunks])
    assert (names(calls), left_out) == (["s1", "s2"], [("big", log.CHUNKED)])


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ({"flags": 1}, "the member is encrypted"),
        ({"method": 20}, "the member is packed with method 20, which is not read"),
        ({"crc": 1}, "the member is damaged: checksum mismatch"),
        ({"size": 10}, "the member does not have the size in the list of members"),
        ({"size": 10**6}, "the member does not have the size in the list of members"),
        ({"size": 2**31}, "the member is larger than 64 MiB (limits.line_mib)"),
        ({"packed": 10**6}, "the member is cut off"),
        ({"packed": 5}, "the member does not have the size in the list of members"),
        ({"offset": 3}, "the member is not where the list of members has it"),
        ({"method": logs.DEFLATE}, "the member is damaged and cannot be unpacked"),
    ],
)
def test_a_member_that_cannot_be_read_costs_only_its_call(tmp_path: Path, says: dict[str, int], reason: str) -> None:
    calls, left_out = read_zip(tmp_path, with_sample(**says))
    assert names(calls) == ["s2"]
    assert left_out == [("s1", f"its sample cannot be read: {reason}")]


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b'{"epoch": 1}', b'{"id": "s1", ', b'{"id": [1]}'])
def test_a_sample_that_is_none_costs_only_its_call(tmp_path: Path, content: bytes) -> None:
    calls, left_out = read_zip(tmp_path, [*two(), logs.member("samples/s1_epoch_1.json", content)])
    assert names(calls) == ["s2"]
    assert [name for name, _ in left_out] == ["s1"]


@pytest.mark.parametrize("method", [logs.ZSTD, logs.DEFLATE])
def test_a_member_that_unpacks_to_more_than_it_says_is_not_unpacked_whole(
    tmp_path: Path, method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = logs.member("samples/s1_epoch_1.json", b" " * 10_000_000, method, size=1000)
    calls, left_out = read_zip(tmp_path, [*two(), bomb])
    assert names(calls) == ["s2"]
    assert "does not have the size" in left_out[0][1]
    monkeypatch.setattr(archive, "FREE_EXPANSION", 1_000_000)
    honest = logs.member("samples/s1_epoch_1.json", b" " * 10_000_000, method)
    calls, left_out = read_zip(tmp_path, [*two(), honest])
    assert "more than 200 times its size (limits.expansion)" in left_out[0][1]


def test_a_zip_file_within_a_zip_file_is_not_opened(tmp_path: Path) -> None:
    nested = logs.zip_of(two())
    calls, left_out = read_zip(tmp_path, [*two(), logs.member("samples/s1_epoch_1.json", nested)])
    assert names(calls) == ["s2"]
    assert len(left_out) == 1


def test_limits_hold_for_the_list_of_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with limited(zip_members=3):
        assert read_zip(tmp_path, two()) == ([], [(None, "it has more than 3 members (limits.zip_members)")])
    monkeypatch.setattr("riff_ingest.lines.MIB", 1)
    with limited(zip_list_mib=50):
        reason = "its list of members is larger than 50 MiB (limits.zip_list_mib)"
        assert read(tmp_path / "log.eval") == ([], [(None, reason)])


def test_names_of_members_reach_no_disk(tmp_path: Path) -> None:
    path = tmp_path / "in" / "log.eval"
    path.parent.mkdir()
    climbing = ["../../evil_epoch_1.json", "/tmp/evil_epoch_1.json", "samples/../../../evil_epoch_1.json"]
    found = [logs.member(name, logs.viewing("evil")) for name in climbing]
    path.write_bytes(logs.zip_of([*found, *two()]))
    assert names(read(path)[0]) == ["s1", "s2", "evil"]
    assert [each.name for each in tmp_path.rglob("*")] == ["in", "log.eval"]


def test_a_sample_that_is_listed_and_missing_is_said(tmp_path: Path) -> None:
    finished = [each for each in two() if not each.name.startswith("samples/s1")]
    calls, left_out = read_zip(tmp_path, finished)
    assert (names(calls), left_out) == (["s2"], [("s1", log.MISSING)])
    running = [each._replace(name=each.name.replace("summaries", "_journal/summaries/1")) for each in finished]
    assert read_zip(tmp_path, running)[1] == [("s1", log.MISSING)]


def test_what_is_called_eval_and_is_no_log_is_found_and_refused(tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(logs.zip_of([logs.member("notes.txt", b"hello")]))
    (tmp_path / "b.eval").write_bytes(b"PK\x03\x04 and then nothing")
    (tmp_path / "c.eval").write_text("hello")
    (tmp_path / "d.eval").write_bytes(b"")
    found = find_inputs([tmp_path])
    assert [read(path)[1][0][1] for path in found.files] == [
        log.NO_HEADER,
        "it is not a zip file, or was cut off before its list of members",
        to_conversation.NEITHER,
        to_conversation.EMPTY,
    ]


def test_a_log_that_is_cut_off_anywhere_has_a_reason(tmp_path: Path) -> None:
    whole, path = logs.zip_of(two()), tmp_path / "log.eval"
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        calls, left_out = read(path)
        assert calls == []
        assert len(left_out) == 1


def test_flipped_bytes_never_raise_and_never_give_another_call(tmp_path: Path) -> None:
    whole, path, dice = logs.zip_of(two()), tmp_path / "log.eval", random.Random(20)
    path.write_bytes(whole)
    good = {str(call) for call in read(path)[0]}
    for _ in range(300):
        place = dice.randrange(len(whole))
        path.write_bytes(whole[:place] + bytes([whole[place] ^ dice.randrange(1, 256)]) + whole[place + 1 :])
        calls, left_out = read(path)
        taken = {str(call) for call in calls}
        assert taken <= good
        assert taken == good or left_out


@anything
@given(st.permutations(two()))
def test_members_may_lie_in_any_order(tmp_path: Path, members: list[logs.Member]) -> None:
    calls, left_out = read_zip(tmp_path, list(members))
    assert (names(calls), left_out) == (["s1", "s2"], [])


@anything
@given(
    st.dictionaries(st.sampled_from(sorted(logs.sample())), JSON),
    st.dictionaries(st.sampled_from(["event", "id", "span_id", "timestamp", "output", "tools", "role", "error"]), JSON),
    st.dictionaries(st.sampled_from(["role", "content", "id", "tool_calls", "tool_call_id", "error"]), JSON),
)
def test_no_part_of_a_wrong_type_raises(
    tmp_path: Path, fields: dict[str, Any], event: dict[str, Any], message: dict[str, Any]
) -> None:
    whole = logs.viewing()
    whole["events"] = [each | event for each in whole["events"]]
    whole["messages"] = [each | message for each in whole["messages"]]
    calls, left_out = read(logs.write_json(tmp_path / "log.json", [whole | fields, whole]))
    assert len(calls) + len(left_out) >= 2


@anything
@given(st.dictionaries(st.sampled_from(sorted(logs.header()["eval"])), JSON), JSON)
def test_no_header_of_a_wrong_type_raises(tmp_path: Path, fields: dict[str, Any], results: Any) -> None:
    document = logs.header(**fields) | {"results": results, "samples": [logs.viewing()]}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    assert names(read(path)[0]) == ["s1"]


@anything
@given(st.data())
def test_a_document_that_is_cut_off_has_its_samples_up_to_there(tmp_path: Path, data: st.DataObject) -> None:
    path = logs.write_json(tmp_path / "log.json", [logs.viewing("s1"), logs.viewing("s2")])
    whole = path.read_bytes()
    ends = [whole.index(b', {"id": "s2"'), len(whole) - 2]
    path.write_bytes(whole[: (end := data.draw(st.integers(0, len(whole) - 1)))])
    calls, left_out = read(path)
    assert names(calls) == ["s1", "s2"][: sum(end >= place for place in ends)]
    assert len(left_out) == 1


def test_what_plain_json_cannot_hold_is_counted_and_the_rest_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    given = logs.viewing(total_time=float("inf"), metadata={"persona": "\udc80 calm"})
    path.write_text(json.dumps(logs.header() | {"samples": [given]}))
    calls, _ = read(path)
    assert (calls[0].persona, calls[0].duration_s) == ("\ufffd calm", 60.0)
    assert calls[0].turns


def test_a_document_may_be_packed_with_gzip(tmp_path: Path) -> None:
    path = logs.write_json(tmp_path / "log.json", [logs.viewing()])
    packed = tmp_path / "log.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert names(read(packed)[0]) == ["s1"]
    assert detect(packed).kind == "inspect"
