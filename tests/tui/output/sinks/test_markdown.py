from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.support import sample_tables
from tests.support.golden import printed
from tests.support.hostile import HOSTILE
from tests.surface.tui import Column, Row, Section, Severity, Table, escape, one_line

GITHUB = MarkdownIt("gfm-like")
# Of letters that make no top-level domain: unlike GitHub this renderer links bare names of hosts.
MARKUP = st.text(st.sampled_from("qv1_*~`|\\<>[]()!#@$&;:/.-+= \tw\n\"'"), max_size=30)


class Rendered(HTMLParser):
    """The tags that a page is made of, and the text of each cell and paragraph."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(GITHUB.render(markdown))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("td", "th", "p", "h1", "h2", "li"):
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self.texts:
            self.texts[-1] += data.replace("\u200b", "").replace("\n", " ")


def collapsed(text: str) -> str:
    return re.sub(" +", " ", one_line(text)).strip(" ")


@given(MARKUP | st.sampled_from(list(HOSTILE.values())))
def test_data_is_never_markup_and_reads_as_it_stands(text: str) -> None:
    cell = Rendered(f"| a |\n|---|\n| x{escape(one_line(text))}x |")
    assert cell.tags <= {"table", "thead", "tbody", "tr", "th", "td"}
    assert [collapsed(text) for text in cell.texts] == ["a", collapsed(f"x{text}x")]


@given(MARKUP | st.sampled_from(list(HOSTILE.values())))
def test_data_at_the_start_of_a_note_is_no_heading_and_no_list(text: str) -> None:
    page = Rendered(printed(Table("v", "", [], [], notes=["first", text, text, "last"]), "markdown"))
    assert page.tags == {"p"}
    assert collapsed(" ".join(page.texts)) == collapsed(f"first {text} {text} last")


@given(MARKUP | st.sampled_from(list(HOSTILE.values())))
def test_data_on_a_worklist_is_no_markup_behind_its_marker(text: str) -> None:
    page = Rendered(printed(sample_tables.hostile_lists({"1": text, "2": text, "3": text}), "markdown"))
    assert page.tags <= {"h1", "h2", "p", "pre", "code", "ul", "li"}
    assert page.texts[0].startswith("Lists")


def test_every_list_is_a_table_with_a_head_its_signs_are_explained_and_an_empty_one_is_said_to_be() -> None:
    columns = (Column("a", "a", kind="name"), Column("b", "b"))
    rows = [Row(str(number), {"a": text, "b": 1.0}, severity=marks) for number, (text, marks) in enumerate(_MARKED)]
    sections = [
        Section(title, "x", ids, columns) for title, ids in (("One", ("0", "1")), ("Two", ("2",)), ("Three", ()))
    ]
    text = printed(Table("v", "T", columns, rows, sections=sections), "markdown")
    page = Rendered(text)
    assert GITHUB.render(text).count("<thead>") == 2
    assert page.tags == {"h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td"}
    assert [text.strip() for text in page.texts] == [
        "T",
        *("One", "", "a", "b", "!", "x", "1.0", "", "y", "1.0"),
        *("Two", "", "a", "b", "△", "z", "1.0"),
        *("Three", "None.", "Signs: ! bad, △ weak."),
    ]


_MARKED: list[tuple[str, dict[str, Severity]]] = [("x", {"b": "bad"}), ("y", {}), ("z", {"": "warn"})]


def test_hostile_tables_stay_tables() -> None:
    text = printed(sample_tables.hostile(HOSTILE), "markdown")
    page = Rendered(text)
    assert page.tags == {"h1", "p", "table", "thead", "tbody", "tr", "th", "td", "strong"}
    grid = [line for line in text.splitlines() if line.startswith("|")]
    assert len(grid) == len(HOSTILE) + 2
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in grid}) == 1
    seen = [collapsed(text) for text in page.texts[1:]]
    for shown in HOSTILE.values():
        assert collapsed(shown) in seen


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("apartment_scheduler", "apartment_scheduler"),
        ("gemini-2.5-f", "gemini-2.5-f"),
        ("2~", "2~"),
        ("status_query (stall 1.0, n 2~)", "status_query (stall 1.0, n 2~)"),
        ("_private_", "\\_private\\_"),
        ("~~gone~~", "\\~\\~gone\\~\\~"),
        ("a|b", "a\\|b"),
        ("@someone", "@&#8203;someone"),
        ("#12 GH-12", "#&#8203;12 GH-&#8203;12"),
        ("https://x.example", "https:&#8203;//x.example"),
        ("www.x.example", "www&#8203;.x.example"),
        ("<!-- x", "&lt;!-- x"),
        ("&lt; &&", "&amp;lt; &&"),
        ("$x$", "&#36;x&#36;"),
    ],
)
def test_names_stay_readable_and_the_rest_is_escaped(text: str, written: str) -> None:
    assert escape(text) == written


@pytest.mark.parametrize(
    "text", ["# x", "- x", "+ x", "1. x", "12) x", "---", "===", ":-:", "    code", "> x", "~~~", "```"]
)
def test_no_line_starts_with_data(text: str) -> None:
    lines = printed(Table("v", "T", [], [], notes=[text, text]), "markdown").splitlines()
    assert not any(re.match(r"\s*([#+=>:-]|\d+[.)]|~~~|```|\s{4})", line) for line in lines[1:])


def test_a_drawing_cannot_end_its_fence() -> None:
    text = printed(sample_tables.hostile_lists(HOSTILE), "markdown")
    fences = [number for number, line in enumerate(text.splitlines()) if line.startswith("`````")]
    assert len(fences) == 2
    assert fences[1] - fences[0] == len(HOSTILE) + 1


def test_a_strong_cell_that_was_not_measured_is_not_strong() -> None:
    column = Column("a", "a", strong=True)
    lines = printed(Table("v", "", [column], [Row("1", {"a": None}), Row("2", {"a": 1.0})]), "markdown").splitlines()
    assert lines == ["| a       |", "|---------|", "| ·       |", "| **1.0** |"]
