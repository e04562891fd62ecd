"""Find every source: the modules of this package, and those of installed distributions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import NamedTuple

from riff_ingest import sources as package
from riff_ingest.sources.source import Source

GROUP = "riff_tui.sources"
"""The entry point group in which a distribution names a `Source`."""

UNKNOWN = "unknown"
"""The kind of what no source recognises."""


class Registry(NamedTuple):
    """Hold the sources in the order in which they are asked, and a sentence on each plug-in that is left out."""

    sources: tuple[Source, ...]
    problems: tuple[str, ...] = ()


def sources() -> tuple[Source, ...]:
    """Return all sources, those with the lowest rank first."""
    return registry().sources


def source_of(kind: str) -> Source | None:
    """Return the source of a kind, `None` where there is none."""
    return next((source for source in sources() if source.kind == kind), None)


@lru_cache(maxsize=1)
def registry() -> Registry:
    """Find the sources, once in a process; a plug-in that cannot be used is left out."""
    found = {source.kind: source for source in _own_sources()}
    problems = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        source, problem = _plugged_in(point, {*found, UNKNOWN})
        if source is not None:
            found[source.kind] = source
        else:
            problems.append(f"source plug-in {point.name} ({point.value}) is left out: {problem}")
    return Registry(tuple(sorted(found.values(), key=lambda source: (source.rank, source.kind))), tuple(problems))


def _own_sources() -> Iterator[Source]:
    """Yield the `SOURCE` of each module of the package that has one."""
    for info in pkgutil.iter_modules(package.__path__):
        source = getattr(importlib.import_module(f"{package.__name__}.{info.name}"), "SOURCE", None)
        if isinstance(source, Source):
            yield source


def _plugged_in(point: EntryPoint, taken: set[str]) -> tuple[Source | None, str]:
    try:
        source = point.load()
    except Exception as error:  # foreign code may raise anything
        return None, f"it fails with {type(error).__name__}"
    if not isinstance(source, Source):
        return None, "it is no Source"
    if source.kind in taken:
        return None, f"the kind {source.kind} is taken"
    return source, ""
