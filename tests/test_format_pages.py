"""The pages of docs/formats/ are true: their examples are read as the page reports, and every source has its page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.readme import DOCS
from tests.support.commands import riff_tui
from tests.surface.ingest import sources

FOLDER = DOCS / "formats"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in sorted(FOLDER.glob("*.md"))}
EXAMPLE = re.compile(r"^`([^`]+)`:\n\n```json\n(.*?)^```\n\n(You get .*?)\n\n", re.MULTILINE | re.DOTALL)
WITHOUT = {"index", "eva", "git-history"}
"""Pages of what is no single file."""
WAITING = {"humanness": "1 score in the store", "notes": "1 note in the store waits"}
"""What comes in without its call, and what ingest prints of it."""


def test_every_source_has_a_page_that_the_index_lists() -> None:
    named = re.findall(r"`([a-z-]+)`", " ".join(text.partition("\n")[0] for text in PAGES.values()))
    assert sorted(named) == sorted(source.kind for source in sources())
    linked = set(re.findall(r"\]\(([a-z-]+)\.md\)", PAGES["index"]))
    assert linked == set(PAGES) - {"index"}


def test_every_page_says_what_is_never_stored() -> None:
    assert all("\n## " in text and "ever stored" in text for text in PAGES.values())


@pytest.mark.parametrize("page", sorted(set(PAGES) - WITHOUT))
def test_an_example_is_read_as_its_page_shows(page: str, tmp_path: Path) -> None:
    ((name, example, result),) = EXAMPLE.findall(PAGES[page])
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    text = json.dumps(json.loads(example)) + "\n" if name.endswith("l") else example
    file.write_text(text, encoding="utf-8")
    done = riff_tui("ingest", "--store", "x.db", name, directory=tmp_path, together=True)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^taken +(\S+) ", done.stdout, re.MULTILINE), done.stdout
    if page in WAITING:
        assert WAITING[page] in done.stdout
        return
    found = "".join(
        riff_tui(*words, "--store", "x.db", directory=tmp_path).stdout
        for words in (
            ("dump", "conversations", "--format", "json"),
            ("dump", "states", "--format", "json"),
            ("export", "--format", "jsonl"),
        )
    )
    missing = [word for word in re.findall(r"`([^`]+)`", result) if f'"{word}"' not in found]
    assert missing == []
