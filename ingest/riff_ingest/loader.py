"""Read and score inputs, one after the other or in other processes, and hand on what they have in their order."""

from __future__ import annotations

import gc
import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

import msgspec

from riff_ingest.conversation import Contract, Conversation
from riff_ingest.facts import facts_of
from riff_ingest.lines import BrokenInput, Limits, digest, limits, read_lines, set_limits
from riff_ingest.segments import NO_SEGMENTS, ToolSegments
from riff_ingest.source import Attempt, Contracts, FlowOfRun, ReadContext, ReadItem, Source, left_out, run_of
from riff_ingest.sources.flow_files import SOURCE as FLOW_FILES
from riff_ingest.sources.registry import UNKNOWN, claimed_kind, detect, source_of
from riff_store.facts import Annotation, ConversationFacts, DescribedFlow, JudgedScore, Skipped, SourceFile
from riff_store.metrics import to_compute
from riff_store.signals import signals_held
from riff_store.transcript_columns import compressor

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from types import TracebackType

    from riff_ingest.eva.run_inputs import RunInputs


Item: TypeAlias = ConversationFacts | JudgedScore | Annotation | DescribedFlow | Skipped


@dataclass(slots=True)
class InputPlan:
    """Describe an input, what it is taken for, and why it cannot be read, if so: as a `note` of which kind."""

    file: SourceFile
    reason: str = ""
    context: ReadContext = field(default_factory=ReadContext)
    note: str = "skipped"

    @property
    def source(self) -> Source | None:
        """Return the source that reads the input, `None` if nothing does."""
        return source_of(self.file.kind)


def plan_inputs(
    paths: Sequence[Path],
    kind: str | None = None,
    *,
    kinds: Mapping[Path, str] | None = None,
    described: Iterable[str | os.PathLike[str]] = (),
    with_text: bool = True,
    contracts: Mapping[str, Contract] | None = None,
    run_inputs: RunInputs | None = None,
    tool_segments: ToolSegments = NO_SEGMENTS,
) -> list[InputPlan]:
    """Decide what each input is, and which contracts the conversations have that bring none.

    `kinds` are those that are known already. `described` are the paths of flow files, `contracts` those that are known
    by flow; files among the inputs add to them. `run_inputs` are a dataset and an agent's file for all runs,
    `tool_segments` the phases of tools as users set them.
    """
    flow_files = {os.path.abspath(path) for path in described}
    known_kinds = kinds or {}

    def kind_of(path: Path) -> str | None:
        return FLOW_FILES.kind if os.path.abspath(path) in flow_files else kind or known_kinds.get(path)

    plans = [plan_of(path, kind_of(path), with_text, run_inputs) for path in paths]
    added = "".join(f"{metric.key}={metric.compute}@{metric.version};" for metric in to_compute())
    for plan in plans:
        plan.file.context += limits().digest()
        if plan.source is not None and plan.source.keeps_text:
            plan.file.context += added
    if tool_segments:
        for plan in plans:
            if plan.source is not None and plan.source.derives_states:
                plan.file.context += tool_segments.digest()
                plan.context = replace(plan.context, tool_segments=tool_segments)
    known = dict(contracts or {})
    for plan in plans:
        if plan.source is not None:
            with suppress(BrokenInput):  # recorded when the file itself is taken
                known |= plan.source.contracts(Path(plan.file.path))
    if known:
        digest = hashlib.sha256(msgspec.json.encode(known, order="sorted")).hexdigest()
        for plan in plans:
            if plan.source is not None and plan.source.takes_contracts:
                plan.file.context += digest
                plan.context = replace(plan.context, contracts=known)
    return plans


