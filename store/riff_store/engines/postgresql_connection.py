"""Connect to PostgreSQL, so that statements run as the store writes them, and know its tables and its errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any
from urllib.parse import unquote

import peewee as pw
import psycopg
from psycopg.adapt import Dumper, Loader
from psycopg.conninfo import conninfo_to_dict

from riff_store import schema as models
from riff_store.engines.engine import BUSY_SECONDS, Connection
from riff_store.engines.statements import spelled
from riff_store.errors import DiskFull, NotAStore, StoreBusy, StoreError, StoreMissing, StoreReadOnly, StoreSilent
from riff_store.location import without_secrets


class _Compiler(pw.PostgresqlDatabase):
    """Turn Peewee's queries into statements; it is never connected."""

    param = "?"


COMPILER = _Compiler(None)
_SETTINGS = {
    "extra_float_digits": "1",  # a float comes as it was stored, whatever is usual on the server
    "jit": "off",  # to compile a statement takes longer than it saves for all but the largest
    "standard_conforming_strings": "on",
}


class _Answer(psycopg.ClientCursor):  # type: ignore[misc]  # the check knows nothing of psycopg
    """Keep the rows that a statement returned, none if it returns no rows.

    Values are written into the statement by the client: in a GROUP BY a value that is bound twice is not a value twice.
    """

    def fetchall(self) -> list[Any]:
        return super().fetchall() if self.description is not None else []

    def fetchone(self) -> Any:
        return super().fetchone() if self.description is not None else None


class _Number(Loader):  # type: ignore[misc]  # as above
    """Read a sum of whole numbers as one, and any other as a float."""

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text or b"N" in text else int(text)


class _Flag(Dumper):  # type: ignore[misc]  # as above
    """Write a flag so that it fits a column of flags and one of whole numbers."""

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"

    def quote(self, obj: bool) -> bytes:
        return b"'1'" if obj else b"'0'"


class PostgresqlConnection:
    """Run statements on one connection, each by itself unless a transaction was begun."""

    def __init__(self, parameters: dict[str, Any], schema: str) -> None:
        self.raw = psycopg.connect(**parameters, autocommit=True, cursor_factory=_Answer)
        self.raw.adapters.register_loader("numeric", _Number)
        self.raw.adapters.register_dumper(bool, _Flag)
        quoted = schema.replace('"', '""')
        settings = {**_SETTINGS, "search_path": f'"{quoted}"', "lock_timeout": f"{BUSY_SECONDS}s"}
        asked = ", ".join("set_config(?, ?, false)" for _ in settings)
        try:
            self.execute(f"SELECT {asked}", [part for setting in settings.items() for part in setting])
        except BaseException:
            self.raw.close()
            raise

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> _Answer:
        """Run a statement."""
        statement = spelled(sql)
        values = _named(parameters) if statement.is_numbered else tuple(parameters)
        answer: _Answer = self.raw.execute(statement.sql, values)
        return answer

    def executemany(self, sql: str, parameters: Iterable[Sequence[Any]], /) -> None:
        """Run a statement once for each row of values."""
        statement = spelled(sql)
        rows = map(_named, parameters) if statement.is_numbered else parameters
        with psycopg.Cursor(self.raw) as cursor:
            cursor.executemany(statement.sql, rows)

    def insert(self, model: type[pw.Model], values: Sequence[Any]) -> None:
        """Insert rows with every column of a model: their values one after the other, in the order of its fields."""
        if not values:
            return
        fields = model._meta.sorted_fields
        # A key that is not given comes from its sequence, for all rows or none.
        given = [not (isinstance(field, pw.AutoField) and values[place] is None) for place, field in enumerate(fields)]
        columns = ", ".join(f'"{field.column_name}"' for field in compress(fields, given))
        rows = zip(*[iter(values)] * len(fields), strict=True)
        with (
            self.raw.cursor() as cursor,
            cursor.copy(f'COPY "{model._meta.table_name}" ({columns}) FROM STDIN') as copy,
        ):
            for row in rows if all(given) else (tuple(compress(row, given)) for row in rows):
                copy.write_row(row)

    def close(self) -> None:
        """End the connection."""
        self.raw.close()


def _named(values: Sequence[Any]) -> dict[str, Any]:
    return {f"v{number}": value for number, value in enumerate(values, 1)}


