from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.support.hostile import HOSTILE, unsafe
from tests.surface.tui import block, cell_width, ending, escaped_hidden, file_name, fit, one_line, padded, steady

TEXTS = st.text(st.characters(codec=None))
NASTY = st.text(
    st.sampled_from(
        "aZ0 #*\n\t\r\x00\x07\x1b\x7f\x85\x9b\u0301\u0302\u0903\u200b\u200c\u200d\u202e\u2066\ufe0e\ufe0f\ufeff\u20e3"
        "\u00ad\u3164❤👍🏽👨👩\ud800\udfff\U000e0041\U000e0100日"
    ),
    max_size=40,
)


def longest_tower(text: str) -> int:
    longest = height = 0
    for character in text:
        height = height + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        longest = max(longest, height)
    return longest


@given(TEXTS | NASTY)
@example("❤\ufe0f\ufe0f")
@example("❤" + "\ufe0f" + "\u0301" * 9)
@example("\u200d❤\u200d❤\u200d")
@example("1\ufe0f\u20e3")
def test_nothing_live_or_unseen_comes_through(text: str) -> None:
    shown = one_line(text)
    assert unsafe(shown) == []
    assert longest_tower(shown) <= 5  # four marks, and the selector of an emoji


@given(TEXTS | NASTY)
def test_a_block_keeps_its_newlines_and_nothing_else_of_the_kind(text: str) -> None:
    shown = block(text)
    assert unsafe(shown.replace("\n", "")) == []
    assert shown.count("\n") == text.count("\n")
    assert shown == "\n".join(one_line(line) for line in text.split("\n"))


@given(TEXTS | NASTY)
def test_what_is_safe_already_stays_as_it_is(text: str) -> None:
    assert one_line(one_line(text)) == one_line(text)
    assert block(block(text)) == block(text)


@pytest.mark.parametrize(
    "text",
    [
        "hello world, [noise] <b> 100 % #1 @x",
        "café, it’s — naïve ü",
        "Привет, мир",
        "日本語テスト 한국어 中文",
        "नमस्ते दुनिया",
        "مرحبا بالعالم",
        "שָׁלוֹם",
        "e\u0301 a\u0308\u0304",
        "ok 👍🏽 fam 👨‍👩‍👧 flag 🇺🇸 heart ❤️ keycap 1️⃣ 🏳️‍🌈 ☺︎",
        "\ue0b0 private use",
    ],
)
def test_clean_text_in_any_script_is_unchanged(text: str) -> None:
    assert one_line(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("A\x1b[2J", "A␛[2J"),
        ("A\x00B\x7f", "A␀B␡"),
        ("a\tb", "a    b"),
        ("a\nb", "a⏎b"),
        ("a\r\nb", "a␍⏎b"),
        ("A\x9b2J", "A\ufffd2J"),
        ("lone \ud800", "lone \ufffd"),
        ("x\U000e0041", "x\ufffd"),
        ("user \u202eevil", "user <U+202E>evil"),
        ("a\u200bb\u200dc", "a<U+200B>b<U+200D>c"),
        ("x\ufe0f", "x<U+FE0F>"),
        ("a\u2028b", "a<U+2028>b"),
        ("Z" + "\u0301" * 9 + "a", "Z" + "\u0301" * 4 + "a"),
    ],
)
def test_each_kind_is_shown_as_promised(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_no_control_comes_through() -> None:
    controls = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
    assert [control for control in controls if unsafe(one_line(control)) or control in one_line(f"a{control}b")] == []


def test_no_mark_makes_a_tower() -> None:
    marks = [chr(code) for code in (*range(0x300, 0x370), 0x20D0, 0xFE20, 0x1E8D0)]
    assert max(longest_tower(one_line("Z" + mark * 9)) for mark in marks) == 4


def test_a_block_shows_a_carriage_return_and_keeps_the_line() -> None:
    assert block("a\r\nb\x1b") == "a␍\nb␛"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_strings_are_harmless(text: str) -> None:
    assert unsafe(one_line(text)) == []
    one_line(text).encode("utf-8")
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,88}", file_name(text))


def test_hostile_strings_that_were_collected_are_harmless(shared_data: Path) -> None:
    strings: dict[str, str] = json.loads((shared_data / "hostile_strings.json").read_text("utf-8"))
    for name, text in strings.items():
        assert unsafe(one_line(text)) == [], name
        assert unsafe(block(text).replace("\n", "")) == [], name
    for name in ("plain", "markup_click", "cjk", "emoji", "sql", "html", "comment"):
        assert one_line(strings[name]) == strings[name]


