"""Limits of inputs that are others for a while."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from tests.surface.ingest import Limits, limits, set_limits


@contextmanager
def limited(**changes: int) -> Iterator[Limits]:
    """Let some limits be others for a while."""
    before = limits()
    set_limits(dataclasses.replace(before, **changes))
    try:
        yield limits()
    finally:
        set_limits(before)
