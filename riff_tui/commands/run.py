"""Have an agent called about flows: the `run` command."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riff_tui.commands import completion
from riff_tui.commands.options import WRITTEN_DIRECTORY, DebugOption, NextStoreOption, apply_limits

if TYPE_CHECKING:
    from typing import Literal

    from riff_runner.run.cases.case_file import CaseFile
    from riff_runner.run.cases.plan import ScenarioChoice
    from riff_runner.run.flows.flow import RunnableFlow


EXAMPLES = (
    "riff-tui run --flows dental_clinic --agent openai:gpt-5-mini@https://host/v1 --agent-key-env KEY --out runs/a",
    "riff-tui run --flows flows/mine.toml --agent 'command:./my_agent.sh' --out runs/b --trials 3",
    "riff-tui run --flows apartment_viewing,dental_clinic --agent python:my_agent:reply --out runs/c --ingest calls.db",
    "riff-tui run --scenarios broke.toml --caller frozen --agent 'command:./my_agent.sh' --out runs/d",
)


def run(
    out: OutOption,
    agent: AgentOption,
    flows: FlowsOption = None,
    agent_key_env: AgentKeyOption = None,
    agent_name: AgentNameOption = None,
    agent_env: AgentEnvOption = None,
    caller: CallerOption = "scripted",
    caller_key_env: CallerKeyOption = None,
    caller_env: CallerEnvOption = None,
    tools: ToolsOption = "stubbed",
    tools_env: ToolsEnvOption = None,
    scenarios: ScenariosOption = None,
    personas: PersonasOption = None,
    trials: TrialsOption = 1,
    seed: SeedOption = 300,
    concurrency: ConcurrencyOption = 4,
    max_turns: MaxTurnsOption = 40,
    max_call_s: MaxCallOption = 300.0,
    turn_timeout_s: TurnTimeoutOption = 60.0,
    stream: StreamOption = True,
    advance: AdvanceOption = False,
    resume: ResumeOption = False,
    force: ForceOption = False,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    ingest: IngestOption = None,
    judge: JudgeOption = None,
    no_judge: NoJudgeOption = False,
    run_id: RunIdOption = None,
    label: LabelOption = None,
    commit: CommitOption = None,
    branch: BranchOption = None,
    clock: ClockOption = None,
    fsync: FsyncOption = False,
    store: NextStoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Have callers call an agent about flows and write transcripts.

    Each call becomes a line of a transcript as it ends. What was begun goes on with --resume: no call is made twice,
    but for those that were errored.
    """
    from riff_runner.protocol import CallLimits
    from riff_runner.run.callers.frozen import refuse_unrecorded
    from riff_runner.run.cases.plan import plan_cases
    from riff_runner.run.clock import FixedClock, SystemClock
    from riff_runner.run.files.run_document import RunSettings, side_of
    from riff_runner.run.library import persona_names, scenario_names
    from riff_runner.run.run_plan import RunRequest
    from riff_runner.run.targets import (
        PartOptions,
        make_agent,
        make_caller,
        make_tools,
        parse_agent,
        parse_caller,
        parse_tools,
    )
    from riff_tui.commands.run_session import After, make, show_plan

    apply_limits()
    agent_target, caller_target, tools_target = parse_agent(agent), parse_caller(caller), parse_tools(tools)
    after = After(ingest, _judge(judge, no_judge), as_json, store)
    loaded, chosen = _choice(_words(flows), _words(scenarios))
    cast: Literal["all"] | list[str] | None = "all" if _words(personas) == ["all"] else _words(personas) or None
    cases = plan_cases(loaded, scenarios=chosen, personas=cast, trials=trials, seed=seed)
    if caller_target.kind == "frozen":
        refuse_unrecorded(cases)
    limits = CallLimits(max_turns=max_turns, max_call_s=max_call_s, turn_timeout_s=turn_timeout_s)
    options = PartOptions(turn_timeout_s=turn_timeout_s, stream=stream, advance=advance)
    agent_options = replace(options, name=agent_name, key_env=agent_key_env, env=tuple(agent_env or ()))
    with redirect_stdout(sys.stderr):  # what a module prints as it is imported
        called = make_agent(agent_target, agent_options)
    calls = make_caller(caller_target, replace(options, key_env=caller_key_env, env=tuple(caller_env or ())))
    settings = RunSettings(
        agent=side_of(agent_target, called.name),
        caller=side_of(caller_target, calls.name),
        tools=tools_target.kind,
        flows=tuple(flow.name for flow in loaded),
        scenarios=scenario_names(chosen),
        personas=persona_names(cast),
        trials=trials,
        seed=seed,
        concurrency=concurrency,
        limits=asdict(limits),
        streamed=stream and "openai" in (agent_target.kind, caller_target.kind),
    )
    request = RunRequest(
        called,
        calls,
        cases,
        settings,
        tools=make_tools(tools_target, replace(options, env=tuple(tools_env or ()))),
        limits=limits,
        clock=SystemClock() if clock is None else FixedClock(_time(clock)),
        in_order=clock is not None,
        out=out,
        run_id=run_id,
        label=label,
        commit=commit,
        branch=branch,
        resume=resume,
        force=force,
        sync=fsync,
    )
    if dry_run:
        show_plan(request, as_json)
    else:
        make(request, after)


