"""Patterns say which file belongs to which flow, whatever the names hold."""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import BadPattern, literal, parse_pattern
from tests.surface.ingest import patterns_flow_of as flow_of


@pytest.mark.parametrize(
    ("pattern", "path", "flow"),
    [
        ("flows/{flow}.*", b"flows/dental.toml", "dental"),
        ("flows/{flow}.*", b"flows/dental.v2.toml", "dental.v2"),
        ("flows/{flow}.*", b"flows/dental", None),
        ("flows/{flow}.*", b"flows/deep/dental.toml", None),
        ("flows/{flow}.*", b"other/flows/dental.toml", None),
        ("./flows/{flow}.*", b"flows/dental.toml", "dental"),
        ("flows/{flow}/**", b"flows/dental/a.toml", "dental"),
        ("flows/{flow}/**", b"flows/dental/deep/er/a.toml", "dental"),
        ("flows/{flow}/**", b"flows/dental", None),
        ("**/{flow}.flow", b"dental.flow", "dental"),
        ("**/{flow}.flow", b"a/b/dental.flow", "dental"),
        ("a/**/{flow}.flow", b"a/dental.flow", "dental"),
        ("{flow}/{flow}.json", b"dental/dental.json", "dental"),
        ("{flow}/{flow}.json", b"dental/other.json", None),
        ("flow-?-{flow}.toml", b"flow-a-dental.toml", "dental"),
        ("flow-?-{flow}.toml", b"flow-/-dental.toml", None),
        ("[a]/{flow}.x", b"[a]/dental.x", "dental"),
        ("[a]/{flow}.x", b"a/dental.x", None),
        ("{other}/{flow}.x", b"{other}/dental.x", "dental"),
        ("flows/{flow}.*", b"flows/-rf\n\"'\x1b.toml", "-rf\n\"'\x1b"),
        ("flows/{flow}.*", b"flows/\xff\xfe.toml", "\\xff\\xfe"),
        ("flows/{flow}.*", "flows/zahnärztin.toml".encode(), "zahnärztin"),
    ],
)
def test_a_path_belongs_to_a_flow_or_to_none(pattern: str, path: bytes, flow: str | None) -> None:
    assert parse_pattern(pattern).flow_of(path) == flow


@pytest.mark.parametrize(
    "pattern",
    ["", "flows/*.toml", "/flows/{flow}", "flows//{flow}", "../{flow}", "a/./{flow}", "{flow}/", "x/{flow}\0"],
)
def test_a_pattern_that_can_name_no_flow_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern, match=r"flows/\{flow\}\.\*"):
        parse_pattern(pattern)


def test_a_pattern_counts_from_the_directory_that_was_given() -> None:
    pattern = parse_pattern("flows/{flow}.*", b"team [a]/")
    assert pattern.flow_of(b"team [a]/flows/dental.toml") == "dental"
    assert pattern.flow_of(b"flows/dental.toml") is None
    assert pattern.pathspec == b":(top,glob)team \\[a]/flows/*.*"


def test_the_first_pattern_that_matches_names_the_flow() -> None:
    patterns = [parse_pattern("flows/{flow}.toml"), parse_pattern("flows/{flow}.*")]
    assert flow_of(patterns, b"flows/a.toml") == "a"
    assert flow_of(patterns, b"flows/a.json") == "a"
    assert flow_of(patterns, b"readme") is None


def test_a_literal_path_is_no_pattern() -> None:
    assert literal(b"-a*?[") == b":(top,literal)-a*?["


NAMES = st.binary(min_size=1, max_size=12).filter(
    lambda name: not re.search(rb"[/\0]", name) and name not in (b".", b"..")
)


@given(directory=NAMES, name=NAMES)
def test_any_name_of_a_file_is_found_under_its_own_literal_text(directory: bytes, name: bytes) -> None:
    if b"{flow}" in directory or re.search(rb"[*?]", directory):
        return
    pattern = parse_pattern(os.fsdecode(directory) + "/{flow}.toml") if directory != b"**" else parse_pattern("{flow}")
    assert pattern.flow_of(directory + b"/" + name + b".toml") == name.decode("utf-8", "backslashreplace")
