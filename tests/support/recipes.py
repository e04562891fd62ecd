"""Carry out the recipes of CONTRIBUTING.md in a copy of the repository.

A fenced block of a recipe begins with a comment that names its file; blocks of one file follow one another in it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^( *)```python\n *# (\S+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_COPIED = ("riff_tui", "store", "ingest", "tests", "docs", "README.md", "pyproject.toml")


def recipe(title: str) -> dict[str, str]:
    """Return the files that a section of CONTRIBUTING.md tells to write, by their path."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    files: dict[str, str] = {}
    for indent, path, body in _BLOCK.findall(section):
        part = textwrap.dedent(body) if indent else body
        files[path] = f"{files[path]}\n\n{part}" if path in files else part
    return files


def carry_out(title: str, folder: Path) -> Path:
    """Copy the repository below a folder, write the files of a recipe in it, and return the copy."""
    tree = folder / "tree"
    tree.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", ".*_cache")
    for name in _COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, tree / name)
    for path, text in recipe(title).items():
        (tree / path).write_text(text, encoding="utf-8")
    return tree


def python(tree: Path, *arguments: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the interpreter on the code of a tree, with `path` as further places of distributions."""
    places = (tree, tree / "store", tree / "ingest", *path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, encoding="utf-8", check=False)


def riff_tui(tree: Path, *arguments: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command of a tree's riff-tui."""
    program = "import sys; from riff_tui.cli import main; main(sys.argv[1:])"
    return python(tree, "-c", program, *arguments, path=path)
