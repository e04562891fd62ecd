"""Do what is the same on every screen: the command that prints it, the store read again, colours, help, errors."""

from __future__ import annotations

from riff_tui.tui.actions.action import Action, Controls
from riff_tui.tui.actions.help import error_lines, help_lines
from riff_tui.tui.navigation.links import link_to
from riff_tui.tui.render.styled_lines import next_palette
from riff_tui.tui.widgets.reader import Reader


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
        controls.host.push(Reader(lambda width: error_lines(error, width, glyphs, palette)))


def _theme(controls: Controls) -> None:
    host, palette = controls.host, next_palette(controls.table.palette)
    host.session.set_theme(palette.name)
    host.restyle(palette)
    host.say(f"theme: {palette.name}")


LOOKS: tuple[Action, ...] = (
    Action(
        "dump",
        ("d",),
        "dump command",
        "Show the command that prints this screen; press again for a link, the command that opens it.",
        "Look",
        _dump,
        _needs_dump,
    ),
    Action(
        "refresh",
        ("r",),
        "refresh",
        "Read the store again; the cursor stays on its row.",
        "Look",
        lambda controls: controls.auto_refresh.refresh(),
    ),
    Action(
        "pause",
        ("z",),
        "pause",
        "Pause or resume showing what others write to the store.",
        "Look",
        lambda controls: controls.auto_refresh.pause(),
        lambda controls: (
            "" if controls.auto_refresh.watcher is not None else "this store is not watched; r reads it again"
        ),
        lambda controls: "resume" if controls.auto_refresh.paused else "pause",
    ),
    Action(
        "error",
        ("!",),
        "what went wrong",
        "Show where the last error came from.",
        "Look",
        _error,
        lambda controls: "" if controls.host.last_error is not None else "nothing went wrong so far",
    ),
    Action("theme", ("t",), "theme", "Take the next set of colours.", "Look", _theme),
)
HELP = Action(
    "help",
    ("?",),
    "help",
    "What this screen is for, its keys and its columns.",
    "Leave",
    lambda controls: controls.host.push(Reader(lambda width: help_lines(controls, width))),
)
