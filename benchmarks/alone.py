"""Ingest one file with its transcripts in a process of its own and print the most memory that it held, in bytes.

usage: python -m benchmarks.alone TRANSCRIPTS STORE
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.machine import peak_memory
from benchmarks.ours import ingest_file


def main() -> None:
    """Ingest, then tell."""
    transcripts, store = sys.argv[1:]
    ingest_file(Path(transcripts), Path(store), with_text=True)
    print(peak_memory())


if __name__ == "__main__":
    main()