@given(TEXTS | NASTY)
@example("\uffff")
@example("\U000e0001")
def test_json_loses_what_is_unseen_to_the_eye_and_nothing_to_a_parser(text: str) -> None:
    written = escaped_hidden(json.dumps(text, ensure_ascii=False))
    assert unsafe(written) == []
    # A parser joins two surrogates that follow each other; nothing else may differ.
    assert json.loads(written) == json.loads(json.dumps(text))


@pytest.mark.parametrize("text", [one_line(text) for text in HOSTILE.values()] + ["क्षत्रिय", "각", "☺︎☺️"])
def test_widths_agree_with_what_the_explorer_measures(text: str) -> None:
    assert cell_width(text) == cell_len(text)


def test_signs_are_as_wide_as_the_explorer_draws_them() -> None:
    codes = (
        *range(0x20, 0x3250),
        *range(0x4DB0, 0x4E10),
        *range(0xA900, 0xFB00),
        *range(0x1D2F0, 0x1D380),
        *range(0x1F000, 0x1FB00),
    )
    known = [chr(code) for code in codes if unicodedata.category(chr(code)) not in ("Cn", "Cs")]
    younger = ["\U0001fac6", "\U0001fadc", "\U0001fae9", "\U00018cff"]
    signs = [sign for sign in known + younger if one_line(sign) == sign]
    assert [f"U+{ord(sign):04X}" for sign in signs if cell_width(sign) != cell_len(sign)] == []
    assert cell_width("\u0378\U0001133a") == 2, "what no table knows is drawn as one box"


@given(TEXTS.map(one_line), st.integers(0, 20), st.sampled_from(["…", "~", "", "..."]))
def test_a_fitted_text_never_exceeds_its_cells(text: str, width: int, ellipsis: str) -> None:
    fitted = fit(text, width, ellipsis)
    assert cell_width(fitted) <= width
    assert fitted == text or cell_width(text) > width
    assert cell_width(padded(fitted, width)) == width


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [
        ("collect_details", 15, "collect_details"),
        ("collect_details", 8, "collect…"),
        ("日本語テスト", 7, "日本語…"),
        ("日本語テスト", 6, "日本…"),
        ("日本語", 2, "…"),
        ("日本語", 1, "…"),
        ("日本語", 0, ""),
        ("👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_a_text_is_cut_between_whole_signs(text: str, width: int, fitted: str) -> None:
    assert fit(text, width) == fitted


def test_what_follows_a_wide_sign_without_room_is_cut_off_as_well() -> None:
    assert fit("a日b", 2, "") == "a"
    assert fit("日本語", 1, "...") == ""
    assert fit("abc", 2, "...") == "ab"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("collect", 3, "ect"), ("collect", 9, "collect"), ("日本語", 5, "本語"), ("日本語a", 2, "a"), ("日a", 0, "")],
)
def test_the_end_of_a_text_takes_its_cells_in_whole_signs(text: str, width: int, shown: str) -> None:
    assert ending(text, width) == shown


def test_padding_goes_to_either_side() -> None:
    assert padded("日本", 6) == "日本  "
    assert padded("9", 3, right=True) == "  9"


@given(TEXTS)
def test_file_names_stay_in_their_directory(text: str) -> None:
    name = file_name(text)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{1,88}", name)
    assert name == file_name(text)


def test_file_names_of_different_ids_differ_even_where_their_letters_do_not() -> None:
    assert len({file_name(text) for text in ("a/b", "a b", "a_b", "A_b", "../a_b", "a_b" + "x" * 99, "a_b" * 99)}) == 7


def test_what_terminals_make_wide_or_not_is_drawn_in_cells_that_all_of_them_agree_on() -> None:
    told = {
        "\u26a0\ufe0f late": "\u26a0  late",
        "\U0001f44d\U0001f3fd ok": "\U0001f44d ok",
        "1\ufe0f\u20e3": "1\u20e3 ",
        "\U0001f469\U0001f3fd\u200d\U0001f680": "\U0001f469\u200d\U0001f680",
        # A joined picture is as wide as its first one everywhere.
        "\U0001f3f3\ufe0f\u200d\U0001f308": "\U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f4f1 |": "\U0001f4f1 |",
    }
    for text, drawn in told.items():
        assert steady(text) == drawn
        assert cell_width(drawn) == cell_width(text)
