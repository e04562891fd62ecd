"""Find views by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from riff_tui.errors import UsageError
from riff_tui.views.spec import ViewSpec

_PACKAGE = "riff_tui.views"


@cache
def find(name: str) -> ViewSpec | None:
    """Return the view of that name, listed or not; loads no other."""
    module = name.replace("-", "_")
    return spec if module.isidentifier() and (spec := _load(module)) is not None and spec.name == name else None


def spec_of(name: str) -> ViewSpec:
    """Return the view of that name; raises `UsageError` where there is none."""
    found = find(name)
    return resolve(name) if found is None else found


@cache
def views() -> tuple[ViewSpec, ...]:
    """Return every listed view in its order; loads all of them."""
    from pkgutil import iter_modules

    package = import_module(_PACKAGE)
    found = (_load(module.name) for module in iter_modules(package.__path__) if not module.ispkg)
    return tuple(sorted((spec for spec in found if spec and spec.listed), key=lambda spec: (spec.order, spec.name)))


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


def _load(module: str) -> ViewSpec | None:
    try:
        found = getattr(import_module(f"{_PACKAGE}.{module}"), "SPEC", None)
    except ModuleNotFoundError as error:
        if error.name != f"{_PACKAGE}.{module}":
            raise
        return None
    return found if isinstance(found, ViewSpec) else None
