"""Define the colours once: a hue for each role, and the tint of a bar, on every kind of ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias, get_args

Role: TypeAlias = Literal["place", "agent", "caller", "tool", "good", "warn", "bad", "quiet"]
"""What a colour says: where one is or can go, who speaks, how it went, or that it matters less.

`bad` and `warn` are for what fails; what is only counted is `quiet`.
"""
ROLES: tuple[Role, ...] = get_args(Role)

Ink: TypeAlias = int | Literal["bold", "dim"]
"""A colour of the 256 that terminals number, of which a terminal's user chose the first 16, or a weight."""


class Tint(NamedTuple):
    """Describe the colour of the text on a bar, and that of the bar."""

    ink: int
    ground: int


class Theme(NamedTuple):
    """Describe the inks of the roles; if there are none, signs alone show the same."""

    name: str
    inks: Mapping[Role, Ink]
    bar: Tint | None = None


def _theme(name: str, bar: Tint, *inks: Ink) -> Theme:
    return Theme(name, dict(zip(ROLES, inks, strict=True)), bar)


# In the order of `ROLES`. The first one has six hues for seven roles, so a tool stands out by its weight.
ANSI = _theme("ansi", Tint(15, 8), 6, 12, 5, "bold", 2, 3, 1, "dim")
DARK = _theme("dark", Tint(253, 237), 110, 80, 176, 141, 114, 179, 210, 245)
LIGHT = _theme("light", Tint(235, 252), 25, 23, 127, 92, 28, 130, 160, 243)
MONO = Theme("mono", {})
THEMES = (ANSI, DARK, LIGHT, MONO)

_LEVELS = (0, 95, 135, 175, 215, 255)


def rgb(number: int) -> tuple[int, int, int]:
    """Return the red, green and blue of a colour that is the same in all terminals: 16 and more."""
    if number >= 232:
        grey = 8 + 10 * (number - 232)
        return grey, grey, grey
    red, rest = divmod(number - 16, 36)
    return _LEVELS[red], _LEVELS[rest // 6], _LEVELS[rest % 6]


def page_color(ink: Ink) -> str:
    """Return a colour as pages write it."""
    assert isinstance(ink, int)
    return "#" + "".join(f"{part:02x}" for part in rgb(ink))


def inked(text: str, ink: Ink | None) -> str:
    """Return text as a terminal draws it in an ink, with what follows as it was."""
    if ink is None or not text or text.isspace():
        return text
    if isinstance(ink, str):
        return f"\x1b[{1 if ink == 'bold' else 2}m{text}\x1b[22m"
    begin = str(30 + ink) if ink < 8 else str(82 + ink) if ink < 16 else f"38;5;{ink}"
    return f"\x1b[{begin}m{text}\x1b[39m"
