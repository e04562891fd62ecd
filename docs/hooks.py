"""Bring what pages link to outside of docs/ into the site: pictures, examples and the pages beside the README."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
BESIDE = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/RESULTS.md")
SHOWN = ("examples/**/*.py", "examples/**/*.pl", "examples/**/*.sql", "screenshots/*.svg")
LINK = re.compile(r"\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add the files outside of docs/ under the path that they have in the repository."""
    for path in [*(ROOT / name for name in BESIDE), *(path for each in SHOWN for path in ROOT.glob(each))]:
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point links at where their targets are in the site, whose root is docs/; leave the words of a link to code."""
    here = page.file.src_uri
    there = here if here in BESIDE else f"docs/{here}"

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(there), link[2]))
        inside = target.removeprefix("docs/")
        if inside == target and files.get_file_from_path(target) is None:
            return link[1]
        return f"[{link[1]}]({posixpath.relpath(inside, posixpath.dirname(here) or '.')}{link[3] or ''})"

    return LINK.sub(moved, markdown)
