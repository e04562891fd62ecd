"""Read one call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.errors import NotAStore
from riff_store.filters.dimensions import judges_shown
from riff_store.filters.notes import Note
from riff_store.interaction import EVENTS, Interaction
from riff_store.queries.conversations import Call
from riff_store.queries.sums import typed_flows
from riff_store.transcripts import Transcripts


@dataclass(frozen=True, slots=True)
class Verdict:
    """Describe one judge's score of one call on one aspect.

    `evidence` are the numbers of the turns that it named, counted from 1; `None` if it shows nothing of turns.
    """

    aspect: str
    judge: str
    score: float | None
    judged_at: int | None
    model: str | None
    rationale: str | None
    prompt_hash: str | None = None
    prompt_version: str | None = None
    evidence: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class VisitedState:
    """Describe a state's row of one call (docs/metrics.md, section 2); latency in milliseconds."""

    state: str
    segment: str
    progress: int
    stall: int
    escalation: int
    revisit: int
    dwell_turns: float
    latency_p95_ms: float | None
    guard_error: int
    slot_fill_rate: float | None
    to_states: Mapping[str, int]
    slow: float | None = None


@dataclass(frozen=True, slots=True)
class AskedStep:
    """Describe a step that a call's task asks for: the state that it enters, and the side that has to take it.

    `matched` shows whether its arguments were those of the task, `None` if nothing shows.
    """

    state: str
    by: str
    called: bool
    matched: bool | None

    @property
    def is_right(self) -> bool:
        """Return whether the step was taken, and nothing speaks against its arguments."""
        return self.called and self.matched is not False


@dataclass(frozen=True, slots=True)
class CallDetail:
    """Describe all that is known of one call; `document` is the kept transcript as plain JSON values.

    `document` is None where text was not kept; its keys are turns, events, slots, tool_calls, expected_steps, errors.
    `interaction` is None if there is no record of who spoke when. `steps` are those of the task, in its order. Where
    turns of its flow are `typed` no latency is a flaw.
    """

    call: Call
    aspects: Mapping[str, float | None]
    verdicts: Sequence[Verdict]
    states: Sequence[VisitedState]
    document: Mapping[str, object] | None
    source_path: str
    source_line: int
    notes: Sequence[Note] = ()
    interaction: Interaction | None = None
    steps: Sequence[AskedStep] = ()
    typed: bool = False


def conversation(store: Store, call: Call) -> CallDetail | None:
    """Return all that is known of a call, `None` if it is gone; raises `NotAStore` if its transcript is damaged."""
    key, text = call.id, m.Transcript
    with store.snapshot():
        found = store.execute(
            m.Conversation.select(m.SourceFile.path, m.Conversation.line, text.body, text.dictionary)
            .join(m.SourceFile, on=(m.SourceFile.id == m.Conversation.source_file))
            .join(text, pw.JOIN.LEFT_OUTER, on=(text.conversation == m.Conversation.id))
            .where(m.Conversation.id == key)
        )
        if not found:
            return None
        [(path, line, *kept)] = found
        typed = call.flow in typed_flows(store)
        return CallDetail(
            call=call,
            aspects={name: value for name, value in _aspects(store, key).items() if not typed or name != "slow"},
            verdicts=_verdicts(store, key),
            states=_states(store, key, typed=typed),
            steps=_steps(store, key),
            document=_document(store, *kept),
            source_path=path,
            source_line=line,
            notes=call.notes,
            interaction=call_interaction(store, key),
            typed=typed,
        )


def _aspects(store: Store, key: int) -> dict[str, float | None]:
    query = (
        m.AspectScore.select(m.Aspect.name, m.AspectScore.value)
        .join(m.Aspect, on=(m.Aspect.id == m.AspectScore.aspect))
        .where(m.AspectScore.conversation == key, m.AspectScore.judge == m.COMPUTED_JUDGE)
        .order_by(m.Aspect.name)
    )
    return dict(store.execute(query))


