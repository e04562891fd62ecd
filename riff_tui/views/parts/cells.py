"""Make what rows share: ids, filters, intervals, marks, and cells on callers, steps and judges."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol

from riff_store.measure import GUARD_ERRORS, HEALTHY_PROGRESS, HIGH, LONG_DWELL, OFTEN_SLOW, SLOW, THIN, TYPING
from riff_store.metrics import OF_STATES, metric_of
from riff_store.scoring import FULL
from riff_store.vocabulary import COMPUTED, MARKED
from riff_tui.filters import quote
from riff_tui.shapes import COUNT, NUMBER, TEXT, Shape, list_of, or_null, record
from riff_tui.table import BOUNDS, NOT_MEASURED, Bounds, Column, OwnCount, Row, Severity, Table
from riff_tui.text.numbers import ends_text, listed, percent, utc
from riff_tui.views.parts import columns
from riff_tui.views.spec import ViewSpec

if TYPE_CHECKING:
    from riff_store.measure import Measure, PooledMeasure
    from riff_store.queries.flows import FlowCell
    from riff_store.queries.steps import StepCounts
    from riff_store.queries.worklist import FirstToFix, Totals


MANY_ERRORED, MOST_ERRORED = 0.1, 0.25
"""The shares of errored calls from which a row is marked."""
Keys = Mapping[str, str | None]


class NamedCall(Protocol):
    """Describe what is needed to name a call."""

    @property
    def run(self) -> str: ...
    @property
    def conversation(self) -> str: ...
    @property
    def told_by(self) -> Mapping[str, str]: ...


NEARLY_ALL = 0.8
"""The share of a row's calls from which on a mean of its own is as good as one of all."""
BAD_SCORE, WEAK_SCORE = 4, 7
LATE = 5
MOSTLY_SLOW = 0.5
WATCHED = 0.15
HARDLY = 0.3
SLIGHT, FAIR = 0.2, 0.4
ALIGNED, UNALIGNED = 0.9, 0.5


def where(keys: Keys) -> str:
    """Return the filter expression that selects exactly these names."""
    return " ".join(f"{field}={'·' if name is None else quote(name)}" for field, name in keys.items())


def call_where(call: NamedCall) -> str:
    """Return the filter expression that selects exactly this call, as short as its store allows."""
    return where({"run": call.run, "conversation": call.conversation, **call.told_by})


def intervals(measures: Mapping[str, Measure | PooledMeasure], aspect: str = "") -> dict[str, list[float]]:
    """Return the 95 % interval of each measure that has one, cut to the scale of its key, or of an aspect for all."""
    ends = ((key, measure.interval()) for key, measure in measures.items())
    return {key: _on_scale(interval, aspect or key) for key, interval in ends if interval is not None}


def _on_scale(interval: tuple[float, float], key: str) -> list[float]:
    name = key.partition(".")[0]
    metric = metric_of(name) or OF_STATES.get(name)
    if metric is None:
        return list(interval)
    low, high = metric.bounds
    return [max(low, interval[0]), min(high, interval[1])]


def interval_texts(shown: Iterable[Column], record: Mapping[str, Any]) -> dict[str, str]:
    """Return the intervals of a record as cells, of those columns that show one."""
    ends = ((column, column.value(record)) for column in shown if column.path[:1] == ("intervals",))
    return {column.key: ends_text(column, found) for column, found in ends if found}


def moment(microseconds: int | None) -> str | None:
    """Return a time as the data formats print it: RFC 3339 in UTC."""
    return None if microseconds is None else utc(microseconds)


def is_thin(n: int) -> bool:
    """Return whether too few calls are behind a cell to trust it."""
    return n < THIN


def falling(value: float | None) -> tuple[bool, float]:
    """Return a sort key that puts large values first and the not measured last."""
    return value is None, -(value or 0.0)


def worst_of(severities: Iterable[Severity]) -> Severity | None:
    """Return the gravest of some marks."""
    found = set(severities)
    return "bad" if "bad" in found else "warn" if "warn" in found else None


def score_marks(record: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Severity]:
    """Mark scores of 0 to 10: bad up to 4, a warning below 7."""
    marks: dict[str, Severity] = {}
    for key in keys:
        value = record.get(key)
        if value is not None and value < WEAK_SCORE:
            marks[key] = "bad" if value <= BAD_SCORE else "warn"
    return marks


