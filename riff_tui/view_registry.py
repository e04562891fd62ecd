"""Find views by name: the modules of `riff_tui.views`, and what installed distributions add."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from riff_store import vocabulary
from riff_store.plugins import load_plugins, name_refusal
from riff_tui.errors import UsageError
from riff_tui.views.spec import ViewSpec

GROUP = "riff_tui.views"
"""The entry point group in which a distribution names a `ViewSpec`, and the package of the views here."""
_HOMES = {
    "alignment": "judges",
    "archetypes": "flows",
    "disputes": "agreement",
    "failure-shifts": "failure_matrix",
    "flow-table": "judges",
    "runs": "timeline",
    "segments": "states",
    "side_by_side": "compare",
}
"""The modules of views that share the module of another one."""


@cache
def find(name: str) -> ViewSpec | None:
    """Return the view of that name, listed or not; of those here it loads no other."""
    return _find_own(name) or next((spec for spec in _added().values() if spec.name == name), None)


def origin_of(spec: ViewSpec) -> str:
    """Return the entry point, `module:object`, of a view of another distribution; an empty text for any other view."""
    if spec is _find_own(spec.name):
        return ""
    return next((value for value, added in _added().items() if added is spec), "")


def spec_of(name: str) -> ViewSpec:
    """Return the view of that name; raises `UsageError` if there is none."""
    found = find(name)
    return resolve(name) if found is None else found


@cache
def views() -> tuple[ViewSpec, ...]:
    """Return every listed view in its order; loads all of them."""
    found = (spec for spec in (*_own(), *_added().values()) if spec.listed)
    return tuple(sorted(found, key=lambda spec: (spec.order, spec.name)))


def resolve(name: str) -> ViewSpec:
    """Return the listed view of that name or alias; raises `UsageError` with the names that there are."""
    found = find(name)
    if found is not None and found.listed:
        return found
    if found is not None and found.command:
        raise UsageError(f"{name} is a command of its own: {found.command}")
    by_name = {each: spec for spec in views() for each in (spec.name, *spec.aliases)}
    if name in by_name:
        return by_name[name]
    from difflib import get_close_matches

    near = get_close_matches(name, by_name, n=1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    raise UsageError(f"no view is called {name!r}{meant}; there are {', '.join(spec.name for spec in views())}")


def _find_own(name: str) -> ViewSpec | None:
    module = _HOMES.get(name, name.replace("-", "_"))
    specs = _load(module) if module.isidentifier() else ()
    return next((spec for spec in specs if spec.name == name), None)


@cache
def _own() -> tuple[ViewSpec, ...]:
    from pkgutil import iter_modules

    modules = [module.name for module in iter_modules(import_module(GROUP).__path__) if not module.ispkg]
    return tuple(spec for module in modules for spec in _load(module))


@cache
def _added() -> dict[str, ViewSpec]:
    """Load the views of other distributions, once in a process, by entry point; what cannot be used is reported."""
    found, problems = load_plugins(GROUP, "view", ViewSpec, _refusal)
    if problems:
        from riff_tui.output.streams import say

        for problem in problems:
            say(problem)
    for spec in found.values():
        _declare(spec)
    return found


def _refusal(spec: ViewSpec, others: Sequence[ViewSpec]) -> str:
    taken = (name for each in (*_own(), *others) for name in (each.name, *each.aliases))
    return name_refusal("name", (spec.name, *spec.aliases), taken)


def _load(module: str) -> tuple[ViewSpec, ...]:
    """Return the views of a module of the package, none if it is not one of views."""
    try:
        found = import_module(f"{GROUP}.{module}")
    except ModuleNotFoundError as error:
        if error.name != f"{GROUP}.{module}":
            raise
        return ()
    specs = getattr(found, "SPECS", (getattr(found, "SPEC", None),))
    views = tuple(spec for spec in specs if isinstance(spec, ViewSpec))
    for spec in views:
        _declare(spec)
    return views


def _declare(spec: ViewSpec) -> None:
    """Let filters speak of the columns that no other view has."""
    for column in spec.columns:
        if column.key in spec.row_fields and column.kind != "object" and column.key.isidentifier():
            kind = _FIELD_KINDS.get(column.kind, "number")
            vocabulary.add_row_field(column.key, kind, share=column.unit == "share")


_FIELD_KINDS: dict[str, vocabulary.FieldKind] = {"name": "name", "text": "name", "flag": "flag", "time": "time"}
