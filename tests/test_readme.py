"""The README and the pages of docs/ are true: they name all that there is, and what they show is what one gets."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.readme import (
    DOCS,
    FORMATS,
    METRICS,
    PAGES,
    STARTS,
    WORKED,
    Example,
    examples,
    key_rows,
    printed,
    source_rows,
    view_rows,
    with_limits,
    with_metrics,
)
from tests.surface.store import OF_CALLS, OF_STATES
from tests.surface.tui import ExitCode, Settings, parse

TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES if page not in (WORKED, *STARTS))
REFERENCE = (DOCS / "reference.md").read_text(encoding="utf-8")
KEYS = (DOCS / "keys.md").read_text(encoding="utf-8")
PROGRAM = Path(sys.executable).parent / "riff-tui"


def section(title: str, text: str = REFERENCE) -> str:
    found = re.search(rf"^##+ {title}$(.*?)(?=^##+ |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def first_cells(table: str) -> list[str]:
    rows = [line for line in table.splitlines() if line.startswith("| `") or re.match(r"\| \d", line)]
    return [re.split(r"(?<!\\)\|", row)[1].strip() for row in rows]


@pytest.mark.parametrize("example", examples(TEXT), ids=lambda example: example.command)
def test_a_command_prints_what_a_page_shows(example: Example, demo: Path) -> None:
    assert example.cut(printed(example.command, demo)) == example.shown, "`make readme` writes it anew"


def test_every_command_has_its_line() -> None:
    lines = first_cells(section("Commands"))
    told = {cell.strip("`").split()[1] for cell in lines if cell.startswith("`riff-tui ")}
    help_text = subprocess.run([PROGRAM, "--help"], check=True, capture_output=True, encoding="utf-8").stdout
    listed = help_text.partition("Commands:\n")[2].partition("\n\n")[0]
    assert told == set(re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE))


def test_the_table_of_views_is_that_of_their_descriptions() -> None:
    assert view_rows() in section("Commands"), "`make readme` writes it anew"


def test_every_exit_code_is_explained() -> None:
    told = {int(code) for cell in first_cells(section("Exit codes")) for code in cell.split(",")}
    assert told == {int(code) for code in ExitCode}


def test_every_setting_is_explained() -> None:
    told = {cell.strip("`") for cell in first_cells(section("Settings")) if not cell.startswith("`[")}
    assert told == set(Settings._fields)
    assert all(f"`RIFF_TUI_{name.upper()}`" in section("Settings") for name in told)


def test_the_table_of_keys_is_that_of_the_explorer() -> None:
    assert key_rows() in KEYS, "`make readme` writes it anew"


def test_the_table_of_what_is_read_is_that_of_the_sources() -> None:
    assert source_rows() in FORMATS.read_text(encoding="utf-8"), "`make readme` writes it anew"


def test_the_tables_of_metrics_are_those_of_the_list() -> None:
    text = METRICS.read_text(encoding="utf-8")
    assert with_metrics(text) == text, "`make readme` writes it anew"
    assert all(f"| `{metric.key}` | " in text for metric in (*OF_CALLS.values(), *OF_STATES.values()))


def test_the_table_of_limits_is_their_description() -> None:
    assert "| `line_mib` | " in REFERENCE
    assert with_limits(REFERENCE) == REFERENCE, "`make readme` writes it anew"


def test_every_filter_that_is_shown_can_be_read() -> None:
    shown = [
        found.replace("\\|", "|") for cell in first_cells(section("Filters")) for found in re.findall("`(.+)`", cell)
    ]
    assert len(shown) >= 9
    for expression in shown:
        parse(expression)


def test_the_lines_that_are_shown_are_ingested_whole(tmp_path: Path) -> None:
    call, verdict = (
        json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", REFERENCE, re.MULTILINE | re.DOTALL)
    )
    run = tmp_path / "nightly-2026-06-22"
    run.mkdir()
    (run / "flow-transcripts-mine.jsonl").write_text(json.dumps(call) + "\n", encoding="utf-8")
    (run / "humanness-codex.jsonl").write_text(json.dumps(verdict) + "\n", encoding="utf-8")
    store = tmp_path / "own.db"
    subprocess.run([PROGRAM, "ingest", run, "--strict", "--store", store], check=True, capture_output=True)
    rows = json.loads(printed("riff-tui dump flows --format json", store))["rows"]
    assert [(row["flow"], row["n"], row["humanness"]) for row in rows] == [("apartment_viewing", 1, {"codex": 4.5})]
    assert json.loads(printed("riff-tui dump skipped --format json", store))["rows"] == []
