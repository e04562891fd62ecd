"""The parts of the explorer that need no screen."""

from __future__ import annotations

import asyncio
import base64
import io
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.controls import controls_at
from tests.support.fake_catalog import FakeCatalog, LazyRows, conversation_table, flow_table
from tests.support.hostile import HOSTILE
from tests.support.view_answers import segment_cell, state_cell
from tests.surface.explorer import (
    PAGE,
    PALETTES,
    WHY,
    Canvas,
    Line,
    Location,
    PagedRows,
    QueryWorker,
    ago,
    all_loaded,
    conversation_lines,
    copy,
    count_text,
    detect_capabilities,
    empty_text,
    error_lines,
    help_lines,
    index_of,
    is_loaded,
    next_palette,
    state_header_lines,
    text_of,
    textual_keys,
    transcript_lines,
    visible_columns,
)
from tests.surface.tui import ASCII, UNICODE, Filter, Request, Row, Table, segments

ANSI, PLAIN = PALETTES["ansi"], PALETTES["mono"]


class Stream(io.StringIO):
    """A stream that says which encoding it has."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # writable there
        return self._encoding


UTF8 = Stream("utf-8")


@pytest.mark.parametrize(
    ("environ", "asked", "palette", "ascii_only", "mouse"),
    [
        ({}, {}, "ansi", False, True),
        ({"SSH_CONNECTION": "a b"}, {}, "ansi", False, False),
        ({"SSH_CONNECTION": "a b"}, {"mouse": True, "theme": "dark"}, "dark", False, True),
        ({"NO_COLOR": "1"}, {"theme": "dark"}, "mono", False, True),
        ({"NO_COLOR": ""}, {}, "ansi", False, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, {}, "mono", False, True),
        ({"CLICOLOR": "0"}, {"theme": "light"}, "mono", False, True),
        ({"CLICOLOR": "0", "FORCE_COLOR": "1"}, {"theme": "light"}, "light", False, True),
        ({"CLICOLOR": "0", "CLICOLOR_FORCE": "1"}, {}, "ansi", False, True),
        ({}, {"remembered": "dark"}, "dark", False, True),
        ({}, {"remembered": "dark", "theme": "light"}, "light", False, True),
        ({"SSH_CONNECTION": "a b"}, {"remembered": "dark"}, "ansi", False, False),
        ({"TERM": "linux"}, {}, "ansi", True, True),
        ({}, {"ascii_only": True, "mouse": False}, "ansi", True, False),
        ({}, {"theme": "no such"}, "ansi", False, True),
    ],
)
def test_surroundings_decide_unless_told_otherwise(
    environ: dict[str, str], asked: dict[str, object], palette: str, ascii_only: bool, mouse: bool
) -> None:
    found = detect_capabilities(environ=environ, stream=UTF8, **asked)  # type: ignore[arg-type]  # as the cases say
    assert (found.palette.name, found.glyphs.ascii_only, found.mouse) == (palette, ascii_only, mouse)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "no such"])
def test_a_terminal_that_cannot_show_the_signs_gets_ascii(encoding: str) -> None:
    assert detect_capabilities(environ={}, stream=Stream(encoding)).glyphs is ASCII


def test_palettes_come_round_again() -> None:
    palette = ANSI
    for _ in PALETTES:
        palette = next_palette(palette)
    assert palette is ANSI


def test_copied_text_goes_to_the_terminal_and_to_a_file_of_the_owner(tmp_path: Path) -> None:
    sent: list[str] = []
    said = copy("ä · 1", tmp_path / "state", sent.append, environ={})
    path = tmp_path / "state" / "copied.txt"
    assert str(path) in said
    assert path.read_text("utf-8") == "ä · 1\n"
    assert path.stat().st_mode & 0o077 == 0
    assert sent == [f"\x1b]52;c;{base64.b64encode('ä · 1'.encode()).decode()}\x07"]


def test_inside_tmux_its_buffer_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "bin" / "tmux"
    fake.parent.mkdir()
    fake.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\ncat > {tmp_path}/loaded\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=":")
    sent: list[str] = []
    assert "tmux" in copy("words", tmp_path, sent.append, environ={"TMUX": "x"})
    assert (tmp_path / "loaded").read_text() == "words"
    assert (tmp_path / "arguments").read_text() == "load-buffer -w -\n"
    assert sent == []


async def test_questions_are_asked_one_after_the_other_on_another_thread() -> None:
    worker = QueryWorker()
    answers = await asyncio.gather(*(worker.ask(threading.current_thread) for _ in range(3)))
    assert len(set(answers)) == 1
    assert answers[0] is not threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        await worker.ask(lambda: 1 // 0)


async def test_a_question_that_nobody_waits_for_is_not_asked() -> None:
    worker, gate, asked = QueryWorker(), threading.Event(), []
    first = asyncio.create_task(worker.ask(gate.wait))
    second = asyncio.create_task(worker.ask(lambda: asked.append(2)))
    third = asyncio.create_task(worker.ask(lambda: asked.append(3)))
    await asyncio.sleep(0)
    assert not worker.idle
    second.cancel()
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(first, third)
    assert asked == [3]


async def test_steps_let_others_have_their_turn_and_end_with_an_answer() -> None:
    worker, order = QueryWorker(), list[str]()

    def steps() -> Generator[str, None, int]:
        for step in ("one", "two"):
            order.append(step)
            yield step
        return 7

    told = list[str]()
    following = asyncio.create_task(worker.follow(steps(), told.append))
    await asyncio.sleep(0)
    await worker.ask(lambda: order.append("another"))
    assert await following == 7
    assert told == ["one", "two"]
    assert order == ["one", "another", "two"]


async def test_nobody_goes_on_with_steps_that_nobody_waits_for() -> None:
    worker, order = QueryWorker(), list[int]()

    def steps() -> Generator[str, None, None]:
        for step in range(1_000_000):
            order.append(step)
            yield ""

    following = asyncio.create_task(worker.follow(steps(), lambda _: None))
    await worker.ask(lambda: None)
    following.cancel()
    await worker.ask(lambda: None)
    gone = len(order)
    await worker.ask(lambda: None)
    assert len(order) == gone < 10


def test_a_buffer_gives_what_is_at_hand_and_asks_for_the_rest() -> None:
    source = LazyRows(1_000)
    rows, missing = PagedRows(source), list[int]()
    rows.missing = missing.append
    rows.load(0)
    assert rows[5].id == "r5"
    assert rows[PAGE].id == ""
    assert missing == [PAGE]
    assert source.touched == set(range(PAGE))
    assert is_loaded(rows, 5)
    assert not is_loaded(rows, PAGE)
    assert not all_loaded(rows)
    assert len(rows) == 1_000
    assert [row.id for row in rows[3:5]] == ["r3", "r4"]
    with pytest.raises(IndexError):
        rows[1_000]


def test_a_row_is_found_where_it_was_or_where_it_went() -> None:
    rows = flow_table(10).rows
    assert index_of(rows, "r3", 3) == 3
    assert index_of(rows, "r3", 7) == 3
    assert index_of(rows, "gone", 7) == 7
    assert index_of(rows, "gone", 70) == 9
    assert index_of(rows, "", 4) == 4
    assert index_of([], "a", 4) == 0


def test_columns_without_a_value_are_left_out_and_those_with_a_trend_gain_one() -> None:
    table = FakeCatalog().show("flows", Request())
    assert "completion" not in [column.key for column in visible_columns(table)]
    trending = Table("flows", "", table.columns, [Row("a", {**table.rows[0].record, "trend": [0.0, None, 1.0]})])
    columns = visible_columns(trending, frozenset({"flow"}))
    assert [column.key for column in columns] == [
        "agent",
        "n",
        "blend",
        "trend",
        "operability",
        "correctness",
        "turn_count",
    ]
    assert text_of(columns[3], trending.rows[0], UNICODE) == "▁·█"


def test_a_segment_names_its_worst_member_before_what_may_have_no_room() -> None:
    worst = state_cell("f", "query", n=9, stall=0.5)
    table = segments([segment_cell("f", "action", worst, stall=0.1, progress=0.9, dwell_turns=1.0, revisit=0.0)])
    columns = visible_columns(table)
    assert [column.key for column in columns] == [
        "flow", "segment", "failed", "n", "progress", "stall", "worst_state", "revisit", "dwell_turns",
    ]  # fmt: skip
    assert text_of(columns[6], table.rows[0], UNICODE) == "50% query"


def test_a_line_of_the_worklist_does_not_say_twice_what_it_is_about() -> None:
    flow = Row("a", {"list": "flows", "agent": "x", "reasons": ["correctness 1.0"]}, {"summary": "… (agent x, n 9)"})
    segment = Row(
        "b", {"list": "segments", "worst_state": "query", "reasons": ["stall 0.5"]}, {"why": "worst query · stall 50%"}
    )
    assert text_of(WHY, flow, UNICODE) == "correctness 1.0"
    assert text_of(WHY, segment, UNICODE) == "worst query · stall 50%"


@pytest.mark.parametrize(
    ("seconds", "said"), [(3, "just now"), (61, "1 min ago"), (7_300, "2 h ago"), (200_000, "2 d ago")]
)
def test_how_long_ago_is_said_in_the_largest_unit(seconds: float, said: str) -> None:
    assert ago(seconds) == said


def test_counts_say_what_a_filter_left() -> None:
    table = flow_table(1)
    assert count_text(Location("states", filter=Filter("x")), table, 412) == " match · 411 hidden"
    assert count_text(Location("states"), table, None) == " state"
    assert count_text(Location("worklist"), table, None, 3) == " entry · 3 marked"
    assert count_text(Location("neighbors"), flow_table(0), None) == "0 conversations"
    assert count_text(Location("states", filter=Filter("x")), flow_table(0), 412) == "0 of 412 match"
    assert count_text(Location("states"), table._replace(matched=58), None) == " shown, of 58 states"


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (Location("flows"), "riff-tui ingest"),
        (Location("states", filter=Filter("x")), "Esc clears"),
        (Location("states", scope=Filter("flow=a")), "q goes back"),
        (Location("worklist"), "No call that counts failed"),
        (Location("effects"), "takes measured calls"),
        (Location("compare", sides=("a", "b")), "= on the first screen"),
    ],
)
def test_an_empty_place_says_what_to_do_next(place: Location, said: str) -> None:
    assert said in empty_text(place)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_words_stay_words_in_a_transcript_and_in_help(text: str) -> None:
    table = conversation_table(text)
    told = transcript_lines(table.rows, [text], 60, UNICODE, PLAIN)
    lines = [line.line for line in told]
    lines += help_lines(controls_at("flows", Table("flows", text, table.columns, [], notes=[text], dump=text)), 60)
    lines += conversation_lines(
        Table("conversation", "", (), [], extras={"call": {"stop_reason": text}}), 60, UNICODE, PLAIN
    )
    blast = [{"state": text, "through": 0.5, "reached": 0.5, "starved": 2.0}]
    around = Table("neighbors", "", (), [], lead=text, extras={"blast": blast})
    lines += state_header_lines("all", lambda _: [], around, None, "", Canvas(60, 20, UNICODE, PLAIN))
    codes = {ord(character) for line in lines for words, _ in line for character in words}
    assert not any(code < 32 or 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E for code in codes)


def test_a_voice_call_is_headed_by_its_metrics_but_for_what_went_as_it_should() -> None:
    computed = {"turn_count": 4.0, "turn_taking": 0.375, "stt_wer": 0.089, "response_speed": None}
    yes_or_no = {"conversation_valid_end": 1.0, "authentication_success": 0.0}
    extras = {"call": {"stop_reason": "terminal"}, "aspects": {"computed": computed | yes_or_no, "judged": []}}
    lines = conversation_lines(Table("conversation", "", (), [], extras=extras), 120, UNICODE, PLAIN)
    text = "".join(words for words, _ in lines[1])
    assert text.rstrip().endswith("turn_taking 0.38  wer 0.09  auth 0.00")


def test_a_transcript_wraps_words_and_marks_slow_turns() -> None:
    table = conversation_table()
    told = transcript_lines(table.rows, table.notes, 60, UNICODE, ANSI)
    text = ["".join(words for words, _ in line.line).rstrip() for line in told]
    assert text[0].startswith("    0.0 ── greet ──")
    assert text[1] == "    0.4  agent   Hi, which day suits you?              0.9 s"
    assert text[3].startswith("                 Tuesday")
    assert any("◆ date" in line for line in text)
    assert any("! guard has_name raised" in line for line in text)
    assert any(line.endswith("!9.1 s") for line in text)
    assert [line.row for line in told][-1] is None
    assert all(_line(each.line).isascii() for each in transcript_lines(table.rows, table.notes, 60, ASCII, ANSI))


def test_what_went_wrong_is_told_without_the_words_in_it() -> None:
    try:
        raise ValueError("what the caller said")
    except ValueError as error:
        text = "\n".join(_line(line) for line in error_lines(error, 80, UNICODE, ANSI))
    assert "unexpected ValueError" in text
    assert "test_parts.py" in text
    assert "caller said" not in text.replace('raise ValueError("what the caller said")', "")


def test_keys_are_translated_for_the_bindings() -> None:
    assert textual_keys(("j", "↓", "[", "?")) == "j,down,left_square_bracket,question_mark"


def _line(line: Line) -> str:
    return "".join(words for words, _ in line)
