"""Open the store of a command that writes, and say what that did to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from riff_store.database import Store


@contextmanager
def store_to_write(location: str, *, create: bool) -> Iterator[Store]:
    """The store at a location, open for writing; where it was migrated, stderr names the copy that was kept."""
    from riff_store.database import open_store
    from riff_tui.output.streams import say

    with open_store(location, write=True, create=create) as opened:
        if opened.copy_before is not None:
            say(f"The store was migrated; as it was before it is kept in {opened.copy_before}.")
        yield opened
