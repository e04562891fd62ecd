"""Describe in a line what happened in a moment of a call, in such words of callers and models as are wanted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from riff_store.scoring import FULL
from riff_tui.table import Row, Table
from riff_tui.timeline_events import RETRIED, Entry, Moment, entries, name
from riff_tui.views.parts import cells

if TYPE_CHECKING:
    from riff_store.queries.conversation import AskedStep, CallDetail


Redact: TypeAlias = Callable[[str], str]

SHOWN_RESULT = 60
"""Characters of what a tool answered that stand in the line of its call; the row has all that is kept of it."""


class CallWords:
    """Let words of callers and models into the table as they are wanted: not at all, redacted or as they are."""

    def __init__(self, wanted: bool, redact: Redact | None) -> None:
        self.wanted = wanted
        self._redact = redact

    def __call__(self, value: Any) -> Any:
        if not self.wanted:
            return None
        if self._redact is None:
            return value
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, Mapping):
            return {self(key): self(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self(part) for part in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            # A phone number may have been stored as a number.
            shown = self._redact(str(value))
            return value if shown == str(value) else shown
        return value

    def shown(self, value: Any) -> str:
        """Return a value of the document on one line of text."""
        value = self(value)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def failed(error: object) -> bool:
    """Return whether what a guard or a tool has for an error is one."""
    return error is not None and error is not False


def detail_of(moment: Moment, words: CallWords) -> str | None:
    """Return what happened, `None` for a turn and for the state that a call begins in."""
    if moment.kind == "state" and moment.left is not None:
        state, reason = moment.left
        return f"from {state}" + (f": {words(reason)}" if reason and words.wanted else "")
    if moment.kind == "slot":
        slot = name(moment.entry.get("slot")) or ""
        return f"{slot} = {words.shown(moment.entry.get('value'))}" if words.wanted else slot
    if moment.kind == RETRIED:
        why = words(name(moment.entry.get("message")))
        return "a request was sent again" + (f", for {why}" if why else "")
    if moment.kind == "guard":
        return _guard_detail(moment, words)
    return _tool_detail(moment, words) if moment.kind == "tool" else None


def _guard_detail(moment: Moment, words: CallWords) -> str:
    guard, error = name(moment.entry.get("guard")) or "", moment.entry.get("error")
    if error is not None:
        return f"{guard} raised" + (f": {words.shown(error)}" if words.wanted else "")
    result = moment.entry.get("result")
    if isinstance(result, bool):
        return f"{guard} is {'true' if result else 'false'}"
    return f"{guard} = {words.shown(result)}" if words.wanted else guard


def _tool_detail(moment: Moment, words: CallWords) -> str:
    called, error = name(moment.entry.get("name")) or "", moment.entry.get("error")
    arguments = moment.entry.get("arguments")
    shown = f"{called}({words.shown(arguments) if words.wanted and arguments is not None else ''})"
    if failed(error):
        shown += " failed" + (f": {words.shown(error)}" if words.wanted and error is not True else "")
    result = moment.entry.get("result")
    if words.wanted and result is not None:
        answer = words.shown(result)
        shown += f" → {answer if len(answer) <= SHOWN_RESULT else f'{answer[: SHOWN_RESULT - 1]}…'}"
    return shown


STEP = "step"


class TakenStep(NamedTuple):
    """Describe a step of the task: what it `asked` for, and what the tool was `given` that came nearest to it.

    `t` is when that was, in seconds; `asked` and `given` are what the transcript keeps, whatever it is.
    """

    step: AskedStep
    asked: Any = None
    given: Any = None
    t: float | None = None

    @property
    def how(self) -> str:
        """Return in words how the step was taken."""
        if not self.step.called:
            return "never called"
        if self.step.matched is None:
            return "called, arguments not compared"
        return "called" if self.step.matched else "called with wrong arguments"


def taken_steps(detail: CallDetail, moments: Sequence[Moment]) -> list[TakenStep]:
    """Return the steps of a call's task, each with the call of a tool that comes nearest to it."""
    asked = entries(detail.document, "expected_steps")
    found = []
    for step in detail.steps:
        kept = next((entry for entry in asked if _state_of(entry) == step.state), None)
        asked = [entry for entry in asked if entry is not kept]
        arguments = None if kept is None else kept.get("arguments")
        nearest = _nearest(step, arguments, moments) if step.called else None
        given = nearest.entry.get("arguments") if nearest is not None and nearest.kind == "tool" else None
        found.append(TakenStep(step, arguments, given, None if nearest is None else nearest.t))
    return found


def with_steps(table: Table, taken: Sequence[TakenStep], detail: CallDetail, words: CallWords) -> Table:
    """Add the expected path behind what happened; what was missed is marked in calls that failed, elsewhere a hint."""
    if not taken:
        return table
    blank = {column.key: None for column in table.columns} | {"kind": STEP}
    records = [
        {"detail": _counted(detail.steps)},
        *(_fields(place, step, words) for place, step in enumerate(taken, 1)),
    ]
    wrong = [False, *(not step.step.is_right for step in taken)]
    failed = is_failed(detail)
    rows = [
        Row(
            str(place),
            blank | record,
            display={key: "" for key, value in (blank | record).items() if value is None and key != "t"},
            severity={"detail": "bad", "": "bad"} if failed and is_wrong else {},
        )
        for place, (record, is_wrong) in enumerate(zip(records, wrong, strict=True), len(table.rows) + 1)
    ]
    return table._replace(
        rows=[*table.rows, *rows],
        extras={**table.extras, "expected_steps": [_record(step, words) for step in taken]},
    )


