"""Fill in the pages that lie in the folder beside this module."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from urllib.parse import quote

_ICON = quote(
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path d='M0 0h16v16H0z'/>"
    "<path stroke='#5fd7af' stroke-width='2' d='M2 7v2M6 3v10M10 5v6M14 7v2'/></svg>"
)


def explorer_page(*, title: str, query: str, font_size: int, nonce: str) -> str:
    """Return the page that draws an explorer, whose connection asks for `query`."""
    values = {"title": title, "query": query, "font_size": str(font_size), "nonce": nonce, "icon": _ICON}
    return _filled("explorer.html", values, script=_read("explorer.js"))


def refusal_page(message: str, *, again: str = "") -> str:
    """Return the page that says why there is none, with a way to ask `again` from the server's own page if given.

    A browser keeps the cookie back where a page of others led here.
    """
    return _filled("refused.html", {"message": message, "again": again, "hidden": "" if again else "hidden"})


def _filled(name: str, values: dict[str, str], *, script: str = "") -> str:
    return Template(_read(name)).substitute({key: escape(value) for key, value in values.items()}, script=script)


@cache
def _read(name: str) -> str:
    return (files(__package__) / "pages" / name).read_text(encoding="utf-8")
