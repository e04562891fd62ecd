"""Declare the options of the `run` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from riff_tui.commands import completion
from riff_tui.commands.options import WRITTEN_DIRECTORY

FlowsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--flows",
        metavar="F,F",
        autocompletion=completion.flows,
        help="Built-in flows, or paths of flow files; repeatable.",
        show_default=False,
    ),
]
OutOption = Annotated[
    Path,
    typer.Option(
        "--out", metavar="DIR", click_type=WRITTEN_DIRECTORY, help="Where the files of the run go.", show_default=False
    ),
]
AgentOption = Annotated[
    str,
    typer.Option(
        "--agent",
        metavar="openai:MODEL@URL|command:CMD|python:MODULE:NAME",
        autocompletion=lambda: ("openai:", "command:", "python:"),
        help="The agent that answers the calls.",
        show_default=False,
    ),
]
AgentKeyOption = Annotated[
    str | None,
    typer.Option(
        "--agent-key-env", metavar="VAR", help="The variable that holds the key of its endpoint.", show_default=False
    ),
]
AgentNameOption = Annotated[
    str | None,
    typer.Option("--agent-name", metavar="NAME", help="What the transcripts call the agent.", show_default=False),
]
_ENV = "A variable that its command may see as well; repeatable."
AgentEnvOption = Annotated[list[str] | None, typer.Option("--agent-env", metavar="VAR", help=_ENV, show_default=False)]
CallerOption = Annotated[
    str,
    typer.Option(
        "--caller",
        metavar="scripted|frozen|openai:MODEL@URL|command:CMD",
        autocompletion=lambda: ("scripted", "frozen", "openai:", "command:"),
        help="Who makes the calls.",
    ),
]
CallerKeyOption = Annotated[
    str | None,
    typer.Option(
        "--caller-key-env", metavar="VAR", help="The variable that holds the key of its endpoint.", show_default=False
    ),
]
CallerEnvOption = Annotated[
    list[str] | None, typer.Option("--caller-env", metavar="VAR", help=_ENV, show_default=False)
]
ToolsOption = Annotated[
    str,
    typer.Option(
        "--tools",
        metavar="stubbed|command:CMD",
        autocompletion=lambda: ("stubbed", "command:"),
        help="What answers tools; stubbed: the flow file does.",
    ),
]
ToolsEnvOption = Annotated[list[str] | None, typer.Option("--tools-env", metavar="VAR", help=_ENV, show_default=False)]
TrialsOption = Annotated[
    int, typer.Option("--trials", metavar="N", min=1, max=10_000, help="How often each scenario is played.")
]
ScenariosOption = Annotated[
    list[str] | None,
    typer.Option(
        "--scenarios",
        metavar="all|NAME,FILE,..",
        autocompletion=completion.scenarios,
        help="Only these of the flows, case files, or directories of those; repeatable.",
        show_default=False,
    ),
]
PersonasOption = Annotated[
    list[str] | None,
    typer.Option(
        "--personas",
        metavar="all|NAME,..",
        autocompletion=completion.personas,
        help="Play every scenario with each of these callers; else with one.",
        show_default=False,
    ),
]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", metavar="N", min=1, max=256, help="Calls to make at once.")
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="S", help="The same seed makes the same callers.")]
MaxTurnsOption = Annotated[
    int, typer.Option("--max-turns", metavar="N", min=1, help="Turns of the agent after which a call is ended.")
]
MaxCallOption = Annotated[
    float, typer.Option("--max-call-s", metavar="S", min=0.001, help="Seconds that an agent may take in one call.")
]
TurnTimeoutOption = Annotated[
    float, typer.Option("--turn-timeout-s", metavar="S", min=0.001, help="Seconds that one answer may take.")
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Go on with the run in --out, or begin it.", show_default=False)
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Go on where the file of a flow has changed, and mix both.", show_default=False),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Only print the calls that would be made.", show_default=False)
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one line of JSON at the beginning and one at the end.", show_default=False)
]
IngestOption = Annotated[
    str | None,
    typer.Option(
        "--ingest",
        metavar="STORE",
        help="Bring calls into this store as they end, where an explorer shows them.",
        show_default=False,
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge", metavar="NAME", help="Have the calls judged afterwards, as `judge` does.", show_default=False
    ),
]
NoJudgeOption = Annotated[
    bool, typer.Option("--no-judge", help="Have nothing judged, as without it.", show_default=False)
]
RunIdOption = Annotated[
    str | None,
    typer.Option("--run-id", metavar="ID", help="The id of the run; else the name of --out.", show_default=False),
]
LabelOption = Annotated[
    str | None, typer.Option("--label", metavar="TEXT", help="What to call the run beside its id.", show_default=False)
]
CommitOption = Annotated[
    str | None, typer.Option("--commit", metavar="SHA", help="The commit that is tried.", show_default=False)
]
BranchOption = Annotated[
    str | None, typer.Option("--branch", metavar="NAME", help="The branch that it is on.", show_default=False)
]
StreamOption = Annotated[
    bool,
    typer.Option("--stream/--no-stream", help="Read answers as they come, which measures the first word."),
]
AdvanceOption = Annotated[
    bool, typer.Option("--advance", help="Offer a model one tool for all ways on, which small models take better.")
]
ClockOption = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="TIME",
        help="Have it always be this time and measure nothing: the same answers give the same bytes.",
        show_default=False,
    ),
]
FsyncOption = Annotated[
    bool, typer.Option("--fsync", help="Force each call to the disk as it ends.", show_default=False)
]
