"""Whether calls of any kind failed, and where, is what a second computation from the pages says."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given

from tests.support import blame_oracle
from tests.support.blame_calls import derived_calls, observed_calls
from tests.support.blame_oracle import Blame
from tests.surface.ingest import Conversation, facts_of


def assert_same(line: dict[str, Any]) -> None:
    """Success, the state in which the call was lost and its blame are those of the oracle."""
    facts = facts_of(msgspec.convert(line, Conversation), default_run="night-1")[0]
    errored = blame_oracle.is_errored(line)
    assert errored or facts.success == blame_oracle.success(line)
    assert errored or [row.state for row in facts.states if row.lost] == [
        state for state in (blame_oracle.lost_in(line),) if state
    ]
    failure = facts.failure
    found = failure and Blame(failure.first_failed, failure.kind, failure.detail, failure.who, failure.t)
    wanted = blame_oracle.blame(line)
    assert found == (wanted and wanted._replace(before=None))


@given(observed_calls())
def test_calls_that_were_seen_to_enter_their_states(line: dict[str, Any]) -> None:
    assert_same(line)


@given(derived_calls())
def test_calls_whose_states_are_the_tools_that_they_called(line: dict[str, Any]) -> None:
    assert_same(line)
