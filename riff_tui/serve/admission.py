"""Decide which requests are answered: the host and origin they name, and the key they bring.

Whatever page is open in a browser can send requests to this machine, so being asked from here proves nothing.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from riff_tui.browser import LINK_PREFIX

METHODS = ("GET", "HEAD")
SOCKET_PATH = "/ws"
TOKEN = "token"
_KEY_BYTES = 32


class Asked(NamedTuple):
    """Describe what decides on a request: every `Host` and `Origin` header it has, the token and the cookie if any."""

    method: str
    path: str
    hosts: Sequence[str]
    origins: Sequence[str] = ()
    token: str | None = None
    cookie: str | None = None


class Refusal(NamedTuple):
    """Describe a refusal: its status and its words."""

    status: int
    message: str


@dataclass(slots=True)
class Keys:
    """Describe the token that the link brings, which opens once, and the cookie that it is swapped for."""

    token: str = field(default_factory=lambda: secrets.token_urlsafe(_KEY_BYTES))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(_KEY_BYTES))
    is_spent: bool = False

    def swap(self, token: str | None) -> str | None:
        """Return the cookie for the token, the first time that it is brought, else nothing."""
        is_right = _same(token, self.token)
        if self.is_spent or not is_right:
            return None
        self.is_spent = True
        return self.cookie

    def opens(self, cookie: str | None) -> bool:
        """Return whether a cookie is the one that the token was swapped for."""
        return _same(cookie, self.cookie) and self.is_spent


class Admission:
    """Decide on requests to a server whose pages have an `origin`, such as `http://127.0.0.1:8123`."""

    def __init__(self, origin: str, keys: Keys) -> None:
        self.origin = origin
        self.host = urlsplit(origin).netloc
        self.keys = keys

    def refusal(self, asked: Asked) -> Refusal | None:
        """Return why a request is refused, `None` if it is answered."""
        return next((refusal for is_fine, refusal in self._rules() if not is_fine(asked)), None)

    def _rules(self) -> Sequence[tuple[Callable[[Asked], bool], Refusal]]:
        return (
            (
                lambda asked: list(asked.hosts) == [self.host],
                Refusal(403, f"This server answers at {self.origin} and under no other name."),
            ),
            (lambda asked: asked.method in METHODS, Refusal(405, "This server is only read from: GET and HEAD.")),
            (
                lambda asked: asked.path != SOCKET_PATH or list(asked.origins) == [self.origin],
                Refusal(403, f"Only pages of {self.origin} may open the explorer."),
            ),
            (
                lambda asked: self.keys.opens(asked.cookie) or self._is_key(asked),
                Refusal(403, "The link that riff-tui serve printed opens this, once and in one browser."),
            ),
        )

    def _is_key(self, asked: Asked) -> bool:
        """Return whether a request for a page brings the token while it opens."""
        is_open = not self.keys.is_spent and is_page(asked.path) and asked.method == "GET"
        return is_open and _same(asked.token, self.keys.token)


def is_page(path: str) -> bool:
    """Return whether an explorer opens at a path."""
    return path == "/" or path.startswith(LINK_PREFIX)


def _same(given: str | None, right: str) -> bool:
    return hmac.compare_digest((given or "").encode("utf-8", "replace"), right.encode())


_DIGITS = 9


class Bounded(NamedTuple):
    """Describe the bounds of a whole number and what it is if none is given."""

    lowest: int
    highest: int
    default: int

    def clamp(self, value: int) -> int:
        """Return the number within the bounds that is closest."""
        return min(max(value, self.lowest), self.highest)

    def read(self, text: str | None) -> int:
        """Return the number that a text reports, within the bounds, else the default."""
        digits = (text or "").removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            return self.default
        # Python refuses to read very long numbers.
        return self.clamp(int(digits[:_DIGITS]) * (-1 if (text or "").startswith("-") else 1))


WIDTH = Bounded(20, 500, 80)
HEIGHT = Bounded(8, 200, 24)
FONT_SIZE = Bounded(6, 72, 16)
MESSAGE_BYTES = 1 << 20
UNREAD_BYTES = 1 << 20
PACKET_BYTES = 1 << 26
COMPLAINT_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Describe how many explorers run at once, and after how many seconds one ends that nobody uses.

    An explorer that is to end gets `patience_s` for each of the ways in which it is asked.
    """

    sessions: int = 8
    idle_s: float = 8 * 3600
    patience_s: float = 2.0