def success_marks(cell: FlowCell, bounds: Bounds = BOUNDS) -> dict[str, Severity]:
    """Mark what a row is for its own failures: its success rate and correctness, as far as intervals agree.

    The key `""` is the row's own, and is `ok` if neither is marked.
    """
    measures = {"success_rate": cell.success}
    if "correctness" in cell.aspects:
        measures["correctness"] = cell.aspects["correctness"]
    marks = measured_marks(measures, bounds)
    return {**marks, "": worst_of(marks.values()) or "ok"}


def measured_marks(measures: Mapping[str, Measure], bounds: Bounds = BOUNDS) -> dict[str, Severity]:
    """Mark shares, and means of 0 to 10, whose whole 95 % interval is below a bound."""
    marks: dict[str, Severity] = {}
    for key, measure in measures.items():
        interval = measure.interval()
        end = None if interval is None else interval[1] * (FULL / measure.scale if measure.rate else 1.0)
        if end is not None and end < bounds.warn:
            marks[key] = "bad" if end < bounds.bad else "warn"
    return marks


def latency_mark(seconds: float | None) -> Severity | None:
    """Mark a turn latency at which callers start to talk over the agent, or hang up."""
    if seconds is None or seconds <= LATE:
        return None
    return "bad" if seconds > SLOW else "warn"


def stall_mark(stall: float | None) -> Severity | None:
    """Mark a share of calls that ended where they should not."""
    if stall is None or stall < WATCHED:
        return None
    return "bad" if stall >= HIGH else "warn"


def state_marks(record: Mapping[str, Any], *, typed: bool = False) -> dict[str, Severity]:
    """Mark a state's or segment's metrics, latency unless turns were `typed`; the key `""` is the row's own."""
    marks = {key: lost for key in ("stall", "escalation") if (lost := stall_mark(record[key]))}
    stuck = record["progress"] is not None and record["progress"] < HEALTHY_PROGRESS
    # If no call was lost, those that went nowhere from here had come to their end.
    if stuck and (record["stall"] or record["escalation"]):
        marks["progress"] = "bad" if record["progress"] < HARDLY else "warn"
    if record["dwell_turns"] is not None and record["dwell_turns"] > LONG_DWELL:
        marks["dwell_turns"] = "bad" if stuck else "warn"
    latency = None if typed else latency_mark(record["latency_p95"])
    if latency:
        marks["latency_p95"] = latency
    if record["slow"] is not None and record["slow"] >= OFTEN_SLOW:
        marks["slow"] = "bad" if record["slow"] >= MOSTLY_SLOW else "warn"
    if record["guard_error"]:
        marks["guard_error"] = "bad" if record["guard_error"] >= GUARD_ERRORS else "warn"
    if stuck and record["slot_fill_rate"] is not None and record["slot_fill_rate"] < HEALTHY_PROGRESS:
        marks["slot_fill_rate"] = "bad" if record["slot_fill_rate"] < HARDLY else "warn"
    marks |= step_marks(record)
    row = worst_of(mark for key, mark in marks.items() if key != "progress")
    if row:
        marks[""] = row
    return marks


def step_marks(record: Mapping[str, Any]) -> dict[str, Severity]:
    """Mark a step that failed calls missed or took wrongly; what only calls that passed did is a hint, no failure."""
    shares = {"missed": record.get("missed_failed"), "wrong_args": record.get("wrong_failed")}
    return {key: "bad" if share >= HIGH else "warn" for key, share in shares.items() if share}


class OfSuccess(Protocol):
    """Describe what counts calls, of some of which it is known whether they succeeded."""

    @property
    def n(self) -> int: ...
    @property
    def success(self) -> Measure: ...


class Counted(OfSuccess, Protocol):
    """Describe what counts calls: `n` in its means, `excluded` in none, `caller_failed` of these for their caller."""

    @property
    def excluded(self) -> int: ...
    @property
    def caller_failed(self) -> int: ...
    @property
    def overall(self) -> Measure | None: ...


def shown_where_failed(found: Sequence[Column], answers: Iterable[Counted]) -> list[Column]:
    """Return the columns, those of failed callers shown if the caller of any call failed."""
    if not any(each.caller_failed for each in answers):
        return list(found)
    told = (columns.CALLER_FAILED.key, columns.OVERALL.key)
    return [column._replace(shown=True) if column.key in told else column for column in found]


