"""A key is added by the recipe of CONTRIBUTING.md, in one place, and is bound, helped with and found then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.recipes import carry_out, python, recipe

TITLE = "Add a key"
PRESSED = """
import asyncio

from tests.support.walker import walking


async def pressed() -> None:
    async with walking() as at:
        print(at.row)
        await at.press("underscore")
        print(at.row)
        await at.press("ctrl+p", *"middle", "enter")
        print(at.controls.menu.is_open, at.row)


asyncio.run(pressed())
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return carry_out(TITLE, tmp_path_factory.mktemp("recipe"))


def test_the_code_of_the_recipe_is_as_code_here_has_to_be(tree: Path) -> None:
    bin_folder = Path(sys.executable).parent
    for step in (["ruff", "check"], ["ruff", "format", "--check"]):
        done = subprocess.run(
            [bin_folder / step[0], *step[1:], *recipe(TITLE)], cwd=tree, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_the_key_does_what_it_says_and_the_palette_finds_it(tree: Path) -> None:
    done = python(tree, "-c", PRESSED)
    assert done.stdout.splitlines() == ["viewing gemini", "viewing qwen", "False viewing qwen"], done.stderr


def test_the_table_of_keys_has_it(tree: Path) -> None:
    written = python(tree, "-c", "from tests.readme import *; print(key_rows())").stdout
    assert "| `_` | Move to the row in the middle. |" in written
