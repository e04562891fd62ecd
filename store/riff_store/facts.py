"""Define what the writer takes: the scored facts of one call, of one judge's verdict, of one file.

Names are plain text here; the writer turns them into keys. A value that was not measured is
`None`, never 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from riff_store.interaction import Interaction
from riff_store.vocabulary import step_text

if TYPE_CHECKING:
    from riff_store.vocabulary import CoverageKind

Time = TypeVar("Time")


class StateAspects(msgspec.Struct, gc=False):
    """Describe the metrics of one state in one conversation (docs/metrics.md, section 2).

    `position` is the place of its first visit among the visits of the call, from 0, `slow` the share of its turns that
    callers wait long for, of those with a latency.
    """

    state: str
    segment: str
    progress: int
    stall: int | None
    escalation: int
    revisit: int
    dwell_turns: float
    latency_p95_ms: float | None
    guard_error: int
    slot_fill_rate: float | None
    to_states: dict[str, int]
    lost: int | None = None
    position: int | None = None
    slow: float | None = None


class ToolAspects(msgspec.Struct, gc=False):
    """Describe how one tool fared in one state of a conversation (docs/metrics.md, section 18).

    `tool` has `user:` before its name where the caller called it; `state` is `None` if it is not known. `errors` of its
    `n` calls failed, and `unrecovered` of these were followed by no good call of it; the arguments of `bad_arguments`
    did not fit its schema, `None` if that is known of none. `failed` is 1 if the conversation failed and the blame
    names the tool.
    """

    tool: str
    state: str | None = None
    n: int = 0
    errors: int = 0
    unrecovered: int = 0
    bad_arguments: int | None = None
    latency_p95_ms: float | None = None
    failed: int = 0


class Failure(msgspec.Struct, gc=False):
    """Describe what went wrong first in a failed call and was not made good (docs/metrics.md, section 15).

    `last_ok` is the state before, `None` at the start; `first_failed` the state that is blamed, `None` if nothing
    shows, and `kind` is then `none`. `detail` names the guard, tool or slot, `error` is its message without numbers,
    ids and quotes; `who` is `agent`, `caller` or `backend`. It happened `t` seconds into the call, in or after the turn
    `turn` (from 1), and is the entry `place` of the `list` (`events`, `tool_calls`, `turns`) of what happened in the
    call; without a list it is its end.
    """

    last_ok: str | None
    first_failed: str | None
    kind: str
    detail: str | None = None
    error: str | None = None
    who: str = "agent"
    tool: str | None = None
    segment: str | None = None
    turn: int | None = None
    t: float | None = None
    list: str | None = None
    place: int | None = None


class ExpectedStep(msgspec.Struct, gc=False):
    """Describe a reference action of the task: whether it was called, and its arguments matched (None: unknown)."""

    state: str
    by: str
    called: bool
    matched: bool | None


class Touched(msgspec.Struct, array_like=True, gc=False):
    """Describe what a call touched of its flow.

    `names` are states and outcomes, the first `visited` of them in the order in which the call first came to them, if
    that is known (`in_order`). `edges` are the steps that it took, each as two places among these names, one after the
    other. `guards` have how they turned out before their name: `passed`, `failed` or `error`.
    """

    names: list[str]
    visited: int
    edges: list[int] = []
    slots: list[str] = []
    guards: list[str] = []
    tools: list[str] = []
    in_order: bool = True

    @property
    def states(self) -> tuple[str, ...]:
        """Return the states and outcomes in the order of the first visits, none if it is not known."""
        return tuple(self.names[: self.visited]) if self.in_order else ()

    def steps(self) -> Iterator[tuple[str, str]]:
        """Yield the steps that the call took, each as the names of both its ends."""
        places = iter(self.edges)
        return ((self.names[start], self.names[end]) for start, end in zip(places, places, strict=True))

    def of_field(self, field: str) -> list[str]:
        """Return what a field of filters names of it (`vocabulary.TOUCHED_FIELDS`): `edge` as the states of a step."""
        if field == "visited":
            return self.names[: self.visited]
        if field == "edge":
            return [step_text(*step) for step in self.steps()]
        found: list[str] = getattr(self, f"{field}s")
        return found


as_touched = msgspec.json.Decoder(Touched).decode


class CallHead(msgspec.Struct, Generic[Time], kw_only=True, gc=False):
    """Describe a call as every form of it does, from the source that delivers it to the row that the store keeps.

    `duration_s` is seconds; when it started is text in a source, and microseconds since the epoch in UTC in the store.
    A call whose `caller`, what played it, failed is not `caller_ok`. Of two copies of a call the one in which more is
    `filled` in stays, and of equal ones the later; of a call that is `unique`, whose id no other one of its run has (of
    its day, where runs are days), a copy may name another flow, agent or version. `interaction` is how its sides shared
    the line.
    """

    conversation_id: str
    flow: str
    run_id: str | None = None
    run_label: str | None = None
    commit: str | None = None
    branch: str | None = None
    archetype: str | None = None
    agent_model: str = "(unknown)"
    persona: str | None = None
    scenario: str | None = None
    trial: int = 0
    started_at: Time | None = None
    duration_s: float | None = None
    completed: bool | None = None
    stop_reason: str | None = None
    final_state: str | None = None
    final_status: str | None = None
    errored: bool = False
    error: str | None = None
    caller: str | None = None
    caller_ok: bool | None = None
    origin: str = "observed"
    interaction: Interaction | None = None
    filled: int = 0
    unique: bool = False

    def is_excluded(self) -> bool:
        """Return whether the call is in no mean: its agent or backend was broken, or its caller failed."""
        return self.errored or self.caller_ok is False


class ConversationFacts(CallHead[int], kw_only=True, gc=False):
    """Describe one scored call, identified by (run, flow, agent, conversation, trial).

    `success` shows whether it was served, correct and complete, `None` if that is not known. `aspects` maps the
    computed aspect to its value. `terminals` names the outcomes (state name → `success` or `escalation`) among the
    states that this call touched, `outcome_positions` the place among its visits at which it first came to each.
    `transcript` is what was said and what happened as `transcript_columns` spells it, `None` if text is not kept. It is
    `compressed` already where another process read it, by the dictionary that the writer gave.
    `typed` is by how many more of its turns took as long as typing does than did not, `None` without latencies: calls
    whose sum is above 0 have a median turn that did. `path` is what it touched of its flow.
    """

    run_id: str
    line: int = 0
    success: bool | None = None
    error_count: int = 0
    defects: int = 0
    typed: int | None = None
    aspects: dict[str, float | None] = {}
    states: list[StateAspects] = []
    tools: list[ToolAspects] = []
    terminals: dict[str, str] = {}
    outcome_positions: dict[str, int] = {}
    failure: Failure | None = None
    expected: list[ExpectedStep] = []
    transcript: bytes | None = None
    compressed: bool = False
    path: Touched | None = None


class JudgedScore(msgspec.Struct, gc=False):
    """Describe one verdict of a judge on a conversation; `score` None is unscored, `judged_at` is as `started_at`.

    `evidence` are the numbers of the turns that the judge named, counted from 1. `flow`, `agent` and `trial` show which
    call of the run it means, where several go by one name.
    """

    run: str
    conversation: str
    judge: str
    score: float | None
    judged_at: int | None
    aspect: str = "humanness"
    rationale: str | None = None
    prompt_hash: str | None = None
    model: str | None = None
    line: int = 0
    prompt_version: str | None = None
    evidence: list[int] | None = None
    flow: str | None = None
    agent: str | None = None
    trial: int | None = None


class Annotation(msgspec.Struct, gc=False):
    """Describe what a person wrote on a call, a turn (from 1) or a state of it; `at` is as `started_at`.

    `id` distinguishes it from all others. What is `None` of run, flow, agent and trial is not known. `verdict` is
    `pass` or `fail`, `code` the kind of failure, `labels` what else it was filed under. `supersedes` is the id of the
    one that it represents from now on, `editor` who wrote it if that is not its author, as when codes are renamed.
    """

    id: str
    conversation: str
    author: str
    run: str | None = None
    flow: str | None = None
    agent: str | None = None
    trial: int | None = None
    turn: int | None = None
    state: str | None = None
    verdict: str | None = None
    code: str | None = None
    note: str | None = None
    labels: list[str] = []
    at: int | None = None
    supersedes: str | None = None
    deleted: bool = False
    editor: str | None = None


class DescribedState(msgspec.Struct, gc=False):
    """Describe a state that a flow file describes, visited or not; `outcome` is `success`, `escalation` or None."""

    name: str
    segment: str
    outcome: str | None
    required_slots: tuple[str, ...] = ()


Item: TypeAlias = "tuple[CoverageKind, str]"
"""What calls of a flow can touch: its kind and name, of an edge both states, of a guard how it turns out before it."""


class _PromisedState(msgspec.Struct, gc=False):
    required_slots: list[str] = []
    tool: str | list[str] | None = None


class _Promised(msgspec.Struct, gc=False):
    """Describe the parts of a contract that name slots and tools, and what a file names besides."""

    required_slots: list[str] | None = None
    completion_slots: list[str] | None = None
    required_tools: list[str] | None = None
    changing_tools: list[str] | None = None
    reading_tools: list[str] | None = None
    functions: list[str] | None = None
    guards: list[str] = []
    states: dict[str, _PromisedState] = {}


_promised = msgspec.json.Decoder(_Promised).decode


class DescribedFlow(msgspec.Struct, gc=False):
    """Describe a flow as its file describes it, apart from any conversation.

    `contract` is that as JSON, beside the `guards` of its states and the `functions` that it offers.
    """

    flow: str
    archetype: str | None
    states: list[DescribedState]
    edges: list[tuple[str, str]]
    contract: str = "{}"

    def items(self) -> Iterator[Item]:
        """Yield what it declares that calls can touch; a guard can pass and fail."""
        for state in self.states:
            yield "state" if state.outcome is None else "terminal", state.name
        for start, end in self.edges:
            yield "edge", step_text(start, end)
        told = _promised(self.contract)
        for slots in (told.required_slots, told.completion_slots):
            yield from (("slot", slot) for slot in slots or ())
        for tools in (told.required_tools, told.changing_tools, told.reading_tools, told.functions):
            yield from (("tool", tool) for tool in tools or ())
        for part in told.states.values():
            yield from (("slot", slot) for slot in part.required_slots)
            yield from (("tool", tool) for tool in ([part.tool] if isinstance(part.tool, str) else part.tool or ()))
        for guard in told.guards:
            yield from (("guard", f"{outcome} {guard}") for outcome in ("passed", "failed"))


class FlowEdit(msgspec.Struct, gc=False):
    """Describe a commit that touched the file of a flow; `time` is the author's, in microseconds since the epoch.

    `merged` shows whether the branch that is checked out contains it.
    """

    flow: str
    commit: str
    time: int
    author: str
    subject: str
    path: str
    merged: bool = True


class Commit(NamedTuple):
    """Name a commit and its parents by their whole ids."""

    id: str
    parents: tuple[str, ...]


class EditsResult(msgspec.Struct, gc=False):
    """Describe what became of the edits of a flow; `added` are new to the store, `gone` are those it lost.

    `first` and `last` are the earliest and the latest author's time. `has_calls` shows whether the store knows the flow
    from calls.
    """

    flow: str
    edits: int
    added: int
    gone: int
    first: int
    last: int
    has_calls: bool


NOT_ENDED = "the call had not ended when this was written"
"""Why a record is left out that something else in the store may tell the end of."""


LONGEST_REASON = 1000


class Skipped(msgspec.Struct, gc=False):
    """Note something that was skipped or changed.

    `kind` is `skipped`, `mismatch`, `replaced`, `rerun`, `superseded` or `defect`. A reason may quote any word of its
    source, and is cut where it goes on and on.
    """

    kind: str
    line: int | None
    reason: str
    conversation: str | None = None

    def __post_init__(self) -> None:
        if len(self.reason) > LONGEST_REASON:
            self.reason = f"{self.reason[: LONGEST_REASON - 1]}…"


class SourceFile(msgspec.Struct, gc=False):
    """Describe a file as it was read: its identity decides whether a later ingest reads it again.

    `context` represents what else the reading depended on (contracts of flow files). `path` has bytes that are not
    UTF-8 as surrogates, as the file system functions give them. Notes of a file whose `notes_stay` are the store's own
    from then on, whatever becomes of the file.
    """

    path: str
    kind: str
    sha256: str
    size: int
    reader: int
    with_text: bool = True
    context: str = ""
    notes_stay: bool = False


class SupersededFile(NamedTuple):
    """Describe a file as it was read, and how many of its calls now count from another file, the `winner`."""

    file: SourceFile
    winner: str
    calls: int


class Unjoined(NamedTuple):
    """Count the verdicts, or notes, that are of no call: it is not there yet, or there may be several."""

    waiting: int = 0
    ambiguous: int = 0


class RunOfCall(NamedTuple):
    """Name a run that has a call, and what it is called besides."""

    run: str
    label: str | None


class HeldInput(NamedTuple):
    """Count the calls that the store has of an input, and what of it counts elsewhere, or was skipped.

    `reason` is why the first was skipped.
    """

    conversations: int
    replaced: int
    superseded: int
    skipped: int
    reason: str | None


class FileResult(msgspec.Struct, gc=False):
    """Describe what became of one file: `status` is `taken`, `changed` or `unchanged`.

    `replaced` are calls that are again further down or in another file, and count there: in one of `winners`. `updated`
    are those among them of files that were not read along, `rerun` errored calls that were run again further down in
    the file. `superseded` is what others know more of, so that nothing of it is missing. `forgotten` are calls that
    were taken out of the store and stay out. `reason` is why the first of `skipped` was.
    """

    path: str
    kind: str
    status: str
    conversations: int = 0
    scores: int = 0
    flows: int = 0
    annotations: int = 0
    replaced: int = 0
    skipped: int = 0
    noted: int = 0
    updated: int = 0
    rerun: int = 0
    superseded: int = 0
    forgotten: int = 0
    winners: list[str] = []
    reason: str = ""


_LONGEST = 200
"""How much of a name is in a notice, so that it can be sent on any channel."""


class WriteNotice(msgspec.Struct, frozen=True, gc=False):
    """Name what a transaction wrote, for those who look at a store, and nothing of what was said.

    `run` is the one that most of its `calls` are of.
    """

    by: str = ""
    run: str = ""
    runs: int = 0
    calls: int = 0

    def shortened(self) -> WriteNotice:
        """Return it as it can be sent on any channel."""
        return WriteNotice(self.by[:_LONGEST], self.run[:_LONGEST], self.runs, self.calls)