def errored_marks(answers: Iterable[Counted]) -> list[dict[str, Severity]]:
    """Mark of each answer that too many of its calls errored to trust what is left."""
    shares = [each.excluded / (each.n + each.excluded) if each.excluded else 0.0 for each in answers]
    return [
        {"excluded": "bad" if share >= MOST_ERRORED else "warn"} if share >= MANY_ERRORED else {} for share in shares
    ]


def with_errored(marks: Mapping[str, Severity], errored: Mapping[str, Severity]) -> dict[str, Severity]:
    """Return the marks of a row with those of its errored calls, of which the gravest is its own."""
    gravest = worst_of((*errored.values(), marks.get("", "ok")))
    return {**marks, **errored, **({"": gravest} if errored and gravest else {})}


def counts_of(n: int, measures: Mapping[str, Measure | PooledMeasure]) -> dict[str, OwnCount]:
    """Return of how many calls each measure is that is of clearly fewer than the `n` of its row, and of some."""
    return {
        key: OwnCount(each.n, is_thin(each.n))
        for key, each in measures.items()
        if 0 < each.n < n and (is_thin(each.n) or each.n < NEARLY_ALL * n)
    }


def measured_note(answers: Sequence[OfSuccess]) -> Iterator[str]:
    """Yield of how many calls it is known how they went, where it is of some and not of all."""
    known, calls = sum(each.success.n for each in answers), sum(each.n for each in answers)
    if 0 < known < calls:
        yield f"Measured: success is known of {known:,} of {calls_text(calls)}."


class Typed(Protocol):
    """Describe a cell whose turns may have been typed."""

    @property
    def keys(self) -> Keys: ...
    @property
    def typed(self) -> bool: ...


def typed_note(answers: Iterable[Typed], within: Collection[str] = ()) -> Iterator[str]:
    """Yield which flows are typed, where latency is not a flaw: of some if these are named."""
    found = dict.fromkeys(each.keys.get("flow") or "" for each in answers if each.typed)
    flows = [flow for flow in found if not within or flow in within]
    if flows:
        named = f" in {listed(flows)}" if any(flows) else ""
        yield (
            f"Typed: the median turn{named} takes more than {TYPING:g} s, as typing does; slow is not measured there,"
            " and latency not marked."
        )


def caller_values(answer: Counted) -> dict[str, Any]:
    """Return the values of those columns."""
    overall = answer.success if answer.overall is None else answer.overall
    return {columns.CALLER_FAILED.key: answer.caller_failed, columns.OVERALL.key: overall.mean}


def caller_intervals(answer: Counted) -> dict[str, Measure]:
    """Return the measure that has an interval of its own, nothing if no caller failed."""
    return {} if answer.overall is None else {columns.OVERALL.key: answer.overall}


def caller_note(answers: Sequence[Counted]) -> Iterator[str]:
    """Yield how many calls are in no mean because of their caller, and what success would be with them."""
    failed = sum(each.caller_failed for each in answers)
    if not failed:
        return
    calls = sum(each.n + each.excluded for each in answers)
    adjusted = reduce(add, (each.success for each in answers))
    overall = reduce(add, (each.success if each.overall is None else each.overall for each in answers))
    are, whose = ("call", "is in no mean because its") if failed == 1 else ("calls", "are in no mean because their")
    yield (
        f"Callers: {failed:,} {are} of {calls:,} {whose} caller failed: success {percent(adjusted.mean)} without"
        f" {'it' if failed == 1 else 'them'} (adjusted), {percent(overall.mean)} with {'it' if failed == 1 else 'them'}"
        " (overall)."
    )


def values_of(answer: object, fields: str) -> dict[str, Any]:
    """Return values of an answer by the names of their fields, which are parted by blanks."""
    return {field: getattr(answer, field) for field in fields.split()}


def named_counts(counts: Mapping[str | None, int]) -> dict[str, int]:
    """Return counts by name, those without a name by the sign for what is not measured."""
    return {NOT_MEASURED if name is None else name: n for name, n in counts.items()}


def record_by_columns(columns: Iterable[Column], answer: Any) -> dict[str, Any]:
    """Return the record of an answer: the value of each column by its key."""
    return {column.key: column.get(answer) if column.get else getattr(answer, column.key) for column in columns}