TABLE = "store"
"""The table with one row that says that this is a store, of which schema, and when it was written last."""
_HEADER = f"""
CREATE TABLE {TABLE} (application_id bigint NOT NULL, schema_version bigint NOT NULL, id text NOT NULL,
  writes bigint NOT NULL, written_at bigint NOT NULL)"""
_TYPES = {
    "AUTO": "bigint GENERATED BY DEFAULT AS IDENTITY",
    "INT": "bigint",
    "BIGINT": "bigint",
    "TEXT": 'text COLLATE "C"',
    "DOUBLE": "double precision",
    "BOOL": "boolean",
    "BLOB": "bytea",
}
_COLUMNS = """
SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"""

_CONDITIONS = ("(conversation_id IS NULL)", "(kind = 'replaced'::text)")
"""What the indexes of a store that hold some rows alone say of these."""
_STRANGE = """
WITH place AS (SELECT oid FROM pg_namespace WHERE nspname = current_schema()),
  own AS (SELECT c.* FROM pg_class c, place WHERE c.relnamespace = place.oid AND c.relname = ANY(?))
SELECT 'a view or the like in the place of the table', relname FROM own WHERE relkind <> 'r'
UNION ALL SELECT 'rules, triggers, policies or other tables on', relname FROM own
  WHERE relhasrules OR relhastriggers OR relrowsecurity OR relhassubclass
UNION ALL SELECT 'a check on', relname FROM own JOIN pg_constraint k ON k.conrelid = own.oid WHERE k.contype = 'c'
UNION ALL SELECT 'a column with an expression, or of a type of its own, in', relname
  FROM own JOIN pg_attribute a ON a.attrelid = own.oid LEFT JOIN pg_type t ON t.oid = a.atttypid
  WHERE own.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  AND (a.atthasdef OR t.typnamespace <> 'pg_catalog'::regnamespace)
UNION ALL SELECT 'an index over an expression of', relname FROM own JOIN pg_index i ON i.indrelid = own.oid
  WHERE i.indexprs IS NOT NULL OR pg_get_expr(i.indpred, i.indrelid) <> ALL(?)
UNION ALL SELECT 'the function', p.proname FROM pg_proc p, place, pg_roles r
  WHERE p.pronamespace = place.oid AND r.oid = p.proowner AND NOT r.rolsuper
UNION ALL SELECT 'the operator', o.oprname FROM pg_operator o, place, pg_roles r
  WHERE o.oprnamespace = place.oid AND r.oid = o.oprowner AND NOT r.rolsuper
LIMIT 1"""
"""Whoever owns a schema can have others run what is in it: with their rights, once they read or write what is there."""


def definitions() -> Iterator[str]:
    """Yield the statements that make the tables of an empty store.

    Keys are declared, references are not: as in SQLite every key comes from the transaction that uses it, and the
    doctor looks whether it is there.
    """
    yield _HEADER
    for model in models.ALL:
        keys = ", ".join(column_of(field) for field in model._meta.get_primary_keys())
        columns = ", ".join(
            f"{column_of(field)} {_TYPES[field.field_type]}{'' if field.null else ' NOT NULL'}"
            for field in model._meta.sorted_fields
        )
        yield f'CREATE TABLE "{model._meta.table_name}" ({columns}, PRIMARY KEY ({keys}))'
        for index in model._meta.fields_to_index():
            yield str(COMPILER.get_sql_context().sql(pw.ValueLiterals(index.safe(False))).query()[0])


def strange(connection: Connection) -> str | None:
    """Return what runs in the schema when a store in it is read or written, if there is anything."""
    tables = [TABLE, *(model._meta.table_name for model in models.ALL)]
    found = connection.execute(_STRANGE, (tables, list(_CONDITIONS))).fetchone()
    return None if found is None else f"{found[0]} {found[1]}"


def lacking(connection: Connection) -> list[str]:
    """Return the tables and columns that a store ought to have and lacks, a sentence each."""
    found: dict[str, set[str]] = {}
    for table, column in connection.execute(_COLUMNS):
        found.setdefault(table, set()).add(column)
    problems = []
    for model in models.ALL:
        name = model._meta.table_name
        if name not in found:
            problems.append(f"the table {name} is missing")
            continue
        gone = {field.column_name for field in model._meta.sorted_fields} - found[name]
        problems += [f"the table {name} lacks its column {column}" for column in sorted(gone)]
    return problems


