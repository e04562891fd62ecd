"""Check whether a store is whole: what the engine reports, what it has, and whether its sums are those of its rows.

The sums are checked with statements of their own, not with those that make them, unless columns prove them first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from riff_store import schema as models
from riff_store.annotations import standing
from riff_store.chunks import keys_of, packed_groups
from riff_store.errors import OF_DAMAGE, StoreError
from riff_store.interaction import EVENTS, TIMED
from riff_store.write.notes import read_notes

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.engines.engine import RowsOf

MOST_PROBLEMS = 5
Telling: TypeAlias = Callable[[str], None]
"""What is called with what is done next."""

_CELL = "c.flow_id, c.agent_id, c.run_id"
_COUNTS = tuple(name for name in EVENTS if name not in TIMED)
_BILLIONTHS = "COALESCE(SUM(CAST({0} * 1000000000.0 + 0.5 AS INTEGER)), 0)"

_SIZED = (
    "call_rollup k CROSS JOIN conversation c ON c.flow_id = k.flow_id AND c.agent_id = k.agent_id"
    " AND c.run_id = k.run_id AND k.n + k.excluded {0} " + str(models.FEWEST_SUMMED)
)

# What is summed → (from the rows of calls, from the rollup); whole numbers only, so they agree exactly.
_BELOW_TOTALS: Mapping[str, tuple[str, str]] = {
    "aspects": (
        f"SELECT {_CELL}, a.aspect_id, a.judge_id, COUNT(a.value), {_BILLIONTHS.format('a.value')}"
        f" FROM {{}} JOIN aspect_score a ON a.conversation_id = c.id"
        f" WHERE NOT c.errored GROUP BY {_CELL}, a.aspect_id, a.judge_id",
        "SELECT flow_id, agent_id, run_id, aspect_id, judge_id, n, total FROM aspect_rollup",
    ),
    "states": (
        f"SELECT {_CELL}, s.state_id, s.segment_id, COUNT(*), SUM(s.progress), COUNT(s.stall),"
        " COALESCE(SUM(s.stall), 0), COUNT(s.lost), COALESCE(SUM(s.lost), 0), SUM(s.escalation),"
        " SUM(s.revisit), SUM(s.guard_error), COUNT(s.latency_p95_ms), COUNT(s.slot_fill_rate)"
        f" FROM {{}} JOIN state_score s ON s.conversation_id = c.id"
        f" WHERE NOT c.errored GROUP BY {_CELL}, s.state_id, s.segment_id",
        "SELECT flow_id, agent_id, run_id, state_id, segment_id, n, progress, stall_n, stall, lost_n, lost, escalation,"
        " revisit,"
        " guard_error, latency_n, slot_n FROM state_rollup",
    ),
    "tools": (
        f"SELECT {_CELL}, t.tool_id, t.state, SUM(t.n), COUNT(CASE WHEN t.n > 0 THEN 1 END), SUM(t.errors),"
        " SUM(t.unrecovered), COUNT(t.bad_arguments), COALESCE(SUM(t.bad_arguments), 0), COUNT(t.latency_p95_ms),"
        f" SUM(t.failed) FROM {{}} JOIN tool_score t ON t.conversation_id = c.id"
        f" WHERE NOT c.errored GROUP BY {_CELL}, t.tool_id, t.state",
        "SELECT flow_id, agent_id, run_id, tool_id, state, n, calls, errors, unrecovered, bad_arguments_n,"
        " bad_arguments, latency_n, failed FROM tool_rollup",
    ),
    "transitions": (
        f"SELECT {_CELL}, x.from_state_id, x.to_state_id, SUM(x.n)"
        f" FROM {{}} JOIN transition x ON x.conversation_id = c.id"
        f" WHERE NOT c.errored GROUP BY {_CELL}, x.from_state_id, x.to_state_id",
        "SELECT flow_id, agent_id, run_id, from_state_id, to_state_id, n FROM transition_rollup",
    ),
}
"""Of the calls that are put in the place of braces; the sums by run are of those in cells of many calls alone."""


def _total(title: str, total: str, keys: str, sums: Sequence[str]) -> tuple[str, str]:
    """Return what a total is made of, sums by run and rows of the calls that have none, and the total."""
    rows, rollup = _BELOW_TOTALS[title]
    added, few = ", ".join(f"SUM({each})" for each in sums), rows.format(_SIZED.format("<"))
    parts = f"SELECT * FROM ({rollup}) summed UNION ALL SELECT * FROM ({few}) few"
    below = f"SELECT flow_id, agent_id, {keys}, {added} FROM ({parts}) below GROUP BY flow_id, agent_id, {keys}"
    return below, f"SELECT flow_id, agent_id, {keys}, {', '.join(sums)} FROM {total}"


_SUMS: Mapping[str, tuple[str, str]] = {
    "calls": (
        f"SELECT {_CELL}, COUNT(CASE WHEN NOT c.errored THEN 1 END), COUNT(CASE WHEN c.errored THEN 1 END),"
        " COUNT(CASE WHEN NOT c.caller_ok THEN 1 END), MIN(c.started_at)"
        f" FROM conversation c GROUP BY {_CELL}",
        "SELECT flow_id, agent_id, run_id, n, excluded, caller_failed, first_at FROM call_rollup",
    ),
    "how calls went": (
        f"SELECT {_CELL}, COUNT(c.success), COALESCE(SUM(c.success), 0), COUNT(c.lost), COALESCE(SUM(c.lost), 0),"
        f" COUNT(c.quality), {_BILLIONTHS.format('c.quality')}, {_BILLIONTHS.format('c.computed_quality')}"
        f" FROM conversation c WHERE NOT c.errored GROUP BY {_CELL}",
        "SELECT flow_id, agent_id, run_id, success_n, success, lost_n, lost, quality_n, quality, computed_quality"
        " FROM call_rollup WHERE n > 0",
    ),
    "calls whose caller failed": (
        f"SELECT {_CELL}, COUNT(c.success), COALESCE(SUM(c.success), 0)"
        f" FROM conversation c WHERE NOT c.caller_ok GROUP BY {_CELL}",
        "SELECT flow_id, agent_id, run_id, caller_success_n, caller_success FROM call_rollup WHERE caller_failed > 0",
    ),
    "how sides shared the line": (
        f"SELECT {_CELL}, c.errored, COUNT(*), {', '.join(f'SUM(i.{name})' for name in _COUNTS)},"
        f" {', '.join(_BILLIONTHS.format(f'i.{name}') for name in TIMED)}"
        " FROM conversation c JOIN call_interaction i ON i.conversation_id = c.id"
        f" GROUP BY {_CELL}, c.errored",
        f"SELECT flow_id, agent_id, run_id, errored, calls, {', '.join((*_COUNTS, *TIMED))} FROM interaction_rollup",
    ),
    **{title: (rows.format(_SIZED.format(">=")), rollup) for title, (rows, rollup) in _BELOW_TOTALS.items()},
    "aspect totals": _total("aspects", "aspect_total", "aspect_id, judge_id", ("n", "total")),
    "state totals": _total("states", "state_total", "state_id, segment_id", ("n", "stall", "lost")),
    "tool totals": _total("tools", "tool_total", "tool_id, state", ("n", "errors", "failed")),
    "transition totals": _total("transitions", "transition_total", "from_state_id, to_state_id", ("n",)),
}
_TOTALS = {title for title in _SUMS if title.endswith(" totals")}
"""What is summed of sums, so that it takes no longer the more calls there are."""
_PROVED: Mapping[str, Sequence[str]] = {
    models.CALLS.name: ("calls", "how calls went", "calls whose caller failed"),
    models.ASPECTS.name: ("aspects",),
    models.STATES.name: ("states",),
    models.TOOLS.name: ("tools",),
    models.STEPS.name: ("transitions",),
}
"""What is known to be right where a rollup is proved."""
UNCHECKED_QUICKLY = ("integrity", "values", "references", "columns", "sums")
"""The checks that a quick look leaves out."""
_ASTRAY: Mapping[str, str] = {
    "calls are none of those that their file brought": "SELECT COUNT(*) FROM conversation c"
    " JOIN source_file s ON s.id = c.source_file_id WHERE c.id NOT BETWEEN s.first_call AND s.last_call",
    "verdicts are joined to a call of another name": "SELECT COUNT(*) FROM judged_score j"
    " LEFT JOIN conversation c ON c.id = j.conversation_id"
    " LEFT JOIN flow f ON f.id = c.flow_id LEFT JOIN agent a ON a.id = c.agent_id"
    " WHERE (j.conversation_id IS NULL) = (j.run_id IS NULL)"
    " OR (j.conversation_id IS NULL) = (j.conversation_name IS NULL)"
    " OR f.name <> j.flow_name OR a.name <> j.agent_name OR c.trial <> j.trial",
    "scores of judges have no verdict behind them": "SELECT COUNT(*) FROM"
    f" (SELECT conversation_id, aspect_id, judge_id FROM aspect_score WHERE judge_id <> {models.COMPUTED_JUDGE}"
    " EXCEPT SELECT conversation_id, aspect_id, judge_id FROM judged_score) alone",
}
"""What may be wrong with rows that point at others, and how many of them are."""
_COUNTED: Mapping[str, str] = {
    "files": "SELECT COUNT(*) FROM source_file WHERE TRUE",
    "calls": "SELECT COUNT(*) FROM conversation WHERE TRUE",
    "errored": "SELECT COUNT(*) FROM conversation WHERE errored",
    "transcripts": "SELECT COUNT(*) FROM transcript WHERE TRUE",
    "verdicts": "SELECT COUNT(*) FROM judged_score WHERE TRUE",
    "flows": "SELECT COUNT(*) FROM flow WHERE TRUE",
    "states": "SELECT COUNT(*) FROM state WHERE TRUE",
    "agents": "SELECT COUNT(*) FROM agent WHERE TRUE",
    "runs": "SELECT COUNT(*) FROM run WHERE TRUE",
    "skipped": "SELECT COUNT(*) FROM skipped_input WHERE kind = 'skipped'",
    "edits": "SELECT COUNT(*) FROM flow_edit WHERE TRUE",
    "noted": "SELECT COUNT(*) FROM skipped_input WHERE kind <> 'skipped'",
    "unjoined": "SELECT COUNT(*) FROM judged_score WHERE conversation_id IS NULL",
}
"""What is counted. Without a condition SQLite counts a table in one step, which nothing ends."""


_ADVICE: Mapping[str, str] = {
    "columns": "the calls themselves may be right, and figures of many of them wrong",
    **dict.fromkeys(("sums", "totals"), "the calls themselves may be right, and figures that are summed wrong"),
}
_ANEW = (
    "restore a copy, or ingest the files again into a new store; `riff-tui notes export` takes along what people noted"
)


@dataclass(frozen=True, slots=True)
class Health:
    """Describe counts of what a store has, and per check that was made its problems (none: all is well).

    A store that is not `readable` failed in the middle; what was found until then is kept. Of one that cannot be opened
    size and schema are not known.
    """

    location: str
    size: int | None
    schema: int | None = models.SCHEMA_VERSION
    counts: Mapping[str, int] = field(default_factory=dict)
    checks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    readable: bool = True

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is wrong."""
        return self.readable and not any(self.checks.values())

    @property
    def wrong(self) -> list[str]:
        """Return every problem, with the check that found it."""
        return [f"{check}: {problem}" for check, problems in self.checks.items() for problem in problems]


