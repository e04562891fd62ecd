"""Take calls out of a store for good: the `forget` command."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from riff_tui.commands import completion
from riff_tui.commands.options import (
    JsonOption,
    StoreOption,
    flag,
    next_command,
    option,
    print_json,
    printed,
    settings_for,
    store_to_write,
)
from riff_tui.errors import StoreError, UsageError
from riff_tui.shapes import COUNT, FLAG, TEXT, list_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riff_store.database import Store
    from riff_store.filters.predicates import Predicate
    from riff_store.write.forgetting import Forgotten
    from riff_tui.output.progress import ProgressLine

EXAMPLES = (
    "riff-tui forget --where 'run=nightly-2026-03-01' --dry-run",
    "riff-tui forget --where 'conversation=c-4711' --yes --vacuum",
    "riff-tui forget --where 'said:\"my number is\"' --keep-notes",
)

_FLAGS = ("done", "keep_notes", "vacuumed")
JSON = printed(
    {
        "filter": TEXT,
        **dict.fromkeys(("calls", "words", "scores", "notes", "left"), COUNT),
        **dict.fromkeys(("runs", "flows"), list_of(TEXT)),
        **dict.fromkeys(_FLAGS, FLAG),
    }
)
_NAMED = 3
"""How many runs or flows are named."""


def forget(
    where: Annotated[
        str, option("--where", "EXPR", "The calls to forget, such as 'run=R' or 'conversation=C'.", completion.terms)
    ] = "",
    dry_run: Annotated[bool, flag("--dry-run", "Say what would go, and change nothing.")] = False,
    yes: Annotated[bool, flag("--yes", "Do not ask.")] = False,
    keep_notes: Annotated[bool, flag("--keep-notes", "Keep what people wrote on these calls.")] = False,
    vacuum: Annotated[
        bool, flag("--vacuum", "Rewrite the store, so that no piece of what was said is left in it and space is freed.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Take calls out of the store for good.

    What was said, scores and notes go with them, in one transaction. The store remembers by digests which they were, so
    that ingest does not bring them back; ingest --again does.
    """
    from riff_store.write.forgetting import forget as take_out
    from riff_store.write.forgetting import going_with, prepare
    from riff_store.write.writer import Writer
    from riff_tui.filters import split
    from riff_tui.filters.parser import parse
    from riff_tui.output.progress import terminal_progress
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location

    if not where.strip():
        raise UsageError("forget needs --where, which names what goes; --where 'run=R' is all of a run")
    calls, _ = split(parse(where), ())
    settings = settings_for(store)
    with store_to_write(store_location(settings), create=False) as opened:
        with opened.writing():
            prepare(opened.connection)
        with terminal_progress() as progress, opened.snapshot():
            keys = _keys(opened, calls)
            going = going_with(opened, keys, keep_notes=keep_notes, report=_report(progress, "read"))
            stay = int(opened.execute_sql("SELECT COUNT(*) FROM conversation WHERE TRUE")[0][0]) - len(keys)
            near = _near(opened, calls) if not keys else []
        if not json or not (yes or dry_run):
            for line in _told(opened.location, going, stay, keep_notes=keep_notes):
                say(line)
            for line in near:
                say(line)
        is_wanted = not dry_run and (yes or not keys or _confirmed(opened.location, len(keys)))
        if is_wanted and (keys or vacuum):
            opened.wipe_deleted()
            with terminal_progress() as progress:
                with opened.writing():
                    if _keys(opened, calls) != keys:
                        raise StoreError(f"{opened.location}: other calls match now than were listed", "run it again")
                    report = _report(progress, "compressed")
                    take_out(opened, keys, keep_notes=keep_notes, renew=vacuum, report=report)
                tell = progress.telling if progress else lambda doing: None
                Writer(opened).pack(lambda done, groups: tell(f"packing columns {done}/{groups}"))
                if vacuum:
                    tell("rewriting the store")
                    opened.compact()
        is_left = bool(opened.execute_sql("SELECT 1 FROM text_dictionary LIMIT 1"))
    if json:
        print_json(_members(where, going, stay, done=is_wanted, keep_notes=keep_notes, vacuum=vacuum and is_wanted))
        return
    for line in _ended(going, store, done=is_wanted, dry_run=dry_run, vacuum=vacuum, is_left=is_left):
        say(line)


def _keys(store: Store, calls: Predicate | None) -> list[int]:
    from riff_store.queries.conversations import conversation_ids

    return sorted(conversation_ids(store, calls))


def _near(store: Store, calls: Predicate | None) -> list[str]:
    from riff_tui.filters.nearest_names import unheard, unknown_names

    return [*unheard(store, calls), *unknown_names(store, calls)]


def _report(progress: ProgressLine | None, what: str) -> Any:
    return partial(progress.doing, what) if progress else lambda done, total: None


def _confirmed(location: str, calls: int) -> bool:
    """Ask on a terminal; raise `UsageError` if nobody can be asked."""
    import click

    from riff_tui.text.numbers import counted

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            f"this takes {counted(calls, 'call')} out of {location} for good, and there is no terminal to ask on;"
            " add --yes to forget them, or --dry-run to see what goes"
        )
    return click.confirm("Forget them?", default=False, err=True)


def _told(location: str, going: Forgotten, stay: int, *, keep_notes: bool) -> Iterator[str]:
    from riff_tui.text.numbers import counted

    if not going.calls:
        yield f"No call in {location} matches, so there is nothing to forget."
        return
    parts = [counted(going.words, "word"), counted(going.scores, "score")]
    parts += [] if keep_notes else [counted(going.notes, "note")]
    places = f"{_named(going.runs, 'run')}, {_named(going.flows, 'flow')}"
    yield f"{location}: {counted(going.calls, 'call')} ({places}) with {', '.join(parts)}; {stay:,} stay."


def _named(names: Any, noun: str) -> str:
    from riff_tui.text.numbers import counted

    return f"{noun} {', '.join(names)}" if len(names) <= _NAMED else counted(len(names), noun)


def _ended(
    going: Forgotten, store: str | None, *, done: bool, dry_run: bool, vacuum: bool, is_left: bool
) -> Iterator[str]:
    from riff_tui.text.numbers import counted

    if going.calls and dry_run:
        yield "Nothing was changed (--dry-run)."
    elif going.calls and not done:
        yield "Nothing was forgotten."
    elif going.calls:
        again = next_command("ingest", "--again", "PATH", store=store)
        yield f"{counted(going.calls, 'call')} forgotten. To have them back: {again}"
        if not vacuum and is_left:
            yield "Pieces of what was said may be left in what the store compresses by; --vacuum rewrites that."
    if vacuum and done:
        yield "The store was rewritten."


def _members(where: str, going: Forgotten, stay: int, *, done: bool, keep_notes: bool, vacuum: bool) -> dict[str, Any]:
    return {
        "filter": where.strip(),
        "done": done and going.calls > 0,
        "calls": going.calls,
        "runs": list(going.runs),
        "flows": list(going.flows),
        "words": going.words,
        "scores": going.scores,
        "notes": going.notes,
        "keep_notes": keep_notes,
        "left": stay,
        "vacuumed": vacuum,
    }
