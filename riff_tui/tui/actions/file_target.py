"""Ask for the name of a file and write it: here, or from a page to where the browser saves files."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

from riff_tui.tui.actions.controls import Controls
from riff_tui.tui.actions.file_export import FileExport
from riff_tui.tui.widgets.file_prompt import FORMATS_HINT, FileRequest

WriteFile = Callable[[str, FileExport, bool], Path]


def ask_for_file(controls: Controls, name: str, write: WriteFile, *, hint: str = FORMATS_HINT) -> None:
    """Ask for a name in place of the one proposed, have the file written, and say where it went."""
    host, deliver = controls.host, controls.backend.deliver
    if deliver is None:
        controls.file_prompt.ask(FileRequest(name, write, lambda path: host.say(f"written to {path}"), hint))
        return

    def hand_over(path: Path) -> None:
        deliver(path)
        path.parent.rmdir()
        host.say(f"{path.name} goes to your browser; nothing of it stays on the server")

    controls.file_prompt.ask(FileRequest(name, _into_empty_folder(write), hand_over, hint))


def _into_empty_folder(write: WriteFile) -> WriteFile:
    """Return what writes the file of that name into a folder of its own, which only its owner can look into."""

    def write_there(typed: str, export: FileExport, over: bool) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="riff-tui-"))
        try:
            return write(str(folder / Path(typed.strip()).name), export, over)
        except BaseException:
            with contextlib.suppress(OSError):
                folder.rmdir()
            raise

    return write_there
