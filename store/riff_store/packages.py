"""Load Peewee without what it would load along and a store never asks it for: that takes a tenth of a second.

Packages that use Peewee import this before anything else.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_DRIVERS = ("psycopg", "psycopg2", "psycopg2cffi", "pymysql", "MySQLdb", "pysqlite3")
_SELDOM_USED = ("calendar", "hashlib", "socket")


class _Later(ModuleType):
    """Stand for a module that is loaded once something of it is used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


if "peewee" not in sys.modules:
    # None says that there is no such module.
    _instead = {**dict.fromkeys(_DRIVERS), **{name: _Later(name) for name in _SELDOM_USED}}
    _hidden = {name: each for name, each in _instead.items() if name not in sys.modules}
    sys.modules.update(_hidden)  # type: ignore[arg-type]
    try:
        import_module("peewee")
    finally:
        for _name, _each in _hidden.items():
            if sys.modules.get(_name) is _each:
                del sys.modules[_name]
