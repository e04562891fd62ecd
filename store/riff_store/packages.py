"""Load packages of others without what they load along and are never asked for here.

Packages that use Peewee import this before anything else: it loads in a fraction of the time without the drivers that
are installed beside it, and a store asks it for nothing that the modules do that come later.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Load a module once something of it is used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def load(name: str, later: Collection[str] = (), *, without: Collection[str] = ()) -> None:
    """Load a module; it finds those `without` which it does as if they were not installed, and loads some `later`."""
    if name in sys.modules:
        return
    # None says that there is no such module.
    instead = {**dict.fromkeys(without), **{each: _Later(each) for each in later}}
    hidden = {each: stand_in for each, stand_in in instead.items() if each not in sys.modules}
    sys.modules.update(hidden)  # type: ignore[arg-type]
    try:
        import_module(name)
    finally:
        for each, stand_in in hidden.items():
            if sys.modules.get(each) is stand_in:
                del sys.modules[each]


load(
    "peewee",
    later=("calendar", "hashlib", "socket"),
    without=("psycopg", "psycopg2", "psycopg2cffi", "pymysql", "MySQLdb", "pysqlite3"),
)
