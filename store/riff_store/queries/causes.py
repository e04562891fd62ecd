"""Group failed calls by what they have in common, and report what stands out in each group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from riff_store.database import Store
from riff_store.filters.dimensions import DIMENSIONS, names_of
from riff_store.filters.notes import marks
from riff_store.filters.predicates import Predicate
from riff_store.interruption import check_interrupted
from riff_store.queries.calls import Example, Examples, turns_aspect
from riff_store.statistics.distributions import hypergeometric, surely_likelier
from riff_store.statistics.significance import benjamini_hochberg
from riff_store.vocabulary import MARKED, NONE_FOUND, SEVERAL, START, WHO

if TYPE_CHECKING:
    from riff_store.arrays.failures import CallsInScope


SURE = 0.05
MANY = 40
"""Beyond so many groups those of one call each are put together."""
MOST_TOGETHER = 20
"""So many are put together, which a filter can still name one by one."""
_COUNTED = ("stop_reasons", "last_ok", "kinds", "who", "agents", "scenarios", "personas", "commits")
LEAST = 5
"""A group or name with fewer calls is not tested: it would cost the others certainty and has none itself."""
_DIMENSIONS: Sequence[Dimension] = ("agent", "persona", "scenario", "commit")
_Names: TypeAlias = Mapping[str, Mapping[int, str | None]]

_SIGNATURE = ("flow", "state", "class", "code", "detail of class", "error of class")
"""What the calls of a group share; how they stopped, what was right last and who led them is counted in it."""

Dimension: TypeAlias = Literal["agent", "persona", "scenario", "commit"]


@dataclass(frozen=True, slots=True)
class Lift:
    """Represent a name that is over-represented in a group: `n` of its calls have it, against `n_all` of `calls`.

    `p` is that of the hypergeometric test, corrected over all tests of the answer.
    """

    dimension: Dimension
    name: str | None
    n: int
    share: float
    n_all: int
    share_all: float
    p: float


@dataclass(frozen=True, slots=True)
class Cause:
    """Describe the failed calls of a flow that went wrong in the same way; `share` is of all failed calls.

    `kind` is the one of most of them, `kinds`, `stop_reasons`, `last_ok`, `agents`, `scenarios`, `personas`, `commits`
    and `who` count calls by name, the most first. `lift` is ordered by how sure it is. One with `parts` represents
    several of a flow that have one call each, and names no state.
    """

    flow: str
    stop_reasons: Mapping[str | None, int]
    last_ok: Mapping[str | None, int]
    first_failed: str
    kind: str
    kinds: Mapping[str, int]
    who: Mapping[str | None, int]
    detail: str | None
    error: str | None
    n: int
    share: float
    agents: Mapping[str | None, int]
    scenarios: Mapping[str | None, int]
    personas: Mapping[str | None, int]
    commits: Mapping[str | None, int]
    first_run: str
    last_run: str
    example: Example
    lift: Sequence[Lift] = ()
    parts: Sequence[Cause] = ()


@dataclass(frozen=True, slots=True)
class Causes:
    """Describe the groups, the largest first, and how many calls failed of those that were not errored."""

    groups: Sequence[Cause]
    failed: int
    calls: int


def causes(store: Store, calls: Predicate | None = None, *, whole: bool = True) -> Causes:
    """Return the groups of failed calls, the largest first (docs/metrics.md, section 15).

    What stands out in a group is measured against all calls of its flow in scope that were not errored. Unless they are
    to be `whole`, that is left out.
    """
    from riff_store.arrays.failures import CallsInScope

    with store.snapshot():
        scope = CallsInScope(store, calls)
        failed = scope.failed(turns_aspect(store), marks(store))
        groups = failed.groups(*_SIGNATURE)
        names = {key: names_of(store, DIMENSIONS[key]) for key in ("flow", "state", "stop_reason", *_DIMENSIONS)}
        examples = Examples(store)
        shortest = examples.shortest_of(groups)
        counts = {flow: n for (flow, _), n in scope.by_flow("flow").items()}
        known = {key: _calls_by_name(scope, key, names) for key in _DIMENSIONS if whole and len(failed)}
        counted = {key: groups.counted(DIMENSIONS[key].key, names[key]) for key in ("stop_reason", *_DIMENSIONS)}
        before = groups.counted("last_ok", {**names["state"], 0: START})
        whose, kinds = groups.counted("who", dict(enumerate(WHO))), groups.kinds()
        spans = examples.run_spans(groups)
    found = []
    for at, (keys, n) in enumerate(zip(groups.keys, groups.sizes, strict=True)):
        check_interrupted()
        kind = next(iter(kinds[at]))
        of_group = {name: of_groups[at] for name, of_groups in counted.items()}
        marked = failed.codes[keys["code"]] if kind == MARKED else None
        found.append(
            Cause(
                flow=names["flow"][keys["flow"]] or "",
                stop_reasons=of_group["stop_reason"],
                last_ok=before[at],
                first_failed=_name(names["state"], keys["state"]) or NONE_FOUND,
                kind=kind,
                kinds=kinds[at],
                who=whose[at],
                detail=marked if kind == MARKED else _name(names["stop_reason"], keys["detail of class"]),
                error=_name(names["stop_reason"], keys["error of class"]),
                n=n,
                share=n / len(failed),
                agents=of_group["agent"],
                scenarios=of_group["scenario"],
                personas=of_group["persona"],
                commits=of_group["commit"],
                first_run=spans[at][0],
                last_run=spans[at][1],
                example=shortest[at],
            )
        )
    found.sort(key=_largest_first)
    found = _folded(found)
    flows = {names["flow"][flow]: n for flow, n in counts.items()}
    return Causes(_with_lifts(found, known, flows) if whole else found, len(failed), sum(counts.values()))


def _folded(found: Sequence[Cause]) -> list[Cause]:
    """Put the groups of one call each of a flow into one, if there are more groups than anybody reads."""
    if len(found) <= MANY:
        return list(found)
    single: dict[str, list[Cause]] = {}
    for cause in found:
        if cause.n == 1:
            single.setdefault(cause.flow, []).append(cause)
    together = [
        parts[at : at + MOST_TOGETHER] for parts in single.values() for at in range(0, len(parts), MOST_TOGETHER)
    ]
    folded = [parts[0] if len(parts) == 1 else _as_one(parts) for parts in together]
    return sorted([*(cause for cause in found if cause.n > 1), *folded], key=_largest_first)


def _as_one(parts: Sequence[Cause]) -> Cause:
    def added(counts: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
        total = sum((Counter(each) for each in counts), Counter[Any]())
        return dict(sorted(total.items(), key=lambda each: (-each[1], each[0] is None, each[0] or "")))

    counted: dict[str, Any] = {name: added(getattr(part, name) for part in parts) for name in _COUNTED}
    return replace(
        parts[0], first_failed=SEVERAL, kind=next(iter(counted["kinds"])), detail=None, error=None, n=len(parts),
        share=sum(part.share for part in parts), first_run=parts[0].first_run, last_run=parts[-1].last_run,
        parts=tuple(parts), **counted,
    )  # fmt: skip


def _name(names: Mapping[int, str | None], key: int) -> str | None:
    return names[key] if key else None


def _largest_first(cause: Cause) -> tuple[Any, ...]:
    return -cause.n, cause.flow, cause.first_failed, cause.kind, cause.detail or "", cause.error or ""


def _calls_by_name(
    scope: CallsInScope, dimension: Dimension, names: _Names
) -> dict[tuple[str | None, str | None], int]:
    """Count the calls that were not errored by flow and the name of a dimension."""
    found: Counter[tuple[str | None, str | None]] = Counter()
    for (flow, value), n in scope.by_flow(DIMENSIONS[dimension].key).items():
        found[names["flow"][flow], _name(names[dimension], value)] += n
    return found


def _with_lifts(
    found: Sequence[Cause],
    known: Mapping[Dimension, Mapping[tuple[str | None, str | None], int]],
    flows: Mapping[str | None, int],
) -> list[Cause]:
    """Add to each group the names that stand out, tested and corrected over all groups at once."""
    testable: dict[tuple[Dimension, str | None], list[tuple[str, int]]] = {}
    for dimension, counts in known.items():
        for (flow, name), marked in counts.items():
            if name is not None and LEAST <= marked < flows[flow]:
                testable.setdefault((dimension, flow), []).append((name, marked))
    tested: list[tuple[int, Dimension, str, Draw]] = []
    likely = 0
    for place, cause in enumerate(found):
        counted = zip(_DIMENSIONS, (cause.agents, cause.personas, cause.scenarios, cause.commits), strict=True)
        for dimension, of_cause in counted if cause.n >= LEAST else ():
            for name, marked in testable.get((dimension, cause.flow), ()):
                hits = of_cause.get(name, 0)
                if is_likely(hits, cause.n, marked, flows[cause.flow]):
                    likely += 1
                else:
                    tested.append((place, dimension, name, Draw(hits, cause.n, marked, flows[cause.flow])))
    # What is likelier than the level on its own is so after correction, and moves none that is not.
    common = surely_likelier([draw for *_, draw in tested], SURE)
    tested = [test for test, is_common in zip(tested, common, strict=True) if not is_common]
    ps = benjamini_hochberg(over_represented([draw for *_, draw in tested]), likely + sum(common))
    lifts: dict[int, list[Lift]] = {}
    for (place, dimension, name, draw), p in zip(tested, ps, strict=True):
        if p <= SURE:
            shares = draw.hits / draw.drawn, draw.marked / draw.calls
            lifts.setdefault(place, []).append(Lift(dimension, name, draw.hits, shares[0], draw.marked, shares[1], p))
    for each in lifts.values():
        each.sort(key=lambda lift: (lift.p, -lift.n, lift.dimension, lift.name or ""))
    return [replace(cause, lift=lifts.get(place, ())) for place, cause in enumerate(found)]


class Draw(NamedTuple):
    """Describe a group as a draw: `hits` of its `drawn` calls have a name that `marked` of all `calls` have."""

    hits: int
    drawn: int
    marked: int
    calls: int


def is_likely(hits: int, drawn: int, marked: int, calls: int) -> bool:
    """Return whether there are no more hits than such draws have on average.

    The chance of at least so many is above a half there, as the median of hits is between the whole numbers around
    their mean, and counts as 1.
    """
    return hits <= drawn * marked // calls


def over_represented(draws: Sequence[Draw]) -> list[float]:
    """Return for each draw the chance of at least so many hits (hypergeometric, the one-sided test of Fisher).

    It is 1 of a likely one.
    """
    chances: dict[Draw, float] = {}
    for draw in set(draws):
        hits, drawn, marked, calls = draw
        chances[draw] = 1.0 if is_likely(*draw) else min(1.0, hypergeometric(drawn, marked, calls, hits).at_least(hits))
    return [chances[draw] for draw in draws]
