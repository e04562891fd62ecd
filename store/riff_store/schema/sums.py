"""Define every sum, once: a line of one of the tuples here shows how it is made of rows.

The tables that keep sums, the SQL that fills and reads them (`Sum.sql`), the reducer over arrays (`columns.sums`) and
what queries return follow from these lines. Values enter as whole billionths, so that a sum does not depend on the
order of rows.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import peewee as pw

from riff_store.interaction import EVENTS, TIMED
from riff_store.measure import UNIT, Measure
from riff_store.metrics import RATES
from riff_store.schema import names

Kind: TypeAlias = Literal["count", "known", "total", "billionths", "squares", "first"]
"""What a row adds: 1, 1 where a value is known, a whole number, a value in billionths, its square; or the earliest."""


class _OfKind(NamedTuple):
    """Describe sums of a kind: what a row adds in SQL, by `{0}` for its value, what it adds else, and their column."""

    added: str
    nothing: str = "0"
    column: Any = pw.IntegerField


_KINDS: Mapping[Kind, _OfKind] = {
    "count": _OfKind("1"),
    "known": _OfKind("CASE WHEN {0} IS NOT NULL THEN 1 ELSE 0 END"),
    "total": _OfKind("COALESCE({0}, 0)"),
    "billionths": _OfKind(f"COALESCE(CAST({{0}} * {float(UNIT)} + 0.5 AS INTEGER), 0)", column=pw.BigIntegerField),
    "squares": _OfKind("COALESCE({0} * {0} * 1.0, 0.0)", "0.0", pw.DoubleField),
    "first": _OfKind("{0}", column=pw.BigIntegerField),
}
CONDITIONS = {
    "counts": "NOT {0}.errored",
    "errored": "{0}.errored",
    "caller failed": "NOT {0}.caller_ok",
    "at the top": "{0}.value >= 10",
    "unscored": "{0}.value IS NULL",
    "called": "{0}.n > 0",
}
"""What a sum may ask of its rows, in SQL, by `{0}` for the row; `columns.sums` has the same for arrays."""


class Sum(NamedTuple):
    """Keep a sum of the column `of` of rows, divided by `per`; only of those for which the condition `where` is true.

    It is called as the field of a tuple that it is at, and so is its column in the tables of sums.
    """

    kind: Kind
    of: str = ""
    where: str = ""
    per: float = 1.0
    name: str = ""

    def sql(self, row: str) -> str:
        """Return what a row adds, in SQL that calls its table `row`."""
        kind = _KINDS[self.kind]
        added = kind.added.format(f"{row}.{self.of}" if self.per == 1.0 else f"({row}.{self.of} / {self.per})")
        if not self.where:
            return added
        return f"CASE WHEN {CONDITIONS[self.where].format(row)} THEN {added} ELSE {kind.nothing} END"

    def total(self, row: str) -> str:
        """Return what rows add up to, in SQL."""
        return f"{'MIN' if self.kind == 'first' else 'SUM'}({self.sql(row)})"

    def column(self) -> Any:
        """Return the column of the tables of sums."""
        return _KINDS[self.kind].column(null=self.kind == "first")


_NOTHING = Measure(0, 0)


class CallSums(NamedTuple):
    """Describe the sums of calls: `n` count, `excluded` are errored.

    `caller_failed` are those of the excluded ones whose caller failed; of `caller_success_n` of these it is known how
    they ended, and `caller_success` were correct and complete all the same. `typed` is above 0 if the median turn took
    as long as only typing does.
    """

    n: Annotated[int, Sum("count", where="counts")]
    excluded: Annotated[int, Sum("count", where="errored")]
    success_n: Annotated[int, Sum("known", "success", "counts")]
    success: Annotated[int, Sum("total", "success", "counts")]
    lost_n: Annotated[int, Sum("known", "lost", "counts")]
    lost: Annotated[int, Sum("total", "lost", "counts")]
    quality_n: Annotated[int, Sum("known", "quality", "counts")]
    quality: Annotated[int, Sum("billionths", "quality", "counts")]
    quality_squares: Annotated[float, Sum("squares", "quality", "counts")]
    computed_quality: Annotated[int, Sum("billionths", "computed_quality", "counts")]
    computed_quality_squares: Annotated[float, Sum("squares", "computed_quality", "counts")]
    caller_failed: Annotated[int, Sum("count", where="caller failed")]
    caller_success_n: Annotated[int, Sum("known", "success", "caller failed")]
    caller_success: Annotated[int, Sum("total", "success", "caller failed")]
    typed: Annotated[int, Sum("total", "typed", "counts")]

    @property
    def failed(self) -> int:
        """Return how many calls are known to be no success."""
        return self.success_n - self.success

    def success_measure(self) -> Measure:
        """Return the share of calls that were correct and complete."""
        return Measure(self.success_n, self.success * UNIT, float(self.success), rate=True)

    def overall_measure(self) -> Measure | None:
        """Return the same share with the calls whose caller failed counted as they ended, `None` without any."""
        if not self.caller_failed:
            return None
        n, good = self.success_n + self.caller_success_n, self.success + self.caller_success
        return Measure(n, good * UNIT, float(good), rate=True)

    @property
    def is_half_known(self) -> bool:
        """Return whether correctness, and so quality, is known of half of the calls at least."""
        return self.quality_n * 2 >= self.n

    def quality_measure(self) -> Measure:
        """Return the mean quality of calls, with what judges say about them; nothing if it would be of a few."""
        return Measure(self.quality_n, self.quality, self.quality_squares) if self.is_half_known else _NOTHING

    def computed_quality_measure(self) -> Measure:
        """Return the mean quality of calls without any judge; nothing if it would be of a few."""
        if not self.is_half_known:
            return _NOTHING
        return Measure(self.quality_n, self.computed_quality, self.computed_quality_squares)


class AspectSums(NamedTuple):
    """Describe the sums of one aspect by one judge; `unscored` counts what was not measured."""

    n: Annotated[int, Sum("known", "value")]
    total: Annotated[int, Sum("billionths", "value")]
    squares: Annotated[float, Sum("squares", "value")]
    top: Annotated[int, Sum("count", where="at the top")]
    unscored: Annotated[int, Sum("count", where="unscored")]

    @property
    def mean(self) -> float | None:
        """Return the mean alone, the same as that of the measure."""
        return self.total / (UNIT * self.n) if self.n else None

    def measure(self, aspect: str = "") -> Measure:
        """Return the mean on the aspect's own scale."""
        if aspect in RATES:
            return Measure(self.n, self.total, self.squares, rate=True, scale=RATES[aspect])
        return Measure(self.n, self.total, self.squares)


