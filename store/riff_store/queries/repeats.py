"""Measure how steadily the same call comes out when it is made again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riff_store import schema as m
from riff_store.alignment import PASSED
from riff_store.database import Store
from riff_store.filters.dimensions import Grouping, Names
from riff_store.filters.predicates import Predicate
from riff_store.measure import UNIT, Measure

if TYPE_CHECKING:
    from riff_store.arrays.grouping import RepeatRow

DRAWN = 3
LISTED = 100
_GROUP = ("flow", "agent", "scenario", "persona")


@dataclass(frozen=True, slots=True)
class RepeatCell:
    """Keep the repeats behind a row: `groups` of at least two measured calls of one flow, agent, scenario and persona.

    `trials` counts their calls. `pass_all[k]` is the chance that k calls drawn from a group without putting back
    all pass, `pass_any[k]` that one of them does, each a mean over groups, for k from 1 to the size of
    the smallest group, as far as they are listed. `pass_k` is the first for the `k` asked for, over the groups with so
    many calls. Shares are of groups; `spread` is of the correctness within one.
    `single` groups have fewer calls, `nameless` ones name neither scenario nor persona; `runs` is the
    most runs that one group comes from.
    """

    keys: Mapping[str, str | None]
    groups: int
    trials: int
    excluded: int
    unmeasured: int
    single: int
    nameless: int
    runs: int
    k: int
    pass_one: Measure
    pass_k: Measure
    pass_all: Mapping[int, float]
    pass_any: Mapping[int, float]
    flaky: Measure
    always_passed: Measure
    always_failed: Measure
    spread: Measure


def repeats(
    store: Store, calls: Predicate | None = None, by: Sequence[str] = ("flow", "agent"), k: int = DRAWN
) -> list[RepeatCell]:
    """Return the repeats of each row of `by`, the flakiest first; rows without repeats are left out.

    Calls repeat each other that share flow, agent, scenario and persona, and run where `by` has it. `k` of them are
    drawn for `pass_k`.
    """
    from riff_store.arrays.grouping import repeat_rows

    group, of_rows = Grouping(tuple(dict.fromkeys((*_GROUP, *by)))), Grouping(tuple(by))
    with store.snapshot():
        aspects = store.execute(m.Aspect.select(m.Aspect.id).where(m.Aspect.name == "correctness"))
        correctness = aspects[0][0] if aspects else 0
        names = of_rows.namer(store)
        rows: dict[Names, list[RepeatRow]] = {}
        for row in repeat_rows(store, calls, group.keys, of_rows.keys, correctness, PASSED):
            rows.setdefault(names(row.keys), []).append(row)
    cells = [_cell(dict(zip(by, named, strict=True)), some, k) for named, some in rows.items()]
    cells.sort(key=lambda cell: [name or "" for name in cell.keys.values()])
    return sorted(cells, key=lambda cell: (-(cell.flaky.mean or 0.0), cell.pass_one.mean or 0.0, -cell.groups))


def _cell(keys: Mapping[str, str | None], rows: Sequence[RepeatRow], k: int) -> RepeatCell:
    from riff_store.arrays.grouping import means_of_draws

    groups = [group for row in rows for group in row.groups]
    smallest = min((each.n for each in groups), default=0)
    most = min(smallest, LISTED)
    sizes, passed = [each.n for each in groups], [each.passed for each in groups]
    failed = [each.n - each.passed for each in groups]
    return RepeatCell(
        keys=keys,
        groups=len(groups),
        trials=sum(each.n for each in groups),
        excluded=sum(each.excluded for each in rows),
        unmeasured=sum(each.unmeasured for each in rows),
        single=sum(each.single for each in rows),
        nameless=sum(each.nameless for each in groups),
        runs=max((each.runs for each in groups), default=0),
        k=k,
        pass_one=_measured(each.passed / each.n for each in groups),
        pass_k=_measured(all_pass(each.passed, each.n, k) for each in groups if each.n >= k),
        pass_all=dict(enumerate(means_of_draws(passed, sizes, most), 1)),
        pass_any=dict(enumerate(means_of_draws(failed, sizes, most, complement=True), 1)),
        flaky=_share(0 < each.passed < each.n for each in groups),
        always_passed=_share(each.passed == each.n for each in groups),
        always_failed=_share(not each.passed for each in groups),
        spread=_measured(each.spread for each in groups),
    )


def all_pass(passed: int, n: int, k: int) -> float:
    """Return C(passed, k) ÷ C(n, k): the chance that k of n calls, drawn without putting back, all passed."""
    chance = 1.0
    for drawn in range(k):
        chance *= max(0, passed - drawn) / (n - drawn)
    return chance


def _share(holds: Iterable[bool]) -> Measure:
    found = list(holds)
    return Measure(len(found), sum(found) * UNIT, float(sum(found)), rate=True)


def _measured(values: Iterable[float]) -> Measure:
    found = sorted(values)
    return Measure(len(found), sum(round(value * UNIT) for value in found), sum(value * value for value in found))
