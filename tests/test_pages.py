"""The pages are short, plain and joined: each is in the site, has its length, and every link leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.conftest import ROOT
from tests.readme import DOCS, PAGES, README, STARTS, started
from tests.support.plain_words import found, prose

WORDS = {
    "README.md": 900,
    "docs/index.md": 300,
    "docs/concepts.md": 900,
    "docs/explorer.md": 1500,
    "docs/install.md": 600,
    "docs/own-data.md": 700,
    "docs/team.md": 900,
    "docs/troubleshooting.md": 1200,
    "docs/flow-file.md": 1500,
    "docs/metrics.md": 6000,
    "docs/promises.md": 2500,
    "docs/protocol.md": 2000,
    "docs/runner.md": 2000,
    "docs/statistics.md": 3000,
    "CONTRIBUTING.md": 2000,
    **{f"docs/start/{page.name}": 500 for page in STARTS},
}
# Pages whose words are those of the program.
OTHERS = ("json", "keys", "reference")
QUESTIONS = {
    "install": "docs/install.md",
    "try": "docs/explorer.md",
    "own data": "docs/start/own.md",
    "gate": "docs/ci.md",
    "judge": "docs/judging.md",
    "notes": "docs/notes.md",
    "PostgreSQL": "docs/postgresql.md",
    "browser": "docs/serve.md",
    "agents": "docs/agents.md",
    "trouble": "docs/troubleshooting.md",
}
ALL = [*PAGES, *(ROOT / name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"))]
PLAIN = [page for page in ALL if page.stem not in OTHERS]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tokens(path: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))


def links(path: Path) -> list[str]:
    """Return where the links and pictures of a page lead, but for those to the web."""
    inside = [child for token in tokens(path) for child in token.children or ()]
    targets = [str(each.attrGet("href") or each.attrGet("src") or "") for each in inside]
    return [target for target in targets if target and not re.match("[a-z]+:", target)]


def anchors(path: Path) -> set[str]:
    """Return what may be behind the # of a link to a page: its headings, as sites spell them."""
    found = tokens(path)
    names: list[str] = []
    for place, token in enumerate(found):
        if token.type == "heading_open":
            words = "".join(each.content for each in found[place + 1].children or ())
            name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            names.append(name if name not in names else f"{name}-{names.count(name)}")
    return {*names, ""}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", WORDS)
def test_a_page_is_no_longer_than_it_may_be(name: str) -> None:
    assert len(read(name).split()) <= WORDS[name]


@pytest.mark.parametrize("page", [page for page in ALL if page.stem != "json"], ids=named)
def test_a_sentence_has_25_words_at_most(page: Path) -> None:
    shown = prose(page.read_text(encoding="utf-8"))
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"^[|#!].*$", "\n", shown, flags=re.MULTILINE))
    sentences = re.split(r"(?<=[.?!:;])\s+|\n\s*\n|^\s*(?:-|\d\.) ", text, flags=re.MULTILINE)
    assert [each for each in sentences if len(each.split()) > 25] == []


@pytest.mark.parametrize("page", PLAIN, ids=named)
def test_a_page_has_plain_words(page: Path) -> None:
    assert found(prose(page.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", ALL, ids=named)
def test_every_link_leads_somewhere(path: Path) -> None:
    dead = []
    for link in links(path):
        target, _, anchor = link.partition("#")
        there = (path.parent / target).resolve() if target else path
        if not there.exists() or (there.suffix == ".md" and anchor not in anchors(there)):
            dead.append(link)
    assert dead == []


def test_every_page_is_two_links_from_the_readme_at_most() -> None:
    first = {(README.parent / link.partition("#")[0]).resolve() for link in links(README)}
    second = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in first
        if page.suffix == ".md" and page.is_relative_to(DOCS)
        for link in links(page)
    }
    assert {ROOT / page for page in QUESTIONS.values()} <= first
    assert {page for page in PAGES if page != README} <= first | second


def test_every_page_is_in_the_site() -> None:
    text = re.sub(r"!!python\S*", "", read("mkdocs.yml"))
    listed = re.findall(r"[\w./-]+\.md", str(yaml.safe_load(text)["nav"]))
    assert sorted(f"docs/{name}" for name in listed if (DOCS / name).exists()) == sorted(
        named(page) for page in PAGES if page != README
    )


@pytest.mark.parametrize("page", STARTS, ids=lambda page: page.stem)
def test_a_platforms_calls_come_to_the_worklist(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert started(text, tmp_path) == text, "`make readme` writes it anew"
    assert "1 of 2 calls in 1 flow failed" in text
    assert "Root-cause states\n  * " in text
