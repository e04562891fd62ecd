"""One large JSON document, read member by member."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.limits import limited
from tests.surface.ingest import BrokenInput, Member, json_members, loads, read_members

_KEYS = st.sampled_from(["a", "list", 'say "x" \\ [', "ü", "other"])
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.sampled_from('ab"\\[]{},:ü\u2028\n'), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)
_DOCUMENTS = st.dictionaries(_KEYS, _VALUES | st.lists(_VALUES, max_size=6), max_size=5)
_FIXTURES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(30)
)


@pytest.fixture(params=[3, 1 << 18], ids=["in small pieces", "at once"])
def pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Read files in pieces of some size."""
    size: int = request.param
    monkeypatch.setattr(json_members, "_AT_ONCE", 1)
    monkeypatch.setattr(
        json_members,
        "read_pieces",
        lambda path: (path.read_bytes()[at : at + size] for at in range(0, path.stat().st_size, size)),
    )
    return size


@_FIXTURES
@given(document=_DOCUMENTS, indent=st.sampled_from([None, 0, 2]), ascii_only=st.booleans())
def test_members_are_those_of_the_document(
    tmp_path: Path, pieces: int, document: dict[str, Any], indent: int | None, ascii_only: bool
) -> None:
    path = tmp_path / "whole.json"
    path.write_text(json.dumps(document, indent=indent, ensure_ascii=ascii_only), "utf-8")
    listed = [key for key in document if isinstance(document[key], list)]
    found: dict[str, Any] = {}
    for member in read_members(path, document.keys(), listed):
        assert isinstance(member, Member)
        value = loads(member.value)
        if member.place is None:
            found[member.key] = value
        else:
            assert member.place == len(found.setdefault(member.key, []))
            found[member.key].append(value)
    assert found == loads(path.read_bytes())


def test_a_number_that_was_cut_at_its_exponent_is_no_element(tmp_path: Path, pieces: int) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(b'{"list": [[], 1.5e')
    taken, reason = _until_broken(path)
    assert (taken, reason) == ([[]], "file ends too early, within list, number 2; what comes before was read")


@_FIXTURES
@given(elements=st.lists(_VALUES, min_size=1, max_size=4), data=st.data())
def test_of_a_cut_file_the_elements_before_the_cut_are_taken(
    tmp_path: Path, pieces: int, elements: list[Any], data: st.DataObject
) -> None:
    whole = json.dumps({"before": 1, "list": elements}).encode()
    cut = data.draw(st.integers(0, len(whole) - 1))
    path = tmp_path / "cut.json"
    path.write_bytes(whole[:cut])
    taken, reason = _until_broken(path)
    assert re.fullmatch(r"file ends too early, within .*; what comes before was read", reason)
    # A number at the cut may be one that is cut itself.
    sure = taken[:-1] if taken and isinstance(taken[-1], int | float) else taken
    assert sure == loads(json.dumps(elements).encode())[: len(sure)]
    ends = [len(json.dumps({"before": 1, "list": elements[: n + 1]})) - 2 for n in range(len(elements))]
    assert len(taken) >= sum(end < cut for end in ends)


def _until_broken(path: Path) -> tuple[list[Any], str]:
    """Return the elements of the list that can be read, and why there are no more."""
    taken = []
    try:
        for member in read_members(path, lists=["list"]):
            assert isinstance(member, Member)
            taken.append(loads(member.value))
    except BrokenInput as problem:
        return taken, problem.reason
    return taken, "it can be read to its end"


def test_a_value_that_is_too_large_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(json.dumps({"list": [1, ["x" * 1000] * 4000, {"a": 2}], "last": 3}), "utf-8")
    with limited(line_mib=1):
        found = list(read_members(path, ["last"], ["list"]))
    assert found == [
        Member("list", b"1", 0),
        "list, number 2 is larger than 1 MiB (limits.line_mib)",
        Member("list", b'{"a": 2}', 2),
        Member("last", b"3"),
    ]


def test_a_broken_element_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"list": [{"a": nope}, {"a": [NaN, "]"]}, 3]}', "utf-8")
    assert [member.value for member in read_members(path, lists=["list"]) if isinstance(member, Member)] == [
        b'{"a": nope}',
        b'{"a": [NaN, "]"]}',
        b"3",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1]", "file is not JSON from its beginning on; what comes before was read"),
        ('{"list": [1 2]}', "file is not JSON from list, number 1 on; what comes before was read"),
        ('{"list": [1]} {}', "more follows after the end of the JSON object; it was not read"),
        ("", "file ends too early, within its beginning; what comes before was read"),
    ],
)
def test_what_is_no_json_object_says_why(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text, "utf-8")
    with pytest.raises(BrokenInput) as problem:
        list(read_members(path, lists=["list"]))
    assert problem.value.reason == reason


def test_gzip_and_a_byte_order_mark_are_read_through(tmp_path: Path) -> None:
    path = tmp_path / "packed.json.gz"
    whole = gzip.compress('{"list": ["é"]}'.encode("utf-8-sig"))
    path.write_bytes(whole)
    assert list(read_members(path, lists=["list"])) == [Member("list", '"é"'.encode(), 0)]
    path.write_bytes(whole[:-9])
    with pytest.raises(BrokenInput, match="gzip data ends too early"):
        list(read_members(path, lists=["list"]))
