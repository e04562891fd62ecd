"""Find what completes options and arguments: keys, forms, and names that the store or a flow file knows.

Each function is named by the options and arguments that it completes; what does not begin as typed is dropped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click


def terms(context: click.Context, incomplete: str) -> Iterator[str]:
    """Yield the filter with its last term completed: a field, or a name of a field."""
    from riff_store.vocabulary import FIELDS, SAID_FIELDS
    from riff_tui.filters import completion, quote

    want = completion.wanted(incomplete, len(incomplete))
    if want is None:
        return
    if not want.field:
        view = _view(context)
        for each in completion.fields(want, view.row_fields if view else ()):
            field = each.rstrip(":")
            numeric = field in FIELDS and FIELDS[field].kind == "number"
            operator = ">" if numeric else ":" if field in SAID_FIELDS else "="
            yield f"{incomplete[: want.start]}{field}{operator}"
        return
    at = incomplete.index(want.operator, want.start) + len(want.operator)
    yield from (f"{incomplete[:at]}{quote(name)}" for name in _known(want.field, context))


def group_keys(incomplete: str) -> Iterator[str]:
    """Yield what rows can be distinguished by, behind the last comma."""
    from riff_tui.views.spec import BY

    return _behind_comma(incomplete, BY)


def sort_keys(context: click.Context) -> Iterator[str]:
    """Yield the columns of the view that is named, upwards and downwards."""
    view = _view(context)
    keys = [column.key for column in view.columns if column.kind != "object"] if view else []
    return (f"{sign}{key}" for sign in ("", "-") for key in keys)


def aspects() -> Sequence[str]:
    """Return what effects can explain."""
    from riff_store.metrics import COMPUTED, POOLED

    return (*COMPUTED, *POOLED, "humanness")


def tolerances() -> Iterator[str]:
    """Yield what a gate can let fall."""
    from riff_tui.gate.rules import CHECKED

    return (f"{aspect}=" for aspect in CHECKED)


def coverage_kinds() -> Iterator[str]:
    """Yield what a gate can want covered."""
    from riff_tui.gate.floors import KINDS

    return (f"{kind}=" for kind in KINDS)


def view_names() -> list[str]:
    """Return the views of one store, by name and alias."""
    from riff_tui.view_registry import views

    return [name for spec in views() if not spec.sides for name in (spec.name, *spec.aliases)]


def runs(context: click.Context) -> list[str]:
    """Return the runs in the store."""
    return _known("run", context)


def codes(context: click.Context) -> list[str]:
    """Return the codes that notes in the store give."""
    return _known("code", context)


def sides(context: click.Context) -> Iterator[str]:
    """Yield what can be compared."""
    yield from ("previous", "latest", *runs(context))
    yield from (f"agent:{agent}" for agent in _known("agent", context))


def flows(incomplete: str) -> Iterator[str]:
    """Yield the built-in flows, behind the last comma."""
    from riff_runner.simulate.flow_file import flow_names

    return _behind_comma(incomplete, flow_names())


def personas(incomplete: str) -> Iterator[str]:
    """Yield the built-in callers, behind the last comma."""
    from riff_runner.simulate.cast import personas

    return _behind_comma(incomplete, ["all", *(persona.name for persona in personas())])


def scenarios(context: click.Context, incomplete: str) -> Iterator[str]:
    """Yield the scenarios of the flows that are named, behind the last comma."""
    from riff_runner.run.flows.flow_files import load_flows

    named = [name for part in context.params.get("flows") or () for name in part.split(",") if name]
    names = [scenario.name for flow in load_flows(named) for scenario in flow.scenarios]
    return _behind_comma(incomplete, ["all", *names])


def _behind_comma(incomplete: str, names: Iterable[str]) -> Iterator[str]:
    head = incomplete[: incomplete.rfind(",") + 1]
    taken = head.split(",")
    return (f"{head}{name}" for name in names if name not in taken)


def _view(context: click.Context) -> Any:
    from riff_tui.view_registry import resolve

    named = str(context.params.get("view"))
    return resolve(named) if named in view_names() else None


def _known(field: str, context: click.Context) -> list[str]:
    """Return the names of a field in the store that the line is about; none if it is on a server."""
    from riff_store.database import open_store
    from riff_store.location import is_on_server
    from riff_store.queries.contents import known_names
    from riff_tui.settings import load, store_location

    named = context.params.get("store")
    location = store_location(load(store=os.path.expanduser(named) if named else None))
    if is_on_server(location):
        return []
    with open_store(location) as store:
        return known_names(store, field)
