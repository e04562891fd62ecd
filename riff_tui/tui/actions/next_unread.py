"""Go to the next call of a list that the person who reads has noted nothing on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from riff_store.answers.calls import CallNames
from riff_tui.table import Row, Table
from riff_tui.tui.actions.registry import action
from riff_tui.tui.actions.siblings import load_sibling
from riff_tui.tui.data.paged_rows import PAGE, PagedRows

if TYPE_CHECKING:
    from riff_tui.tui.actions.controls import Controls


def next_unread(controls: Controls) -> None:
    """Go there; say how it stands where none follows."""
    navigator = controls.navigator
    table, position = navigator.list_above(), navigator.position()
    if table is None or position is None:
        controls.host.say("no list leads to another call", "warn")
    else:
        controls.opening.begin(partial(_go, controls, table, position[0]), "calls", is_for_text=False)


async def _go(controls: Controls, table: Table, after: int) -> None:
    host, source, notebook = controls.host, controls.backend.notes, controls.backend.notebook
    if source is None or notebook is None:
        return
    location = host.location

    def search() -> tuple[int | None, bool]:
        read = ReadCalls(source.read_by(notebook.author))
        found = next(read.unread(table.rows, after, len(table.rows)), None)
        return found, found is None and next(read.unread(table.rows, 0, after), None) is not None

    found, is_one_before = await host.worker.ask(search)
    if host.location.cache_key != location.cache_key:
        return
    if found is not None:
        await load_sibling(controls, table, found)
    elif is_one_before:
        host.say("no unread call after this one; before it there are: p goes back", "warn")
    else:
        key = action("view:codes").keys[0]
        host.say(f"all {len(table.rows):,} of this list are read · q and then {key} shows the codes of them")


class ReadCalls:
    """Know which calls somebody has read."""

    def __init__(self, calls: Collection[CallNames]) -> None:
        self._known: dict[tuple[str, str], list[CallNames]] = {}
        for call in calls:
            self._known.setdefault((call.run, call.conversation), []).append(call)

    def unread(self, rows: Sequence[Row], start: int, stop: int) -> Iterator[int]:
        """Yield the indices of rows about calls that can be read and were not; it reads the rows page by page."""
        for first in range(start, stop, PAGE):
            last = min(first + PAGE, stop)
            page = rows.read(first, last) if isinstance(rows, PagedRows) else rows[first:last]
            yield from (first + at for at, row in enumerate(page) if row.where and self._is_unread(row.record))

    def _is_unread(self, record: Mapping[str, object]) -> bool:
        run, conversation = record.get("run"), record.get("conversation")
        if not isinstance(run, str) or not isinstance(conversation, str):
            return False
        others = ("flow", "agent", "trial")
        named = self._known.get((run, conversation), ())
        return not any(all(record.get(key) in (None, getattr(call, key)) for key in others) for call in named)
