"""The made voice run, from its files to the figures of the data formats: the panel that the benchmark publishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from riff_store import ask
from tests.surface.ingest import ingest
from tests.surface.store import Store, Writer, open_store

CLOSE = 1e-9


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    sets = json.loads((shared_data / "tau3" / "expected.json").read_text(encoding="utf-8"))["sets"]
    found: dict[str, Any] = sets["dev/retail_voice"]
    return found


@pytest.fixture(scope="module", params=["retail_voice.json", "retail_voice", "."])
def store(
    request: pytest.FixtureRequest, shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """The run in either layout, and in both at once."""
    path = tmp_path_factory.mktemp("panel") / "calls.db"
    with open_store(path, write=True, create=True) as opened:
        ingest([shared_data / "tau3" / "voice" / request.param], Writer(opened), with_text=False)
        yield opened


def check(found: dict[str, Any], panel: dict[str, Any]) -> None:
    assert found["counts"] == panel["counts"]
    for key, value in panel.items():
        if key != "counts":
            assert found[key] == (None if value is None else pytest.approx(value, abs=CLOSE)), key


def test_a_run_has_the_panel_of_the_benchmark(store: Store, expected: dict[str, Any]) -> None:
    [row] = ask(store, "flows", by="run")
    check(row["interaction_all"], expected["panel"])
    check(row["interaction"], expected["panel_without_errored"])


def test_each_call_has_its_own(store: Store, expected: dict[str, Any]) -> None:
    for name, call in expected["calls"].items():
        [row] = ask(store, "flows", where=f"conversation={name}", by="run")
        if call["panel"] is None:
            assert row["interaction_all"] is None
        else:
            check(row["interaction_all"], call["panel"])
