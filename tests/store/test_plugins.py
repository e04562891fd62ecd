"""What other distributions add is loaded, or left out with a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.surface.store import Terminated, load_plugins, name_refusal

GROUP = "riff_tui.words"


def loading(monkeypatch: pytest.MonkeyPatch, raised: BaseException | None) -> tuple[dict[str, str], list[str]]:
    def load(point: EntryPoint) -> str:
        if raised is not None:
            raise raised
        return "yes"

    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [EntryPoint("a", "words:YES", group)])
    return load_plugins(GROUP, "word", str, lambda word, others: "")


def test_objects_are_found_by_what_the_entry_point_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert loading(monkeypatch, None) == ({"words:YES": "yes"}, [])


@pytest.mark.parametrize("packed", [False, True])
def test_a_distribution_is_found_wherever_python_finds_its_modules(tmp_path: Path, packed: bool) -> None:
    files = {"words.py": "YES = 'yes'\n", "words-1.dist-info/entry_points.txt": f"[{GROUP}]\na = words:YES\n"}
    place = tmp_path / "words.zip"
    with ZipFile(place, "w") as archive:
        for name, text in {**files, "words-1.dist-info/METADATA": "Name: words\nVersion: 1\n"}.items():
            archive.writestr(name, text)
        if not packed:
            archive.extractall(tmp_path)
    assert loaded_by(place if packed else tmp_path) == "{'words:YES': 'yes'} True"


def test_without_one_nothing_about_distributions_is_read(tmp_path: Path) -> None:
    assert loaded_by(tmp_path) == "{} False"


def loaded_by(place: Path) -> str:
    """What a process finds that has a place beside its own, and whether it read all about distributions."""
    code = (
        "import sys; from riff_store.plugins import load_plugins; "
        f"print(load_plugins({GROUP!r}, 'word', str, lambda word, others: '')[0], 'importlib.metadata' in sys.modules)"
    )
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(place), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", code], env=surroundings, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("raised", [KeyError("words"), SystemExit(7), GeneratorExit()])
def test_one_that_fails_or_exits_is_left_out(monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> None:
    found, problems = loading(monkeypatch, raised)
    assert not found
    assert problems == [f"word plug-in a (words:YES) is left out: it fails with {type(raised).__name__}"]


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), Terminated()])
def test_who_ends_the_process_ends_it(monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> None:
    with pytest.raises(type(raised)):
        loading(monkeypatch, raised)


@pytest.mark.parametrize("name", ["", "Calls", "call_log", "-x", "x-", "x y", "\x1b[31mx", "x\u202e", "x\n"])
def test_a_name_that_is_not_plain_is_refused_in_safe_words(name: str) -> None:
    refusal = name_refusal("name", [name], [])
    assert "is not plain: lower-case letters and digits, joined by -" in refusal
    assert refusal.isascii()
    assert refusal.isprintable()


def test_a_plain_name_is_refused_where_it_is_taken() -> None:
    assert name_refusal("kind", ["call-log2"], ["calls"]) == ""
    assert name_refusal("kind", ["calls"], ["calls"]) == "the kind calls is taken"
