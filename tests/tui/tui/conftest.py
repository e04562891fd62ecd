"""What all tests of the explorer share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.parsed_styles import parse_once


@pytest.fixture(scope="session", autouse=True)
def _parsed_styles() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        parse_once(patch)
        yield