def plain_row(columns: Sequence[Column], answer: Any, keys: Iterable[str]) -> Row:
    """Return the row of an answer, which `keys` name and lead below; thin where too few are behind it."""
    record = record_by_columns(columns, answer)
    place = where({key: record[key] for key in keys})
    counts = [record[column.key] for column in columns if column.thin]
    return Row(place, record, thin=any(is_thin(count) for count in counts), where=place)


def plain_table(spec: ViewSpec, answers: Iterable[Any], notes: Sequence[str] = ()) -> Table:
    """Return the table of a view that has columns and nothing else, in the order of the answers."""
    rows = [plain_row(spec.columns, answer, spec.keys) for answer in answers]
    return Table(view=spec.name, title=spec.title, columns=spec.columns, rows=rows, notes=notes)


FAILURE_DETAIL = Column(
    "failure_detail",
    "Detail",
    kind="name",
    shown=False,
    help="The guard, tool or slot that failed there, what was to be said, or the code that a person gave.",
)


def kind_text(kind: str, detail: str | None) -> str:
    """Return what went wrong, such as `tool error find`, `dead end (hangup)`, and with a code `marked: wrong day`."""
    if not detail:
        return kind
    return f"{kind} ({detail})" if kind in _ENDS else f"{kind}{':' if kind == MARKED else ''} {detail}"


_ENDS = ("dead end", "off contract")
"""The kinds of failure of which the detail is how the call ended."""


def marked_note(n: int, failed: int) -> Iterator[str]:
    """Yield in words how many of the failed calls people marked, nothing if they marked none."""
    if n:
        yield f"Of {failed} failed calls people marked {n}; a mark comes before what events show."


def step_record(counts: StepCounts | None) -> dict[str, Any]:
    """Return what a state's record reports of the step that it is; all of it is `None` if no task asks for it."""
    if counts is None:
        return dict.fromkeys(column.key for column in columns.STEPS)
    return {
        "by": counts.by,
        "expected": counts.expected,
        "missed": counts.missed_share,
        "wrong_args": counts.wrong_share,
        "expected_failed": counts.failed,
        "missed_failed": counts.missed_failed_share,
        "wrong_failed": counts.wrong_failed_share,
    }


def missed_step_filter(names: Mapping[str, str | None], counts: StepCounts | None) -> str:
    """Return the filter of the failed calls that missed a step or took it wrongly, nothing if none did."""
    if counts is None or not (counts.missed_failed or counts.wrong_failed):
        return ""
    field = "missed_step" if counts.missed_failed else "wrong_step"
    return where({field if key == "state" else key: name for key, name in names.items()}) + " failed=1"


def failed_step_text(counts: StepCounts) -> str:
    """Return how failed calls took a step: missed, or with other arguments if none of them missed it."""
    return missed_step_text(counts) if counts.missed_failed else wrong_step_text(counts)


def missed_step_text(counts: StepCounts) -> str:
    """Return in how many of the failed calls that should have taken a step it was missed."""
    return f"never called in {counts.missed_failed:,} of {counts.failed:,} failed calls that should have"


def wrong_step_text(counts: StepCounts) -> str:
    """Return in how many of the failed calls that should have taken a step it got other arguments than the task's."""
    return f"called with wrong arguments in {counts.wrong_failed:,} of {counts.failed:,} failed calls"


def short_step_text(counts: StepCounts) -> str:
    """Return the same as `failed_step_text` in a few words."""
    how, n = ("missed", counts.missed_failed) if counts.missed_failed else ("wrong arguments", counts.wrong_failed)
    return f"{how} in {n:,} of {counts.failed:,} failed calls"


def asked_step_text(counts: StepCounts) -> str:
    """Return in how many calls tasks ask for a step, and how these took it."""
    missed, wrong = (percent(share) for share in (counts.missed_share, counts.wrong_share))
    return (
        f"Tasks ask the {counts.by} for it in {calls_text(counts.expected)}: missed {missed}, wrong arguments {wrong};"
        f" of {calls_text(counts.failed, 'failed ')} {counts.missed_failed:,} missed it."
    )


def calls_text(n: int, which: str = "") -> str:
    """Return a number of calls."""
    return f"{n:,} {which}call{'' if n == 1 else 's'}"


