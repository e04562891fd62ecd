"""Define the tables of the store.

Text names are in dimension tables; facts have integer keys. Models are not bound to a database: a query is executed on
the `Store` that asks.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from riff_store import packages as packages

# Every table and every sum is to be had from here, by the name that it is defined by.
from riff_store.schema.names import *  # noqa: F403
from riff_store.schema.sums import *  # noqa: F403

if TYPE_CHECKING:
    from riff_store.schema.tables import *  # noqa: F403


def __getattr__(name: str) -> Any:
    """Make the tables of facts once one is asked for: who reads sums alone needs none, and they take as long."""
    found = globals()[name] = getattr(import_module("riff_store.schema.tables"), name)
    return found
