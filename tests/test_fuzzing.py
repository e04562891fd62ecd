"""Whatever comes in at a door is taken or refused with a reason, and nothing else happens.

More examples: `HYPOTHESIS_PROFILE=long pytest tests/test_fuzzing.py`; hours: `python -m benchmarks.fuzz all`.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.fuzzing import TARGETS
from tests.support.fuzzing.mutation import mutated
from tests.surface.ingest import sources

SHARE = 20
"""How many times fewer examples each target takes than other tests do: there are many targets."""
SOME = settings(
    max_examples=max(1, settings().max_examples // SHARE), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("name", TARGETS)
@SOME
@given(random=st.randoms(use_true_random=False))
def test_any_bytes_are_taken_or_refused_with_a_reason(name: str, tmp_path: Path, random: Random) -> None:
    target = TARGETS[name]
    target.run(mutated(target.corpus(), random), tmp_path)


@pytest.mark.parametrize("name", TARGETS)
def test_targets_run_on_what_is_as_it_should_be(name: str, tmp_path: Path) -> None:
    for data in (*TARGETS[name].corpus(), b""):
        TARGETS[name].run(data, tmp_path)


def test_every_source_has_its_target() -> None:
    assert {source.kind for source in sources()} <= set(TARGETS)
