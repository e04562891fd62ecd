"""What is stored, what replaces what, and that sums follow."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import broken_rows, call, contents, fresh, put, source, state, verdict
from tests.surface.store import (
    CHUNK,
    CHUNK_BYTES,
    UNIT,
    DescribedFlow,
    DescribedState,
    Item,
    Skipped,
    Store,
    Writer,
    written_rows,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def test_a_file_is_counted_once_and_read_again_only_when_it_changed(path: Path) -> None:
    with fresh(path) as store:
        assert put(store, "/in/a.jsonl", [call("c-1"), call("c-2")]).status == "taken"
        before = contents(path)
        again = put(store, "/in/a.jsonl", [call("c-9")])
        assert (again.status, again.conversations) == ("unchanged", 2)
        assert contents(path) == before
        assert put(store, "/in/a.jsonl", [call("c-9")], sha256="bb").status == "changed"
    assert [row[1] for row in contents(path)["conversation"]] == ["c-9"]
    assert broken_rows(path) == []


@pytest.mark.parametrize("calls", [1, 19, 20, 21, 199, 200, 219, 420, 1001])
def test_every_call_of_a_file_goes_in_however_many_there_are(path: Path, calls: int) -> None:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call(f"c-{number}", line=number) for number in range(calls)])
    held = contents(path)
    assert sorted(row[5] for row in held["conversation"]) == list(range(calls))
    assert [len(held[table]) for table in ("aspect", "state", "transition")] == [4 * calls, 2 * calls, 2 * calls]


def test_a_changed_file_leaves_what_a_fresh_store_would_hold(path: Path, tmp_path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2", agent="model-b", errored=True)])
        put(store, "/in/b.jsonl", [call("c-3")])
        put(store, "/in/a.jsonl", [call("c-2", aspects={"correctness": 0.0}), call("c-4")], sha256="bb")
    with fresh(tmp_path / "new.db") as store:
        put(store, "/in/a.jsonl", [call("c-2", aspects={"correctness": 0.0}), call("c-4")], sha256="bb")
        put(store, "/in/b.jsonl", [call("c-3")])
    assert contents(path) == contents(tmp_path / "new.db")


def test_errored_calls_are_counted_and_enter_no_sum(path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2", errored=True)])
    found = contents(path)
    assert found["calls"] == [("viewing", "model-a", "night-1", 1, 1)]
    assert {row[4] for row in found["aspect_total"]} == {1}
    assert {row[3] for row in found["state_total"]} == {1}


def test_what_is_not_measured_is_not_stored_as_zero(path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1", aspects={"correctness": None, "errors": 10.0})])
    assert [row[2] for row in contents(path)["aspect"]] == ["errors"]


def test_of_two_calls_with_one_name_in_a_file_the_later_line_stays(path: Path) -> None:
    with fresh(path) as store:
        result = put(store, "/in/a.jsonl", [call("c-1", line=1), call("c-1", line=2)])
    assert (result.conversations, result.replaced, result.winners) == (1, 1, ["/in/a.jsonl"])
    found = contents(path)
    assert [(row[1], row[5]) for row in found["conversation"]] == [("c-1", 2)]
    assert found["note"] == [("/in/a.jsonl", "replaced", 1, "night-1", "c-1")]


def test_long_texts_are_inserted_before_many_of_them_are_held(path: Path) -> None:
    held: list[int] = []
    with fresh(path) as store:

        def calls() -> Iterator[Item]:
            for number in range(12):
                ((inserted,),) = store.execute_sql("SELECT COUNT(*) FROM transcript")
                held.append(number - inserted)
                yield call(f"c-{number}", transcript=bytes(CHUNK_BYTES // 4))

        put(store, "/in/a.jsonl", calls())
    assert max(held) < 4


@pytest.mark.parametrize("between", [0, CHUNK])
def test_an_errored_call_that_was_run_again_further_down_is_no_call_that_was_replaced(path: Path, between: int) -> None:
    others = [call(f"o-{number}") for number in range(between)]
    with fresh(path) as store:
        lines = [call("c-1", line=1, errored=True), *others, call("c-1", line=2, caller_ok=False), call("c-1", line=3)]
        result = put(store, "/in/a.jsonl", lines)
        reasons = [reason for (reason,) in store.execute_sql("SELECT reason FROM skipped_input ORDER BY line")]
    assert (result.conversations, result.replaced, result.rerun) == (between + 1, 0, 2)
    found = contents(path)
    assert [row[4:6] for row in found["conversation"] if row[1] == "c-1"] == [(0, 3)]
    assert [(row[1], row[2]) for row in found["note"]] == [("rerun", 1), ("rerun", 2)]
    assert reasons[1] == "the call was errored and was run again in line 3"


@pytest.mark.parametrize("other", [{"run": "night-2"}, {"flow": "dental"}, {"agent": "model-b"}, {"trial": 1}])
def test_the_same_id_in_another_run_flow_or_trial_or_of_another_agent_is_another_call(
    path: Path, other: dict[str, Any]
) -> None:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-1", **other)])
        result = put(store, "/in/b.jsonl", [call("c-1", **{**other, "agent": "model-c"})])
    assert (result.conversations, result.replaced) == (1, 0)
    assert len(contents(path)["conversation"]) == 3


def test_a_note_of_what_was_replaced_says_which_call_and_what_counts(path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1", line=1)])
        put(store, "/in/b.jsonl", [call("c-1", line=4)])
        ((reason,),) = store.execute_sql("SELECT reason FROM skipped_input")
    assert reason == (
        "the same conversation (run night-1, flow viewing, agent model-a, trial 0)"
        " is also in /in/b.jsonl, line 4, which counts"
    )


def test_a_call_of_a_source_without_lines_is_named_by_its_file_alone(path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/a.json", [call("c-1", line=0), call("c-1", line=0)])
        put(store, "/in/b.json", [call("c-1", line=0)])
        notes = store.execute_sql("SELECT line, reason FROM skipped_input ORDER BY id")
    assert [(line, reason.partition(" is ")[2]) for line, reason in notes] == [
        (None, "also in the same file, which counts"),
        (None, "also in /in/b.json, which counts"),
    ]


@pytest.mark.parametrize("first", ["/in/a.jsonl", "/in/b.jsonl"])
def test_of_two_files_with_one_call_the_later_path_counts_whichever_is_read_first(path: Path, first: str) -> None:
    files = {"/in/a.jsonl": call("c-1", line=3), "/in/b.jsonl": call("c-1", line=7)}
    with fresh(path) as store:
        for name in sorted(files, key=lambda name: name != first):
            put(store, name, [files[name]], order=sorted(files))
    found = contents(path)
    assert [row[5:] for row in found["conversation"]] == [(7, "/in/b.jsonl", 1)]
    assert found["note"] == [("/in/a.jsonl", "replaced", 3, "night-1", "c-1")]


def test_a_later_ingest_of_another_file_replaces_a_call_of_the_same_name(path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/b.jsonl", [call("c-1")], order=["/in/b.jsonl"])
        result = put(store, "/in/a.jsonl", [call("c-1")], order=["/in/a.jsonl"])
        assert (result.replaced, result.updated) == (1, 1)
        assert [row[6] for row in contents(path)["conversation"]] == ["/in/a.jsonl"]
        assert Writer(store).orphaned() == []
        put(store, "/in/a.jsonl", [call("c-1", flow="other")], sha256="bb")
        assert Writer(store).orphaned() == ["/in/b.jsonl"]


def test_a_file_that_fails_leaves_nothing_and_the_others_stay(path: Path) -> None:
    def failing() -> Any:
        yield call("c-1", flow="never")
        raise OSError("gone")

    with fresh(path) as store:
        writer = Writer(store)
        with writer.batch():
            writer.put_file(source("/in/a.jsonl"), [call("c-0")])
            with pytest.raises(OSError, match="gone"):
                writer.put_file(source("/in/b.jsonl"), failing())
            writer.put_file(source("/in/c.jsonl"), [call("c-2", flow="never")])
    found = contents(path)
    assert [row[1] for row in found["conversation"]] == ["c-0", "c-2"]
    assert [row[0] for row in found["calls"]] == ["never", "viewing"]
    assert [row[0] for row in found["source"]] == ["/in/a.jsonl", "/in/c.jsonl"], "else it would not be read again"
    assert broken_rows(path) == []


@pytest.mark.parametrize(
    "name", [b"\xff\xfe.jsonl", b"a\nb\x1b[2J.jsonl", "\u202ename\ud800.jsonl".encode("utf-8", "surrogatepass")]
)
def test_a_file_of_any_name_is_known_by_it(name: bytes, path: Path) -> None:
    place = os.fsdecode(b"/in/" + name)
    with fresh(path) as store:
        assert put(store, place, [call("c-1")]).status == "taken"
        assert put(store, place, [call("c-1")]).status == "unchanged"
    assert len(contents(path)["source"]) == 1


def test_a_batch_that_fails_leaves_the_store_as_it_was(path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1")])
        before = contents(path)
        writer = Writer(store)

        def interrupted() -> None:
            with writer.batch():
                writer.put_file(source("/in/b.jsonl"), [call("c-2")])
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert contents(path) == before
        put(store, "/in/b.jsonl", [call("c-2")])
    assert len(contents(path)["conversation"]) == 2


class TestVerdicts:
    def humanness(self, path: Path) -> list[tuple[Any, ...]]:
        return [(row[1], row[3], row[4], row[5]) for row in contents(path)["aspect"] if row[2] == "humanness"]

    @pytest.mark.parametrize("scores_first", [True, False])
    def test_a_verdict_joins_its_call_in_either_order(self, path: Path, scores_first: bool) -> None:
        files: list[tuple[str, list[Item]]] = [("/in/h.jsonl", [verdict("c-1", 7.0)]), ("/in/t.jsonl", [call("c-1")])]
        with fresh(path) as store:
            for name, items in files if scores_first else reversed(files):
                put(store, name, items)
        assert self.humanness(path) == [("c-1", "codex", "", 7.0)]
        assert ("viewing", "model-a", "humanness", "codex", 1, 7 * UNIT, 0, 0) in contents(path)["aspect_total"]

    def test_the_latest_verdict_of_a_judge_counts_and_others_come_back_when_it_goes(self, path: Path) -> None:
        with fresh(path) as store:
            put(store, "/in/t.jsonl", [call("c-1")])
            put(store, "/in/h2.jsonl", [verdict("c-1", 9.0, judged_at=2_000_000)])
            put(store, "/in/h1.jsonl", [verdict("c-1", 2.0, judged_at=1_000_000)])
            assert self.humanness(path) == [("c-1", "codex", "", 9.0)]
            put(store, "/in/h2.jsonl", [], sha256="bb")
        assert self.humanness(path) == [("c-1", "codex", "", 2.0)]

    @pytest.mark.parametrize("kept", [1, 3, None])
    @pytest.mark.parametrize("seed", range(12))
    def test_verdicts_that_come_with_their_calls_count_as_later_ones_do(
        self, tmp_path: Path, seed: int, kept: int | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if kept is not None:  # at hand, as if there were too many for more
            for bound in ("CHUNK_SCORES", "MOST_SCORES", "MOST_BLENDS"):
                monkeypatch.setattr(written_rows, bound, kept)
        draw, paths = random.Random(seed), [tmp_path / "at-once.db", tmp_path / "one-by-one.db"]
        # In half of them no call stands twice, and no file is read twice.
        names, calls = ("abcdef", 0) if seed % 2 else ("aabbcc", 3)
        files = [(f"/in/{name}.jsonl", f"{at}", self._drawn(draw, calls)) for at, name in enumerate(names)]
        files.insert(0, ("/in/calls.jsonl", "", [call(f"c-{number}") for number in range(3)]))
        with fresh(paths[0]) as store:
            writer = Writer(store)
            with writer.batch():
                for name, sha256, items in files:
                    writer.put_file(source(name, sha256), items)
        with fresh(paths[1]) as store:
            for name, sha256, items in files:
                put(store, name, items, sha256)
        assert contents(paths[0]) == contents(paths[1])
        assert self._qualities(paths[0]) == self._qualities(paths[1])
        assert not broken_rows(paths[0])

    @pytest.mark.parametrize("seed", range(12))
    def test_files_that_come_again_together_are_stored_as_if_they_were_new(self, tmp_path: Path, seed: int) -> None:
        draw, paths = random.Random(seed), [tmp_path / "again.db", tmp_path / "new.db"]
        before, after = ([(f"/in/{name}.jsonl", self._drawn(draw, 3)) for name in "abc"] for _ in range(2))
        for path, times in zip(paths, ([before, after], [[], after]), strict=True):
            with fresh(path) as store:
                put(store, "/in/calls.jsonl", [call(f"c-{number}", flow="dental") for number in range(2)])
                for sha256, found in zip(("old", "new"), times, strict=True):
                    writer, files = Writer(store), [(source(name, sha256), items) for name, items in found]
                    with writer.batch([file for file, _ in files]):
                        for file, items in files:
                            writer.put_file(file, items)
        assert contents(paths[0]) == contents(paths[1])
        assert self._qualities(paths[0]) == self._qualities(paths[1])
        assert not broken_rows(paths[0])

    def _qualities(self, path: Path) -> list[tuple[Any, ...]]:
        with fresh(path) as store:
            return list(store.execute_sql("SELECT name, flow_id, quality FROM conversation ORDER BY name"))

    def _drawn(self, draw: random.Random, calls: int) -> list[Item]:
        items: list[Item] = [call(f"c-{draw.randrange(4)}", line=line) for line in range(1, 1 + calls)]
        for line in range(1, 7):
            kind = draw.choice([{}, {"aspect": "warmth"}, {"judge": "other"}, {"flow": "viewing"}, {"flow": "dental"}])
            at, score = draw.choice([None, 1_000_000, 2_000_000]), draw.choice([None, 3.0, 7.0, 9.5])
            items.append(verdict(f"c-{draw.randrange(4)}", score, judged_at=at, line=line, **kind))
        return draw.sample(items, draw.randrange(len(items)))

    def test_versions_of_a_prompt_are_judges_of_their_own(self, path: Path) -> None:
        with fresh(path) as store:
            put(store, "/in/t.jsonl", [call("c-1")])
            both: list[Item] = [verdict("c-1", 4.0, prompt_hash="p1"), verdict("c-1", 6.0, prompt_hash="p2", line=2)]
            put(store, "/in/h.jsonl", both)
        assert [row[2:] for row in self.humanness(path)] == [("p1", 4.0), ("p2", 6.0)]

    def test_an_unscored_verdict_is_kept_and_enters_no_sum(self, path: Path) -> None:
        with fresh(path) as store:
            put(store, "/in/t.jsonl", [call("c-1")])
            put(store, "/in/h.jsonl", [verdict("c-1", None)])
        assert self.humanness(path) == [("c-1", "codex", "", None)]
        assert ("viewing", "model-a", "humanness", "codex", 0, 0, 0, 1) in contents(path)["aspect_total"]

    def test_an_id_of_several_calls_joins_none_without_the_part_that_decides(self, path: Path) -> None:
        with fresh(path) as store:
            put(store, "/in/t.jsonl", [call("c-1"), call("c-1", flow="dental"), call("c-1", flow="dental", trial=1)])
            put(store, "/in/h.jsonl", [verdict("c-1", 7.0), verdict("c-1", 8.0, line=2, flow="dental")])
            assert Writer(store).unjoined() == (0, 2)
            assert self.humanness(path) == []
            decided = verdict("c-1", 8.0, line=2, flow="dental", agent="model-a", trial=1)
            put(store, "/in/h.jsonl", [verdict("c-1", 7.0, flow="viewing"), decided], sha256="bb")
            assert Writer(store).unjoined() == (0, 0)
        assert [row[-1] for row in self.humanness(path)] == [7.0, 8.0]

    def test_a_verdict_leaves_its_call_when_its_id_stands_for_another_too_and_comes_back_with_it(
        self, path: Path
    ) -> None:
        with fresh(path) as store:
            put(store, "/in/t.jsonl", [call("c-1")])
            put(store, "/in/h.jsonl", [verdict("c-1", 7.0)])
            put(store, "/in/u.jsonl", [call("c-1", agent="model-b")])
            assert (self.humanness(path), Writer(store).unjoined()) == ([], (0, 1))
            assert contents(path)["aspect_total"] == [
                row for row in contents(path)["aspect_total"] if row[2] != "humanness"
            ]
            put(store, "/in/u.jsonl", [], sha256="bb")
        assert self.humanness(path) == [("c-1", "codex", "", 7.0)]

    def test_a_verdict_that_says_another_flow_waits_for_its_call(self, path: Path) -> None:
        with fresh(path) as store:
            put(store, "/in/t.jsonl", [call("c-1")])
            put(store, "/in/h.jsonl", [verdict("c-1", 7.0, flow="dental")])
            assert (self.humanness(path), Writer(store).unjoined()) == ([], (1, 0))
            put(store, "/in/u.jsonl", [call("c-1", flow="dental")])
        assert self.humanness(path) == [("c-1", "codex", "", 7.0)]

    def test_a_verdict_survives_that_its_call_is_read_again(self, path: Path) -> None:
        with fresh(path) as store:
            put(store, "/in/t.jsonl", [call("c-1")])
            put(store, "/in/h.jsonl", [verdict("c-1", 7.0)])
            put(store, "/in/t.jsonl", [call("c-1"), call("c-2")], sha256="bb")
        assert self.humanness(path) == [("c-1", "codex", "", 7.0)]


def test_verdicts_of_a_file_that_has_no_lines_are_all_kept(path: Path) -> None:
    given = [(1.0, 0), (2.0, 0), (3.0, 7), (4.0, 7), (5.0, 0)]
    verdicts = [verdict("c-1", score, judge=f"judge {score:g}", line=line) for score, line in given]
    with fresh(path) as store:
        assert put(store, "/in/a.json", [call("c-1"), *verdicts]).scores == 5
    judged = {row[3]: row[5] for row in contents(path)["aspect"] if row[3].startswith("judge ")}
    assert judged == {f"judge {score:g}": score for score, _ in given}


def test_a_described_flow_and_notes_are_kept_and_replaced_with_their_file(path: Path) -> None:
    described = DescribedFlow(
        "viewing", "booking",
        [DescribedState("greet", "opening", None), DescribedState("booked", "closing", "success")],
        [("greet", "booked"), ("greet", "booked")], '{"success_terminals":["booked"]}',
    )  # fmt: skip
    with fresh(path) as store:
        put(store, "/in/f.toml", [described, Skipped("skipped", 3, "odd")])
        writer = Writer(store)
        assert writer.contracts() == {"viewing": '{"success_terminals":["booked"]}'}
        assert store.execute_sql("SELECT count(*) FROM described_state") == [(2,)]
        put(store, "/in/f.toml", [], sha256="bb")
        assert writer.contracts() == {}
        assert store.execute_sql("SELECT count(*) FROM described_edge") == [(0,)]
        assert contents(path)["note"] == []


@pytest.mark.parametrize("text", ["a\ud800b", "nul \0 here", "'; DROP TABLE flow; --", "日本\u202e"])
def test_any_text_can_be_a_name(path: Path, text: str) -> None:
    odd = call(text, flow=text, agent=text, persona=text, error=text, states=[state(text, to={text: 1})])
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [odd, Skipped("skipped", 1, text, text)])
    ((_, name, *_),) = contents(path)["conversation"]
    assert name == text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def test_sums_are_the_same_whatever_the_order_of_rows(path: Path, tmp_path: Path) -> None:
    rng = random.Random(7)
    calls: list[Item] = [
        call(
            f"c-{n}", aspects={"latency_p95": rng.random() * 20}, states=[state("a", latency_p95_ms=rng.random() * 9e4)]
        )
        for n in range(300)
    ]
    other = tmp_path / "other.db"
    for place, items in ((path, calls), (other, rng.sample(calls, len(calls)))):
        with fresh(place) as store:
            put(store, "/in/a.jsonl", items)
    assert contents(path)["aspect_total"] == contents(other)["aspect_total"]
    assert contents(path)["state_total"] == contents(other)["state_total"]


def test_a_large_file_goes_in_by_pieces_and_still_as_one(path: Path) -> None:
    calls = [call(f"c-{n % 2500}", line=n) for n in range(3000)]
    with fresh(path) as store:
        result = put(store, "/in/a.jsonl", calls)
        assert (result.conversations, result.replaced) == (2500, 500)
        assert sums_agree(store)
    assert broken_rows(path) == []


def sums_agree(store: Store) -> bool:
    calls = store.execute_sql("SELECT count(*) FROM conversation")[0][0]
    return bool(store.execute_sql("SELECT sum(n + excluded) FROM call_rollup") == [(calls,)])
