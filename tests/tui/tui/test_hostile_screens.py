"""Names and words that try to act, on every screen and behind every key: what a terminal gets is text."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.conftest import SHARED_DATA
from tests.support.hostile import LIVE
from tests.support.hostile_store import WORDS, build
from tests.support.pty_terminal import Terminal, foreign_controls
from tests.support.walker import exploring
from tests.surface.explorer import ACTIONS, Location
from tests.surface.store import open_store
from tests.surface.tui import Request, ScreenKind, show, views

PROGRAM = "from riff_tui.cli import main; main()"
# As keyboards say it that tell it from the beginning of a sequence, so that nobody waits for the rest.
ESCAPE = "\x1b[27u"
NAMED = {"Enter": "\r", "PgDn": "\x1b[6~", "PgUp": "\x1b[5~", "ctrl+p": "\x10"}
# A joiner stays where it joins emoji, and does nothing elsewhere.
INVISIBLE = re.compile(
    "[\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2069\ufe00-\ufe0e\ufeff\U000e0000-\U000e01ff]"
    "|(?<=[\x00-\u1fff])\u200d"
)
# A style of ours, or none; a colour would be somebody else's.
STYLES = {b"0", b"1", b"2", b"4", b"7", b"39", b"49"}
MARKUP = re.compile(r"\[")
COPIED = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")
# What follows a key, so that what it opened is drawn to its end and something is chosen from it.
AFTER = {
    "filter": "conv\t\t\r",
    "columns": "j \r",
    "compare": "  ",
    "help": "  ",
    "palette": "copy",
    "copy": "r",
    "write": "\r",
    "case": "\r",
    "code": "c\r",
    "note": "why\r",
}
LEADING_AWAY = ("next_unread",)


def collected() -> list[str]:
    path = SHARED_DATA / "hostile_strings.json"
    return list(json.loads(path.read_text("utf-8")).values()) if path.is_file() else []


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = [word for word in dict.fromkeys([*WORDS, *collected()]) if word.strip()]
    return build(tmp_path_factory.mktemp("evil"), words)


@pytest.fixture(scope="module")
def acting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of those words only that could do what is looked for: a table of flows has a column for each judge."""
    words = dict.fromkeys([*WORDS, *collected()])
    found = [word for word in words if any(each.search(word) for each in (LIVE, INVISIBLE, MARKUP))]
    return build(tmp_path_factory.mktemp("acting"), [word for word in found if word.strip()])


@pytest.fixture(scope="module")
def wheres(store: Path) -> dict[ScreenKind, tuple[str, str]]:
    """A place of each kind of screen, named as hostilely as can be."""
    with open_store(store) as opened:
        states = show(opened, "states", Request()).rows
        calls = show(opened, "conversations", Request()).rows
        state = next(row.where for row in states if row.record["state"].startswith("A\x1b]52"))
        call = next(row.where for row in calls if "A\x1b[2J" in row.record["conversation"])
    return {"list": ("conversations", ""), "state": ("neighbors", state), "conversation": ("conversation", call)}


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is written by a key goes where it is cleared away."""
    monkeypatch.chdir(tmp_path)


def explorer(store: Path, view: str, where: str = "") -> Terminal:
    arguments = ["ui", view, "--where", where, "--fresh", "--store", str(store)]
    return Terminal(["-c", PROGRAM, *arguments], width=130, height=36, environ={"NO_COLOR": "1"})


def assert_text_only(sent: bytes) -> None:
    for copied in COPIED.findall(sent):
        assert not LIVE.search(base64.b64decode(copied).decode())
    sent = COPIED.sub(b"", sent)
    assert foreign_controls(sent) == []
    assert not INVISIBLE.search(sent.decode("utf-8", "replace"))
    styles = {part for found in re.findall(rb"\x1b\[([0-9;]*)m", sent) for part in found.split(b";")}
    assert styles <= STYLES


@pytest.mark.parametrize(
    "view", [view.name for view in views() if view.name not in ("neighbors", "conversation") and not view.sides]
)
async def test_no_list_lets_a_name_act(acting: Path, view: str) -> None:
    async with exploring(acting, (130, 36), (Location(view),)) as at:
        for keys in (("p", "j"), ("pagedown",) * 5, "llllllll", "d", "d"):
            await at.press(*keys)
            for strip in at.app.screen._compositor.render_strips():
                assert not LIVE.search(strip.text)
                assert not INVISIBLE.search(strip.text)
                assert not any(style.link or style.meta for _, style, _ in strip if style)


@pytest.mark.parametrize(
    "kind", ["conversation", *(pytest.param(kind, marks=pytest.mark.nightly) for kind in ("list", "state"))]
)
def test_no_key_lets_a_name_or_a_word_act(
    store: Path, wheres: dict[ScreenKind, tuple[str, str]], kind: ScreenKind
) -> None:
    with explorer(store, *wheres[kind]) as terminal:
        terminal.wait_for("? help")
        place = crumbs(terminal)
        for keys in keys_of(kind):
            for key in keys:
                terminal.press(key, quiet=0.02)
            # Where nothing was open yet, Escape went up; what opened since then is closed before coming back.
            for _ in range(6):
                if crumbs(terminal) != place:
                    terminal.press(ESCAPE, quiet=0.1)
                    terminal.press("[[", quiet=0.1)
            assert crumbs(terminal) == place, keys
        assert_text_only(bytes(terminal.sent))


def crumbs(terminal: Terminal) -> str:
    """Where one is, as the top line says."""
    return terminal.lines[0].split("   ")[0]


def keys_of(kind: ScreenKind) -> Iterator[Sequence[str]]:
    """The keys of every action that opens something or looks differently at a place, and what closes it again."""
    for each in ACTIONS:
        is_here = kind in each.kinds and each.group in ("Find", "Mark", "Note", "Look") and each.id not in LEADING_AWAY
        if is_here or each.id in ("help", "palette"):
            yield NAMED.get(each.keys[0], each.keys[0]), *AFTER.get(each.id, ""), ESCAPE
