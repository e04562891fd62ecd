"""Ask questions of a DuckDB file, and print the rows of each answer and the seconds that its query took by itself.

usage: python -m benchmarks.scale.ask_peer FILE THREADS < QUESTIONS    (a JSON list of SQL)
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import duckdb


def main() -> None:
    """Connect, ask, print; 0 threads are as many as DuckDB likes."""
    file, threads = sys.argv[1:]
    asked = json.load(sys.stdin)
    with duckdb.connect(file, read_only=True, config={"threads": int(threads)} if int(threads) else {}) as connection:
        json.dump([_answer(connection, sql) for sql in asked], sys.stdout)


def _answer(connection: duckdb.DuckDBPyConnection, sql: str) -> dict[str, Any]:
    begin = time.perf_counter()
    rows = connection.execute(sql).fetchall()
    return {"rows": rows, "seconds": time.perf_counter() - begin}


if __name__ == "__main__":
    main()
