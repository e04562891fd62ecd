"""What is known of one state or one conversation at large, in a few lines above its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riff_tui.table import Column, Row, Table
from riff_tui.text.column_fit import wrap
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import fixed, percent
from riff_tui.text.safe_text import fit
from riff_tui.tui.render.columns import shown, title
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.styled_lines import Line, Piece, cut, width_of
from riff_tui.views.parts import cells, columns

_ASPECTS = (
    ("correctness", "corr"),
    ("completion", "comp"),
    ("errors", "errs"),
    ("latency_p95", "p95"),
    ("turn_count", "turns"),
)


def conversation_lines(table: Table, width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """How the call ended and who was in it; then what it scored."""
    call = table.extras.get("call")
    if not isinstance(call, Mapping):
        return [((f" {fit(shown(note, glyphs), width - 2, glyphs.ellipsis)}", None),) for note in list(table.notes)[:2]]
    where = f" in {call['final_state']}" if call.get("final_state") else ""
    ended = f"{call.get('stop_reason') or 'ended'}{where}"
    good = call.get("completed")
    style = palette.bad if good is False else None
    mark = glyphs.bad if good is False else " "
    said = [f"status {call['final_status']}"] if call.get("final_status") else []
    said += [f"errored: {call.get('error') or 'the agent or its backend was broken'}"] if call.get("errored") else []
    said += [f"{key} {call[key]}" for key in ("persona", "scenario", "flow", "agent", "run") if call.get(key)]
    first = [(f"{mark}{shown(ended, glyphs)}", style), (shown(f" · {' · '.join(said)}", glyphs), None)]
    return [cut(first, width - 1, glyphs), cut(_scores(table, glyphs, palette), width - 1, glyphs)]


def state_lines(known: Mapping[str, Any], width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """The metrics of a state with their intervals; `known` are the extras of its `neighbors` table."""
    metrics = known.get("metrics")
    if not isinstance(metrics, Mapping):
        return []
    row = Row("", metrics, severity=cells.state_marks(metrics), thin=cells.is_thin(metrics["n"]))
    return _flowed(_metrics([columns.N, *columns.STATE_METRICS, *columns.STEPS], row, glyphs, palette), width - 1)


def reach_lines(known: Mapping[str, Any], width: int, glyphs: Glyphs, palette: Palette) -> list[Line]:
    """What starves if the state breaks, with the share of calls that came there."""
    reach = known.get("reach")
    if not isinstance(reach, Mapping) or not reach:
        return []
    ranked = sorted(reach.items(), key=lambda step: (-step[1], step[0]))
    said = "  ".join(f"{shown(str(state), glyphs)} {percent(share)}" for state, share in ranked)
    return [((f" {piece}", palette.faint),) for piece in wrap(f"starve if it breaks: {said}", width - 2)]


def _scores(table: Table, glyphs: Glyphs, palette: Palette) -> list[Piece]:
    aspects = table.extras.get("aspects")
    aspects = aspects if isinstance(aspects, Mapping) else {}
    computed: Mapping[str, Any] = aspects.get("computed") or {}
    pieces: list[Piece] = [(" ", None)]
    for key, word in _ASPECTS:
        pieces += [(f"{word} ", palette.faint), (f"{fixed(computed.get(key), 1)}  ", None)]
    if "turn_taking" in computed:
        pieces += [("turn-taking ", palette.faint), (f"{fixed(computed['turn_taking'], 1)}  ", None)]
    for verdict in aspects.get("judged") or ():
        score = "unscored" if verdict.get("score") is None else fixed(verdict["score"], 1)
        pieces += [(f"{shown(str(verdict.get('judge')), glyphs)} ", palette.faint), (f"{score}  ", None)]
    return pieces


def _metrics(columns: Sequence[Column], row: Row, glyphs: Glyphs, palette: Palette) -> list[list[Piece]]:
    """Each metric with its interval, as pieces that stay together."""
    intervals = row.record.get("intervals") or {}
    found: list[list[Piece]] = []
    for column in columns:
        value = column.value(row.record)
        if column.kind not in ("number", "count") or value is None or not (column.shown or value):
            continue
        severity = row.severity.get(column.key)
        text = f"{glyphs.mark(severity).strip()}{_figure(column, value, glyphs)}"
        if column.thin and row.thin:
            text += glyphs.thin
        pieces: list[Piece] = [(f"{title(column, glyphs, short=True)} ", palette.faint), (text, palette.of(severity))]
        if column.key in intervals:
            low, high = (_figure(column, end, glyphs) for end in intervals[column.key])
            if low != high:
                pieces.append((f" [{low} {high}]", palette.faint))
        found.append(pieces)
    return found


def _figure(column: Column, value: object, glyphs: Glyphs) -> str:
    if not isinstance(value, int | float):
        return shown(str(value), glyphs)
    return fixed(value, 0 if column.kind == "count" else column.decimals, trim=column.trim)


def _flowed(groups: Sequence[list[Piece]], width: int) -> list[Line]:
    """Groups of pieces side by side on as few lines as hold them."""
    lines: list[list[Piece]] = []
    used = width + 1
    for group in groups:
        length = width_of(group) + 3
        if used + length > width:
            lines.append([(" ", None)])
            used = 1
        elif len(lines[-1]) > 1:
            lines[-1].append(("   ", None))
        lines[-1] += group
        used += length
    return [tuple(line) for line in lines]
