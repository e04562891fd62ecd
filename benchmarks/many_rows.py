"""Put 100,000 rows into the explorer's table and print the seconds and the bytes that it took beside the rows.

usage: python -m benchmarks.many_rows
"""

from __future__ import annotations

import asyncio
import json
import time
import tracemalloc

from textual.app import App, ComposeResult

from riff_tui.table import Column, Row, Table
from riff_tui.tui.widgets.line_table import LineTable

ROWS = 100_000


class _Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield LineTable()


def main() -> None:
    """Measure the time without, the memory with a tracer."""
    table = _table()
    seconds, _ = asyncio.run(_load(table))
    tracemalloc.start()
    _, held = asyncio.run(_load(table))
    print(json.dumps({"rows": ROWS, "seconds": seconds, "bytes": held}))


async def _load(table: Table) -> tuple[float, int]:
    """Seconds until the rows are drawn, and bytes that are kept then."""
    app = _Bare()
    async with app.run_test(size=(120, 36)) as pilot:
        widget = app.query_one(LineTable)
        before = tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else 0
        begin = time.perf_counter()
        widget.load(table)
        widget.to_end(1)
        lines = [widget.render_line(y) for y in range(widget.size.height)]
        seconds = time.perf_counter() - begin
        held = tracemalloc.get_traced_memory()[0] - before if tracemalloc.is_tracing() else 0
        await pilot.pause()
    assert len(lines) == 36
    return seconds, held


def _table() -> Table:
    columns = [Column("flow", "Flow", kind="name"), *(Column(f"m{number}", f"metric {number}") for number in range(8))]
    rows = [
        Row(f"{index}", {"flow": f"flow_{index}", **{f"m{number}": index * number % 100 / 10 for number in range(8)}})
        for index in range(ROWS)
    ]
    return Table("flows", "Flows", columns, rows)


if __name__ == "__main__":
    main()
