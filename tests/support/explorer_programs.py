"""Explorers over hand-made tables, to be run on a pty: `python -m tests.support.explorer_programs NAME [SECONDS]`.

The detail pane follows a cursor that has rested for the seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from tests.support.fake_catalog import FakeCatalog, conversation_table, flow_table, long_table
from tests.support.fake_names import FakeNames, HostileNames
from tests.support.hostile import HOSTILE
from tests.support.voice_tables import HOSTILE_VOICE, Voices
from tests.surface.explorer import Backend, Explorer, ShowView, detail, detect_capabilities
from tests.surface.tui import Request, Row, Table

_TEXT_KEYS = (
    "flow", "agent", "state", "segment", "persona", "conversation", "text", "detail", "role", "final_state"
)  # fmt: skip
SECRET = "what the caller said"


def walk() -> ShowView:
    """The small store's worth of tables."""
    return FakeCatalog().show


def big() -> ShowView:
    """Ten thousand rows."""
    return lambda view, request: long_table(10_000)


def slow() -> ShowView:
    """Every view but the first takes longer than anybody waits."""
    catalog = FakeCatalog()

    def show(view: str, request: Request) -> Table:
        if view != "flows":
            time.sleep(60)
        return catalog.show(view, request)

    return show


class _Broken(list[Row]):
    """Rows that cannot be had once they are drawn."""

    def __getitem__(self, index: object) -> Row:  # type: ignore[override]  # it never answers
        words = SECRET
        raise RuntimeError(f"broken, with {len(words)} letters of a caller in a variable")


def broken() -> ShowView:
    """A table that ends the explorer while it is drawn."""
    return lambda view, request: flow_table()._replace(rows=_Broken(flow_table().rows))


def hostile() -> ShowView:
    """Every name, word and note is text that would like to be more than text."""
    strings = list(HOSTILE.values())
    catalog = FakeCatalog()

    def show(view: str, request: Request) -> Table:
        if view == "conversation":
            parts = [conversation_table(text).rows for text in strings]
            rows: Sequence[Row] = [
                row._replace(id=f"{part} {row.id}") for part, rows in enumerate(parts) for row in rows
            ]
            return conversation_table()._replace(rows=rows, notes=strings, title=strings[1], dump=strings[1])
        table = catalog.show(view, request._replace(where="flow=viewing state=confirm"))
        rows = [_spoiled(table.rows[index % len(table.rows)], index) for index in range(len(strings))]
        return table._replace(rows=rows, notes=strings, title=strings[1], dump=strings[1])

    return show


def voice() -> ShowView:
    """Every conversation is a voice call; it starts with the list of them."""
    return Voices().show


def hostile_voice() -> ShowView:
    """A voice call of which every text is hostile."""
    return Voices(HOSTILE_VOICE).show


def _spoiled(row: Row, index: int) -> Row:
    text = list(HOSTILE.values())[index]
    return row._replace(
        id=f"{index}", record={key: text if key in _TEXT_KEYS else value for key, value in row.record.items()}
    )


def main() -> None:
    """Run the explorer that was asked for and end with its code."""
    if len(sys.argv) > 2:
        detail.RESTS_AFTER_S = float(sys.argv[2])
    found = detect_capabilities()
    kinds = (walk, big, slow, broken, hostile, voice, hostile_voice)
    show = {kind.__name__: kind for kind in kinds}[sys.argv[1]]()
    names = HostileNames(100) if sys.argv[1] == "hostile" else FakeNames()
    explorer = Explorer(Backend(show, names=names), palette=found.palette, glyphs=found.glyphs)
    explorer.run(mouse=found.mouse)
    if explorer.failure is not None:
        sys.exit(f"failed: {type(explorer.failure).__name__}")
    sys.exit(explorer.return_code or 0)


if __name__ == "__main__":
    main()
