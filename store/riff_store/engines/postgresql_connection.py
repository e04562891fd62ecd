"""Connect to PostgreSQL, so that statements run as the store writes them, and insert in bulk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

import peewee as pw
import psycopg
from psycopg.adapt import Dumper, Loader

from riff_store.engines.engine import BUSY_SECONDS
from riff_store.engines.statements import spelled


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
    """Hold the rows that a statement returned, none where it returns no rows.

    Values are written into the statement by the client: in a GROUP BY a value that is bound twice is no value twice.
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
