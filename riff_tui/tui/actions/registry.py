"""Register every action of the explorer: the bindings, the words of hints and help, and the README come from here.

Keys are spelled as people read them. An action itself reports why it does not apply, so no key is ever silently dead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from riff_tui.tui.actions.action import IN_CALLS, Action, Controls, Group
from riff_tui.tui.actions.finding import ANY_ACTION, FILTER, PICKS
from riff_tui.tui.actions.going import OTHER_ROWS, OUT, STEPS, UP_AND_DOWN, action_of, to_view
from riff_tui.tui.actions.help import error_lines, help_lines
from riff_tui.tui.actions.listing import COLUMNS, MARKS, ORDERS
from riff_tui.tui.actions.moving import IN_CALL, MATCHES, MOVES, PANES
from riff_tui.tui.actions.noting import NOTES, RENAMES
from riff_tui.tui.navigation.stacks import link_to
from riff_tui.tui.render.styled_lines import next_palette
from riff_tui.tui.widgets.pane import Reader
from riff_tui.view_registry import origin_of, views

# What copies and what writes files is loaded by the key for it: the first screen needs none of it.


def _copy(controls: Controls) -> None:
    from riff_tui.tui.actions.copying import CopyMenu

    controls.host.push(CopyMenu(controls))


def _write(controls: Controls) -> None:
    from riff_tui.tui.actions.writing import write_screen

    write_screen(controls)


def _write_case(controls: Controls) -> None:
    from riff_tui.tui.actions.writing import write_case

    write_case(controls)


def _dump(controls: Controls) -> None:
    host, loaded = controls.host, controls.host.loaded
    if loaded:
        commands = "  ·  ".join(loaded.dumps)
        is_shown = controls.bottom.before == commands
        host.say(link_to(host.history.stack, controls.backend.store, loaded.main) if is_shown else commands)


def _needs_dump(controls: Controls) -> str:
    loaded = controls.host.loaded
    return "" if loaded and loaded.source.dump else "no dump prints this"


def _error(controls: Controls) -> None:
    error, glyphs, palette = controls.host.last_error, controls.table.glyphs, controls.table.palette
    if error is not None:
        controls.host.push(Reader(lambda width: error_lines(error, width, glyphs, palette), palette, glyphs))


def _theme(controls: Controls) -> None:
    host, palette = controls.host, next_palette(controls.table.palette)
    host.session.set_theme(palette.name)
    host.restyle(palette)
    host.say(f"theme: {palette.name}")


LOOKS: tuple[Action, ...] = (
    Action(
        "copy",
        ("y",),
        "copy",
        "Copy the row, the cell, the table as Markdown, a command or a link.",
        _copy,
        also="clipboard yank share",
    ),
    Action(
        "write",
        ("o",),
        "write",
        "Write what this screen shows into a file.",
        _write,
        also="save export markdown csv json svg picture",
    ),
    Action(
        "case",
        ("W",),
        "case",
        "Write the call as a scenario that is run again; what points at its caller is made up.",
        _write_case,
        lambda controls: "" if controls.backend.case_text is not None else "there is no store here to make a case from",
        kinds=IN_CALLS,
    ),
    Action(
        "dump",
        ("d",),
        "dump command",
        "Show the command that prints this screen; press again for a link, the command that opens it.",
        _dump,
        _needs_dump,
        also="print share cli",
    ),
    Action(
        "refresh",
        ("r",),
        "refresh",
        "Read the store again and redraw all; the cursor stays on its row.",
        lambda controls: controls.auto_refresh.refresh(),
        also="reload update",
    ),
    Action(
        "pause",
        ("z",),
        "pause",
        "Pause or resume showing what others write to the store.",
        lambda controls: controls.auto_refresh.pause(),
        lambda controls: (
            f"this store is not watched; {controls.key_of('refresh')} reads it again"
            if controls.auto_refresh.watcher is None
            else ""
        ),
        lambda controls: "resume" if controls.auto_refresh.paused else "pause",
    ),
    Action(
        "error",
        ("!",),
        "what went wrong",
        "Show where the last error came from.",
        _error,
        lambda controls: "" if controls.host.last_error is not None else "nothing went wrong so far",
    ),
    Action("theme", ("t",), "theme", "Take the next set of colours.", _theme, also="colors dark light scheme"),
)
HELP = Action(
    "help",
    ("?",),
    "help",
    "What this screen is for, its keys and its columns.",
    lambda controls: controls.host.push(
        Reader(lambda width: help_lines(controls, width), controls.table.palette, controls.table.glyphs)
    ),
    also="keys shortcuts manual glossary signs",
)


def _distinct(actions: Sequence[Action]) -> tuple[Action, ...]:
    """Take the key from the view of another distribution if it is not free; the palette finds the view still."""
    added = {action_of(spec) for spec in views() if origin_of(spec)}
    used = Counter(key for each in actions for key in each.keys)
    # A character, a function key or one with ctrl that terminals do not own.
    plain = re.compile(r"\S|f[0-9]{1,2}|ctrl\+[defgklnoprtuvwxy]")
    free = {key for key in used if used[key] == 1 and key.isprintable() and plain.fullmatch(key)}
    return tuple(
        each._replace(keys=tuple(key for key in each.keys if key in free)) if each.id in added else each
        for each in actions
    )


_GROUPS: Mapping[Group, Sequence[Action]] = {
    "Move": MOVES,
    "Go": (*UP_AND_DOWN, *STEPS, *(to_view(spec) for spec in views() if spec.screen.help), *OTHER_ROWS, *IN_CALL),
    "Find": (FILTER, *MATCHES, *PICKS, *ORDERS),
    "Mark": MARKS,
    "Note": (*NOTES, *RENAMES),
    "Look": (*PANES, *COLUMNS, *LOOKS),
    "Help and quit": (ANY_ACTION, HELP, *OUT),
}
ACTIONS = _distinct([each._replace(group=group) for group, actions in _GROUPS.items() for each in actions])
"""All actions, in the order in which the help screen and docs/keys.md list those of a group."""
BY_ID: Mapping[str, Action] = {each.id: each for each in ACTIONS}


def action(id: str) -> Action:
    """Return the action of that id; raise `KeyError` if there is none."""
    return BY_ID[id]
