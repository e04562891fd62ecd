"""Note on a call what one finds there, with keys on the home row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from riff_store.annotations import FAIL, PASS
from riff_store.write.names import CallNames
from riff_tui.notes.author import LONGEST_CODE, clean, code_in_use
from riff_tui.notes.marks import Mark, Spot, Writer, give_code, give_remark, give_verdict, remark_at
from riff_tui.table import Table
from riff_tui.text.numbers import listed
from riff_tui.text.safe_text import fit, one_line
from riff_tui.tui.actions.action import IN_CALLS, Action, Controls, Run, needs_notebook, needs_written
from riff_tui.tui.actions.stepping import NEXT_UNREAD
from riff_tui.tui.controllers.notes import Done
from riff_tui.tui.widgets.field import FieldRequest
from riff_tui.tui.widgets.menu import MenuItem, MenuRequest
from riff_tui.views.parts import notes


def call_of(controls: Controls) -> CallNames | None:
    """Return the call on the screen, `None` where there is none."""
    loaded = controls.host.loaded
    call = loaded.main.extras.get("call") if loaded is not None else None
    if not isinstance(call, Mapping):
        return None
    return CallNames(call["run"], call["flow"], call["agent"], call["conversation"], call["trial"])


def spot_of(controls: Controls) -> Spot:
    """Return the place under the cursor, the whole call where it is on none.

    It is on none as well on the line of the first state, where it stands as a call opens: nothing was pointed at then.
    """
    loaded, cursor = controls.host.loaded, controls.transcript.cursor
    if loaded is None or (cursor == 0 and loaded.main.rows and loaded.main.rows[0].record.get("kind") == "state"):
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
    # Where the rows are other turns than those of the transcript, none of them can be told.
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


def _verdict(verdict: str) -> Run:
    def give(controls: Controls) -> None:
        # A call that is all right is so from its beginning to its end.
        spot = Spot() if verdict == PASS else spot_of(controls)
        further = ("code", "note", *_NEXT) if verdict == FAIL else ("note", *_NEXT)
        _mark(controls, lambda writer: give_verdict(writer, spot, verdict), verdict, spot, further)

    return give


async def _ask_for_code(controls: Controls) -> None:
    host, menu, source = controls.host, controls.menu, controls.backend.notes
    location, spot = host.location, spot_of(controls)
    found = await host.worker.ask(source.codes) if source is not None else []
    is_covered = menu.app.screen is not menu.screen or menu.is_open
    if is_covered or host.location.cache_key != location.cache_key:
        return
    counts = [f"{n:,} {'call' if n == 1 else 'calls'}" for _, n in found]
    width = max(map(len, counts), default=0)
    codes = [code for code, _ in found]
    items = [MenuItem(code, count.rjust(width)) for code, count in zip(codes, counts, strict=True)]

    def give(typed: str) -> None:
        code = code_in_use(typed, codes)
        if code:
            _mark(controls, lambda writer: give_code(writer, spot, code), code, spot, ("note", *_NEXT))

    def new(typed: str) -> MenuItem | None:
        """Offer what was typed where it is no code in use."""
        code = clean(typed, LONGEST_CODE)
        return MenuItem(code, lead="new:") if code and code_in_use(code, codes) not in codes else None

    menu.ask(
        MenuRequest(
            f"codes · {where(spot)}{'' if codes else ' · type a word, which makes one'}",
            items,
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
            f"Enter {'changes your note' if before else 'writes it'} · Esc leaves",
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
    """Return what was taken back; where something stands again instead, that."""
    lines = done.receipt.notes if done.receipt is not None else ()
    found = []
    for line in lines:
        parts = filter(None, (line.verdict, line.code, fit(one_line(line.note or ""), _WIDEST_WORDS)))
        found.append(" · ".join(parts) if line.deleted else f"{' · '.join(parts)} stands again")
    return listed(list(dict.fromkeys(found)))


def _mark(
    controls: Controls,
    rule: Callable[[Writer], Mark],
    what: str,
    spot: Spot,
    further: tuple[str, ...],
    then: Callable[[], object] = lambda: None,
) -> None:
    """Write what a rule makes of it, and say what was written where, and what one may want next."""
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
        "all right",
        "In a call, give it the verdict pass.",
        "Note",
        _verdict(PASS),
        needs_notebook,
        kinds=IN_CALLS,
    ),
    Action(
        "fail",
        ("f",),
        "fail",
        "In a call, give it the verdict fail, at the turn or the state under the cursor: there it first went wrong.",
        "Note",
        _verdict(FAIL),
        needs_notebook,
        kinds=IN_CALLS,
    ),
    Action(
        "code",
        ("s",),
        "code",
        "In a call, file it under a code, at the turn or the state under the cursor: one from a list, or a new word."
        " A call that you gave no verdict fails by it.",
        "Note",
        lambda controls: controls.opening.begin(partial(_ask_for_code, controls), "codes"),
        needs_notebook,
        kinds=IN_CALLS,
    ),
    Action(
        "note",
        ("i",),
        "note",
        "In a call, write a note on the turn or the state under the cursor, or edit your own there.",
        "Note",
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
        "Note",
        _take_back,
        needs_written,
        kinds=IN_CALLS,
    ),
)
