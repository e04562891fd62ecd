"""Targets to fuzz: each takes any bytes, and what it raises is a finding.

`tests/test_fuzzing.py` runs each with a few mutations, `python -m benchmarks.fuzz` for as long as one likes.
"""

from __future__ import annotations

from tests.support.fuzzing import readers, texts, wires
from tests.support.fuzzing.target import Target

TARGETS: dict[str, Target] = {each.name: each for each in (*readers.TARGETS, *texts.TARGETS, *wires.TARGETS)}
"""All targets by name: the one list of them."""
