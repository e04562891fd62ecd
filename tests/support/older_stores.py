"""Stores as earlier schemas wrote them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parents[1] / "store" / "schemas"


def restore(version: int, path: Path) -> Path:
    """Restore the store of an earlier schema as it was written then."""
    connection = sqlite3.connect(path)
    connection.executescript((SCHEMAS / f"{version}.sql").read_text())
    connection.close()
    return path
