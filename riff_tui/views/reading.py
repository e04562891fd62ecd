"""Show the calls that people are to read, and the codes that they gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.errors import UsageError
from riff_tui.filters.parser import parse
from riff_tui.shapes import COUNT, COUNTS, INTERVALS, TEXT, TIME, list_of, or_null
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import counted, fixed, percent
from riff_tui.view_query import FilterParts, ViewQuery
from riff_tui.views import conversations
from riff_tui.views.failure_matrix import EXAMPLE, counts_text
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import EMPTY_STORE, Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.queries.reading import Code, Codes, ReadingList, SampledCall
    from riff_store.reading_list import KeptList, Sample
    from riff_store.sampling import Draw, Drawn


SATURATED = 20
"""Reading is said to bring nothing new after so many calls without a code that none had before."""
NO_LIST = "No reading list was drawn yet: riff-tui sample --n 100 draws one."

_FIGURES: Mapping[str, tuple[str, int]] = {
    "turn_count": ("turns", 0),
    "duration_s": ("s", 0),
    "latency_p95": ("s latency", 1),
    "error_count": ("errors", 0),
}
"""What the figures that calls lie far out in are counted in, and with how many decimals."""
_OF_CALLS = {column.key: column for column in conversations.COLUMNS}
_COLUMNS: Sequence[Column] = (
    Column("position", "#", kind="count", help="The call's place in the list, which is mixed whatever its strata."),
    _OF_CALLS["conversation"],
    columns.FLOW,
    columns.AGENT,
    Column("why", "Why", kind="text", help="Why it was drawn: at random, for it failed, or for what is far out in it."),
    Column("read", "read", kind="flag", help="Whether anybody noted something on it."),
    _OF_CALLS["verdict"],
    _OF_CALLS["codes"],
    _OF_CALLS["noted_by"],
    _OF_CALLS["first_failed"],
    Column("stratum", "Stratum", kind="name", shown=False, help="What it was drawn from: random, failing or outlier."),
    columns.RUN,
    *(_OF_CALLS[key]._replace(shown=False) for key in ("persona", "scenario", "trial")),
)
_MARKS: Mapping[str, Severity] = {"fail": "bad", "split": "warn"}
_KEYS_OF_CALL = ("persona", "scenario", "first_failed", "verdict", "codes", "noted_by")


def show_sample(query: ViewQuery) -> Table:
    """Return the reading list of the store."""
    from riff_store.queries.reading import reading_list

    return _list_of(query, reading_list(query.store))


def unkept(store: Store, drawn: KeptList) -> Table:
    """Return the table of a list that was drawn and is not in the store."""
    from riff_store.queries.reading import reading_list
    from riff_tui.catalog import Request

    table = _list_of(ViewQuery(store, SAMPLE, Request()), reading_list(store, drawn))
    return table._replace(first=SAMPLE.first, last=SAMPLE.last)


def draw_calls(store: Store, asked: Sample) -> Draw:
    """Draw calls as a sample asks; raises `UsageError` if there is none to draw."""
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.reading import candidates
    from riff_store.sampling import draw
    from riff_tui.catalog import Request
    from riff_tui.filters.nearest_names import unknown_names

    predicate = parse(asked.expression)
    calls = ViewQuery(store, conversations.SPEC, Request(), predicate).parts().calls
    found = candidates(store, calls)
    if found:
        return draw(found, asked.mix, asked.seed)
    if not count_conversations(store):
        raise UsageError("there is no call to draw: the store is empty; riff-tui ingest PATH... fills it")
    if count_conversations(store, calls):
        raise UsageError("there is no call to draw: all are errored, which shows nothing about the agent")
    names = "; ".join(said.rstrip(".") for said in unknown_names(store, predicate))
    raise UsageError(f"no call matches {asked.expression}{f': {names}' if names else ''}")


def _list_of(query: ViewQuery, answer: ReadingList | None) -> Table:
    """Return the table of a list; a filter of calls leaves those of them that the store still has."""
    from riff_store.queries.conversations import conversation_ids, count_conversations

    calls = () if answer is None else answer.calls

    def build(parts: FilterParts) -> Table:
        if parts.calls is None or not calls:
            return sample(answer, calls)
        left = set(conversation_ids(query.store, parts.calls))
        return sample(answer, [each for each in calls if each.call is not None and each.call.id in left])

    table = query.result(query.parts(), build)
    if answer is not None:
        return table
    return table._replace(notes=[NO_LIST if count_conversations(query.store) else EMPTY_STORE])


def sample(answer: ReadingList | None, shown: Sequence[SampledCall] = ()) -> Table:
    """Return a row for each call that is shown, in the order of the list, those that are gone behind all others.

    The text is about the whole list.
    """
    table = Table(
        view="sample",
        title="Reading list",
        columns=_COLUMNS,
        rows=[_row(each) for each in sorted(shown, key=lambda each: each.call is None)],
        identity=("run", "conversation"),
    )
    if answer is None:
        return table
    drawn = answer.sample
    drawn_from = Counter(each.drawn.stratum for each in answer.calls)
    readers = Counter(author for each in answer.calls if each.call for author in each.call.noted_by or ())
    extras = {
        "n": drawn.n,
        "mix": dict(drawn.mix),
        "seed": drawn.seed,
        "drawn_from": drawn.expression,
        "drawn_at": cells.moment(drawn.drawn_at),
        "calls": len(answer.calls),
        "strata": {stratum: drawn_from[stratum] for stratum in drawn.mix if drawn_from[stratum]},
        **cells.values_of(answer, "read gone codes"),
        "since_new_code": answer.since_new,
        "readers": dict(sorted(readers.items(), key=lambda each: (-each[1], each[0]))),
    }
    unread = next((row.id for row in table.rows if row.where and not row.record["read"]), "")
    return table._replace(extras=extras, notes=list(_notes(answer.sample, extras)), begin=unread)


def progress(told: Mapping[str, Any]) -> list[str]:
    """Return how far people are with a list, from what its table shows, in parts such as `37 of 100 read`."""
    codes, since = told["codes"], told["since_new_code"]
    said = [f"{told['read']:,} of {told['calls']:,} read"]
    if codes and since:
        said.append(f"no new code for {counted(since, 'call')}{': enough?' if since >= SATURATED else ''}")
    return [*said, *([counted(codes, "code")] if codes else [])]


def _row(each: SampledCall) -> Row:
    call, drawn = each.call, each.drawn
    record: dict[str, Any] = {
        "position": each.position,
        **drawn.names._asdict(),
        "why": _why(drawn),
        "stratum": drawn.stratum,
        "read": each.is_read,
        **{key: call and getattr(call, key) for key in _KEYS_OF_CALL},
    }
    if call is None:
        return Row(f"gone {each.position}", record, {"conversation": f"{drawn.names.conversation} (gone)"})
    where, mark = cells.call_where(call), _MARKS.get(call.verdict or "")
    return Row(where, record, severity={"verdict": mark} if mark else {}, where=where)


def _why(drawn: Drawn) -> str:
    """Return why a call was drawn, such as `outlier: 31 turns (median 9)`."""
    unit, decimals = _FIGURES.get(drawn.figure or "", ("", 0))
    # A store that was tampered with may contain anything there.
    if not unit or not isinstance(drawn.value, float) or not isinstance(drawn.median, float):
        return drawn.stratum
    value, middle = fixed(drawn.value, decimals), fixed(drawn.median, 0 if drawn.median.is_integer() else 1)
    return f"{drawn.stratum}: {value} {unit[:-1] if value == '1' and len(unit) > 1 else unit} (median {middle})"


def _notes(drawn: Sample, told: Mapping[str, Any]) -> Iterator[str]:
    readers = ", ".join(f"{author} {n:,}" for author, n in told["readers"].items())
    by = f" ({readers})" if len(told["readers"]) > 1 else ""
    read, *others = progress(told)
    yield " · ".join([read + by, *others])
    expression = f" from calls that match {drawn.expression}" if drawn.expression else ""
    strata = ", ".join(f"{n:,} {stratum}" for stratum, n in told["strata"].items())
    yield f"Drawn with seed {drawn.seed}{expression}: {strata}."
    if told["gone"]:
        are = "is" if told["gone"] == 1 else "are"
        yield f"{counted(told['gone'], 'call')} of the list {are} gone from the store."


SAMPLE = ViewSpec(
    name="sample",
    title="Reading list",
    aliases=("reading-list",),
    help=(
        "The calls that riff-tui sample drew for people to read, in the order in which to read them.",
        "A call is read once anybody noted something on it; reading has brought what it can once no new code comes up.",
        "Enter opens a call, n and p the ones after and before it, whatever their flow.",
    ),
    order=55,
    show=show_sample,
    rows={"codes": or_null(list_of(TEXT)), "noted_by": or_null(list_of(TEXT))},
    top={
        **dict.fromkeys(("n", "seed", "calls", "read", "gone", "codes"), COUNT),
        "since_new_code": or_null(COUNT),
        "drawn_from": TEXT,
        "drawn_at": TIME,
        **dict.fromkeys(("mix", "strata", "readers"), COUNTS),
    },
    sometimes=(
        "n",
        "seed",
        "calls",
        "read",
        "gone",
        "codes",
        "since_new_code",
        "drawn_from",
        "drawn_at",
        "mix",
        "strata",
        "readers",
    ),
    columns=_COLUMNS,
    filters=Filters(fields=("position", "why", "stratum", "read"), calls=True),
    order_by="position",
    first=("why", "read", "verdict", "codes"),
    last=("flow", "agent", "run", "position"),
    row_kind="call",
    words=Words(
        noun="reading list",
        label="reading list",
        nouns=("call", "calls"),
        # The beginning has to do if there is little room.
        summary=lambda table: " · ".join(progress(table.extras)[:2]),
        empty="No call of a reading list here: U shows all of it, and riff-tui sample --n 100 draws a list.",
        empty_store="",
    ),
    screen=Screen(
        key="U",
        help="The reading list, as far as it is of this place; press again for more.",
        depth=2,
        below="conversation",
    ),
)

# Show the codes that people gave calls, with how much of what they failed each explains.
NAMED = 3
"""Names with their counts that a cell has room for."""
UNITS = (
    "Units: n calls with the code, from anybody · share of the calls that people failed, with its 95 % interval; a call"
    " may have several codes."
)
NO_CODE = (
    "No call here has a code: in the explorer s on a turn of a call gives one, riff-tui notes add does from a script."
)
_SHARE = columns.share("share", "share", help="Its share of the calls that people failed.")
_INTERVAL = columns.interval(_SHARE)
_OF_CODES = (
    Column("code", "Code", kind="name", said=True, help="What people called the failure."),
    Column("n", "n", kind="count", strong=True, help="Calls that have the code from anybody, without errored ones."),
    _SHARE,
    _INTERVAL,
    Column("states", "States", kind="object", help="Where people saw it, in how many calls; · is the whole call."),
    Column("agents", "Agents", kind="object", help="The agents that led the calls, with counts."),
    Column("authors", "Authors", kind="object", said=True, shown=False, help="Who gave the code to how many calls."),
    EXAMPLE,
    Column("flows", "Flows", kind="object", shown=False, help="The flows of the calls, with counts."),
    Column("failed_calls", "failed", kind="count", shown=False, help="Calls with the code that people failed."),
    Column("errored_calls", "errored", kind="count", shown=False, help="Errored calls with it, counted nowhere else."),
    Column("first_given", "First given (UTC)", kind="time", shown=False, help="When it was given first."),
    Column("last_given", "Last given (UTC)", kind="time", shown=False, help="When it was given last."),
)
_COUNTS = ("states", "agents", "authors", "flows")


def show_codes(query: ViewQuery) -> Table:
    """Return the codes of the calls in scope; a filter of codes chooses rows, whose shares stay as they are."""
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.reading import codes as asked

    table = query.result(query.parts().of_rows_alone(), lambda parts: codes(asked(query.store, parts.calls)))
    if table.rows or table.counts.total:
        return table
    return table._replace(notes=[*table.notes, NO_CODE] if count_conversations(query.store) else [EMPTY_STORE])


def codes(answer: Codes) -> Table:
    """Return a row for each code, in the order of the answer."""
    return Table(
        view="codes",
        title="Codes (what people say went wrong, the most calls first)",
        columns=_OF_CODES,
        rows=[_code_row(code) for code in answer.codes],
        notes=list(_notes_on_codes(answer)),
        extras={
            **cells.values_of(answer, "read failed uncoded errored"),
            "since_new_code": answer.since_new,
        },
    )


def _code_row(code: Code) -> Row:
    where = cells.where({"code": code.code})
    record: dict[str, Any] = {
        "code": code.code,
        "n": code.n,
        "share": code.share.mean,
        **{key: cells.named_counts(getattr(code, key)) for key in ("states", "agents", "authors")},
        "example": cells.call_where(code.example),
        "flows": cells.named_counts(code.flows),
        "failed_calls": code.failed_calls,
        "errored_calls": code.errored,
        "first_given": cells.moment(code.first_at),
        "last_given": cells.moment(code.last_at),
        "intervals": cells.intervals({"share": code.share}),
    }
    display = {
        **{key: _most(record[key]) for key in _COUNTS},
        **cells.interval_texts((_INTERVAL,), record),
        "example": code.example.conversation,
    }
    return Row(where, record, display, where=where)


def _most(counts: Mapping[str, int]) -> str:
    """Return the names that count most, and how many more there are."""
    more = len(counts) - NAMED
    if more <= 1:
        return counts_text(counts)
    return f"{counts_text(dict(list(counts.items())[:NAMED]))}, {more} more"


def _notes_on_codes(answer: Codes) -> Iterator[str]:
    if not answer.read:
        return
    failed = f" and failed {answer.failed} ({percent(answer.failed / answer.read)})" if answer.failed else ""
    yield f"People read {answer.read} of these calls{failed}."
    if answer.uncoded:
        filter = "--where 'verdict=fail code=· errored=false'"
        yield f"Of those failed, {answer.uncoded} {'has' if answer.uncoded == 1 else 'have'} no code: {filter}."
    if answer.codes:
        if answer.since_new:
            yield f"No new code in the last {answer.since_new} of {answer.read} read calls."
        else:
            yield "The call that was read last brought a new code."
        yield UNITS
    if answer.errored:
        calls = counted(answer.errored, "errored call")
        yield f"Left out: {calls} with a code, which {'is' if answer.errored == 1 else 'are'} no failure of the flow."


CODES = ViewSpec(
    name="codes",
    title="Codes",
    help=(
        "What people say went wrong, in codes: how many calls have each, where, and by whom.",
        "The share is over the calls that people failed, so it is about those that were read, not about all calls.",
        "Drill into a code with conversations --where 'code=C'; riff-tui notes rename merges two.",
    ),
    order=97,
    show=show_codes,
    keys=("code",),
    rows={**dict.fromkeys(("states", "agents", "authors", "flows"), COUNTS), "intervals": INTERVALS},
    top={**dict.fromkeys(("read", "failed", "uncoded", "errored"), COUNT), "since_new_code": or_null(COUNT)},
    columns=_OF_CODES,
    words=Words(nouns=("code", "codes"), empty=NO_CODE, empty_store=""),
    screen=Screen(
        key="#",
        help="What people say went wrong in the calls of this place, the most first; again for more.",
        below="conversations",
    ),
)
SPECS = (SAMPLE, CODES)