def plan_retries(
    plans: Sequence[InputPlan],
    stored: Iterable[tuple[str, str]],
    plan: Callable[[Sequence[Path], str], list[InputPlan]],
) -> list[InputPlan]:
    """Let each attempt at a task know of those after it, and return plans of earlier ones that the store has.

    `stored` are the paths and kinds of inputs of the store; `plan` plans some of a kind.
    """
    attempts: dict[str, list[tuple[Attempt, InputPlan]]] = {}
    for each in plans:
        if each.source is not None and (found := each.source.attempt(Path(each.file.path))) is not None:
            attempts.setdefault(found.task, []).append((found, each))
    added: list[InputPlan] = []
    known = {os.path.abspath(each.file.path) for each in plans}
    for path, kind in stored if attempts else ():
        source = source_of(kind)
        found = source.attempt(Path(path)) if source is not None and path not in known else None
        if found is not None and found.task in attempts:
            added += plan([Path(path)], kind)
            attempts[found.task].append((found, added[-1]))
    for of_task in attempts.values():
        of_task.sort(key=lambda each: each[0].began)
        for place, (attempt, each) in enumerate(of_task):
            later = [other.file for which, other in of_task[place + 1 :] if which.id != attempt.id]
            if later:
                each.file.context += hashlib.sha256("".join(file.sha256 for file in later).encode()).hexdigest()
                each.context = replace(each.context, retries=tuple(Path(file.path) for file in later))
    return added


def plan_of(path: Path, kind: str | None, with_text: bool, given: RunInputs | None = None) -> InputPlan:
    """Decide what an input is; one that nothing recognises or that cannot be opened is `unknown`.

    `given` are a dataset and an agent's file for all runs, which otherwise are looked for near each.
    """
    is_directory = path.is_dir()
    try:
        reason = ""
        if kind is None:
            kind, reason = (claimed_kind(path), "") if is_directory else detect(path)
        source = source_of(kind) if kind is not None else None
        if is_directory and (source is None or source.directory is None):
            return plan_left_out(str(path), "a directory is not an input of this kind")
        sha256, size = (source.digest if source else digest)(path)
    except BrokenInput as problem:
        return plan_left_out(str(path), problem.reason)
    if source is None:
        return InputPlan(SourceFile(str(path), UNKNOWN, sha256, size, 1, with_text=False), reason)
    file = SourceFile(
        str(path), source.kind, sha256, size, source.version, with_text and source.keeps_text,
        notes_stay=source.notes_stay,
    )  # fmt: skip
    if source.find_run_inputs is None:
        return InputPlan(file)
    run_inputs = source.find_run_inputs(path, given)
    file.context = run_inputs.digest()
    return InputPlan(file, context=ReadContext(run_inputs=run_inputs))


def is_unchanged(file: SourceFile) -> bool:
    """Return whether an input is still there as it was read."""
    source = source_of(file.kind)
    try:
        return (source.digest if source else digest)(Path(file.path)) == (file.sha256, file.size)
    except BrokenInput:
        return False


def plan_left_out(path: str, reason: str, note: str = "skipped") -> InputPlan:
    """Return the plan of something that was found and cannot be read, so that it can be listed."""
    return InputPlan(SourceFile(path, UNKNOWN, "", 0, 1, with_text=False), reason, note=note)


def load(plan: InputPlan) -> Iterator[Item]:
    """Yield everything that an input has, scored; what is broken comes as `Skipped`."""
    return scored(plan, read_input(plan))


def scored(plan: InputPlan, items: Iterable[ReadItem]) -> Iterator[Item]:
    """Yield what was read of an input, its calls scored."""
    run = run_of(Path(plan.file.path))
    for item in items:
        line, found = item if isinstance(item, tuple) else (0, item)
        if isinstance(found, Conversation):
            facts, notes = facts_of(found, default_run=run, line=line, with_text=plan.file.with_text)
            yield facts
            yield from notes
        else:
            yield found


def read_input(plan: InputPlan) -> Iterator[ReadItem]:
    """Yield what the source of an input reads in it; what is broken comes as `Skipped`."""
    if plan.source is None:
        yield Skipped(plan.note, None, plan.reason)
    else:
        yield from plan.source.items(Path(plan.file.path), plan.context)


# Read and score files in other processes, and hand on what they have in its order.
SMALL_BYTES = 32 * 1024 * 1024
"""A larger file is not passed on whole, which would need memory for all of it."""
SHARED_BYTES = 8 * 1024 * 1024
"""A file of lines that is larger is shared between the processes."""
PIECE_BYTES = 1024 * 1024
AHEAD_BYTES = 16 * 1024 * 1024
"""So much of files is read ahead, about what a batch holds: processes would wait while it is written otherwise."""
START_BYTES = 8 * 1024 * 1024
"""So much of many files is read here while the processes start."""

