"""Find the call that a filter names and make a case of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from riff_tui.errors import UsageError

if TYPE_CHECKING:
    from riff_ingest.runner.cases.case_file import CaseFile
    from riff_ingest.runner.flows.flow import RunnableFlow
    from riff_store.answers.calls import CallDetail
    from riff_store.database import Store


def case_where(
    store: Store,
    where: str,
    *,
    until: int | None = None,
    name: str | None = None,
    redact: bool = True,
    flow_file: str | None = None,
) -> CaseFile:
    """Return the case of the one call that a filter selects, with stand-ins for what points at its caller.

    `flow_file` is that of the call's flow where it is not a built-in one. Raises `UsageError` where the filter selects
    no call or several, where the file is of another flow, and as `case_of_call` does.
    """
    from riff_store.queries.conversation import conversation
    from riff_tui.cases.from_call import case_of_call
    from riff_tui.cases.stand_ins import with_stand_ins
    from riff_tui.filters import parse
    from riff_tui.views.conversation import find_call

    predicate = parse(where)
    if predicate is None:
        raise UsageError("a case is made of one call: riff-tui case --where 'run=R conversation=C' -o FILE")
    call = find_call(store, predicate)
    detail = conversation(store, call.run, call.conversation, call.told_by)
    if detail is None:
        raise UsageError(f"conversation {call.conversation} of run {call.run} is gone; run it again")
    slot_pools = _slot_pools(detail, _flow_of(detail, flow_file))
    case = case_of_call(detail, slot_pools, until=until, name=name)
    return with_stand_ins(case, slot_pools) if redact else case


def case_text_at(location: str, where: str) -> str:
    """Return the file of the case of the one call that a filter selects in the store at a location."""
    from riff_ingest.runner.cases.case_writer import case_text
    from riff_store.database import open_store

    with open_store(location) as opened, opened.snapshot():
        return case_text(case_where(opened, where))


def _flow_of(detail: CallDetail, flow_file: str | None) -> RunnableFlow | None:
    from riff_ingest.runner.flows.flow_files import load_flow
    from riff_ingest.simulate.flow_file import flow_names

    if flow_file is None:
        return load_flow(detail.call.flow) if detail.call.flow in flow_names() else None
    flow = load_flow(flow_file)
    if flow.name != detail.call.flow:
        raise UsageError(f"{flow_file} is of the flow {flow.name}, and the call is of {detail.call.flow}")
    return flow


def _slot_pools(detail: CallDetail, flow: RunnableFlow | None) -> Mapping[str, str]:
    """Return the pool of each slot: what the flow says for the call's scenario, else what the slot's name means."""
    from riff_ingest.runner.cases.made_up import pools_of

    slots = (detail.document or {}).get("slots")
    taken = list(map(str, slots)) if isinstance(slots, Mapping) else []
    if flow is None:
        return pools_of(taken, {})
    return pools_of(dict.fromkeys([*flow.slots, *taken]), flow.scenario_like(detail.call.scenario).pools)
