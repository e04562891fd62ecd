"""Read a command line and run the command that it names."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, cast

import click
import typer

from riff_tui.commands.options import DebugOption, StoreOption, flag, next_command, settings_for
from riff_tui.errors import ExitCode, UsageError
from riff_tui.signals import ending_in_order

PROGRAM = "riff-tui"
COMMANDS = {
    "ui": "ui",
    "serve": "serve",
    "demo": "demo",
    "init": "calls.init",
    "ingest": "ingest",
    "edits": "edits",
    "brief": "brief",
    "dump": "dump",
    "search": "search",
    "compare": "compare",
    "export": "export",
    "gate": "gate",
    "case": "calls.case",
    "sample": "sample",
    "forget": "forget",
    "simulate": "calls.simulate",
    "run": "calls.run",
    "watch": "calls.watch",
    "judge": "calls.judge",
    "copy": "copy",
    "doctor": "doctor",
    "mcp": "mcp",
    "schema": "schema",
    "flows": "calls.flows",
    "notes": "notes",
    "eva": "eva",
}
"""Each is the function of its name in the module that stands here, which holds its EXAMPLES as well."""

EXAMPLES = (
    "riff-tui demo",
    "riff-tui ingest runs/nightly",
    "riff-tui dump worklist",
)


def build(names: Iterable[str] = COMMANDS) -> typer.Typer:
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
    module = importlib.import_module(f"riff_tui.commands.{COMMANDS[name]}")
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
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
    install_completion: Annotated[
        bool, flag("--install-completion", "Have bash, zsh or fish complete commands, views and names, and exit.")
    ] = False,
    show_completion: Annotated[bool, flag("--show-completion", "Print the script that does it, and exit.")] = False,
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


def invoke(arguments: Sequence[str]) -> int:
    """Run the command that a command line names and return its exit code; raises what stops it early."""
    if list(arguments[:2]) == ["ingest", "edits"] and not os.path.exists("edits"):
        import shlex

        given = shlex.join(arguments[2:]) or "--repo DIR --flows 'flows/{flow}.*'"
        raise UsageError(f"edits of flows have a command of their own: {PROGRAM} edits {given}")
    if arguments and arguments[0] in ("--install-completion", "--show-completion"):
        _set_up_completion(arguments[1] if len(arguments) > 1 else "", show=arguments[0] == "--show-completion")
        return ExitCode.OK
    # Reading the options of the commands that are not run would take as long as many a dump.
    named = arguments[0] if arguments else ""
    command = typer.main.get_command(build((named,) if named in COMMANDS else COMMANDS))
    with ending_in_order():
        ended: Any = command.main(args=list(arguments), prog_name=PROGRAM, standalone_mode=False)
    return ended if isinstance(ended, int) else ExitCode.OK


def complete(shell: str, arguments: Sequence[str]) -> None:
    """Print what completes a command line, for a shell that asks; whatever goes wrong, print nothing."""
    from riff_tui.shell_completion import answer, typed_line

    try:
        line = typed_line(shell, arguments)
        named = [word for word in line.words if word in COMMANDS][:1]
        # Without a command there is no need of the options of all of them.
        answer(shell, line, typer.main.get_command(build(named)), () if named else tuple(COMMANDS))
    except Exception:  # a shell that completes shows errors amid what is typed
        return


def usage_message(error: click.ClickException) -> str:
    """Return what is wrong with a command line, and where its help is."""
    said = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    help_of = f"{context.command_path if context is not None else PROGRAM} --help"
    return f"{said}{' See' if said.endswith('?') else '; see'} `{help_of}`"


def _set_up_completion(shell: str, *, show: bool) -> None:
    from riff_tui.output.streams import say
    from riff_tui.shell_completion import SCRIPTS, install, shell_named

    named = shell_named(shell, os.environ)
    if show:
        sys.stdout.write(SCRIPTS[named])
        return
    for line in install(named).said(named):
        say(line)


def _examples(lines: Sequence[str]) -> str:
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])
