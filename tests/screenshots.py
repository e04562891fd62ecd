"""The pictures in screenshots/: made anew by `python -m tests.screenshots`, held against the explorer with `--check`.

The demo's store is walked in both sizes of a terminal; each screen is kept as text, which reads well in a diff, and as
the SVG that Textual exports, freed of fonts from elsewhere. Beside them lie two dumps as pictures, and one picture that
moves from the first screen to the proof.
"""

from __future__ import annotations

import asyncio
import html
import io
import os
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

from tests.readme import demo_store
from tests.support.walker import Walker
from tests.surface.explorer import START, Backend, Explorer, KnownNames, open_link
from tests.surface.store import Store, open_store
from tests.surface.tui import Request, catalog, cell_width
from tests.surface.tui import sinks_render as render

Walk: TypeAlias = Sequence[tuple[str, Sequence[str]]]

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "screenshots"
SIZES = ((80, 24), (120, 36))
# Each screen with the keys that lead to it from the one before: down from the worklist to a call, then what else is.
WALK = (
    ("flows", ()),
    ("worklist", ("0",)),
    ("segments", ("enter",)),
    ("states", ("enter",)),
    ("state", ("enter",)),
    ("conversation", ("enter",)),
    ("conversations", ("4",)),
    ("filter", ("3", "3", "3", "slash", *"stall>often")),
    ("help", ("escape", "question_mark")),
    ("pick", ("escape", "a", *"si")),
    ("details", ("escape", "p")),
    ("comparison", ("escape", "m", "j", "equals_sign")),
    ("columns", ("escape", "c")),
    ("timeline", ("escape", "escape", "5")),
    ("flow-table", ("6",)),
    ("effects", ("F",)),
    ("agreement", ("B",)),
    ("disputes", ("enter",)),
    ("significance", ("7", "g", "m", "j", "m", "equals_sign")),
    ("failures", ("enter",)),
    ("edits", ("1", "H")),
    ("reading-list", ("1", "U")),
    ("codes", ("1", "number_sign")),
)
VOICE_CALL = "conversation=move-the-day-8/trial_0"
VOICE_WALK = (("voice-call", ("enter", *"kkkkkkkk")), ("voice-turn", ("enter",)))
# The moving picture: what the title bar says of each screen, which the keys lead to from the one before.
MOVING = (
    ("What to fix first? The line at the top names a flow and a state", ()),
    ("j: down to that flow", ("j",)),
    ("Enter: which phase fails?", ("enter",)),
    ("Enter: which state fails?", ("enter",)),
    ("Enter: what becomes of the calls there?", ("enter",)),
    ("Enter: a failed call, at the moment where it failed", ("enter",)),
    ("n: the next call, which failed there too", ("n",)),
)
DUMPS = {
    "dump-states": ("states", Request(where="flow=dog_grooming")),
    "dump-neighbors": ("neighbors", Request(where="flow=dog_grooming state=listen_owner")),
}
_AGE = "written 3 min ago"
_OF_THE_PERSON = ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES")
_FOREIGN = re.compile(r"\s*(@font-face \{[^}]*\}|<!--.*?-->)", re.DOTALL)
_FONTS = (
    "Fira Code, monospace",
    "ui-monospace, SFMono-Regular, Menlo, Consolas, &quot;DejaVu Sans Mono&quot;, monospace",
)
# Bright black and bright white are too near to each other in Rich's palette; terminals draw the bars darker.
_PALETTE = {"#9a9b99": "#55585f", "#fdfdc5": "#ffffff"}
_NUMBERED = re.compile(r"terminal-\d+")
_TEXT = re.compile(
    r'<text class="(screen-r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+" clip-path="([^"]*)">([^<]*)</text>'
)
_CELL = 12.2
_LOOK = re.compile(r"\.screen-(r\d+) (\{[^}]*\})\n")
_LOOKS_LIKE = re.compile(r'(?<=class="screen-)r\d+(?=")')
_PARTS = re.compile(r"(?P<head>.*?)    (\.screen-r.*)(?P<clips>    </style>.*</defs>\n)(?P<drawn>.*)</svg>", re.DOTALL)
_FRAME_S = 3


def pictures(store_file: Path) -> dict[str, str]:
    """The content of every file by its name."""
    with open_store(store_file) as store:
        return asyncio.run(_screens(store)) | _dumps(store)


def differences(made: Mapping[str, str], folder: Path = FOLDER) -> list[str]:
    """What in the folder is not as it was made now, a line each."""
    kept = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}
    found = [f"{name}: is missing" for name in made if name not in kept]
    found += [f"{name}: belongs to nothing" for name in kept if name not in made]
    return found + [
        f"{name}: differs from what is drawn now"
        for name in kept
        if name in made and _compared(name, kept[name]) != _compared(name, made[name])
    ]