def advance_keys(connection: Connection) -> None:
    """Let new rows have keys behind those that rows have been given."""
    for model in models.ALL:
        if isinstance(model._meta.primary_key, pw.AutoField):
            table = model._meta.table_name
            behind = f'SELECT coalesce(max(id), 0) + 1 FROM "{table}"'
            connection.execute(f"SELECT setval(pg_get_serial_sequence(?, 'id'), ({behind}), false)", (f'"{table}"',))


def column_of(field: Any) -> str:
    """Return the name of a column as it is in a statement."""
    return f'"{field.column_name}"'


DEFAULT_SCHEMA = "riff"
"""The schema of a store whose address names none by its parameter `schema`."""
_IN_URL = re.compile(r"(?<=[?&])schema=([^&#]*)(?:&|$)")
_IN_WORDS = re.compile(r"(?:^|(?<=\s))schema\s*=\s*(\S+)\s*")
_CONNECT_SECONDS = 10


class Address:
    """Keep what is needed to connect to a server, the schema of the store, and the address as others may see it."""

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


# Translate errors of PostgreSQL into those of the store, in sentences that quote neither address nor password.
_Meaning = tuple[type[StoreError], str, str]

_BUSY: _Meaning = (StoreBusy, "another process is writing the store", "try again in a moment")
_BY_CODE: dict[str, _Meaning] = {
    "25006": (StoreReadOnly, "the store is read-only here", "connect to the server that is written to, as its writer"),
    "28": (StoreError, "the server refused the user or the password", "check both, ~/.pgpass and PGPASSWORD"),
    "25P03": (StoreSilent, "the server ended a connection that was idle", "try again"),
    "3D000": (StoreMissing, "the server has no such database", "make it with createdb"),
    "40": _BUSY,
    "42501": (StoreReadOnly, "the role may not do this", "connect as one that may; docs/postgresql.md has the grants"),
    "42P01": (NotAStore, "the store is damaged: it lacks a table", "restore a copy, or ingest again into a new one"),
    "42703": (NotAStore, "the store is damaged: it lacks a column", "restore a copy, or ingest again into a new one"),
    "53100": (DiskFull, "disk full: nothing of this step was stored", "make room and run it again"),
    "53300": (StoreBusy, "the server has too many connections", "try again in a moment"),
    "53": (StoreError, "the server ran out of memory or room", "see its log"),
    "55P03": _BUSY,
    "57014": (StoreError, "the server ended the question", "its statement_timeout may be too short for it"),
    "57P": (StoreSilent, "the server ended the connection", "try again in a moment"),
    "58": (StoreError, "the server's disk failed", "see its log"),
    "08": (StoreSilent, "the connection to the server was lost", "try again in a moment"),
}
_BY_MESSAGE: tuple[tuple[str, _Meaning], ...] = (
    ("password authentication failed", _BY_CODE["28"]),
    ("no password supplied", (StoreError, "the server wants a password", "put it into ~/.pgpass or PGPASSWORD")),
    ("pg_hba.conf", (StoreError, "the server lets nobody in from here", "see its pg_hba.conf")),
    ("role", (StoreError, "the server knows no such user", "name one with PGUSER or in the address")),
    ("does not exist", _BY_CODE["3D000"]),
    ("definition of service", (StoreError, "no such service", "see ~/.pg_service.conf")),
    ("too many", _BY_CODE["53300"]),
    ("starting up", (StoreSilent, "the server is starting", "try again in a moment")),
    ("timeout", (StoreSilent, "no server answered in time", "check host and port")),
    ("could not translate host", (StoreError, "no such host", "check the host in the address")),
    ("failed to resolve host", (StoreError, "no such host", "check the host in the address")),
    ("connection", (StoreSilent, "no server answers there", "check host and port, and that it runs")),
)


def meaning_of(error: psycopg.Error) -> _Meaning | None:
    """Return what an error of PostgreSQL means: the kind of the store error, its message, and a hint."""
    code = error.sqlstate
    if code is not None:
        return next((_BY_CODE[code[:length]] for length in (5, 3, 2) if code[:length] in _BY_CODE), None)
    if not isinstance(error, psycopg.OperationalError):
        return None
    text = str(error).lower()
    return next((meaning for words, meaning in _BY_MESSAGE if words in text), _BY_CODE["08"])
