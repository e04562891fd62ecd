"""Perform actions of the registry: a handler for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from riff_tui.tui.actions.case_export import CASE_HINT, case_name, case_writer
from riff_tui.tui.actions.controls import Controls, context_of
from riff_tui.tui.actions.cursor_handlers import CURSOR_HANDLERS
from riff_tui.tui.actions.dialogs import pick_action
from riff_tui.tui.actions.file_target import ask_for_file
from riff_tui.tui.actions.list_handlers import LIST_HANDLERS
from riff_tui.tui.actions.navigation_handlers import NAVIGATION_HANDLERS
from riff_tui.tui.actions.note_handlers import NOTE_HANDLERS
from riff_tui.tui.actions.registry import action_for, reason_against
from riff_tui.tui.actions.rename_handlers import RENAME_HANDLERS
from riff_tui.tui.navigation.links import link_to
from riff_tui.tui.render.styled_lines import Line, next_palette

Handler = Callable[[Controls], None]


def perform(controls: Controls, id: str, key: str = "") -> None:
    """Perform what the key of an action stands for in the present context, or say why it does not apply."""
    context = context_of(controls)
    chosen = action_for(id, context, key)
    reason = reason_against(chosen, context)
    if reason:
        controls.host.say(f"{' '.join((*([key] if key else chosen.keys[:1]), chosen.title))}: {reason}", "warn")
        return
    if chosen.group != "Move":
        controls.host.done = chosen.id
    HANDLERS[chosen.id](controls)


def _copy(controls: Controls) -> None:
    from riff_tui.tui.screens.copy_menu import CopyMenu

    table = controls.table
    controls.host.push(CopyMenu(controls.host, controls.backend, table.under, table.palette, table.glyphs))


def _dump(controls: Controls) -> None:
    host, loaded = controls.host, controls.host.loaded
    if loaded:
        commands = "  ·  ".join(loaded.dumps)
        is_shown = controls.bottom.before == commands
        host.say(link_to(host.history.stack, controls.backend.store, loaded.main) if is_shown else commands)


def _refresh(controls: Controls) -> None:
    controls.auto_refresh.refresh()


def _pause(controls: Controls) -> None:
    controls.auto_refresh.pause()


def _theme(controls: Controls) -> None:
    host, palette = controls.host, next_palette(controls.table.palette)
    host.session.set_theme(palette.name)
    host.restyle(palette)
    host.say(f"theme: {palette.name}")


def _palette(controls: Controls) -> None:
    pick_action(controls, perform)


def _help(controls: Controls) -> None:
    from riff_tui.tui.render.help_lines import help_lines
    from riff_tui.tui.widgets.reader import Reader

    glyphs, palette = controls.table.glyphs, controls.table.palette

    def lines(width: int) -> list[Line]:
        loaded = controls.host.loaded
        table, dumps = (loaded.main, loaded.dumps) if loaded else (None, [])
        return help_lines(table, context_of(controls), width, glyphs, palette, dumps)

    controls.host.push(Reader(lines))


def _error(controls: Controls) -> None:
    from riff_tui.tui.render.help_lines import error_lines
    from riff_tui.tui.widgets.reader import Reader

    error, glyphs, palette = controls.host.last_error, controls.table.glyphs, controls.table.palette
    if error is not None:
        controls.host.push(Reader(lambda width: error_lines(error, width, glyphs, palette)))


def _quit(controls: Controls) -> None:
    controls.host.leave()


def _case(controls: Controls) -> None:
    host, case_text = controls.host, controls.backend.case_text
    if case_text is not None:
        ask_for_file(controls, case_name(host.location), case_writer(case_text, host.location), hint=CASE_HINT)


HANDLERS: Mapping[str, Handler] = {
    **CURSOR_HANDLERS,
    **NAVIGATION_HANDLERS,
    **LIST_HANDLERS,
    **NOTE_HANDLERS,
    **RENAME_HANDLERS,
    "copy": _copy,
    "case": _case,
    "dump": _dump,
    "refresh": _refresh,
    "pause": _pause,
    "theme": _theme,
    "palette": _palette,
    "help": _help,
    "error": _error,
    "quit": _quit,
}