class StateSums(NamedTuple):
    """Describe the sums of the rows of states; latency is in seconds."""

    n: Annotated[int, Sum("count")]
    progress: Annotated[int, Sum("total", "progress")]
    stall_n: Annotated[int, Sum("known", "stall")]
    stall: Annotated[int, Sum("total", "stall")]
    lost_n: Annotated[int, Sum("known", "lost")]
    lost: Annotated[int, Sum("total", "lost")]
    escalation: Annotated[int, Sum("total", "escalation")]
    revisit: Annotated[int, Sum("total", "revisit")]
    revisit_squares: Annotated[float, Sum("squares", "revisit")]
    dwell: Annotated[int, Sum("billionths", "dwell_turns")]
    dwell_squares: Annotated[float, Sum("squares", "dwell_turns")]
    latency_n: Annotated[int, Sum("known", "latency_p95_ms")]
    latency: Annotated[int, Sum("billionths", "latency_p95_ms", per=1000.0)]
    latency_squares: Annotated[float, Sum("squares", "latency_p95_ms", per=1000.0)]
    guard_error: Annotated[int, Sum("total", "guard_error")]
    guard_error_squares: Annotated[float, Sum("squares", "guard_error")]
    slot_n: Annotated[int, Sum("known", "slot_fill_rate")]
    slot: Annotated[int, Sum("billionths", "slot_fill_rate")]
    slot_squares: Annotated[float, Sum("squares", "slot_fill_rate")]
    slow_n: Annotated[int, Sum("known", "slow")]
    slow: Annotated[int, Sum("billionths", "slow")]
    slow_squares: Annotated[float, Sum("squares", "slow")]

    position_n: Annotated[int, Sum("known", "position")]
    position: Annotated[int, Sum("total", "position")]

    def measures(self) -> dict[str, Measure]:
        """Return the means of a cell of the state matrix (docs/metrics.md, section 2)."""
        return {
            "progress": Measure(self.n, self.progress * UNIT, float(self.progress), rate=True),
            "stall": Measure(self.stall_n, self.stall * UNIT, float(self.stall), rate=True),
            "escalation": Measure(self.n, self.escalation * UNIT, float(self.escalation), rate=True),
            "revisit": Measure(self.n, self.revisit * UNIT, self.revisit_squares),
            "dwell_turns": Measure(self.n, self.dwell, self.dwell_squares),
            "latency_p95": Measure(self.latency_n, self.latency, self.latency_squares),
            "guard_error": Measure(self.n, self.guard_error * UNIT, self.guard_error_squares),
            "slot_fill_rate": Measure(self.slot_n, self.slot, self.slot_squares),
            "slow": Measure(self.slow_n, self.slow, self.slow_squares),
        }


class OutcomeSums(NamedTuple):
    """Describe how many calls came to an outcome of their flow, and the places among their visits at which they did."""

    n: Annotated[int, Sum("count")]
    position: Annotated[int, Sum("total", "position")]


class BlameSums(NamedTuple):
    """Describe how many failed calls are blamed on a state."""

    failed: Annotated[int, Sum("count")]