def advice_on(check: str) -> str:
    """Return what to do about what a check found."""
    return f"{_ADVICE.get(check, 'the store is damaged')}: {_ANEW}"


def examine(store: Store, telling: Telling = lambda doing: None, *, quick: bool = False) -> Health:
    """Check a store that could be opened; a damaged one is described, not raised.

    Each step is reported as it begins. A `quick` look reads what does not grow with the calls, but for counting.
    """
    size = store.size()
    checks: dict[str, list[str]] = {}
    counts: dict[str, int] = {}
    try:
        proved = () if quick else _rows(store, checks, telling)
        telling("counting")
        counts |= {title: int(store.execute_sql(statement)[0][0]) for title, statement in _COUNTED.items()}
        notes = standing(read_notes(store))
        counts |= {"notes": len(notes), "authors": len({note.author for note in notes})}
        packed = [] if quick else packed_groups(store.execute_sql)
        if packed:
            checks["columns"] = _columns(store, [group for group in packed if group not in proved], telling)
        if quick:
            checks["totals"] = list(_wrong_sums(store, [title for title in _SUMS if title in _TOTALS], telling))
        else:
            right = _proved(store, telling) if packed and not any(checks.values()) else ()
            checks["sums"] = list(_wrong_sums(store, [title for title in _SUMS if title not in right], telling))
    except StoreError as error:
        checks["reading"] = [str(error)]
        return Health(store.location, size, counts=counts, checks=checks, readable=False)
    except OF_DAMAGE as error:
        if not any(checks.values()):
            raise
        checks["reading"] = [f"its content cannot be read ({type(error).__name__})"]
        return Health(store.location, size, counts=counts, checks=checks, readable=False)
    return Health(store.location, size, counts=counts, checks=checks)


