"""Ask a question of a DuckDB file, and print the rows and the seconds that the query took by itself.

usage: python -m benchmarks.scale.ask_peer FILE THREADS < SQL
"""

from __future__ import annotations

import json
import sys
import time

import duckdb


def main() -> None:
    """Connect, ask, print; 0 threads are as many as DuckDB likes."""
    file, threads = sys.argv[1:]
    sql = sys.stdin.read()
    with duckdb.connect(file, read_only=True, config={"threads": int(threads)} if int(threads) else {}) as connection:
        begin = time.perf_counter()
        rows = connection.execute(sql).fetchall()
        seconds = time.perf_counter() - begin
    json.dump({"rows": rows, "seconds": seconds}, sys.stdout)


if __name__ == "__main__":
    main()
