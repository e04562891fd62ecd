"""Show each aspect of each flow, candidate against baseline, what fails first."""

from __future__ import annotations

from typing import Any

from riff_store.measure import THIN
from riff_tui.gate import messages
from riff_tui.gate.decision import Check, CheckStatus, Decision, Quarantined
from riff_tui.shapes import COUNT, FLAG, NUMBER, TEXT, list_of, numbers, or_null, record
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import ViewSpec

RULE = (
    "A check fails where the candidate is worse by more than it may be, and surely so:"
    " p, corrected over the checks of its kind, and that of its flow, corrected over the flows, of at most 5 %."
)
COVERED = (
    "How much of a flow is covered is counted: a check of that fails below what it has to be, whatever chance does."
)
UNITS = (
    "Units: success_rate share of correct and complete calls, pp percentage points · latency s{} · else points of 0-10."
)
MOST_COMMANDS = 10
_MARKS: dict[CheckStatus, Severity] = {"failed": "bad", "allowed": "warn"}
_COLUMNS = (
    columns.FLOW,
    Column("aspect", "Aspect", kind="name", help="What is checked of calls: an aspect, success, or that they errored."),
    Column("judge", "Judge", kind="name", shown=False, help="Whose judgement it is, of humanness."),
    Column(
        "check", "Check", kind="name", shown=False,
        help="The aspect itself, errored: how many calls errored, measured: of how many it was not measured, or"
        " covered: how many items of the flow were touched.",
    ),
    Column("standing", "Verdict", kind="text", help="failed, allowed, noise, passed, or too few to decide."),
    Column("baseline", "baseline", help="The mean of the baseline's calls."),
    Column("candidate", "candidate", help="The mean of the candidate's calls."),
    Column("change", "change", help="Candidate minus baseline."),
    Column("allowed", "allowed", help="How far it may go to the worse."),
    Column("smallest_fall", "could see", help="The smallest fall that four of five such gates find; · for none."),
    Column("n_baseline", "n base", kind="count", help="Calls of the baseline that were measured."),
    Column("n_candidate", "n cand", kind="count", help="Calls of the candidate that were measured."),
    Column("pairs", "pairs", kind="count", shown=False, help="Calls of both that pair up, where the test is paired."),
    Column("test", "test", kind="text", shown=False, help="The test that p comes from."),
    Column("p", "p", decimals=4, help="How likely such a difference would be, were there none."),
    Column(
        "p_adjusted", "p corr", decimals=4,
        help="p after Benjamini and Hochberg's correction over the checks of this gate.",
    ),
    Column(
        "p_flow", "p flow", decimals=4,
        help="p of all falls of the flow together (Simes) after Holm's correction over the flows.",
    ),
)  # fmt: skip


def gate(decision: Decision) -> Table:
    """Return one row per check, in the order of the decision; `extras` show the outcome to scripts."""
    failed, covered = decision.of("failed"), any(check.kind == "covered" for check in decision.checks)
    units = UNITS.format(columns.units_of(check.aspect for check in decision.checks))
    return Table(
        view="gate",
        title=(
            f"Gate {'passed' if decision.passed else 'FAILED'}:"
            f" {messages.short(decision.candidate)} against {messages.short(decision.baseline)}"
        ),
        columns=_COLUMNS,
        rows=[_row(check, decision) for check in decision.checks],
        commands=[(messages.fall(check, decision), check.command) for check in failed[:MOST_COMMANDS] if check.command],
        notes=[*messages.notes(decision), RULE, *([COVERED] if covered else []), units],
        extras={
            **cells.values_of(decision, "baseline candidate passed failing"),
            "because": [_told(check) for check in failed],
            "recovered": [_told(check) for check in decision.recovered],
            "missing": [{"flow": each.flow, "errored": each.errored} for each in decision.missing],
            "added": list(decision.added),
            "min_n": decision.min_n,
            "unmeasured": list(decision.unmeasured),
            "quarantined": [_apart(each) for each in decision.quarantined],
        },
    )


def _told(check: Check) -> dict[str, Any]:
    """Return a check that failed or recovered as scripts read it; `n` are the rows that its command opens."""
    return {
        **cells.values_of(check, "flow agent aspect judge"),
        "check": check.kind,
        "before": check.baseline,
        "after": check.candidate,
        "change": check.change,
        "interval": None if check.interval is None else list(check.interval),
        "n": _opened(check),
        **({"missing": list(check.missing)} if check.kind == "covered" else {}),
        **cells.values_of(check, "n_baseline n_candidate p_adjusted since command"),
        "argv": list(check.argv),
        "open": list(check.opens),
    }


