"""The picture holds what the text form says, cell below cell, whatever a name is made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import sample_tables
from tests.support.golden import printed
from tests.support.hostile import HOSTILE, unsafe
from tests.surface.tui import CELL, LINE, MARGIN, Column, Row, Table, cell_text, cell_width, one_line

SVG = "{http://www.w3.org/2000/svg}"
ANYTHING = st.text(st.characters(), max_size=12)


def texts(svg: str) -> Iterator[tuple[int, int, int, str]]:
    """Line, first cell, cells and words of each text of a picture."""
    for found in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        x, y, length = (int(found.attrib[name]) for name in ("x", "y", "textLength"))
        yield (y - MARGIN) // LINE, (x - MARGIN) // CELL, length // CELL, found.text or ""


def lines(svg: str) -> list[str]:
    """The picture as one would read it off, cell by cell."""
    found: dict[int, str] = {}
    for line, start, width, words in texts(svg):
        before = found.get(line, "")
        assert cell_width(words) == width
        assert cell_width(before) <= start, "texts overlap"
        found[line] = before + " " * (start - cell_width(before)) + words
    return [found.get(line, "") for line in range(max(found, default=-1) + 1)]


def unwrapped(text: str) -> str:
    """The text without blanks of any kind and line ends, which the picture sets anew in its notes."""
    return re.sub(r"\s", "", text)


@pytest.mark.parametrize("shape", sample_tables.ALL)
def test_it_reads_as_the_text_form_does(shape: str) -> None:
    plain = sample_tables.ALL[shape]()._replace(notes=(), total=None, lead="Fix first: dog/listen.")
    assert lines(printed(plain, "svg")) == printed(plain, "text").splitlines()
    assert "Fix first: dog/listen." in lines(printed(plain, "svg"))


@pytest.mark.parametrize("make", [sample_tables.hostile, sample_tables.hostile_lists])
def test_hostile_names_are_words_and_nothing_else(make: Any) -> None:
    table = make(HOSTILE)
    svg = printed(table, "svg")
    assert unwrapped("\n".join(lines(svg))) == unwrapped(printed(table, "text"))
    assert unsafe(svg.replace("\n", "")) == []
    assert {found.tag.removeprefix(SVG) for found in ElementTree.fromstring(svg).iter()} <= {
        "svg", "title", "style", "rect", "text", "path",
    }  # fmt: skip


@given(st.lists(st.tuples(ANYTHING, st.none() | ANYTHING, st.none() | st.floats()), max_size=5), ANYTHING, ANYTHING)
@example([], "", "\N{NO-BREAK SPACE}")
def test_it_parses_and_holds_every_cell(records: list[Any], title: str, note: str) -> None:
    columns = [
        Column("name", "Name", kind="name"),
        Column("text", title, kind="text", strong=True),
        Column("x", "x", decimals=2),
    ]
    rows = [
        Row(str(number), dict(zip(("name", "text", "x"), record, strict=True)), thin=number % 2 == 1)
        for number, record in enumerate(records)
    ]
    table = Table("v", title, columns, rows, notes=[note])
    found = lines(printed(table, "svg"))
    shown = unwrapped("\n".join(found))
    assert shown == unwrapped(printed(table, "text"))
    for row in rows:
        assert all(unwrapped(cell_text(column, row)) in shown for column in columns)


def test_columns_stand_where_the_text_has_them_and_nothing_leaves_the_picture() -> None:
    svg = printed(sample_tables.flows(), "svg")
    root = ElementTree.fromstring(svg)
    assert (root.attrib["width"], root.attrib["viewBox"]) == (
        str(max(start + width for _, start, width, _ in texts(svg)) * CELL + 2 * MARGIN),
        f"0 0 {root.attrib['width']} {root.attrib['height']}",
    )
    assert max(line for line, *_ in texts(svg)) * LINE + 2 * MARGIN < int(root.attrib["height"])


def test_severity_is_a_colour_beside_its_sign_and_thin_rows_are_dim() -> None:
    svg = printed(sample_tables.states(), "svg")
    found = [
        (text.attrib.get("class"), text.text)
        for text in ElementTree.fromstring(svg).iter(f"{SVG}text")
        if text.text in ("!", "0.33", "listen_owner", "2~", "·")
    ]
    assert found == [
        ("thin", "!"),
        ("thin", "2~"),
        ("thin", "·"),
        ("bad", "!"),
        (None, "listen_owner"),
        ("bad strong", "0.33"),
        (None, "·"),
        (None, "·"),
    ]


def test_it_needs_nothing_from_elsewhere_and_knows_dark_pages() -> None:
    svg = printed(sample_tables.hostile({"link": "https://evil.example/x.css", "import": "@import url(x)"}), "svg")
    style = re.search("<style>(.*)</style>", svg, re.DOTALL)
    assert style
    assert not re.search("url|@import|@font-face|http", style[1])
    assert "prefers-color-scheme:dark" in style[1]
    assert re.findall(r'"(https?:[^"]*)"', svg) == [SVG.strip("{}")]


def test_long_notes_are_wrapped_so_that_the_rows_give_the_width() -> None:
    table = Table("v", "T", [Column("n", "n", kind="count")], [Row("1", {"n": 1})], notes=["word " * 60])
    assert max(map(cell_width, lines(printed(table, "svg")))) <= 78
    assert printed(table, "svg", width=20) == printed(table, "svg")


def test_ascii_is_kept_to_where_asked_for() -> None:
    table = sample_tables.hostile(HOSTILE)
    assert printed(table, "svg", ascii_only=True).isascii()
    assert one_line("日本") in printed(table, "svg")
