"""Find what is below a row: the same for the explorer, which opens it, and for dumps, which name the command."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from riff_store.filters.predicates import And, Predicate, Term, asks_states, conjuncts, terms
from riff_tui.catalog import Request, dump_argv
from riff_tui.errors import FilterError
from riff_tui.filters import Filter, split
from riff_tui.table import Row, Table
from riff_tui.view_registry import find, spec_of

STEPS = frozenset({"flow", "agent", "segment", "state", "conversation"})
"""The fields that say where in the walk a location is; everything else in a scope is a condition on calls."""
_NAME_FIELDS = STEPS | {"run", "persona", "scenario", "archetype", "tool"}

Scope = Predicate | None


@lru_cache(maxsize=1024)
def parsed(text: str) -> Filter:
    """Return a filter, those used last without parsing them again."""
    return Filter(text)


def below(table: Table, row: Row) -> str:
    """Return the view that is below a row, empty if nothing does or no view is called so."""
    view = spec_of(table.view).view_below(row) if row.where else ""
    return view if view and find(view) is not None else ""


def drill(table: Table, row: Row, filtered: str, store: str) -> dict[str, Any] | None:
    """Return the view below a row of a `filtered` dump, its filter and the command that prints it, `None` without one.

    The command is a list of arguments, of which each stays one whatever names are in it.
    """
    # A row that is beside the list of its screen leads to such a list.
    beside = spec_of(table.view).screen.rows_of
    view = beside or below(table, row)
    if not view or not (row.leads or row.where):
        return None
    spec, asked = spec_of(view), parsed(filtered).predicate
    if beside:
        where = Filter.of(step_below(row, asked, None)).text
    else:
        typed = None if spec.screen.kind == "conversation" else about_calls(asked, table)
        # Most dumps have no filter, and then there is nothing to read and to write again.
        where = (row.leads or row.where) if typed is None else Filter.of(way_below(row, None, typed)).text
    further = Request(
        where=where,
        sort=row.order or None,
        sides=named_sides(table) if spec.sides else None,
        store=store,
    )
    return {"view": view, "where": where, "argv": [*dump_argv(view, further), "--format", "json"]}


def step_below(row: Row, scope: Scope, typed: Scope) -> Scope:
    """Return what is true of the calls that took the step that a row of a neighbour graph is about."""
    way = conjuncts(parsed(row.leads).predicate)
    rest = [*conjuncts(keep_steps(scope, ("flow", "agent"))), *conjuncts(without_bare_words(typed))]
    # Terms about rows of states are about that of the state in the middle.
    of_rows = [part for part in rest if asks_states(part) and not isinstance(part, And)]
    (step,) = (part for part in way if isinstance(part, And))
    kept = conjunction([part for part in rest if part not in of_rows])
    names_of_calls = conjunction([part for part in way if part is not step])
    return narrow(narrow(kept, names_of_calls), And((And((*step.parts, *of_rows)),)))


def named_sides(table: Table) -> tuple[str, str]:
    """Return both sides of a comparison by the names that `latest` and `previous` represented when it was made."""
    from riff_tui.views.failures import side_argument  # only comparisons have sides

    a, b = (side_argument(str(side["kind"]), str(side["name"])) for side in (table.extras["a"], table.extras["b"]))
    return a, b


def way_below(row: Row, scope: Scope, typed: Scope) -> Scope:
    """Return what is true of the rows below a row; names from the row replace those in the scope.

    `scope` is what the rows of the table are in, `typed` what the filter over them reports of calls.
    """
    if row.leads:
        # What leads elsewhere reports of these calls all that the names of the row say of its own.
        _, scope = split_by_field(scope, fixed_fields(parsed(row.where).predicate))
    return narrow(narrow(scope, typed), parsed(row.leads or row.where).predicate)


def narrow(scope: Scope, by: Scope) -> Scope:
    """Return a scope with the parts of another one put in.

    A name takes the place of the name of the same field. Judges take the place of all other judges.
    """
    parts = list(conjuncts(scope))
    for part in conjuncts(by):
        if is_about_judges(part):
            parts = [each for each in parts if not is_about_judges(each)]
        fields = [fixed_field(each) for each in parts]
        field = fixed_field(part)
        if field is not None and field in fields:
            parts[fields.index(field)] = part
        elif part not in parts:
            parts.append(part)
    return conjunction(parts)


def keep_steps(scope: Scope, steps: Collection[str]) -> Scope:
    """Return a scope with only these steps of the walk, and with all its conditions on calls."""
    dropped = STEPS - frozenset(steps)
    return conjunction([part for part in conjuncts(scope) if fixed_field(part) not in dropped])


def split_by_field(scope: Scope, fields: Collection[str]) -> tuple[Scope, Scope]:
    """Return the part of a scope that fixes these fields, and everything else in it."""
    fixing = [part for part in conjuncts(scope) if fixed_field(part) in fields]
    return conjunction(fixing), conjunction([part for part in conjuncts(scope) if part not in fixing])


def fixed_fields(scope: Scope) -> frozenset[str]:
    """Return the fields that a scope has to one name: a column of them is the same in every row."""
    return frozenset(field for part in conjuncts(scope) if (field := fixed_field(part)) is not None)


def without_bare_words(predicate: Scope) -> Scope:
    """Return the parts of a filter whose terms all have a field; bare words are looked for in rows alone."""
    return conjunction([part for part in conjuncts(predicate) if all(term.field is not None for term in terms(part))])


def about_calls(predicate: Scope, table: Table) -> Scope:
    """Return the part of a filter typed over a table that is about calls, and so applies below its rows as well."""
    spec = find(table.view)
    if spec is not None and spec.filters.calls:
        return parts_about_calls(predicate, spec.row_fields)
    return parts_about_calls(predicate, {column.key for column in table.columns})


def parts_about_calls(predicate: Scope, row_fields: Collection[str]) -> Scope:
    """Return the part of a filter that speaks of calls where rows have these fields."""
    try:
        return split(predicate, row_fields)[0]
    except FilterError:
        return None


def conjunction(parts: Sequence[Predicate]) -> Scope:
    """Return the scope in which all parts have."""
    # A group that is left alone stays one: its terms speak of the same state.
    is_whole = len(parts) == 1 and not isinstance(parts[0], And)
    return None if not parts else parts[0] if is_whole else And(tuple(parts))


def fixed_field(part: Predicate) -> str | None:
    """Return the field that a part of a filter has to one name, or to none, if it does that and nothing else."""
    if isinstance(part, Term) and part.operator in ("=", "missing") and part.field in _NAME_FIELDS:
        return part.field
    return None


def is_about_judges(part: Predicate) -> bool:
    """Return whether a part of a filter shows nothing but which judges are meant."""
    return all(term.field == "judge" for term in terms(part))