FIRST = "(first)"
"""The id of the row that stands for the sentence to read first."""
_OF_FIRST = "flow state failed n success success_at_most agents failing"


FIRST_TO_FIX: Shape = or_null(
    record(
        {
            **dict.fromkeys(("flow", "state"), TEXT),
            **dict.fromkeys(("failed", "n"), COUNT),
            **dict.fromkeys(("success", "success_at_most"), or_null(NUMBER)),
            **dict.fromkeys(("agents", "failing"), list_of(TEXT)),
            **columns.STEP,
        },
        sometimes=columns.STEP,
    )
)
"""What JSON has of it."""


def what_is_first(first: FirstToFix | None, totals: Totals, scope: str = "") -> dict[str, Any]:
    """Return what a table reports of the state to fix first, and what fixing it could bring; `scope` is the filter."""
    within = f" ({scope})" if scope else ""
    if first is None:
        said = _nothing_first(totals, scope)
        return {"headline": said, "lead": f"{said}{within}.", "extras": {"first": None}, "first_row": None}
    place, record = f"{first.flow}/{first.state}", values_of(first, _OF_FIRST)
    if first.steps is None:
        happened = f"{first.failed:,} of {calls_text(first.n)} {'fails' if first.n == 1 else 'fail'} there"
    else:
        happened = failed_step_text(first.steps)
        record |= step_record(first.steps)
    leads = missed_step_filter({"flow": first.flow, "state": first.state}, first.steps) or where(
        {"flow": first.flow, "first_failed": first.state}
    )
    least, most = (percent(share).replace("%", " %") for share in (first.success, first.success_at_most))
    # A sentence has words where a column has a sign for what a whole percent cannot show.
    least = least.replace("<", "less than ")
    most = "almost 100 %" if most.startswith(">") else f"at most {most}"
    rise = f"if fixed, success could rise from {least} to {most}"
    return {
        "headline": f"Fix first: {place} · {happened}",
        "strong": place,
        "lead": f"Fix first{within}: {place}. {happened[:1].upper()}{happened[1:]}; {rise}.{_by_whom(first)}",
        "extras": {"first": record},
        "first_row": Row(
            FIRST,
            record,
            display={"place": place, "rise": f"{rise}.{_by_whom(first)}"},
            where=where({"flow": first.flow, "state": first.state}),
            leads=leads,
        ),
    }


def _nothing_first(totals: Totals, scope: str) -> str:
    """Return the sentence for when no state stands out."""
    if not totals.calls and not totals.excluded:
        return "No such call" if scope else "No calls yet"
    if not totals.calls:
        return f"No call counts: {totals.excluded:,} {'is' if totals.excluded == 1 else 'are'} excluded"
    if not totals.failed:
        known = f", as far as is known (success is known of {totals.measured:,} of {calls_text(totals.calls)})"
        return f"No call failed{'' if totals.measured == totals.calls else known}"
    flows = f"in {totals.flows:,} flow{'' if totals.flows == 1 else 's'}"
    return f"Nothing stands out: {totals.failed:,} of {calls_text(totals.measured)} {flows} failed"


def _by_whom(first: FirstToFix) -> str:
    """Return which agents fail there, if that is not all of them."""
    if len(first.failing) == len(first.agents):
        return ""
    if len(first.failing) == 1:
        return f" Of {len(first.agents)} agents {first.failing[0]} alone fails there."
    return f" Of {len(first.agents)} agents {len(first.failing)} fail there."


def quality_columns(judge: str, path: Sequence[str], title: str = "", short: str = "") -> list[Column]:
    """Return the column of the mean at a path of the record, and that of the calls behind it."""
    key = ".".join(path)
    mean = Column(
        key, title or judge, unit="0-10", better="higher", path=tuple(path), short=short,
        help="Mean quality of calls without any judge." if judge == COMPUTED else f"Mean of {judge}'s own scores.",
    )  # fmt: skip
    n_path = (f"{path[0]}_n", *path[1:])
    n = Column(
        ".".join(n_path), f"n {mean.title}", kind="count", shown=False, path=n_path,
        help=f"Calls behind the mean of {mean.title}.",
    )  # fmt: skip
    return [mean, n]


def with_interval(found: Sequence[Column]) -> list[Column]:
    """Return the columns of a mean with that of its interval between them."""
    mean, *rest = found
    return [mean, columns.interval(mean), *rest]
