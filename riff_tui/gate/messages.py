"""Put a decision into words: the figures of a check, the one line of a decision, and its notes.

All of it is raw text: what shows it makes it safe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from riff_store.metrics import unit_of
from riff_tui.gate.decision import Check, Decision, MissingFlow, Quarantined
from riff_tui.text.numbers import counted, fixed, percent
from riff_tui.text.safe_text import fit, one_line

LISTED = 12
NAME_WIDTH = 80
_DECIMALS = {"s": 2, "0-1": 2, "interruptions per turn": 2}


def before(check: Check) -> str:
    """Return the value of the baseline."""
    return _value(check, check.baseline, check.n_baseline)


def after(check: Check) -> str:
    """Return the value of the candidate."""
    return _value(check, check.candidate, check.n_candidate)


def _value(check: Check, number: float | None, n: int) -> str:
    """Return a share in percent, one of calls as so many of all, seconds with their unit, else the plain number."""
    if check.kind != "aspect" and number is not None:
        return f"{round(number * n)} of {n}"
    if _unit_of(check) == "share":
        return percent(number)
    return fixed(number, _DECIMALS.get(_unit_of(check), 1)) + _unit(check, number)


def change(check: Check) -> str:
    """Return how far the candidate is from the baseline, with its sign."""
    if check.change is None:
        return _value(check, None, 0)
    if _unit_of(check) == "share":
        return _signed(fixed(check.change * 100, 1)) + " pp"
    return _signed(fixed(check.change, 2)) + _unit(check, check.change)


def allowed(check: Check) -> str:
    """Return how far it may fall, of items how many it has to touch."""
    if check.kind == "covered":
        return f"{percent(1 - check.allowed)} at least"
    return _size(check, check.allowed)


def smallest_fall(check: Check) -> str:
    """Return the smallest fall that would have been seen."""
    if check.kind != "aspect" or check.status == "too few":
        return ""
    return fixed(None) if check.smallest_fall is None else _size(check, check.smallest_fall, 1)


def _size(check: Check, size: float, decimals: int = 3) -> str:
    if _unit_of(check) == "share":
        return f"{_plain(size * 100, decimals)} pp"
    return _plain(size, max(2, decimals)) + _unit(check, size)


def p_value(p: float | None) -> str:
    """Return a p-value with four decimals, `<0.0001` if it is smaller than those can show."""
    return "<0.0001" if p is not None and p < 0.0001 else fixed(p, 4)


def figures(check: Check) -> str:
    """Return all that a decision on a check rests on, such as `success_rate 61% → 37% (-24.2 pp, …)`."""
    if check.kind == "measured":
        was = f"baseline {before(check)}; p {p_value(check.p)}, corrected {p_value(check.p_adjusted)}"
        return f"{check.name} of {after(check)} ({was})"
    if check.kind == "covered":
        return f"{_moved(check)} ({grounds(check)})" if check.missing else _moved(check)
    return (
        f"{check.name} {before(check)} → {after(check)}"
        f" ({grounds(check)}; p {p_value(check.p)}, corrected {p_value(check.p_adjusted)})"
    )


def grounds(check: Check) -> str:
    """Return how far a check moved, how far it may, and over how many calls; of items which are missing."""
    if check.kind == "covered":
        return f"not touched: {_shortened(check.missing)}"
    return f"{change(check)}, allowed {allowed(check)}; n {check.n_baseline} and {check.n_candidate}"


def fall(check: Check, decision: Decision) -> str:
    """Return what a check found, such as `dental success_rate 61% → 37%, new in night-2`."""
    found = moved(check)
    if check.since is None:
        return found
    is_new = check.since == decision.candidate
    return f"{found}, {'new in' if is_new else 'since'} {short(check.since)}"


def moved(check: Check) -> str:
    """Return from where to where a check moved, such as `dental success_rate 61% → 37%`."""
    return f"{short(check.flow)} {_moved(check)}"


def _moved(check: Check) -> str:
    if check.kind == "measured":
        return f"{short(check.name)} of {after(check)}"
    least = f", {allowed(check)}" if check.kind == "covered" else ""
    return f"{short(check.name)} {before(check)} → {after(check)}{least}"


def too_few(check: Check, min_n: int) -> str:
    """Return why a check could not be decided."""
    return f"n {check.n_baseline} and {check.n_candidate}, and it takes {min_n} on both sides"


def outcome(decision: Decision) -> str:
    """Return the decision in one line, with the flows that fail it."""
    if decision.passed:
        return f"gate passed: {against(decision)}; {counts(decision)}"
    if not decision.failing and not decision.ended:
        return f"gate failed: {against(decision)}; {counts(decision)}"
    parts = [_of_flow(decision, flow) for flow in decision.failing] + [ended(each) for each in decision.ended]
    return f"gate failed: {_joined(parts[:LISTED], len(parts), '; ')}; {against(decision)}"


def against(decision: Decision) -> str:
    """Return which run is compared with which."""
    return f"{short(decision.candidate)} against {short(decision.baseline)}"


def recovered(decision: Decision, most: int = LISTED) -> str:
    """Return what is surely better, in a sentence."""
    better = _joined(map(moved, decision.recovered[:most]), len(decision.recovered))
    return f"Recovered, as surely as a fall has to be: {better}."


def not_called(decision: Decision, most: int = LISTED) -> str:
    """Return which flows the candidate lacks, and what that means, in a sentence."""
    fails = "which fails this gate" if decision.strict else "so it is not checked (--strict fails then)"
    names = _joined(map(missing_flow, decision.missing[:most]), len(decision.missing))
    return f"Not called in {short(decision.candidate)}, {fails}: {names}."


def notes(decision: Decision) -> list[str]:
    """Return what has to be known besides the checks, a sentence each."""
    found = [
        f"Not touched in {short(decision.candidate)}, {short(check.flow)}: {check.aspect} {_shortened(check.missing)}."
        for check in decision.of("failed")[:LISTED]
        if check.kind == "covered"
    ]
    if decision.recovered:
        found.append(recovered(decision))
    if decision.missing:
        found.append(not_called(decision))
    if decision.added:
        names = _joined([short(flow) for flow in decision.added[:LISTED]], len(decision.added))
        found.append(f"New in {short(decision.candidate)}, with nothing to compare it to: {names}.")
    few = decision.of("too few")
    if few:
        rest = "Nothing could be decided" if decision.undecided else "Too few to decide"
        found.append(f"{rest}: {counted(len(few), 'check')} of fewer than {decision.min_n} calls on a side.")
    if any(decision.alone):
        of_baseline, of_candidate = decision.alone
        found.append(
            f"Without a partner, so left out of paired checks: {of_baseline} of the baseline's calls"
            f" and {of_candidate} of the candidate's."
        )
    found += of_quarantine(decision)
    found += _smallest_falls(decision)
    if decision.unmeasured:
        found.append(f"Not measured in any flow, so not checked: {', '.join(decision.unmeasured)}.")
    baseline, candidate = decision.called
    if baseline and candidate and baseline != candidate:
        found.append(
            f"Not alike: the baseline was called by {_shortened(baseline)}, the candidate by"
            f" {_shortened(candidate)}. What differs may be their callers."
        )
    if any(decision.excluded):
        of_baseline, of_candidate = decision.excluded
        found.append(
            f"Excluded: errored calls, {of_baseline} of the baseline and {of_candidate} of the candidate,"
            " are not counted in averages."
        )
    return found


def of_quarantine(decision: Decision, most: int = LISTED) -> Iterator[str]:
    """Yield what is in quarantine, a sentence each: what has ended, what decides nothing, and what should leave."""
    if over := decision.ended:
        yield f"Fails this gate: {_joined(map(ended, over[:most]), len(over), '; ')}."
    for each in decision.quarantined[:most]:
        yield f"In quarantine, decides nothing: {quarantined(each)}."
    if len(decision.quarantined) > most:
        yield f"In quarantine as well: {len(decision.quarantined) - most} more."
    told = [f"{whose(each)} {found}" for each in decision.quarantined if (found := advice(each))]
    if told:
        yield f"Take out of the quarantine: {_joined(told[:most], len(told), '; ')}."


def whose(each: Quarantined) -> str:
    """Return whose calls are in quarantine."""
    if each.scenario is None or each.flow is None:
        return short(each.flow or each.scenario or "")
    return f"{short(each.flow)} / {short(each.scenario)}"


def quarantined(each: Quarantined) -> str:
    """Return what became of calls in quarantine, who fixes them until when, and why they are there."""
    (was, of), (now, n) = each.baseline, each.candidate
    found = f"{now} of {n} succeeded, {was} of {of} before" if each.calls else "no call of either side"
    return f"{whose(each)}, {found} ({short(each.owner)}, until {each.until}: {short(each.reason)})"


def ended(each: Quarantined) -> str:
    """Return that an entry is past its day."""
    why = f"{short(each.owner)}: {short(each.reason)}"
    return f"the quarantine of {whose(each)} ({why}) ended on {each.until}, so fix it or give it another day"


def advice(each: Quarantined) -> str:
    """Return why an entry should be taken out, an empty text if it should not."""
    if not each.calls:
        return "matches no call of either side"
    return f"passed {each.nights} nights in a row" if each.recovered else ""


def _smallest_falls(decision: Decision) -> Iterator[str]:
    """Yield what could have been seen of success: the smallest fall, from the flow where it is least to the last."""
    decided = [each for each in decision.checks if each.aspect == "success_rate" and each.kind == "aspect"]
    decided = [each for each in decided if each.status != "too few"]
    seen = sorted(
        (each for each in decided if each.smallest_fall is not None), key=lambda each: each.smallest_fall or 0
    )
    if seen:
        ends = [seen[0]] if len(seen) == 1 else [seen[0], seen[-1]]
        falls = " to ".join(_least(each, named=len(decided) > 1) for each in ends)
        yield f"A fall of success_rate of less than {falls} could not be distinguished from chance (power 80 %)."
    blind = len(decided) - len(seen)
    if blind:
        where = "" if len(decided) == 1 else f" in {counted(blind, 'flow')}"
        yield f"Not even a fall of success_rate to 0 % could be told from chance{where}."


def _least(check: Check, *, named: bool) -> str:
    behind = counted(check.pairs, "pair") if check.pairs is not None else counted(check.n_candidate, "call")
    points = f"{fixed((check.smallest_fall or 0.0) * 100, 0)} points"
    return f"{points} ({short(check.flow)}, {behind})" if named else f"{points} with {behind}"


def missing_flow(missing: MissingFlow) -> str:
    """Return a flow that the candidate lacks, and whether all calls of it errored."""
    if not missing.errored:
        return short(missing.flow)
    return f"{short(missing.flow)} (all {counted(missing.errored, 'call')} of it errored)"


def short(name: str) -> str:
    """Return a name for a sentence or a cell: safe, no command in the log of a build, and cut if it is too long."""
    return fit(unarmed(name), NAME_WIDTH)


def unarmed(text: str) -> str:
    """Return safe text that GitHub does not obey: new commands begin a line, old ones are anywhere in it."""
    safe = one_line(text).replace("##[", "## [")
    return f"'{safe}'" if safe.lstrip().startswith("::") else safe


def _of_flow(decision: Decision, flow: str) -> str:
    failed = [check for check in decision.of("failed") if check.flow == flow]
    if not failed:
        return f"{short(flow)} (not called)"
    return f"{short(flow)} ({', '.join(map(_moved, failed))})"


def counts(decision: Decision) -> str:
    """Return how many checks of how many flows there were, and which of them decide nothing."""
    total, few = len(decision.checks), len(decision.of("too few"))
    checks = f"{counted(total, 'check')} of {counted(len(decision.flows), 'flow')}"
    if total and decision.undecided:
        return f"{checks}, none of which could be decided with fewer than {decision.min_n} calls on a side"
    extra = [f"{few} too few to decide"] if few else []
    extra += [f"{counted(len(decision.missing), 'flow')} not called"] if decision.missing else []
    extra += [f"{len(decision.quarantined)} in quarantine"] if decision.quarantined else []
    return ", ".join([checks, *extra])


def _shortened(names: Sequence[str]) -> str:
    return _joined([short(name) for name in names[:LISTED]], len(names))


def _joined(parts: Iterable[str], total: int, by: str = ", ") -> str:
    known = list(parts)
    more = total - len(known)
    return by.join([*known, *([f"{more} more"] if more else [])])


def _unit_of(check: Check) -> str:
    return unit_of(check.aspect) if check.kind == "aspect" else "share"


def _unit(check: Check, number: float | None) -> str:
    return " s" if _unit_of(check) == "s" and number is not None else ""


def _signed(text: str) -> str:
    return text if text.startswith("-") or not text.strip("0.") else f"+{text}"


def _plain(number: float, decimals: int = 3) -> str:
    text = fixed(number, decimals, trim=True)
    return text.removesuffix(".0")
