"""Write notes in the forms that `notes export` has."""

from __future__ import annotations

import enum
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.facts import Annotation

_OF_OTHERS = frozenset({".gz", ".zst", ".xz", ".zip", ".xlsx", ".parquet"})


class NotesFormat(enum.StrEnum):
    """Name the forms that notes can be written in."""

    JSONL = "jsonl"
    CSV = "csv"
    EMBEDEVAL = "embedeval"


def form_of(output: Path | None) -> NotesFormat:
    """Return the form that the name of a file asks for; raise `UsageError` for one that notes do not have."""
    from riff_tui.errors import UsageError

    named = "" if output is None else output.suffix.lower()
    if named in _OF_OTHERS:
        raise UsageError(f"{output}: notes are written as jsonl, csv or embedeval, not {named}; choose another name")
    return NotesFormat.CSV if named == ".csv" else NotesFormat.JSONL


def json_line(note: Annotation) -> str:
    """Return a note as a line with its end."""
    from riff_ingest.annotation_lines import line_of

    return f"{line_of(note)}\n"


def writer(
    store: Store, where: str, form: NotesFormat, *, everything: bool, taxonomy: Path | None, csv_raw: bool
) -> Callable[[TextIO], None]:
    """Return what writes the notes of a store, all of which were read by then."""
    from riff_tui.notes.exports import COLUMNS, embedeval_records, records, taxonomy_of
    from riff_tui.notes.selection import lines_where, on_calls
    from riff_tui.output.sinks import csv, json
    from riff_tui.output.sinks.options import Options

    options = Options(csv_raw=csv_raw)
    if form is NotesFormat.JSONL:
        lines = lines_where(store, where)
        return lambda stream: stream.writelines(map(json_line, lines))
    if form is NotesFormat.CSV:
        found = list(records(*on_calls(store, where, everything=everything)))
        return lambda stream: csv.write_records(COLUMNS, found, stream, options)
    annotations = list(embedeval_records(*on_calls(store, where)))
    if taxonomy is not None:
        from riff_tui.output.files import write_whole

        table = taxonomy_of(annotations)
        write_whole(taxonomy, lambda stream: json.write_members(table.items(), stream, options))
    return lambda stream: json.write_records(annotations, stream, options)


def keep_others(store: Store, path: Path) -> None:
    """Refuse to write over a file with notes that the store lacks, such as those that a colleague pushed.

    Raises `UsageError`.
    """
    import shlex

    from riff_store.notes import read_notes
    from riff_tui.errors import UsageError
    from riff_tui.notes.kept_notes import read_kept
    from riff_tui.text.words import counted

    kept = read_kept(path)
    known = {note.id for note in read_notes(store)} if kept else set()
    count = len({note.id for note in kept} - known)
    if count:
        raise UsageError(
            f"{path}: has {counted(count, 'note')} that the store lacks; take them in first:"
            f" riff-tui notes import {shlex.quote(str(path))}"
        )
