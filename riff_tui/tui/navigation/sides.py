"""Compare two rows side by side as two sides: name them, say what they are compared within, and head their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riff_tui.table import Table
from riff_tui.tui.navigation.scope_filters import Scope, name_term, narrow, split_by_field
from riff_tui.views.failures import side_argument

Sides = tuple[str, ...]
_NAMES = ("flow", "agent", "run", "persona", "archetype")
_OUTCOMES = ("Newly ", "Nothing is newly", "B is, in")
"""How the notes of a comparison begin that say what came out of it."""


def sides_of(table: Table) -> Sides:
    """Return both sides, as the command takes them, of rows that differ in run or in agent alone; else nothing."""
    a, b = _names(table)
    kind = _kind(a, b)
    return tuple(side_argument(kind, str(side[kind])) for side in (a, b)) if kind else ()


def named_sides(table: Table) -> Sides:
    """Return both sides of a comparison by the names that `latest` and `previous` stood for when it was made."""
    return tuple(side_argument(str(side["kind"]), str(side["name"])) for side in (table.extras["a"], table.extras["b"]))


def scope_of(table: Table, scope: Scope) -> Scope:
    """Return what two sides are compared within: the location's own conditions, and the names that both rows have."""
    a, b = _names(table)
    kind = _kind(a, b)
    _, conditions = split_by_field(scope, (kind,))
    for field in _NAMES:
        if field != kind and a.get(field) is not None:
            conditions = narrow(conditions, name_term(field, a[field]))
    return conditions


def heading(table: Table, within: str = "") -> list[str]:
    """Return what is compared within, who is who, with how many calls, and what came out of it; names are raw text."""
    lines = [f"In {within}"] if within and table.view == "compare" else []
    lines += [_side(letter.upper(), table.extras[letter]) for letter in "ab" if letter in table.extras]
    lines += [table.lead] if table.lead else []
    return [*lines, *(note for note in table.notes[:2] if table.view == "compare" and note.startswith(_OUTCOMES))]


def _names(table: Table) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the names of both rows; a level of a factor is called by it, as an agent is one of `agent`."""
    found = (table.extras.get("a"), table.extras.get("b"))
    a, b = ({} if not isinstance(names, Mapping) else _level(names) for names in found)
    return a, b


def _level(names: Mapping[str, Any]) -> Mapping[str, Any]:
    return {str(names["factor"]): names["level"]} if names.keys() == {"factor", "level"} else names


def _kind(a: Mapping[str, Any], b: Mapping[str, Any]) -> str:
    """Return the field in which alone the rows differ, if that makes them two sides."""
    differing = [name for name in a if a[name] != b.get(name)]
    kind = differing[0] if differing in (["run"], ["agent"]) and a.keys() == b.keys() <= {*_NAMES} else ""
    return kind if kind and a[kind] is not None and b[kind] is not None else ""


def _side(letter: str, side: Mapping[str, Any]) -> str:
    errored = f", {side['excluded']} errored" if side["excluded"] else ""
    return f"{letter}  {side['kind']} {side['name']}   n {side['n']}{errored}"
