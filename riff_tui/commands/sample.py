"""Draw calls for people to read: the `sample` command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from riff_tui.commands import completion
from riff_tui.commands.options import (
    AsciiOption,
    CsvRawOption,
    FormatOption,
    OutputOption,
    StoreOption,
    flag,
    next_command,
    option,
    settings_for,
    store_to_write,
)
from riff_tui.commands.reading import form_of, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from fractions import Fraction

    from riff_store.database import Store
    from riff_store.queries.reading import ReadingList
    from riff_store.reading_list import Sample
    from riff_store.sampling import Draw
    from riff_tui.table import Table

EXAMPLES = (
    "riff-tui sample --n 100",
    "riff-tui sample --n 100 --mix random:50,failing:30,outlier:20 --seed 1",
    "riff-tui sample --n 40 --mix failing:1 --where 'flow=apartment_viewing' --replace",
)
MIX = "random:50,failing:30,outlier:20"

MixOption = Annotated[str, option("--mix", "PARTS", "How many parts of them are random, failed and outlying calls.")]


def sample(
    n: Annotated[int, option("--n", "N", "How many calls.", min=1)] = 100,
    mix: MixOption = MIX,
    seed: Annotated[int, option("--seed", "S", "Another number draws other calls.", min=0, max=2**63 - 1)] = 1,
    where: Annotated[
        str, option("--where", "EXPR", "Draw only calls that match, such as 'flow:dent'.", completion.terms)
    ] = "",
    replace: Annotated[
        bool, flag("--replace", "Draw again, also if the store has a list that was drawn in the same way.")
    ] = False,
    format: FormatOption = None,
    output: OutputOption = None,
    csv_raw: CsvRawOption = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
) -> None:
    """Draw a list of calls to read, and keep it in the store.

    Some are drawn at random, some because they failed, some because they are far from what is usual in their flow. The
    same store, filter, mix and seed give the same list; riff-tui dump sample prints the one that is kept.
    """
    import time

    from riff_store.reading_list import Sample
    from riff_store.sampling import counts_of
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location

    settings = settings_for(store, ascii=ascii_only)
    asked = Sample(n, counts_of(parts_of(mix), n), seed, where.strip(), time.time_ns() // 1000)
    form = form_of(format, output)
    with _opened(store_location(settings)) as opened:
        table, told = _drawn(opened, asked, store, replace=replace)
        print_table(table, form, output, csv_raw=csv_raw, ascii_only=bool(settings.ascii))
    for line in told:
        say(line)
    if table.dump:
        say(f"Next: {next_command('ui', 'sample', store=store)}")


def _drawn(store: Store, asked: Sample, named: str | None, *, replace: bool) -> tuple[Table, list[str]]:
    """Draw a list and keep it, unless it is the one that is kept already; return it with what is to be said of it."""
    from riff_store.queries.reading import reading_list
    from riff_store.reading_list import KeptList, keep_list
    from riff_tui.catalog import Request, show
    from riff_tui.views.reading import draw_calls, unkept

    with store.snapshot():
        found, before = draw_calls(store, asked), reading_list(store)
    drawn = KeptList(asked, found.calls)
    if before is not None and before.sample.is_drawn_like(asked) and not replace:
        told = ["The store has this list already."]
        if [each.drawn.names for each in before.calls] != [each.names for each in found.calls]:
            told.append("Drawn from today's store it would have other calls: --replace does that.")
        return show(store, "sample", Request()), told
    if not store.writable:
        not_kept = "The store cannot be written, so the list is not kept: -o FILE writes it into a file."
        return unkept(store, drawn), [*_of_draw(asked, found), not_kept]
    keep_list(store, drawn)
    return show(store, "sample", Request()), [*_of_draw(asked, found), *_of_replaced(before, named)]


def _opened(location: str) -> AbstractContextManager[Store]:
    """Open a store for writing, or for reading if it cannot be written."""
    from riff_store.database import is_writable
    from riff_tui.catalog import open_to_read

    if is_writable(location):
        return store_to_write(location, create=False)
    return open_to_read(location)


def parts_of(mix: str) -> dict[str, Fraction]:
    """Read `random:50,failing:30,outlier:20`; raises `UsageError`."""
    import re
    from fractions import Fraction

    from riff_store.sampling import STRATA
    from riff_tui.errors import UsageError

    found: dict[str, Fraction] = {}
    for part in mix.split(","):
        stratum, _, share = (each.strip() for each in part.partition(":"))
        if stratum not in STRATA or not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", share):
            raise UsageError(f"--mix: {part.strip()!r} is not a part of a mix of {', '.join(STRATA)}, as {MIX} is one")
        if stratum in found:
            raise UsageError(f"--mix: {stratum} is in it twice; add the parts up")
        found[stratum] = Fraction(share)
    if not sum(found.values()):
        raise UsageError(f"--mix: all its parts are 0; {MIX} is a mix")
    return found


def _of_draw(asked: Sample, found: Draw) -> Iterator[str]:
    """Yield whether there are fewer calls than were wanted, at all or of a stratum."""
    from riff_tui.text.numbers import counted

    if len(found.calls) < asked.n:
        that = f" match {asked.expression} and" if asked.expression else ""
        yield f"{asked.n:,} calls were wanted; these are all {len(found.calls):,} that{that} are not errored."
        return
    for stratum, n in found.lacking.items():
        wanted = counted(asked.mix[stratum], f"{stratum} call")
        yield f"Wanted: {wanted}; there {'is' if n == 1 else 'are'} {n:,} in all, and the rest is random."


def _of_replaced(before: ReadingList | None, named: str | None) -> Iterator[str]:
    from riff_tui.text.numbers import counted

    if before is not None:
        read = (
            f"{before.read:,} of which {'was' if before.read == 1 else 'were'}" if before.read else "none of which was"
        )
        yield f"It replaces a list of {counted(len(before.calls), 'call')}, {read} read; all notes stay."
        yield f"To have that one back: {_command(before.sample, named)}"


def _command(drawn: Sample, named: str | None) -> str:
    """Return the command that draws a list as one was drawn."""
    mix = ",".join(f"{stratum}:{n}" for stratum, n in drawn.mix.items())
    where = ("--where", drawn.expression) if drawn.expression else ()
    return next_command("sample", "--n", str(drawn.n), "--mix", mix, "--seed", str(drawn.seed), *where, store=named)
