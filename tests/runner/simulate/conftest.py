"""One simulation that several tests look at."""

from __future__ import annotations

import pytest

from tests.support.simulated_calls import generate
from tests.surface.ingest import Conversation


@pytest.fixture(scope="package")
def conversations() -> list[Conversation]:
    """Every flow, agent, persona and run once."""
    return list(generate(conversations=1600, seed=0))


@pytest.fixture(scope="package")
def measured(conversations: list[Conversation]) -> list[Conversation]:
    """Those of them that enter means."""
    return [call for call in conversations if not call.errored]
