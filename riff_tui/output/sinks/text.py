"""Print text for people: aligned columns, marks for what is bad or thin, cut to the terminal if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from riff_tui.output.sinks.grid import Fit, Grid, Piece, listed
from riff_tui.output.sinks.parts import Options, closing, figure_lines, shown_columns, wrapped
from riff_tui.table import Prose, Table, as_read
from riff_tui.text.column_fit import hanging
from riff_tui.text.palette import ANSI, Role, inked
from riff_tui.text.safe_text import cell_width, fit

_INDENT = 8
_ROLES: Mapping[str, Role] = {
    "bad": "bad", "warn": "warn", "thin": "quiet", "capped": "quiet", "faint": "quiet", "accent": "place"
}  # fmt: skip
PROSE_WIDTH = 100
MANY = 10_000
"""More rows than these are laid out in blocks, so that the first ones are printed at once."""
AT_ONCE = 1_000


def write(table: Table, out: TextIO, options: Options) -> None:
    """Print title, drawing, rows and notes; the last line shows what a narrow terminal cost."""
    whole, table = table, as_read(table)
    if table.prose is not None:
        _write_prose(table, table.prose, out, options)
        return
    parts: list[list[str]] = []
    if table.title:
        parts.append(wrapped(options.line(table.title), options.width))
    if table.lead:
        parts.append(wrapped(options.line(table.lead), options.width))
    shortened = 0
    if figure := figure_lines(table, options, options.width):
        cut = options.width
        parts.append(figure if cut is None else [fit(line, cut, options.glyphs.ellipsis) for line in figure])
        shortened += 0 if options.width is None else sum(cell_width(line) > options.width for line in figure)
    columns = Fit()
    is_long = len(table.rows) > MANY and not table.sections and bool(shown_columns(table))
    if table.sections:
        parts += _lists(table, options)
    elif is_long:
        _write_blocks(table, parts, out, options)
        parts = []
    elif shown_columns(table):
        grid = Grid(table, options)
        lines = [_joined(pieces, options) for pieces in grid.lines()] or [fit("No rows.", options.width or 8, "")]
        parts.append([_joined(grid.titles(), options), *lines])
        columns = grid.fit
    if table.commands:
        parts.append([line for of, text in table.commands for line in _to_paste(of, text, options)])
    said = closing(whole) + columns.sentences() + _cost(columns, shortened, options)
    if said:
        parts.append([part for line in said for part in wrapped(options.line(line), options.width)])
    if is_long and parts:
        out.write("\n")
    if parts or not is_long:
        _write_parts(parts, out)


def _write_blocks(table: Table, above: Sequence[Sequence[str]], out: TextIO, options: Options) -> None:
    """Print very many rows as they come, each block as wide as its cells take; a header says where the columns move."""
    out.write("".join("".join(f"{line.rstrip()}\n" for line in part) + "\n" for part in above))
    grid: Grid | None = None
    for start in range(0, len(table.rows), AT_ONCE):
        before, grid = grid, Grid(table._replace(rows=table.rows[start : start + AT_ONCE]), options, grid)
        if before is None or before.layout != grid.layout:
            out.write(_joined(grid.titles(), options).rstrip() + "\n")
        out.writelines(_joined(pieces, options).rstrip() + "\n" for pieces in grid.lines())
        for said in (*grid.fit.sentences(), *_cost(grid.fit, 0, options)):
            out.writelines(f"{part.rstrip()}\n" for part in wrapped(options.line(said), options.width))


def _write_prose(table: Table, prose: Prose, out: TextIO, options: Options) -> None:
    """Print a table that is read line by line: what it is about, its drawing, the lines, and what else there is to say.

    Into a file or a pipe its lines are as long as one likes to read.
    """
    width = options.width or PROSE_WIDTH
    above, below = [table.title, *prose.head], [note for note in closing(table) if note not in prose.head]
    told = [_toned(line, options) for line in prose.lines(table.rows, width=width, ascii_only=options.ascii_only)]
    figure = [fit(line, width, options.glyphs.ellipsis) for line in figure_lines(table, options, width)]
    parts = [_sentences(above, width, options), figure, told, _sentences(below, width, options)]
    _write_parts([part for part in parts if part], out)


def _to_paste(of: str, command: str, options: Options) -> list[str]:
    """Return a command below what it opens, on one line however long it is: broken, it would be another one."""
    return [*wrapped(f"{options.line(of)}:", options.width), f"  {options.line(command)}"]


def _write_parts(parts: Sequence[Sequence[str]], out: TextIO) -> None:
    out.write("\n\n".join("\n".join(line.rstrip() for line in part) for part in parts) + "\n")


def _sentences(texts: Sequence[str], width: int, options: Options) -> list[str]:
    return [part for text in texts for part in wrapped(options.line(text), width)]


def _toned(line: Sequence[tuple[str, str | None]], options: Options) -> str:
    if not options.color:
        return "".join(text for text, _ in line)
    return "".join(_in_color(text, tone) for text, tone in line)


def _lists(table: Table, options: Options) -> list[list[str]]:
    plain = options._replace(color=False)
    return [
        [part for line in (heading, *(_joined(pieces, plain) for pieces in lines)) for part in _broken(line, options)]
        for heading, lines in listed(table, options)
    ]


def _broken(line: str, options: Options) -> list[str]:
    return [line] if options.width is None else hanging(line, options.width, min(_INDENT, options.width // 2))


def _joined(pieces: Sequence[Piece], options: Options) -> str:
    parts: list[str] = []
    at = 0
    for piece in pieces:
        parts += " " * (piece.start - at), _in_color(piece.text, piece.tone) if options.color else piece.text
        at = piece.start + piece.width
    return "".join(parts)


def _in_color(text: str, tone: str | None) -> str:
    role = _ROLES.get(tone or "")
    return text if role is None else inked(text, ANSI.inks[role])


def _cost(columns: Fit, shortened: int, options: Options) -> list[str]:
    said = columns.costs(shortened)
    return [f"Cut to {options.width} cells: {', '.join(said)}. Into a file or a pipe nothing is cut."] if said else []
