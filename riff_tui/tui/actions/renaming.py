"""Give a code another name, or merge it into one that is in use."""

from __future__ import annotations

from functools import partial

from riff_tui.notes.author import LONGEST_CODE, clean, code_in_use
from riff_tui.notes.selection import renamed
from riff_tui.text.numbers import counted
from riff_tui.tui.actions.action import Action, Controls, needs_notebook, needs_rows, needs_written
from riff_tui.tui.actions.noting import taken_back
from riff_tui.tui.controllers.notes import ATTEMPT_S, Done
from riff_tui.tui.data.paged_rows import index_of
from riff_tui.tui.widgets.field import FieldRequest
from riff_tui.views.parts.cells import where


async def _ask_for_name(controls: Controls) -> None:
    host, source, row, location = controls.host, controls.backend.notes, controls.table.row, controls.host.location
    if source is None or row is None:
        return
    old = str(row.record["code"])
    calls = dict(await host.worker.ask(source.codes))
    if host.location.cache_key != location.cache_key or controls.menu.is_open or controls.field.is_open:
        return
    others = [code for code in calls if code != old]
    begun = clean(old, LONGEST_CODE)

    def remark(typed: str) -> str:
        new = code_in_use(typed, others)
        if not new or new == old or typed == begun:
            return ""
        doing = f"merges it into {new} ({counted(calls[new], 'call')})" if new in calls else f"renames it to {new}"
        return f"Enter {doing} · Esc leaves"

    def write(typed: str) -> None:
        new = code_in_use(typed, others)
        if not new or new == old or typed == begun:
            host.say(f"{old} keeps its name")
            return
        _write(controls, old, new, "merged into" if new in calls else "renamed to")

    hint = f"another name for {counted(calls.get(old, 0), 'call')}, or that of another code, with which it merges"
    controls.field.ask(FieldRequest("rename the code", begun, hint, write, remark=remark))


def _write(controls: Controls, old: str, new: str, done_so: str) -> None:
    """Rename a code wherever it stands, and go to its new row."""
    notebook, writer = controls.backend.notebook, controls.note_writer
    if notebook is None or writer is None:
        return

    def attempt(keep: bool) -> Done:
        lines = renamed(notebook.standing_on(), old, new, editor=notebook.author)
        if not lines:
            return Done(None, f"no note has the code {old} any more")
        return Done(notebook.write(lines, wait=ATTEMPT_S, keep=keep))

    def tell(done: Done) -> None:
        if done.receipt is None:
            controls.host.say(done.remark)
            return
        notes = counted(len(done.receipt.notes), "note")
        _show(controls, new, " · ".join([f"{done_so} {new} in {notes}", *writer.kept(done), "I takes it back"]))

    writer.do(attempt, tell)


def _take_back(controls: Controls) -> None:
    writer = controls.note_writer
    if writer is None:
        return

    def tell(done: Done) -> None:
        lines = done.receipt.notes if done.receipt is not None else ()
        codes = dict.fromkeys(line.code for line in lines if line.code is not None and not line.deleted)
        said = f"taken back, in {counted(len(lines), 'note')}" if len(lines) > 1 else taken_back(done)
        _show(controls, next(iter(codes), ""), " · ".join([said, *writer.kept(done)]))

    writer.take_back(tell)


def _show(controls: Controls, code: str, remark: str) -> None:
    """Put the cursor on a code, and say what was done."""
    host, table = controls.host, controls.table
    if code and host.location.view == "codes":
        table.cursor = index_of(table.table.rows, where({"code": code}), table.cursor)
    host.say(remark)


def _needs_code(controls: Controls) -> str:
    if controls.here.view != "codes":
        return "only codes are renamed; # lists them"
    return needs_notebook(controls) or needs_rows(controls)


RENAMES: tuple[Action, ...] = (
    Action(
        "rename_code",
        ("i",),
        "rename",
        "Give the code another name, or that of another code, with which it merges.",
        "Note",
        lambda controls: controls.opening.begin(partial(_ask_for_name, controls), "codes"),
        _needs_code,
        kinds=("list",),
    ),
    Action(
        "take_back_rename",
        ("I",),
        "undo",
        "Take back what you wrote last, also the renaming of a code.",
        "Note",
        _take_back,
        lambda controls: _needs_code(controls) or needs_written(controls),
        kinds=("list",),
    ),
)