def _rows(store: Store, checks: dict[str, list[str]], telling: Telling) -> Collection[int]:
    """Have the database look at itself, at every value, and at every key; return the row groups proved to be as packed.

    Their rows are read once for that, and not again for values and keys.
    """
    telling("checking the database")
    checks["integrity"] = store.damages(MOST_PROBLEMS)
    provable = store.engine.cuts_off and not checks["integrity"]
    proved = list(_proved_groups(store, telling)) if provable else []
    rows = _outside(proved) if proved else {}
    telling("checking values")
    checks["values"] = [
        f"{count} rows of {table} have values that do not fit their columns"
        for table, count in sorted(store.strange_values(rows).items())
    ]
    telling("checking references")
    broken = sorted(store.broken_references(rows).items())
    checks["references"] = [f"{count} rows of {table} point nowhere" for table, count in broken] + _astray(store)
    return frozenset(proved)


def _proved_groups(store: Store, telling: Telling) -> Iterator[int]:
    """Yield the row groups that are proved to be packed as they are."""
    packed = packed_groups(store.execute_sql)
    if not packed:
        return
    from riff_store.arrays.proof import is_as_rows, known_keys

    known = known_keys(store.execute_sql)
    for place, group in enumerate(packed):
        telling(f"checking columns {place:,} of {len(packed):,}")
        if is_as_rows(store.execute_sql, group, known):
            yield group


