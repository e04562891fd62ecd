"""Write what a project begins with: the `init` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TextIO

from riff_tui.commands.options import argument

EXAMPLES = ("riff-tui init my_agent", "riff-tui init .")
_FILES = {
    "flow.toml": "flow.toml",
    "agent.py.txt": "agent.py",
    "riff-tui.toml": "riff-tui.toml",
    "ci.yml": ".github/workflows/riff-tui.yml",
}
"""Where each file of the folder `starter` goes."""

DirectoryArgument = Annotated[Path, argument("DIR", "The folder of the files; it is made if it does not exist.")]


def init(directory: DirectoryArgument) -> None:
    """Write the files that a project begins with.

    They are a flow file, an agent, settings and a CI job, and run as they are. Nothing is written where one of them is
    there.
    """
    import shlex
    from functools import partial
    from importlib import resources

    from riff_tui import commands
    from riff_tui.errors import UsageError, writing
    from riff_tui.output.files import write_whole
    from riff_tui.output.streams import say
    from riff_tui.text.numbers import listed

    if not directory.name and str(directory) != ".":
        raise UsageError("DIR is empty; name a directory")
    if there := [name for name in _FILES.values() if (directory / name).exists() or (directory / name).is_symlink()]:
        raise UsageError(f"{directory} has {listed(there)}; nothing was written", "name another directory")
    starter = resources.files(commands).joinpath("calls", "starter")
    with writing(str(directory)):
        for source, name in _FILES.items():
            text = starter.joinpath(source).read_text(encoding="utf-8")
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            write_whole(directory / name, partial(_write, text))
            say(f"{directory / name}")
    say("Next:")
    if str(directory) != ".":
        say(f"  cd {shlex.quote(str(directory))}")
    for command in _NEXT:
        say(f"  {command}")


_NEXT = (
    "export RIFF_TUI_CONFIG=riff-tui.toml",
    "riff-tui flows check flow.toml",
    "riff-tui run --flows flow.toml --agent python:agent.py:Desk --trials 10 --out runs/first",
    "riff-tui ingest runs/first",
    "riff-tui dump worklist",
)


def _write(text: str, file: TextIO) -> None:
    file.write(text)