def _verdicts(store: Store, key: int) -> list[Verdict]:
    """Return the verdict that counts of each judge and aspect: the latest, of the later path and line."""
    judged, model = m.JudgedScore, pw.fn.NULLIF(m.Judge.model, "")
    query = (
        judged.select(
            m.Aspect.name, judged.judge, judged.score, judged.judged_at, model, judged.rationale,
            m.Judge.prompt_hash, judged.prompt_version, judged.evidence, m.SourceFile.path, judged.line,
        )
        .join(m.Judge, on=(m.Judge.id == judged.judge))
        .join(m.Aspect, on=(m.Aspect.id == judged.aspect))
        .join(m.SourceFile, on=(m.SourceFile.id == judged.source_file))
        .where(judged.conversation == key)
    )  # fmt: skip
    rows = store.execute(query)
    shown = judges_shown(store) if rows else {}
    latest: dict[tuple[str, str], tuple[Any, ...]] = {}
    for row in sorted(rows, key=lambda row: (-1 if row[3] is None else row[3], *row[9:11])):
        latest[row[0], shown[row[1]]] = row
    found = []
    for (aspect, judge), row in sorted(latest.items()):
        score, at, model, why, prompt_hash, version, evidence = row[2:9]
        found.append(Verdict(aspect, judge, score, at, model, why, prompt_hash or None, version, _turns(evidence)))
    return found


def _turns(evidence: str | None) -> list[int] | None:
    """Return the kept numbers of turns; a store that was tampered with names none."""
    try:
        found = json.loads(evidence) if evidence else None
    except (ValueError, RecursionError):
        return None
    return [turn for turn in found if type(turn) is int] if isinstance(found, list) else None


def _states(store: Store, key: int, *, typed: bool) -> list[VisitedState]:
    row, step, end = m.StateScore, m.Transition, m.State.alias()
    query = (
        row.select(
            m.State.name, m.Segment.name, row.progress, row.stall, row.escalation, row.revisit, row.dwell_turns,
            row.latency_p95_ms, row.guard_error, row.slot_fill_rate, row.slow, end.name, step.n,
        )
        .join(m.State, on=(m.State.id == row.state))
        .join(m.Segment, on=(m.Segment.id == row.segment))
        .join(step, pw.JOIN.LEFT_OUTER, on=((step.conversation == row.conversation) & (step.from_state == row.state)))
        .join(end, pw.JOIN.LEFT_OUTER, on=(end.id == step.to_state))
        .where(row.conversation == key)
        .order_by(m.State.name, end.name)
    )  # fmt: skip
    found = []
    for (*values, slow), steps in groupby(store.execute(query), key=lambda each: each[:-2]):
        to_states = {name: n for *_, name, n in steps if name is not None}
        found.append(VisitedState(*(*values, to_states, None if typed else slow)))
    return found


def _steps(store: Store, key: int) -> list[AskedStep]:
    step = m.ExpectedStep
    query = (
        step.select(m.State.name, step.by, step.called, step.matched)
        .join(m.State, on=(m.State.id == step.state))
        .where(step.conversation == key)
        .order_by(step.position)
    )
    return [
        AskedStep(state, by, bool(called), None if matched is None else bool(matched))
        for state, by, called, matched in store.execute(query)
    ]


def transcript_of(store: Store, key: int) -> Mapping[str, object] | None:
    """Return the transcript of a call, `None` if its text was not kept; raises `NotAStore` for a damaged one."""
    kept = m.Transcript
    rows = store.execute(kept.select(kept.body, kept.dictionary).where(kept.conversation == key))
    return _document(store, *rows[0]) if rows else None


def _document(store: Store, body: bytes | None, dictionary: int | None) -> Mapping[str, object] | None:
    if body is None:
        return None
    try:
        return Transcripts(store).document(body, dictionary)
    except ValueError as error:
        raise NotAStore(f"{store.location}: the transcript of this call is damaged", "ingest its file again") from error


def call_interaction(store: Store, key: int) -> Interaction | None:
    """Return the sums of one call by its key, `None` if there is no record of who spoke when."""
    row = m.CallInteraction
    query = row.select(*(getattr(row, name) for name in EVENTS)).where(row.conversation == key)
    return next((Interaction(1, *found) for found in store.execute(query)), None)
