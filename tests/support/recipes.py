"""Carry out the recipes of CONTRIBUTING.md in a copy of the repository.

A fenced block of a recipe begins with a comment that names its file; blocks of one file follow one another in it.
A block that says `at the end` or `in NAME` is added to a file that is there: after all of it, or to its list NAME.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(
    r"^( *)```python\n *# (\S+?)(?:, (?:at the (end)|in ([A-Z]+)))?\n(.*?)^\1```$", re.MULTILINE | re.DOTALL
)
_SEVERAL = """
import contextlib, io, json, sys
from riff_tui.cli import run

done = []
for arguments in json.loads(sys.argv[1]):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    done.append((code, *(stream.buffer.getvalue().decode() for stream in (out, err))))
print(json.dumps(done))
"""
_COPIED = ("riff_tui", "store", "ingest", "tests", "docs", "README.md", "pyproject.toml")


def recipe(title: str) -> dict[str, str]:
    """Return the files that a section of CONTRIBUTING.md tells to write, by their path, as they come to be."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    files: dict[str, str] = {}
    for indent, path, end, name, body in _BLOCK.findall(section):
        part = textwrap.dedent(body) if indent else body
        before = files.get(path) or ((ROOT / path).read_text(encoding="utf-8") if end or name else "")
        files[path] = _with_entry(before, name, part) if name else f"{before}\n\n{part}" if before else part
    return files


def _with_entry(text: str, name: str, entry: str) -> str:
    """Return a module with one more entry in a list, which ends with the first parenthesis at the start of a line."""
    place = text.index("\n)", text.index(f"\n{name}: ")) + 1
    return text[:place] + textwrap.indent(entry.rstrip(), "    ") + ",\n" + text[place:]


def carry_out(title: str, folder: Path) -> Path:
    """Copy the repository below a folder, write the files of a recipe in it, and return the copy."""
    tree = folder / "tree"
    tree.mkdir()
    ignored = shutil.ignore_patterns(".*_cache")  # what is compiled is taken along, and is as new as its source
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
    # The copy is run many times, and compiling all of it takes longer than what most commands do.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places)), "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, encoding="utf-8", check=False)


def riff_tui(tree: Path, *arguments: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command of a tree's riff-tui."""
    program = "import sys; from riff_tui.cli import main; main(sys.argv[1:])"
    return python(tree, "-c", program, *arguments, path=path)


def several(
    tree: Path, commands: Sequence[Sequence[str]], path: tuple[Path, ...] = ()
) -> list[subprocess.CompletedProcess[str]]:
    """Run commands of a tree's riff-tui in one interpreter, the start of which takes longer than most of them."""
    ran = python(tree, "-c", _SEVERAL, json.dumps([list(command) for command in commands]), path=path)
    assert ran.returncode == 0, ran.stderr
    return [
        subprocess.CompletedProcess(command, *done)
        for command, done in zip(commands, json.loads(ran.stdout), strict=True)
    ]
