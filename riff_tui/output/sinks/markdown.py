"""Print Markdown for pull requests, in the shapes that people already paste; data in it is never markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from riff_tui.output.sinks.parts import Options, closing, figure_lines, lists, place_width, row_severity, shown_columns
from riff_tui.table import DRILL, Column, Row, Severity, Table, as_read
from riff_tui.text.numbers import cell_text
from riff_tui.text.safe_text import cell_width, padded

# An underscore inside a word and a tilde after a number are no markup, so names and thin counts stay as they are.
_MARKUP = re.compile(
    r"[\\`*\[\]|<>$]|&(?=[#A-Za-z])|@(?=\w)|\#(?=\d)|(?<=\bGH)-(?=\d)|://|(?i:www)\."
    r"|(?<![^\W_])_|_(?![^\W_])|(?<![A-Za-z0-9])~|~(?![\s,.;)]|$)"
)
# A zero-width space, written so that no byte of it is unseen, keeps names and numbers from becoming links.
_UNLINKED = "&#8203;"
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "$": "&#36;", "://": f":{_UNLINKED}//"}
_SIGNS: Mapping[Severity, str] = {"bad": "bad", "warn": "weak"}
_BLOCK_START = re.compile(r"[#+=:-]|\d+(?=[.)])")


def write(table: Table, out: TextIO, options: Options) -> None:
    """Print a heading, the drawing in a fence, the table or its lists, commands as code, and the notes, a line each."""
    whole, table = table, as_read(table)
    parts: list[list[str]] = []
    if table.title:
        parts.append([f"# {_escaped(table.title, options)}"])
    if table.lead:
        parts.append([_guarded(_lead(table, options))])
    if figure := figure_lines(table, options):
        parts.append(_fenced(figure))
    if table.sections:
        parts += _lists(table, options)
    elif columns := [column for column in shown_columns(table) if column.pasted]:
        parts.append(_grid(columns, table.rows, options))
    if table.commands:
        parts.append([f"- {escape(options.line(of))}: {code_span(options.line(text))}" for of, text in table.commands])
    if said := closing(whole):
        parts.append([_sentence(line, options) for line in said])
    out.write("\n\n".join("\n".join(part) for part in parts) + "\n")


def _sentence(text: str, options: Options) -> str:
    """Return a note, the command that it ends in as code."""
    if text.startswith(DRILL):
        return f"{DRILL}{code_span(options.line(text.removeprefix(DRILL)))}"
    return _guarded(_escaped(text, options))


def _lead(table: Table, options: Options) -> str:
    """Return the sentence to read first, in which a name stands out."""
    before, name, after = table.lead.partition(table.strong) if table.strong else (table.lead, "", "")
    return "".join((_escaped(before, options), _strong(_escaped(name, options), True), _escaped(after, options)))


def escape(text: str) -> str:
    """Escape safe text for Markdown: no emphasis, link, mention, reference, HTML or end of a cell stays."""
    return _MARKUP.sub(_escape, text)


def code_span(text: str) -> str:
    """Return one line of safe text as code, which none of its backticks ends."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    mark = "`" * (longest + 1)
    # Blanks keep a backtick at either end apart from the mark; what shows the code takes them away.
    edge = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{mark}{edge}{text}{edge}{mark}"


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found in "@#-":
        return found + _UNLINKED
    if len(found) == 4:
        return f"{found[:3]}{_UNLINKED}."
    return _ENTITIES.get(found) or f"\\{found}"


def _escaped(text: str, options: Options) -> str:
    return escape(options.line(text))


def _guarded(escaped: str) -> str:
    """Escape a first character that would make a line a heading or a list."""
    text = escaped.strip()
    start = _BLOCK_START.match(text)
    if not start:
        return text
    at = start.end() if start[0].isdigit() else 0
    return f"{text[:at]}\\{text[at:]}"


def _grid(columns: Sequence[Column], rows: Iterable[Row], options: Options) -> list[str]:
    titles = [_strong(_escaped(column.title, options), column.strong_title) for column in columns]
    body = [[_cell(column, row, options) for column in columns] for row in rows]
    widths = [max(map(cell_width, cells)) for cells in zip(titles, *body, strict=True)]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return [_line(titles, widths), rule, *(_line(cells, widths) for cells in body)]


def _marked_grid(columns: Sequence[Column], rows: Sequence[Row], options: Options) -> list[str]:
    """Return a table whose first column has the sign of each row."""
    signs = [options.glyphs.mark(row_severity(row), thin=row.thin).strip() for row in rows]
    width = max([1, *map(cell_width, signs)])
    head, rule, *body = _grid(columns, rows, options)
    signed = [f"| {padded(escape(sign), width)} {line}" for sign, line in zip(signs, body, strict=True)]
    return [f"| {' ' * width} {head}", f"|{'-' * (width + 2)}{rule}", *signed]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(map(padded, cells, widths)) + " |"


def _cell(column: Column, row: Row, options: Options) -> str:
    text = cell_text(column, row, options.glyphs, posted=True)
    return _strong(escape(text), column.strong and text != options.glyphs.not_measured)


def _strong(text: str, strong: bool) -> str:
    return f"**{text}**" if strong and text else text


def _lists(table: Table, options: Options) -> Iterable[list[str]]:
    for section, rows in lists(table):
        heading = f"## {_escaped(section.title, options)}"
        if section.columns:
            grid = _marked_grid if section.signed else _grid
            yield [heading, "", *(grid(section.columns, rows, options) if rows else ["None."])]
            continue
        marker = options.line(section.marker)
        places = [_guarded(_escaped(row.display.get("place", row.id), options)) for row in rows]
        width = place_width([cell_width(place) for place in places])
        yield [
            heading,
            *(
                f"  {marker} {padded(place, width)}{_escaped(row.display.get('summary', ''), options)}".rstrip()
                for place, row in zip(places, rows, strict=True)
            ),
            *([] if rows else ["  (none)"]),
        ]
    found = {row_severity(row) for section, rows in lists(table) if section.columns and section.signed for row in rows}
    if said := [f"{options.glyphs.mark(severity)} {words}" for severity, words in _SIGNS.items() if severity in found]:
        yield [f"Signs: {escape(', '.join(said))}."]


def _fenced(lines: Sequence[str]) -> list[str]:
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *(line.rstrip() for line in lines), fence]
