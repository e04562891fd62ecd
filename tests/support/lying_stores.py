"""Stores that are not what they say: somebody put into their schema what runs when it is read."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

_LEAF, _BRANCH = 0x0D, 0x05
_ENDLESS = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT"
_INSTEAD = f"ALTER TABLE {{0}} RENAME TO _kept; CREATE VIEW {{0}} AS {_ENDLESS} k.* FROM _kept k, n"
_SPELLED = (
    "PRAGMA writable_schema = ON;"
    "UPDATE sqlite_master SET sql = replace(sql, '\"label\" TEXT', '\"label\" TEXT {0}') WHERE name = 'run'"
)

LIES: Mapping[str, str] = {
    "an endless view in the place of calls": _INSTEAD.format("conversation"),
    "an endless view in the place of runs": _INSTEAD.format("run"),
    "a view more": f"CREATE VIEW more AS {_ENDLESS} i FROM n",
    "a trigger": f"CREATE TRIGGER t AFTER INSERT ON run BEGIN INSERT INTO flow (name) {_ENDLESS} 'f' || i FROM n; END",
    "a generated column": "ALTER TABLE run ADD COLUMN more AS (zeroblob(1000000000)) VIRTUAL",
    "a column with an expression for a default": _SPELLED.format("DEFAULT (random())"),
    "a check": _SPELLED.format("CHECK (length(zeroblob(1000000000)) > 0)"),
    "an index over an expression": "CREATE INDEX more ON run (hex(name))",
    "an index over an expression that looks like a column": 'CREATE INDEX "more" ON "run" ("hex"("name"))',
    "an index of others": 'CREATE INDEX "more" ON "run" ("name")',
    "a table of others": 'CREATE TABLE "more" ("id" INTEGER)',
    "a column of others": 'ALTER TABLE "run" ADD COLUMN "more" TEXT',
    "a virtual table": "CREATE VIRTUAL TABLE more USING fts5(body)",
    "a table less": "DROP TABLE flow_edit",
    "an index less": "DROP INDEX run_name",
    "a view that calls itself a table": (
        "PRAGMA writable_schema = ON;"
        f"UPDATE sqlite_master SET rootpage = 0, sql = 'CREATE VIEW run AS {_ENDLESS} i FROM n' WHERE name = 'run';"
        "DELETE FROM sqlite_master WHERE name = 'run_name'"
    ),
    "a table that calls itself otherwise": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'more', tbl_name = 'more' WHERE name = 'label'"
    ),
    "a name that is not text": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT) WHERE name = 'run_name'"
    ),
}  # fmt: skip
"""What is done to a store, in SQL."""


def tell_a_lie(path: Path, statements: str) -> Path:
    """Change the schema of a store."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    return path


def loop_pages(path: Path, table: str) -> Path:
    """Have the pages of a table lead to its rows a billion times over."""
    with closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    content = bytearray(path.read_bytes())
    rows = bytes(content[(root - 1) * size : root * size])
    assert rows[0] == _LEAF
    for _ in range(3):
        content += rows
        rows = _pages_page(size, len(content) // size)
    content[(root - 1) * size : root * size] = rows
    content[28:32] = struct.pack(">I", len(content) // size)
    path.write_bytes(content)
    return path


def _pages_page(size: int, page: int) -> bytes:
    """Return a page of a table that does nothing but point to another one, as often as it can."""
    count = (size - 12) // 7
    cells = (struct.pack(">IB", page, 1)) * count
    start = size - len(cells)
    places = b"".join(struct.pack(">H", start + 5 * number) for number in range(count))
    head = struct.pack(">BHHHBI", _BRANCH, 0, count, start, 0, page) + places
    return head.ljust(start, b"\0") + cells
