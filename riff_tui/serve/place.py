"""Read from a page's address where its explorer begins, as the arguments of `riff-tui ui`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from riff_tui.browser import LINK_PREFIX
from riff_tui.errors import UsageError
from riff_tui.view_registry import resolve

_OPTIONS = ("where", "sort", "by", "aspect", "at")
_SIDES = ("a", "b")
_OF_THE_PAGE = ("fontsize", "width", "height", "token")
_LONGEST = 4096


@dataclass(frozen=True, slots=True)
class Place:
    """Describe the view, its options by name and the two sides of a comparison; no view is where one was last."""

    view: str = ""
    options: tuple[tuple[str, str], ...] = ()
    sides: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """Return it as arguments of the command; no value can be taken for an option."""
        if not self.view:
            return []
        options = [f"--{name}={value}" for name, value in self.options]
        return [*options, "--", self.view, *self.sides]

    @property
    def query(self) -> str:
        """Return what the page's connection has to ask for, to open the same."""
        sides = zip(_SIDES, self.sides, strict=False)
        return urlencode([("view", self.view), *self.options, *sides]) if self.view else ""


def is_link(address: str) -> bool:
    """Return whether an address below the server's own leads to a view."""
    parts = urlsplit(address)
    view = unquote(parts.path.removeprefix(LINK_PREFIX))
    if parts.scheme or parts.netloc or parts.fragment or not parts.path.startswith(LINK_PREFIX) or not view:
        return False
    try:
        read_place(view, parse_qsl(parts.query, keep_blank_values=True))
    except (UsageError, ValueError):
        return False
    return True


def read_place(view: str, query: Sequence[tuple[str, str]]) -> Place:
    """Return where a link leads; raise `UsageError` for a view or a parameter that there is not."""
    given = [(name, value) for name, value in query if name not in _OF_THE_PAGE]
    for name, value in given:
        if name not in (*_OPTIONS, *_SIDES):
            raise UsageError(f"a link has no {name[:40]!r}; it has {', '.join((*_OPTIONS, *_SIDES))}")
        if not view:
            raise UsageError(f"{name} belongs to a view, such as {LINK_PREFIX}flows?{name}=…")
        if len(value) > _LONGEST or not value.isprintable():
            raise UsageError(f"{name} is longer than {_LONGEST:,} characters, or has some that do not print")
    sides = tuple(value for side in _SIDES for name, value in given if name == side)
    options = tuple((name, value) for name, value in given if name in _OPTIONS)
    return Place(resolve(view).name if view else "", options, sides)
