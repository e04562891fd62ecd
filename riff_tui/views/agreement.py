"""Show how far judges agree, pair by pair, and whether a call that works sounds human to them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.alignment import FEWEST, HUMAN, PASSED
from riff_store.filters.predicates import terms
from riff_store.vocabulary import PERSON
from riff_tui.filters import quote
from riff_tui.shapes import INTERVALS, NUMBER, TEXT, by_name, or_null
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import counted, fixed
from riff_tui.view_query import FilterParts, ViewQuery, sort_column
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.agreement import Dispute, Disputes, PairAgreement


CORRECTNESS = "correctness"
UNITS = (
    "Units: exact share of the shared calls with equal scores in whole points · kappa Cohen's, with quadratic weights,"
    " 0 as by chance, 1 in full · spearman rank correlation of the raw scores, -1 to 1 · mean_diff points, first less"
    " second."
)
AGAINST_CORRECTNESS = (
    f"Against correctness, both are pass or fail for exact and kappa: a score of {fixed(HUMAN, 0)} or more,"
    f" a correctness of {fixed(PASSED, 0)}."
)
AGAINST_PEOPLE = "So they are against a person (human:), who passes a call or fails it."
TOO_FEW = f"Below {FEWEST} shared calls nothing is measured. Versions of a judge's prompt are judges of their own."
NO_JUDGES = (
    "No judge scored a call that counts (errored ones do not): riff-tui judge has one do so,"
    " and ingest takes its humanness-*.jsonl."
)
NO_JUDGE_HERE = "No judge scored a call here: riff-tui judge has one do so."
_COLUMNS = (
    Column("first", "First", kind="name", help="A judge, in one version of its prompt."),
    Column("second", "Second", kind="name", help="The judge that it is compared with, or correctness."),
    Column("aspect", "Aspect", kind="name", shown=False, help="What both judge."),
    Column("n", "n", kind="count", thin=True, help="Calls that both scored; below 5 the row is thin and carries `~`."),
    columns.share(
        "exact", "exact", better="higher",
        help="Share of the calls with equal scores in whole points; against correctness, with the same verdict.",
    ),
    Column(
        "kappa", "kappa", unit="kappa", better="higher", decimals=2, trim=True, strong=True,
        help="Cohen's kappa with quadratic weights: agreement beyond what both would reach by chance.",
    ),
    Column(
        "kappa_unweighted", "kappa (unweighted)", unit="kappa", better="higher", decimals=2, trim=True, shown=False,
        help="Cohen's kappa in which a point apart counts as much as ten.",
    ),
    Column(
        "spearman", "spearman", unit="correlation", better="higher", decimals=2, trim=True,
        help="Whether both rank the calls alike, whatever their scales.",
    ),
    Column(
        "mean_difference", "mean_diff", unit="points", decimals=2, trim=True,
        help="Mean of the first's score less the second's: below 0 the first is the stricter.",
    ),
    Column("scale", "Scale", kind="text", shown=False, help="What was compared: whole points, or pass and fail."),
)  # fmt: skip


def show(query: ViewQuery) -> Table:
    """Return the pairs of judges; if there are no judges at all, what gives some."""
    from riff_store.queries.agreement import agreement as asked

    table = query.result(query.parts(), lambda parts: agreement(asked(query.store, parts.calls, parts.judges)))
    return table if table.counts.total or query.predicate is not None else table._replace(notes=[NO_JUDGES])


def agreement(answers: Sequence[PairAgreement]) -> Table:
    """Return one row per pair, in the order of the answers."""
    against = [AGAINST_CORRECTNESS] if any(pair.second is None for pair in answers) else []
    against += [AGAINST_PEOPLE] if any(pair.with_person for pair in answers) else []
    return Table(
        view="agreement",
        title="Agreement of judges (least agreed first)",
        columns=_COLUMNS,
        rows=[_row(pair) for pair in answers],
        notes=[UNITS, *against, TOO_FEW] if answers else [],
    )


def _row(pair: PairAgreement) -> Row:
    names = {"first": pair.first, "second": CORRECTNESS if pair.second is None else pair.second}
    record: dict[str, Any] = {
        **names,
        "aspect": pair.aspect,
        "n": pair.n,
        "exact": pair.exact.mean,
        **cells.values_of(pair, "kappa kappa_unweighted spearman"),
        "mean_difference": pair.difference.mean,
        "scale": "pass/fail" if pair.as_verdicts else "points",
        "intervals": cells.intervals({"exact": pair.exact, "mean_difference": pair.difference}),
    }
    return Row(cells.where(names), record, severity=_marks(pair), thin=cells.is_thin(pair.n), where=_way_down(pair))


def _way_down(pair: PairAgreement) -> str:
    """Lead to the calls that the two score apart; against correctness to those of which they say different things."""
    named = [quote(name) for name in pair.shown]
    if _agree(pair.exact.mean):
        return " | ".join(f"judge={name}" for name in dict.fromkeys(named))
    if pair.second is not None:
        return " | ".join(f"judge={name}" for name in dict.fromkeys(named))
    if pair.aspect == "verdict":
        apart = f"verdict=pass correctness<{fixed(PASSED, 0)} | verdict=fail correctness={fixed(PASSED, 0)}"
        return f"errored=false judge={named[0]} ({apart})"
    if pair.aspect != "humanness":
        return f"judge={named[0]}"
    score, human, passed = f"humanness.{named[0]}", fixed(HUMAN, 0), fixed(PASSED, 0)
    apart = f"{score}>={human} correctness<{passed} | {score}<{human} correctness={passed}"
    return f"errored=false ({apart})"


def _agree(exact: float | None) -> bool:
    """Return whether two judges say the same of every call, as far as that is known."""
    return exact is None or exact == 1


def _marks(pair: PairAgreement) -> dict[str, Severity]:
    if pair.kappa is None or pair.kappa >= cells.FAIR:
        return {}
    mark: Severity = "bad" if pair.kappa < cells.SLIGHT else "warn"
    # That a call works does not make it sound human, so there is nothing wrong where these two differ.
    return {"kappa": mark, "": mark} if pair.second is not None else {}


SPEC = ViewSpec(
    name="agreement",
    title="Agreement of judges",
    help=(
        "Each pair of judges, and each judge against correctness, on the calls that both scored.",
        "Kappa is agreement beyond chance; spearman asks for the order of the calls alone, whatever the scales.",
        "Drill into a pair with disputes --where 'judge=A | judge=B'.",
    ),
    order=110,
    show=show,
    judges="rows",
    rows={"intervals": INTERVALS},
    columns=_COLUMNS,
    comparable=True,
    words=Words(nouns=("pair", "pairs"), empty=NO_JUDGE_HERE, empty_store=""),
    screen=Screen(
        key="B",
        help="Each pair of judges and how far they agree; press again for more.",
        below=lambda row: (
            "conversations" if row.record["second"] == CORRECTNESS or _agree(row.record["exact"]) else "disputes"
        ),
    ),
)

UNITS_OF_DISPUTES = "Units: scores 0-10, higher is better · spread points between the highest and the lowest of them."
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
    columns.CONVERSATION,
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


def show_disputes(query: ViewQuery) -> Table:
    """Return the first disputes only, unless `--limit` is set: those that are left out are counted."""
    from riff_store.filters.disputes import Order
    from riff_store.queries.agreement import Disputes, FoundDisputes

    calls, rows, judges = query.parts()
    limit = LISTED if query.request.limit is None else query.request.limit
    wordy = any(term.field is None for term in terms(rows))
    found = FoundDisputes(query.store, calls, judges, rows)
    # A bare word is looked for in the columns of judges; their order differs from that of what is found.
    heard = found.judges(every=wordy) if wordy or query.request.sort not in (None, query.spec.order_by) else set()
    order, sort = None, query.request.sort
    if sort is not None and sort != query.spec.order_by:
        order = Order(sort_column(disputes(Disputes([], 0, 0, heard)).columns, sort).key, sort.startswith("-"))
    answer = Disputes(found.listed(limit, order), found.total, found.agreed, heard)
    total = found.total if query.predicate is None else FoundDisputes(query.store).total
    table = query.result(FilterParts(rows=rows if wordy else None), lambda _: disputes(answer), recounts=False)
    why = NO_DISPUTES if query.predicate is None else NONE_HERE
    notes = list(table.notes) if table.rows else [why, *table.notes[2:]]
    return table._replace(notes=notes, total=total, matched=found.total, limit=limit)


def disputes(answer: Disputes) -> Table:
    """Return one row per call and aspect, in the order of the answer."""
    judges = sorted({judge for each in answer.entries for judge in each.scores}.union(answer.judges))
    score = partial(Column, unit="0-10", better="higher")
    scores = [score(f"scores.{each}", each, path=("scores", each), help=f"The score of {each}.") for each in judges]
    with_people = any(judge.startswith(PERSON) for judge in judges)
    agreed = "on which people and judges agree" if with_people else "to which all judges gave the same score"
    return Table(
        view="disputes",
        title="Calls on which judges differ (widest spread first)",
        columns=[*_WHO, _SPREAD, *scores, *_FURTHER],
        rows=[_dispute_row(each, judges) for each in answer.entries],
        notes=[
            UNITS_OF_DISPUTES,
            *([OF_PEOPLE] if with_people else []),
            LEADS,
            *([f"Not listed: {counted(answer.agreed, 'call')} {agreed}."] if answer.agreed else []),
        ],
    )


def _dispute_row(dispute: Dispute, judges: Sequence[str]) -> Row:
    record: dict[str, Any] = {
        **cells.values_of(dispute, "run conversation flow agent aspect"),
        "scores": {judge: dispute.scores.get(judge) for judge in judges},
        **cells.values_of(dispute, "spread highest lowest correctness"),
    }
    where = cells.call_where(dispute)
    return Row(f"{where} {cells.where({'aspect': dispute.aspect})}", record, where=where)


DISPUTES = ViewSpec(
    name="disputes",
    title="Disputes of judges",
    help=(
        "The calls on which judges differ most, the widest spread first, with the score of each.",
        "judge: in the filter chooses the judges; without --limit the 50 widest are listed.",
        "Drill into a call with conversation --where 'run=R conversation=C' --text: every judge gives its reasons.",
    ),
    order=120,
    show=show_disputes,
    limit=LISTED,
    judges="rows",
    rows={"scores": by_name(or_null(NUMBER)), **dict.fromkeys(("run", "conversation", "flow", "agent"), TEXT)},
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
        key="D",
        help="The calls on which judges differ most; press again for more.",
        depth=2,
        below="conversation",
    ),
)
SPECS = (SPEC, DISPUTES)
