"""Every rule that the code names is told in docs/eva.md."""

from __future__ import annotations

import re

from tests.conftest import ROOT

SOURCE = ROOT / "ingest" / "riff_ingest" / "eva"


def test_every_rule_that_the_code_names_is_told() -> None:
    told = (ROOT / "docs" / "eva.md").read_text(encoding="utf-8")
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py")))
    rules = set(re.findall(r"\bR\d+\.\d+\b", code))
    assert len(rules) > 20
    assert {rule for rule in rules if f"| {rule} |" not in told} == set()
    sections = set(re.findall(r"\((10\.\d+|9\.\d|11)\b[^()]*\)", code))
    assert {"10.1", "10.6", "9.2", "11"} <= sections
    assert {each for each in sections if not re.search(rf"^(## |\| )?{re.escape(each)}[ .]", told, re.MULTILINE)} <= {
        "9.3"
    }
    quirks = set(re.findall(r"quirk (\d+)", code))
    assert {each for each in quirks if f"\n| {each} | " not in told} == set()


def test_all_quirks_are_listed() -> None:
    told = (ROOT / "docs" / "eva.md").read_text(encoding="utf-8").partition("## 13.")[2]
    assert re.findall(r"^\| (\d+) \|", told, re.MULTILINE) == [str(number) for number in range(1, 19)]
