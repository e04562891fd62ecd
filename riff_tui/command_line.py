"""Read a command line and run the command that it names."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, cast

import click

from riff_tui import __version__
from riff_tui.commands.options import Command, Group, StoreOption, flag, made_of, next_command, settings_for
from riff_tui.errors import ExitCode, UsageError
from riff_tui.signals import ending_in_order

PROGRAM = "riff-tui"
COMMANDS = {
    "ui": ("ui", "Open the explorer: from a weak flow to the calls that prove it."),
    "serve": ("serve", "Show the explorer in a browser on this machine."),
    "demo": ("demo", "Simulate calls, ingest them and open the explorer."),
    "init": ("calls.init", "Write the files that a project begins with."),
    "ingest": ("ingest", "Read, score and store calls, scores and flow files."),
    "edits": ("edits", "Read from git who changed which flow when."),
    "brief": ("brief", "Print a night in few tokens, for scripts and agents."),
    "dump": ("dump", "Print a view of the store, as the explorer's screen shows it."),
    "search": ("search", "Print what was said in calls and matches, as it is found."),
    "compare": ("compare", "Print what B differs in from A, and if by more than chance."),
    "export": ("export", "Print every score of every call."),
    "gate": ("gate", "Compare two runs and exit 3 where a flow got worse."),
    "case": ("calls.case", "Make a scenario of a stored call, to be run again."),
    "sample": ("sample", "Draw a list of calls to read, and keep it in the store."),
    "forget": ("forget", "Take calls out of the store for good."),
    "simulate": ("calls.simulate", "Play callers against built-in flows and write transcripts."),
    "run": ("calls.run", "Have callers call an agent about flows and write transcripts."),
    "watch": ("calls.watch", "Watch a run while its calls are made."),
    "judge": ("calls.judge", "Have a judge score how human the agent sounds."),
    "copy": ("copy", "Copy a store with all that is in it, between files and servers."),
    "doctor": ("doctor", "Check the store, list what was skipped and why, and what to do."),
    "mcp": ("mcp", "Serve a store to coding agents over stdio (MCP)."),
    "schema": ("schema", "Print JSON Schemas of what views and commands print."),
    "flows": ("calls.flows", "Look at flow files before any call is made."),
    "notes": ("notes", "Write notes on calls, and merge those of several people."),
    "eva": ("eva", "Print the context or the metrics of EVA's voice logs as JSON."),
}
"""Each is the function of its name in a module, which holds its EXAMPLES as well, and its line in help."""

EXAMPLES = (
    "riff-tui demo",
    "riff-tui ingest runs/nightly",
    "riff-tui dump worklist",
)


class _Commands(Mapping[str, click.Command]):
    """Keep commands, each of which is loaded once it is asked for."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            if name not in self._names:
                raise KeyError(name)
            self._loaded[name] = _load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _Program(Group):
    """List commands without loading them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the line of each command."""
        limit = formatter.width - 6 - max(map(len, self.commands))
        lines = [(name, click.Command(name, help=COMMANDS[name][1])) for name in self.commands]
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(limit)) for name, command in lines])


def build(names: Iterable[str] = COMMANDS) -> click.Group:
    """Return the program with these of its commands."""
    program: click.Group = made_of(
        root,
        _Program,
        name=PROGRAM,
        epilog=_examples(EXAMPLES),
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    program.commands = _Commands(names)  # type: ignore[assignment]  # click only reads it
    return program


def _load(name: str) -> click.Command:
    """Return a command, whose module may have its class as COMMAND; with PARTS a group of those, each with examples."""
    module = importlib.import_module(f"riff_tui.commands.{COMMANDS[name][0]}")
    told = {"name": name, "epilog": _examples(module.EXAMPLES)}
    if not hasattr(module, "PARTS"):
        command: click.Command = made_of(getattr(module, name), getattr(module, "COMMAND", Command), **told)
        return command
    group: click.Group = made_of(
        getattr(module, name), Group, subcommand_metavar="COMMAND ...", no_args_is_help=False, **told
    )
    for part, (function, examples) in module.PARTS.items():
        group.add_command(made_of(function, name=part, epilog=_examples(examples)))
    return group


def _print_version() -> None:
    click.echo(f"{PROGRAM} {__version__}")
    raise click.exceptions.Exit


def root(
    context: click.Context,
    version: Annotated[bool, flag("--version", "Print the version.", once=_print_version)] = False,
    install_completion: Annotated[
        bool, flag("--install-completion", "Have bash, zsh or fish complete commands, views and names, and exit.")
    ] = False,
    show_completion: Annotated[bool, flag("--show-completion", "Print the script that does it, and exit.")] = False,
    store: StoreOption = None,
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
    command = build()
    with ending_in_order():
        # click's own `main` writes an empty line where a signal ends it.
        try:
            with command.make_context(PROGRAM, list(arguments)) as context:
                ended: Any = command.invoke(context)
        except click.exceptions.Exit as early:
            ended = early.exit_code
    return ended if isinstance(ended, int) else ExitCode.OK


def complete(shell: str, arguments: Sequence[str]) -> None:
    """Print what completes a command line, for a shell that asks; whatever goes wrong, print nothing."""
    from riff_tui.shell_completion import answer, typed_line

    try:
        line = typed_line(shell, arguments)
        named = [word for word in line.words if word in COMMANDS][:1]
        # Without a command there is no need of the options of all of them.
        answer(shell, line, build(named), () if named else tuple(COMMANDS))
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
