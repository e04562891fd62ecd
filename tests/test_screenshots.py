"""The pictures are those of the explorer as it is, stand on their own, and the README shows some of them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.readme import PAGES, README
from tests.screenshots import FOLDER, differences, is_as_pinned, pictures

PICTURES = sorted(FOLDER.glob("*.svg"))


@pytest.mark.skipif(not is_as_pinned(), reason="pictures can be compared on the pinned Textual and Rich only")
def test_they_are_current(demo: Path) -> None:
    wrong = differences(pictures(demo))
    assert not wrong, "`make screenshots` draws them anew; look at them before they go in"


def test_what_differs_is_named(tmp_path: Path) -> None:
    kept = {"same.svg": "<svg>\n <a/></svg>", "other.svg": "<svg/>", "old.txt": "", "other.txt": "a"}
    made = {"same.svg": "<svg><a></a></svg>", "other.svg": "<svg><a/></svg>", "new.txt": "", "other.txt": "a "}
    for name, content in kept.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert differences(made, tmp_path) == [
        "new.txt: is missing",
        "old.txt: belongs to nothing",
        "other.svg: differs from what is drawn now",
        "other.txt: differs from what is drawn now",
    ]


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_a_picture_needs_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    ElementTree.fromstring(text)
    assert re.findall(r"https?:[^\"' ]*", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search("<script|@font-face|@import|<image|<foreignObject|href", text)


def test_pages_show_pictures_and_say_what_is_on_them() -> None:
    shown = [
        (words, (page.parent / target).resolve())
        for page in PAGES
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", page.read_text(encoding="utf-8"))
    ]
    assert len(shown) >= 5
    for words, target in shown:
        assert len(words.split()) >= 5, target
        assert target in PICTURES


def test_the_first_picture_of_the_readme_is_a_first_screen_that_ranks() -> None:
    first = re.search(r"!\[[^\]]*\]\(([^)]*)\)", README.read_text(encoding="utf-8"))
    assert first is not None
    assert first[1].startswith("screenshots/flows.")
