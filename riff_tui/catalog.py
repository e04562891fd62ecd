"""Every view by name, and the one way from a request to a table: the same for dumps and for the screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from riff_tui.errors import UsageError
from riff_tui.table import Table, throughout

if TYPE_CHECKING:
    from riff_store.database import Store

BY = ("agent", "persona", "run", "scenario")


class View(NamedTuple):
    """A view: its name, what else it is called, what it is for in three lines, and what has to be said of it.

    `--by` splits the rows of one that `splits`; one with `sides` compares two that the request names; one
    with `aspects` can be about any of them.
    """

    name: str
    title: str
    help: tuple[str, str, str]
    aliases: tuple[str, ...] = ()
    splits: bool = False
    sides: bool = False
    aspects: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted of a view: a filter, further keys, a column to sort by, how many rows.

    `text` puts into a conversation what was said in it, `redact` takes out of that what points at a person.
    `trend` adds to each row of the flow matrix its operability in its last runs, oldest first. A
    `hurried` one leaves to the table's `rest` what would keep a screen waiting. `sides` are the two
    runs, or agents, of a comparison. `aspect` is explained instead of quality.
    """

    where: str = ""
    by: tuple[str, ...] = ()
    sort: str | None = None
    limit: int | None = None
    text: bool = False
    redact: bool = False
    trend: bool = False
    hurried: bool = False
    sides: tuple[str, str] | None = None
    aspect: str | None = None


VIEWS: tuple[View, ...] = (
    View(
        "flows",
        "Evaluation matrix",
        (
            "Every flow with every agent that led it, the least operable first.",
            "Operability blends what is measured and is capped while correctness or completion is not full.",
            "Errored calls are counted separately and left out of averages.",
        ),
        ("matrix",),
        splits=True,
    ),
    View(
        "segments",
        "Per-segment quality",
        (
            "The phases of each flow: means over the rows of their states, the worst first.",
            "A phase's mean can hide one bad state, so the worst member stands in the row.",
            "Drill into a phase with states --where 'flow=F segment=S'.",
        ),
        ("segment-matrix",),
        splits=True,
    ),
    View(
        "states",
        "Per-state quality",
        (
            "How calls fare in each state: most stalls first, then least progress.",
            "A row behind which fewer than five calls stand is thin and its n carries ~.",
            "With flow=F in the filter, each state's successors follow below the table.",
        ),
        ("state-matrix",),
        splits=True,
    ),
    View(
        "neighbors",
        "Neighbours of a state",
        (
            "One state between the states before and after it, with counts and shares of the steps.",
            "The filter has to name it: flow=F state=S.",
            "The blast radius lists what it reaches: the states that starve if it breaks.",
        ),
    ),
    View(
        "worklist",
        "What to work on",
        (
            "The weakest flows, the weakest segments and the states at the root of it, ten of each.",
            "Each place says why it stands there; thin places come last.",
            "The last line leads further down.",
        ),
        ("analyze",),
    ),
    View(
        "conversations",
        "Conversations",
        (
            "The calls behind a place, in order of run, flow and id unless sorted.",
            "Errored ones are listed, but not counted in averages: a broken backend is not the flow's fault.",
            "A metric of a state in the filter, such as stall=1, finds calls by what happened in them.",
        ),
    ),
    View(
        "conversation",
        "One conversation",
        (
            "One call in the order of time: turns, states, slots, guards, tool calls; of a voice call its sound.",
            "The filter has to select it, such as run=R conversation=C; the beginning of an id is enough.",
            "A Markdown dump leaves out what was said unless --text asks for it, and redacts it then.",
        ),
    ),
    View(
        "runs",
        "Runs",
        (
            "What was evaluated when, and from which commit.",
            "The latest run comes first; a run starts with its first call.",
            "Drill into a run with flows --where 'run=R'.",
        ),
    ),
    View(
        "judges",
        "Judges",
        (
            "Who scored how many calls, and the mean of it.",
            "Versions of a judge's prompt are rows of their own and are never merged.",
            "Agreement is the rank correlation on shared calls; drill into a judge with agreement --where 'judge=J'.",
        ),
    ),
    View(
        "agreement",
        "Agreement of judges",
        (
            "Each pair of judges, and each judge against correctness, on the calls that both scored.",
            "Kappa is agreement beyond chance; spearman asks for the order of the calls alone, whatever the scales.",
            "Drill into a pair with disputes --where 'judge=A | judge=B'.",
        ),
    ),
    View(
        "disputes",
        "Disputes of judges",
        (
            "The calls on which judges differ most, the widest spread first, with the score of each.",
            "judge: in the filter chooses the judges; without --limit the 50 widest are listed.",
            "Drill into a call with conversation --where 'run=R conversation=C' --text: every judge gives its reasons.",
        ),
    ),
    View(
        "archetypes",
        "Archetypes",
        (
            "Families of flows: booking, dispatch, inquiry and what else the flows say of themselves.",
            "A family's mean can hide one bad flow, so the worst member stands in the row.",
            "Drill into a family with flows --where 'archetype=A'.",
        ),
    ),
    View(
        "timeline",
        "Timeline",
        (
            "Quality from run to run: mean operability of the run's flows and agents, in the eyes of each judge alone.",
            "Quality is comparable only down a column; (computed) uses no judge.",
            "Drill into a run with flows --where 'run=R'.",
        ),
    ),
    View(
        "flow-table",
        "Flow table",
        (
            "The quality of each flow for each agent in the eyes of each judge alone, side by side.",
            "A judge who stands far from the others and from (computed) asks to be calibrated.",
            "Drill into a flow with flows --where 'flow=F'.",
        ),
    ),
    View(
        "effects",
        "Effects",
        (
            "What explains quality: judge, agent, flow and persona in one linear model, with the share of each.",
            "A level's effect is how far it lies from its factor's mean, all else alike, with its 95 % interval.",
            "Drill into a level with flows --where 'agent=A'; --aspect A explains one aspect instead of quality.",
        ),
        aspects=True,
    ),
    View(
        "repeats",
        "Repeats",
        (
            "Whether the same flow, agent, scenario and persona come out the same way when called again.",
            "pass^k is the chance that k calls in a row all pass; flaky groups pass sometimes, most flaky first.",
            "Drill into a row with conversations --where 'flow=F agent=A'; --by scenario, persona or run splits rows.",
        ),
        splits=True,
    ),
    View(
        "compare",
        "Compare two runs or agents",
        (
            "What B differs in from A, flow by flow: paired where both called the same task, with exact tests.",
            "noise says that a difference as large may well be chance; worse first, then better, then noise.",
            "Drill into the calls that only one side failed with compare A B --failures.",
        ),
        ("significance",),
        sides=True,
    ),
    View(
        "failures",
        "Failures of two sides",
        (
            "The calls of the same task that only A failed, only B failed, or both.",
            "A call failed where its correctness is below 10; where that is not measured, its completion.",
            "Drill into a call with conversation --where 'run=R conversation=C'.",
        ),
        sides=True,
    ),
    View(
        "edits",
        "Edits of flows",
        (
            "Who changed which flow when, and its quality in the runs around it, to see which edit moved the score.",
            "riff-tui edits reads them from git; quality is (computed), over the agents that led the flow in both.",
            "Drill into the run after an edit with flows --where 'flow=F run=NEXT'.",
        ),
    ),
    View(
        "skipped",
        "Skipped inputs",
        (
            "What was not taken as it stood: the file, the line and the reason.",
            "skipped was left out; mismatch, replaced and defect were taken and are to be known.",
            "A file that was mended is read again by the next ingest.",
        ),
    ),
)
_BY_NAME = {name: view for view in VIEWS for name in (view.name, *view.aliases)}

