"""Runs, judges, families and what was skipped: which queries they ask."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_store.predicates import Predicate
from riff_tui.errors import UsageError
from riff_tui.filters import split, take_judges
from riff_tui.table import Table
from riff_tui.view_queries.result import ViewResult
from riff_tui.view_registry import spec_of

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.catalog import Request


def ask_runs(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.runs import runs as summaries
    from riff_tui.views.runs import runs

    answer = ViewResult(request, *split(predicate, spec_of("runs").row_fields))
    return answer.of(lambda calls: runs(summaries(store, calls)))


def ask_judges(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.judges import judges as summaries
    from riff_tui.views.agreement import NO_JUDGES
    from riff_tui.views.judges import judges

    answer = ViewResult(request, *split(predicate, spec_of("judges").row_fields))
    table = answer.of(lambda calls: judges(summaries(store, calls)))
    if table.rows or table.hidden or predicate is not None or not count_conversations(store):
        return table
    return replace(table, notes=[NO_JUDGES])


def ask_archetypes(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.archetypes import archetypes as families
    from riff_tui.views.archetypes import archetypes

    answer = ViewResult(request, *split(predicate, spec_of("archetypes").row_fields))
    return answer.of(lambda calls: archetypes(families(store, calls)))


def ask_timeline(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.timeline import timeline as by_run
    from riff_tui.views.timeline import timeline, with_lines

    judges, rest = take_judges(predicate)
    answer = ViewResult(request, *split(rest, spec_of("timeline").row_fields))
    return with_lines(answer.of(lambda calls: timeline(by_run(store, calls, judges))))


def ask_flow_table(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.flow_table import flow_table as by_flow
    from riff_tui.views.flow_table import flow_table

    judges, rest = take_judges(predicate)
    answer = ViewResult(request, *split(rest, spec_of("flow-table").row_fields))
    return answer.of(lambda calls: flow_table(by_flow(store, calls, judges)))


def ask_skipped(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.skipped import skipped as entries
    from riff_tui.views.skipped import skipped

    calls, rows = split(predicate, spec_of("skipped").row_fields)
    if calls is not None:
        raise UsageError(f"skipped can be filtered by {', '.join(spec_of('skipped').row_fields)} only")
    return ViewResult(request, None, rows).of(lambda _: skipped(entries(store)))
