"""Records of calls as a platform gave them: one document or lines, and the best of each call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.limits import limited
from tests.surface.ingest import BrokenInput, CallRecord, Candidate, read_call_records


def sketch(value: Any) -> Candidate | None:
    return Candidate(value["id"], value.get("full", 0)) if isinstance(value, dict) and "id" in value else None


def taken(path: Path, content: str) -> list[tuple[int | None, str]]:
    """What is read of a file: the number of each record, with the call that it is of or why it was left out."""
    path.write_text(content)
    return [
        (each.number, each.value["id"]) if isinstance(each, CallRecord) else (each.line, each.reason)
        for each in read_call_records(path, sketch)
    ]


def test_the_record_with_most_in_it_counts_and_of_equal_ones_the_last(tmp_path: Path) -> None:
    lines = '{"id": "a"}\n{"id": "a", "full": 2}\n{"id": "b"}\n{"id": "a", "full": 1}\n{"id": "b"}\n'

    def found(what: str) -> list[tuple[int, str]]:
        told = "{} {} has more of this call".format
        return [(1, told(what, 2)), (2, "a"), (3, told(what, 5)), (4, told(what, 2)), (5, "b")]

    assert taken(tmp_path / "x", lines) == found("line")
    as_list = f"[{lines.strip().replace(chr(10), ',')}]"
    assert taken(tmp_path / "x", as_list) == found("entry")
    assert taken(tmp_path / "x", f'{{"items": {as_list}, "has_more": false}}') == found("entry")


def test_of_records_with_as_much_in_them_the_one_sent_last_counts() -> None:
    records = ((3, 1.9e12), (4, None), (4, 1.7683e12), (4, 1.8e12))
    ranks = [Candidate("a", stage, sent).filled for stage, sent in records]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)
    assert all(0 <= Candidate("a", 7, sent).filled < 2**31 for sent in (None, -1.0, 0.0, 1e14))


def test_a_broken_line_or_entry_costs_no_other(tmp_path: Path) -> None:
    lines = '{"id":\n{"id": "a"}\n7\n{"id": "b"}\n'
    assert taken(tmp_path / "x", lines) == [
        (1, "line is not JSON: it ends too early"),
        (2, "a"),
        (3, "line is not a call"),
        (4, "b"),
    ]
    assert taken(tmp_path / "x", '[{"id": "a"}, 7, {"id": "b"}]') == [(1, "a"), (2, "entry is not a call"), (3, "b")]


def test_what_other_programs_write_into_numbers_is_read(tmp_path: Path) -> None:
    assert taken(tmp_path / "x", '[{"id": "a", "n": NaN}, {"id": "b"}]') == [(1, "a"), (2, "b")]


def test_one_document_over_many_lines_is_no_lines(tmp_path: Path) -> None:
    assert taken(tmp_path / "x", '{\n"id": "a",\n"full":\n{}\n}'.replace("{}", "1")) == [(1, "a")]
    assert taken(tmp_path / "x", '[\n{"id": "a"},\n{"id": "b"}\n]') == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("cut", ['{"id": "c", "wo', "", "7 8"])
def test_of_a_list_that_breaks_off_what_comes_before_is_taken(tmp_path: Path, cut: str) -> None:
    *calls, (number, reason) = taken(tmp_path / "x", f'[{{"id": "a"}},\n {{"id": "b"}}, {cut}')
    assert (calls[:2], number) == ([(1, "a"), (2, "b")], None)
    assert reason.startswith("file is not JSON: ")
    assert reason.endswith("; what follows was not read")


@pytest.mark.parametrize("content", ["", "[", "{", "nothing", '[{"id": "a"'])
def test_what_is_no_json_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(BrokenInput):
        taken(tmp_path / "x", content)


def test_a_document_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riff_ingest.lines.MIB", 10)
    with limited(calls_mib=1), pytest.raises(BrokenInput, match=r"larger than 1 MiB \(limits.calls_mib\)"):
        taken(tmp_path / "x", '[{"id": "a"}, {"id": "b"}]')


@pytest.mark.parametrize("between", ["\n", "\n\n", ",\n", "", " "])
def test_documents_one_after_the_other_are_records(tmp_path: Path, between: str) -> None:
    pretty = between.join(['{\n "id": "a"\n}', '{\n "id": "b"\n}'])
    assert taken(tmp_path / "x", pretty + "\n") == [(1, "a"), (2, "b")]
    cut = taken(tmp_path / "x", pretty + '\n{\n "id": ')
    assert cut[:2] == [(1, "a"), (2, "b")]
    assert len(cut) == 3
    assert str(cut[2][1]).endswith("; what follows was not read")