_Packed: TypeAlias = list[tuple[type[Item], bytes | list[Item]]]
_Done = TypeVar("_Done")


class _Piece(NamedTuple):
    """Describe some lines of a file, and which contracts the lines before them were known to give."""

    lines: list[tuple[int, bytes]]
    before: dict[FlowOfRun, Contract]


class _Loaded(NamedTuple):
    """Describe what a piece has, the contracts that it gives, and those of lines before it that it asked for."""

    items: _Packed
    given: dict[FlowOfRun, Contract]
    asked: set[FlowOfRun]


def loaded(
    plans: Sequence[InputPlan], jobs: int, stack: ExitStack, dictionary: Callable[[], bytes | None] = lambda: None
) -> Iterator[tuple[InputPlan, Iterable[Item]]]:
    """Yield every plan with its items, in order, whatever `jobs` is; workers end with the stack.

    Workers compress transcripts by the `dictionary`, once there is one.
    """
    tasks = sum(plan.file.size <= SMALL_BYTES for plan in plans)
    if jobs <= 1 or (tasks < 2 and not any(_is_shared(plan) for plan in plans)):
        return ((plan, load(plan)) for plan in plans)
    return _ahead(plans, _Workers(jobs, stack, dictionary))


def _is_shared(plan: InputPlan) -> bool:
    if plan.file.size <= SHARED_BYTES or plan.source is None or plan.source.read_some is None:
        return False
    return plan.source.in_lines(Path(plan.file.path))


