"""Whatever files hold, the store has every call once, and a verdict counts where it can be of one call only."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.facts import broken_rows, call, fresh, source, verdict
from tests.surface.store import Item, Store, Writer, examine, skipped

PATHS = ("/in/a.jsonl", "/in/b.jsonl", "/in/c.jsonl")


class Named(NamedTuple):
    run: str
    conversation: str
    flow: str
    agent: str
    trial: int


class Said(NamedTuple):
    """A verdict: what it says of its call, and what decides whether it counts."""

    run: str
    conversation: str
    flow: str | None
    agent: str | None
    trial: int | None
    judge: str
    model: str | None
    judged_at: int
    score: int

    def may_be(self, name: Named) -> bool:
        return all(mine is None or mine == theirs for mine, theirs in zip(self[:5], name, strict=True))


Files = Mapping[str, tuple[Sequence[Named], Sequence[Said]]]

parts = (st.sampled_from(["f", "g"]), st.sampled_from(["m", "n"]), st.integers(0, 1))
name = st.builds(Named, st.sampled_from(["r", "s"]), st.sampled_from(["case-0", "case-1"]), *parts)
said = st.builds(
    Said, st.sampled_from(["r", "s"]), st.sampled_from(["case-0", "case-1"]), *(st.none() | part for part in parts),
    st.sampled_from(["codex", "gemini"]), st.sampled_from([None, "small"]), st.integers(1, 3), st.integers(0, 10),
)  # fmt: skip
content = st.tuples(st.lists(name, max_size=8), st.lists(said, max_size=5))
files = st.fixed_dictionaries(dict.fromkeys(PATHS, content))
ingests = st.lists(st.lists(st.sampled_from(PATHS), unique=True, min_size=1), max_size=4)


def put_all(store: Store, held: Files, order: Iterable[str], version: str) -> None:
    writer = Writer(store)
    writer.order(sorted(held))
    for path in order:
        calls, verdicts = held[path]
        items: list[Item] = [call(each.conversation, line=line, **_facts(each)) for line, each in enumerate(calls, 1)]
        items += [_verdict(each, line) for line, each in enumerate(verdicts, len(calls) + 1)]
        with writer.batch():
            writer.put_file(source(path, version), items)


def _facts(named: Named) -> dict[str, Any]:
    return {"run": named.run, "flow": named.flow, "agent": named.agent, "trial": named.trial}


def _verdict(each: Said, line: int) -> Item:
    return verdict(
        each.conversation, float(each.score), run=each.run, flow=each.flow, agent=each.agent, trial=each.trial,
        judge=each.judge, model=each.model, judged_at=each.judged_at, line=line,
    )  # fmt: skip


def winners(held: Files) -> dict[Named, tuple[str, int]]:
    """Where each call stands that counts: in the last line of the last file."""
    return {each: (path, line) for path in sorted(held) for line, each in enumerate(held[path][0], 1)}


def counting(held: Files) -> dict[tuple[Named, str, str], float]:
    """The score of each call by judge and model."""
    names = winners(held)
    found: dict[tuple[Named, str, str], list[tuple[int, str, int, int]]] = defaultdict(list)
    for path, (calls, verdicts) in held.items():
        for line, each in enumerate(verdicts, len(calls) + 1):
            fitting = [named for named in names if each.may_be(named)]
            if len(fitting) == 1:
                key = (fitting[0], each.judge, each.model or "")
                found[key].append((each.judged_at, path, line, each.score))
    return {key: float(max(all_of)[3]) for key, all_of in found.items()}


def unjoined(held: Files) -> set[tuple[str, int]]:
    names = winners(held)
    return {
        (path, line)
        for path, (calls, verdicts) in held.items()
        for line, each in enumerate(verdicts, len(calls) + 1)
        if sum(each.may_be(named) for named in names) != 1
    }


def check(store: Store, held: Files) -> None:
    rows = store.execute_sql(
        "SELECT r.name, c.name, f.name, a.name, c.trial, s.path, c.line FROM conversation c"
        " JOIN run r ON r.id = c.run_id JOIN flow f ON f.id = c.flow_id JOIN agent a ON a.id = c.agent_id"
        " JOIN source_file s ON s.id = c.source_file_id"
    )
    assert {Named(*row[:5]): row[5:] for row in rows} == winners(held)
    assert len(rows) == len(winners(held))
    scores = store.execute_sql(
        "SELECT r.name, c.name, f.name, a.name, c.trial, j.name, j.model, x.value FROM aspect_score x"
        " JOIN conversation c ON c.id = x.conversation_id JOIN run r ON r.id = c.run_id JOIN flow f ON f.id = c.flow_id"
        " JOIN agent a ON a.id = c.agent_id JOIN judge j ON j.id = x.judge_id WHERE j.id <> 1"
    )
    assert {(Named(*row[:5]), row[5], row[6]): row[7] for row in scores} == counting(held)
    listed = {(entry.path, entry.line) for entry in skipped(store) if entry.kind == "unjoined"}
    assert listed == unjoined(held)
    calls = {path: sum(place[0] == path for place in winners(held).values()) for path in PATHS}
    replaced = {path: len(held[path][0]) - calls[path] for path in PATHS}
    assert Writer(store).held(PATHS) == {path: (calls[path], replaced[path], 0, 0, None) for path in PATHS}
    assert Writer(store).orphaned() == []
    assert examine(store).wrong == []


@settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files, st.permutations(PATHS), ingests)
def test_the_store_holds_every_call_once_whatever_the_order_of_files(
    held: Files, order: Sequence[str], again: Sequence[Sequence[str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder, fresh(Path(folder) / "calls.db") as store:
        put_all(store, held, order, "first")
        check(store, held)
        for number, paths in enumerate(again):
            put_all(store, held, paths, f"again {number}")
        check(store, held)
        assert broken_rows(Path(store.location)) == []


@settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(files, files, st.permutations(PATHS))
def test_files_that_changed_leave_nothing_of_what_they_held(before: Files, after: Files, order: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, fresh(Path(folder) / "calls.db") as store:
        put_all(store, before, order, "before")
        # An ingest reads files in the order of their paths; those that had yielded to one that changed once more.
        put_all(store, after, sorted(after), "after")
        while orphaned := Writer(store).orphaned():
            put_all(store, after, orphaned, f"{len(orphaned)} again")
        check(store, after)
