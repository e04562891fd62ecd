from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import sample_tables
from tests.support.golden import assert_golden, printed
from tests.surface.tui import FORMATS, Table

SUFFIXES = {"text": "txt", "markdown": "md", "csv": "csv", "json": "json", "jsonl": "jsonl", "svg": "svg"}
PUBLISHED = """\
# Evaluation matrix: (flow × agent) × aspects (computed) + humanness × judge

| Flow                    | Agent        | **operability** | correctness | completion | errors | lat_p95 | turn_count | n  | hum:codex | hum:dashscope | hum:gemini |
|-------------------------|--------------|-----------------|-------------|------------|--------|---------|------------|----|-----------|---------------|------------|
| apartment_scheduler     | gemini-2.5-f | **0.3**         | 0.0         | 0.0        | 0.0    | 11.1    | 7.9        | 11 | ·         | ·             | ·          |
| property_trouble_ticket | qwen-flash   | **1.8**         | 0.0         | 4.2        | 0.3    | 4.2     | 5.0        | 24 | 1.1       | 0.8           | 2.2        |

Units: correctness, completion, errors, humanness 0-10, higher is better · latency seconds, lower is better · turn_count raw.
"""  # noqa: E501
WORKLIST = """\
# What to work on (flow → segment → state)

## Weakest flows
  x apartment_scheduler        correctness 0.0  (agent gemini-2.5-f, n 11)

## Weakest segments
  ! apartment_scheduler/action  stall 0.36  escal 0.64  progress 0.0  (worst: book_viewing)

## Root-cause states
  * apartment_scheduler/book_viewing  stall 0.36 · escalates 0.64 · dwell 3.6
  * dog_grooming/listen_owner         stall 0.33 · escalates 0.44 · slot_fill 0.0 (stuck, prog 0.22)

Drill: `riff-tui dump states --where 'flow=apartment_scheduler'`
"""


@pytest.mark.parametrize("format", SUFFIXES)
@pytest.mark.parametrize("shape", sample_tables.ALL)
def test_each_shape_prints_as_before(shape: str, format: str) -> None:
    assert_golden(printed(sample_tables.ALL[shape](), format), f"sinks/{shape}.{SUFFIXES[format]}")


@pytest.mark.parametrize("shape", sample_tables.ALL)
def test_a_terminal_of_80_cells_without_unicode_gets_this(shape: str) -> None:
    text = printed(sample_tables.ALL[shape](), "text", width=80, ascii_only=True)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    assert_golden(text, f"sinks/{shape}.80.txt")


def test_the_flow_matrix_is_what_people_already_paste() -> None:
    assert printed(sample_tables.published_rows(), "markdown") == PUBLISHED


def test_the_worklist_is_what_people_already_paste() -> None:
    assert printed(sample_tables.worklist(), "markdown") == WORKLIST


def test_the_state_matrix_has_the_cells_that_people_already_paste() -> None:
    lines = printed(sample_tables.states(), "markdown").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert cells[0] == [
        "Flow",
        "State",
        "n",
        "progress",
        "stall",
        "escal",
        "revisit",
        "dwell",
        "lat_p95(s)",
        "slot_fill",
    ]
    assert cells[2] == ["ceo_command_center", "status_query", "2~", "0.0", "**1.0**", "0.0", "0.0", "5.0", "3.1", "·"]
    assert cells[3] == ["dog_grooming", "listen_owner", "9", "0.22", "**0.33**", "0.44", "0.0", "2.6", "1.7", "0.0"]


def test_every_promised_format_is_there() -> None:
    assert set(SUFFIXES) <= set(FORMATS)


@pytest.mark.parametrize("format", SUFFIXES)
@pytest.mark.parametrize("shape", sample_tables.ALL)
def test_a_table_without_rows_prints(shape: str, format: str) -> None:
    table = sample_tables.ALL[shape]()._replace(rows=[], total=375, matched=0)
    text = printed(table, format)
    assert ("375" in text) == (format not in ("csv", "jsonl"))
    if format == "json":
        assert json.loads(text)["rows"] == []


@pytest.mark.parametrize("format", SUFFIXES)
def test_an_empty_table_prints(format: str) -> None:
    printed(Table("nothing", "", [], []), format)
    printed(Table("nothing", "", [], []), format, width=40)


def test_a_dump_is_the_same_bytes_whatever_the_surroundings(tmp_path: Path) -> None:
    script = tmp_path / "dump.py"
    script.write_text(
        "import sys\n"
        "from riff_tui.output.formats import FORMATS\n"
        "from riff_tui.output.sinks import render\n"
        "from tests.support import sample_tables\n"
        "from tests.support.hostile import HOSTILE\n"
        "sys.stdout.reconfigure(encoding='utf-8', newline='')\n"
        "for make in [*sample_tables.ALL.values(), lambda: sample_tables.hostile(HOSTILE)]:\n"
        "    for format in FORMATS:\n"
        "        render(make(), format, sys.stdout)\n"
    )
    root = Path(__file__).resolve().parents[4]
    base = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "store"), str(root / "ingest")])}
    surroundings = [
        {"PYTHONHASHSEED": "1", "COLUMNS": "40", "LC_ALL": "C", "TZ": "Asia/Tokyo"},
        {"PYTHONHASHSEED": "2", "COLUMNS": "200", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/Lima", "FORCE_COLOR": "1"},
    ]
    outputs = {
        subprocess.run([sys.executable, str(script)], env=base | env, capture_output=True, check=True).stdout
        for env in surroundings
    }
    assert len(outputs) == 1
