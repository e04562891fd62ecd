"""Write what people note on calls, and take it to others and in: the `notes` commands."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import click

from riff_tui.commands import completion
from riff_tui.commands.options import (
    CallOption,
    CsvRawOption,
    JsonOption,
    OutputOption,
    StoreOption,
    apply_limits,
    argument,
    flag,
    next_command,
    option,
    print_json,
    printed,
    settings_for,
    store_to_write,
)
from riff_tui.errors import InputSkipped, UsageError
from riff_tui.shapes import COUNT, TEXT, list_of, or_null, record

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.facts import Annotation
    from riff_tui.notes.notebook import Receipt


EXAMPLES = (
    "riff-tui notes add --where 'run=R conversation=C' --turn 7 --code 'ignored date'",
    "riff-tui notes export -o notes.jsonl",
    "riff-tui notes import notes.jsonl",
)


_VERDICTS = click.Choice(("pass", "fail"))
AuthorOption = Annotated[
    str | None,
    option("--author", "A", "Who writes; else $RIFF_TUI_AUTHOR, else git's user.email, else you on this machine."),
]
CallsOption = Annotated[str, option("--where", "EXPR", "Only notes on calls that match.", completion.terms)]


def notes() -> None:
    """Write notes on calls, and merge those of several people.

    A note is a verdict, a code or a remark. None is ever changed, only superseded, so that all merge (docs/notes.md).
    """


def add(
    where: CallOption = "",
    turn: Annotated[int | None, option("--turn", "N", "The turn that it is about, from 1.")] = None,
    state: Annotated[str | None, option("--state", "S", "The state; else that of the turn.")] = None,
    verdict: Annotated[str | None, option("--verdict", None, "Whether the call passes.", click_type=_VERDICTS)] = None,
    code: Annotated[str | None, option("--code", "C", "What went wrong, in a word or a few.", completion.codes)] = None,
    note: Annotated[str | None, option("--note", "TEXT|-", "A remark; - reads it.")] = None,
    author: AuthorOption = None,
    store: StoreOption = None,
) -> None:
    """Write a note on a call.

    Its line goes to stdout, and to stderr its words and the command that shows it. A code given to a call on which you
    have no verdict fails it.
    """
    from riff_tui.commands.reading import reading
    from riff_tui.notes.exchange import Given, draft, said
    from riff_tui.notes.notebook import Notebook
    from riff_tui.output.files import write_output
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location

    settings = settings_for(store, author=author)
    given = Given(verdict, code, sys.stdin.read() if note == "-" else note, turn, state)
    notebook = Notebook(store_location(settings), settings.author)
    with reading(notebook.location) as opened:
        drafted = draft(opened, where, given, notebook.author, notebook.now())
    receipt = notebook.write([drafted.note])
    write_output(None, lambda stream: stream.write(json_line(drafted.note)))
    for remark in drafted.remarks:
        say(remark)
    say(f"Noted: {said(drafted.note)}.")
    _say_where(receipt)
    say(f"Shown by: {drafted.command(notebook.location)}")


def export(
    where: CallsOption = "",
    format: Annotated[NotesFormat | None, option("--format", None, "Else by the ending of FILE, else jsonl.")] = None,
    output: OutputOption = None,
    everything: Annotated[bool, flag("--all", "In CSV the lines that were superseded or taken back as well.")] = False,
    taxonomy: Annotated[Path | None, option("--taxonomy", "FILE", "Write embedeval's table of categories too.")] = None,
    csv_raw: CsvRawOption = False,
    store: StoreOption = None,
) -> None:
    """Print notes.

    JSON lines have every line that was ever written, so that they can be merged; CSV and embedeval what counts.
    """
    from riff_tui.commands.reading import reading
    from riff_tui.output.files import write_output
    from riff_tui.settings import store_location

    form = format or form_of(output)
    if taxonomy is not None and form is not NotesFormat.EMBEDEVAL:
        raise UsageError("--taxonomy is of embedeval: add --format embedeval")
    if everything and form is NotesFormat.EMBEDEVAL:
        raise UsageError("--all is of jsonl and csv: embedeval has one verdict of a person on a call")
    with reading(store_location(settings_for(store))) as opened:
        if output is not None and form is NotesFormat.JSONL:
            keep_others(opened, output)
        write = writer(opened, where, form, output, everything=everything, taxonomy=taxonomy, csv_raw=csv_raw)
    write_output(output, write)


def rename(
    old: Annotated[str, argument("OLD", "The code as it is.", completion.codes)],
    new: Annotated[str, argument("NEW", "What to call it; one in use merges both.", completion.codes)],
    where: CallsOption = "",
    dry_run: Annotated[bool, flag("--dry-run", "Only print what would be renamed.")] = False,
    author: AuthorOption = None,
    store: StoreOption = None,
) -> None:
    """Rename a code on all calls, or merge it into another.

    Every note with it is superseded by one with the new name; who gave the code stays its author.
    """
    from riff_tui.commands.reading import reading
    from riff_tui.notes.notebook import Notebook
    from riff_tui.notes.selection import to_rename
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location

    settings = settings_for(store, author=author)
    notebook = Notebook(store_location(settings), settings.author)
    with reading(notebook.location) as opened:
        lines, told = to_rename(opened, old, new, where, notebook.author)
    say(f"{'Would rename' if dry_run else 'Renamed'}: {told}")
    if not dry_run:
        _say_where(notebook.write(lines))


_LEFT_OUT = record({"line": or_null(COUNT), "reason": TEXT})
_MERGED = record(
    {
        "file": TEXT,
        **dict.fromkeys(("new", "known", "changed", "skipped", "forgotten"), COUNT),
        "left_out": list_of(_LEFT_OUT),
    }
)
JSON = {"import": printed({"files": list_of(_MERGED)})}


def import_notes(
    files: Annotated[list[Path], argument("FILE...", "Files of notes; - is stdin.")],
    strict: Annotated[bool, flag("--strict", "Exit 5 where a line was skipped.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Merge notes of files into the store.

    Order and repetition do not matter. Notes wait where their call is not there yet. embedeval's annotations are taken
    as well.
    """
    from riff_tui.notes.exchange import merge_file, merge_stream, of_no_call
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location
    from riff_tui.text.numbers import counted

    for path in files:
        if path.is_dir():
            raise UsageError(f"{path}: is a directory; `riff-tui ingest` takes what is in it")
        if str(path) != "-" and not path.exists():
            raise UsageError(f"{path}: there is no such file")
    apply_limits()
    skipped, merged = 0, []
    with store_to_write(store_location(settings_for(store)), create=True) as opened:
        for path in files:
            if str(path) == "-":
                found = merge_stream(opened, sys.stdin.buffer)
            elif path.is_file():
                found = merge_file(opened, path)
            else:
                with path.open("rb") as pipe:
                    found = merge_stream(opened, pipe)
            skipped += found.skipped
            new, known, changed, forgotten = found.written
            left_out = [{"line": each.line, "reason": each.reason} for each in found.left_out]
            counts = {"new": new, "known": known, "changed": changed, "skipped": found.skipped}
            counts["forgotten"] = forgotten
            merged.append({"file": str(path), **counts, "left_out": left_out})
            for line in found.told("stdin" if str(path) == "-" else str(path)):
                say(line)
        for line in of_no_call(opened, next_command("dump", "skipped", store=store)):
            say(line)
        if opened.is_new:
            opened.discard_empty()
    if json:
        print_json({"files": merged})
    if strict and skipped:
        raise InputSkipped(f"{counted(skipped, 'line')} skipped; the reasons are above")


