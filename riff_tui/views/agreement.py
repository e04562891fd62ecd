"""Show how far judges agree, pair by pair, and whether a call that works sounds human to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riff_store.agreement import FEWEST, HUMAN, PASSED
from riff_tui.filters import quote
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import fixed
from riff_tui.views.parts import cells
from riff_tui.views.spec import Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.agreement import PairAgreement
    from riff_tui.view_query import ViewQuery

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
    Column(
        "exact", "exact", unit="share", better="higher", decimals=2, trim=True,
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
    """Return the pairs of judges; where there are no judges at all, what gives some."""
    from riff_store.queries.agreement import agreement as asked

    table = query.result(query.parts(), lambda parts: agreement(asked(query.store, parts.calls, parts.judges)))
    return table if table.counts.total or query.predicate is not None else replace(table, notes=[NO_JUDGES])


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
    second = CORRECTNESS if pair.second is None else pair.second
    record: dict[str, Any] = {
        "first": pair.first,
        "second": second,
        "aspect": pair.aspect,
        "n": pair.n,
        "exact": pair.exact.mean,
        "kappa": pair.kappa,
        "kappa_unweighted": pair.kappa_unweighted,
        "spearman": pair.spearman,
        "mean_difference": pair.difference.mean,
        "scale": "pass/fail" if pair.as_verdicts else "points",
        "intervals": cells.intervals({"exact": pair.exact, "mean_difference": pair.difference}),
    }
    names = {"first": pair.first, "second": second}
    return Row(cells.where(names), record, severity=_marks(pair), thin=cells.is_thin(pair.n), where=_way_down(pair))


def _way_down(pair: PairAgreement) -> str:
    """Lead to the calls that the two score apart; against correctness to those of which they say different things."""
    named = [quote(name) for name in pair.shown]
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


def _marks(pair: PairAgreement) -> dict[str, Severity]:
    if pair.kappa is None or pair.kappa >= cells.FAIR:
        return {}
    mark: Severity = "bad" if pair.kappa < cells.SLIGHT else "warn"
    # That a call works does not make it sound human, so there is nothing wrong where these two differ.
    return {"kappa": mark, "": mark} if pair.second is not None else {}


def _below(row: Row) -> str:
    return "conversations" if row.record.get("second") == CORRECTNESS else "disputes"


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
    columns=_COLUMNS,
    comparable=True,
    words=Words(nouns=("pair", "pairs"), empty=NO_JUDGE_HERE, empty_store=""),
    screen=Screen(key="B", help="Each pair of judges and how far they agree; press again to widen.", below=_below),
)
