"""List what a store has: runs, names with their counts, and notes of the ingest."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import merge

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import DIMENSIONS, Grouping, judge_names, names_of, run_order, run_starts, touched
from riff_store.filters.predicates import Predicate
from riff_store.filters.sql import needs
from riff_store.measure import Measure
from riff_store.queries.sums import call_sums, pooled, state_counts
from riff_store.schema.sums import CallSums
from riff_store.vocabulary import PERSON, STEP_FIELDS, TOOL_FIELDS, TOUCHED_FIELDS


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Describe a run: its calls that count, how many of them failed, the share of successes, and their mean quality.

    `written_by` shows who stored its calls; `caller_failed` and `overall` are as in a cell of flows.
    """

    run: str
    label: str | None
    commit: str | None
    branch: str | None
    started_at: int | None
    flows: int
    n: int
    excluded: int
    success: Measure
    quality: Measure
    failed: int | None = None
    caller_failed: int = 0
    overall: Measure | None = None
    written_by: str | None = None


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """Describe something that was skipped or changed, or a verdict that is joined to no call."""

    path: str
    line: int | None
    kind: str
    reason: str
    conversation: str | None


def skipped(store: Store) -> list[SkippedEntry]:
    """Return the notes of the ingest, and verdicts and notes that are of no call, in the order of files and lines."""
    note = m.SkippedInput
    query = (
        note.select(m.SourceFile.path, note.line, note.kind, note.reason, note.conversation)
        .join(m.SourceFile, on=(m.SourceFile.id == note.source_file))
        .order_by(m.SourceFile.path, note.line.asc(nulls="FIRST"), note.kind, note.reason, note.id)
    )
    found = [SkippedEntry(*row) for row in store.execute(query)]
    return list(merge(found, _unjoined(store), key=_place))


def _place(entry: SkippedEntry) -> tuple[str, int]:
    return entry.path, -1 if entry.line is None else entry.line


def _unjoined(store: Store) -> list[SkippedEntry]:
    from riff_store.write.notes import unjoined_notes
    from riff_store.write.verdicts import UNJOINED

    scores = [
        SkippedEntry(path, line, "unjoined", _waiting(named) if not calls else _ambiguous(run, calls, *kinds), call)
        for path, line, call, run, calls, *kinds, named in store.execute_sql(UNJOINED)
    ]
    with store.snapshot():
        found = unjoined_notes(store.connection)
    notes = [SkippedEntry(each.path, None, "unjoined", _note_of_none(each.calls), each.conversation) for each in found]
    return list(merge(notes, scores, key=_place))


def _note_of_none(calls: int) -> str:
    if not calls:
        return "a note on a call that is not there (yet)"
    return f"a note on an id that means {calls} calls: it needs a field that distinguishes them"


def _waiting(named: int) -> str:
    other = ": what there is has another flow, agent or trial" if named else ""
    return f"no call of that run and id (yet){other}"


def _ambiguous(run: str, calls: int, flows: int, agents: int, trials: int) -> str:
    kinds = {"flow": flows, "agent_model": agents, "trial": trials}
    needed = " and ".join(name for name, count in kinds.items() if count > 1)
    return f"its id means {calls} calls of run {run}: it needs {needed}"


