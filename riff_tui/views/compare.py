"""Show what two runs, or two agents, differ in, flow by flow, and whether it is more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riff_store.interaction import FEW_EVENTS
from riff_store.measure import THIN
from riff_store.metrics import unit_of
from riff_store.predicates import Predicate, all_of, conjuncts, terms
from riff_tui.filters import render, take_judges
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import fixed
from riff_tui.text.words import listed
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.answers.comparison import Comparison, Difference, PairCounts, Side
    from riff_tui.view_query import FilterParts, ViewQuery


UNITS = (
    "Units: success_rate share of calls · quality, completion, correctness, errors, humanness 0-10"
    " · latency_p95 seconds, lower is better · turn_count turns"
)
IN_UNITS = "B − A is in the unit of its row; low, high: its 95 % interval."
NOISE = "noise: p adj. is above 0.05, so a difference as large may well be chance"
MIXED = "mixed: most calls went one way and the mean went the other, so it is neither better nor worse."
EVENTS = "Figures over the events of all calls are tested by permuting calls: the events of one have much in common."
_FINEST = 2
_SMALLEST = 0.0001
_MARKS: Mapping[str, Severity] = {"worse": "bad", "better": "good", "mixed": "warn", "differs": "warn"}
_FAILED = "of the pairs, for rates"

_FEW = f"below {FEW_EVENTS} they are few and carry `~`"
_EVENTS = ("events_a", "events_b")

_COLUMNS: Sequence[Column] = (
    columns.FLOW,
    Column("aspect", "Aspect", kind="name", help="What is compared; hum:NAME is humanness as that judge gave it."),
    Column("judge", "Judge", kind="name", shown=False, help="Who judged it; computed aspects have no judge."),
    Column(
        "verdict", "B is", kind="name",
        help="Worse or better than A (newly broken or mended: its success rate, between runs); differs, where no way is"
        " the good one; noise, where it may be chance.",
    ),
    Column("newly", "newly", kind="name", shown=False, help="Broken or mended: the success rate fell or rose."),
    Column("a", "A", decimals=_FINEST, help="The rate or mean of A."),
    Column("b", "B", decimals=_FINEST, help="The rate or mean of B."),
    Column("effect", "B − A", decimals=_FINEST, strong=True, help="What B has more, in the row's unit."),
    Column("n_a", "n(A)", kind="count", help=f"Calls of A behind the row; below {THIN} it is thin and carries `~`."),
    Column("n_b", "n(B)", kind="count", help=f"Calls of B behind the row; below {THIN} it is thin and carries `~`."),
    Column("events_a", "events(A)", kind="count", shown=False, help=f"Events of A behind the figure; {_FEW}."),
    Column("events_b", "events(B)", kind="count", shown=False, help=f"Events of B behind the figure; {_FEW}."),
    Column("p_adjusted", "p adj.", decimals=3, help="p corrected across all rows of the comparison."),
    Column("low", "low", decimals=_FINEST, help="Where the 95 % interval of B − A begins."),
    Column("high", "high", decimals=_FINEST, help="Where the 95 % interval of B − A ends."),
    Column("p", "p", decimals=3, shown=False, help="The exact two-sided p of this row's test alone."),
    Column("pairs", "pairs", kind="count", help="Pairs of calls of the same task; · where the calls are not paired."),
    Column("only_a", "only A failed", kind="count", help=f"Only A's call failed, {_FAILED}."),
    Column("only_b", "only B failed", kind="count", help=f"Only B's call failed, {_FAILED}."),
    Column("both", "both failed", kind="count", help=f"Both calls failed, {_FAILED}."),
    Column("neither", "neither", kind="count", shown=False, help=f"Neither call failed, {_FAILED}."),
    Column("test", "test", kind="text", shown=False, help="The test that p comes from."),
    Column("unit", "unit", kind="text", shown=False, help="The unit of A, B and B − A."),
    Column("alone_a", "alone(A)", kind="count", shown=False, help="Calls of A left out for want of a partner."),
    Column("alone_b", "alone(B)", kind="count", shown=False, help="Calls of B left out for want of a partner."),
)  # fmt: skip


def show(query: ViewQuery) -> Table:
    """Return the differences of both sides, with the command that lists the calls that failed."""
    from riff_store.queries.comparison import compare as asked
    from riff_tui.request import Request, dump_command

    a, b = sides_of(query)
    whole = query.parts()
    # A flow in the filter hides the others' rows; it must not make p-values smaller by forgetting them.
    calls = all_of([part for part in conjuncts(whole.calls) if part not in conjuncts(whole.rows)])
    _, rest = take_judges(query.predicate)
    within = within_flows(calls, rest)
    failed = _of_failures(rest, calls)

    def built(parts: FilterParts) -> Table:
        found = asked(query.store, a, b, parts.calls, whole.judges, within=within)
        # By their names: what is looked into may leave other runs to be the latest two.
        sides = side_argument(found.a.kind, found.a.name), side_argument(found.b.kind, found.b.name)
        return compare(found, scope=render(within), drill=dump_command("failures", Request(where=failed, sides=sides)))

    return query.result(whole._replace(calls=calls), built, recounts=False)


def sides_of(query: ViewQuery) -> tuple[str, str]:
    """Return the two sides that are asked for."""
    assert query.request.sides is not None
    return query.request.sides


def within_flows(calls: Predicate | None, predicate: Predicate | None) -> Predicate | None:
    """Return what a filter says of calls, and of flows by their names."""
    flows = [part for part in conjuncts(predicate) if all(term.field == "flow" for term in terms(part))]
    return all_of([*conjuncts(calls), *(part for part in flows if part not in conjuncts(calls))])


def _of_failures(predicate: Predicate | None, calls: Predicate | None) -> str:
    """Return what of a filter chooses the calls behind the rows that it leaves."""
    from riff_tui.views.failures import SPEC as FAILURES

    fields, kept = FAILURES.row_fields, conjuncts(calls)
    parts = [part for part in conjuncts(predicate) if part in kept or all(term.field in fields for term in terms(part))]
    return render(all_of(parts))


def compare(answer: Comparison, *, scope: str = "", drill: str = "") -> Table:
    """Return one row per flow, aspect and judge, as they are answered.

    `scope` is the filter that the comparison is within, `drill` the command that lists failures.
    """
    of_runs = answer.a.kind == "run"
    pooled = any(difference.events_a is not None for difference in answer.differences)
    return Table(
        view="compare",
        title=f"Compare: B {answer.b.name} against A {answer.a.name}{f' where {scope}' if scope else ''}"
        f" ({'newly broken and mended' if of_runs else 'worst'} first)",
        columns=[replace(column, shown=True) if pooled and column.key in _EVENTS else column for column in _COLUMNS],
        rows=[_row(difference) for difference in answer.differences],
        lead="" if answer.counts is None else solved_text(answer.counts),
        notes=[*_notes(answer), *([f"Drill: {drill}"] if drill and answer.differences else [])],
        extras={
            "a": side_record(answer.a),
            "b": side_record(answer.b),
            "tested": answer.tested,
            "flows": [
                {
                    "flow": flow.flow, "n_a": flow.n_a, "n_b": flow.n_b,
                    "excluded_a": flow.excluded_a, "excluded_b": flow.excluded_b, "pairs": flow.pairs,
                }
                for flow in answer.flows
            ],
            "pairs": None if answer.counts is None else pairs_record(answer.counts),
            "only_in_a": dict(answer.only_in_a),
            "only_in_b": dict(answer.only_in_b),
        },
    )  # fmt: skip


def side_record(side: Side) -> dict[str, Any]:
    """Return a side as the data formats print it."""
    return {"kind": side.kind, "name": side.name, "n": side.n, "excluded": side.excluded}


def side_argument(kind: str, name: str) -> str:
    """Return a side as the command takes it, whatever it is called."""
    if kind == "agent":
        return f"agent:{name}"
    # It would be taken for an agent, for an option, or for what it is not any more tomorrow.
    return f"run:{name}" if name.startswith(("agent:", "run:", "-")) or name in ("latest", "previous") else name


def side_notes(a: Side, b: Side) -> Iterator[str]:
    """Yield who is who, with how many calls are compared and how many were errored."""
    yield f"{_side_text('A', a)}; {_side_text('B', b)}. Errored calls are left out."
    if a.led and b.led and a.led != b.led:
        what = "led by" if a.kind == "run" else "in"
        yield f"Not alike: A is {what} {listed(a.led)}; B is {what} {listed(b.led)}."
    if a.called and b.called and a.called != b.called:
        yield (
            f"Not alike: A was called by {listed(a.called)}; B by {listed(b.called)}."
            " What differs may be their callers."
        )


def listed_counts(counts: Mapping[str, int]) -> str:
    """Return names, each with its count, as many as one takes in."""
    return listed([f"{name} {n}" for name, n in sorted(counts.items())])


def _row(difference: Difference) -> Row:
    unit = unit_of(difference.aspect, difference.judge)
    low, high = difference.interval or (None, None)
    record: dict[str, Any] = {
        "flow": difference.flow,
        "aspect": difference.aspect,
        "judge": difference.judge,
        "verdict": difference.verdict,
        "newly": difference.newly,
        "a": difference.a.mean,
        "b": difference.b.mean,
        "effect": difference.effect,
        "low": low,
        "high": high,
        "p_adjusted": difference.p_adjusted,
        "p": difference.p,
        "pairs": difference.pairs,
        "n_a": difference.a.n,
        "n_b": difference.b.n,
        "events_a": difference.events_a,
        "events_b": difference.events_b,
        "only_a": difference.only_a,
        "only_b": difference.only_b,
        "both": difference.both,
        "neither": difference.neither,
        "test": difference.test,
        "unit": unit,
        "better": difference.better,
        "alone_a": difference.alone_a,
        "alone_b": difference.alone_b,
        "intervals": cells.intervals({"a": difference.a, "b": difference.b}),
    }
    where = cells.where({"flow": difference.flow})
    mark = _MARKS.get(difference.verdict)
    return Row(
        f"{difference.aspect} {difference.judge or ''}: {where}",
        record,
        display={**_display(difference), **_signed({"effect": difference.effect, "low": low, "high": high})},
        severity={} if mark is None else {"verdict": mark, "": mark},
        thin=cells.is_thin(min(difference.a.n, difference.b.n)) or any(map(_are_few, _events(difference).values())),
        where=where,
    )


def _display(difference: Difference) -> dict[str, str]:
    shown = {"aspect": _aspect(difference)}
    if difference.newly:
        shown["verdict"] = f"newly {difference.newly}"
    for key, measure in (("n_a", difference.a), ("n_b", difference.b)):
        if cells.is_thin(measure.n):
            shown[key] = f"{measure.n}~"
    for key, events in _events(difference).items():
        shown[key] = "" if events is None else f"{events}~" if _are_few(events) else f"{events}"
    for key, p in (("p", difference.p), ("p_adjusted", difference.p_adjusted)):
        if p is not None:
            shown[key] = "<0.001" if p < 0.001 else fixed(p, 3)
    if not difference.rate:
        # A sign in each cell would say that something is missing.
        shown |= dict.fromkeys(("only_a", "only_b", "both", "neither"), "")
    return shown


def _events(difference: Difference) -> dict[str, int | None]:
    return dict(zip(_EVENTS, (difference.events_a, difference.events_b), strict=True))


def _are_few(events: int | None) -> bool:
    return events is not None and events < FEW_EVENTS


def _signed(values: Mapping[str, float | None]) -> dict[str, str]:
    """Return each number with its sign, unless it reads as 0."""
    texts = {key: fixed(value, _FINEST) for key, value in values.items() if value is not None}
    return {key: f"+{text}" if float(text) > 0 else text for key, text in texts.items()}


def _aspect(difference: Difference) -> str:
    if difference.judge is None:
        return difference.aspect
    return f"{'hum' if difference.aspect == 'humanness' else difference.aspect}:{difference.judge}"


def _notes(answer: Comparison) -> Iterator[str]:
    yield from _summary(answer)
    yield from side_notes(answer.a, answer.b)
    if not answer.looked_at:
        yield "There is no flow of which both sides have a call that counts, so nothing is compared."
    else:
        more = columns.units_of(each.aspect for each in answer.looked_at if each.judge is None)
        yield f"{UNITS}{more}. {IN_UNITS}"
        yield _pairing(answer)
        if any(difference.events_a is not None for difference in answer.looked_at):
            yield EVENTS
        rows = f"{answer.tested} {'row' if answer.tested == 1 else 'rows'}"
        yield f"{NOISE}. p is corrected across {rows} (Benjamini-Hochberg)."
    if any(difference.verdict == "mixed" for difference in answer.looked_at):
        yield MIXED
    for side, flows in (("A", answer.only_in_a), ("B", answer.only_in_b)):
        if flows:
            yield f"Called by {side} alone, so not compared: {listed_counts(flows)}."


def _summary(answer: Comparison) -> Iterator[str]:
    """Yield what is newly broken or mended, and how many rows came out which way, in their order."""
    found = [difference.verdict for difference in answer.looked_at]
    if found and answer.a.kind == "run":
        yield _newly(answer)
    if found:
        counted = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in dict.fromkeys(found))
        yield f"B is, in {len(found)} {'row' if len(found) == 1 else 'rows'}: {counted}."


def _newly(answer: Comparison) -> str:
    flows = {
        what: [difference.flow for difference in answer.looked_at if difference.newly == what]
        for what in ("broken", "mended")
    }
    if not any(flows.values()):
        return "Nothing is newly broken or mended: no success rate changed beyond chance."
    return " ".join(f"Newly {what}: {listed(names) or 'nothing'}." for what, names in flows.items())


def _pairing(answer: Comparison) -> str:
    within = "agent" if answer.a.kind == "run" else "run, where they share one"
    paired = sum(difference.pairs is not None for difference in answer.looked_at)
    if not paired:
        return (
            f"Unpaired: too few calls of the same flow, scenario or persona, trial and {within};"
            " Fisher's exact test for rates, Mann-Whitney U for scores."
        )
    alone = [sum(flow.n_a - flow.pairs for flow in answer.flows), sum(flow.n_b - flow.pairs for flow in answer.flows)]
    rest = len(answer.looked_at) - paired
    found = sum(flow.pairs for flow in answer.flows)
    pairs = f"{found} {'pair' if found == 1 else 'pairs'}"
    others = f" {rest} {'row is' if rest == 1 else 'rows are'} unpaired (Fisher, Mann-Whitney U)." if rest else ""
    return (
        f"Paired by flow, scenario or persona, trial and {within}: {pairs},"
        f" tested by McNemar's exact test for rates, the sign test for scores."
        f" Without a partner, so left out of paired rows: {alone[0]} of A, {alone[1]} of B.{others}"
    )


def _side_text(letter: str, side: Side) -> str:
    counted = f"{side.n} {'call' if side.n == 1 else 'calls'}"
    return f"{letter}: {side.kind} {side.name}, {counted}{f' and {side.excluded} errored' if side.excluded else ''}"


def pairs_record(counts: PairCounts) -> dict[str, Any]:
    """Return how pairs came out as the data formats print it: on which side their calls failed."""
    return {
        "pairs": counts.pairs, "only_a": counts.only_a, "only_b": counts.only_b, "both": counts.both,
        "neither": counts.neither, "p": counts.p,
    }  # fmt: skip


def solved_text(counts: PairCounts) -> str:
    """Say how many tasks one side alone solved, over all flows together, and whether that may be chance."""
    if not counts.pairs:
        return ""
    p = f"{counts.p:.4f}" if counts.p >= _SMALLEST else f"<{_SMALLEST}"
    return (
        f"Only A solved {counts.only_b} of {counts.pairs} pairs, only B {counts.only_a} (exact p {p});"
        f" both {counts.neither}, neither {counts.both}."
    )


SPEC = ViewSpec(
    name="compare",
    title="Compare two runs or agents",
    help=(
        "What B differs in from A, flow by flow: paired where both called the same task, with exact tests.",
        "noise says that a difference as large may well be chance. Between runs, flows whose success rate changed"
        " beyond that come first: newly broken, newly mended; then worse, better, noise.",
        "Drill into the calls that only one side failed with compare A B --failures.",
    ),
    order=190,
    aliases=("significance",),
    command="riff-tui compare A B",
    show=show,
    judges="rows",
    columns=_COLUMNS,
    filters=Filters(
        # It chooses among the judges whose rows are shown.
        call_fields=("judge",)
    ),
    sides=True,
    words=Words(
        noun="significance",
        empty="There is no flow of which both sides have a call that counts: q goes back.",
        empty_store="",
    ),
    screen=Screen(depth=4, below="failures"),
)
