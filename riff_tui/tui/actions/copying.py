"""Ask with one more key what to copy, and copy it: through tmux or the terminal, and always into a file."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, TextIO

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from riff_tui.browser import is_in_browser
from riff_tui.catalog import Request
from riff_tui.errors import RiffError
from riff_tui.output.files import write_whole
from riff_tui.output.sinks import render
from riff_tui.settings import state_directory
from riff_tui.table import Row, Table, run_steps
from riff_tui.text.glyphs import UNICODE
from riff_tui.text.safe_text import block
from riff_tui.tui.actions.action import Controls, textual_keys
from riff_tui.tui.navigation.stacks import link_to
from riff_tui.tui.render.columns import shown, text_of, visible_columns
from riff_tui.tui.widgets.bars import BottomLine

MOST_ROWS = 10_000
"""Nobody pastes a longer table, and not every terminal would take it."""
_CHOICES = (("r", "row"), ("c", "cell"), ("m", "Markdown"), ("d", "dump command"), ("l", "link"), ("Esc", "cancel"))


class CopyMenu(ModalScreen[None], inherit_bindings=False):
    """Ask what to copy, in the bottom line; the location stays in view."""

    DEFAULT_CSS = """
    CopyMenu { background: transparent; }
    CopyMenu BottomLine { dock: bottom; background: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r,y", "copy('row')", show=False),
        Binding("c", "copy('cell')", show=False),
        Binding("m", "copy('table')", show=False),
        Binding("d", "copy('dump')", show=False),
        Binding("l", "copy('link')", show=False),
        Binding("escape,q,backspace", "dismiss", show=False),
    ]

    def __init__(self, controls: Controls) -> None:
        super().__init__()
        self._host = controls.host
        self._backend = controls.backend
        self._column = controls.table.under
        self._line = BottomLine(palette=controls.table.palette, glyphs=controls.table.glyphs)

    def compose(self) -> ComposeResult:
        yield self._line

    def on_mount(self) -> None:
        self._line.hint([("copy:", ""), *_CHOICES])

    def on_bottom_line_pressed(self, event: BottomLine.Pressed) -> None:
        self.app.simulate_key(textual_keys([event.key]))

    def action_copy(self, part: str) -> None:
        """Copy a part of the screen and report where it went."""
        self.dismiss()
        host = self._host
        if part == "table" and host.loaded is not None:
            is_call = host.location.kind == "conversation"
            host.run(self._copy_redacted if is_call else partial(self._copy_table, host.loaded.main), "copy")
            return
        text = self._text(part)
        if text:
            host.run(partial(self._copy, part, text), "copy")
        else:
            host.say(f"there is no {part} to copy", "warn")

    def _text(self, part: str) -> str:
        host = self._host
        loaded, row, column = host.loaded, host.body.row, self._column
        if loaded is None:
            return ""
        if part == "link":
            return block(link_to(host.history.stack, self._backend.store, loaded.main))
        if part == "dump":
            return "\n".join(block(command) for command in loaded.dumps)
        if row is None:
            return ""
        if loaded.main.view == "conversation":
            return moment(row)
        if part == "cell":
            return text_of(column, row, UNICODE) if column else ""
        return line(loaded.main, row)

    async def _copy(self, part: str, text: str) -> None:
        """Copy safe text, and report where it went."""
        host, send = self._host, self._backend.send
        try:
            # No query is waited for, and one who quits at once has the copy.
            target = await asyncio.to_thread(copy, text, state_directory(), send)
        except (OSError, RiffError) as error:
            host.fail(error)
        else:
            host.say(f"{part} {target}")

    async def _copy_table(self, table: Table) -> None:
        """Copy a table whole, also what was left for later; report it if it is too long."""
        host = self._host

        def read() -> tuple[int, str]:
            whole = table if table.deferred is None else run_steps(table.deferred())
            count = len(whole.rows)
            return count, markdown(whole) if count <= MOST_ROWS else ""

        try:
            count, text = await host.worker.ask(read)
        except (OSError, RiffError) as error:
            host.fail(error)
        else:
            if text:
                await self._copy("table", text)
            else:
                host.say(f"{count:,} rows are too many to copy; o writes them into a file", "warn")

    async def _copy_redacted(self) -> None:
        """Copy a call as it may be posted: what was said in it goes out as redacted as it can be."""
        host = self._host
        show_view, scope = host.show_view, host.location.scope
        try:
            request = Request(where=scope.text, text=True, redact=True)
            table = await host.worker.ask(lambda: show_view("conversation", request))
        except (OSError, RiffError) as error:
            host.fail(error)
        else:
            await self._copy("table", markdown(table))


def markdown(table: Table) -> str:
    """Return the table as the Markdown dump prints it."""
    out = io.StringIO()
    render(table, "markdown", out)
    return out.getvalue()


def line(table: Table, row: Row) -> str:
    """Return a row as one line of titles and values."""
    columns = visible_columns(table)
    return " · ".join(f"{shown(column.title, UNICODE)} {text_of(column, row, UNICODE)}" for column in columns)


def moment(row: Row) -> str:
    """Return what was said or what happened, whole."""
    said = row.record.get("text") or row.record.get("detail") or row.record.get("state")
    who = row.record.get("role")
    return block(f"{who}: {said}" if who else str(said or ""))


FILE_NAME = "copied.txt"
_PATIENCE_S = 2.0
_IN_TURN = threading.Lock()


def copy(text: str, directory: Path, write: Callable[[str], None], environ: Mapping[str, str] = os.environ) -> str:
    """Copy safe text, and report how; `write` sends to the terminal, `directory` keeps the file."""
    with _IN_TURN:
        path = _to_file(text, directory)
        if environ.get("TMUX") and _through_tmux(text):
            return f"copied through tmux, and to {path}"
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
        write(f"\x1b]52;c;{encoded}\x07")
    if is_in_browser(environ):
        return f"copied, if your browser lets it, and on the server to {path}"
    return f"copied, if the terminal takes it, and to {path}"


def _to_file(text: str, directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = directory / FILE_NAME

    def fill(file: TextIO) -> None:
        file.write(text if text.endswith("\n") else f"{text}\n")

    write_whole(path, fill)
    return path


def _through_tmux(text: str) -> bool:
    program = shutil.which("tmux")
    if program is None:
        return False
    try:
        done = subprocess.run(
            [program, "load-buffer", "-w", "-"],
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
