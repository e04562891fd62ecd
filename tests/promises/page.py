"""Write docs/promises.md from the descriptions, below the words with which it begins."""

from __future__ import annotations

from pathlib import PurePosixPath

from tests.promises.descriptions import Page, Promise, pages

_TESTS = """
## The tests

Each promise has these files of tests; `tests/promises/` names the tests one by one.

| promise | tests in |
|---|---|
"""


def with_promises(text: str) -> str:
    """Return the page with the promises that there are."""
    head = text.partition("\n## ")[0].rstrip("\n")
    rows = "".join(_row(promise) for page in pages() for promise in page.promises)
    return "\n".join([head, *(_section(page) for page in pages())]) + _TESTS + rows


def _section(page: Page) -> str:
    lines = ["", f"## {page.title}", "", *(f"- `{promise.id}`: {promise.says}" for promise in page.promises)]
    if page.not_promised:
        lines += ["", "Not promised:", "", *(f"- {what}" for what in page.not_promised)]
    return "\n".join(lines) + "\n"


def _row(promise: Promise) -> str:
    files = dict.fromkeys(test.partition("::")[0] for test in promise.tests)
    return f"| `{promise.id}` | {',&ensp;'.join(map(_link, files))} |\n"


def _link(file: str) -> str:
    return f"[{PurePosixPath(file).stem.removeprefix('test_')}](../{file})"
