"""Show the calls on which judges differ most, a column for each judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riff_store.agreement import HUMAN, PERSON
from riff_store.filters.predicates import terms
from riff_tui.table import Column, Row, Table
from riff_tui.text.numbers import fixed
from riff_tui.view_query import FilterParts, ViewQuery, sort_column
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.filters.disputes import Order
    from riff_store.queries.disputes import Dispute, Disputes

UNITS = "Units: scores 0-10, higher is better · spread points between the highest and the lowest of them."
OF_PEOPLE = (
    "human: is a person: 10 for pass, 0 for fail, which counts where a judge (from"
    f" {fixed(HUMAN, 0)} on it passes) or another person says otherwise."
)
LEADS = "A row leads to the call, where each judge gives its reasons."
LISTED = 50
NO_DISPUTES = "No two judges scored the same call apart; riff-tui judge has another one score them."
NONE_HERE = "No call that matches the filter was scored apart; it takes two judges, of those that judge: names as well."
_WHO = (
    columns.RUN,
    Column("conversation", "Conversation", kind="name", help="The call's id, of which a run may have several calls."),
    columns.FLOW,
    columns.AGENT,
    Column("aspect", "Aspect", kind="name", shown=False, help="What was judged."),
)
_SPREAD = Column(
    "spread", "spread", unit="points", better="lower", strong=True,
    help="The highest score less the lowest: how far the judges are apart.",
)  # fmt: skip
_FURTHER = (
    columns.CORRECTNESS,
    Column("highest", "Highest", kind="name", help="The judge with the highest score, of several the first by name."),
    Column("lowest", "Lowest", kind="name", help="The judge with the lowest score, of several the first by name."),
)


def show(query: ViewQuery) -> Table:
    """Return the first disputes only, unless it is said how many: those that are left out are counted."""
    from riff_store.queries.disputes import Disputes, FoundDisputes
    from riff_store.queries.disputes import disputes as asked

    calls, rows, judges = query.parts()
    limit = LISTED if query.request.limit is None else query.request.limit
    wordy = any(term.field is None for term in terms(rows))
    found = FoundDisputes(query.store, calls, judges, rows)
    # Columns of judges stand for what a bare word is looked for in, and in another order for all that is found.
    heard = found.judges(every=wordy) if wordy or query.request.sort not in (None, query.spec.order_by) else set()
    order = _order(query, Disputes([], 0, 0, heard))
    answer = Disputes(found.listed(limit, order), found.total, found.agreed, heard)
    total = found.total if query.predicate is None else asked(query.store, limit=0).total
    table = query.result(FilterParts(rows=rows if wordy else None), lambda _: disputes(answer), recounts=False)
    why = NO_DISPUTES if query.predicate is None else NONE_HERE
    notes = list(table.notes) if table.rows else [why, *table.notes[2:]]
    return replace(table, notes=notes, total=total, matched=found.total, limit=limit)


def _order(query: ViewQuery, without_rows: Disputes) -> Order | None:
    """Return the order that is asked for, `None` for the disputes' own."""
    from riff_store.filters.disputes import Order

    sort = query.request.sort
    if sort in (None, query.spec.order_by):
        return None
    return Order(sort_column(disputes(without_rows).columns, sort).key, sort.startswith("-"))


def disputes(answer: Disputes) -> Table:
    """Return one row per call and aspect, in the order of the answer."""
    judges = sorted({judge for each in answer.entries for judge in each.scores}.union(answer.judges))
    return Table(
        view="disputes",
        title="Calls on which judges differ (widest spread first)",
        columns=[*_WHO, _SPREAD, *(_score(judge) for judge in judges), *_FURTHER],
        rows=[_row(each, judges) for each in answer.entries],
        notes=[UNITS, *([OF_PEOPLE] if _heard(judges) else []), LEADS, *_agreed(answer.agreed, _heard(judges))],
    )


def _score(judge: str) -> Column:
    return Column(
        f"scores.{judge}", judge, unit="0-10", better="higher", path=("scores", judge), help=f"The score of {judge}."
    )


def _row(dispute: Dispute, judges: Sequence[str]) -> Row:
    record: dict[str, Any] = {
        "run": dispute.run,
        "conversation": dispute.conversation,
        "flow": dispute.flow,
        "agent": dispute.agent,
        "aspect": dispute.aspect,
        "scores": {judge: dispute.scores.get(judge) for judge in judges},
        "spread": dispute.spread,
        "highest": dispute.highest,
        "lowest": dispute.lowest,
        "correctness": dispute.correctness,
    }
    where = cells.call_where(dispute)
    return Row(f"{where} {cells.where({'aspect': dispute.aspect})}", record, where=where)


def _heard(judges: Sequence[str]) -> bool:
    """Say whether people are among the judges."""
    return any(judge.startswith(PERSON) for judge in judges)


def _agreed(count: int, with_people: bool) -> list[str]:
    if not count:
        return []
    calls = "call" if count == 1 else "calls"
    how = "on which people and judges agree" if with_people else "to which all judges gave the same score"
    return [f"Not listed: {count} {calls} {how}."]


SPEC = ViewSpec(
    name="disputes",
    title="Disputes of judges",
    help=(
        "The calls on which judges differ most, the widest spread first, with the score of each.",
        "judge: in the filter chooses the judges; without --limit the 50 widest are listed.",
        "Drill into a call with conversation --where 'run=R conversation=C' --text: every judge gives its reasons.",
    ),
    order=120,
    show=show,
    limit=LISTED,
    judges="rows",
    columns=(*_WHO, _SPREAD, *_FURTHER),
    filters=Filters(fields=("scores",), call_fields=("run", "conversation", "flow", "agent", "correctness")),
    order_by="-spread",
    last=("flow", "agent", "run", "highest", "lowest"),
    row_kind="call",
    words=Words(
        nouns=("dispute", "disputes"),
        empty="There are no disputes here: these take two judges who scored the same call apart.",
        empty_store="",
    ),
    screen=Screen(
        key="D", help="The calls on which judges differ most; press again to widen.", depth=2, below="conversation"
    ),
)
