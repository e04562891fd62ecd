"""Collect the rows of one file by table and insert them in bulk."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import peewee as pw

from riff_store import schema as m
from riff_store.chunks import drop_calls
from riff_store.database import Store
from riff_store.engines.engine import BulkConnection, Connection
from riff_store.facts import NOT_ENDED, Annotation, ConversationFacts, DescribedFlow, JudgedScore, RunOfCall, Skipped
from riff_store.interaction import SUMS as INTERACTION_SUMS
from riff_store.scoring import blended
from riff_store.vocabulary import UNKNOWN_SEGMENT
from riff_store.write.names import Keys, Names, day_of, encodable
from riff_store.write.notes import merge_notes, row_of
from riff_store.write.quality import MOST_BLENDS, blend_of
from riff_store.write.rollups import Changes, shrink
from riff_store.write.text_compression import TextCompressor
from riff_store.write.verdicts import calls_of

CHUNK = 500
CHUNK_BYTES = 16 * 1024 * 1024
"""So many calls, or bytes of their texts, are collected before they are inserted."""
CHUNK_SCORES = 10 * CHUNK
MOST_SCORES = 10 * CHUNK_SCORES
"""So many verdicts of a file are collected, and are kept at hand until the end of its batch; more are read again."""

Values: TypeAlias = list[Any]
"""The values of any number of rows, one after the other."""

_ColumnKeys: TypeAlias = tuple[int, Keys]
_COLUMNS = list(m.Conversation._meta.fields)
_AT = {name: place for place, name in enumerate(_COLUMNS)}
_values_of = attrgetter(*(name if name in ConversationFacts.__struct_fields__ else "line" for name in _COLUMNS))
"""Return what the facts of a call have by the names of its columns; there is something in each place to be replaced."""


OF_FILE = "c.id BETWEEN {0}.first_call AND {0}.last_call AND c.source_file_id = {0}.id"
"""What is true of the calls `c` of a file: they were given keys one after the other."""
_RELEASE = """
UPDATE judged_score SET run_id = (SELECT c.run_id FROM conversation c WHERE c.id = judged_score.conversation_id),
  conversation_name = (SELECT c.name FROM conversation c WHERE c.id = judged_score.conversation_id),
  conversation_id = NULL
