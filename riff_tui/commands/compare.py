"""Compare two runs, or two agents: the `compare` command."""

from __future__ import annotations

from typing import Annotated

from riff_tui.commands import completion
from riff_tui.commands.options import (
    AsciiOption,
    CsvRawOption,
    FormatOption,
    LimitOption,
    OutputOption,
    SortOption,
    StoreOption,
    WhereOption,
    argument,
    flag,
    settings_for,
)
from riff_tui.commands.reading import form_of, print_table, reading

EXAMPLES = (
    "riff-tui compare previous latest",
    "riff-tui compare nightly-2026-06-19 nightly-2026-06-22 --where 'verdict=worse'",
    "riff-tui compare agent:gemini-2.5-f agent:qwen-flash --format markdown -o agents.md",
    "riff-tui compare previous latest --failures --where 'flow=dental_clinic'",
    "riff-tui compare previous latest --failure-matrix --where 'flow=dental_clinic'",
)
JSON = ("compare", "failures", "failure-shifts")
"""The views that it prints."""
_SIDE = "A run (the beginning of its id is enough), latest, previous, or agent:NAME."


def compare(
    a: Annotated[str, argument("A", _SIDE, completion.sides)],
    b: Annotated[str, argument("B", "The other one, of the same kind.", completion.sides)],
    where: WhereOption = "",
    failures: Annotated[
        bool, flag("--failures", "List the calls of the same task that only A, only B or both failed.")
    ] = False,
    failure_matrix: Annotated[
        bool, flag("--failure-matrix", "Compare where failed calls first went wrong, state by state.")
    ] = False,
    sort: SortOption = None,
    limit: LimitOption = None,
    format: FormatOption = None,
    output: OutputOption = None,
    csv_raw: CsvRawOption = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
) -> None:
    """Print what B differs in from A, and if by more than chance.

    Calls of the same flow, scenario or persona and trial are compared in pairs if there are enough of them. p-values
    are exact, and corrected across all rows.
    """
    from riff_tui.catalog import Request, show
    from riff_tui.errors import UsageError
    from riff_tui.settings import store_location

    if failures and failure_matrix:
        raise UsageError("--failures and --failure-matrix are two lists: choose one")
    settings = settings_for(store, ascii=ascii_only)
    request = Request(where=where, sort=sort, limit=limit, sides=(a, b), store=store or "")
    with reading(store_location(settings)) as opened:
        view = "failures" if failures else "failure-shifts" if failure_matrix else "compare"
        table = show(opened, view, request)
        print_table(table, form_of(format, output), output, csv_raw=csv_raw, ascii_only=bool(settings.ascii))