class ToolSums(NamedTuple):
    """Describe the sums of the rows of tools: `calls` are those that called it, and latency is in seconds."""

    n: Annotated[int, Sum("total", "n")]
    calls: Annotated[int, Sum("count", where="called")]
    errors: Annotated[int, Sum("total", "errors")]
    unrecovered: Annotated[int, Sum("total", "unrecovered")]
    bad_arguments_n: Annotated[int, Sum("known", "bad_arguments")]
    bad_arguments: Annotated[int, Sum("total", "bad_arguments")]
    latency_n: Annotated[int, Sum("known", "latency_p95_ms")]
    latency: Annotated[int, Sum("billionths", "latency_p95_ms", per=1000.0)]
    latency_squares: Annotated[float, Sum("squares", "latency_p95_ms", per=1000.0)]
    failed: Annotated[int, Sum("total", "failed")]


def _sums_of(fields: type[tuple[Any, ...]]) -> tuple[Sum, ...]:
    """Return the sums that the fields of a tuple are annotated with."""
    hints: Mapping[str, Any] = fields.__annotations__
    return tuple(hint.__metadata__[0]._replace(name=name) for name, hint in hints.items())


@cache
def _table(name: str, keys: tuple[tuple[str, type[Any]], ...], sums: tuple[Sum, ...]) -> Any:
    """Make a table of sums by some keys; these come first, for SQLite 3.40 checks NOT NULL wrongly otherwise."""
    columns = {key: of() if issubclass(of, pw.Field) else pw.ForeignKeyField(of, index=False) for key, of in keys}
    meta = type("Meta", (), {"primary_key": pw.CompositeKey(*columns), "without_rowid": True})
    return type(name, (names.BaseModel,), {**columns, **{each.name: each.column() for each in sums}, "Meta": meta})


_PAIR: Mapping[str, type[Any]] = {"flow": names.Flow, "agent": names.Agent}


class Summed(NamedTuple):
    """Describe what is summed: the rows of a table, which SQL calls `row`, by cells of calls and some more keys.

    `by` are what rows of a cell are distinguished by, each with the table or the kind of column. A sum over nothing is
    `empty`. Rows of errored calls are left out unless `has_errored`, and so are those for which `some` is not true, in
    SQL. The tables are made when they are asked for: a command needs few of them, and each takes as long as a query.
    """

    name: str
    facts: str
    row: str
    sums: tuple[Sum, ...]
    by: Mapping[str, type[Any]] = {}
    has_total: bool = True
    empty: str = "n = 0"
    has_errored: bool = False
    some: str = ""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return what rows of a cell are told apart by."""
        return tuple(self.by)

    @property
    def rows(self) -> Any:
        """Return the table of the rows."""
        from riff_store import schema

        return getattr(schema, self.facts)

    @property
    def rollup(self) -> Any:
        """Return the table of their sums by (flow, agent, run)."""
        return _table(f"{self.name}Rollup", tuple({**_PAIR, "run": names.Run, **self.by}.items()), self.sums)

    @property
    def total(self) -> Any:
        """Return the table of those over all runs, `None` if it has none."""
        return _table(f"{self.name}Total", tuple({**_PAIR, **self.by}.items()), self.sums) if self.has_total else None


_OF_CALLS = _sums_of(CallSums)
_OF_INTERACTION = (
    Sum("count", name="calls"),
    *(Sum("billionths" if name in TIMED else "total", name, name=name) for name in EVENTS),
)
_KEPT_OF_CALLS = (*_OF_CALLS[:2], Sum("first", "started_at", name="first_at"), *_OF_CALLS[2:])
"""The sums of calls with what is added to no other: when the first of all started."""

CALLS = Summed("Call", "Conversation", "c", _KEPT_OF_CALLS, has_total=False, has_errored=True)
INTERACTION = Summed(
    "Interaction",
    "CallInteraction",
    "i",
    _OF_INTERACTION,
    {"errored": pw.BooleanField},
    has_total=False,
    has_errored=True,
)
ASPECTS = Summed(
    "Aspect",
    "AspectScore",
    "a",
    _sums_of(AspectSums),
    {"aspect": names.Aspect, "judge": names.Judge},
    empty="n = 0 AND unscored = 0",
)
_STATE = {"state": names.State, "segment": names.Segment}
STATES = Summed("State", "StateScore", "s", _sums_of(StateSums), _STATE)
TOOLS = Summed(
    "Tool",
    "ToolScore",
    "t",
    _sums_of(ToolSums),
    {"tool": names.Label, "state": pw.IntegerField},
    empty="n = 0 AND failed = 0",
)
_STEP = {"from_state": names.State, "to_state": names.State}
STEPS = Summed("Transition", "Transition", "x", (Sum("total", "n", name="n"),), _STEP)
OUTCOMES = Summed("Outcome", "OutcomeVisit", "o", _sums_of(OutcomeSums), {"state": names.State})
BLAMES = Summed(
    "Blame",
    "CallFailure",
    "f",
    _sums_of(BlameSums),
    {**_STATE, "kind": pw.TextField},
    empty="failed = 0",
    some="f.state_id IS NOT NULL",
)
SUMMED = (CALLS, INTERACTION, ASPECTS, STATES, TOOLS, STEPS, OUTCOMES, BLAMES)
FEWEST_SUMMED = 2
"""Cells of fewer calls have no sums but of how these went; the rows of their calls are read, which are no more."""
