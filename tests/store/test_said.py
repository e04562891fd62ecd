"""What was said in calls is found as a search through every text would find it, and only where it decides."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.facts import call, fresh, put, state
from tests.support.postgresql_server import Server
from tests.surface.ingest import Turn
from tests.surface.store import (
    And,
    Conversation,
    ConversationFacts,
    EventColumns,
    Heard,
    Interrupted,
    Interruption,
    Not,
    Or,
    Patterns,
    Predicate,
    Search,
    Store,
    Term,
    UsageError,
    conversation_ids,
    fold,
    heard_of,
    open_store,
    probe,
    said_in,
    satisfies,
    spell,
    transcripts_said,
    undecided,
)
from tests.surface.tui import parse

LETTERS = "aAkKsSiIßẞſıİKéÉñüÜяЯπΠσς日本語한글עברעربيﬁ ŉǰ\"'\\/\n\t\x01\u2028%_.*+?()[]{}|^$0129🙂‍"
texts = st.text(st.sampled_from(LETTERS) | st.characters(codec="utf-8"), max_size=12)
ENDLESS = "(a+)+$"
HANGS_AFTER_S = 60


def saying(name: str, *said: str | tuple[str, str], **given_: object) -> ConversationFacts:
    """A call in which the agent says these, or whoever is named."""
    turns = [Turn(*each) if isinstance(each, tuple) else Turn("agent", each) for each in said]
    return call(name, transcript=spell(turns, EventColumns(), {}), **given_)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def names(store: Store, found: Collection[int]) -> list[str]:
    rows = store.execute(Conversation.select(Conversation.id, Conversation.name))
    return sorted(name for key, name in rows if key in set(found))


def found(store: Store, where: str) -> list[str]:
    return names(store, conversation_ids(store, parse(where)))


@settings(max_examples=examples(100))
@given(said=st.lists(texts, max_size=3), wanted=texts)
@example(said=["STRASSE"], wanted="straße")
@example(said=["İ"], wanted="i")
@example(said=["ß"], wanted="ẞ")
@example(said=['a"b\\c'], wanted='"B\\')
@example(said=["\N{KELVIN SIGN}"], wanted="k")
def test_no_text_that_matches_is_passed_over_for_its_bytes(said: list[str], wanted: str) -> None:
    spelled = spell([Turn("agent", text) for text in said], EventColumns(), {})
    by_others = json.dumps({"turns": [{"role": "agent", "text": text} for text in said]}).encode()
    for operator in ("contains", "="):
        term = Term("said", operator, wanted)
        if satisfies(term, said):
            assert probe(term)(spelled)
            assert probe(term)(by_others)


patterns = st.lists(
    st.sampled_from(
        [*'abkKſs.é本"/ ', r"\s", r"\w", r"\.", r"\\", "[ab]", "[^]a]", "a*", "b+", "k?", "é{2}", "(ab)?", "(k)", "$"]
    ),
    min_size=1,
    max_size=5,
).map("".join)


@settings(max_examples=examples(100))
@given(
    text=st.text(st.sampled_from('abkKſsSé本"\\/ .ABK\n'), max_size=10), pattern=patterns, ignores_case=st.booleans()
)
@example(text="\N{LATIN SMALL LETTER LONG S}", pattern="s", ignores_case=True)
@example(text="ac", pattern="ab?c", ignores_case=False)
def test_nor_one_in_which_a_regular_expression_is_found(text: str, pattern: str, ignores_case: bool) -> None:
    pattern = f"(?i){pattern}" if ignores_case else pattern
    if re.search(pattern, text):
        assert probe(Term("said", "matches", pattern))(spell([Turn("agent", text)], EventColumns(), {}))


def test_bytes_tell_of_a_letter_only_if_no_other_is_folded_to_it() -> None:
    for code in range(0x110000):
        if not 0xD800 <= code <= 0xDFFF:
            character = chr(code)
            for folded in fold(character):
                if folded.isascii():
                    assert (character.isascii(), character.lower()) == (True, folded)
                elif unicodedata.category(folded) == "Lo":
                    assert folded == character


def test_most_transcripts_are_passed_over_without_being_read() -> None:
    spelled = spell([Turn("agent", 'Good day, "sir"\n日本語')], EventColumns(), {})
    for wanted in ("wrong number", '"wrong"', "日本人", "straße"):
        assert not probe(Term("said", "contains", wanted))(spelled)
    assert not probe(Term("said", "matches", r"wrong\s+number"))(spelled)
    assert not probe(Term("said", "matches", r"(?i)wro.g"))(spell([Turn("agent", "Good day")], EventColumns(), {}))


def test_fields_say_who_said_it(store: Store) -> None:
    put(store, "calls.jsonl", [
        saying("c-1", ("agent", "Hello there"), ("caller", "wrong number")),
        saying("c-2", ("agent", "Wrong NUMBER?"), ("caller", "no")),
        saying("c-3", ("agent", "wrong"), ("agent", "number")),
        call("c-4"),
    ])  # fmt: skip
    assert found(store, "said:'wrong number'") == ["c-1", "c-2"]
    assert found(store, "caller_said:'Wrong number'") == ["c-1"]
    assert found(store, "agent_said:/^Wrong.*[?]$/") == ["c-2"]
    assert found(store, "said=number") == ["c-3"]
    assert found(store, "!said:number") == ["c-4"]
    assert found(store, "said!=number") == ["c-1", "c-2"]
    assert found(store, "caller_said=·") == ["c-3", "c-4"]
    assert found(store, "agent_said:wrong caller_said:no") == ["c-2"]
    assert found(store, "caller_said:wrong | caller_said:no") == ["c-1", "c-2"]


def test_a_call_of_another_spelling_and_a_damaged_one(store: Store) -> None:
    older = json.dumps({"turns": [{"role": "agent", "text": "Straße"}, "no turn", {"text": 7}], "events": []})
    put(store, "calls.jsonl", [
        call("c-1", transcript=older.encode()), call("c-2", transcript=b'["stra\xc3\x9fe'), saying("c-3", "STRASSE"),
    ])  # fmt: skip
    assert found(store, "said:'straße'") == ["c-1"]
    with store.snapshot():
        conversation_ids(store, parse("said:''"))
        heard = heard_of(store, parse("said:''"))
    assert heard == Heard(calls=3, kept=3, damaged=1)


def searched(store: Store, where: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The calls whose transcripts are read for a filter."""
    seen: set[int] = set()
    before = transcripts_said.bodies

    def bodies(opened: Store, keys: Sequence[int]) -> object:
        seen.update(keys)
        return before(opened, keys)

    with monkeypatch.context() as patch:
        patch.setattr(transcripts_said, "bodies", bodies)
        conversation_ids(store, parse(where))
    return names(store, seen)


@pytest.mark.parametrize(
    ("where", "read"),
    [
        ("said:x agent:b", ["c-2", "c-4"]),
        ("agent:b (said:x | caller_said:y) run:night", ["c-2", "c-4"]),
        ("said:x | agent:b", ["c-1", "c-3"]),
        ("!(said:x agent:b)", ["c-2", "c-4"]),
        ("!(said:x | agent:b)", ["c-1", "c-3"]),
        ("agent:b | (conversation=c-1 !said:x)", ["c-1"]),
        ("said:x agent:nobody", []),
        ("said:x state:greet", ["c-1", "c-2", "c-3"]),
        ("said:x (state:greet stall=1)", ["c-3"]),
    ],
)
def test_only_calls_are_read_for_which_it_decides(
    where: str, read: list[str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "calls.jsonl", [
        saying("c-1", "x", agent="a"), saying("c-2", "y", agent="b"),
        saying("c-3", "x", agent="a", states=[state("greet", stall=1)]),
        saying("c-4", "z", agent="b", states=[state("collect")]),
    ])  # fmt: skip
    assert searched(store, where, monkeypatch) == read


def test_nothing_is_read_twice_until_somebody_writes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, "calls.jsonl", [saying("c-1", "x"), saying("c-2", "x", agent="b")])
    with open_store(store.location) as reader:
        assert searched(reader, "said:x", monkeypatch) == ["c-1", "c-2"]
        assert searched(reader, "said:x agent:b", monkeypatch) == []
        assert searched(reader, "!said:x", monkeypatch) == []
        put(store, "more.jsonl", [saying("c-3", "and x")])
        assert found(reader, "said:x") == ["c-1", "c-2", "c-3"]


def test_more_terms_than_are_kept_are_all_found(store: Store) -> None:
    put(store, "calls.jsonl", [saying("c-1", *(f"word-{number}." for number in range(60)))])
    assert found(store, " ".join(f"said:word-{number}." for number in range(60))) == ["c-1"]
    assert found(store, " ".join(f"said:word-{number}." for number in range(61))) == []


@settings(max_examples=examples(50))
@given(
    predicate=st.recursive(
        st.sampled_from([Term("said", "contains", "x"), Term("agent", "=", "b"), Term("caller_said", "matches", "y")]),
        lambda parts: st.one_of(
            st.builds(Not, parts),
            st.builds(And, st.lists(parts, min_size=2, max_size=3).map(tuple)),
            st.builds(Or, st.lists(parts, min_size=2, max_size=3).map(tuple)),
        ),
        max_leaves=8,
    )
)
def test_what_is_left_out_of_a_search_never_decides(predicate: Predicate) -> None:
    def holds(part: Predicate | None, *, b: bool, x: bool, y: bool) -> bool:
        match part:
            case Term("agent"):
                return b
            case Term("said"):
                return x
            case Term():
                return y
            case Not(inner):
                return not holds(inner, b=b, x=x, y=y)
            case And(parts):
                return all(holds(each, b=b, x=x, y=y) for each in parts)
            case Or(parts):
                return any(holds(each, b=b, x=x, y=y) for each in parts)
        return True

    left = undecided(predicate)
    for b in (True, False):
        answers = {holds(predicate, b=b, x=x, y=y) for x in (True, False) for y in (True, False)}
        assert holds(left, b=b, x=False, y=False) or len(answers) == 1


def test_the_newest_are_found_first_as_they_are_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts_said, "AT_ONCE", 2)
    for day, run in enumerate(("night-1", "night-2")):
        calls = [saying(f"{run}-{number}", "x", run=run, started_at=day + 1) for number in range(3)]
        put(store, f"{run}.jsonl", calls, sha256=run)
    named = dict(store.execute(Conversation.select(Conversation.id, Conversation.name)))
    search = Search(store, parse("said:x !conversation:/-1$/"))
    steps = [(done, [named[key] for key in keys]) for done, keys in search.found()]
    assert steps == [(2, ["night-2-2", "night-2-0"]), (4, ["night-1-2", "night-1-0"])]
    assert Search(store, parse("said:x !conversation:/-1$/")).calls == 0
    by_pattern = [keys for _, keys in Search(store, parse("said:/^x/")).found()]
    assert [named[key] for keys in by_pattern for key in keys] == sorted(named.values(), reverse=True)


def test_an_endless_search_ends_when_nobody_waits_for_it(store: Store) -> None:
    put(store, "calls.jsonl", [saying("c-1", "a" * 60 + "!")])
    interruption, begun = Interruption(), threading.Event()

    def search() -> None:
        with interruption.in_force():
            begun.set()
            conversation_ids(store, Term("said", "matches", ENDLESS))

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(search)
        assert begun.wait(HANGS_AFTER_S)
        interruption.interrupt()
        assert isinstance(answer.exception(HANGS_AFTER_S), Interrupted)


def test_an_endless_search_says_so_after_a_while() -> None:
    searching = Patterns([ENDLESS])
    searching.ask(0, ["a" * 60 + "!"])
    searching.send()
    os.kill(searching.process.pid, signal.SIGALRM)  # which comes by itself, but later
    with pytest.raises(UsageError, match="takes too long"):
        searching.answers()
    searching.close()


def test_a_server_finds_what_a_file_finds(store: Store, postgresql: Server) -> None:
    put(store, "calls.jsonl", [
        saying("c-1", 'say "Straße"'), saying("c-2", "日本語", agent="b"), call("c-3"), saying("c-4", "a\\b\nc"),
    ])  # fmt: skip
    with open_store(postgresql.copy_of(Path(store.location))) as served:
        for where in ("said:'\"straße'", "said:本 agent:b", "!said:a", "said:/b\\nc$/", "said=·", "said:''"):
            assert found(served, where) == found(store, where)


def test_turns_are_counted_as_notes_count_them() -> None:
    turns = said_in({"turns": [{"role": "agent", "text": ""}, {"role": 1, "text": "hi", "t": True}, None, {"text": 1}]})
    assert [(turn.number, turn.role, turn.text, turn.t) for turn in turns] == [(2, None, "hi", None)]
    assert said_in({}) == said_in({"turns": 7}) == []


def test_a_transcript_without_calls_is_none(store: Store) -> None:
    assert conversation_ids(store, parse("said:x")) == []
    assert heard_of(store, parse("agent:x")) is None
