"""Say why a cell is marked bad or worth a look: the bound that it passed, in a few words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from riff_store.measure import GUARD_ERRORS, HEALTHY_PROGRESS, HIGH, LONG_DWELL, SLOW, THIN
from riff_tui.table import Row, Severity, Table
from riff_tui.text.numbers import fixed, percent
from riff_tui.views.parts.cells import ALIGNED, BAD_SCORE, FAIR, HARDLY, LATE, SLIGHT, UNALIGNED, WATCHED, WEAK_SCORE

_Explain: TypeAlias = Callable[[bool], str]


def reasons(table: Table, row: Row) -> Iterator[tuple[Severity, str, str]]:
    """Yield for each marked cell of a row its severity, the column's title and why; the gravest first."""
    columns = {column.key: column for column in table.columns}
    for wanted in ("bad", "warn"):
        for key, severity in row.severity.items():
            text = reason(key, severity) if key in columns else ""
            if severity == wanted and text:
                yield severity, columns[key].title, text


def thinness(row: Row) -> str:
    """Return why a row is thin, nothing where it is not."""
    behind = "groups" if "groups" in row.record else "calls"
    return f"fewer than {THIN} {behind} stand behind it" if row.thin else ""


def reason(key: str, severity: Severity) -> str:
    """Return the bound that a cell passed, by its column's key."""
    if severity not in ("bad", "warn"):
        return ""
    explain = _REASONS.get(key) or (_score if key.startswith("humanness.") else None)
    return explain(severity == "bad") if explain else ""


def _number(value: float) -> str:
    return fixed(value, 2, trim=True)


def _score(bad: bool) -> str:
    return f"{BAD_SCORE} or less of 10" if bad else f"below {WEAK_SCORE} of 10"


def _latency(bad: bool) -> str:
    return f"above {_number(SLOW)} s" if bad else f"above {_number(LATE)} s"


def _share(bad: bool) -> str:
    return f"{percent(HIGH if bad else WATCHED)} or more of the calls"


def _progress(bad: bool) -> str:
    return f"below {percent(HARDLY if bad else HEALTHY_PROGRESS)}"


def _dwell(bad: bool) -> str:
    stuck = f" while progress is below {percent(HEALTHY_PROGRESS)}" if bad else ""
    return f"above {_number(LONG_DWELL)} turns an entry{stuck}"


def _guards(bad: bool) -> str:
    return f"{_number(GUARD_ERRORS)} or more a call" if bad else "some guards raised"


def _slots(bad: bool) -> str:
    bound = percent(HARDLY if bad else HEALTHY_PROGRESS)
    return f"below {bound} while progress is below {percent(HEALTHY_PROGRESS)}"


def _wrong(bad: bool) -> str:
    taken = "took it with other arguments than the task's"
    return f"{percent(HIGH)} or more of the failed calls {taken}" if bad else f"some failed calls {taken}"


def _missed(bad: bool) -> str:
    return f"{percent(HIGH)} or more of the failed calls never took it" if bad else "some failed calls never took it"


def _kappa(bad: bool) -> str:
    return f"below {_number(SLIGHT if bad else FAIR)}: {'hardly' if bad else 'little'} more than by chance"


def _aligned(bad: bool) -> str:
    return f"the whole 95 % interval lies below {percent(UNALIGNED if bad else ALIGNED)}"


def _flaky(bad: bool) -> str:
    return f"{percent(HIGH if bad else WATCHED)} or more of the groups"


def _always(words: str) -> _Explain:
    return lambda bad: words


_REASONS: Mapping[str, _Explain] = {
    **dict.fromkeys(("operability", "correctness", "completion", "errors", "worst_operability"), _score),
    **dict.fromkeys(("latency_p95", "latency_mean", "latency_ms"), _latency),
    "stall": _share,
    "escalation": _share,
    "missed": _missed,
    "wrong_args": _wrong,
    "progress": _progress,
    "dwell_turns": _dwell,
    "effect": _always("its 95 % interval lies on the worse side of 0"),
    "guard_error": _guards,
    "slot_fill_rate": _slots,
    "kappa": _kappa,
    **dict.fromkeys(("tpr", "tnr"), _aligned),
    "flaky": _flaky,
    "change": _always("success fell against the run before by more than chance"),
    "success_change": _always("success fell against the run before the edit by more than chance"),
    "moved": _always("flows fell against the run before by more than chance"),
    "completed": _always("the flow did not run to its own end"),
    "caller_ok": _always("the caller failed: the call is not counted in averages"),
    "errored": _always("a broken agent or backend: the call is not counted in averages"),
    "error_count": _always("there were errors during the call"),
    "detail": _always("it raised or failed"),
    "direction": _always("b does worse than a"),
}
