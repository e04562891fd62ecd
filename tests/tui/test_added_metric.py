"""An aspect that another distribution adds is there wherever the others are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.recipes import ROOT, several

PROGRAM = Path(sys.executable).parent / "riff-tui"
CODE = '''
"""How many words the agent says in a turn."""

from riff_store.metrics import Metric

METRIC = Metric(
    "agent_words", "words/turn", "Words of the agent in one of its turns, on average.", unit="words", better="lower",
    aliases=("chatty",), compute="wordy:agent_words",
)


def agent_words(call):
    said = [len(turn.text.split()) for turn in call.turns if turn.role == "agent"]
    if call.conversation_id.endswith("-3"):
        raise KeyError("the words of a caller")
    return sum(said) / len(said) if said else None
'''

SHOWN = {
    "dump flows --format json": '"agent_words"',
    "dump flows --where agent_words>3 --format csv": "booking",
    "dump flows --sort -agent_words": "booking",
    "dump conversations --where chatty>=32 --format csv": "c-12",
    "dump conversations --sort -agent_words --limit 1 --format csv": "c-12",
    "dump effects --aspect agent_words": "agent_words words, lower is better",
    "dump effects --aspect chatty": "agent_words words, lower is better",
    "compare a b --format json": '"agent_words"',
    "compare a b --where aspect=chatty --format csv": "agent_words",
    "gate --baseline a --candidate b --max-drop agent_words=1": "agent_words",
    "export --where aspect=agent_words -o -": "agent_words",
    "dump skipped": "aspect agent_words could not be computed: KeyError",
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a distribution that adds an aspect."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "wordy.py").write_text(CODE, encoding="utf-8")
    information = folder / "wordy-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: wordy\nVersion: 1.0\n", encoding="utf-8")
    (information / "entry_points.txt").write_text("[riff_tui.metrics]\nwords = wordy:METRIC\n", encoding="utf-8")
    return folder


def riff_tui(*arguments: str, path: Path | None) -> subprocess.CompletedProcess[str]:
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if path is not None:
        surroundings["PYTHONPATH"] = str(path)
    return subprocess.run([PROGRAM, *arguments], env=surroundings, capture_output=True, encoding="utf-8")


def call(number: int, run: str) -> str:
    said = "yes please " * (number if run == "a" else number + 4)
    turns = [{"role": "caller", "text": "hello"}, {"role": "agent", "text": said.strip()}]
    return json.dumps(
        {
            "schema_version": 1, "run_id": run, "conversation_id": f"c-{number}", "flow": "booking",
            "agent_model": "m", "persona": "p", "scenario": f"s-{number}", "turns": turns, "events": [],
            "completed": True, "stop_reason": "terminal",
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, installed: Path) -> Path:
    folder = tmp_path_factory.mktemp("calls")
    for run in "ab":
        lines = [call(number, run) for number in range(1, 13)]
        (folder / f"flow-transcripts-{run}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = riff_tui("ingest", str(folder), "--store", str(folder / "store.db"), path=None)
    assert made.returncode == 0, made.stderr
    made = riff_tui("ingest", str(folder), "--store", str(folder / "store.db"), path=installed)
    assert made.returncode == 0, made.stderr
    assert "unchanged" not in made.stderr, "files are read again for an aspect that was added"
    return folder / "store.db"


def test_it_is_shown_filtered_sorted_compared_and_exported(store: Path, installed: Path) -> None:
    answers = several(ROOT, [(*asked.split(), "--store", str(store)) for asked in SHOWN], path=(installed,))
    for (asked, shown), done in zip(SHOWN.items(), answers, strict=True):
        assert done.returncode in ((0, 3) if asked.startswith("gate") else (0,)), (asked, done.stderr)
        assert shown in done.stdout + done.stderr, asked
        assert "words of a caller" not in done.stdout + done.stderr, asked


def test_a_rise_of_what_should_be_low_fails_the_gate(store: Path, installed: Path) -> None:
    gate = ("gate", "--store", str(store), "--baseline", "a", "--candidate", "b", "--max-drop")
    for done in several(ROOT, [(*gate, f"{name}=1") for name in ("agent_words", "chatty")], path=(installed,)):
        assert done.returncode == 3, done.stdout + done.stderr


def test_without_the_distribution_its_name_is_no_field(store: Path) -> None:
    done = riff_tui("dump", "conversations", "--where", "agent_words>1", "--store", str(store), path=None)
    assert done.returncode == 2
    assert "no field is called agent_words" in done.stderr