def known_names(store: Store, field: str, calls: Predicate | None = None) -> list[str]:
    """Return the names of a field in order, none of a field whose names are not kept by themselves.

    States are those of such calls, as far as the calls are chosen by flow, agent or run; names of
    anything else are those of the whole store.
    """
    from riff_store.filters.notes import notes_by_call, verdicts_of_people

    if field == "judge":
        people = (f"{PERSON}{author}" for author in verdicts_of_people(notes_by_call(store)))
        return sorted({*judge_names(store).values(), *people})
    if field in ("code", "noted_by"):
        written = [note for notes in notes_by_call(store).values() for note in notes]
        return sorted({name for note in written if (name := note.code if field == "code" else note.author)})
    if field == "state" and calls is not None and needs(calls, ("run",)) != "base":
        return sorted({name for (name,) in state_counts(store, calls, Grouping(("state",))) if name is not None})
    if field in STEP_FIELDS:
        asked = m.State.id.in_(m.ExpectedStep.select(m.ExpectedStep.state))
        return sorted({name for (name,) in store.execute(m.State.select(m.State.name).where(asked))})
    if field in TOOL_FIELDS:
        sums = m.TOOLS.total
        called = m.Label.id.in_(sums.select(sums.tool))
        return sorted({name for (name,) in store.execute(m.Label.select(m.Label.name).where(called))})
    if field in TOUCHED_FIELDS:
        return sorted({name for names in touched(store, field).values() for name in names})
    if field not in DIMENSIONS:
        return []
    return sorted({name for name in names_of(store, DIMENSIONS[field]).values() if name is not None})


def counted_names(store: Store, field: str, calls: Predicate | None = None) -> list[tuple[str, int, float | None]]:
    """Return the names of a field that such calls have, each with its calls and the share of them that is a success.

    They are in order, runs the latest first.
    """
    of_names = {name: sums for (name,), sums in call_sums(store, calls, Grouping((field,))).items() if name is not None}
    counted = [(name, sums.n + sums.excluded, sums.success_measure().mean) for name, sums in of_names.items()]
    if field == "run":
        started = run_starts(store)
        return sorted(counted, key=lambda run: (-(started.get(run[0]) or 0), run[0]))
    return sorted(each for each in counted if each[1])


def runs(store: Store, calls: Predicate | None = None) -> list[RunSummary]:
    """Return the runs that have such calls, in time order; a run starts with its first call."""
    with store.snapshot():
        flows: dict[str, list[CallSums]] = {}
        for (run, _), found in call_sums(store, calls, Grouping(("run", "flow"))).items():
            flows.setdefault(run or "", []).append(found)
        described = store.execute(m.Run.select(m.Run.name, m.Run.label, m.Run.commit, m.Run.branch, m.Run.written_by))
        started, order = run_starts(store), run_order(store)
    return [
        RunSummary(
            run=name,
            label=label,
            commit=commit,
            branch=branch,
            started_at=started.get(name),
            flows=len(flows[name]),
            n=whole.n,
            excluded=whole.excluded,
            success=whole.success_measure(),
            quality=whole.quality_measure(),
            failed=whole.failed if whole.success_n else None,
            caller_failed=whole.caller_failed,
            overall=whole.overall_measure(),
            written_by=written_by,
        )
        for name, label, commit, branch, written_by in sorted(described, key=lambda row: order.get(row[0], 0))
        if name in flows
        for whole in [pooled(flows[name])]
    ]


# Find where the calls of a run were read from, and which run came before it.
def latest_run(store: Store) -> str | None:
    """Return the run that began last, `None` in a store without calls."""
    order, started = run_order(store), run_starts(store)
    timed = [name for name in order if started[name] is not None] or list(order)
    return timed[-1] if timed else None


def run_before(store: Store, run: str) -> str | None:
    """Return the run that began before a run, `None` for the first one and for one that is not there."""
    order, started = list(run_order(store)), run_starts(store)
    place = order.index(run) if run in order else 0
    # One that began at the same time was not before it.
    earlier = [name for name in order[:place] if started[name] != started[run]]
    return earlier[-1] if earlier else None


def transcript_of_run(store: Store, run: str) -> str | None:
    """Return the path of the file that a call of a run was read from, `None` if the run has none."""
    call = m.Conversation
    query = (
        call.select(m.SourceFile.path)
        .join(m.Run, on=(m.Run.id == call.run))
        .switch(call)
        .join(m.SourceFile, on=(m.SourceFile.id == call.source_file))
        .where(m.Run.name == run)
        .limit(1)
    )
    return next((str(path) for (path,) in store.execute(query)), None)
