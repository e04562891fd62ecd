"""Share what commands that read a store have: the store with its notes, a way to end it, and where a table goes."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from riff_store.signals import ENDED_BY
from riff_tui.output.formats import Format, format_of

if TYPE_CHECKING:
    from pathlib import Path

    from riff_store.database import Store
    from riff_store.interruption import Interruption
    from riff_tui.table import Table


# A statement that was just beginning did not notice that it was interrupted.
_INSISTS_AFTER_S = 0.02


@contextmanager
def reading(location: str) -> Iterator[Store]:
    """Open a store and answer everything inside from one state of it; raises as `open_store` does.

    The engine gives no signal a turn before a statement has ended: one that ends the command ends the statement.
    """
    from riff_store.interruption import Interruption
    from riff_tui.catalog import open_to_read

    interruption = Interruption()
    with (
        open_to_read(location) as store,
        _interrupted_by_signals(interruption),
        interruption.in_force(),
        store.snapshot(),
    ):
        yield store


@contextmanager
def _interrupted_by_signals(interruption: Interruption) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    ended = threading.Event()
    listener = threading.Thread(
        target=_listen, args=(read_end, interruption, ended), name="riff-tui-signals", daemon=True
    )
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        ended.set()
        os.close(write_end)
        listener.join()
        os.close(read_end)


def _listen(read_end: int, interruption: Interruption, ended: threading.Event) -> None:
    """Interrupt once a signal came that ends the process, and until it has ended; each arrives as a byte."""
    while numbers := os.read(read_end, 64):
        while not ENDED_BY.keys().isdisjoint(numbers) and not ended.is_set():
            interruption.interrupt()
            ended.wait(_INSISTS_AFTER_S)


def form_of(format: Format | None, output: Path | None) -> Format:
    """Return the chosen format, else the one that the ending of the file represents, else text.

    Reports on stderr if both are given and differ; any format may go into a file that ends in .txt.
    """
    of_file = format_of(output) if output is not None else None
    if format is not None and of_file not in (None, format, Format.TEXT):
        from riff_tui.output.streams import say

        say(f"{output}: ends like a file of {of_file}, and {format} is written into it, as --format asks.")
    return format or of_file or Format.TEXT


def print_table(table: Table, form: Format, output: Path | None, *, csv_raw: bool, ascii_only: bool) -> None:
    """Write a table to a file, whole or not at all, or to stdout."""
    from riff_tui.output.files import names_file, write_whole
    from riff_tui.output.sinks import render
    from riff_tui.output.streams import standard_output

    if names_file(output):
        write_whole(output, lambda file: render(table, form.value, file, ascii_only=ascii_only, csv_raw=csv_raw))
    else:
        standard_output(ascii_only=ascii_only).print_table(table, form.value, csv_raw=csv_raw)
