"""Show if the same call comes out the same way when it is made again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_tui.gate.decision import MOST_ENTRIES
from riff_tui.shapes import COUNT, INTERVALS, NUMBER, TEXT, by_name, list_of, or_null, record
from riff_tui.table import Column, Row, Table
from riff_tui.text.numbers import counted, percent, utc
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import EMPTY_STORE, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.measure import Measure
    from riff_store.queries.repeats import RepeatCell
    from riff_tui.view_query import ViewQuery

UNITS = (
    "Units: pass^1, pass^k chance that 1, or k, trials of a group all pass, mean over the groups with so many; --k sets"
    " k · flaky, always passed, always failed shares of groups · spread points of correctness within one."
)
WHAT = (
    "A group is the calls of one flow, agent, scenario and persona; a trial passes with correctness 10."
    " Errored calls and those without correctness are not trials."
)
DAYS = 14
"""For so many days after the last run a quarantine is proposed."""
MOST_DRAWN = 5
"""Values of k that a sentence lists."""
NO_REPEATS = "Nothing repeats: that takes two measured calls of the same flow, agent, scenario and persona."
_FOUND = (
    Column(
        "groups", "groups", kind="count", thin=True,
        help="Groups with at least two trials; below 5 the row is thin and carries `~`.",
    ),
    Column("trials", "trials", kind="count", help="Calls in these groups that are measured."),
    columns.share("pass1", "pass^1", better="higher", help="Share of a group's trials that pass, mean over groups."),
    Column("k", "k", kind="count", help="How many passes in a row are asked for: 3, or --k."),
    columns.share(
        "pass_k", "pass^k", better="higher",
        help="Chance that k trials of a group, drawn without putting back, all pass; mean over groups of k or more.",
    ),
    columns.share(
        "flaky", "flaky", better="lower", strong=True, help="Share of groups in which some trials pass and some fail."
    ),
    columns.share(
        "always_passed", "always passed", better="higher", help="Share of groups in which every trial passes."
    ),
    columns.share(
        "always_failed", "always failed", better="lower",
        help="Share of groups in which every trial fails: broken, but reliably so.",
    ),
    Column(
        "spread", "spread", unit="points", better="lower",
        help="Highest less lowest correctness within a group, mean over groups.",
    ),
    columns.EXCLUDED,
    Column(
        "pass_all", "pass^k by k", kind="object", shown=False, help="pass^k for each k up to the smallest group's size."
    ),
    Column(
        "pass_any", "pass@k by k", kind="object", shown=False,
        help="Chance that at least one of k trials passes, for each k up to the smallest group's size.",
    ),
)  # fmt: skip


def show(query: ViewQuery) -> Table:
    """Return what repeats; if nothing does, distinguish calls that are not repeated from a store without any call."""
    from riff_store.queries.repeats import DRAWN
    from riff_store.queries.repeats import repeats as asked

    k = DRAWN if query.request.k is None else query.request.k
    table = query.result(
        query.parts(), lambda parts: repeats(asked(query.store, parts.calls, query.keys, k), query.keys)
    )
    if query.request.proposal:
        cells = asked(query.store, query.parts().calls, ("flow", "scenario"))
        table = table._replace(files={"quarantine": proposal(cells, _last_start(query.store), query.request.limit)})
    if table.counts.total:
        return table
    left_out = list(table.notes[2:])
    return table._replace(notes=[NO_REPEATS, *left_out] if left_out or query.predicate is not None else [EMPTY_STORE])


def _last_start(store: Store) -> int | None:
    from riff_store.filters.dimensions import run_starts

    return max((start for start in run_starts(store).values() if start is not None), default=None)


def proposal(answers: Sequence[RepeatCell], last_start: int | None, limit: int | None = None) -> str:
    """Return a file of quarantine with what passes only sometimes, by flow and scenario, for some days.

    These begin with the last run, so that the same store gives the same bytes. No more than a quarantine has room for,
    or the `limit`, are in it.
    """
    until = "" if last_start is None else utc(last_start + DAYS * 86_400_000_000)[:10]
    told = [cell for cell in answers if cell.flaky.mean and cell.keys["flow"] and cell.keys["scenario"]]
    lines = [
        "# What passes only sometimes when it is called again, flakiest first. Take out what has to decide builds,",
        "# and name who fixes the rest: riff-tui gate --quarantine FILE",
    ]
    most = MOST_ENTRIES if limit is None else min(limit, MOST_ENTRIES)
    for cell in told[:most]:
        flaky = f"{round((cell.flaky.mean or 0.0) * cell.groups)} of {counted(cell.groups, 'group')}"
        lines += [
            "",
            "[[quarantine]]",
            *(f"{key} = {_toml(str(cell.keys[key]))}" for key in ("flow", "scenario")),
            'owner = "nobody yet"',
            f'reason = "flaky: {flaky} passed only sometimes, in {cell.trials} trials"',
            f"until = {until}" if until else "# until = (no call has a time: put a day here)",
        ]
    if len(told) > most:
        lines += [
            "",
            f"# Left out: {len(told) - most:,} more; --limit sets how many are listed, {MOST_ENTRIES} at most.",
        ]
    return "\n".join([*lines, *([] if told else ["", "# Nothing is flaky."])]) + "\n"


def _toml(text: str) -> str:
    """Return text as TOML quotes it, with all that does not show spelt out."""
    plain = text.encode("utf-8", "replace").decode()
    signs = (f"\\{sign}" if sign in '"\\' else sign if sign.isprintable() else f"\\U{ord(sign):08X}" for sign in plain)
    return f'"{"".join(signs)}"'


def repeats(answers: Sequence[RepeatCell], by: Sequence[str] = ()) -> Table:
    """Return one row per cell that repeats anything, in the order of the answers; `by` names further keys."""
    keys = ["flow", "agent", *(key for key in by if key not in ("flow", "agent"))]
    repeated = [cell for cell in answers if cell.groups]
    overall = _overall(repeated)
    return Table(
        view="repeats",
        title="Repeats (flakiest first)",
        columns=[*columns.keys(keys), *_FOUND],
        rows=[_row(cell, keys) for cell in repeated],
        notes=[*map(_overall_text, overall), UNITS, WHAT, *_left_out(answers, repeated)],
        extras={"overall": overall},
    )


def _overall(repeated: Sequence[RepeatCell]) -> list[dict[str, Any]]:
    """Return what comes out over all rows of an agent, for agents with several: means over groups, as in a row."""
    rows: dict[str | None, list[RepeatCell]] = {}
    for cell in repeated:
        rows.setdefault(cell.keys.get("agent"), []).append(cell)
    found = []
    for agent, cells_of_agent in rows.items():
        if len(cells_of_agent) > 1:
            groups = sum(cell.groups for cell in cells_of_agent)
            reached = min(max(cell.pass_all) for cell in cells_of_agent)
            chances = {
                str(k): sum(cell.groups * cell.pass_all[k] for cell in cells_of_agent) / groups
                for k in range(1, reached + 1)
            }
            trials = sum(cell.trials for cell in cells_of_agent)
            found.append({"agent": agent, "groups": groups, "trials": trials, "pass_all": chances})
    return found


def _overall_text(overall: dict[str, Any]) -> str:
    shown = list(overall["pass_all"].items())[:MOST_DRAWN]
    chances = ", ".join(f"pass^{k} {percent(chance)}" for k, chance in shown)
    return f"{overall['agent']}, all its rows: {chances} (mean over {overall['groups']:,} groups)."


def _row(cell: RepeatCell, keys: Sequence[str]) -> Row:
    names = {key: cell.keys.get(key) for key in keys}
    shares = cells.values_of(cell, "flaky always_passed always_failed")
    record: dict[str, Any] = {
        **names,
        **cells.values_of(cell, "groups trials"),
        "pass1": cell.pass_all[1],
        "pass_k": cell.pass_all.get(cell.k, cell.pass_k.mean),
        "k": cell.k,
        **{key: share.mean for key, share in shares.items()},
        "spread": cell.spread.mean,
        "excluded": cell.excluded,
        "pass_all": {str(k): chance for k, chance in cell.pass_all.items()},
        "pass_any": {str(k): chance for k, chance in cell.pass_any.items()},
        "intervals": {**_chances({"pass1": cell.pass_one, "pass_k": cell.pass_k}), **cells.intervals(shares)},
    }
    where = cells.where(names)
    mark = cells.stall_mark(cell.flaky.mean)
    marks = {"flaky": mark, "": mark} if mark else {}
    return Row(where, record, severity=marks, thin=cells.is_thin(cell.groups), where=where)


def _chances(measures: dict[str, Measure]) -> dict[str, list[float]]:
    """Return intervals of means of chances, which are between 0 and 1."""
    return {key: [max(0.0, low), min(1.0, high)] for key, (low, high) in cells.intervals(measures).items()}


def _left_out(answers: Sequence[RepeatCell], repeated: Sequence[RepeatCell]) -> list[str]:
    """Return a sentence each on what is not a repeat, or may be none."""
    single, unmeasured = sum(cell.single for cell in answers), sum(cell.unmeasured for cell in answers)
    nameless = sum(cell.nameless for cell in repeated)
    notes = []
    if single:
        notes.append(f"Left out: {counted(single, 'group')} with fewer than two trials.")
    if unmeasured:
        notes.append(f"Not measured: {unmeasured} {'call has' if unmeasured == 1 else 'calls have'} no correctness.")
    if nameless:
        whose = "so its calls may not repeat" if nameless == 1 else "so their calls may not repeat"
        names = "names" if nameless == 1 else "name"
        notes.append(f"{counted(nameless, 'group')} {names} neither scenario nor persona, {whose} one another.")
    short = sum(cell.groups - cell.pass_k.n for cell in repeated)
    if short:
        k = repeated[0].k
        notes.append(
            f"{counted(short, 'group')} with fewer than {k} trials {'is' if short == 1 else 'are'} in no pass^k."
        )
    if any(cell.runs > 1 for cell in repeated):
        notes.append("Groups reach over several runs, so changes between them count as flaky; --by run parts the runs.")
    return notes


SPEC = ViewSpec(
    name="repeats",
    title="Repeats",
    help=(
        "Whether the same flow, agent, scenario and persona come out the same way when called again.",
        "pass^k is the chance that k (3, or --k) calls in a row all pass; flaky groups pass sometimes, flakiest first.",
        "Drill into a row with conversations --where 'flow=F agent=A'; --by scenario, persona or run splits rows.",
    ),
    order=130,
    show=show,
    keys=("flow", "agent"),
    rows={"pass_all": by_name(NUMBER), "pass_any": by_name(NUMBER), "intervals": INTERVALS},
    top={
        "overall": list_of(
            record({"agent": or_null(TEXT), "groups": COUNT, "trials": COUNT, "pass_all": by_name(NUMBER)})
        )
    },
    columns=(*columns.keys(("flow", "agent")), *_FOUND),
    order_by="-flaky",
    comparable=True,
    splits=True,
    draws=True,
    words=Words(
        empty="There are no repeats here: these have the same flow, agent, scenario and persona.", empty_store=""
    ),
    screen=Screen(
        key="T",
        help="Whether repeats of a call come out the same way; press again for more.",
        below="conversations",
    ),
)
