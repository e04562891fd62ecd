"""Read the address of a store in PostgreSQL: `postgresql://…` or `service=NAME`.

Its parameter `schema` names the schema of the store where that is not `riff`.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from riff_store.errors import StoreError
from riff_store.location import without_secrets

DEFAULT_SCHEMA = "riff"
_IN_URL = re.compile(r"(?<=[?&])schema=([^&#]*)(?:&|$)")
_IN_WORDS = re.compile(r"(?:^|(?<=\s))schema\s*=\s*(\S+)\s*")
_CONNECT_SECONDS = 10


class Address:
    """Hold what is needed to connect to a server, the schema of the store, and the address as others may see it."""

    def __init__(self, text: str) -> None:
        self.shown = without_secrets(text)
        is_url = "://" in text
        pattern = _IN_URL if is_url else _IN_WORDS
        found = pattern.search(text)
        self.schema = DEFAULT_SCHEMA if found is None else unquote(found[1]) if is_url else found[1]
        try:
            given: dict[str, Any] = conninfo_to_dict(pattern.sub("", text).rstrip("?&"))
        except psycopg.Error:
            # Its message quotes what it does not understand, and that may be part of a password.
            raise StoreError(
                f"{self.shown}: no address of a store in PostgreSQL",
                "write postgresql://HOST/DATABASE, with its special characters as %XX, or service=NAME",
            ) from None
        self.parameters: dict[str, Any] = {
            "fallback_application_name": "riff-tui",
            "connect_timeout": _CONNECT_SECONDS,
            **given,
            "client_encoding": "utf8",
        }
