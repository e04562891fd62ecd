"""What docs/library.md shows runs as it is, one example after the other, and prints what is below it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import riff_store

TEXT = (Path(__file__).parents[1] / "docs" / "library.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_every_example_prints_what_is_shown(tmp_path: Path) -> None:
    assert len(EXAMPLES) == TEXT.count("```python\n") == 6
    for code, shown in EXAMPLES:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8"
        )
        assert (done.stdout, done.stderr) == (shown, ""), code


def test_everything_that_is_exported_is_there() -> None:
    for name in riff_store.__all__:
        assert getattr(riff_store, name).__name__ == name
    assert {"Store", "open_store", "ask", "operability", "RiffError", "StoreError", "Metric"} <= {*riff_store.__all__}


def test_the_store_says_so_where_views_are_not_installed(tmp_path: Path) -> None:
    """The store alone, as another distribution may carry it."""
    code = f"""
import sys
sys.path[:] = [part for part in sys.path if "riff" not in part]
sys.path.insert(0, {str(Path(riff_store.__file__).parents[1])!r})
sys.modules["riff_tui"] = None
from riff_store import RiffError, ask
try:
    ask("calls.db", "flows")
except RiffError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.stdout == "views come with riff-tui, which is not installed; install its wheel here\n", done.stderr
