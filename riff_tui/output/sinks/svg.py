"""Print SVG: the text form as a picture for pages without a font of one width, in light and in dark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from riff_tui.output.sinks.grid import Grid, Piece, listed
from riff_tui.output.sinks.parts import FIGURE_WIDTH, Options, closing, figure_lines, shown_columns, wrapped
from riff_tui.table import Table, as_read
from riff_tui.text.palette import DARK, LIGHT, Role, Theme, page_color
from riff_tui.text.safe_text import cell_width

CELL = 9
LINE = 18
MARGIN = 16
_BASELINE = 14
_CLASSES: Mapping[str, Role] = {"bad": "bad", "warn": "warn", "good": "good", "thin": "quiet"}


def _inks(theme: Theme) -> str:
    return "".join(f".{name}{{fill:{page_color(theme.inks[role])}}}" for name, role in _CLASSES.items())


_STYLE = f"""\
text{{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1f2328}}
.ground{{fill:#fff}}.rule{{stroke:#d1d9e0}}.strong{{font-weight:700}}
{_inks(LIGHT)}
@media (prefers-color-scheme:dark){{text{{fill:#f0f6fc}}.ground{{fill:#0d1117}}.rule{{stroke:#3d444d}}
{_inks(DARK)}}}
"""
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_RUN = re.compile(r"[^ ]+(?: [^ ]+)*")


@dataclass(frozen=True, slots=True)
class _Line:
    """Describe pieces of one line, with a rule below them where they are a header."""

    pieces: Sequence[Piece] = ()
    ruled: bool = False


def write(table: Table, out: TextIO, options: Options) -> None:
    """Print title, the sentence to read first, drawing, rows and notes as one picture as wide as its rows."""
    whole, table = table, as_read(table)
    body = list(_body(table, options))
    cells = max(
        [FIGURE_WIDTH, *(piece.start + piece.width for block in body for line in block for piece in line.pieces[-1:])]
    )
    commands = [f"{of}: {command}" for of, command in table.commands]
    said = [part for text in (*commands, *closing(whole)) for part in wrapped(options.line(text), cells)]
    titles = wrapped(options.line(table.title), cells) if table.title else []
    lead = wrapped(options.line(table.lead), cells) if table.lead else []
    blocks = [
        [_words(title, strong=True) for title in titles],
        [_words(part) for part in lead],
        *body,
        [_words(part) for part in said],
    ]
    lines = [line for block in blocks if block for line in (*block, _Line())][:-1]
    width, height = cells * CELL + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    out.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}">\n'
        f"<title>{_escaped(options.line(table.title))}</title>\n<style>\n{_STYLE}</style>\n"
        f'<rect class="ground" width="{width}" height="{height}" rx="6"/>\n'
    )
    for number, line in enumerate(lines):
        _draw(line, MARGIN + number * LINE, width, out)
    out.write("</svg>\n")


def _body(table: Table, options: Options) -> Iterator[list[_Line]]:
    """Yield what gives the picture its width, block by block."""
    yield [_words(line) for line in figure_lines(table, options)]
    if table.sections:
        for heading, lines in listed(table, options):
            yield [_words(heading, strong=True), *map(_Line, lines)]
    elif shown_columns(table):
        grid = Grid(table, options)
        header = _Line([piece._replace(tone="thin") for piece in grid.titles()], ruled=True)
        yield [header, *(map(_Line, grid.lines()) if table.rows else [_words("No rows.")])]


def _words(text: str, *, strong: bool = False) -> _Line:
    return _Line([Piece(0, cell_width(text), text, strong=strong)])


def _draw(line: _Line, top: int, width: int, out: TextIO) -> None:
    """Draw each run of words at its own cell and as wide as its cells, so that no font can push a column aside."""
    for piece in line.pieces:
        names = [name for name in (piece.tone, "strong" if piece.strong else None) if name]
        classes = f' class="{" ".join(names)}"' if names else ""
        for run in _RUN.finditer(piece.text):
            x = MARGIN + (piece.start + cell_width(piece.text[: run.start()])) * CELL
            length = cell_width(run[0]) * CELL
            out.write(
                f'<text{classes} x="{x}" y="{top + _BASELINE}" textLength="{length}"'
                f' lengthAdjust="spacingAndGlyphs">{_escaped(run[0])}</text>\n'
            )
    if line.ruled:
        out.write(f'<path class="rule" d="M{MARGIN} {top + LINE + 1.5}H{width - MARGIN}"/>\n')


def _escaped(text: str) -> str:
    return text.translate(_ENTITIES)
