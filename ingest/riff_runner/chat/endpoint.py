"""Describe where a model is reached, and read what an endpoint shows when it does not answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from riff_store.errors import UsageError

LARGEST_BODY = 4 * 1024 * 1024
LONGEST_COMPLAINT = 200
NO_QUOTA = frozenset(["insufficient_quota", "billing_hard_limit_reached", "billing_not_active"])
"""What endpoints call an account without credit, which no waiting helps, as against a limit of the rate."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_KEY = re.compile(r"[!-~]+")


class BadAddress(UsageError):
    """Refuse an address or a key that cannot be used; the message shows why."""


@dataclass(frozen=True)
class Endpoint:
    """Describe where a model is reached; `key` is the secret itself and is shown by nothing."""

    base_url: str
    model: str
    key: str | None = field(default=None, repr=False)
    key_variable: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise `BadAddress` for an address that is none, or to which a key would go in the clear."""
        try:
            parts = urlsplit(self.base_url)
            known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            known = False
        if not known or parts.username or parts.password:
            raise BadAddress("base_url is not the address of an endpoint, such as https://host/v1")
        if self.key and not _KEY.fullmatch(self.key):
            raise BadAddress(f"what ${self.key_variable} contains is not a key")
        if self.key and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise BadAddress("base_url has to be https, or the key would be sent unencrypted")

    def complaint(self, body: Any) -> str:
        """Return what the endpoint says is wrong, in one short line without the key; `""` if it shows nothing."""
        message = _words(body)
        if not message.strip():
            return ""
        line = " ".join(message.split())
        if self.key:
            line = line.replace(self.key, f"${self.key_variable}")
        return line[:LONGEST_COMPLAINT]

    def refusal(self, status: int, reason: str, *, no_quota: bool) -> str | None:
        """Return why an endpoint with this answer will answer nothing else, `None` if it may."""
        if status in (401, 403):
            variable = f" in ${self.key_variable}" if self.key_variable else ""
            return f"the endpoint does not take the key{variable} ({reason})"
        if 300 <= status < 400:
            return f"the endpoint redirects ({reason}), which is not followed; correct base_url"
        if status == 404:
            return f"the endpoint knows no such address or model ({reason})"
        if status == 402 or no_quota:
            return f"the account has no credit left ({reason})"
        return None


def may_pass(status: int) -> bool:
    """Return whether the same request may be answered when it is sent again."""
    return status in (408, 409, 425, 429) or status >= 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait: `retry-after-ms`, else `Retry-After` as a number or as a date."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "").strip()
    if (seconds := _seconds(text)) is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if number < float("inf") else None


def _words(body: Any) -> str:
    """Return the message of an error: its own, or that of the first of a list; a page has none."""
    if isinstance(body, list) and body and isinstance(body[0], dict):
        body = body[0].get("error")
    message = body.get("message") if isinstance(body, dict) else body
    return message if isinstance(message, str) and not message.lstrip().startswith("<") else ""
