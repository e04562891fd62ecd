"""Note on a call what one finds there, with keys on the home row, and give a code another name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from riff_store.annotations import FAIL, PASS
from riff_store.write.names import CallNames
from riff_tui.notes.author import LONGEST_CODE, clean, code_meant
from riff_tui.notes.marks import Mark, Spot, Writer, give_code, give_remark, give_verdict, remark_at
from riff_tui.notes.selection import renamed
from riff_tui.table import Table
from riff_tui.text.numbers import counted, listed
from riff_tui.text.safe_text import fit, one_line
from riff_tui.tui.actions.action import IN_CALLS, Action, Controls, needs_notebook, needs_rows, needs_written
from riff_tui.tui.actions.moving import NEXT_UNREAD
from riff_tui.tui.controllers.notes import ATTEMPT_S, Done
from riff_tui.tui.data.lists import index_of
from riff_tui.tui.widgets.field import FieldRequest
from riff_tui.tui.widgets.menu import MenuItem, MenuRequest, with_calls
from riff_tui.views.parts import cells, notes


def call_of(controls: Controls) -> CallNames | None:
    """Return the call on the screen, `None` if there is none."""
    loaded = controls.host.loaded
    call = loaded.main.extras.get("call") if loaded is not None else None
    if not isinstance(call, Mapping):
        return None
    return CallNames(call["run"], call["flow"], call["agent"], call["conversation"], call["trial"])


def spot_of(controls: Controls) -> Spot:
    """Return the place under the cursor, the whole call where it is on none.

    It is on none as well where it is as a call opens, and on the line of the first state: nothing was pointed at.
    """
    loaded, cursor = controls.host.loaded, controls.transcript.cursor
    if loaded is None or not controls.transcript.pointed:
        return Spot()
    if cursor == 0 and loaded.main.rows and loaded.main.rows[0].record.get("kind") == "state":
        return Spot()
    return spot_at(loaded.main, cursor)


def spot_at(table: Table, index: int) -> Spot:
    """Return the place of a row of a call; what happened between turns belongs to the turn before, in its state."""
    if not 0 <= index < len(table.rows):
        return Spot()
    kind = table.rows[index].record.get("kind")
    if kind == "step":
        return Spot()
    states = list(notes.states(table.rows))
    numbers = notes.turn_numbers(table.rows)
    turns = table.extras.get("turns") or ()
    turn = None
    # If the rows are other turns than those of the transcript, none of them can be told.
    if kind != "state" and len(turns) == sum(number is not None for number in numbers):
        before = next((at for at in range(index, -1, -1) if numbers[at] is not None), None)
        is_same = before is not None and states[before] == states[index]
        turn = numbers[before] if before is not None and is_same else None
    return Spot(turn, states[index] or (turns[turn - 1].get("state") if turn is not None else None))


def where(spot: Spot) -> str:
    """Return the words for a place."""
    turn = f"turn {spot.turn}" if spot.turn is not None else ""
    return " ".join(filter(None, (turn, f"in {spot.state}" if spot.state else ""))) or "the whole call"


_WIDEST_WORDS = 40
_NEXT = ("next_unread", "take_back")


def _verdict(controls: Controls, verdict: str) -> None:
    # A call that passes does so from its beginning to its end.
    spot = Spot() if verdict == PASS else spot_of(controls)
    further = ("code", "note", *_NEXT) if verdict == FAIL else ("note", *_NEXT)
    _mark(controls, lambda writer: give_verdict(writer, spot, verdict), verdict, spot, further)


async def _ask_for_code(controls: Controls) -> None:
    host, menu, source = controls.host, controls.menu, controls.backend.notes
    location, spot = host.location, spot_of(controls)
    found = await host.worker.ask(source.codes) if source is not None else []
    is_covered = menu.app.screen is not menu.screen or menu.is_open
    if is_covered or host.location.cache_key != location.cache_key:
        return
    codes = [code for code, _ in found]

    def give(typed: str) -> None:
        code = code_meant(typed, codes)
        if code:
            _mark(controls, lambda writer: give_code(writer, spot, code), code, spot, ("note", *_NEXT))

    def new(typed: str) -> MenuItem | None:
        """Offer what was typed if it is not a code in use."""
        code = clean(typed, LONGEST_CODE)
        return MenuItem(code, lead="new:") if code and code_meant(code, codes) not in codes else None

    menu.ask(
        MenuRequest(
            f"codes · {where(spot)}{'' if codes else ' · type a word, which makes one'}",
            with_calls(found),
            lambda index: give(codes[index]),
            verb="file the call under it",
            new=new,
            on_new=give,
        )
    )


async def _ask_for_note(controls: Controls) -> None:
    host, writer, notebook = controls.host, controls.note_writer, controls.backend.notebook
    call, spot, location = call_of(controls), spot_of(controls), host.location
    if writer is None or notebook is None or call is None:
        return
    place = (call, spot)
    standing = await host.worker.ask(lambda: notebook.standing_on(call.conversation))
    before = remark_at(Writer.of(notebook.author, call, 0, standing), spot)
    if host.location.cache_key != location.cache_key or controls.menu.is_open or controls.field.is_open:
        return

    def write(typed: str) -> None:
        text = clean(typed)
        # Until it is written it can be had back.
        writer.drafts[place] = text
        _mark(
            controls, lambda writer: give_remark(writer, spot, text), "note", spot, _NEXT,
            lambda: writer.drafts.pop(place, None),
        )  # fmt: skip

    def leave(typed: str) -> None:
        text = clean(typed)
        writer.drafts.pop(place, None)
        if text and text != before:
            writer.drafts[place] = text
            host.say("not written; i brings it back")

    controls.field.ask(
        FieldRequest(
            f"note {'' if spot.turn is None and spot.state else 'on '}{where(spot)}",
            writer.drafts.get(place, before),
            f"Enter {'changes your note' if before else 'writes it'} · Esc cancels",
            write,
            leave,
        )
    )


def _take_back(controls: Controls) -> None:
    writer, call = controls.note_writer, call_of(controls)
    if writer is None:
        return

    def tell(done: Done) -> None:
        said = taken_back(done, call.conversation if call else None)
        controls.host.say(" · ".join([said, *writer.kept(done)]))

    writer.take_back(tell)


def taken_back(done: Done, here: str | None = None) -> str:
    """Return what was taken back, and on which calls other than the one that one sees."""
    if done.receipt is None and done.remark:
        return done.remark
    lines = done.receipt.notes if done.receipt is not None else ()
    others = listed(list(dict.fromkeys(line.conversation for line in lines if line.conversation != here)))
    return " · ".join(filter(None, (f"taken back: {_described(done)}", others)))


def _described(done: Done) -> str:
    """Return what was taken back; where something is again instead, that."""
    lines = done.receipt.notes if done.receipt is not None else ()
    found = []
    for line in lines:
        parts = filter(None, (line.verdict, line.code, fit(one_line(line.note or ""), _WIDEST_WORDS)))
        found.append(" · ".join(parts) if line.deleted else f"{' · '.join(parts)} is in effect again")
    return listed(list(dict.fromkeys(found)))


def _mark(
    controls: Controls,
    rule: Callable[[Writer], Mark],
    what: str,
    spot: Spot,
    further: tuple[str, ...],
    then: Callable[[], object] = lambda: None,
) -> None:
    """Write what a rule makes of it, and report what was written where, and what one may want next."""
    writer, call = controls.note_writer, call_of(controls)
    if writer is None or call is None:
        return

    def tell(done: Done) -> None:
        then()
        said = [what, where(spot), done.remark] if done.receipt is not None else [done.remark]
        keys = "  ".join(f"{each.keys[0]} {each.title}" for each in NOTES if each.id in further)
        controls.host.say(" · ".join(filter(None, (*said, *writer.kept(done), keys))))

    writer.mark(call, rule, tell)


NOTES: tuple[Action, ...] = (
    Action(
        "pass",
        ("a",),
        "pass",
        "In a call, give it the verdict pass.",
        partial(_verdict, verdict=PASS),
        needs_notebook,
        kinds=IN_CALLS,
    ),
    Action(
        "fail",
        ("f",),
        "fail",
        "In a call, give it the verdict fail; at the turn or the state under the cursor it first went wrong.",
        partial(_verdict, verdict=FAIL),
        needs_notebook,
        kinds=IN_CALLS,
    ),
    Action(
        "code",
        ("s",),
        "code",
        "In a call, file it under a code, at the turn or the state under the cursor: one from a list, or a new word."
        " A call that you gave no verdict fails by it.",
        lambda controls: controls.opening.begin(partial(_ask_for_code, controls), "codes"),
        needs_notebook,
        kinds=IN_CALLS,
    ),
    Action(
        "note",
        ("i",),
        "note",
        "In a call, write a note on the turn or the state under the cursor, or edit your own there.",
        lambda controls: controls.opening.begin(partial(_ask_for_note, controls), "notes"),
        needs_notebook,
        kinds=IN_CALLS,
    ),
    NEXT_UNREAD,
    Action(
        "take_back",
        ("u",),
        "undo",
        "In a call, take back what you noted last, again and again as far back as this session goes.",
        _take_back,
        needs_written,
        kinds=IN_CALLS,
    ),
)


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
        new = code_meant(typed, others)
        if not new or new == old or typed == begun:
            return ""
        doing = f"merges it into {new} ({counted(calls[new], 'call')})" if new in calls else f"renames it to {new}"
        return f"Enter {doing} · Esc cancels"

    def write(typed: str) -> None:
        new = code_meant(typed, others)
        if not new or new == old or typed == begun:
            host.say(f"{old} keeps its name")
            return
        _rename(controls, old, new, "merged into" if new in calls else "renamed to")

    hint = f"another name for {counted(calls.get(old, 0), 'call')}, or that of another code, with which it merges"
    controls.field.ask(FieldRequest("rename the code", begun, hint, write, remark=remark))


def _rename(controls: Controls, old: str, new: str, done_so: str) -> None:
    """Rename a code wherever it is, and go to its new row."""
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
        _show_code(controls, new, " · ".join([f"{done_so} {new} in {notes}", *writer.kept(done), "I takes it back"]))

    writer.do(attempt, tell)


def _take_back_rename(controls: Controls) -> None:
    writer = controls.note_writer
    if writer is None:
        return

    def tell(done: Done) -> None:
        lines = done.receipt.notes if done.receipt is not None else ()
        codes = dict.fromkeys(line.code for line in lines if line.code is not None and not line.deleted)
        said = f"taken back, in {counted(len(lines), 'note')}" if len(lines) > 1 else taken_back(done)
        _show_code(controls, next(iter(codes), ""), " · ".join([said, *writer.kept(done)]))

    writer.take_back(tell)


def _show_code(controls: Controls, code: str, remark: str) -> None:
    """Put the cursor on a code, and report what was done."""
    host, table = controls.host, controls.table
    if code and host.location.view == "codes":
        table.cursor = index_of(table.table.rows, cells.where({"code": code}), table.cursor)
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
        lambda controls: controls.opening.begin(partial(_ask_for_name, controls), "codes"),
        _needs_code,
        kinds=("list",),
    ),
    Action(
        "take_back_rename",
        ("I",),
        "undo",
        "Take back what you wrote last, also the renaming of a code.",
        _take_back_rename,
        lambda controls: _needs_code(controls) or needs_written(controls),
        kinds=("list",),
    ),
)