_COMMANDS = {"gate": "riff-tui gate --baseline A --candidate B", "export": "riff-tui export"}


def resolve(name: str) -> View:
    """The view of that name or alias; raises `UsageError` with the names that there are."""
    view = _BY_NAME.get(name)
    if view is None and name in _COMMANDS:
        raise UsageError(f"{name} is a command of its own: {_COMMANDS[name]}")
    if view is None:
        from difflib import get_close_matches

        near = get_close_matches(name, _BY_NAME, n=1)
        meant = f" (did you mean {near[0]}?)" if near else ""
        raise UsageError(f"no view is called {name!r}{meant}; there are {', '.join(view.name for view in VIEWS)}")
    return view


def show(store: Store, name: str, request: Request) -> Table:
    """Ask the store for a view and arrange it as requested.

    Raises `UsageError` or `FilterError` for a request that makes no sense, and the store's errors.
    """
    from riff_tui import view_queries
    from riff_tui.filters import parse

    view = resolve(name)
    _check(view, request)
    table = view_queries.ask(store, view.name, request, parse(request.where))
    signed = partial(replace, filter=request.where.strip(), dump=dump_command(view.name, request))
    return throughout(table, signed)


def dump_command(name: str, request: Request) -> str:
    """The command that prints the same."""
    from riff_tui.views.parts.cells import shell_quoted

    if request.sides is not None:
        return _comparing(name, request, request.sides)
    parts = ["riff-tui dump", name]
    if request.where.strip():
        parts += ["--where", shell_quoted(request.where.strip())]
    parts += [f"--by {key}" for key in request.by]
    if request.sort is not None:
        import shlex

        parts += ["--sort", shlex.quote(request.sort)]
    if request.limit is not None:
        parts.append(f"--limit {request.limit}")
    if request.aspect is not None:
        import shlex

        parts += ["--aspect", shlex.quote(request.aspect)]
    if name == "conversation" and request.text:
        parts.append("--text")
    return " ".join(parts)


def _comparing(name: str, request: Request, sides: tuple[str, str]) -> str:
    """The command that compares the same, which is one of its own."""
    import shlex

    options = dump_command(name, replace(request, sides=None)).removeprefix(f"riff-tui dump {name}")
    # What begins like an option would be taken for one.
    named = " ".join(shlex.quote(f"run:{side}" if side.startswith("-") else side) for side in sides)
    return f"riff-tui compare {named}{' --failures' if name == 'failures' else ''}{options}"


def _check(view: View, request: Request) -> None:
    unknown = [key for key in request.by if key not in BY]
    if unknown:
        raise UsageError(f"--by: rows cannot be split by {unknown[0]!r}; by one of {', '.join(BY)}")
    if request.by and not view.splits:
        able = ", ".join(view.name for view in VIEWS if view.splits)
        raise UsageError(f"--by: the rows of {view.name} cannot be split; those of {able} can")
    if request.aspect is not None and not view.aspects:
        able = ", ".join(view.name for view in VIEWS if view.aspects)
        raise UsageError(f"--aspect: {view.name} is not about one aspect; {able} can be")
    if request.limit is not None and request.limit < 0:
        raise UsageError("--limit cannot be below 0")
