"""Show failed calls in groups that went wrong in the same way, with what stands out in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_store.vocabulary import CLASSES_OF_FAILURE, DIVIDED_BY_DETAIL, MARKED
from riff_tui.shapes import COUNT, COUNTS, NUMBER, TEXT, list_of, record
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import percent
from riff_tui.view_query import EVERYTHING, FilterParts, ViewQuery
from riff_tui.views.failure_matrix import EXAMPLE, FIRST_FAILED, counts_text, in_two_parts, shown
from riff_tui.views.parts import cells, columns
from riff_tui.views.parts.cells import FAILURE_DETAIL, kind_text, marked_note
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.causes import Cause, Causes, Lift

TESTING = "testing what stands out"
LARGE, NOTABLE = 0.1, 0.02
"""Shares of all failed calls from which on a group is marked."""
NAMED = 2
"""Names that the phrase on what stands out takes in."""
UNITS = (
    "Units: share of all failed calls · stands out: names that more of the group's calls have than chance would give"
    " them, and their share of all calls of the flow (hypergeometric test, corrected over all groups)."
)
_COLUMNS = (
    Column("rank", "Rank", kind="count", shown=False, help="The place of the group, the largest first."),
    Column("n", "n", kind="count", strong=True, help="Failed calls that went wrong in this way."),
    columns.share("share", "share", help="Their share of all failed calls in scope."),
    columns.FLOW,
    FIRST_FAILED,
    Column(
        "kind",
        "Kind",
        kind="name",
        help="An error, a slot, an action, a dead end, …; in quotes a code of people.",
    ),
    Column("stop_reasons", "Stop", kind="object", help="Why the calls ended, with counts."),
    Column("stands_out", "Stands out", kind="text", help="Names that more of its calls have than chance would give."),
    Column(
        "error",
        "Error",
        kind="text",
        said=True,
        help="What the guard or tool said, without numbers, ids and quoted parts.",
    ),
    FAILURE_DETAIL._replace(key="detail"),
    Column("lift", "lift", kind="object", shown=False, help="What stands out, with both shares and the test's p."),
    Column("last_ok", "Last good", kind="object", shown=False, help="The states before, with counts."),
    Column("kinds", "kinds", kind="object", shown=False, help="What went wrong in how many of its calls."),
    Column("who", "who", kind="object", shown=False, help="Whose fault it was in how many of its calls."),
    Column("agents", "agents", kind="object", shown=False, help="The agents that led its calls, with counts."),
    Column("scenarios", "scenarios", kind="object", shown=False, help="The scenarios of its calls, with counts."),
    Column("personas", "personas", kind="object", shown=False, help="The personas of its calls, with counts."),
    Column("first_run", "First run", kind="text", shown=False, help="The first run in which it was seen."),
    Column("last_run", "Last run", kind="text", shown=False, help="The last run in which it was seen."),
    EXAMPLE,
    Column(
        "signature",
        "Signature",
        kind="text",
        shown=False,
        said=True,
        help="All that the calls of the group share, in words.",
    ),
)


_COUNTS = ("stop_reasons", "last_ok", "kinds", "who", "agents", "scenarios", "personas")


def show(query: ViewQuery) -> Table:
    """Return the groups of failed calls."""
    from riff_store.queries.causes import causes as asked

    def table(whole: bool) -> Table:
        def build(parts: FilterParts) -> Table:
            # Of everything, beside what is asked for, the rows are counted alone.
            return causes(asked(query.store, parts.calls, whole=whole and parts is not EVERYTHING))

        return shown(query, build)

    return in_two_parts(query, table, TESTING, ("stands_out", "lift"))


def causes(answer: Causes) -> Table:
    """Return a row for each group, in the order of the answer."""
    share = answer.failed / answer.calls if answer.groups else None
    return Table(
        view="causes",
        title="Causes (failed calls that went wrong alike, the most first)",
        columns=_COLUMNS,
        rows=[_row(rank, cause) for rank, cause in enumerate(answer.groups, 1)],
        notes=[
            *([f"{answer.failed} of {answer.calls} calls failed ({percent(share)})."] if answer.groups else []),
            *marked_note(sum(cause.n for cause in answer.groups if cause.kind == MARKED), answer.failed),
            UNITS,
        ],
        extras={"failed": answer.failed, "calls": answer.calls},
    )


def _where(cause: Cause) -> str:
    """Return the filter that selects the calls of a group."""
    keys = cells.values_of(cause, "flow first_failed")
    if cause.kind == MARKED or CLASSES_OF_FAILURE[cause.kind] in DIVIDED_BY_DETAIL:
        keys |= {"failure_detail": cause.detail, "failure_error": cause.error}
    alike = [kind for kind, of_kind in CLASSES_OF_FAILURE.items() if of_kind == CLASSES_OF_FAILURE[cause.kind]]
    kinds = " | ".join(cells.where({"failure": kind}) for kind in alike)
    return f"{cells.where(keys)} {f'({kinds})' if len(alike) > 1 else kinds}"


def _row(rank: int, cause: Cause) -> Row:
    where = " | ".join(f"({_where(part)})" for part in cause.parts) or _where(cause)
    record: dict[str, Any] = {
        "rank": rank,
        "signature": signature(cause),
        **cells.values_of(cause, "kind flow first_failed detail error n share"),
        **{key: cells.named_counts(getattr(cause, key)) for key in _COUNTS},
        "first_run": cause.first_run,
        "last_run": cause.last_run,
        "stands_out": "; ".join(phrase(each, cause.n) for each in _distinct(cause.lift)[:NAMED]) or None,
        "lift": [
            cells.values_of(each, "dimension name n share n_all share_all") | {"p_adjusted": each.p}
            for each in cause.lift
        ],
        "example": cells.call_where(cause.example),
    }
    display = {
        "kind": kinds_text(cause),
        "lift": "; ".join(phrase(each, cause.n) for each in cause.lift),
        "example": cause.example.conversation,
        **{key: counts_text(record[key]) for key in _COUNTS},
    }
    return Row(where, record, display, severity=_marks(cause.share), where=where)


def kinds_text(cause: Cause) -> str:
    """Return what went wrong in a group, the most first: `hand-off, dead end` or `tool error book`."""
    if cause.parts:
        return f"{len(cause.parts)} causes of one call each"
    if cause.kind == MARKED and cause.detail:
        return f'"{cause.detail}"'
    if len(cause.kinds) == 1 or cause.detail:
        return kind_text(cause.kind, cause.detail)
    return ", ".join(cause.kinds)


def _marks(share: float) -> dict[str, Severity]:
    """Mark a group by its share of all failed calls."""
    return {"": "bad"} if share >= LARGE else {"": "warn"} if share >= NOTABLE else {}


def signature(cause: Cause) -> str:
    """Return in words what the calls of a group share."""
    said = f"{cause.flow}: {cause.first_failed}, {kinds_text(cause)}"
    return said + (f": {cause.error}" if cause.error else "")


def phrase(lift: Lift, n: int) -> str:
    """Return what stands out, such as `all 41 are sim-thrifty (25% of calls)`."""
    count = f"all {n}" if lift.n == n else f"{lift.n} of {n}"
    return f"{count} are {lift.name} ({percent(lift.share_all)} of calls)"


def _distinct(lifts: Sequence[Lift]) -> list[Lift]:
    """Return lifts without those that count the same calls by another name, as a persona and its only scenario do."""
    return list({(lift.n, lift.n_all): lift for lift in reversed(lifts)}.values())[::-1]


_LIFT = record(
    {
        **dict.fromkeys(("dimension", "name"), TEXT),
        **dict.fromkeys(("n", "n_all"), COUNT),
        **dict.fromkeys(("share", "share_all", "p_adjusted"), NUMBER),
    }
)


SPEC = ViewSpec(
    name="causes",
    title="Causes",
    help=(
        "Failed calls in groups that went wrong in the same way, the largest first, each with its shortest call.",
        "A group shares the flow, the state that is blamed, the kind of failure, the guard, tool or slot, and the"
        " error; of calls that people marked, the code. How calls stopped is counted in it.",
        "Stands out names agents, personas, scenarios and commits that are in a group more often than by chance.",
    ),
    order=96,
    show=show,
    keys=("flow", "first_failed", "kind"),
    rows={**dict.fromkeys(_COUNTS, COUNTS), "lift": list_of(_LIFT)},
    top={"failed": COUNT, "calls": COUNT},
    columns=_COLUMNS,
    filters=Filters(call_fields=("flow", "last_ok", "who")),
    words=Words(
        nouns=("cause", "causes"),
        empty="No call failed here: errored calls are not failures of the flow.",
        empty_store="",
    ),
    screen=Screen(
        key="C",
        help="The causes of the failed calls of this place, the largest group first; again for more.",
        below="conversations",
    ),
)