def _outside(groups: Sequence[int]) -> RowsOf:
    """Return the rows outside of some row groups, which are in order, in the tables that are wholly packed."""
    from riff_store.arrays.proof import WHOLLY_PACKED

    key, ends = "conversation_id", [keys_of(group) for group in groups]
    gaps = [(last, first) for (_, last), (first, _) in pairwise(ends) if last + 1 < first]
    between = [f"{key} > {last} AND {key} < {first}" for last, first in gaps]
    # A key of another kind comes after all that are numbers.
    outside = (f"{key} < {ends[0][0]}", *between, f"{key} > {ends[-1][1]}")
    return dict.fromkeys(WHOLLY_PACKED, outside)


def _columns(store: Store, groups: Sequence[int], telling: Telling) -> list[str]:
    """Return which calls are packed otherwise than they are; what is packed is regenerated where calls are written."""
    from riff_store.arrays.proof import wrong_spans
    from riff_store.arrays.rows import differs

    wrong = []
    for place, group in enumerate(groups):
        telling(f"comparing columns {place:,} of {len(groups):,}")
        if differs(store.execute_sql, group):
            wrong.append(keys_of(group))
    said = [f"what is packed of the calls with keys {first} to {last} differs from them" for first, last in wrong]
    sums = wrong_spans(store, add_up=not wrong)
    said += [f"what the calls with keys {keys[0]} to {keys[-1]} add up to differs from them" for keys in sums]
    return said[:MOST_PROBLEMS]


def _proved(store: Store, telling: Telling) -> Collection[str]:
    """Return the sums that columns prove, which are themselves what the rows are."""
    from riff_store.arrays.proof import proved_sums

    telling("checking sums")
    return {title for summed in proved_sums(store) for title in _PROVED[summed.name]}


def _wrong_sums(store: Store, titles: Sequence[str], telling: Telling) -> Iterator[str]:
    for title in titles:
        telling(f"checking sums: {title}")
        yield from _disagreement(store, title, *_SUMS[title])


def _astray(store: Store) -> list[str]:
    """Return how many rows point at others that they do not belong to."""
    counts = ((store.execute_sql(counting)[0][0], problem) for problem, counting in _ASTRAY.items())
    return [f"{count} {problem}" for count, problem in counts if count]


def _disagreement(store: Store, title: str, base: str, rollup: str) -> list[str]:
    """Return the cells of either side that the other does not have in the same way."""
    differing = (
        f"WITH base AS ({base}), rollup AS ({rollup}) SELECT COUNT(*) FROM ("
        "SELECT * FROM (SELECT * FROM base EXCEPT SELECT * FROM rollup) lacking"
        " UNION ALL SELECT * FROM (SELECT * FROM rollup EXCEPT SELECT * FROM base) alone) differing"
    )
    count = int(store.execute_sql(differing)[0][0])
    return [f"{title}: {count} cells differ from their rows"] if count else []
