"""The pictures are those of the explorer as it is, are on their own, and the README shows some of them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.readme import PAGES, README
from tests.screenshots import FOLDER, MOVING, differences, is_as_pinned, pictures

PICTURES = sorted(FOLDER.glob("*.svg"))
WALK = FOLDER / "walk.svg"
SVG = "{http://www.w3.org/2000/svg}"


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


def test_the_first_picture_of_the_readme_moves_from_a_first_screen_that_ranks_to_the_proof() -> None:
    text = README.read_text(encoding="utf-8")
    first = re.search(r"!\[[^\]]*\]\(([^)]*)\)", text)
    assert first is not None
    assert FOLDER.parent / first[1] == WALK
    frames = ["".join(frame.itertext()) for frame in frames_of_the_walk()]
    assert "Fix first:" in frames[0]
    assert all("first failed here" in frame for frame in frames[-2:])
    assert sum(len(keys) for _, keys in MOVING) == 6
    assert "Six keys lead" in text[: first.start()]
    for (title, _), frame in zip(MOVING, frames, strict=True):
        assert title in frame.replace("\xa0", " ")


def test_the_walk_shows_each_screen_in_turn_where_motion_is_wanted_and_the_proof_alone_where_it_is_not() -> None:
    text = WALK.read_text(encoding="utf-8")
    assert len(text.encode()) <= 250_000
    still, _, moving = text.partition("@media (prefers-reduced-motion: no-preference) {")
    assert not re.search("animation|visibility|<animate|opacity", still)
    frames = frames_of_the_walk()
    later = [f"screen-f{number}" for number in range(1, len(frames))]
    assert re.findall(r"\.([\w-]+) \{ animation: \1 24s step-end infinite \}", moving) == later
    shown = re.findall(r"from \{ visibility: hidden \} ([\d.]+)% \{ visibility: visible \}", moving)
    assert [float(share) for share in shown] == [12.5 * number for number in range(1, len(frames))]
    # Each is painted over all before it, so that the last is what nothing but painting in order leaves.
    whole = [dict(frame[0].attrib) for frame in frames]
    assert all(cover == whole[0] and cover["fill"] == "#292929" for cover in whole)


def frames_of_the_walk() -> list[ElementTree.Element]:
    picture = ElementTree.fromstring(WALK.read_text(encoding="utf-8"))
    return [group for group in picture.findall(f"{SVG}g") if group.get("class", "").startswith("screen-f")]
