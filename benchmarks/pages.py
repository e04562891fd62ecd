"""The parts of pages in docs/ that have what was measured."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import machine

_DOCS = Path(__file__).parent.parent / "docs"
PERFORMANCE, SCALE = _DOCS / "performance.md", _DOCS / "scale.md"


def write(page: Path, name: str, text: str) -> None:
    """Rewrite a part of a page, with when and on what it was measured."""
    when = f"Measured {machine.today()} on {machine.in_short()}.\n\n"
    page.write_text(with_part(page.read_text(encoding="utf-8"), name, when + text), encoding="utf-8")


def with_part(page: str, name: str, text: str) -> str:
    """The page with another text between the marks of a part; `ValueError` if it has none."""
    begin, end = f"<!-- {name}: written by python -m benchmarks -->\n", f"<!-- end of {name} -->\n"
    pattern = re.compile(f"(?<={re.escape(begin)}).*(?={re.escape(end)})", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"the page has no place for {name}")
    return pattern.sub(lambda _: text, page)