PARTS: Mapping[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "add": (
        add,
        (
            "riff-tui notes add --where 'run=R conversation=C' --verdict pass",
            "riff-tui notes add --where 'conversation=C' --turn 7 --code 'ignored date' --note 'asked twice'",
            "pbpaste | riff-tui notes add --where 'conversation=C' --note -",
        ),
    ),
    "export": (
        export,
        (
            "riff-tui notes export -o notes.jsonl",
            "riff-tui notes export --where 'run=nightly-1 code=loop' -o loops.csv",
            "riff-tui notes export --format embedeval -o annotations.jsonl --taxonomy taxonomy.json",
        ),
    ),
    "import": (
        import_notes,
        (
            "riff-tui notes import notes.jsonl",
            "riff-tui notes import ann.jsonl bob.jsonl.gz --strict",
            "git show main:notes.jsonl | riff-tui notes import -",
        ),
    ),
    "rename": (
        rename,
        (
            "riff-tui notes rename lop loop",
            "riff-tui notes rename 'wrong day' 'wrong date' --dry-run",
            "riff-tui notes rename loop stuck --where flow=dental",
        ),
    ),
}
"""The commands within this one, each with its examples."""


def _say_where(receipt: Receipt) -> None:
    """Report where notes were kept that could not be written into the store."""
    from riff_tui.output.streams import say

    if receipt.kept_in is not None:
        say(f"{receipt.why}; it is kept in {receipt.kept_in}, which `riff-tui notes import` takes in.")


_OF_OTHERS = frozenset({".gz", ".zst", ".xz", ".zip", ".xlsx", ".parquet"})


class NotesFormat(enum.StrEnum):
    """Name the forms that notes can be written in."""

    JSONL = "jsonl"
    CSV = "csv"
    EMBEDEVAL = "embedeval"


def form_of(output: Path | None) -> NotesFormat:
    """Return the form that the name of a file asks for; raise `UsageError` for one that notes do not have."""
    named = "" if output is None else output.suffix.lower()
    if named in _OF_OTHERS:
        raise UsageError(f"{output}: notes are written as jsonl, csv or embedeval, not {named}; choose another name")
    return NotesFormat.CSV if named == ".csv" else NotesFormat.JSONL


def json_line(note: Annotation) -> str:
    """Return a note as a line with its end."""
    from riff_ingest.sources.annotations import line_of

    return f"{line_of(note)}\n"


def writer(
    store: Store,
    where: str,
    form: NotesFormat,
    output: Path | None,
    *,
    everything: bool,
    taxonomy: Path | None,
    csv_raw: bool,
) -> Callable[[TextIO], None]:
    """Return what writes the notes of a store, all of which were read by then, in the order of a file of notes."""
    from riff_tui.notes.exchange import COLUMNS, embedeval_records, records, taxonomy_of
    from riff_tui.notes.kept_notes import read_kept
    from riff_tui.notes.selection import lines_where, on_calls, ordered_as
    from riff_tui.output.sinks import csv, json
    from riff_tui.output.sinks.parts import Options

    options = Options(csv_raw=csv_raw)
    if form is NotesFormat.JSONL:
        lines = ordered_as(read_kept(output), lines_where(store, where))
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
    from riff_store.write.notes import read_notes
    from riff_tui.notes.kept_notes import read_kept
    from riff_tui.settings import store_to_name
    from riff_tui.text.numbers import counted

    kept = read_kept(path)
    known = {note.id for note in read_notes(store)} if kept else set()
    count = len({note.id for note in kept} - known)
    if count:
        raise UsageError(
            f"{path}: has {counted(count, 'note')} that the store lacks; take them in first:"
            f" {next_command('notes', 'import', str(path), store=store_to_name(store.location))}"
        )
