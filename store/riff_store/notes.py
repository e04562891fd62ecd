"""Find the notes of people that are of no call: it is not there yet, or nothing goes by what they say of it."""

from __future__ import annotations

import sqlite3

WAITING = """
SELECT s.path, a.conversation_name FROM annotation a JOIN source_file s ON s.id = a.source_file_id
WHERE NOT a.deleted AND NOT EXISTS (
  SELECT 1 FROM conversation c JOIN run r ON r.id = c.run_id JOIN flow f ON f.id = c.flow_id
    JOIN agent g ON g.id = c.agent_id
  WHERE c.name = a.conversation_name AND r.name = coalesce(a.run_name, r.name)
    AND f.name = coalesce(a.flow_name, f.name) AND g.name = coalesce(a.agent_name, g.name)
    AND c.trial = coalesce(a.trial, c.trial))
ORDER BY s.path, a.conversation_name"""
"""Read where the notes stand that wait for their call, and of which id they are."""


def waiting_notes(connection: sqlite3.Connection) -> int:
    """Count the notes that were read and wait for their call."""
    if connection.execute("SELECT 1 FROM annotation LIMIT 1").fetchone() is None:
        return 0
    return int(connection.execute(f"SELECT COUNT(*) FROM ({WAITING})").fetchone()[0])
