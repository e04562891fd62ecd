"""Find every source: the modules of this package, and those of installed distributions."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from riff_ingest import sources as package
from riff_ingest.lines import BrokenInput
from riff_ingest.source import DirectoryInput, ReadContext, ReadItem, Source
from riff_store.errors import RiffError
from riff_store.plugins import load_plugins, name_refusal

_P = ParamSpec("_P")
_T = TypeVar("_T")

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
    own = tuple(_own_sources())
    taken = {UNKNOWN, *(source.kind for source in own)}

    def refusal(source: Source, others: Sequence[Source]) -> str:
        return name_refusal("kind", (source.kind,), taken.union(other.kind for other in others))

    added, problems = load_plugins(GROUP, "source", Source, refusal)
    found = sorted((*own, *map(_guarded, added.values())), key=lambda source: (source.rank, source.kind))
    return Registry(tuple(found), tuple(problems))


def _own_sources() -> Iterator[Source]:
    """Yield the `SOURCE` of each module of the package that has one."""
    for info in pkgutil.iter_modules(package.__path__):
        source = getattr(importlib.import_module(f"{package.__name__}.{info.name}"), "SOURCE", None)
        if isinstance(source, Source):
            yield source


def _guarded(source: Source) -> Source:
    """Return a source of foreign code that leaves an input out where it fails, instead of ending the ingest."""

    def broken(error: Exception) -> BrokenInput:
        return BrokenInput(f"the source {source.kind} failed with {type(error).__name__}")

    def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
        try:
            yield from source.read(path, context)
        except RiffError:
            raise
        except Exception as error:
            raise broken(error) from error

    def digest(path: Path) -> tuple[str, int]:
        assert source.directory is not None
        try:
            return source.directory.digest(path)
        except RiffError:
            raise
        except Exception as error:
            raise broken(error) from error

    directory = source.directory and DirectoryInput(
        _unless_it_fails(source.directory.claims, False),
        digest,
        _unless_it_fails(source.directory.set_aside, None),
        _unless_it_fails(source.directory.accompanies, False),
    )
    return replace(
        source,
        read=read,
        read_some=None,
        recognises=_unless_it_fails(source.recognises, None),
        contracts=_unless_it_fails(source.contracts, {}),
        is_company=_unless_it_fails(source.is_company, False),
        directory=directory,
    )


def _unless_it_fails(function: Callable[_P, _T], otherwise: _T) -> Callable[_P, _T]:
    """Return a function that gives `otherwise` where foreign code fails."""

    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return function(*args, **kwargs)
        except RiffError:
            raise
        except Exception:
            return otherwise

    return guarded
