"""Check how much of each flow the calls of a candidate touched, against how much they have to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_store.vocabulary import FIELD_OF_KIND, CoverageKind
from riff_tui.errors import UsageError
from riff_tui.gate.decision import Check

if TYPE_CHECKING:
    from riff_store.queries.steps import Coverage

Floors: TypeAlias = Mapping[CoverageKind, float]
"""How much of the items of a kind has to be touched, each a share."""
OPTION = "--min-coverage"
FORM = "it takes KIND=X, such as edges=90%"
KINDS: Mapping[str, CoverageKind] = {f"{kind}s": kind for kind in FIELD_OF_KIND}


def share(amount: Any, source: str) -> float:
    """Read a share as `5%`, as 0.05, or as the number of its points if that is above 1."""
    text = "" if isinstance(amount, bool) else str(amount).strip()
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = math.nan
    found = value / 100 if text.endswith("%") or value > 1 else value
    if not 0 <= found <= 1:
        raise UsageError(f"{source} {amount}: it takes a share from 0 to 1, such as 0.05 or 5%")
    return found


def read(texts: Iterable[str], in_file: Any, file: str) -> Floors:
    """Return the floors of a settings file and of options, which go before these; raise `UsageError` for nonsense."""
    if not isinstance(in_file, dict):
        raise UsageError(f"{file}: gate.min_coverage must be a table, such as [gate.min_coverage]")
    source = f"{file}: gate.min_coverage"
    found = {_kind(name, source): share(amount, f"{source}.{name}") for name, amount in in_file.items()}
    given: dict[CoverageKind, float] = {}
    for text in texts:
        name, equals, amount = text.rpartition("=")
        if not equals:
            raise UsageError(f"{OPTION} {text}: {FORM}")
        kind, least = _kind(name, OPTION), share(amount, f"{OPTION} {name}")
        if given.setdefault(kind, least) != least:
            raise UsageError(f"{OPTION} {name}: is given twice, with different shares")
    return {**found, **given}


def _kind(name: str, source: str) -> CoverageKind:
    kind = KINDS.get(name.strip().lower())
    if kind is None:
        near = get_close_matches(name.strip().lower(), KINDS, n=1)
        meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(KINDS)}"
        raise UsageError(f"{source} {name}: no items of flows are called that", meant)
    return kind


def checks(floors: Floors, baseline: Iterable[Coverage], candidate: Sequence[Coverage], name: str) -> Iterator[Check]:
    """Yield a check of each flow that the candidate, which is called `name`, has calls of, and of each kind.

    What counts are the candidate's items, on both sides. Raises `UsageError` for a kind of which no flow has any.
    """
    before = {each.keys["flow"]: each for each in baseline}
    for kind, least in floors.items():
        of_flows = [(each, items) for each in candidate if (items := each.of_kind(kind))]
        if not of_flows:
            raise UsageError(f"{OPTION} {kind}s: no flow of {name} has any that are declared or were ever touched")
        for flow, items in of_flows:
            missing = tuple(item.item for item in items if not item.calls)
            reached = 1 - len(missing) / len(items)
            known = before.get(flow.keys["flow"])
            touched = {item.item for item in known.of_kind(kind) if item.calls} if known else set()
            earlier = len(touched & {item.item for item in items}) / len(items) if known else None
            yield Check(
                flow=flow.keys["flow"] or "",
                aspect=f"{kind}s",
                judge=None,
                better="higher",
                baseline=earlier,
                candidate=reached,
                n_baseline=len(items) if known else 0,
                n_candidate=len(items),
                allowed=round(1 - least, 9),
                # As many items as it takes, whatever a share of them looks like in binary.
                status="failed" if len(items) - len(missing) < least * len(items) - 1e-9 else "held",
                kind="covered",
                change=None if earlier is None else reached - earlier,
                missing=missing,
            )