def is_as_pinned() -> bool:
    """Whether pictures drawn here can be compared with others: they were drawn by the pinned versions."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    return all(version(name) == pinned[name] for name in ("textual", "rich"))


async def _screens(store: Store) -> dict[str, str]:
    found = {}
    for width, height in SIZES:
        backend = Backend(
            lambda view, request: catalog.show(store, view, request), lambda: _AGE, names=KnownNames(store)
        )
        for start, walk in ((START, WALK), (open_link("conversations", VOICE_CALL), VOICE_WALK)):
            app = Explorer(backend, start=start)
            async for name, text in _walked(app, walk, width, height):
                found[f"{name}.{width}x{height}.txt"] = text
                found[f"{name}.{width}x{height}.svg"] = _freed(app.export_screenshot())
    app = Explorer(backend, start=START)
    frames = [_freed(app.export_screenshot(title=title)) async for title, _ in _walked(app, MOVING, *SIZES[0])]
    return found | {"walk.svg": _moving(frames)}


async def _walked(app: Explorer, walk: Walk, width: int, height: int) -> AsyncIterator[tuple[str, str]]:
    """Name and text of each screen of a walk, while the application shows it."""
    async with app.run_test(size=(width, height)) as pilot:
        at = Walker(app, pilot)
        for name, keys in walk:
            await at.settle()
            await at.press(*keys)
            lines = [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]
            yield name, "\n".join(lines) + "\n"


def _freed(svg: str) -> str:
    """A picture in common colours that asks no other host for fonts, numbers nothing and begins no text with blanks."""
    for rich, common in _PALETTE.items():
        svg = svg.replace(rich, common)
    return _TEXT.sub(_runs, _NUMBERED.sub("screen", _FOREIGN.sub("", svg).replace(*_FONTS)))


def _runs(text: re.Match[str]) -> str:
    """A text of the export as one for each run of words, for not every viewer keeps the blanks that set them apart."""
    look, x, y, clip, words = text.groups()
    words = html.unescape(words).replace("\xa0", " ")
    return "".join(
        f'<text class="{look}" x="{float(x) + _CELL * cell_width(words[: run.start()]):.1f}" y="{y}"'
        f' textLength="{_CELL * cell_width(run[0]):.1f}" clip-path="{clip}">{html.escape(run[0], quote=False)}</text>'
        for run in re.finditer("[^ ]+(?: [^ ]+)*", words)
    )


def _moving(frames: Sequence[str]) -> str:
    """Return one picture of several of one size, each covering those before: where nothing moves, the last is seen."""
    looks: dict[str, str] = {}
    groups = []
    parted = [parts for frame in frames if (parts := _PARTS.fullmatch(frame.strip()))]
    assert len(parted) == len(frames), "Textual exports pictures of another form"
    for number, parts in enumerate(parted):
        names = {name: looks.setdefault(rule, f"r{len(looks) + 1}") for name, rule in _LOOK.findall(parts[0])}
        drawn = _LOOKS_LIKE.sub(lambda look, names=names: names[look[0]], parts["drawn"])
        groups.append(f'<g class="screen-f{number}">{drawn}</g>\n')
    slots = len(frames) + 1  # the last stays twice as long
    moves = "".join(
        f".screen-f{number} {{ animation: screen-f{number} {_FRAME_S * slots}s step-end infinite }}\n"
        f"@keyframes screen-f{number} {{ from {{ visibility: hidden }}"
        f" {100 * number / slots:g}% {{ visibility: visible }} }}\n"
        for number in range(1, len(frames))
    )
    styles = "".join(f".screen-{name} {rule}\n" for rule, name in looks.items())
    return (
        f"{parted[0]['head']}{styles}@media (prefers-reduced-motion: no-preference) {{\n{moves}}}\n"
        f"{parted[0]['clips']}{''.join(groups)}</svg>\n"
    )


def _dumps(store: Store) -> dict[str, str]:
    found = {}
    for name, (view, request) in DUMPS.items():
        out = io.StringIO()
        render(catalog.show(store, view, request), "svg", out)
        found[f"{name}.svg"] = out.getvalue()
    return found


def _compared(name: str, content: str) -> str:
    return ElementTree.canonicalize(content, strip_text=True) if name.endswith(".svg") else content


def main(arguments: list[str]) -> int:
    """Write the folder anew, or with `--check` say what in it is not current."""
    for name in _OF_THE_PERSON:
        os.environ.pop(name, None)
    if not is_as_pinned():
        print("the pictures can only be drawn with the versions of constraints.txt", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as made:
        found = pictures(demo_store(Path(made)))
    if "--check" in arguments:
        wrong = differences(found)
        print("\n".join([*wrong, "`make screenshots` draws them anew"] if wrong else ["screenshots/ is current"]))
        return 1 if wrong else 0
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        path.unlink()
    for name, content in found.items():
        (FOLDER / name).write_text(content, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
