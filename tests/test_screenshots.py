"""The pictures are those of the explorer as it is, stand on their own, and the README shows some of them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.readme import README, demo_store
from tests.screenshots import FOLDER, ROOT, differences, is_as_pinned, pictures

PICTURES = sorted(FOLDER.glob("*.svg"))


@pytest.mark.skipif(not is_as_pinned(), reason="pictures can be compared on the pinned Textual and Rich only")
def test_they_are_current(tmp_path: Path) -> None:
    wrong = differences(pictures(demo_store(tmp_path)))
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


def test_the_readme_shows_pictures_and_says_what_is_on_them() -> None:
    shown = re.findall(r"!\[([^\]]*)\]\(([^)]*)\)", README.read_text(encoding="utf-8"))
    assert len(shown) >= 3
    for words, target in shown:
        assert len(words.split()) >= 5, target
        assert (ROOT / target) in PICTURES