WHERE conversation_id IN (SELECT id FROM conversation WHERE {})"""


def forget_calls(connection: Connection, where: str, *values: int) -> None:
    """Delete the calls that match and all that hangs on them; verdicts on them wait again for such a call."""
    connection.execute(_RELEASE.format(where), values)
    drop_calls(connection, f"conversation WHERE {where}", values)
    calls = f"SELECT id FROM conversation WHERE {where}"
    for model in m.OF_CALLS:
        connection.execute(f"DELETE FROM {model._meta.table_name} WHERE conversation_id IN ({calls})", values)
    connection.execute(f"DELETE FROM conversation WHERE {where}", values)


class Identity(NamedTuple):
    """Name what distinguishes a call: its run, flow, agent, name and trial. All but its name and its trial are keys."""

    run: int
    name: str
    flow: int
    agent: int
    trial: int


class HeldCall(NamedTuple):
    """Describe a call that the store has, and where it was read; the last four name it."""

    key: int
    source_file: int
    line: int
    path: str
    errored: int
    filled: int
    flow: int
    agent: int
    run: int
    run_name: str
    flow_name: str
    agent_name: str
    trial: int


def held_calls(
    connection: Connection, wanted: Mapping[Identity, ConversationFacts], kind: str
) -> Iterator[tuple[Identity, HeldCall]]:
    """Yield those of the calls of a kind of source that the store has.

    One of a unique id may be there by another flow or agent, and in another run of its day.
    """
    by_run: dict[int, list[tuple[object, ...]]] = {}
    runs: dict[str | None, set[int]] = {None: set()}
    for identity, facts in wanted.items():
        day = day_of(facts)
        if day not in runs:
            found = connection.execute("SELECT id FROM run WHERE name = ? OR substr(name, 1, 11) = ?", (day, f"{day}@"))
            runs[day] = {run for (run,) in found.fetchall()}
        for run in sorted({identity.run, *runs[day]}):
            by_run.setdefault(run, []).append((*identity, int(facts.unique), run))
    for run, identities in by_run.items():
        if connection.execute("SELECT 1 FROM conversation WHERE run_id = ? LIMIT 1", (run,)).fetchone():
            for start in range(0, len(identities), CHUNK):
                yield from _found(connection, identities[start : start + CHUNK], kind)


def _found(connection: Connection, wanted: list[tuple[object, ...]], kind: str) -> list[tuple[Identity, HeldCall]]:
    marks = ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * len(wanted))
    rows = connection.execute(
        f"WITH wanted (run, name, flow, agent, trial, is_unique, held_run) AS (VALUES {marks})"
        " SELECT w.run, w.name, w.flow, w.agent, w.trial, c.id, c.source_file_id, c.line, s.path, c.errored,"
        " c.filled, c.flow_id, c.agent_id, c.run_id, r.name, f.name, a.name, c.trial"
        " FROM wanted w CROSS JOIN conversation c ON c.run_id = w.held_run AND c.name = w.name"
        " JOIN source_file s ON s.id = c.source_file_id JOIN run r ON r.id = c.run_id"
        " JOIN flow f ON f.id = c.flow_id JOIN agent a ON a.id = c.agent_id"
        " WHERE (c.run_id = w.run AND c.flow_id = w.flow AND c.agent_id = w.agent AND c.trial = w.trial)"
        " OR (w.is_unique = 1 AND s.kind = ?)",
        [*(part for each in wanted for part in each), kind],
    )
    return [(Identity(*row[:5]), HeldCall(*row[5:])) for row in rows.fetchall()]


class Rows:
    """Collect the rows of one file on their way into the store.

    `ranks` is the place of every path in this ingest: of two calls with one identity the one in the later file stays,
    and the other file gets a note. `changed` gains the cells that lose calls. `replaced` counts the calls that do not
    stay, `updated` those among them of files that are not of this ingest, and `winners` are the paths of those that do.
    `rerun` counts the errored calls that were run again further down in the file. A call of which the other has more,
    or the same words where sources show how much they have, is not a loss: it is noted as superseded.
    """

    def __init__(
        self,
        connection: BulkConnection,
        names: Names,
        source_file: int,
        kind: str,
        path: str,
        ranks: Mapping[str, int],
        changed: Changes,
        texts: TextCompressor,
    ) -> None:
        self._connection = connection
        self._names = names
        self._source_file = source_file
        self._kind = kind
        self._path = path
        self._rank = ranks.get(path, -1)
        self._ranks = ranks
        self._changed = changed
        self._texts = texts
        self._pending: dict[Identity, ConversationFacts] = {}
        self._annotations: dict[str, Values] = {}
        self._staying: list[Annotation] = []
        self._tables: defaultdict[type[pw.Model], Values] = defaultdict(list)
        self._scores: list[tuple[int, JudgedScore]] = []
        self._score_lines: set[int] = set()
        self._last_score = 0
        self.taken = 0
        self.replaced = 0
        self.updated = 0
        self.rerun = 0
        self.winners: set[str] = set()
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        """Return whether so much was collected that it should be inserted."""
        return len(self._pending) >= CHUNK or self._bytes >= CHUNK_BYTES or len(self._scores) >= CHUNK_SCORES

    def add_call(self, facts: ConversationFacts) -> None:
        """Take a call; it replaces an earlier one of this file that is the same."""
        names = self._names
        identity = Identity(
            names.run(facts.run_id, facts.run_label, facts.commit, facts.branch),
            encodable(facts.conversation_id),
            names.flow(facts.flow, facts.archetype),
            names.agents[facts.agent_model],
            facts.trial,
        )
        earlier = self._pending.pop(identity, None)
        if earlier is not None and earlier.filled > facts.filled:
            earlier, facts = facts, earlier
        if earlier is not None:
            self._note_earlier(earlier.line, facts, earlier.is_excluded(), is_loss=earlier.filled == facts.filled)
        self._pending[identity] = facts
        self._bytes += len(facts.transcript or b"")

    def add_score(self, score: JudgedScore) -> None:
        """Take a verdict, whether its call is there or not; one without a line of its own has the next that is free."""
        line = score.line if score.line > 0 and score.line not in self._score_lines else self._last_score + 1
        self._score_lines.add(line)
        self._last_score = max(line, self._last_score)
        self._scores.append((line, score))

    def add_annotation(self, found: Annotation, *, stays: bool = False) -> None:
        """Take what a person wrote; the same one again is in its place, unless it was written here.

        One that stays is merged with what was written here, and outlives the file.
        """
        if stays:
            self._staying.append(found)
            return
        key = encodable(found.id)
        self._connection.execute("DELETE FROM annotation WHERE id = ? AND source_file_id IS NOT NULL", (key,))
        if not self._connection.execute("SELECT 1 FROM annotation WHERE id = ?", (key,)).fetchone():
            self._annotations[key] = row_of(found, self._source_file)

    def add_flow(self, described: DescribedFlow) -> None:
        """Take what a flow file describes."""
        names, source = self._names, self._source_file
        flow = names.flow(described.flow, described.archetype)
        states = names.states(flow)
        for state in described.states:
            key = states[state.name]
            if state.outcome is not None:
                names.outcome(key, state.outcome)
            slots = json.dumps(list(state.required_slots))
            self._tables[m.DescribedState].extend((key, source, names.segments[state.segment], slots))
        for start, end in dict.fromkeys(described.edges):
            self._tables[m.DescribedEdge].extend((states[start], states[end], source))
        self._tables[m.FlowContract].extend((flow, source, described.contract))

    def add_note(self, note: Skipped) -> None:
        """Record what was skipped or changed."""
        self._skip(self._source_file, note.kind, note.line, encodable(note.reason), _text(note.conversation))

    def _skip(
        self, file: int, kind: str, line: int | None, reason: str, call: str | None, run: str | None = None,
        flow: str | None = None, agent: str | None = None, trial: int | None = None,
    ) -> None:  # fmt: skip
        self._tables[m.SkippedInput] += (None, file, kind, line, reason, run, call, flow, agent, trial)

    def flush(self) -> None:
        """Insert everything that was collected."""
        self._yield_to_later_files()
        keys, first = _column_keys(self._names), self._changed.next
        for key, (identity, facts) in enumerate(self._pending.items(), first):
            self._call_row(key, identity, facts, keys)
            self._hanging_rows(key, identity.flow, facts)
        # One right after the other: the dictionary stays where the processor reaches it soonest.
        texts = self._tables[m.Transcript]
        for key, facts in enumerate(self._pending.values(), first):
            if facts.transcript is not None:
                texts += (key, *self._texts.compress(facts.transcript, facts.compressed))
        self._changed.next = first + len(self._pending)
        self.taken += len(self._pending)
        self._pending.clear()
        self._bytes = 0
        self._tables[m.Annotation].extend(value for row in self._annotations.values() for value in row)
        self._annotations.clear()
        merge_notes(self._connection, self._staying)
        self._staying.clear()
        self._insert()
        self._texts.learn()
        if self._scores:
            self._judge()
            self._insert()

    def _insert(self) -> None:
        for model, values in self._tables.items():
            self._connection.insert(model, values)
            values.clear()

    def _judge(self) -> None:
        """Make the rows of verdicts, each with the call that it is of, if that is in the store."""
        names, table, first = self._names, self._tables[m.JudgedScore], self._changed.first
        judged = self._changed.judged.setdefault(self._source_file, [])
        keys = [(names.runs[score.run], encodable(score.conversation)) for _, score in self._scores]
        calls = calls_of(self._connection, keys)
        for key, (line, score) in zip(keys, self._scores, strict=True):
            flow, agent = _text(score.flow), _text(score.agent)
            found = calls.get(key, ())
            if flow is not None or agent is not None or score.trial is not None:
                found = [call for call in found if call.fits(flow, agent, score.trial)]
            judge, aspect = names.judge(score.judge, score.model, score.prompt_hash), names.aspects[score.aspect]
            call = found[0].key if len(found) == 1 else None
            table += (
                self._source_file, line, *(key if call is None else (None, None)), judge, aspect, score.score,
                score.judged_at, _text(score.rationale), _text(score.prompt_version),
                None if score.evidence is None else json.dumps(score.evidence), flow, agent, score.trial, call,
            )  # fmt: skip
            if call is not None and judged is not None:
                at = -1 if score.judged_at is None else score.judged_at
                judged.append(((call, aspect, judge), (at, self._path, line), score.score))
                if call < first or len(judged) > MOST_SCORES:
                    judged = self._changed.judged[self._source_file] = None
        self._scores.clear()

    def _call_row(self, key: int, identity: Identity, facts: ConversationFacts, keys: Sequence[_ColumnKeys]) -> None:
        """Make the row of a call: a column has what the facts have by its name, unless it is named here."""
        row = list(_values_of(facts))
        for place, known in keys:
            if (text := row[place]) is not None:
                row[place] = known[text]
        row[:5] = key, identity.run, identity.name, identity.flow, identity.agent
        row[_AT["errored"]] = facts.is_excluded()
        row[_AT["error"]] = _text(facts.error)
        row[_AT["origin"]] = None if facts.origin == "observed" else facts.origin
        row[_AT["source_file"]] = self._source_file
        blend = blend_of(facts.aspects)
        if len(self._changed.blends) < MOST_BLENDS:
            self._changed.blends[key] = blend
        row[_AT["quality"]] = row[_AT["computed_quality"]] = None if blend is None else blended(blend, None)
        row[_AT["path"]] = None if facts.path is None else self._names.path(facts.path)
        row[_AT["lost"]] = max((state.lost for state in facts.states if state.lost is not None), default=None)
        self._tables[m.Conversation] += row

    def _hanging_rows(self, key: int, flow: int, facts: ConversationFacts) -> None:
        names = self._names
        scored, aspects = self._tables[m.AspectScore], names.aspects
        for aspect, value in facts.aspects.items():
            if value is not None:
                scored += (key, aspects[aspect], m.COMPUTED_JUDGE, value)
        states, segments = names.states(flow), names.segments
        for state, outcome in facts.terminals.items():
            names.outcome(states[state], outcome)
        visited, transitions = self._tables[m.StateScore], self._tables[m.Transition]
        for row in facts.states:
            origin = states[row.state]
            visited += (
                key, origin, segments[row.segment], row.progress, row.stall, row.escalation, row.revisit,
                row.dwell_turns, row.latency_p95_ms, row.guard_error, row.slot_fill_rate, row.lost, row.position,
                row.slow,
            )  # fmt: skip
            for target, count in row.to_states.items():
                transitions += (key, origin, states[target], count)
        if facts.tools:
            labels, called = names.labels, self._tables[m.ToolScore]
            for tool in facts.tools:
                called += (
                    key, labels[tool.tool], _key(states, tool.state) or 0, tool.n, tool.errors, tool.unrecovered,
                    tool.bad_arguments, tool.latency_p95_ms, tool.failed,
                )  # fmt: skip
        for state, position in facts.outcome_positions.items():
            self._tables[m.OutcomeVisit].extend((key, states[state], position))
        if facts.failure is not None:
            labels, failure = names.labels, facts.failure
            segment = None if failure.first_failed is None else failure.segment or UNKNOWN_SEGMENT
            self._tables[m.CallFailure] += (
                key, _key(states, failure.last_ok), _key(states, failure.first_failed), failure.kind,
                _key(labels, failure.detail), _key(labels, failure.error), failure.who, _key(labels, failure.tool),
                _key(segments, segment), failure.turn, failure.t, failure.list, failure.place,
            )  # fmt: skip
        for position, step in enumerate(facts.expected):
            self._tables[m.ExpectedStep].extend((key, position, states[step.state], step.by, step.called, step.matched))
        if (sums := facts.interaction) is not None:
            self._tables[m.CallInteraction].extend((key, *(getattr(sums, name) for name in INTERACTION_SUMS[1:])))

    def _yield_to_later_files(self) -> None:
        found = list(held_calls(self._connection, self._pending, self._kind))
        cells = ((held.flow, held.agent, held.run) for _, held in found if held.key < self._changed.first)
        shrink(self._connection, self._changed, cells)
        for identity, held in found:
            mine = self._pending.get(identity)
            if mine is None:
                continue
            rank = self._ranks.get(held.path, -1) if held.source_file != self._source_file else -2
            if (held.filled, rank) > (mine.filled, self._rank):
                del self._pending[identity]
                place, is_loss = _place(held.path, held.line), self._is_loss(held, mine)
                stands = (mine.conversation_id, *held[-4:])
                self._note_replaced(self._source_file, mine.line, stands, place, held.path, is_loss)
            else:
                self._take_place(identity, held)

    def _take_place(self, identity: Identity, held: HeldCall) -> None:
        """Let a call of this file count in place of one in the store."""
        mine = self._pending[identity]
        is_loss = self._is_loss(held, mine)
        forget_calls(self._connection, "id = ?", held.key)
        change = "UPDATE source_file SET conversations = conversations - 1 WHERE id = ?"
        self._connection.execute(change, (held.source_file,))
        if held.source_file == self._source_file:
            self.taken -= 1
            self._note_earlier(held.line, mine, bool(held.errored), is_loss=is_loss)
            return
        self.updated += held.path not in self._ranks
        place = _place(self._path, mine.line)
        self._note_replaced(held.source_file, held.line, _named(mine), place, self._path, is_loss)

    def _is_loss(self, held: HeldCall, mine: ConversationFacts) -> bool:
        """Return whether one of two copies of a call may contain what the other one does not."""
        if held.filled != mine.filled:
            return False
        is_told = mine.filled > 0 and mine.transcript is not None
        return not is_told or not self._texts.is_kept(held.key, mine.transcript or b"", mine.compressed)

    def _note_earlier(self, line: int, facts: ConversationFacts, was_errored: bool, *, is_loss: bool) -> None:
        """Note that a call is again further down in this file: one that was errored was run again, as it should."""
        if was_errored:
            reason = (
                f"the call was errored and was run again {f'in line {facts.line}' if facts.line else 'further down'}"
            )
            self.rerun += 1
            self.add_note(Skipped("rerun", line or None, reason, facts.conversation_id))
        else:
            place = f"line {facts.line}" if facts.line else "the same file"
            self._note_replaced(self._source_file, line, _named(facts), place, self._path, is_loss)

    def _note_replaced(
        self, loser: int, line: int, stands: tuple[str, str, str, str, int], place: str, winner: str, is_loss: bool
    ) -> None:
        """Note on a file that a call of it is elsewhere, by its name, run, flow, agent and trial there."""
        if is_loss:
            self.replaced += 1
            self.winners.add(winner)
        call, run, flow, agent = map(encodable, stands[:4])
        same = f"run {run}, flow {flow}, agent {agent}, trial {stands[4]}"
        reason = f"the same conversation ({same}) is also in {place}, which counts"
        kind = "replaced" if is_loss else "superseded"
        self._skip(loser, kind, line or None, reason, call, run, flow, agent, stands[4])


def _named(facts: ConversationFacts) -> tuple[str, str, str, str, int]:
    """Return the names of a call, of its run, its flow and its agent, and its trial."""
    return facts.conversation_id, facts.run_id, facts.flow, facts.agent_model, facts.trial


def _place(path: str, line: int) -> str:
    """Return where a call is; a source whose calls have no lines gives 0."""
    return f"{path}, line {line}" if line else path


def _column_keys(names: Names) -> list[_ColumnKeys]:
    """Return which columns of calls have names, by their places, and the keys of these."""
    keys = {m.Persona: names.personas, m.Scenario: names.scenarios, m.Label: names.labels, m.Caller: names.callers}
    columns = enumerate(m.Conversation._meta.sorted_fields)
    return [(at, keys[field.rel_model]) for at, field in columns if getattr(field, "rel_model", None) in keys]


def _text(value: str | None) -> str | None:
    return None if value is None else encodable(value)


def _key(keys: Keys, name: str | None) -> int | None:
    return None if name is None else keys[name]


def runs_of(store: Store, calls: Iterable[str]) -> dict[str, list[RunOfCall]]:
    """Return the runs that have a call of each name, in the order of their names."""
    names, found = sorted({encodable(name) for name in calls}), dict[str, list[RunOfCall]]()
    for start in range(0, len(names), CHUNK):
        some = tuple(names[start : start + CHUNK])
        rows = store.execute_sql(
            "SELECT DISTINCT c.name, r.name, r.label FROM conversation c JOIN run r ON r.id = c.run_id"
            f" WHERE c.name IN ({', '.join('?' * len(some))}) ORDER BY c.name, r.name",
            some,
        )
        for name, *run in rows:
            found.setdefault(name, []).append(RunOfCall(*run))
    return found


# Let what told of calls before their end be no loss once the store has these.
FIRST_REASON = (
    "CASE WHEN skipped > 0 THEN (SELECT coalesce('line ' || k.line || ': ', '') || k.reason"
    " FROM skipped_input k WHERE k.source_file_id = s.id AND k.kind = 'skipped' ORDER BY k.id LIMIT 1) END"
)
NOTES = "(SELECT COUNT(*) FROM skipped_input k WHERE k.source_file_id = s.id AND k.kind = '{}')"
_UNENDED = (
    "SELECT k.id, k.source_file_id, k.kind, CASE WHEN ended.name IS NULL THEN 'skipped' ELSE 'superseded' END"
    " FROM skipped_input k JOIN source_file s ON s.id = k.source_file_id LEFT JOIN (SELECT DISTINCT c.name, o.kind"
    " FROM conversation c JOIN source_file o ON o.id = c.source_file_id"
    " WHERE c.name IN (SELECT conversation FROM skipped_input WHERE reason = ?)) ended"
    " ON ended.name = k.conversation AND ended.kind = s.kind"
    " WHERE k.reason = ? AND k.kind IN ('skipped', 'superseded') ORDER BY k.id"
)


def settle_unended(store: Store) -> None:
    """Let reports of calls before their end be superseded if the store has these, else skipped."""
    rows = store.execute_sql(_UNENDED, (NOT_ENDED, NOT_ENDED))
    changed = [(wanted, key, file) for key, file, kind, wanted in rows if kind != wanted]
    if not changed:
        return
    with store.writing():
        change = "UPDATE skipped_input SET kind = ? WHERE id = ?"
        store.connection.executemany(change, [(kind, key) for kind, key, _ in changed])
        count = f"UPDATE source_file AS s SET skipped = {NOTES.format('skipped')} WHERE id = ?"
        store.connection.executemany(count, [(file,) for file in sorted({file for *_, file in changed})])
