"""Pictures of two screens, for colours and styles that text does not show; comparable on one pair of versions only."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import pytest
from textual.app import App
from textual.pilot import Pilot

from tests.support.fake_catalog import FakeCatalog
from tests.support.walker import Walker
from tests.surface.explorer import Backend, Explorer

DRAWN_WITH = {"textual": "8.2.8", "rich": "15.0.0"}

pytestmark = pytest.mark.skipif(
    any(version(name) != wanted for name, wanted in DRAWN_WITH.items()),
    reason=f"the pictures were drawn with {DRAWN_WITH}",
)

Compare = Callable[..., bool]


def explorer() -> App[None]:
    return Explorer(Backend(FakeCatalog().show))


def test_flows_at_80_by_24(snap_compare: Compare) -> None:
    assert snap_compare(explorer(), terminal_size=(80, 24), press=["j"])


def test_a_state_in_its_graph_at_120_by_36(snap_compare: Compare) -> None:
    async def walk(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Explorer)
        at = Walker(app, pilot)
        await at.until(lambda: bool(at.row))
        await at.press("3", "v", "h")

    assert snap_compare(explorer(), terminal_size=(120, 36), run_before=walk)
