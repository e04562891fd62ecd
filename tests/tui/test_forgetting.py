"""What is forgotten leaves a store that never had it, and stays out of it until it is asked back."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from msgspec.structs import replace

from tests.support import mixed_folder, random_stores, spoken_calls, tau_runs, tau_ticks, tiny_store
from tests.support.facts import broken_rows, call, contents, fresh, put, source, verdict
from tests.support.golden import printed
from tests.support.postgresql_server import Server
from tests.support.store_works import few_are_many
from tests.surface.ingest import IngestSummary, Turn, ingest
from tests.surface.store import (
    Annotation,
    CallNames,
    ConversationFacts,
    Drawn,
    EventColumns,
    FileResult,
    Item,
    JudgedScore,
    KeptList,
    Sample,
    Skipped,
    SourceFile,
    Store,
    Transcripts,
    Writer,
    add_notes,
    conversation_ids,
    copy_store,
    examine,
    forget,
    keep_list,
    names_of_calls,
    notes_of_no_call,
    open_store,
    read_notes,
    skipped,
    spell,
)
from tests.surface.tui import Request, parse, show, split, views

VIEWS = [view.name for view in views() if not view.sides and view.name not in ("neighbors", "conversation")]


class Without(Writer):
    """Store what files hold but for some calls, and what is said of no other call."""

    def __init__(self, store: Store, gone: Iterable[CallNames] = (), stay: Iterable[CallNames] = ()) -> None:
        super().__init__(store)
        self._gone, self._stay = list(gone), list(stay)

    def put_file(self, file: SourceFile, items: Iterable[Item], *, rebuild: bool = False) -> FileResult:
        left_out = {call.conversation for call in self._gone} - {call.conversation for call in self._stay}
        kept = []
        for item in items:
            if isinstance(item, ConversationFacts):
                names = CallNames(item.run_id, item.flow, item.agent_model, item.conversation_id, item.trial)
                if names in self._gone:
                    continue
                # Which call told what runs and flows are called is not kept.
                item = replace(item, commit=item.run_id, branch=None, run_label=None, archetype=None)
            elif isinstance(item, JudgedScore | Annotation):
                if _fits(item, self._gone) and not _fits(item, self._stay):
                    continue
                # One that names no run is looked for by its call alone, which is gone.
                if isinstance(item, JudgedScore) and item.conversation in left_out:
                    continue
            elif isinstance(item, Skipped) and item.conversation in left_out:
                continue
            kept.append(item)
        if not kept and self._gone:
            return FileResult(file.path, file.kind, "taken")
        return super().put_file(file, kept, rebuild=rebuild)


def _fits(item: JudgedScore | Annotation, calls: Iterable[CallNames]) -> bool:
    wanted = (item.run, item.flow, item.agent, item.conversation, item.trial)
    return any(all(one in (None, its) for one, its in zip(wanted, call, strict=True)) for call in calls)


Fill: TypeAlias = Callable[[Path, Writer], object]


def _of_files(write: Callable[[Path], object]) -> Fill:
    def fill(folder: Path, writer: Writer) -> IngestSummary:
        if not folder.exists():
            write(folder)
        return ingest([folder], writer)

    return fill


def _of_facts(*parts: Iterable[Item]) -> Fill:
    def fill(folder: Path, writer: Writer) -> None:
        with writer.batch():
            for number, part in enumerate(parts):
                writer.put_file(source(f"/in/{number}.jsonl"), part, rebuild=True)

    return fill


def _by_chance(seed: int) -> Fill:
    made = random_stores.world(seed, 60)
    return _of_facts(made.calls[:20], made.calls[20:], made.verdicts)


def _voice(folder: Path) -> None:
    found = [tau_ticks.simulation(f"s{number}", "aaa...bb", "..bbb.aa", task_id=str(number)) for number in range(6)]
    tau_runs.write_run(folder / "voice", found, info=tau_ticks.info())


STORES: Mapping[str, Fill] = {
    "read": _of_files(tiny_store.write),
    "mixed": _of_files(mixed_folder.write_mixed),
    "spoken": _of_facts(list(spoken_calls.calls())),
    "chance 1": _by_chance(1),
    "chance 2": _by_chance(2),
    "voice": _of_files(_voice),
}
FILTERS = ("failed=1", "run:1", "agent:g", "flow:viewing", "conversation:1", "errored=true", "!failed=1", "humanness<6")


@pytest.fixture(params=STORES)
def fill(request: pytest.FixtureRequest) -> Fill:
    return STORES[request.param]


def dumps(store: Store) -> dict[str, str]:
    """All views that ask for no more than a store, as JSON."""
    with store.snapshot():
        return {name: printed(show(store, name, Request()), "json") for name in VIEWS}


def forget_where(
    store: Store, where: str, *, keep_notes: bool = False, renew: bool = False
) -> tuple[list[CallNames], list[CallNames]]:
    """Forget what a filter selects; return the calls that are gone and those that stay."""
    with store.writing():
        calls, _ = split(parse(where), ())
        keys, every = conversation_ids(store, calls), conversation_ids(store)
        gone = names_of_calls(store, keys)
        forget(store, keys, keep_notes=keep_notes, renew=renew)
    return gone, names_of_calls(store, every)


NAMES = (
    "flow",
    "agent",
    "persona",
    "scenario",
    "caller",
    "segment",
    "aspect",
    "label",
    "run",
    "state",
    "path",
    "judge",
)


def names_held(store: Store) -> dict[str, list[Any]]:
    of = {"path": "touched", "judge": "name || model || prompt_hash"}
    return {
        table: [name for (name,) in store.execute_sql(f"SELECT {of.get(table, 'name')} FROM {table} ORDER BY 1")]
        for table in NAMES
    }


@pytest.mark.parametrize(
    ("fill", "wheres"),
    [
        *(pytest.param(fill, FILTERS[at % 3 :: 3], id=name) for at, (name, fill) in enumerate(STORES.items())),
        *(pytest.param(fill, FILTERS, id=f"all of {name}", marks=pytest.mark.nightly) for name, fill in STORES.items()),
    ],
)
def test_what_is_left_is_a_store_that_never_had_the_calls(fill: Fill, wheres: Sequence[str], tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    with fresh(whole) as store:
        fill(tmp_path / "files", Without(store))
    for where in wheres:
        (tmp_path / where).mkdir()
        assert_forgotten(fill, whole, where, tmp_path / where)


def assert_forgotten(fill: Fill, whole: Path, where: str, folder: Path) -> None:
    """What a filter selects can be forgotten, and what is left is all that the others ever brought."""
    had, never, files = Path(shutil.copy(whole, folder / "had.db")), folder / "never.db", whole.with_name("files")
    with open_store(had, write=True) as store:
        gone, stay = forget_where(store, where)
        left = dumps(store)
        names = names_held(store)
        assert examine(store).wrong == []
    assert broken_rows(had) == []
    with fresh(never) as store:
        fill(files, Without(store, gone, stay))
        wanted = dumps(store)
        for view in VIEWS:
            assert left[view] == wanted[view], (where, view)
        assert names == names_held(store)
    pictures = [contents(path) for path in (had, never)]
    for table, rows in pictures[0].items():
        # Notes that stay whatever becomes of their file are not told apart from those written here.
        of_others = [[row for row in found if "notes" not in row] for found in (rows, pictures[1][table])]
        assert of_others[0] == of_others[1], table


def test_columns_that_are_packed_follow(tmp_path: Path) -> None:
    with few_are_many(), fresh(tmp_path / "calls.db") as store, fresh(tmp_path / "never.db") as never:
        writer, fill = Writer(store), _by_chance(3)
        fill(tmp_path, writer)
        writer.pack()
        gone, stay = forget_where(store, "agent:g | failed=1")
        fill(tmp_path, Without(never, gone, stay))
        wanted = {name: printed(show(never, name, Request(where="errored=false")), "json") for name in PACKED}
        for _ in range(2):
            found = {name: printed(show(store, name, Request(where="errored=false")), "json") for name in PACKED}
            assert found == wanted
            writer.pack()
        assert examine(store).wrong == []


PACKED = ("flows", "states", "worklist", "causes", "tools", "conversations")


def test_a_store_on_a_server_forgets_as_one_in_a_file_does(fill: Fill, postgresql: Server, tmp_path: Path) -> None:
    path, address = tmp_path / "calls.db", postgresql.store()
    with fresh(path) as store:
        fill(tmp_path / "files", Writer(store))
        with open_store(address, write=True, create=True) as target:
            copy_store(store, target)
            for where in ("failed=1", "agent:g", "conversation:1"):
                forget_where(store, where)
                forget_where(target, where, renew=True)
            target.compact()
            assert dumps(target) == dumps(store)
            assert names_held(target) == names_held(store)
            assert examine(target).wrong == []
            assert remembered(target) == remembered(store)


def remembered(store: Store) -> list[Any]:
    return store.execute_sql("SELECT * FROM forgotten_call ORDER BY conversation, run, flow, agent, trial")


@pytest.mark.parametrize("where", ["failed=1", "run:2 | conversation:1"])
def test_the_next_ingest_brings_nothing_back(where: str, tmp_path: Path) -> None:
    files, other = tmp_path / "files", tmp_path / "other"
    with fresh(tmp_path / "calls.db") as store:
        ingest([tiny_store.write(files)[0].parent.parent], Writer(store))
        gone, _ = forget_where(store, where)
        left = dumps(store)
        first = ingest([files], Writer(store))
        assert dumps(store) == left
        assert first.forgotten == sum(result.forgotten for result in first.results)
        assert ingest([files], Writer(store), rebuild=True).forgotten == len(gone)
        assert dumps(store) == left

        files.rename(other)
        for path in other.rglob("*.jsonl"):
            path.write_text(path.read_text("utf-8") + "\n", "utf-8")
        assert ingest([other], Writer(store)).forgotten == len(gone)
        for name in VIEWS:
            if name != "skipped":  # which has a line of another file by now
                assert printed(show(store, name, Request()), "json") == left[name], name


def test_what_grows_after_some_of_it_was_forgotten_gains_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "flow-transcripts-live.jsonl"
    lines = [json.dumps(tiny_store.viewing(number, "gemini", "books", run="run-1", latency=800)) for number in range(6)]
    with fresh(tmp_path / "calls.db") as store:
        path.write_text("".join(f"{line}\n" for line in lines[:4]), "utf-8")
        ingest([path], Writer(store))
        forget_where(store, f"conversation={tiny_store.name(1)}")
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        ingest([path], Writer(store))
        held = [name for (name,) in store.execute_sql("SELECT name FROM conversation ORDER BY name")]
    assert held == sorted(tiny_store.name(number) for number in (0, 2, 3, 4, 5))


def test_taking_files_again_brings_back_what_they_hold(fill: Fill, tmp_path: Path) -> None:
    files, path = tmp_path / "files", tmp_path / "calls.db"
    with fresh(path) as store:
        fill(files, Writer(store))
        before = dumps(store)
        for where in FILTERS:
            forget_where(store, where)
        assert store.execute_sql("SELECT COUNT(*) FROM conversation") == [(0,)]
        if files.exists():
            ingest([files], Writer(store, takes_back=True), rebuild=True)
        else:
            fill(files, Writer(store, takes_back=True))
        assert dumps(store) == before
        assert remembered(store) == []
        assert examine(store).wrong == []


NOTES = (
    Annotation("1", "c-1", "ann", run="night-1", note="hers", at=1),
    Annotation("2", "c-1", "ben", note="of any run", at=2),
    Annotation("3", "c-2", "ann", run="night-1", note="another", at=3),
)


def test_notes_go_with_their_calls_and_come_in_no_more(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2")])
        add_notes(store, NOTES)
        forget_where(store, "conversation=c-1")
        assert [note.id for note in read_notes(store)] == ["3"]
        written = add_notes(store, NOTES)
        assert (written.new, written.known, written.forgotten) == (0, 1, 2)
        assert [note.id for note in read_notes(store)] == ["3"]


def test_a_note_that_may_be_of_a_call_that_stays_stays(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-1", run="night-2")])
        add_notes(store, NOTES)
        assert notes_of_no_call(store) == (1, 1)
        forget_where(store, "run=night-1")
        assert [note.id for note in read_notes(store)] == ["2", "3"]
        assert notes_of_no_call(store) == (1, 0)


def test_notes_can_be_kept_and_then_come_in_as_before(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2")])
        add_notes(store, NOTES)
        forget_where(store, "conversation=c-1", keep_notes=True)
        assert [note.id for note in read_notes(store)] == ["1", "2", "3"]
        assert add_notes(store, [replace(NOTES[0], id="4")]).new == 1


def test_a_verdict_that_was_of_two_calls_counts_for_the_one_that_stays(tmp_path: Path) -> None:
    verdicts = [verdict("c-1", 4.0), verdict("c-1", 8.0, line=2, trial=1), verdict("c-2", 2.0, line=3)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-1", trial=1), call("c-2")])
        put(store, "/in/h.jsonl", verdicts)
        forget_where(store, "conversation=c-1 trial=1 | conversation=c-2")
        counting = "SELECT score FROM judged_score WHERE conversation_id IS NOT NULL"
        assert store.execute_sql(counting) == [(4.0,)]
        put(store, "/in/h.jsonl", [*verdicts, verdict("c-3", 1.0, line=4)], sha256="bb")
        assert store.execute_sql("SELECT score FROM judged_score ORDER BY line") == [(4.0,), (1.0,)]


def test_the_same_call_of_another_file_stays_out_and_is_noted_nowhere(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2")])
        put(store, "/in/b.jsonl", [call("c-1", line=4)], order=["/in/a.jsonl", "/in/b.jsonl"])
        assert len(skipped(store)) == 1
        forget_where(store, "conversation=c-1")
        assert skipped(store) == []
        assert put(store, "/in/c.jsonl", [call("c-1")]).forgotten == 1
        assert store.execute_sql("SELECT path FROM source_file") == [("/in/a.jsonl",)]


def test_nothing_that_names_a_forgotten_call_is_left_in_the_file(tmp_path: Path) -> None:
    path, secret = tmp_path / "calls.db", "c-4711"
    with fresh(path) as store:
        text = transcript_of_words(f"my number is {secret}")
        put(store, f"/in/{secret}.jsonl", [call(secret, scenario=secret, transcript=text, caller=secret)])
        put(store, "/in/others.jsonl", [call("c-2")])
        put(store, "/in/h.jsonl", [verdict(secret, 4.0, rationale=secret)])
        add_notes(store, [Annotation("1", secret, "ann", note=secret)])
        drawn = Drawn(CallNames("night-1", "viewing", "model-a", secret, 0), "random")
        keep_list(store, KeptList(Sample(1, {"random": 1}, 1, f"conversation={secret}", 5), [drawn]))
        assert secret.encode() in path.read_bytes()
        store.wipe_deleted()
        forget_where(store, f"conversation={secret}")
        assert secret.encode() not in path.read_bytes()


def test_the_reading_list_is_numbered_anew(tmp_path: Path) -> None:
    names = [CallNames("night-1", "viewing", "model-a", f"c-{number}", 0) for number in range(3)]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call(each.conversation) for each in names])
        keep_list(store, KeptList(Sample(3, {"random": 3}, 1, "", 5), [Drawn(each, "random") for each in names]))
        forget_where(store, "conversation=c-1")
        found = store.execute_sql("SELECT position, conversation_name FROM sampled_call ORDER BY position")
        assert found == [(1, "c-0"), (2, "c-2")]


def test_what_compresses_transcripts_is_made_anew_of_those_that_stay(tmp_path: Path) -> None:
    secret, path = "zebra-quagga-okapi", tmp_path / "calls.db"
    calls = [
        call(f"c-{at}", run=f"night-{at % 2}", transcript=transcript_of_words(words(at, secret))) for at in range(1200)
    ]
    with fresh(path) as store:
        put(store, "/in/a.jsonl", calls)
        assert secret.encode() in path.read_bytes(), "a dictionary holds words as they were said"
        store.wipe_deleted()
        forget_where(store, "run=night-1", renew=True)
        store.compact()
        assert secret.encode() not in path.read_bytes()
        assert store.execute_sql("SELECT COUNT(*) FROM text_dictionary") == [(1,)]
        texts = Transcripts(store)
        bodies = store.execute_sql(
            "SELECT c.name, t.body, t.dictionary_id FROM transcript t JOIN conversation c ON c.id = t.conversation_id"
        )
        kept = {each.conversation_id: each.transcript for each in calls}
        assert len(bodies) == 600
        assert all(texts.text(body, key) == kept[name] for name, body, key in bodies)


def words(at: int, secret: str) -> str:
    said = random.Random(at).choices(("table", "tomorrow", "number", "please", "garden", "window", "seven"), k=60)
    return " ".join([*said[:30], secret if at % 2 else "nobody", *said[30:]])


def transcript_of_words(text: str) -> bytes:
    return spell([Turn("caller", text)], EventColumns(), {})


def test_a_copy_of_a_store_remembers_what_was_forgotten(tmp_path: Path) -> None:
    files = tmp_path / "files"
    tiny_store.write(files)
    with fresh(tmp_path / "calls.db") as store, fresh(tmp_path / "copy.db") as copy:
        ingest([files], Writer(store))
        gone, _ = forget_where(store, "failed=1")
        copy_store(store, copy)
        assert ingest([files], Writer(copy), rebuild=True).forgotten == len(gone)
        assert dumps(copy) == dumps(store)
