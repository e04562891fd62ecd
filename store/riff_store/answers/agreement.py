"""Hold how judges agree, where they differ most, and how steady repeats of one call are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from riff_store.alignment import Rates
from riff_store.measure import Measure


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Hold how two judges of one aspect agree on their `n` shared calls; without a `second`, a judge and correctness.

    Judges are compared in whole points, but as pass or fail with correctness and with a person, who is the second then.
    `exact` is a rate, `difference` the first's score less the second's, and not measured between pass and fail. `kappa`
    has quadratic weights; with two categories they change nothing. `shown` are the names that a filter finds the
    judges by.
    """

    first: str
    second: str | None
    aspect: str
    shown: tuple[str, ...]
    n: int
    exact: Measure
    kappa: float | None
    kappa_unweighted: float | None
    spearman: float | None
    difference: Measure
    with_person: bool = False

    @property
    def as_verdicts(self) -> bool:
        """Say whether both were compared as pass or fail."""
        return self.second is None or self.with_person


@dataclass(frozen=True, slots=True)
class Dispute:
    """Describe a call that several judges scored apart, on one aspect; `scores` by judge, from the highest down.

    `highest` and `lowest` are judges, of several the first by name. `told_by` is as in `Call`.
    """

    run: str
    conversation: str
    flow: str
    agent: str
    aspect: str
    scores: Mapping[str, float]
    correctness: float | None
    spread: float
    highest: str
    lowest: str
    told_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Disputes:
    """Hold the calls on which judges differ most, the first of `total`; on `agreed` ones they do not differ at all.

    `judges` are those to be shown besides those who scored the calls.
    """

    entries: Sequence[Dispute]
    total: int
    agreed: int
    judges: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Alignment:
    """Hold how often a judge, or correctness, says what people say of the calls that both speak of.

    With a `code` that is of the calls that people failed and gave this code, and `tnr` is not measured. `shown` is the
    name that a filter finds the judge by, empty for correctness.
    """

    judge: str
    shown: str
    aspect: str
    code: str | None
    rates: Rates


@dataclass(frozen=True, slots=True)
class Alignments:
    """Hold judges beside people; `disputed` calls, on which people disagree among themselves, are in no rate."""

    entries: Sequence[Alignment]
    disputed: int


@dataclass(frozen=True, slots=True)
class RepeatCell:
    """Hold the repeats behind a row: `groups` of at least two measured calls of one flow, agent, scenario and persona.

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
