"""Print the flow matrix of a lake as JSON lines: flow_matrix.py DIRECTORY."""

import json
import sys
from pathlib import Path

import duckdb

connection = duckdb.connect()
connection.execute("SET VARIABLE lake = ?", [sys.argv[1]])
found = connection.execute(Path(__file__).with_name("flow_matrix.sql").read_text(encoding="utf-8"))
columns = [column[0] for column in found.description]
for row in found.fetchall():
    print(json.dumps(dict(zip(columns, row, strict=True))))
