"""Show how each agent does on each flow, the least operable first, and how the families of flows do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.filters.predicates import Or, Predicate, all_of, conjuncts, terms
from riff_store.measure import Measure, is_thin, mean
from riff_store.metrics import unit_of
from riff_store.scoring import FULL
from riff_store.vocabulary import field_of
from riff_tui.filters import Filter
from riff_tui.filters.filter import render
from riff_tui.shapes import COUNT, INTERVALS, NUMBER, TEXT, by_name, list_of, or_null, record
from riff_tui.table import BOUNDS, LATER, Bounds, Column, Row, Severity, Table, in_one_step
from riff_tui.text.glyphs import UNICODE
from riff_tui.text.numbers import percent
from riff_tui.view_query import FilterParts, MadeRows, ViewQuery, matching, outlines
from riff_tui.views.parts import cells, changes, columns
from riff_tui.views.parts.cells import what_is_first
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.flows import ArchetypeCell, FlowCell
    from riff_store.queries.worklist import FirstToFix

TITLE = "Evaluation matrix: ({keys}) × aspects (computed) + humanness × judge"
KEYS = ("flow", "agent")
UNITS = (
    "Units: correctness, completion, errors, humanness 0-10, higher is better"
    " · latency seconds, lower is better · turn_count raw"
)
CAPPED = (
    "Capped: {capped} of {rows} operabilities, at 4.0 by a call that was not correct or at 6.0 by one that was not"
    " complete; success and quality distinguish such rows, and blend, their score, orders them."
)
_IN_UNITS = ("correctness", "completion", "errors", "humanness", "latency_p95", "turn_count")
LAST_EDIT = Column(
    "last_edit",
    "last edit",
    kind="object",
    shown=False,
    said=True,
    help="The flow's last edit that the latest run of the row contains; ? if only its time shows it.",
)
LOST = columns.LOST._replace(
    shown=False, help="Failed calls that ended where nobody served them: given up, or handed over."
)
_MEASURED = (columns.OPERABILITY, *columns.ASPECTS)
_FAILED = columns.FAILED._replace(pasted=False)
SCORE = columns.BLEND._replace(title="score", shown=True, pasted=False)
"""Operability without its caps: where most rows are capped it is what orders them."""
_OF_CALLS = (
    columns.SUCCESS, _FAILED, columns.QUALITY, columns.N, columns.MEASURED, LOST, SCORE, columns.EXCLUDED
)  # fmt: skip
_OF_CALLERS = (columns.CALLER_FAILED, columns.OVERALL)


def show(query: ViewQuery) -> Table:
    """Return the matrix with what is to be fixed first, and trends if asked for; deferred if that takes long."""
    from riff_store.filters.dimensions import Grouping
    from riff_store.filters.sql import needs
    from riff_store.queries.flows import flow_cells
    from riff_store.queries.sums import call_counts

    request, wanted = query.request, query.parts()

    def build(parts: FilterParts, *, trend: bool, edits: bool) -> Table:
        # All rows are only counted, unless they are what was asked for.
        own = parts.calls is wanted.calls
        found = query.kept(flow_cells, parts.calls, query.keys, wanted.judges, trend=trend and own, edits=edits and own)
        built = flows(found, query.keys, query.bounds)
        if not own or parts.rows is None:
            return built
        left = {row.id for row in outlines(matching(built, parts.rows))}
        shown = flows(
            [cell for cell, row in zip(found, outlines(built.rows), strict=True) if row.id in left],
            query.keys,
            query.bounds,
        )
        # The units are those of all columns; other notes are about the rows that are shown.
        return built._replace(notes=[*built.notes[:1], *shown.notes[1:]])

    def table(*, trend: bool, whole: bool = True) -> Table:
        found = query.result(
            wanted,
            partial(build, trend=trend, edits=whole),
            count=lambda: len(call_counts(query.store, None, Grouping(query.keys))),
        )
        if not whole:
            return found._replace(headline=f"Fix first: {LATER}")
        if request.bare:
            return found
        from riff_store.queries.worklist import first_to_fix, totals

        # Names in the filter choose rows, and with them the calls behind these.
        scope = all_of([*conjuncts(wanted.calls), *(part for part in conjuncts(wanted.rows) if _names_calls(part))])
        first, said = query.kept(first_to_fix, scope), render(scope)
        # A filter of rows leaves calls out too: what is to be fixed is in a row that it shows.
        if wanted.rows is not None and not any(first and _fails(row.record, first) for row in outlines(found.rows)):
            ways = [way for row in outlines(found.rows) if (way := Filter(row.where).predicate) is not None]
            scope = all_of([*conjuncts(scope), Or(tuple(ways)) if len(ways) > 1 else ways[0]]) if ways else scope
            first, said = query.kept(first_to_fix, scope) if ways else None, query.request.where or said
            if not ways:
                return found
        return found._replace(**what_is_first(first, query.kept(totals, scope), said))

    if request.trend and request.defer and needs(wanted.calls, query.keys) == "base":
        steps = partial(in_one_step, "reading how it went run by run", partial(table, trend=True))
        return table(trend=False, whole=False)._replace(deferred=steps)
    return table(trend=request.trend)


def _names_calls(part: Predicate) -> bool:
    """Return whether a part of a filter of rows chooses by names that calls have as well."""
    named = [term.field and field_of(term.field) for term in terms(part)]
    return all(field and field.kind == "name" and field.level == "call" for field in named)


def _fails(names: Mapping[str, Any], first: FirstToFix) -> bool:
    """Return whether a row is of the flow of the state to fix first, and of an agent that failed calls there."""
    is_failing = "agent" not in names or (names["agent"] or "") in first.failing
    return is_failing and names.get("flow", first.flow) == first.flow


def flows(answers: Sequence[FlowCell], keys: Sequence[str] = KEYS, bounds: Bounds = BOUNDS) -> Table:
    """Return the matrix, in the order of the answers; `keys` are the names that distinguish its rows."""
    judges = sorted({judge for cell in answers for judge in cell.humanness})
    added = columns.added(aspect for cell in answers for aspect in cell.aspects)
    aspects = [column.key for column in (*columns.ASPECTS, *added)]
    interaction = columns.interaction_columns(answers)
    errored = cells.errored_marks(answers)
    capped = sum(cell.blend is not None and (cell.operability or 0.0) < cell.blend for cell in answers)
    bad, warn = (percent(bound / FULL) for bound in bounds)
    return Table(
        view="flows",
        legend=f"surely {UNICODE.bad} <{bad}  {UNICODE.warn} <{warn}",
        title=TITLE.format(keys=" × ".join(keys)),
        columns=[
            *columns.keys(keys),
            *_MEASURED,
            *added,
            *interaction,
            *(each._replace(shown=True) if each.key == "excluded" and any(errored) else each for each in _OF_CALLS),
            *cells.shown_where_failed(_OF_CALLERS, answers),
            *(columns.judge(judge) for judge in judges),
            *([LAST_EDIT] if any(cell.last_edit for cell in answers) else []),
        ],
        rows=MadeRows(
            len(answers),
            lambda at: _outline(answers[at], keys, judges, aspects, interaction),
            lambda at, outline: _row(answers[at], outline, judges, aspects, bounds, errored[at]),
        ),
        notes=[
            _units([*columns.ASPECTS, *added]),
            *cells.measured_note(answers),
            *cells.typed_note(answers),
            *cells.caller_note(answers),
            *columns.interaction_notes(answers),
            *([CAPPED.format(capped=capped, rows=len(answers))] if capped else []),
        ],
    )


def _units(aspects: Sequence[Column]) -> str:
    """Return the note on units, with those of the aspects shown that it does not have itself."""
    others = (column for column in aspects if column.shown and column.key not in _IN_UNITS)
    better = ((each, f", {each.better} is better" if each.better else "") for each in others)
    return f"{UNITS}{''.join(f' · {each.title} {each.unit}{which}' for each, which in better)}."


def _outline(
    cell: FlowCell,
    keys: Sequence[str],
    judges: Sequence[str],
    aspects: Sequence[str],
    interaction: Sequence[Column],
) -> Row:
    names = {key: cell.keys.get(key) for key in keys}
    record: dict[str, Any] = {**names, "n": cell.n, "excluded": cell.excluded, "measured": cell.success.n}
    record |= {
        "operability": cell.operability,
        "success_rate": cell.success.mean,
        "quality": cell.quality.mean,
        "blend": cell.blend,
    }
    record |= {"failed": cell.failed if cell.success.n else None, "lost": cell.lost}
    record |= cells.caller_values(cell)
    record |= {aspect: mean(cell.aspects, aspect) for aspect in aspects}
    record |= columns.interaction_values(cell, interaction)
    record["humanness"] = {judge: mean(cell.humanness, judge) for judge in judges}
    where = cells.where(names)
    # Calls that are all errored have no place in any average, so none of these is below.
    return Row(where, record, thin=is_thin(cell), where=where, leads="" if cell.n else where)


def _row(
    cell: FlowCell,
    outline: Row,
    judges: Sequence[str],
    aspects: Sequence[str],
    bounds: Bounds,
    errored: Mapping[str, Severity],
) -> Row:
    measures: dict[str, Measure] = {
        **{aspect: cell.aspects[aspect] for aspect in aspects if aspect in cell.aspects},
        **{f"humanness.{judge}": cell.humanness[judge] for judge in judges if judge in cell.humanness},
        "success_rate": cell.success,
        "quality": cell.quality,
    }
    record = {**outline.record, "intervals": cells.intervals(measures | cells.caller_intervals(cell))}
    if cell.trend:
        record["trend"] = list(cell.trend)
    display = columns.interaction_texts(cell.interaction)
    if cell.last_edit:
        record["last_edit"] = changes.edit_record(cell.last_edit)
        display["last_edit"] = changes.edit_in_short(cell.last_edit)
    return outline._replace(
        record=record,
        display=display,
        severity=cells.with_errored(_marks(cell, record, judges, aspects, bounds), errored),
        counts=cells.counts_of(cell.n, measures),
    )


def _marks(
    cell: FlowCell, record: dict[str, Any], judges: Sequence[str], aspects: Sequence[str], bounds: Bounds
) -> dict[str, Severity]:
    scores = [aspect for aspect in aspects if unit_of(aspect) == "0-10"]
    measures = {aspect: cell.aspects[aspect] for aspect in scores if aspect in cell.aspects}
    measures |= {f"humanness.{judge}": cell.humanness[judge] for judge in judges if judge in cell.humanness}
    marks = cells.measured_marks(measures, bounds) | cells.success_marks(cell, bounds)
    if cell.blend is not None and cell.operability is not None:
        if cell.operability < cell.blend:
            marks["operability"] = "capped"
        elif cell.operability < bounds.warn:
            marks["operability"] = "bad" if cell.operability < bounds.bad else "warn"
    latest = next((share for share in reversed(cell.trend or ()) if share is not None), None)
    if latest is not None and latest * FULL < bounds.warn:
        marks["trend"] = "bad" if latest * FULL < bounds.bad else "warn"
    for key in () if cell.typed else ("latency_p95", "latency_mean"):
        slow = cells.latency_mark(record[key])
        if slow:
            marks[key] = slow
    return marks


def _summary(table: Table) -> str:
    """Count what the names represent, and calls, instead of rows."""
    names = [column.key for column in table.columns if column.kind == "name"]
    rows = list(outlines(table.rows))
    calls = sum((row.record.get("n") or 0) + (row.record.get("excluded") or 0) for row in rows)
    counts = [(len({row.record.get(name) for row in rows}), name) for name in names]
    return " · ".join(f"{count:,} {noun if count == 1 else f'{noun}s'}" for count, noun in (*counts, (calls, "call")))


SPEC = ViewSpec(
    name="flows",
    title="Evaluation matrix",
    help=(
        "Every flow with every agent that led it, the least operable first.",
        "Operability blends what is measured and is capped while correctness or completion is not full.",
        "Errored calls are counted separately and left out of averages.",
    ),
    order=20,
    aliases=("matrix",),
    show=show,
    keys=KEYS,
    judges="columns",
    rows={
        **dict.fromkeys(("interaction", "interaction_all"), or_null(record(columns.PANEL))),
        "humanness": by_name(or_null(NUMBER)),
        "intervals": INTERVALS,
        "trend": list_of(or_null(NUMBER)),
        "last_edit": changes.EDIT,
        "failed": or_null(COUNT),
        "lost": or_null(COUNT),
    },
    top={"first": cells.FIRST_TO_FIX},
    sometimes=("trend", "last_edit"),
    columns=(*columns.keys(KEYS), *_MEASURED, *_OF_CALLS, *_OF_CALLERS, LAST_EDIT),
    filters=Filters(fields=("humanness",), added_aspects=True),
    order_by="blend",
    first=("success_rate", "success_overall", "failed", "n", "blend"),
    comparable=True,
    regroups=True,
    trend=True,
    words=Words(nouns=("flow", "flows"), summary=_summary),
    screen=Screen(
        key="1",
        help="Every flow and agent, worst first.",
        depth=0,
        below=lambda row: "conversations" if row.leads else "segments",
    ),
)


# Show archetypes, the families of flows, each with the member that does worst.
UNITS_OF_FAMILIES = (
    "Units: success, cohesion shares of calls · quality, operability, correctness, completion 0-10, higher is better."
)
_OF_FAMILIES = (
    columns.ARCHETYPE,
    Column("flows", "flows", kind="count", help="Flows of the family."),
    columns.SUCCESS,
    columns.QUALITY,
    columns.share(
        "cohesion", "cohesion", better="lower",
        help="How far apart its members are: the largest less the smallest success rate of a flow and agent.",
    ),
    Column("worst_flow", "worst member", kind="text", help="The flow and agent that a mean would hide."),
    Column("worst_agent", "worst agent", kind="text", shown=False, help="The agent of the worst member."),
    columns.share("worst_success_rate", "worst success", better="higher", help="The worst member's success rate."),
    columns.OPERABILITY,
    columns.CORRECTNESS,
    columns.COMPLETION,
    columns.N,
    columns.FAILED,
    columns.EXCLUDED,
    Column("best_flow", "best flow", kind="text", shown=False, help="The flow of the member with most success."),
    Column("best_agent", "best agent", kind="text", shown=False, help="The agent of the member with most success."),
)  # fmt: skip


def show_archetypes(query: ViewQuery) -> Table:
    """Return the families of the flows of such calls."""
    from riff_store.queries.flows import archetypes as asked

    return query.result(query.parts(), lambda parts: archetypes(asked(query.store, parts.calls), query.bounds))


def archetypes(answers: Sequence[ArchetypeCell], bounds: Bounds = BOUNDS) -> Table:
    """Return one row per archetype, in the order of the answers."""
    return Table(
        view="archetypes",
        title="Archetypes (worst first)",
        columns=_OF_FAMILIES,
        rows=[_family_row(cell, bounds) for cell in answers],
        notes=[UNITS_OF_FAMILIES, *cells.measured_note([cell.family for cell in answers])],
    )


def _family_row(cell: ArchetypeCell, bounds: Bounds) -> Row:
    family, least, most = cell.family, cell.least, cell.most
    ends = [end for member in (least, most) if member and (end := member.success.mean) is not None]
    measures = {
        "success_rate": family.success,
        "quality": family.quality,
        **{key: family.aspects[key] for key in ("correctness", "completion") if key in family.aspects},
    }
    record: dict[str, Any] = {
        "archetype": cell.archetype,
        "flows": cell.flows,
        "n": family.n,
        "failed": family.failed if family.success.n else None,
        "excluded": family.excluded,
        "success_rate": family.success.mean,
        "quality": family.quality.mean,
        "operability": family.operability,
        "correctness": mean(family.aspects, "correctness"),
        "completion": mean(family.aspects, "completion"),
        "cohesion": max(ends) - min(ends) if ends else None,
        "worst_flow": least.keys["flow"] if least else None,
        "worst_agent": least.keys["agent"] if least else None,
        "worst_success_rate": least.success.mean if least else None,
        "best_flow": most.keys["flow"] if most else None,
        "best_agent": most.keys["agent"] if most else None,
        "intervals": cells.intervals(measures),
    }
    marks = cells.success_marks(family, bounds)
    where = cells.where({"archetype": cell.archetype})
    display = {"worst_flow": f"{record['worst_flow']} @ {record['worst_agent']}"} if least else {}
    counts = cells.counts_of(family.n, measures)
    return Row(where, record, display, severity=marks, thin=cells.is_thin(family.n), where=where, counts=counts)


ARCHETYPES = ViewSpec(
    name="archetypes",
    title="Archetypes",
    help=(
        "Families of flows: booking, dispatch, inquiry and what else the flows say of themselves.",
        "A family's mean can hide one bad flow, so the row shows the worst member.",
        "Drill into a family with flows --where 'archetype=A'.",
    ),
    order=160,
    show=show_archetypes,
    rows={"intervals": INTERVALS, "failed": or_null(COUNT), "archetype": or_null(TEXT)},
    columns=_OF_FAMILIES,
    comparable=True,
    words=Words(nouns=("archetype", "archetypes")),
    screen=Screen(key="A", help="The families of flows, each with its worst member.", below="flows"),
)

SPECS = (SPEC, ARCHETYPES)
