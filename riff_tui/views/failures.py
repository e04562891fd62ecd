"""Show the calls that only one of two sides failed, and those that both did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riff_store.filters.predicates import Predicate, all_of, conjuncts, terms
from riff_tui.shapes import COUNT, COUNTS, INTERVALS, NUMBER, TEXT, list_of, or_null, record
from riff_tui.table import DRILL, NOT_MEASURED, Column, Row, Section, Severity, Table
from riff_tui.text.numbers import counted, listed, p_text, percent
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.failures import FailedCall, FailedPair, Failures
    from riff_store.queries.sides import PairCounts, Side, Solved
    from riff_tui.view_query import ViewQuery


FAILED = "Failed: not served, correct and complete, as far as that is known."
_TITLES = {"a": "Only A failed", "b": "Only B failed", "both": "Both failed"}
_SHOWN = {"a": "only A", "b": "only B", "both": "both"}
_MARKERS = {"a": "-", "b": "!", "both": "x"}
_SEVERITY: Mapping[str, Severity] = {"a": "good", "b": "bad", "both": "warn"}

_OF_CALL = "conversation final_state stop_reason score agent run"


def _of_side(side: str) -> tuple[Column, ...]:
    name = side.upper()
    return (
        Column(f"conversation_{side}", f"call {name}", kind="name", help=f"The call of {name}."),
        Column(f"final_state_{side}", f"final state {name}", kind="text", help=f"Where {name}'s call ended."),
        Column(f"stop_reason_{side}", f"stop {name}", kind="text", help=f"Why {name}'s call ended."),
        Column(
            f"score_{side}", f"score {name}", unit="0-10", better="higher", shown=False,
            help=f"Correctness of {name}'s call; completion if that is not measured.",
        ),
        Column(f"agent_{side}", f"agent {name}", kind="name", shown=False, help=f"The model that led {name}'s call."),
        Column(f"run_{side}", f"run {name}", kind="name", shown=False, help=f"The run of {name}'s call."),
    )  # fmt: skip


_COLUMNS: Sequence[Column] = (
    Column("side", "failed", kind="name", help="Whose call failed: a, b or both."),
    columns.FLOW,
    columns.SCENARIO,
    columns.PERSONA,
    Column("trial", "trial", kind="count", help="Which repetition of the task it was."),
    *_of_side("a"),
    *_of_side("b"),
)

_PASTED = (Column("place", "Task", kind="name"), *(column for side in "ab" for column in _of_side(side)[:3]))
"""The columns of the tables that are pasted."""


def show(query: ViewQuery) -> Table:
    """Return the calls that either side failed; whatever people judged, a call fails by what was computed."""
    from riff_store.queries.failures import failures as asked
    from riff_tui.catalog import Request, dump_command

    a, b = sides_of(query)
    whole = query.parts()
    within = within_flows(whole.calls, query.predicate)
    table = query.result(whole, lambda parts: failures(asked(query.store, a, b, parts.calls, within)), recounts=False)
    drills = [
        f"{DRILL}{dump_command('conversation', Request(where=row.where, store=query.request.store))}"
        for row in table.rows[:1]
    ]
    return table._replace(notes=[*table.notes, *drills])


def failures(answer: Failures) -> Table:
    """Return three lists of pairs of the same task; a row leads to B's call where that one failed, else to A's."""
    rows = [_row(pair, answer.a.kind) for pair in answer.pairs]
    return Table(
        view="failures",
        title=f"Failures: B {answer.b.name} against A {answer.a.name}",
        columns=_COLUMNS,
        rows=rows,
        lead=solved_text(answer.counts.solved),
        notes=list(_notes(answer)),
        extras={
            "a": side_record(answer.a),
            "b": side_record(answer.b),
            "passed": answer.counts.neither,
            "pairs": pairs_record(answer.counts),
            **cells.values_of(answer, "unknown alone_a alone_b"),
        },
        sections=[
            Section(
                title,
                _MARKERS[side],
                tuple(row.id for row in rows if row.record["side"] == side),
                _PASTED,
                signed=False,
            )
            for side, title in _TITLES.items()
        ],
    )


def _row(pair: FailedPair, kind: str) -> Row:
    record: dict[str, Any] = {
        **cells.values_of(pair, "side flow scenario persona trial"),
        **{f"{key}_a": value for key, value in cells.values_of(pair.a, _OF_CALL).items()},
        **{f"{key}_b": value for key, value in cells.values_of(pair.b, _OF_CALL).items()},
    }
    trial, within = f" #{pair.trial}" if pair.trial else "", f" @ {pair.b.agent}" if kind == "run" else ""
    return Row(
        f"{cells.call_where(pair.a)} / {cells.call_where(pair.b)}",
        record,
        display={
            "side": _SHOWN[pair.side],
            "place": f"{pair.flow}/{pair.scenario or pair.persona or ''}{trial}{within}",
            "summary": f"A {_ended(pair.a)} · B {_ended(pair.b)}",
        },
        severity={"side": _SEVERITY[pair.side]},
        where=cells.call_where(pair.a if pair.side == "a" else pair.b),
    )


def _ended(call: FailedCall) -> str:
    how = " in ".join(part for part in (call.stop_reason, call.final_state) if part)
    return f"{call.conversation} {how or NOT_MEASURED}"


def _notes(answer: Failures) -> Iterator[str]:
    yield from side_notes(answer.a, answer.b)
    yield f"{FAILED} {counted(answer.counts.neither, 'pair')} failed on neither side."
    if answer.alone_a or answer.alone_b:
        yield f"Failed without a partner, so not listed: {answer.alone_a} of A, {answer.alone_b} of B."
    if answer.unknown:
        pairs = "pair has" if answer.unknown == 1 else "pairs have"
        yield f"{answer.unknown} {pairs} a call of which success is not known."


SIDE = record({"kind": TEXT, "name": TEXT, "n": COUNT, "excluded": COUNT})
PAIRS = record({**dict.fromkeys(("pairs", "only_a", "only_b", "both", "neither"), COUNT), "p": or_null(NUMBER)})
_OF_FLOW = record({"flow": TEXT, **dict.fromkeys(("n_a", "n_b", "excluded_a", "excluded_b", "pairs"), COUNT)})
COMPARED = {
    "a": SIDE,
    "b": SIDE,
    "tested": COUNT,
    "flows": list_of(_OF_FLOW),
    "solved": or_null(
        record({"more": or_null(TEXT), **dict.fromkeys(("a", "b", "n_a", "n_b"), COUNT), "p": or_null(NUMBER)})
    ),
    "pairs": or_null(PAIRS),
    "only_in_a": COUNTS,
    "only_in_b": COUNTS,
}
COMPARED_ROW = {
    **dict.fromkeys(
        ("pairs", "events_a", "events_b", "only_a", "only_b", "both", "neither", "up", "down"), or_null(COUNT)
    ),
    "better": or_null(TEXT),
    "intervals": INTERVALS,
}
"""What JSON has of the sides of a comparison, and beside its columns of a row."""


SPEC = ViewSpec(
    name="failures",
    title="Failures of two sides",
    help=(
        "The calls of the same task that only A failed, only B failed, or both.",
        "A call failed if it is known that it was not served, correct and complete.",
        "Drill into a call with conversation --where 'run=R conversation=C'.",
    ),
    order=200,
    command="riff-tui compare A B --failures",
    show=show,
    judges="rows",
    top={"a": SIDE, "b": SIDE, **dict.fromkeys(("passed", "unknown", "alone_a", "alone_b"), COUNT), "pairs": PAIRS},
    columns=_COLUMNS,
    row_kind="call",
    sides=True,
    words=Words(nouns=("pair", "pairs"), empty="No call of these pairs failed: q goes back.", empty_store=""),
    screen=Screen(depth=4, below="conversation"),
)


def sides_of(query: ViewQuery) -> tuple[str, str]:
    """Return the two sides that are asked for."""
    assert query.request.sides is not None
    return query.request.sides


def within_flows(calls: Predicate | None, predicate: Predicate | None) -> Predicate | None:
    """Return what a filter reports of calls, and of flows by their names."""
    flows = [part for part in conjuncts(predicate) if all(term.field == "flow" for term in terms(part))]
    return all_of([*conjuncts(calls), *(part for part in flows if part not in conjuncts(calls))])


def side_record(side: Side) -> dict[str, Any]:
    """Return a side as the data formats print it."""
    return cells.values_of(side, "kind name n excluded")


def side_argument(kind: str, name: str) -> str:
    """Return a side as the command takes it, whatever it is called."""
    if kind == "agent":
        return f"agent:{name}"
    # It would be taken for an agent, for an option, or for what it is not any more tomorrow.
    return f"run:{name}" if name.startswith(("agent:", "run:", "-")) or name in ("latest", "previous") else name


def side_notes(a: Side, b: Side) -> Iterator[str]:
    """Yield who is who, with how many calls are compared and how many were errored."""
    said = (
        f"{letter}: {side.kind} {side.name}, {counted(side.n, 'call')}"
        f"{f' and {side.excluded} errored' if side.excluded else ''}"
        for letter, side in (("A", a), ("B", b))
    )
    yield f"{'; '.join(said)}. Errored calls are left out."
    if a.led and b.led and a.led != b.led:
        what = "led by" if a.kind == "run" else "in"
        yield f"Not alike: A is {what} {listed(a.led)}; B is {what} {listed(b.led)}."
    if a.called and b.called and a.called != b.called:
        yield (
            f"Not alike: A was called by {listed(a.called)}; B by {listed(b.called)}."
            " What differs may be their callers."
        )


def pairs_record(counts: PairCounts) -> dict[str, Any]:
    """Return how pairs came out as the data formats print it: on which side their calls failed."""
    return cells.values_of(counts, "pairs only_a only_b both neither p")


def solved_text(solved: Solved) -> str:
    """Return which side solves more, over all flows together, and whether that may be chance."""
    if not solved.n_a or not solved.n_b:
        return ""
    a, b = (percent(hits / n) for hits, n in ((solved.a, solved.n_a), (solved.b, solved.n_b)))
    p = f"p {p_text(solved.p)}"
    if solved.more is None:
        found = f"Neither side solves more beyond chance: B {b}, A {a} of {_of(solved)} ({p})"
    elif (solved.more == "B") == (solved.b * solved.n_a > solved.a * solved.n_b):
        shares = f"{b} against {a}" if solved.more == "B" else f"{a} against {b}"
        found = f"{solved.more} solves more: {shares} of {_of(solved)}, beyond chance ({p})"
    else:
        found = f"Flow by flow {solved.more} solves more, beyond chance ({p}); of all, B {b}, A {a} of {_of(solved)}"
    if solved.pairs is None:
        return f"{found}."
    pairs = solved.pairs
    return f"{found}. Only A solved {pairs.only_b}, only B {pairs.only_a}; both {pairs.neither}, neither {pairs.both}."


def _of(solved: Solved) -> str:
    if solved.pairs is not None:
        return counted(solved.n_a, "pair")
    return f"{counted(solved.n_a, 'call')} of A and {solved.n_b} of B"