class _Workers:
    """Run tasks in so many processes; `at_least` so many of them are given away ahead of what is asked for."""

    def __init__(self, jobs: int, stack: ExitStack, dictionary: Callable[[], bytes | None]) -> None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing.resource_tracker import ensure_running

        self.at_least = 2 * jobs
        self._dictionary = dictionary
        with signals_held():
            ensure_running()  # which lets signals through when it has started, and is not a child of ours to be told
        self._pool: ProcessPoolExecutor = ProcessPoolExecutor(
            jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_begin, initargs=(limits(),)
        )
        stack.push(self._end)

    def _end(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Wait for the processes, or end them where what they read is not wanted any more.

        That is done here, not at the interpreter's end, where the pool's thread races with the one that ends it.
        """
        if kind is not None:
            # Not all children of this process: a program that calls the library may have its own.
            for process in [*(self._pool._processes or {}).values()]:
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, task: Callable[..., _Done], plan: InputPlan, *given: object) -> Future[_Done]:
        """Let one of them read an input, or some of it."""
        dictionary = self._dictionary() if plan.file.with_text else None
        with signals_held():
            return self._pool.submit(task, plan, dictionary, *given)


def _ahead(plans: Sequence[InputPlan], workers: _Workers) -> Iterator[tuple[InputPlan, Iterable[Item]]]:
    waiting: deque[tuple[InputPlan, Future[_Packed] | None]] = deque()
    rest = iter(plans)
    ahead, here = 0, START_BYTES if sum(plan.file.size for plan in plans) > AHEAD_BYTES else 0

    def fill() -> None:
        nonlocal ahead, here
        while len(waiting) < workers.at_least or ahead < AHEAD_BYTES:
            plan = next(rest, None)
            if plan is None:
                return
            ahead += plan.file.size
            alone = here > 0 or _is_shared(plan) or plan.file.size > SMALL_BYTES
            here -= plan.file.size
            waiting.append((plan, None if alone else workers.submit(_load_whole, plan)))

    fill()
    while waiting:
        plan, future = waiting.popleft()
        ahead -= plan.file.size
        if future is not None:
            items = unpacked(future.result())
            yield plan, load(plan) if items is None else items
        else:
            yield plan, _shared(plan, workers) if _is_shared(plan) else load(plan)
        fill()


def _shared(plan: InputPlan, workers: _Workers) -> Iterator[Item]:
    """Yield what a file has, of which each process reads some lines at a time.

    A line may need a contract that an earlier one gives. A piece that was read without knowing it is read again here.
    """
    broken: list[BrokenInput] = []
    pieces = _pieces(read_lines(Path(plan.file.path), broken.append))
    told: dict[FlowOfRun, Contract] = {}
    waiting: deque[tuple[_Piece, Future[_Loaded]]] = deque()
    # The first piece is read before the others are given away, since it gives most contracts.
    for lines in pieces:
        first, contracts = _read_piece(plan, _Piece(lines, told))
        yield from first
        told = told | contracts.given
        break

    def fill() -> None:
        most = max(workers.at_least, AHEAD_BYTES // PIECE_BYTES)
        while len(waiting) < most and (lines := next(pieces, None)) is not None:
            piece = _Piece(lines, told)
            waiting.append((piece, workers.submit(_load_piece, plan, piece)))

    fill()
    while waiting:
        piece, future = waiting.popleft()
        found = future.result()
        is_known = all(told.get(key) == piece.before.get(key) for key in found.asked)
        items, given = unpacked(found.items) if is_known else None, found.given
        if items is None:
            items, contracts = _read_piece(plan, piece._replace(before=told))
            given = contracts.given
        yield from items
        told = told | given
        fill()
    yield from left_out(broken)


def _pieces(lines: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    piece: list[tuple[int, bytes]] = []
    size = 0
    for line in lines:
        piece.append(line)
        size += len(line[1])
        if size >= PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _read_piece(plan: InputPlan, piece: _Piece) -> tuple[Iterable[Item], Contracts]:
    if plan.source is None or plan.source.read_some is None:
        raise ValueError(f"{plan.file.kind} cannot be read in pieces")
    contracts = Contracts(piece.before)
    found = plan.source.read_some(Path(plan.file.path), plan.context, piece.lines, contracts)
    return scored(plan, found), contracts


def _load_piece(plan: InputPlan, dictionary: bytes | None, piece: _Piece) -> _Loaded:
    items, contracts = _read_piece(plan, piece)
    return _Loaded(packed(_compressed(items, dictionary)), contracts.given, contracts.asked)


def _begin(of_parent: Limits) -> None:
    """Take over what a process does not know that was started again."""
    gc.disable()  # as it is where one process does it all: what is read has no cycles
    set_limits(of_parent)
    _end_with_parent()


def _end_with_parent() -> None:
    """End this process, which no signal of a terminal ends, once the one that started it is gone."""
    import multiprocessing
    import threading
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=end, name="riff-parent", daemon=True).start()


def _load_whole(plan: InputPlan, dictionary: bytes | None) -> _Packed:
    return packed(_compressed(load(plan), dictionary))


def _compressed(items: Iterable[Item], dictionary: bytes | None) -> Iterable[Item]:
    """Return items with their transcripts compressed, one right after the other: what compresses stays near so."""
    if dictionary is None:
        return items
    found = list(items)
    compress = compressor(dictionary).compress
    for item in found:
        if isinstance(item, ConversationFacts) and item.transcript is not None:
            item.transcript, item.compressed = compress(item.transcript), True
    return found


def packed(items: Iterable[Item]) -> _Packed:
    """Return items as they pass from process to process: packed by kind, which takes far less than to pickle them."""
    return [(kind, _packed_kind(list(some))) for kind, some in groupby(items, type)]


def _packed_kind(items: list[Item]) -> bytes | list[Item]:
    """Pack items of a kind; what a plug-in hands on may not fit, such as half of a character, and is left as it is."""
    try:
        return msgspec.msgpack.encode(items)
    except (msgspec.MsgspecError, OverflowError, UnicodeError):
        return items


def unpacked(kinds: _Packed) -> Iterable[Item] | None:
    """Return the items that were packed, in their order; `None` if one does not fit its kind: read it again here."""
    try:
        found = [_decoder(kind).decode(some) if isinstance(some, bytes) else some for kind, some in kinds]
    except (msgspec.MsgspecError, UnicodeError):
        return None
    return chain.from_iterable(found)


@lru_cache
def _decoder(kind: type[Item]) -> msgspec.msgpack.Decoder[list[Item]]:
    return msgspec.msgpack.Decoder(list[kind])  # type: ignore[valid-type]
