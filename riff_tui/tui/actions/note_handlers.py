"""Handle the keys that note on a call what one finds there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from riff_store.annotations import FAIL, PASS
from riff_tui.notes.marks import Mark, Spot, Writer, give_code, give_remark, give_verdict, remark_at
from riff_tui.notes.words import LONGEST_CODE, clean, code_in_use
from riff_tui.text.safe_text import fit, one_line
from riff_tui.text.words import listed
from riff_tui.tui.actions.controls import Controls
from riff_tui.tui.actions.next_unread import next_unread
from riff_tui.tui.actions.note_actions import NOTE_ACTIONS
from riff_tui.tui.actions.spots import call_of, spot_of, where
from riff_tui.tui.controllers.notes import Done
from riff_tui.tui.widgets.choice_list import ListItem
from riff_tui.tui.widgets.line_prompt import LineRequest
from riff_tui.tui.widgets.picker import PickRequest

Handler = Callable[[Controls], None]

_WIDEST_WORDS = 40
_NEXT = ("next_unread", "take_back")


def _verdict(verdict: str) -> Handler:
    def give(controls: Controls) -> None:
        # A call that is all right is so from its beginning to its end.
        spot = Spot() if verdict == PASS else spot_of(controls)
        further = ("code", "note", *_NEXT) if verdict == FAIL else ("note", *_NEXT)
        _mark(controls, lambda writer: give_verdict(writer, spot, verdict), verdict, spot, further)

    return give


def _code(controls: Controls) -> None:
    controls.opening.begin(partial(_ask_for_code, controls), "codes")


async def _ask_for_code(controls: Controls) -> None:
    host, picker, source = controls.host, controls.picker, controls.backend.notes
    location, spot = host.location, spot_of(controls)
    found = await host.worker.ask(source.codes) if source is not None else []
    is_covered = picker.app.screen is not picker.screen or picker.is_open
    if is_covered or host.location.cache_key != location.cache_key:
        return
    counts = [f"{n:,} {'call' if n == 1 else 'calls'}" for _, n in found]
    width = max(map(len, counts), default=0)
    codes = [code for code, _ in found]
    items = [ListItem(code, count.rjust(width)) for code, count in zip(codes, counts, strict=True)]

    def give(typed: str) -> None:
        code = code_in_use(typed, codes)
        if code:
            _mark(controls, lambda writer: give_code(writer, spot, code), code, spot, ("note", *_NEXT))

    def new(typed: str) -> ListItem | None:
        """Offer what was typed where it is no code in use."""
        code = clean(typed, LONGEST_CODE)
        return ListItem(code, lead="new:") if code and code_in_use(code, codes) not in codes else None

    picker.ask(
        PickRequest(
            f"codes · {where(spot)}{'' if codes else ' · type a word, which makes one'}",
            items,
            lambda index: give(codes[index]),
            verb="file the call under it",
            new=new,
            on_new=give,
        )
    )


def _note(controls: Controls) -> None:
    controls.opening.begin(partial(_ask_for_note, controls), "notes")


async def _ask_for_note(controls: Controls) -> None:
    host, writer, notebook = controls.host, controls.note_writer, controls.backend.notebook
    call, spot, location = call_of(controls), spot_of(controls), host.location
    if writer is None or notebook is None or call is None:
        return
    place = (call, spot)
    standing = await host.worker.ask(lambda: notebook.standing_on(call.conversation))
    before = remark_at(Writer.of(notebook.author, call, 0, standing), spot)
    if host.location.cache_key != location.cache_key or controls.picker.is_open or controls.line_prompt.is_open:
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

    controls.line_prompt.ask(
        LineRequest(
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
        keys = "  ".join(f"{each.keys[0]} {each.title}" for each in NOTE_ACTIONS if each.id in further)
        controls.host.say(" · ".join(filter(None, (*said, *writer.kept(done), keys))))

    writer.mark(call, rule, tell)


NOTE_HANDLERS: Mapping[str, Handler] = {
    "pass": _verdict(PASS),
    "fail": _verdict(FAIL),
    "code": _code,
    "note": _note,
    "next_unread": next_unread,
    "take_back": _take_back,
}
