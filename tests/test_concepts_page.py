"""docs/concepts.md is short and true: a flow of the demo is its picture, its kinds are all, and its figures agree."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from tests.readme import DOCS, printed
from tests.surface.store import FAILURE_KINDS

PAGE = (DOCS / "concepts.md").read_text(encoding="utf-8")
FLOW = DOCS.parent / "ingest" / "riff_runner" / "simulate" / "flows" / "dog_grooming.toml"


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", table, re.M)][2:]


def calls(where: str, store: Path) -> list[dict[str, Any]]:
    found = json.loads(printed(f"riff-tui dump conversations --where '{where}' --format json --limit 5000", store))
    return list(found["rows"])


def test_its_sentences_are_short() -> None:
    prose = re.sub(r"^```\n.*?^```$|^[|#].*$", "", PAGE, flags=re.M | re.S)
    assert max(len(sentence.split()) for sentence in re.split(r"[.:]\s|\n\n", prose)) <= 25


def test_the_picture_is_the_flow() -> None:
    flow = tomllib.loads(FLOW.read_text(encoding="utf-8"))
    picture = section("A flow").partition("```\n")[2].partition("```")[0].splitlines()
    drawn = {name: line.split() for line in picture for name in flow["states"] if name in line.split()}
    assert list(drawn) == list(flow["states"])
    for name, state in flow["states"].items():
        script = flow["simulate"]["states"][name]
        words = [*state.get("required_slots", ()), *(script[key] for key in ("tool", "guard") if key in script)]
        assert drawn[name][drawn[name].index(name) + 1 :] == words
    shown = [line.split()[0] for line in picture[1:] if not line.startswith(" ")]
    assert shown == list(dict.fromkeys(state["segment"] for state in flow["states"].values()))
    assert [*flow["success_terminals"], *flow["escalation_terminals"]] == [
        word for word in picture[-1].split() if word.isidentifier()
    ]


def test_every_kind_of_blame_has_its_row() -> None:
    kinds = [row[0].strip("`") for row in rows(section("What is blamed").partition("| part |")[0])]
    assert set(kinds) == set(FAILURE_KINDS)
    assert [kind for kind in dict.fromkeys(kinds) if kinds.count(kind) > 1] == ["missing action"]


def test_each_call_ended_in_one_of_four_ways(demo: Path) -> None:
    filters = {
        row[0].strip("*"): row[2].strip("`").replace("(state=S ", "(") for row in rows(section("How a call ended"))
    }
    assert len(filters) == 9
    found = {word: {row["conversation"] for row in calls(filters[word], demo)} for word in filters if word != "served"}
    parts = [found[word] for word in ("success", "failed", "unknown", "errored")]
    total = len(calls("", demo))
    assert sum(map(len, parts)) == len(set.union(*parts)) == total
    assert f"{' + '.join(f'{len(part):,}' for part in parts)} = {total:,}" in PAGE
    assert found["lost"] <= found["failed"]


def test_the_call_of_the_page_ended_as_it_says(demo: Path) -> None:
    name = re.search(r"`(c-\d+)`", PAGE)
    assert name
    for where in ("failed=yes (state=listen_owner lost=1 stall=1)", "stop_reason=hangup failure='dead end'"):
        quoted = where.replace("'", '"')
        assert len(calls(f"conversation={name[1]} {quoted}", demo)) == 1
