"""Define the signs that riff-tui draws with, in Unicode and in ASCII for terminals that cannot do more."""

from collections.abc import Sequence
from typing import NamedTuple

from riff_tui.table import NOT_MEASURED, Severity
from riff_tui.text.safe_text import one_line


class Glyphs(NamedTuple):
    """Describe a set of signs; each is one cell wide but for `crumb`, `success` and `escalation` in ASCII.

    `bars` go from an empty cell to a full one, `hatched` is a full one of another kind, `sparks` go from the lowest to
    the highest. Rows are sorted in `ascending` order with the smallest first. `box` maps the sides that a line leaves a
    cell by (in the order `nesw`) to its sign, and `untaken` is a line along which nothing went.
    """

    ascii_only: bool
    bad: str
    warn: str
    good: str
    capped: str
    thin: str
    not_measured: str
    ellipsis: str
    crumb: str
    arrow: str
    both_sides: str
    success: str
    escalation: str
    ended: str
    ascending: str
    descending: str
    rising: str
    falling: str
    event: str
    marked: str
    noted: str
    filled: str
    half_filled: str
    bars: str
    hatched: str
    sparks: str
    untaken: str
    box: dict[str, str]

    def mark(self, severity: Severity | None, *, thin: bool = False) -> str:
        """Return the sign of a severity, of thinness if there is none, else a blank."""
        if severity is None or severity == "ok":
            return self.thin if thin else " "
        sign: str = getattr(self, severity)
        return sign

    def bar(self, share: float, width: int) -> str:
        """Draw a bar of `width` cells, of which the share 0 to 1 is filled; anything above 0 can be seen."""
        steps = len(self.bars) - 1
        filled = round(min(1.0, max(0.0, share)) * width * steps)
        if share > 0:
            filled = max(1, filled)
        whole, part = divmod(filled, steps)
        return (self.bars[-1] * whole + (self.bars[part] if part else "")).ljust(width, self.bars[0])

    def parted_bar(self, share: float, hatched: float, width: int) -> str:
        """Draw a bar of `width` cells, of which the last part of what is filled is hatched; 0 to 1 of the whole."""
        filled = self.bar(share, width).rstrip(self.bars[0])
        cells = min(len(filled), max(1, round(min(1.0, hatched) * width))) if hatched > 0 else 0
        return f"{filled[: len(filled) - cells]}{self.hatched * cells}".ljust(width, self.bars[0])

    def sparkline(self, values: Sequence[float | None], top: float = 10.0) -> str:
        """Draw one sign a value between 0 and `top`, the sign for not measured if there is none.

        In ASCII that is a level, so there a blank is left.
        """
        last = len(self.sparks) - 1
        missing = " " if self.not_measured in self.sparks else self.not_measured
        return "".join(
            missing if value is None else self.sparks[round(min(1.0, max(0.0, value / top)) * last)] for value in values
        )


UNICODE = Glyphs(
    ascii_only=False,
    bad="!",
    warn="△",
    good="+",
    capped="^",
    thin="~",
    not_measured=NOT_MEASURED,
    ellipsis="…",
    crumb=" › ",
    arrow="►",
    both_sides="*",
    success="✓",
    escalation="↗",
    ended="✕",
    ascending="▲",
    descending="▼",
    rising="▲",
    falling="▼",
    event="◆",
    marked="●",
    noted="✎",
    filled="█",
    half_filled="▒",
    bars=" ▏▎▍▌▋▊▉█",
    hatched="░",
    sparks="▁▂▃▄▅▆▇█",
    untaken="┄",
    box={
        "ew": "─", "ns": "│", "nw": "┘", "sw": "┐", "ne": "└", "es": "┌",
        "nsw": "┤", "nes": "├", "new": "┴", "esw": "┬", "nesw": "┼",
    },
)  # fmt: skip

ASCII = UNICODE._replace(
    ascii_only=True,
    warn="w",
    not_measured="-",
    ellipsis="..",
    crumb=" > ",
    arrow=">",
    success="ok",
    escalation="esc",
    ended="x",
    ascending="v",
    descending="V",
    rising="^",
    falling="v",
    event="+",
    marked="*",
    noted="#",
    filled="#",
    half_filled=":",
    bars=".#",
    hatched=":",
    sparks="_.-=^",
    untaken=".",
    box={
        "ew": "-", "ns": "|", "nw": "+", "sw": "+", "ne": "+", "es": "+",
        "nsw": "+", "nes": "+", "new": "+", "esw": "+", "nesw": "+",
    },
)  # fmt: skip

_CONTROL_PICTURES = {0x2400 + code: f"^{chr(code + 0x40)}" for code in range(0x20)}
_IN_ASCII = str.maketrans(
    {
        "·": "-", "×": "x", "→": "->", "←": "<-", "›": ">", "…": "...", "–": "-", "—": "-", "‘": "'", "’": "'",
        "“": '"', "”": '"', "≥": ">=", "≤": "<=", "Δ": "d", "±": "+-", "⏎": "\\n", "␡": "^?", "�": "?",
        "✓": "ok", "↗": "esc", "✕": "x", "┄": ".", "△": "w", "►": ">", "●": "*", "−": "-", "»": ">>",
    }
)  # fmt: skip
_IN_ASCII |= _CONTROL_PICTURES


def readable(text: str, signs: Glyphs) -> str:
    """Return data as safe text on one line, in ASCII where wanted."""
    safe = one_line(text)
    return in_ascii(safe) if signs.ascii_only else safe


def glyphs(ascii_only: bool) -> Glyphs:
    """Return the set to draw with."""
    return ASCII if ascii_only else UNICODE


def in_ascii(text: str) -> str:
    """Return safe text in ASCII alone: our own signs by what is nearest, any other character as its escape."""
    if text.isascii():
        return text
    return text.translate(_IN_ASCII).encode("ascii", "backslashreplace").decode("ascii")