def _apart(each: Quarantined) -> dict[str, Any]:
    """Return what is in quarantine as scripts read it."""
    (before, n_baseline), (after, n_candidate) = each.baseline, each.candidate
    return {
        **cells.values_of(each, "flow scenario owner reason until ended"),
        "n_baseline": n_baseline,
        "n_candidate": n_candidate,
        "before": before / n_baseline if n_baseline else None,
        "after": after / n_candidate if n_candidate else None,
        "matched": each.calls,
        **cells.values_of(each, "nights recovered"),
    }


def _opened(check: Check) -> int:
    """Return how many calls, or items, the command of a check opens."""
    if check.kind == "covered":
        return len(check.missing)
    return check.n_candidate if check.kind == "aspect" else round((check.candidate or 0.0) * check.n_candidate)


def _row(check: Check, decision: Decision) -> Row:
    record: dict[str, Any] = {
        **cells.values_of(check, "flow aspect judge"),
        "check": check.kind,
        "standing": check.status,
        **cells.values_of(check, "baseline candidate change allowed smallest_fall n_baseline n_candidate pairs"),
        **cells.values_of(check, "test p p_adjusted p_flow better"),
        "interval": None if check.interval is None else list(check.interval),
    }
    display = {
        "flow": messages.short(check.flow),
        "aspect": messages.short(check.name),
        "standing": "FAILED" if check.status == "failed" else check.status,
        "baseline": messages.before(check),
        "candidate": messages.after(check),
        "change": messages.change(check),
        "allowed": messages.allowed(check),
        "smallest_fall": messages.smallest_fall(check),
        **{key: messages.p_value(record[key]) for key in ("p", "p_adjusted", "p_flow")},
    }
    mark = _MARKS.get(check.status)
    return Row(
        f"{cells.where({'flow': check.flow})} {check.name}",
        record,
        display=display,
        severity={"": mark, "standing": mark} if mark else {},
        thin=check.status == "too few" and min(check.n_baseline, check.n_candidate) < THIN,
        where=cells.where({"flow": check.flow}),
    )


_INTERVAL = or_null(list_of(NUMBER))
_TOLD = record(
    {
        **dict.fromkeys(("flow", "aspect", "check", "command"), TEXT),
        **dict.fromkeys(("agent", "judge", "since"), or_null(TEXT)),
        **numbers(("before", "after", "change", "p_adjusted")),
        **dict.fromkeys(("n", "n_baseline", "n_candidate"), COUNT),
        **dict.fromkeys(("missing", "argv", "open"), list_of(TEXT)),
        "interval": _INTERVAL,
    },
    sometimes=("missing",),
)
_APART = record(
    {
        **dict.fromkeys(("flow", "scenario"), or_null(TEXT)),
        **dict.fromkeys(("owner", "reason", "until"), TEXT),
        **dict.fromkeys(("ended", "recovered"), FLAG),
        **dict.fromkeys(("n_baseline", "n_candidate", "matched", "nights"), COUNT),
        **numbers(("before", "after")),
    }
)

SPEC = ViewSpec(
    name="gate",
    title="Gate",
    help=(
        "Each aspect of each flow, candidate against baseline, what fails first.",
        "A check fails where the candidate is worse by more than it may be, and surely so. Errored calls, calls of"
        " which an aspect was not measured, and what --min-coverage asks for are checks as well.",
        "The exit code is 3 where one fails.",
    ),
    listed=False,
    command="riff-tui gate --baseline A --candidate B",
    columns=_COLUMNS,
    rows={"pairs": or_null(COUNT), "better": TEXT, "interval": _INTERVAL},
    top={
        **dict.fromkeys(("baseline", "candidate"), TEXT),
        "passed": FLAG,
        "min_n": COUNT,
        **dict.fromkeys(("failing", "added", "unmeasured"), list_of(TEXT)),
        **dict.fromkeys(("because", "recovered"), list_of(_TOLD)),
        "missing": list_of(record({"flow": TEXT, "errored": COUNT})),
        "quarantined": list_of(_APART),
    },
)
