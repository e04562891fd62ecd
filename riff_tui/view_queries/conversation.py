"""Ask for the one call that a filter selects, or say why it selects none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from riff_store.predicates import Predicate, Term, all_of, conjuncts
from riff_tui.errors import UsageError
from riff_tui.table import Table
from riff_tui.view_queries.view_query import FilterParts, ViewQuery
from riff_tui.views.conversation import conversation
from riff_tui.views.parts.cells import call_where, shell_quoted

if TYPE_CHECKING:
    from riff_store.answers.calls import Call
    from riff_store.database import Store

NAMED = 3
NAMED_ALIKE = 8
_MOST = 200


def show_conversation(query: ViewQuery) -> Table:
    """Return the call with what was said in it, if that is asked for; raises `UsageError` where it is not one call."""
    from riff_store.queries.conversation import conversation as read
    from riff_tui.text.redaction import LIMITS, Redactor

    request = query.request
    call = find_call(query.store, query.predicate)
    detail = read(query.store, call.run, call.conversation, call.told_by)
    if detail is None:
        raise UsageError(f"conversation {call.conversation} of run {call.run} is gone; run it again")
    table = conversation(detail, text=request.text, redact=Redactor() if request.redact else None)
    if request.text and request.redact:
        table = replace(table, notes=[*table.notes, LIMITS])
    return query.result(FilterParts(), lambda _: table)


def find_call(store: Store, predicate: Predicate | None) -> Call:
    """Return the call; the beginning of its id, or the id as a bare word, is enough where no other has it.

    Raises `UsageError` with what to say instead.
    """
    from riff_store.queries.conversations import conversations, count_conversations

    if predicate is None:
        raise UsageError(
            "conversation needs to know which one: riff-tui dump conversation --where 'run=R conversation=C'"
        )
    found = conversations(store, predicate, limit=_MOST)
    if not found:
        found = _beginning(conversations(store, _loosened(predicate), limit=_MOST), predicate)
    elif len(found) > 1:
        found = _named_by_word(found, predicate) or found
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(_no_call(store, predicate))
    most = NAMED_ALIKE if len({(call.run, call.conversation) for call in found}) == 1 else NAMED
    few = " or ".join(shell_quoted(call_where(call)) for call in found[:most])
    total = count_conversations(store, predicate) or len(found)
    raise UsageError(f"{total} calls match this filter; name one of them, such as {few}")


def _no_call(store: Store, predicate: Predicate) -> str:
    from riff_tui.view_queries.nearest_names import unknown_names

    unknown = "; ".join(said.rstrip(".") for said in unknown_names(store, predicate))
    return f"no call matches this filter; {unknown or 'riff-tui dump conversations lists what there is'}"


def _loosened(predicate: Predicate) -> Predicate | None:
    """Return the filter with ids that only have to hold what was asked for."""
    return all_of(
        [part if not _names_id(part) else replace(part, operator="contains") for part in conjuncts(predicate)]
    )


def _beginning(found: list[Call], predicate: Predicate) -> list[Call]:
    beginnings = [str(part.value) for part in conjuncts(predicate) if _names_id(part)]
    return [call for call in found if beginnings and all(call.conversation.startswith(text) for text in beginnings)]


def _named_by_word(found: list[Call], predicate: Predicate) -> list[Call]:
    """Return the one of several calls that is called exactly like a bare word or a part of an id."""
    words = {
        part.value
        for part in conjuncts(predicate)
        if isinstance(part, Term) and part.field in (None, "conversation") and part.operator == "contains"
    }
    named = [call for call in found if call.conversation in words]
    return named if len(named) == 1 else []


def _names_id(part: Predicate) -> TypeGuard[Term]:
    return isinstance(part, Term) and part.field == "conversation" and part.operator == "="
