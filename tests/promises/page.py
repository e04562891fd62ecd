"""Write docs/promises.md from the descriptions, below the words with which it begins."""

from __future__ import annotations

from tests.promises.descriptions import Page, Promise, pages


def with_promises(text: str) -> str:
    """Return the page with the promises that there are."""
    head = text.partition("\n## ")[0].rstrip("\n")
    return "\n".join([head, *(_section(page) for page in pages())])


def _section(page: Page) -> str:
    lines = ["", f"## {page.title}", "", *(_item(promise) for promise in page.promises)]
    if page.not_promised:
        lines += ["", "Not promised:", "", *(f"- {what}" for what in page.not_promised)]
    return "\n".join(lines) + "\n"


def _item(promise: Promise) -> str:
    shown = ", ".join(_link(test) for test in promise.tests)
    return f"- **{promise.says}** `{promise.id}`\n  Shown by: {shown}."


def _link(test: str) -> str:
    file, _, name = test.partition("::")
    return f"[{_words(name)}](../{file})"


def _words(name: str) -> str:
    return name.partition("[")[0].rpartition("::")[2].removeprefix("test_").replace("_", " ")
