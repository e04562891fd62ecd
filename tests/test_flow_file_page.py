"""docs/flow-file.md is what the types of a flow file say, its examples fit them, and the whole one runs."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from tests.readme import FLOW_FILE
from tests.support.commands import riff_tui
from tests.support.flow_file_page import HEAD, KEYS, PARTS, flow_file_page, form_at, keys_of, type_of


def test_the_page_is_what_the_types_say() -> None:
    text = FLOW_FILE.read_text(encoding="utf-8")
    assert text == flow_file_page(), "`make readme` writes it anew"
    assert len(text.split()) <= 1500


@pytest.mark.parametrize("place", PARTS)
def test_every_key_that_is_read_is_on_the_page(place: str) -> None:
    assert set(KEYS[place]) == set(keys_of(place)) == form_at(place)


@pytest.mark.parametrize(("place", "key"), [(place, key) for place, keys in KEYS.items() for key in keys])
def test_the_example_of_a_key_fits_its_type(place: str, key: str) -> None:
    value = tomllib.loads(f"value = {KEYS[place][key][1]}")["value"]
    kind = type_of(place, key)
    if kind is not None:
        msgspec.convert(value, kind)


def test_the_whole_example_is_checked_and_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", HEAD, re.MULTILINE | re.DOTALL)
    (tmp_path / "flow.toml").write_text(example, encoding="utf-8")
    checked = riff_tui("flows", "check", "flow.toml", "--json", directory=tmp_path)
    assert json.loads(checked.stdout)["files"][0]["findings"] == []
    planned = riff_tui(
        *("run", "--flows", "flow.toml", "--agent", "command:true", "--out", "runs", "--dry-run"),
        directory=tmp_path,
        together=True,
    )
    assert planned.returncode == 0
    assert "dinner" in planned.stdout
