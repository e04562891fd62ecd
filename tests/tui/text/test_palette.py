"""A hue a role, told apart and legible on every ground, and as signs where there are no colours."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.surface.explorer import PALETTES
from tests.surface.tui import ANSI, ASCII, DARK, LIGHT, MONO, ROLES, THEMES, UNICODE, Glyphs, Theme, inked, rgb

LEGIBLE = 4.5
TOLD_APART = 50
GROUNDS = {"dark": (13, 17, 23), "light": (255, 255, 255)}


def luminance(color: tuple[int, int, int]) -> float:
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in (c / 255 for c in color)]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_role_has_its_own_ink_or_none_has_any() -> None:
    for theme in THEMES:
        inks = [theme.inks.get(role) for role in ROLES]
        assert len(set(inks)) == (1 if theme is MONO else len(ROLES)), theme.name
        assert (theme.bar is None) == (theme is MONO)


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_colours_of_our_own_are_legible_and_far_apart(theme: Theme) -> None:
    inks = [rgb(ink) for ink in theme.inks.values() if isinstance(ink, int)]
    assert len(inks) == len(ROLES)
    assert min(contrast(ink, GROUNDS[theme.name]) for ink in inks) >= LEGIBLE
    apart = [sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5 for pair in combinations(inks, 2)]
    assert min(apart) >= TOLD_APART
    assert theme.bar is not None
    assert contrast(rgb(theme.bar.ink), rgb(theme.bar.ground)) >= LEGIBLE


def test_nothing_but_a_bar_has_a_ground() -> None:
    for palette in PALETTES.values():
        styles = [getattr(palette, role) for role in ROLES]
        assert all(style is None or style.bgcolor is None for style in (*styles, palette.head, palette.cursor))
        assert (palette.bar is None) == (palette.name == "mono")


def test_the_terminal_s_own_colours_are_asked_for_by_their_numbers() -> None:
    assert inked("x", ANSI.inks["bad"]) == "\x1b[31mx\x1b[39m"
    assert inked("x", ANSI.inks["agent"]) == "\x1b[94mx\x1b[39m"
    assert inked("x", ANSI.inks["quiet"]) == "\x1b[2mx\x1b[22m"
    assert inked("x", DARK.inks["bad"]) == "\x1b[38;5;210mx\x1b[39m"
    assert inked("x", MONO.inks.get("bad")) == "x"


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_a_sign_means_one_thing(glyphs: object) -> None:
    signs = [
        getattr(glyphs, name)
        for name in (
            "bad",
            "warn",
            "good",
            "capped",
            "thin",
            "not_measured",
            "marked",
            "noted",
            "ascending",
            "descending",
        )
    ]
    assert len(set(signs)) == len(signs)


def test_signs_in_ascii() -> None:
    assert (ASCII.bad, ASCII.warn, ASCII.thin, ASCII.capped, ASCII.ascending) == ("!", "w", "~", "^", "v")
    assert ASCII.bar(0.5, 8) == "####...."


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_where_text_is_cut_is_no_sign_of_anything_else(glyphs: Glyphs) -> None:
    assert glyphs.ellipsis not in (glyphs.bad, glyphs.warn, glyphs.thin, glyphs.capped, glyphs.not_measured)
    assert UNICODE.bar(0.17, 8) == "█▍      "
