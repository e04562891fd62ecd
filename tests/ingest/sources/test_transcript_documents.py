"""Native transcripts that are no JSON lines: a document, a list, a page, or several documents in sequence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.limits import limited
from tests.support.source_files import FULL
from tests.surface.ingest import Conversation, Detected, ReadContext, detect, source_of, transcripts_read
from tests.surface.store import Skipped

CALLS = [{"conversation_id": name, "flow": "f", "turns": [{"role": "agent", "text": "Hi [{"}]} for name in "ab"]
PRETTY = [json.dumps(call, indent=1) for call in CALLS]
BOTH = [(1, "a"), (2, "b")]


def written(folder: Path, text: str, name: str = "a.json") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def numbered(path: Path) -> list[tuple[int, str]]:
    found = [each for each in transcripts_read(path, ReadContext()) if isinstance(each, tuple)]
    return [(number, call.conversation_id) for number, call in found]


def skipped(path: Path) -> list[tuple[int | None, str]]:
    found = [each for each in transcripts_read(path, ReadContext()) if isinstance(each, Skipped)]
    return [(each.line, each.reason) for each in found]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(CALLS),
        json.dumps(CALLS, indent=2),
        json.dumps({"conversations": CALLS}),
        json.dumps({"calls": CALLS, "more": False}, indent=1),
        json.dumps({"page": 1, "transcripts": CALLS}, indent=1),
        "\n".join(PRETTY),
        ",\n".join(PRETTY),
        "\n\n\n".join(PRETTY) + "\n",
        "".join(PRETTY),
        ",\n".join(map(json.dumps, CALLS)),
        "[\n" + ",\n".join(map(json.dumps, CALLS)) + "\n]",
        "\n".join(map(json.dumps, CALLS)),
    ],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "flow-transcripts-a.jsonl", "a.json.gz"])
def test_calls_are_taken_in_every_form_and_numbers_are_places(tmp_path: Path, text: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert (detect(path).kind, numbered(path), skipped(path)) == ("transcripts", BOTH, [])


def test_one_document_is_one_call_with_all_that_a_line_has(tmp_path: Path) -> None:
    whole = written(tmp_path, json.dumps(FULL | {"flow": "f"}, indent=2))
    line = written(tmp_path, json.dumps(FULL | {"flow": "f"}), "flow-transcripts-b.jsonl")
    found, same = (list(transcripts_read(path, ReadContext())) for path in (whole, line))
    assert found == same


def test_what_comes_before_a_break_is_taken_and_one_line_says_where_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, "\n".join(PRETTY).partition('"b",')[0] + '"b",')
    assert (detect(path).kind, numbered(path), skipped(path)) == (
        "transcripts",
        BOTH[:1],
        [(2, "the 2nd document breaks off")],
    )
    for text in (json.dumps(CALLS, indent=1)[:-20], json.dumps({"calls": CALLS}, indent=1)[:-20]):
        assert (numbered(written(tmp_path, text)), skipped(path)) == (BOTH[:1], [(2, "the 2nd document breaks off")])


def test_what_is_no_call_is_skipped_and_the_others_are_taken(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps([CALLS[0], {"conversation_id": "x"}, 7, CALLS[1]], indent=1))
    assert numbered(path) == [(1, "a"), (4, "b")]
    assert [number for number, _ in skipped(path)] == [2, 3]
    assert numbered(written(tmp_path, PRETTY[0].replace('"f"', "NaN", 1) + PRETTY[1])) == [(2, "b")]


def test_a_document_that_is_too_large_is_left_out_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riff_ingest.lines.MIB", 300)
    path = written(tmp_path, "\n".join((json.dumps(CALLS[0] | {"persona": "x" * 400}, indent=1), PRETTY[1])))
    with limited(line_mib=1, calls_mib=4):
        assert (numbered(path), [number for number, _ in skipped(path)]) == (BOTH[1:], [1])


@pytest.mark.parametrize(
    "value",
    [
        {"conversations": [{"conversation_id": "a", "message_count": 1}]},
        [{"conversation_id": "a", "flow": "f", "judge": "j", "score": 1}],
        [{"conversation_id": 1, "flow": 2}],
        {"conversation_id": "a", "turns": []},
    ],
)
def test_what_only_looks_alike_is_none(tmp_path: Path, value: Any) -> None:
    assert detect(written(tmp_path, json.dumps(value, indent=1))).kind != "transcripts"


def test_a_dump_of_riff_tui_is_refused_with_what_to_do(tmp_path: Path) -> None:
    dump = {"view": "conversation", "schema_version": 1, "filter": "a", "columns": [], "rows": []}
    reason = "a dump of riff-tui, which shows what is in a store; ingest what that was made of"
    assert detect(written(tmp_path, json.dumps(dump, indent=1))) == Detected(None, reason)


TEXT = "\n".join((*PRETTY, json.dumps(CALLS), json.dumps({"calls": CALLS})))


@given(st.integers(0, len(TEXT)), st.text('{}[],"\\ \nab', max_size=8))
def test_bytes_anywhere_give_calls_or_reasons(
    tmp_path_factory: pytest.TempPathFactory, place: int, inserted: str
) -> None:
    path = written(tmp_path_factory.mktemp("odd"), TEXT[:place] + inserted + TEXT[place + 3 :])
    detect(path)
    for each in transcripts_read(path, ReadContext()):
        assert isinstance(each[1] if isinstance(each, tuple) else each, Conversation | Skipped)


def test_lines_are_read_one_by_one_however_long_they_are(tmp_path: Path) -> None:
    turns = [{"role": "agent", "text": "Hi"}] * 60_000
    long = written(tmp_path, "".join(json.dumps({**call, "turns": turns}) + "\n" for call in CALLS), "a.jsonl")
    source = source_of("transcripts")
    assert source is not None
    assert source.in_lines(long)
    assert numbered(long) == BOTH
