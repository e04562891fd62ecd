"""Print every score as a tidy record: the `export` command."""

from __future__ import annotations

import enum
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TextIO, cast

from riff_tui.commands.options import CsvRawOption, OutputOption, StoreOption, WhereOption, option, settings_for

if TYPE_CHECKING:
    import io

    from riff_store.database import Store
    from riff_store.filters.predicates import Predicate
    from riff_tui.output.progress import ProgressLine
    from riff_tui.table import Batch

EXAMPLES = (
    "riff-tui export -o scores.csv",
    "riff-tui export --where 'run=nightly-1 !errored=yes' -o scores.jsonl",
    "riff-tui export --where 'aspect=humanness judge=codex'",
    "riff-tui export --format jsonl | head",
    "riff-tui export -o scores.parquet",
)


class ExportFormat(enum.StrEnum):
    """Name the forms that an export can have."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


# What a program would take a file of that name for, and it would not be that.
_OF_OTHERS = frozenset({".json", ".md", ".svg", ".html", ".xls", ".xlsx", ".ods", ".feather", ".db", ".sqlite"})
_OF_OTHERS |= {".gz", ".bz2", ".xz", ".zst", ".zip"}
_BY_ENDING = {
    ".jsonl": ExportFormat.JSONL,
    ".ndjson": ExportFormat.JSONL,
    ".parquet": ExportFormat.PARQUET,
    ".pq": ExportFormat.PARQUET,
}


def export(
    where: WhereOption = "",
    format: Annotated[ExportFormat | None, option("--format", None, "Else by the ending of FILE, else csv.")] = None,
    output: OutputOption = None,
    csv_raw: CsvRawOption = False,
    store: StoreOption = None,
) -> None:
    """Print every score of every call.

    There is a record for each conversation, aspect and judge.
    """
    from riff_tui.commands.reading import reading
    from riff_tui.errors import UsageError
    from riff_tui.filters import split, take_scores
    from riff_tui.filters.parser import parse
    from riff_tui.output.files import names_file, write_output
    from riff_tui.settings import store_location

    scores, rest = take_scores(parse(where))
    calls, _ = split(rest, ())
    form = format or _form_of(output)
    settings = settings_for(store)
    if form is ExportFormat.PARQUET:
        from riff_tui.output.sinks.parquet import check

        if not names_file(output) and sys.stdout.isatty():
            raise UsageError("parquet cannot be read on a terminal: write it to a file with -o FILE")
        check()  # before anything is read or opened
    with reading(store_location(settings)) as opened:
        write_output(output, lambda file: _write(opened, calls, scores, form, file, csv_raw=csv_raw))


def _form_of(output: Path | None) -> ExportFormat:
    named = "" if output is None else output.suffix.lower()
    if named in _OF_OTHERS:
        from riff_tui.errors import UsageError

        raise UsageError(
            f"{output}: an export is csv, jsonl or parquet, not {named}; --format chooses one whatever the name"
        )
    return _BY_ENDING.get(named, ExportFormat.CSV)


def _write(
    store: Store, calls: Predicate | None, scores: Predicate | None, form: ExportFormat, out: TextIO, *, csv_raw: bool
) -> None:
    """Write page by page; no more than one page is ever in memory.

    What goes into a file has progress on a terminal; beside lines that are shown it would be between them.
    """
    from contextlib import nullcontext

    from riff_tui.output.progress import terminal_progress
    from riff_tui.output.sinks import csv, json, parquet
    from riff_tui.output.sinks.parts import Options
    from riff_tui.views.export import COLUMNS

    options = Options(csv_raw=csv_raw)
    try:
        is_file = stat.S_ISREG(os.fstat(out.fileno()).st_mode)
    except (OSError, ValueError):  # it has no descriptor
        is_file = False
    with terminal_progress() if is_file else nullcontext() as progress:
        batches = _batches(store, calls, scores, progress)
        if form is ExportFormat.CSV:
            csv.write_batches(COLUMNS, batches, out, options)
        elif form is ExportFormat.PARQUET:
            parquet.write_batches(COLUMNS, batches, cast("BinaryIO", cast("io.TextIOWrapper", out).buffer))
        else:
            json.write_batches(COLUMNS, batches, out, options)


def _batches(
    store: Store, calls: Predicate | None, scores: Predicate | None, progress: ProgressLine | None
) -> Iterator[Batch]:
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.scores import score_pages
    from riff_tui.views.export import batch_of

    total = count_conversations(store, calls) if progress else 0
    done = 0
    for page in score_pages(store, calls):
        yield batch_of(page, scores)
        done += len(page.calls)
        if progress:
            progress.counting(done, total)
