"""Run commands, and end each of them with its exit code.

A command parses its options and runs; whatever stops it early becomes one line on stderr and
an exit code here.
"""

from __future__ import annotations

import errno
import gc
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Annotated, Any, NoReturn, cast

import click
import typer

from riff_tui.commands.options import DebugOption, StoreOption, next_command, settings_for
from riff_tui.errors import ExitCode, Interrupted, Terminated, UsageError, describe

PROGRAM = "riff-tui"
_COMPLETE = "_RIFF_TUI_COMPLETE"
COMMANDS = (
    "ui",
    "serve",
    "demo",
    "ingest",
    "edits",
    "dump",
    "compare",
    "export",
    "gate",
    "case",
    "sample",
    "simulate",
    "run",
    "watch",
    "judge",
    "copy",
    "doctor",
    "notes",
    "eva",
)
"""Each is the function of its name in the module of its name, which holds its EXAMPLES as well."""

EXAMPLES = (
    "riff-tui demo",
    "riff-tui ingest runs/nightly",
    "riff-tui dump worklist",
)


def build(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Return the application with these of its commands."""
    app = typer.Typer(
        name=PROGRAM,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        suggest_commands=False,  # click suggests them as well
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True, epilog=_examples(EXAMPLES))(root)
    for name in names:
        _add(app, name)
    return app


def _add(app: typer.Typer, name: str) -> None:
    """Add a command, whose module may hold its class as COMMAND; with PARTS a group of those, each with examples."""
    module = importlib.import_module(f"riff_tui.commands.{name}")
    command, epilog = getattr(module, name), _examples(module.EXAMPLES)
    if not hasattr(module, "PARTS"):
        app.command(name, cls=getattr(module, "COMMAND", None), epilog=epilog)(command)
        return
    group = typer.Typer(rich_markup_mode=None, subcommand_metavar="COMMAND ...")
    for part, (function, examples) in module.PARTS.items():
        group.command(part, epilog=_examples(examples))(function)
    group.callback(epilog=epilog)(command)
    app.add_typer(group, name=name)


def _print_version(wanted: bool) -> None:
    if wanted:
        from riff_tui import __version__

        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True, show_default=False
        ),
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            "--install-completion", help="Have bash, zsh or fish complete commands, views and names, and exit."
        ),
    ] = False,
    show_completion: Annotated[
        bool, typer.Option("--show-completion", help="Print the script that does it, and exit.")
    ] = False,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Walk from a weak voice-agent flow to the state that broke it and to the calls that prove it.

    Without a command, the explorer opens on the default store.
    """
    if install_completion or show_completion:
        _set_up_completion(context.invoked_subcommand or "", show=show_completion)
    elif context.invoked_subcommand is None:
        from riff_tui.commands.ui import explore

        explore(settings_for(store))
    elif store is not None:
        words = [context.invoked_subcommand]
        command = cast(click.Group, context.command).get_command(context, words[0])
        if isinstance(command, click.Group):
            words.append("COMMAND")
        raise UsageError(f"--store goes after the command: {next_command(*words, store=store)}")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and end the process with its exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if _COMPLETE in os.environ:
        _complete(os.environ[_COMPLETE], given)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from riff_tui.output.streams import replace_closed

        replace_closed()
    # Most of what a command makes lasts as long as the command, so it is searched for garbage seldom.
    gc.set_threshold(50_000)
    code = run(given)
    # The memory goes back whole; looking through it for cycles first would take a tenth of a short dump.
    gc.freeze()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; whatever stops it early is said on stderr."""
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        ended = _invoke(arguments)
        sys.stdout.flush()
    except BaseException as error:  # the one place where every end becomes an exit code
        return _ended_by(error, debug="--debug" in arguments)
    finally:
        signal.signal(signal.SIGTERM, before)
    return ended


def _invoke(arguments: Sequence[str]) -> int:
    if list(arguments[:2]) == ["ingest", "edits"] and not os.path.exists("edits"):
        raise UsageError(f"edits of flows have a command of their own: {_edits_of(arguments[2:])}")
    if arguments and arguments[0] in ("--install-completion", "--show-completion"):
        _set_up_completion(arguments[1] if len(arguments) > 1 else "", show=arguments[0] == "--show-completion")
        return ExitCode.OK
    # Reading the options of the commands that are not run would take as long as many a dump.
    named = arguments[0] if arguments else ""
    command = typer.main.get_command(build((named,) if named in COMMANDS else COMMANDS))
    ended: Any = command.main(args=list(arguments), prog_name=PROGRAM, standalone_mode=False)
    return ended if isinstance(ended, int) else ExitCode.OK


def _complete(shell: str, arguments: Sequence[str]) -> NoReturn:
    """Answer a shell that asks what completes a command line."""
    from riff_tui.commands.shell_completion.answers import answer

    answer(shell, arguments, COMMANDS, lambda name: typer.main.get_command(build((name,) if name else COMMANDS)))
    sys.exit(ExitCode.OK)


def _set_up_completion(shell: str, *, show: bool) -> None:
    from riff_tui.commands.shell_completion.scripts import SCRIPTS, install, shell_named
    from riff_tui.output.streams import say

    named = shell_named(shell, os.environ)
    if show:
        sys.stdout.write(SCRIPTS[named])
        return
    installed = install(named)
    reads = f", which {installed.read_by} reads" if installed.read_by else ""
    say(f"Completion for {named} is in {installed.script}{reads}; open a new shell to have it.")


def _edits_of(options: Sequence[str]) -> str:
    import shlex

    given = shlex.join(options) if options else "--repo DIR --flows 'flows/{flow}.*'"
    return f"{PROGRAM} edits {given}"


def _ended_by(error: BaseException, *, debug: bool) -> int:
    from riff_tui.output.streams import finish_output, say_error

    finish_output()
    if _is_closed_pipe(error) or (isinstance(error, SystemExit) and _is_closed_pipe(error.__context__)):
        return ExitCode.BROKEN_PIPE
    if isinstance(error, Interrupted):
        # The signal whose turn it was not comes behind it.
        return ExitCode.INTERRUPTED
    if isinstance(error, Terminated):
        return ExitCode.TERMINATED
    if isinstance(error, (KeyboardInterrupt, click.exceptions.Abort)):
        return ExitCode.INTERRUPTED
    if isinstance(error, click.ClickException):
        said = error.format_message().rstrip(".")
        code, message = ExitCode.USAGE, f"{said}{' See' if said.endswith('?') else '; see'} `{_help_for(error)}`"
    elif isinstance(error, (Exception, GeneratorExit)):
        code, message = describe(error)
    else:
        raise error
    say_error(code, message, error if debug else None)
    return code


def _is_closed_pipe(error: BaseException | None) -> bool:
    # click turns a closed pipe into an exit of its own, behind which the error is left.
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _help_for(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context is not None else PROGRAM} --help"


def _examples(lines: Sequence[str]) -> str:
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated
