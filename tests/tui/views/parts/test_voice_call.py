"""A voice call is told with what was meant and heard, and without --text nobody's words leave it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import elevenlabs_calls, livekit_reports
from tests.support.golden import assert_golden, printed
from tests.support.hostile import HOSTILE
from tests.support.strategies import JSON
from tests.support.view_answers import DOCUMENT, detail
from tests.support.voice_answers import SECRET, VOICE, document
from tests.surface.store import Task, TraceEntry, Voice, VoiceTurn
from tests.surface.tui import LONGEST_VALUE, MOST_DIFFERENCES, Lanes, Redactor, Table, conversation, run
from tests.surface.tui import sinks_render as render


def table_of(voice: Voice = VOICE, **options: Any) -> Table:
    return conversation(detail(document(voice)), **options)


def column(table: Table, key: str) -> list[Any]:
    return [row.record.get(key) for row in table.rows]


@pytest.mark.parametrize("format", ["text", "markdown", "json", "csv", "svg"])
@pytest.mark.parametrize("text", [False, True])
def test_a_voice_call_is_printed_like_this(format: str, text: bool) -> None:
    suffix = {"text": "txt", "markdown": "md"}.get(format, format)
    name = "call-with-text" if text else "call"
    assert_golden(printed(table_of(text=text), format), f"voice/{name}.{suffix}")


def test_it_is_printed_in_ascii_too() -> None:
    shown = printed(table_of(), "text", ascii_only=True)
    assert shown.isascii()
    assert_golden(shown, "voice/call-with-text.ascii.txt")


def test_rows_follow_the_trace_and_carry_their_turn_once() -> None:
    table = table_of()
    told = [(row.record["turn"], row.record["role"], row.record["latency_ms"]) for row in table.rows]
    assert told[:7] == [
        (0, "agent", None),
        (1, "caller", None),
        (1, "agent", 1100.0),
        (2, "caller", None),
        (2, "agent", None),
        (2, "tool", None),
        (2, "agent", -5000.0),
    ]
    assert column(table, "turn_taking").count(0.0) == 2
    assert [row.record["t"] for row in table.rows][:4] == [0.0, 3.2, 8.1, 14.5]


def test_differing_words_are_marked_and_the_rest_is_not() -> None:
    changed = [text for text in column(table_of(), "changed") if text]
    assert changed == [
        "It is [-Abernathy,-]{+Aber Nathy,+} spelled A … R, and [-Tuesday-]{+Thursday+} at nine …",
        "[-Goodbye.-]{+Good bye.+}",
    ]


def test_who_broke_in_and_what_failed_is_marked() -> None:
    rows = {row.record["detail"]: row for row in table_of().rows if row.severity.get("") == "bad"}
    said = list(rows)
    assert "agent interrupts, 3.5 s both" in said
    assert 'book failed: {"status": "error", "message": "try again"}' in said
    assert 'bookings / Abernathy / day: "Tuesday" → "Thursday"' in said
    assert "caller interrupts, agent yields after 1.0 s" in column(table_of(), "detail")


def test_without_text_no_word_of_anybody_is_in_it_but_times_and_scores_are() -> None:
    table = table_of(text=False)
    held = json.dumps([[dict(row.record) for row in table.rows], dict(table.extras), list(table.notes)])
    held += "".join(printed(table, format) for format in ("text", "markdown", "json", "csv"))
    for word in (SECRET, "Aber", "Thursday", "dental", "09:00", "try again", "table modified", "B-1", "no JSON"):
        assert word not in held, word
    for key in ("latency_ms", "turn_taking", "reason", "words_changed"):
        assert [found for found in column(table, key) if found] == [found for found in column(table_of(), key) if found]
    assert "3 of 15 words differ" in printed(table, "markdown")
    assert "bookings: 5 differences" in column(table, "detail")
    voice = table.extras["voice"]
    assert voice["turns"][2]["evidence"] == {
        "has_tool_call": True, "overlap_ms": 3500.0, "overlap_score": 0.0, "note": None,
    }  # fmt: skip


def test_redacted_text_is_redacted_wherever_it_stands() -> None:
    phone = "555-123-4567"
    voice = Voice(
        turns=[VoiceTurn(1, caller_meant=f"call {phone} now", caller_heard=f"fall {phone} now")],
        trace=[
            TraceEntry("transcribed", 1, 1.0, "user", f"fall {phone} now"),
            TraceEntry("tool_call", 1, 2.0, tool="dial", value={"number": phone}),
        ],
        task=Task(False, diff={"tables_modified": {"t": {"records_modified": {phone: {"fields_added": ["x"]}}}}}),
    )
    table = table_of(voice, redact=Redactor())
    assert phone not in "".join(printed(table, format) for format in ("text", "markdown", "json"))
    assert "[-call-]{+fall+} [phone 1] now" in column(table, "changed")


def test_texts_of_a_call_without_a_trace_come_from_its_turns() -> None:
    voice = msgspec.structs.replace(VOICE, trace=[entry for entry in VOICE.trace if entry.tool])
    roles = [(row.record["turn"], row.record["role"], row.record["kind"]) for row in table_of(voice).rows]
    assert roles[:7] == [
        (0, "agent", "turn"), (1, "caller", "turn"), (1, "agent", "turn"), (2, "caller", "turn"), (2, "agent", "tool"),
        (2, "tool", "answer"), (2, "agent", "turn"),
    ]  # fmt: skip


def test_what_the_agent_said_is_told_though_no_log_vouches_for_it() -> None:
    voice = Voice(
        turns=[
            VoiceTurn(0, agent_meant="Hi, which day suits you?"),
            VoiceTurn(
                1, caller_meant="Tuesday, or Friday", caller_heard="Tuesday", agent_meant="It's $40", latency=0.5
            ),
            VoiceTurn(2, caller_heard="Fine"),
        ],
        trace=[
            TraceEntry("intended", 0, 0.0, "assistant", "Hi, which day suits you?"),
            TraceEntry("transcribed", 1, 2.4, "user", "Tuesday"),
            TraceEntry("tool_call", 1, 2.6, tool="price"),
            TraceEntry("intended", 2, 9.0, "user", ""),
        ],
    )
    told = [
        (row.record["turn"], row.record["role"], row.record["text"], row.record["latency_ms"])
        for row in table_of(voice).rows
        if row.record["kind"] == "turn"
    ]
    assert told == [
        (0, "agent", "Hi, which day suits you?", None),
        (1, "caller", "Tuesday", None),
        (1, "agent", "It's $40", 500.0),
        (2, "caller", "Fine", None),
    ]


def test_states_and_slots_stay_where_they_happened_and_judges_name_turns() -> None:
    voice = Voice(
        turns=[VoiceTurn(0, latency=None)],
        trace=[
            TraceEntry("intended", 0, 0.0, "assistant", "Hi, which day suits you?"),
            TraceEntry("transcribed", 1, 2.4, "user", "Tuesday"),
        ],
    )
    table = conversation(detail({**DOCUMENT, "voice": msgspec.to_builtins(voice)}))
    assert [row.record["kind"] for row in table.rows] == ["state", "state", "turn", "turn", "guard", "guard", "slot"]
    assert [row.id for row in table.rows] == [str(number) for number in range(1, 8)]
    assert next(each for each in table.columns if each.key == "state").shown
    assert column(table, "state") == ["greet", *["collect_details"] * 6]


def test_a_long_diff_and_a_long_answer_are_cut_and_say_so() -> None:
    records = {f"r{number}": {"type": "x", "expected": 0, "actual": 1} for number in range(MOST_DIFFERENCES + 12)}
    voice = Voice(
        trace=[TraceEntry("tool_response", 1, 2.0, tool="dial", value="x" * 5_000)],
        task=Task(False, diff={"tables_modified": {"t": {"records_modified": records}}}),
    )
    details = column(table_of(voice), "detail")
    assert details[-1] == "12 more differences"
    assert details[0] == f"dial: {'x' * LONGEST_VALUE}… (5,000 characters)"


def test_a_task_that_was_done_leaves_no_rows_behind() -> None:
    done = msgspec.structs.replace(VOICE, task=msgspec.structs.replace(VOICE.task, passed=True))
    assert "database" not in column(table_of(done), "kind")
    assert "Task: done (computed): 1 table modified" in table_of(done).notes


def test_a_voice_that_cannot_be_understood_leaves_the_conversation_as_it_was() -> None:
    table = conversation(detail({**DOCUMENT, "voice": {"caller": "x"}}))
    assert table == conversation(detail())


TEXTS = st.none() | st.sampled_from(list(HOSTILE.values()))
NUMBERS = st.none() | st.floats()
TURNS = st.builds(
    VoiceTurn, st.integers(-1, 3), TEXTS, TEXTS, TEXTS, TEXTS, NUMBERS, st.booleans(), st.booleans(), st.booleans(),
    NUMBERS, TEXTS, st.dictionaries(st.sampled_from(["overlap_ms", "yield_ms", "x"]), JSON, max_size=3),
)  # fmt: skip
ENTRIES = st.builds(
    TraceEntry, st.sampled_from(["intended", "tool_call", "tool_response", "else"]), st.integers(-1, 3), NUMBERS,
    st.sampled_from([None, "assistant", "user", "x"]), TEXTS, TEXTS, JSON,
)  # fmt: skip
TASKS = st.builds(
    Task, st.none() | st.booleans(), TEXTS, TEXTS,
    st.dictionaries(st.sampled_from(["tables_modified", "x"]), JSON, max_size=2),
    st.dictionaries(st.text(max_size=3), JSON, max_size=2),
)  # fmt: skip
VOICES = st.builds(
    Voice,
    ended=TEXTS,
    turns=st.lists(TURNS, max_size=4),
    trace=st.lists(ENTRIES, max_size=6),
    task=TASKS,
    turn_taking=NUMBERS,
    warnings=st.lists(st.sampled_from(list(HOSTILE.values())), max_size=2),
)


@given(voice=VOICES, text=st.booleans(), redact=st.booleans(), ascii_only=st.booleans())
def test_any_voice_of_a_strangers_store_can_be_printed(
    voice: Voice, text: bool, redact: bool, ascii_only: bool
) -> None:
    table = table_of(voice, text=text, redact=Redactor() if redact else None)
    for format in ("text", "markdown", "json", "csv", "svg"):
        out = io.StringIO()
        render(table, format, out, ascii_only=ascii_only)
        assert not {"\x1b", "\x9b", "\u202e"} & set(out.getvalue())
        if ascii_only and format == "text":
            assert out.getvalue().isascii()


def test_the_figure_are_the_lanes() -> None:
    assert isinstance(table_of().figure, Lanes)


@pytest.mark.parametrize(
    ("call", "order"),
    [
        (
            {"items": livekit_reports.history()},
            "state greeter, turn greeter, turn greeter, tool greeter, answer greeter, guard greeter, tool greeter,"
            " answer greeter, state closer, turn closer",
        ),
        (
            elevenlabs_calls.plant_desk(),
            "state n_hello, turn n_hello, turn n_hello, state n_stock, tool n_stock, answer n_stock, guard n_stock,"
            " state n_sorry, turn n_sorry, turn n_sorry, turn n_sorry, tool n_sorry, answer n_sorry",
        ),
    ],
)
def test_what_has_no_time_or_one_with_others_keeps_the_order_of_its_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], call: Any, order: str
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(call))
    store = ["--store", str(tmp_path / "calls.db")]
    assert run(["ingest", str(tmp_path / "a.json"), *store]) == 0
    capsys.readouterr()
    assert run(["dump", "conversation", "--where", "turns>0", "--format", "json", *store]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert ", ".join(f"{row['kind']} {row['state']}" for row in rows) == order
