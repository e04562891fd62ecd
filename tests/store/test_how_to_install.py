"""The command that is named for a missing package works where riff-tui runs."""

from __future__ import annotations

import importlib.util
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.surface.store import how_to_install

PYTHON = "/venv/bin/python"


@pytest.fixture(autouse=True)
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run from an environment in which no package of an extra is installed."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", PYTHON)
    monkeypatch.setattr(metadata, "distributions", lambda name: iter(()))
    return tmp_path


def test_a_venv_installs_with_its_own_pip() -> None:
    assert how_to_install("serve") == f"{PYTHON} -m pip install aiohttp textual-serve"
    assert how_to_install("postgres") == f"{PYTHON} -m pip install 'psycopg[binary]'"


def test_only_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distributions", lambda name: iter([1] if name == "aiohttp" else []))
    assert how_to_install("serve") == f"{PYTHON} -m pip install textual-serve"


def test_an_environment_of_uv_has_no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert how_to_install("mcp") == f"uv pip install --python {PYTHON} mcp"


def test_pipx_injects(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").write_text("{}")
    assert how_to_install("judge") == "pipx inject riff-tui aiohttp"


@pytest.mark.parametrize(
    ("requirements", "command"),
    [
        ('{ name = "riff-tui", path = "/a b/riff.whl" }', "uv tool install --with mcp '/a b/riff.whl'"),
        (
            '{ name = "aiohttp" }, { name = "riff-tui", url = "https://example.org/riff.whl" }',
            "uv tool install --with aiohttp --with mcp https://example.org/riff.whl",
        ),
    ],
)
def test_uv_installs_the_tool_again_with_what_it_had(prefix: Path, requirements: str, command: str) -> None:
    (prefix / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{requirements}]\n")
    assert how_to_install("mcp") == command