def _choice(flows: list[str], scenarios: list[str]) -> tuple[list[RunnableFlow], ScenarioChoice]:
    """Return the flows that are named, or those of the case files that are, and what to play in them."""
    from riff_runner.run.cases.case_file import CASE_ENDING, is_case_file, read_case
    from riff_runner.run.flows.flow_files import load_flows
    from riff_tui.errors import UsageError

    scenarios = [file for named in scenarios for file in _case_files(named)]
    cases = [read_case(Path(named)) for named in scenarios if is_case_file(named)]
    _refuse_without_flow(cases, flows)
    loaded = load_flows(flows or list(dict.fromkeys(case.flow for case in cases)))
    if not loaded:
        named = f" for the scenario {scenarios[0]!r} (the file of a case ends in {CASE_ENDING})" if scenarios else ""
        hint = "name a built-in flow, such as dental_clinic, or the path of a flow file"
        raise UsageError(f"--flows is missing{named}", hint)
    known = {flow.name: flow for flow in loaded}
    if astray := next((case for case in cases if case.flow not in known), None):
        raise UsageError(f"the case {astray.name} is of the flow {astray.flow}", f"add --flows {astray.flow}")
    names = [named for named in scenarios if not is_case_file(named)]
    if not scenarios or scenarios == ["all"]:
        return loaded, "all"
    for case in cases:
        _tell_of_changes(case, known[case.flow])
    if "all" in names:
        raise UsageError("--scenarios: all are meant, or those that are named", "leave out one or the other")
    return loaded, [*names, *(case.scenario(known[case.flow]) for case in cases)]


def _case_files(named: str) -> list[str]:
    """Return the case files of a directory that is named, else what is named."""
    from riff_runner.run.cases.case_file import CASE_ENDING
    from riff_tui.errors import UsageError

    directory = Path(named)
    found = sorted(map(str, directory.glob(f"*{CASE_ENDING}"))) if directory.is_dir() else []
    if not found and directory.is_dir() and "/" in named:
        raise UsageError(f"--scenarios {named}: there is no case in this directory", "riff-tui case -o FILE makes one")
    return found or [named]


def _refuse_without_flow(cases: list[CaseFile], flows: list[str]) -> None:
    from riff_runner.simulate.flow_file import flow_names
    from riff_tui.errors import UsageError

    if not flows and (foreign := next((case for case in cases if case.flow not in flow_names()), None)):
        raise UsageError(
            f"the case {foreign.name} is of the flow {foreign.flow}, which is not built in", "add its file with --flows"
        )


def _tell_of_changes(case: CaseFile, flow: RunnableFlow) -> None:
    """Say what of a case the flow does not have, which it had when the call was made."""
    from riff_tui.output.streams import say
    from riff_tui.text.safe_text import one_line
    from riff_tui.text.words import listed

    slots = [slot for slot in case.facts if slot not in flow.slots]
    states = list(dict.fromkeys(line.state for line in case.lines if line.state and line.state not in flow.states))
    for kind, missing in (("slot", slots), ("state", states)):
        if missing:
            kinds = kind if len(missing) == 1 else f"{kind}s"
            say(
                one_line(f"The flow {flow.name} has no {kinds} {listed(missing)}, of which the case {case.name} tells.")
            )


def _words(given: list[str] | None) -> list[str]:
    """Return what stands between commas in an option that may be repeated."""
    return list(dict.fromkeys(word.strip() for part in given or () for word in part.split(",") if word.strip()))


def _time(text: str) -> str:
    from riff_ingest.lenient_json import parse_time
    from riff_tui.errors import UsageError

    if parse_time(text) is None:
        raise UsageError(f"--clock: {text!r} is not a time such as 2026-06-22T03:00:00Z")
    return text


def _judge(name: str | None, no_judge: bool) -> str | None:
    from riff_tui.commands.judge import configured
    from riff_tui.errors import UsageError

    if name is not None and no_judge:
        raise UsageError("--judge and --no-judge contradict each other", "leave one of them out")
    if name is not None:
        configured(name)
    return name


# Declare the options of the `run` command.
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
