"""Show what each judge scored, how much, and how it goes with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riff_tui.table import Column, Row, Table
from riff_tui.views.agreement import NO_JUDGE_HERE, NO_JUDGES
from riff_tui.views.alignment import RATES, intervals_of, left_out, marks_of, record_of, shortfalls
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.answers.lists import JudgeSummary
    from riff_tui.view_query import ViewQuery

LOOKING_UP = "looking up the versions of prompts"
UNITS = (
    "Units: mean 0-10, higher is better · agreement is the rank correlation on calls that both scored, -1 to 1."
    " Versions of a judge's prompt are never merged."
)
OWN_CALLS = (
    "A mean is of the judge's own calls, which others may not have scored: dump agreement compares two on theirs."
)
OF_PEOPLE = (
    "human: is a person, whose pass is 10 and fail 0: ten times the share of calls passed. tpr is how much of what"
    " people fail the judge fails too, tnr how much of what they pass it passes: dump alignment has both by code."
)
_COLUMNS = (
    Column("judge", "Judge", kind="name", help="Who scored."),
    Column("model", "Model", kind="text", help="The model behind the judge."),
    Column("prompt_hash", "Prompt", kind="text", help="The hash of its prompt: another prompt is another judge."),
    Column("prompt_version", "Version", kind="text", help="What its prompt calls its own version."),
    columns.N,
    Column("mean", "mean", unit="0-10", better="higher", help="Mean of its scores."),
    *(replace(column, strong=False, thin=False) for column in RATES),
    Column("unscored", "unscored", kind="count", better="lower", help="Calls that it could not score."),
)


def show(query: ViewQuery) -> Table:
    """Return the judges; tell calls that nobody judged from a store without any call."""
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.judges import judges as asked

    def table(whole: bool) -> Table:
        return query.result(query.parts(), lambda parts: judges(asked(query.store, parts.calls, whole=whole)))

    found = query.in_two_parts(table, LOOKING_UP, ("prompt_version",))
    if found.counts.total or query.predicate is not None or not count_conversations(query.store):
        return found
    return replace(found, notes=[NO_JUDGES])


def judges(answers: Sequence[JudgeSummary]) -> Table:
    """Return one row per judge and version of its prompt, with a column of agreement per other judge."""
    others = sorted({name for judge in answers for name in judge.agreement})
    return Table(
        view="judges",
        title="Judges and how they agree",
        columns=[*_shown(answers), *(_agreement(name) for name in others)],
        rows=[_row(judge, others) for judge in answers],
        notes=[*_beside_people(answers), UNITS, *([OWN_CALLS] if _differ_in_calls(answers) else [])],
    )


def _beside_people(answers: Sequence[JudgeSummary]) -> list[str]:
    """Say what people are among judges, and which judge surely misses what they see."""
    if not _of_people(answers):
        return []
    rated = [(judge.judge, judge.rates) for judge in answers if judge.rates is not None]
    return [*shortfalls(rated), OF_PEOPLE, *left_out(answers[0].disputed)]


def _of_people(answers: Sequence[JudgeSummary]) -> bool:
    return any(judge.rates is None for judge in answers)


def _differ_in_calls(answers: Sequence[JudgeSummary]) -> bool:
    """Say whether a judge scored calls that another one of the same aspect did not."""
    names = {judge.judge: judge.aspect for judge in answers}
    return any(n < judge.n for judge in answers for name, n in judge.shared.items() if names.get(name) == judge.aspect)


def _shown(answers: Sequence[JudgeSummary]) -> list[Column]:
    """Return the columns; that of versions is shown once a prompt says one, rates once people gave verdicts."""
    shown = dict.fromkeys((column.key for column in RATES), _of_people(answers))
    shown["prompt_version"] = any(judge.prompt_version for judge in answers)
    return [replace(column, shown=shown.get(column.key, column.shown)) for column in _COLUMNS]


def _agreement(name: str) -> Column:
    return Column(
        f"agreement.{name}", f"agree:{name}", unit="correlation", better="higher", decimals=2, trim=True,
        path=("agreement", name), help=f"How its ranking of calls goes with {name}'s.",
    )  # fmt: skip


def _row(judge: JudgeSummary, others: Sequence[str]) -> Row:
    interval = judge.mean.interval()
    record: dict[str, Any] = {
        "judge": judge.judge,
        "model": judge.model,
        "prompt_hash": judge.prompt_hash,
        "prompt_version": judge.prompt_version,
        "aspect": judge.aspect,
        "n": judge.n,
        "mean": judge.mean.mean,
        "unscored": judge.unscored,
        **record_of(judge.rates),
        "agreement": {name: judge.agreement.get(name) for name in others},
        "shared": {name: judge.shared.get(name) for name in others},
        "intervals": {**({"mean": list(interval)} if interval else {}), **intervals_of(judge.rates)},
    }
    names = {"judge": judge.judge, "prompt_hash": judge.prompt_hash}
    where = cells.where({"judge": judge.shown or judge.judge})
    return Row(cells.where(names), record, severity=marks_of(judge.rates), thin=cells.is_thin(judge.n), where=where)


SPEC = ViewSpec(
    name="judges",
    title="Judges",
    help=(
        "Who scored how many calls, and the mean of it.",
        "Versions of a judge's prompt are rows of their own and are never merged.",
        "Agreement is the rank correlation on shared calls; drill into a judge with agreement --where 'judge=J'.",
    ),
    order=100,
    show=show,
    columns=_COLUMNS,
    filters=Filters(fields=("aspect", "agreement")),
    order_by="judge",
    comparable=True,
    words=Words(nouns=("judge", "judges"), empty=NO_JUDGE_HERE),
    screen=Screen(
        key="8", help="Who scored these calls and how judges agree; press again to widen.", below="agreement"
    ),
)