def is_failed(detail: CallDetail) -> bool:
    """Return whether a call that counts did not do its task."""
    correctness = detail.aspects.get("correctness")
    return correctness is not None and correctness < FULL and not detail.call.errored


def steps_summary(steps: Sequence[AskedStep]) -> str:
    """Return how many steps of the task were taken rightly, and the names of those that were not."""
    missed = dict.fromkeys(step.state for step in steps if not step.called)
    wrong = dict.fromkeys(step.state for step in steps if step.called and not step.is_right)
    parts = [_counted(steps), *([f"missed {', '.join(missed)}"] if missed else [])]
    return " · ".join([*parts, *([f"wrong arguments {', '.join(wrong)}"] if wrong else [])])


def step_text(table: Table) -> tuple[str, bool]:
    """Return a line on the steps of a conversation's table, nothing without any, and whether that is bad."""
    listed = table.extras.get("expected_steps") or ()
    from riff_store.queries.conversation import AskedStep

    steps = [AskedStep(each["state"], each["by"], each["called"], each["matched"]) for each in listed]
    is_bad = any(row.record.get("kind") == STEP and row.severity for row in table.rows)
    return (steps_summary(steps) if steps else ""), is_bad


def _counted(steps: Sequence[AskedStep]) -> str:
    return f"{sum(step.is_right for step in steps)} of {len(steps)} expected steps taken"


def _fields(place: int, taken: TakenStep, words: CallWords) -> dict[str, Any]:
    detail = f"{place} {taken.step.state}: {taken.how}"
    if taken.step.called and taken.step.matched is False:
        detail += _difference(taken, words)
    elif not taken.step.called and words.wanted and taken.asked:
        detail += f", asked {words.shown(taken.asked)}"
    return {"t": taken.t, "state": taken.step.state, "role": taken.step.by, "detail": detail}


def _difference(taken: TakenStep, words: CallWords) -> str:
    """Return the arguments that differ: asked for, and given."""
    asked, given = taken.asked, taken.given
    if not words.wanted or asked is None or given is None:
        return ""
    if isinstance(asked, Mapping) and isinstance(given, Mapping):
        keys = [key for key in {**asked, **given} if key not in asked or key not in given or asked[key] != given[key]]
        asked, given = ({key: each[key] for key in keys if key in each} for each in (asked, given))
    return f", asked {words.shown(asked)}, given {words.shown(given)}"


def _record(taken: TakenStep, words: CallWords) -> dict[str, Any]:
    record = cells.values_of(taken.step, "state by called matched")
    return record | {"t": taken.t, "asked": words(taken.asked), "given": words(taken.given)}


def _state_of(entry: Entry) -> str:
    called, by = name(entry.get("name")) or "", name(entry.get("by")) or "agent"
    return called if by == "agent" else f"user:{called}"


def _nearest(step: AskedStep, asked: object, moments: Sequence[Moment]) -> Moment | None:
    """Return the call of the step's tool whose arguments agree most with the task's; else the visit to its state."""
    tools = [moment for moment in moments if moment.kind == "tool" and _state_of(moment.entry) == step.state]
    if tools:
        return max(tools, key=lambda moment: _agreement(asked, moment.entry.get("arguments")))
    return next((moment for moment in moments if moment.kind == "state" and moment.state == step.state), None)


def _agreement(asked: object, given: object) -> tuple[int, int]:
    """Count the arguments that are as asked for, less those that are not."""
    if not isinstance(asked, Mapping) or not isinstance(given, Mapping):
        return int(asked == given), 0
    same = sum(key in given and given[key] == value for key, value in asked.items())
    return same, same - len({**asked, **given})


FEWEST_WORDS = 3
"""Sentences of fewer words say little that could be said again."""
_SENTENCE, _WORD = re.compile(r"[.!?。！？]+"), re.compile(r"\w+")


def tell_repeats(rows: list[Row]) -> None:
    """Return for each turn of nothing but sentences that its side has said before when it first said the last."""
    said: dict[tuple[str | None, str], float | None] = {}
    for at, row in enumerate(rows):
        if row.record["kind"] != "turn" or not row.record["text"]:
            continue
        role, t = row.record["role"], row.record["t"]
        sentences = [" ".join(_WORD.findall(each.casefold())) for each in _SENTENCE.split(row.record["text"])]
        telling = [each for each in sentences if each.count(" ") >= FEWEST_WORDS - 1]
        if telling and all((role, each) in said for each in telling) and (first := said[role, telling[-1]]) is not None:
            rows[at] = row._replace(record={**row.record, "as_at": first})
        for each in telling:
            said.setdefault((role, each), t)
