"""Have an agent called about flows: the `run` command."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from riff_tui.commands import completion
from riff_tui.commands.options import (
    WRITTEN_DIRECTORY,
    Diverged,
    NextStoreOption,
    apply_limits,
    flag,
    option,
    printed,
    time_of,
)
from riff_tui.errors import UsageError
from riff_tui.shapes import COUNT, COUNTS, FLAG, NUMBER, TEXT, Shape, by_name, list_of, or_null, record

if TYPE_CHECKING:
    from riff_runner.run.cases.case import CallCase
    from riff_runner.run.cases.case_file import CaseFile
    from riff_runner.run.cases.plan import ScenarioChoice
    from riff_runner.run.flows.flow import RunnableFlow


EXAMPLES = (
    "riff-tui run --flows dental_clinic --agent openai:gpt-5-mini@https://host/v1 --agent-key-env KEY --out runs/a",
    "riff-tui run --flows flows/mine.toml --agent 'command:./my_agent.sh' --out runs/b --trials 3",
    "riff-tui run --flows apartment_viewing,dental_clinic --agent python:my_agent:reply --out runs/c --ingest calls.db",
    "riff-tui run --flows flows/mine.toml --agent 'command:./my_agent.sh' --uncovered calls.db --out runs/e --dry-run",
    "riff-tui run --scenarios broke.toml --caller frozen --diverged ok --agent 'command:./my_agent.sh' --out runs/d",
)
_SIDES = by_name(or_null(record(dict.fromkeys(("input", "output"), or_null(COUNT)))))
JSON: Shape = {
    "anyOf": [
        printed(
            {
                "event": {"const": "launch"},
                **dict.fromkeys(("run", "out", "agent", "caller"), TEXT),
                "flows": list_of(TEXT),
                **dict.fromkeys(("planned", "present", "due"), COUNT),
                "dry_run": FLAG,
            },
            ("dry_run",),
        ),
        printed(
            {
                "event": {"const": "done"},
                **dict.fromkeys(("run", "ended"), TEXT),
                **dict.fromkeys(
                    ("calls", "errored", "caller_failed", "diverged", "completed", "retried", "left"), COUNT
                ),
                "stopped": COUNTS,
                "reasons": list_of(record({"error": TEXT, "calls": COUNT})),
                "tokens": _SIDES,
                "cost": or_null(NUMBER),
                "currency": or_null(TEXT),
            }
        ),
    ]
}


def run(
    out: Annotated[Path, option("--out", "DIR", "Where the files of the run go.", click_type=WRITTEN_DIRECTORY)],
    agent: Annotated[
        str,
        option(
            "--agent",
            "openai:MODEL@URL|command:CMD|python:MODULE:NAME",
            "The agent that answers the calls.",
            lambda: ("openai:", "command:", "python:"),
        ),
    ],
    flows: FlowsOption = None,
    agent_key_env: AgentKeyOption = None,
    agent_name: Annotated[str | None, option("--agent-name", "NAME", "What the transcripts call the agent.")] = None,
    agent_env: Annotated[list[str] | None, option("--agent-env", "VAR", _ENV)] = None,
    caller: Annotated[
        str,
        option(
            "--caller",
            "scripted|frozen|openai:MODEL@URL|command:CMD",
            "Who makes the calls.",
            lambda: ("scripted", "frozen", "openai:", "command:"),
        ),
    ] = "scripted",
    caller_key_env: CallerKeyOption = None,
    caller_env: Annotated[list[str] | None, option("--caller-env", "VAR", _ENV)] = None,
    tools: Annotated[
        str,
        option(
            "--tools",
            "stubbed|command:CMD",
            "What answers tools; stubbed: the flow file does.",
            lambda: ("stubbed", "command:"),
        ),
    ] = "stubbed",
    tools_env: Annotated[list[str] | None, option("--tools-env", "VAR", _ENV)] = None,
    scenarios: Annotated[
        list[str] | None,
        option(
            "--scenarios",
            "all|NAME,FILE,..",
            "Only these of the flows, case files, or directories of those; repeatable.",
            completion.scenarios,
        ),
    ] = None,
    personas: Annotated[
        list[str] | None,
        option(
            "--personas",
            "all|NAME,..",
            "Play every scenario with each of these callers; else with one.",
            completion.personas,
        ),
    ] = None,
    diverged: Annotated[
        Diverged | None,
        option(
            "--diverged",
            None,
            "Of frozen calls in which the agent goes another way than recorded: ok, that is what a fixed agent does, or"
            " fail, exit 3. Else they are errored as others are.",
        ),
    ] = None,
    uncovered: Annotated[
        str | None,
        option(
            "--uncovered",
            "STORE",
            "Only the calls that can touch what no call in this store has; what none of them leads to is named.",
        ),
    ] = None,
    trials: Annotated[int, option("--trials", "N", "How often each scenario is played.", min=1, max=10_000)] = 1,
    seed: Annotated[int, option("--seed", "S", "The same seed makes the same callers.")] = 300,
    concurrency: Annotated[int, option("--concurrency", "N", "Calls to make at once.", min=1, max=256)] = 4,
    max_turns: MaxTurnsOption = 40,
    max_call_s: MaxCallOption = 300.0,
    turn_timeout_s: TurnTimeoutOption = 60.0,
    stream: Annotated[
        bool, flag("--stream/--no-stream", "Read answers as they come, which measures the first word.")
    ] = True,
    advance: Annotated[
        bool, flag("--advance", "Offer a model one tool for all ways on, which small models take better.")
    ] = False,
    resume: Annotated[bool, flag("--resume", "Go on with the run in --out, or begin it.")] = False,
    force: Annotated[
        bool, flag("--force", "Go on where a flow's file, the agent, the caller or the tools changed, and mix both.")
    ] = False,
    dry_run: Annotated[bool, flag("--dry-run", "Only print the calls that would be made.")] = False,
    as_json: Annotated[bool, flag("--json", "Print one line of JSON at the beginning and one at the end.")] = False,
    ingest: IngestOption = None,
    judge: JudgeOption = None,
    no_judge: Annotated[bool, flag("--no-judge", "Have nothing judged, as without it.")] = False,
    run_id: Annotated[str | None, option("--run-id", "ID", "The id of the run; else the name of --out.")] = None,
    label: Annotated[str | None, option("--label", "TEXT", "What to call the run beside its id.")] = None,
    commit: Annotated[str | None, option("--commit", "SHA", "The commit that is tried.")] = None,
    branch: Annotated[str | None, option("--branch", "NAME", "The branch that it is on.")] = None,
    clock: ClockOption = None,
    fsync: Annotated[bool, flag("--fsync", "Force each call to the disk as it ends.")] = False,
    store: NextStoreOption = None,
) -> None:
    """Have callers call an agent about flows and write transcripts.

    Each call becomes a line of a transcript as it ends. What was begun goes on with --resume: no call is made twice,
    but for those that were errored.
    """
    from msgspec import UNSET

    from riff_runner.protocol import CallLimits
    from riff_runner.run.callers.frozen import refuse_unrecorded
    from riff_runner.run.cases.plan import plan_cases
    from riff_runner.run.clock import FixedClock, SystemClock
    from riff_runner.run.files.run_document import RunSettings, side_of
    from riff_runner.run.library import persona_names, scenario_names
    from riff_runner.run.run_plan import RunRequest
    from riff_runner.run.targets import PartOptions, make_agent, make_caller, make_tools, parse_target
    from riff_tui.commands.calls.judge import configured
    from riff_tui.commands.calls.run_session import After, make, show_plan

    apply_limits()
    agent_target, caller_target = parse_target(agent, "agent"), parse_target(caller, "caller")
    tools_target = parse_target(tools, "tools")
    if judge is not None:
        if no_judge:
            raise UsageError("--judge and --no-judge contradict each other", "leave one of them out")
        configured(judge)
    after = After(ingest, judge, as_json, store, diverged)
    loaded, chosen = _choice(_words(flows), _words(scenarios))
    cast: Literal["all"] | list[str] | None = "all" if _words(personas) == ["all"] else _words(personas) or None
    cases = plan_cases(loaded, scenarios=chosen, personas=cast, trials=trials, seed=seed)
    if uncovered is not None and not (cases := _uncovered(cases, uncovered)):
        return
    if caller_target.kind == "frozen":
        refuse_unrecorded(cases)
    elif diverged is not None:
        raise UsageError("--diverged is for recorded calls", "add --caller frozen, or leave it out")
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
        answered_by=side_of(tools_target, "tools") if tools_target.command else UNSET,
        flows=tuple(flow.name for flow in loaded),
        scenarios=scenario_names(chosen),
        personas=persona_names(cast),
        trials=trials,
        seed=seed,
        concurrency=concurrency,
        limits=asdict(limits),
        streamed=stream and "openai" in (agent_target.kind, caller_target.kind),
    )
    if clock is not None:
        time_of("--clock", clock)
    request = RunRequest(
        called,
        calls,
        cases,
        settings,
        tools=make_tools(tools_target, replace(options, env=tuple(tools_env or ()))),
        limits=limits,
        clock=SystemClock() if clock is None else FixedClock(clock),
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


def _uncovered(cases: list[CallCase], location: str) -> list[CallCase]:
    """Return the cases that can touch what no call in a store touched of its flow, and report what none of them can."""
    from riff_runner.run.callers.agenda import touchable
    from riff_store.filters.predicates import Or, Term
    from riff_store.queries.steps import coverage
    from riff_tui.commands.reading import reading
    from riff_tui.output.streams import say
    from riff_tui.text.numbers import counted
    from riff_tui.text.safe_text import one_line

    flows = {case.flow.name: case.flow for case in cases}
    declared = {name: frozenset(flow.described.items() if flow.described else ()) for name, flow in flows.items()}
    with reading(location) as store:
        found = coverage(store, Or(tuple(Term("flow", "=", name) for name in flows)), declared=declared)
    missing = {each.keys["flow"]: {(item.kind, item.item) for item in each.untouched} for each in found}
    leading = [(case, reached) for case in cases if (reached := touchable(case) & missing.get(case.flow.name, set()))]
    for name in flows:
        planned = {item for case, reached in leading if case.flow.name == name for item in reached}
        if left := sorted(missing.get(name, set()) - planned):
            say(one_line(f"{name}: no call here leads to {', '.join(' '.join(item) for item in left)}."))
    items = counted(sum(map(len, missing.values())), "item")
    touched = len({(case.flow.name, item) for case, reached in leading for item in reached})
    say(f"Uncovered: {items}, of which {len(leading)} of {counted(len(cases), 'call')} can touch {touched}.")
    return [case for case, _ in leading]


def _choice(flows: list[str], scenarios: list[str]) -> tuple[list[RunnableFlow], ScenarioChoice]:
    """Return the flows that are named, or those of the case files that are, and what to play in them."""
    from riff_runner.run.cases.case_file import CASE_ENDING, is_case_file, read_case
    from riff_runner.run.flows.flow_files import load_flows

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

    directory = Path(named)
    found = sorted(map(str, directory.glob(f"*{CASE_ENDING}"))) if directory.is_dir() else []
    if not found and directory.is_dir() and "/" in named:
        raise UsageError(f"--scenarios {named}: there is no case in this directory", "riff-tui case -o FILE makes one")
    return found or [named]


def _refuse_without_flow(cases: list[CaseFile], flows: list[str]) -> None:
    from riff_runner.simulate.flow_file import flow_names

    if not flows and (foreign := next((case for case in cases if case.flow not in flow_names()), None)):
        raise UsageError(
            f"the case {foreign.name} is of the flow {foreign.flow}, which is not built in", "add its file with --flows"
        )


def _tell_of_changes(case: CaseFile, flow: RunnableFlow) -> None:
    """Report what of a case the flow does not have, which it had when the call was made."""
    from riff_tui.output.streams import say
    from riff_tui.text.numbers import listed
    from riff_tui.text.safe_text import one_line

    slots = [slot for slot in case.facts if slot not in flow.slots]
    states = list(dict.fromkeys(line.state for line in case.lines if line.state and line.state not in flow.states))
    for kind, missing in (("slot", slots), ("state", states)):
        if missing:
            kinds = kind if len(missing) == 1 else f"{kind}s"
            say(one_line(f"The flow {flow.name} has no {kinds} {listed(missing)}, named in the case {case.name}."))


def _words(given: list[str] | None) -> list[str]:
    """Return what is between commas in an option that may be repeated."""
    return list(dict.fromkeys(word.strip() for part in given or () for word in part.split(",") if word.strip()))


FlowsOption = Annotated[
    list[str] | None, option("--flows", "F,F", "Built-in flows, or paths of flow files; repeatable.", completion.flows)
]
AgentKeyOption = Annotated[str | None, option("--agent-key-env", "VAR", "The variable with the key of its endpoint.")]
_ENV = "A variable that its command may see as well; repeatable."
CallerKeyOption = Annotated[str | None, option("--caller-key-env", "VAR", "The variable with the key of its endpoint.")]
MaxTurnsOption = Annotated[int, option("--max-turns", "N", "Turns of the agent after which a call is ended.", min=1)]
MaxCallOption = Annotated[float, option("--max-call-s", "S", "Seconds that an agent may take in one call.", min=0.001)]
TurnTimeoutOption = Annotated[float, option("--turn-timeout-s", "S", "Seconds that one answer may take.", min=0.001)]
IngestOption = Annotated[
    str | None, option("--ingest", "STORE", "Bring calls into this store as they end, where an explorer shows them.")
]
JudgeOption = Annotated[str | None, option("--judge", "NAME", "Have the calls judged afterwards, as `judge` does.")]
ClockOption = Annotated[
    str | None,
    option("--clock", "TIME", "Have it always be this time and measure nothing: the same answers give the same bytes."),
]
