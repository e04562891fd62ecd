"""Spell statements, which are written as SQLite understands them, for PostgreSQL.

Only what is in the store's own statements is known here: it does not translate SQL.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?=['"?%()cC\s])(?=\S|\s+[aAwW])(?:"""
    r"(?P<text>'(?:[^']|'')*')"
    r'|(?P<name>"(?:[^"]|"")*")'
    r"|(?P<numbered>\?(?P<number>\d+))"
    r"|(?P<mark>\?)"
    r"|(?P<percent>%)"
    r"|(?P<cast>\bCAST\s*\()"
    r"|(?P<whole>\s+AS\s+(?:INTEGER|BIGINT)\s*\))"
    r"|(?P<real>\s+AS\s+REAL\s*\))"
    r"|(?P<open>\()"
    r"|(?P<close>\))"
    r"|(?P<cross>\bCROSS\s+JOIN(?P<crossed>\s+\w+(?:\s+(?!ON\b)\w+)?\s+ON\b))"
    r"|(?P<unkeyed>\s+WITHOUT\s+ROWID)"
    r")",
    re.IGNORECASE,
)
_LONGEST_KEPT = 20_000
_COLUMN_TYPES = {"INTEGER": "bigint", "TEXT": 'text COLLATE "C"', "REAL": "double precision", "BLOB": "bytea"}
_COLUMN_TYPE = re.compile(rf"\b({'|'.join(_COLUMN_TYPES)})\b")


class Statement(NamedTuple):
    """Describe a statement as psycopg takes it; its values are named by their number where one is several times."""

    sql: str
    is_numbered: bool


def spelled(sql: str) -> Statement:
    """Return a statement of the store as PostgreSQL understands it.

    `?` becomes a placeholder. A cast to a whole number cuts what follows the point, where PostgreSQL would round. In
    `a CROSS JOIN b ON …` the order of tables, which it keeps in SQLite, is left to the engine.
    """
    # One with thousands of keys written out hardly comes again.
    return _kept(sql) if len(sql) <= _LONGEST_KEPT else _spelled(sql)


@lru_cache(maxsize=512)
def _kept(sql: str) -> Statement:
    return _spelled(sql)


def _spelled(sql: str) -> Statement:
    if (
        sql.lstrip().upper().startswith(("CREATE TEMP TABLE", "ALTER TABLE", "CREATE TABLE"))
        and " AS SELECT" not in sql
    ):
        sql = _COLUMN_TYPE.sub(lambda found: _COLUMN_TYPES[found[0]], sql)
    parts: list[str] = []
    casts: list[int | None] = []
    is_numbered, end = False, 0
    for found in _TOKEN.finditer(sql):
        parts.append(sql[end : found.start()])
        end = found.end()
        token = found.group()
        kind = found.lastgroup
        if found["numbered"]:
            is_numbered = True
            token = f"%(v{found['number']})s"
        elif found["mark"]:
            token = "%s"
        elif found["cross"]:
            token = f"JOIN{found['crossed']}"
        elif found["unkeyed"]:
            token = ""
        elif found["cast"]:
            casts.append(len(parts))
        elif found["open"]:
            casts.append(None)
        elif kind in ("whole", "real", "close"):
            place = casts.pop() if casts else None
            if kind == "whole" and place is not None:
                parts[place], token = "CAST(trunc(", ") AS bigint)"
            elif kind == "real":
                token = " AS double precision)"
        parts.append(token.replace("%", "%%") if kind in ("text", "name", "percent") else token)
    parts.append(sql[end:])
    return Statement("".join(parts), is_numbered)
