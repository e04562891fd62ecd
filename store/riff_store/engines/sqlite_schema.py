"""Check that a store in SQLite has the tables and indexes of its schema, and nothing else.

A store is a file that people send each other, and what else a schema can contain is run as soon as somebody reads: a
view in the place of a table, a trigger, a column or an index that is an expression.
"""

from __future__ import annotations

import re
import sqlite3
import sys

# Where hashlib has it from, which loads OpenSSL before.
from _blake2 import blake2b
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from typing import Any

import peewee as pw

from riff_store import schema as models
from riff_store.engines.engine import ALL_ROWS, RowsOf
from riff_store.errors import NotAStore

KNOWN = frozenset({"ed7dfe0ecf943bb61ffed7376b8cc0d2"})
"""The digests of what stores of the present schema hold: made as such, or migrated."""
_STATISTICS = frozenset(
    {
        ("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
        ("table", "sqlite_stat4", "sqlite_stat4", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"),
    }
)
"""What ANALYZE leaves behind."""
_OWN = {"sqlite_schema", "sqlite_temp_schema", *(name for _, name, _, _ in _STATISTICS)}
_PLAIN = (
    r"CREATE (TABLE|(?:UNIQUE )?INDEX) \"(\w+)\""
    r"(?:[\s(),=]|\"\w+\"|[01]\b|'replaced'|(?:INTEGER|TEXT|REAL|BLOB|NOT|NULL|PRIMARY|FOREIGN|KEY|REFERENCES"
    r"|ON|DELETE|CASCADE|DEFAULT|WITHOUT|ROWID|WHERE|IS)\b)+"
)
"""All that the tables and indexes of any schema are made with; no word that brings in an expression."""
_MOST_OBJECTS = 500
_MOST_READ = _MOST_OBJECTS + len(_STATISTICS)
_KINDS = {"TEXT": "text", "DOUBLE": "real", "BLOB": "blob"}
"""What SQLite calls the values of a column; those of all others are whole numbers."""

_LARGEST = repr(sys.float_info.max)

_Object = tuple[str, str, str, str | None]


def check_schema(connection: sqlite3.Connection, location: str) -> None:
    """Raise `NotAStore` if a store has anything but the tables and indexes of the present schema."""
    objects = _objects(connection)
    if digest(objects) in KNOWN:
        return
    problem = next(_strange(objects), None)
    if problem is None:
        with closing(_made()) as made:
            problem = next(_differing(_described(connection), _described(made)), None)
    _refuse(problem, location)


def check_plain(connection: sqlite3.Connection, location: str) -> None:
    """Raise `NotAStore` if a store of any schema contains what may run something."""
    _refuse(next(_strange(_objects(connection)), None), location)


def _objects(connection: sqlite3.Connection) -> list[_Object]:
    """Return what a schema has; of more than a store can have, as many as show that."""
    objects = connection.execute(f"SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT {_MOST_READ}").fetchall()
    return [each for each in objects if each not in _STATISTICS]


def _refuse(problem: str | None, location: str) -> None:
    if problem is not None:
        raise NotAStore(
            f"{location}: {problem}, so it is not a store that riff-tui made; nothing of it was read",
            "ask for the files that it was made from, and ingest them",
        )


def digest(objects: Sequence[_Object]) -> str:
    """Return what distinguishes what two stores have, in whatever order it was made."""
    held = repr(sorted(objects, key=lambda each: each[:2])).encode("utf-8", "surrogatepass")
    return blake2b(held, digest_size=16).hexdigest()


def strange_values(connection: sqlite3.Connection, rows: RowsOf) -> dict[str, int]:
    """Return how many rows of each table have a value of another kind than its column, or one that is infinite."""
    found = Counter[str]()
    for model in models.ALL:
        table, fields = model._meta.table_name, model._meta.sorted_fields
        strange = [f'abs("{each.column_name}") > {_LARGEST}' for each in fields if each.field_type == "DOUBLE"]
        strange += [_of_other_kind(each) for each in fields]
        for among in rows.get(table, ALL_ROWS):
            suspected = f'SELECT 1 FROM "{table}" WHERE {among} AND ({" OR ".join(_suspicions(fields))}) LIMIT 1'
            if connection.execute(suspected).fetchone() is not None:
                asked = f'SELECT COUNT(*) FROM "{table}" WHERE {among} AND ({" OR ".join(strange)})'
                found[table] += int(connection.execute(asked).fetchone()[0])
    return +found


def broken_references(connection: sqlite3.Connection, rows: RowsOf) -> dict[str, int]:
    """Return how many rows of each table point to rows that are not there."""
    found = Counter[str]()
    for model in models.ALL:
        table, fields = model._meta.table_name, model._meta.refs
        lost = " OR ".join(map(_points_nowhere, fields))
        for among in rows.get(table, ALL_ROWS) if fields else ():
            asked = f'SELECT COUNT(*) FROM "{table}" WHERE {among} AND ({lost})'
            found[table] += int(connection.execute(asked).fetchone()[0])
    return +found


def _points_nowhere(field: pw.ForeignKeyField) -> str:
    name, table, key = field.column_name, field.rel_model._meta.table_name, field.rel_field.column_name
    return f'("{name}" IS NOT NULL AND "{name}" NOT IN (SELECT "{key}" FROM "{table}"))'


def _of_other_kind(field: pw.Field) -> str:
    kind, name = _KINDS.get(field.field_type, "integer"), f'"{field.column_name}"'
    there = f"{name} IS NOT NULL AND " if field.null else ""
    return f"({there}typeof({name}) <> '{kind}')"


def _suspicions(fields: Sequence[pw.Field]) -> Iterator[str]:
    """Yield what is true of every strange row, and of hardly any other: asking for the kind of each value takes longer.

    Text and bytes are more than any number as long as they are not taken for one, hence the `+`. Whole numbers add up
    to a whole one, and nothing else does.
    """
    whole = []
    for field in fields:
        kind, name = _KINDS.get(field.field_type, "integer"), f'"{field.column_name}"'
        if kind == "integer":
            yield f"+{name} > {2**63 - 1}"
            whole.append(f"COALESCE({name}, 0)" if field.null else name)
        elif kind == "real":
            finite = f"+{name} BETWEEN -{_LARGEST} AND {_LARGEST}"
            yield f"NOT ({finite})" if field.null else f"({finite}) IS NOT TRUE"
        else:
            yield _of_other_kind(field)
    if whole:
        yield f"typeof({' + '.join(whole)}) <> 'integer'"


def _strange(objects: Sequence[_Object]) -> Iterator[str]:
    """Yield what may run something, whatever it is called."""
    if len(objects) >= _MOST_OBJECTS:
        yield "it has too many tables"
    for kind, name, _, sql in objects:
        if kind not in ("table", "index"):
            yield f"it has a {kind}, {name}"
        elif sql is None:
            if kind != "index" or not name.startswith("sqlite_autoindex_"):
                yield f"it has a {kind} that nothing defines, {name}"
        elif (plain := re.fullmatch(_PLAIN, sql)) is None or (plain[1][-5:].lower(), plain[2]) != (kind, name):
            yield f"its {kind} {name} is not made as those of a store are"


def _differing(found: dict[str, Any], made: dict[str, Any]) -> Iterator[str]:
    """Yield how the tables of a store differ from those that a new one would have."""
    for name in sorted(made.keys() - found.keys()):
        yield f"it lacks the table {name}"
    for name in sorted(found.keys() - made.keys()):
        yield f"it has a table that no store has, {name}"
    for name in sorted(made):
        if found[name] != made[name]:
            yield f"its table {name} has other columns, keys or indexes than that of a store"


def _described(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return every table with its columns, keys and options, and its indexes with their columns and conditions."""
    described = {}
    for _, name, kind, _, unkeyed, strict in connection.execute("PRAGMA main.table_list").fetchall():
        if name not in _OWN:
            columns = connection.execute("SELECT * FROM pragma_table_xinfo(?)", (name,)).fetchall()
            keys = connection.execute("SELECT * FROM pragma_foreign_key_list(?)", (name,)).fetchall()
            indexes = connection.execute("SELECT * FROM pragma_index_list(?)", (name,)).fetchall()
            described[name] = (
                kind, unkeyed, strict, columns, sorted(key[2:] for key in keys),
                sorted((*index[1:], *_described_index(connection, index[1])) for index in indexes),
            )  # fmt: skip
    return described


def _described_index(connection: sqlite3.Connection, name: str) -> tuple[Any, ...]:
    columns = connection.execute("SELECT * FROM pragma_index_xinfo(?)", (name,)).fetchall()
    made = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND name = ?", (name,)).fetchone()
    return (*columns, ((made and made[0]) or "").partition("WHERE")[2].strip())


def _made() -> sqlite3.Connection:
    """Return an empty store in memory."""
    database = pw.SqliteDatabase(":memory:")
    create_tables(database)
    connection: sqlite3.Connection = database.connection()
    return connection


def create_tables(database: pw.SqliteDatabase) -> None:
    """Make the tables and indexes of an empty store of the present schema."""
    for statement, values in _definitions():
        database.execute_sql(statement, values)


@cache
def _definitions() -> tuple[tuple[str, Sequence[Any]], ...]:
    """Return the statements that make the tables and indexes, which take longer to write than to run."""
    # These are all models: to look for others among what refers to them took most of the time.
    with pw.SqliteDatabase(None).bind_ctx(models.ALL, bind_refs=False, bind_backrefs=False):
        schemas = [model._schema for model in pw.sort_models(models.ALL)]  # type: ignore[attr-defined]
        return tuple(
            made.query()
            for schema in schemas
            for made in (schema._create_table(safe=False), *schema._create_indexes(safe=False))
        )
