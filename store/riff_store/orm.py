"""Load Peewee without the drivers that it would load along wherever they are installed: that takes a tenth of a second.

Packages that use Peewee import this before anything else.
"""

from __future__ import annotations

import sys
from importlib import import_module

_DRIVERS = ("psycopg", "psycopg2", "psycopg2cffi", "pymysql", "MySQLdb", "pysqlite3")

if "peewee" not in sys.modules:
    _hidden = [name for name in _DRIVERS if name not in sys.modules]
    sys.modules.update(dict.fromkeys(_hidden))  # type: ignore[arg-type]  # None says that there is no such module
    try:
        import_module("peewee")
    finally:
        for _name in _hidden:
            del sys.modules[_name]
