"""Define the colours of the explorer: foregrounds only, so that the terminal's background stays and a row is short."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style

from riff_tui.charts.transcript import Tone
from riff_tui.table import Severity

_BOLD = Style(bold=True)
_REVERSE = Style(reverse=True)


@dataclass(frozen=True, slots=True)
class Palette:
    """Hold one set of colours; `None` is the terminal's own foreground and costs no byte."""

    name: str
    bad: Style | None
    warn: Style | None
    faint: Style | None
    accent: Style | None
    good: Style | None = None
    head: Style = _BOLD
    cursor: Style = _REVERSE

    def of(self, severity: Severity | None) -> Style | None:
        """Return the colour of a severity; `ok` and none at all are plain."""
        if severity == "bad":
            return self.bad
        if severity == "capped":
            return self.faint
        return self.warn if severity == "warn" else self.good if severity == "good" else None

    def of_tone(self, tone: Tone | None) -> Style | None:
        """Return the colour of a piece of a transcript."""
        if tone == "faint":
            return self.faint
        if tone == "accent":
            return self.accent
        return self.head if tone == "strong" else self.of(tone)


def _palette(name: str, bad: str, warn: str, faint: str, accent: str, good: str) -> Palette:
    return Palette(name, *map(Style.parse, (bad, warn, faint, accent, good)))


PALETTES: dict[str, Palette] = {
    palette.name: palette
    for palette in (
        _palette("ansi", "red", "yellow", "dim", "cyan", "green"),
        _palette("dark", "color(210)", "color(179)", "color(245)", "color(110)", "color(114)"),
        _palette("light", "color(160)", "color(130)", "color(243)", "color(25)", "color(28)"),
        Palette("plain", None, None, None, None),
    )
}


def next_palette(palette: Palette) -> Palette:
    """Return the palette after this one, the first after the last."""
    names = list(PALETTES)
    return PALETTES[names[(names.index(palette.name) + 1) % len(names)]]
