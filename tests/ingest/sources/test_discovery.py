"""Which files a user's paths stand for, whatever their names, kinds, links and order."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.dirty_inputs import GOOD, odd_directories
from tests.support.source_files import FULL, NATIVE
from tests.support.source_registry import add_source, box_source
from tests.surface.ingest import find_inputs, registry


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory of inputs and of other things."""
    root = tmp_path / "root"
    (root / "b").mkdir(parents=True)
    (root / "a.jsonl").mkdir()
    (root / "flow-transcripts-1.jsonl").write_bytes(GOOD)
    (root / "b" / "flow-transcripts-2.jsonl.gz").write_bytes(b"whatever")
    (root / "b" / "humanness-1.jsonl").write_text("")
    (root / "a.jsonl" / "calls.jsonl").write_bytes(GOOD)
    (root / "dental.toml").write_text(NATIVE)
    (root / "package.json").write_text('{"name": "x"}')
    (root / "README.md").write_text(str(FULL))
    (root / ".git").mkdir()
    (root / ".git" / "flow-transcripts-3.jsonl").write_bytes(GOOD)
    return root


def names(root: Path, *paths: str | Path) -> list[str]:
    return [os.path.relpath(path, root) for path in find_inputs(paths or [root]).files]


def unknown(root: Path) -> tuple[str, str]:
    return str(root / "package.json"), f"not recognised: JSON with the keys name; {registry.OWN_DATA}"


ALL = [
    "a.jsonl/calls.jsonl",
    "b/flow-transcripts-2.jsonl.gz",
    "b/humanness-1.jsonl",
    "dental.toml",
    "flow-transcripts-1.jsonl",
]


def test_what_was_looked_into_to_find_it_need_not_be_again(root: Path) -> None:
    assert find_inputs([root]).kinds == {
        root / "a.jsonl" / "calls.jsonl": "transcripts",
        root / "dental.toml": "flow-file",
    }


def test_a_directory_stands_for_the_inputs_below_it(root: Path) -> None:
    assert names(root) == ALL
    assert find_inputs([root]).passed_over == [unknown(root)]


def test_a_file_that_is_named_is_an_input_whatever_it_holds(root: Path) -> None:
    assert names(root, root / "README.md", root / "package.json") == ["README.md", "package.json"]


def test_neither_the_order_of_paths_nor_saying_one_twice_matters(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    paths = [Path("b"), root, Path("."), Path("b/../b/humanness-1.jsonl"), root / "dental.toml"]
    found = [find_inputs(order) for order in itertools.permutations(paths)]
    assert all(other == found[0] for other in found)
    assert [os.path.relpath(path) for path in found[0].files] == ALL


def test_links_below_a_directory_are_not_followed_and_links_that_are_named_are(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "flow-transcripts-9.jsonl").write_bytes(GOOD)
    (root / "link").symlink_to(outside)
    (root / "flow-transcripts-8.jsonl").symlink_to(outside / "flow-transcripts-9.jsonl")
    (root / "b" / "up").symlink_to(root)
    (root / "b" / "again.jsonl").symlink_to(root / "flow-transcripts-1.jsonl")
    assert names(root) == ALL
    reason = "a link below the directory is not followed"
    assert find_inputs([root]).passed_over == [
        (str(root / "b" / "up"), reason),
        (str(root / "flow-transcripts-8.jsonl"), reason),
        (str(root / "link"), reason),
        unknown(root),
    ]
    assert names(root, root / "link") == ["link/flow-transcripts-9.jsonl"]
    assert names(root, root / "flow-transcripts-8.jsonl") == ["flow-transcripts-8.jsonl"]
    assert names(root, root / "link", outside) == ["../outside/flow-transcripts-9.jsonl"]


def test_special_files_are_passed_over(root: Path) -> None:
    os.mkfifo(root / "flow-transcripts-fifo.jsonl")
    assert names(root) == ALL
    found = find_inputs([root, root / "flow-transcripts-fifo.jsonl", "/dev/null"])
    assert found.passed_over == [
        ("/dev/null", "not a regular file"),
        (str(root / "flow-transcripts-fifo.jsonl"), "not a regular file"),
        unknown(root),
    ]


def test_what_looks_like_an_input_and_is_none_is_passed_over_by_name(root: Path) -> None:
    (root / "events.jsonl").write_text('{"event": 1}\n')
    (root / "typo.toml").write_text("flow = [")
    assert names(root) == ALL
    assert find_inputs([root, root / "missing"]).passed_over == [
        (
            str(root / "events.jsonl"),
            f"not recognised: JSON with the keys event; {registry.OWN_DATA}",
        ),
        (str(root / "missing"), "file cannot be read: no such file or directory"),
        unknown(root),
        (str(root / "typo.toml"), "file is neither JSON nor TOML"),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_passed_over(root: Path) -> None:
    (root / "b").chmod(0)
    try:
        assert find_inputs([root]).passed_over == [(str(root / "b"), "file cannot be read: permission denied")]
    finally:
        (root / "b").chmod(0o700)


def test_any_name_will_do(tmp_path: Path) -> None:
    directories = odd_directories(tmp_path)
    found = find_inputs([tmp_path])
    assert len(found.files) == len(directories)
    assert {path.parent for path in found.files} == set(directories)
    assert found.files == sorted(found.files, key=os.fsencode)
    assert find_inputs(found.files).files == found.files
    assert find_inputs(["nul\0byte"]).passed_over == [("nul\0byte", "file cannot be read: not a valid path")]


DEEP = 1200


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Directories in one another, deeper than the interpreter's stack, with an input at the bottom."""
    monkeypatch.chdir(tmp_path)
    for _ in range(DEEP):
        Path("d").mkdir()
        os.chdir("d")
    Path("humanness-1.jsonl").touch()
    yield tmp_path
    Path("humanness-1.jsonl").unlink()  # pytest's own cleaning up would exhaust the stack
    for _ in range(DEEP):
        os.chdir("..")
        Path("d").rmdir()


def test_a_very_deep_directory_is_walked(deep: Path) -> None:
    assert len(find_inputs([deep]).files) == 1


def test_a_directory_that_a_source_claims_is_one_input(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_source(monkeypatch, box_source(lambda directory: directory.name == "b"))
    assert names(root) == ["a.jsonl/calls.jsonl", "b", "dental.toml", "flow-transcripts-1.jsonl"]
    assert names(root, root / "b") == ["b"]


def test_what_lies_beside_the_transcripts_of_a_run_is_left_out_without_a_word(root: Path) -> None:
    lines = '{"conversation_id": "c", "flow": "f", "status": "done"}\n'
    (root / "b" / "run.json").write_text('{\n  "schema": "riff.run/1",\n  "run_id": "b"\n}\n')
    (root / "b" / "progress.jsonl").write_text(lines)
    assert names(root) == ALL
    assert find_inputs([root]).passed_over == [unknown(root)]


def test_files_called_like_those_of_a_run_are_read_where_there_is_no_run(root: Path) -> None:
    (root / "b" / "progress.jsonl").write_bytes(GOOD)
    (root / "b" / "run.json").write_text('{"schema": "mine/1"}')
    assert names(root) == sorted([*ALL, "b/progress.jsonl"])
