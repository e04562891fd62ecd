"""Show what of each flow calls touched, and what none ever did: states, steps, slots, guards, terminals and tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from riff_store.vocabulary import FIELD_OF_KIND
from riff_tui.table import Column, Row, Table
from riff_tui.text.numbers import counted
from riff_tui.view_query import FilterParts, MadeRows, ViewQuery
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words
from riff_tui.views.states import with_excluded

if TYPE_CHECKING:
    from riff_store.queries.steps import Coverage, CoveredItem

LISTED = 30
"""Flows that notes sum up, one a line."""
UNITS = (
    "Items: what the flow's file declares; without a file, what any run up to the last one here touched. Order: never"
    " touched, not touched by the last run, then the fewest calls · served, failed: of the calls that touched it."
)
NEVER = "never"
_COLUMNS = (
    columns.KEYS["flow"],
    Column("kind", "Kind", kind="name", help="state, edge, slot, guard, terminal or tool."),
    Column("item", "Item", kind="name", help="Its name: of an edge A > B, of a guard after passed, failed or error."),
    Column("calls", "calls", kind="count", strong=True, help="Calls that touched it, errored ones left out."),
    Column("served", "served", kind="count", help="Those of them that were correct and complete."),
    Column("failed", "failed", kind="count", help="Those of them that failed."),
    Column("last", "Not since", kind="name", help="The last run that touched it, if that is not the last one here."),
    Column("declared", "declared", kind="flag", shown=False, help="Whether a file of the flow names it."),
)  # fmt: skip


def show(query: ViewQuery) -> Table:
    """Return what calls touched of the flows in scope."""
    from riff_store.queries.steps import coverage as asked

    by = ("flow", *(key for key in query.request.by if key != "flow"))

    def build(parts: FilterParts) -> Table:
        return coverage(asked(query.store, parts.calls, by), by)

    return with_excluded(query, query.result(query.parts(), build))


def coverage(answers: Sequence[Coverage], by: Sequence[str] = ("flow",)) -> Table:
    """Return a row for each item: those first that no call touched, then those that the last run did not."""
    one = len(answers) == 1
    found = sorted(((each, item) for each in answers for item in each.items), key=lambda each: _rank(*each))
    flows = counted(len({each.keys["flow"] for each in answers}), "flow")
    return Table(
        view="coverage",
        title=f"Coverage: {_scope(answers[0]) if one else flows}",
        columns=[
            *(column._replace(shown=column.key != "flow" or not one) for column in columns.keys(by)),
            *_COLUMNS[1:],
        ],
        rows=MadeRows(len(found), lambda at: _outline(*found[at]), lambda at, outline: _row(*found[at], outline)),
        lead=_summary(answers) if one or tuple(by) == ("flow",) else "",
        notes=[UNITS, *(() if one else _summaries(answers))],
        identity=(*by, "kind", "item"),
    )


def _rank(answer: Coverage, item: CoveredItem) -> int:
    return 0 if not item.calls else 1 if item.last != answer.last else 2


def _scope(answer: Coverage) -> str:
    names = " @ ".join(name or "·" for name in answer.keys.values())
    return f"{names} · {cells.calls_text(answer.calls)}"


def _summaries(answers: Sequence[Coverage]) -> Iterator[str]:
    yield from (f"{_scope(each)}: {_summary([each])}" for each in answers[:LISTED])
    if len(answers) > LISTED:
        yield f"… and {len(answers) - LISTED:,} more, ordered by what is untouched."


def _summary(answers: Sequence[Coverage]) -> str:
    """Return how much of each kind calls touched, such as `states 9 of 11, edges 14 of 19`."""
    kinds = ((kind, [item for each in answers for item in each.of_kind(kind)]) for kind in FIELD_OF_KIND)
    counts = [f"{kind}s {sum(item.calls > 0 for item in items)} of {len(items)}" for kind, items in kinds if items]
    learned = sum(bool(each.items) and not each.is_declared for each in answers)
    lapsed, last = sum(len(each.lapsed) for each in answers), {each.last for each in answers}
    # What no file declares was all touched at some time, so that its counts prove nothing.
    some = f"{learned} of {len(answers)} " if learned < len(answers) else ""
    parts = [", ".join(counts) + (f" ({some}without a file)" if learned else "")]
    if lapsed:
        parts.append(f"{lapsed} not in {last.pop() if len(last) == 1 else 'the last run'}")
    return f"{'; '.join(parts)}." if counts else ""


def _outline(answer: Coverage, item: CoveredItem) -> Row:
    record: dict[str, Any] = {**answer.keys, **cells.values_of(item, "kind item calls served failed last declared")}
    return Row(cells.where({**answer.keys, item.kind: item.item}), record)


def _row(answer: Coverage, item: CoveredItem, outline: Row) -> Row:
    names = {**answer.keys, FIELD_OF_KIND[item.kind]: item.item}
    # The run that touched it last was made from a commit of its own.
    names_of_last = {name: value for name, value in names.items() if name != "commit"} | {"run": item.last}
    missed = item.last != answer.last
    last = "" if not missed else item.last or NEVER
    return outline._replace(
        display={"last": last},
        severity={} if item.calls else {"": "warn"},
        # Nothing is below what was never touched.
        where=f"{cells.where(names)} errored=false" if item.last is not None else "",
        leads="" if item.calls or item.last is None else f"{cells.where(names_of_last)} errored=false",
    )


SPEC = ViewSpec(
    name="coverage",
    title="Coverage",
    help=(
        "What a flow's file declares and calls touched or never did: states, edges, slots, guards, terminals, tools.",
        "Without a file: what earlier runs touched. Not since: the last run that did, where the last one here did not.",
        "Drill into an item with conversations --where 'flow=F edge=\"A > B\"', or visited=, slot=, guard=, tool=.",
    ),
    order=48,
    show=show,
    keys=("flow", "kind", "item"),
    columns=_COLUMNS,
    filters=Filters(call_fields=("flow",)),
    first=("calls", "served", "failed"),
    last=("last",),
    splits=True,
    words=Words(
        nouns=("item", "items"),
        empty="No flow here has a file, and no call touched anything.",
        unopened="no call has touched this",
    ),
    screen=Screen(
        key="%",
        help="What calls touched of this flow, and what none ever did; press again for more.",
        below="conversations",
        walk=("flow", "agent"),
        of_row=("flow",),
    ),
)
