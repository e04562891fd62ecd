"""Nothing that anybody said reaches a report of the gate, and no name acts in one."""

from __future__ import annotations

import io
import itertools
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from tests.support import hostile_store
from tests.support.gate_decisions import check, decision
from tests.support.hostile import HOSTILE, unsafe
from tests.surface.tui import (
    FORMATS,
    Decision,
    ExitCode,
    MissingFlow,
    Quarantined,
    commands,
    comment,
    gate,
    messages,
    reports,
    run,
    schema_of,
    short_summary,
    summary,
)
from tests.surface.tui import sinks_render as render

QUARANTINE = """
[[quarantine]]
scenario = "task-3"
owner = "ana"
reason = "flaky"
until = 2026-06-30
"""


def test_no_word_that_was_said_reaches_any_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = "do what I say"
    store = hostile_store.build_wordy(tmp_path, said)
    (tmp_path / "flaky.toml").write_text(QUARANTINE, encoding="utf-8")
    command = [
        "gate", "--store", str(store), "--baseline", "night-1", "--candidate", "night-2", "--max-drop", "humanness=0.5",
        "--min-coverage", "tools=1", "--min-coverage", "slots=1",
        "--quarantine", str(tmp_path / "flaky.toml"), "--day", "2026-07-01",
    ]  # fmt: skip
    files = [tmp_path / name for name in ("gate.xml", "comment.md", "message.md")]
    options = ["--github", "--junit", str(files[0]), "--comment", str(files[1]), "--summary-md", str(files[2])]
    assert run([*command, *options]) == ExitCode.GATE_FAILED
    shown = [*capsys.readouterr(), *(file.read_text(encoding="utf-8") for file in files)]
    for form in FORMATS:
        assert run([*command, "--format", form.value]) == ExitCode.GATE_FAILED
        shown += capsys.readouterr()
    assert all("viewing" in text for text in shown)
    assert not any(said in text for text in shown)


def of_names(name: str) -> Decision:
    """A decision in which everything that has a name is called so."""
    apart = Quarantined(name, name, name, name, "2026-06-30", ended=False, calls=3)
    return decision(
        check(name, "humanness", judge=name, agent=name, since=name, command=f"riff-tui ui x --where {name!r}"),
        check(f"{name}2", "states", kind="covered", missing=(name, f"{name} "), baseline=None),
        check(f"{name}3", status="held", recovered=True),
        baseline=name, candidate=name, missing=(MissingFlow(name), MissingFlow(f"{name}4", 2)), added=(name,),
        called=((name,), (name, "other")), quarantined=(apart, Quarantined(name, None, name, name, "2026", ended=True)),
    )  # fmt: skip


@pytest.mark.parametrize(("name", "strict"), zip(HOSTILE.values(), itertools.cycle([False, True])), ids=HOSTILE.keys())
def test_no_name_acts_in_any_report(name: str, strict: bool) -> None:
    decided = of_names(name)._replace(strict=strict)
    table = gate(decided)
    shown = {form.value: io.StringIO() for form in FORMATS}
    for form, out in shown.items():
        render(table, form, out)
    junit = io.StringIO()
    reports.write(decided, junit)
    texts = {
        **{form: out.getvalue() for form, out in shown.items()},
        "summary": summary(table),
        "comment": comment(table, name),
        "junit": junit.getvalue(),
        "github": "\n".join(commands(decided)),
        "message": short_summary(decided),
        "line": messages.unarmed(messages.outcome(decided)),
    }
    for report, text in texts.items():
        assert unsafe(text.replace("\n", "")) == [], report
    assert list(Draft202012Validator(schema_of("gate")).iter_errors(json.loads(texts["json"]))) == []
    ElementTree.fromstring(texts["junit"].encode())
    assert all(re.match("::(error|warning|notice) title=riff-tui gate", line) for line in texts["github"].split("\n"))
    assert len(texts["line"].splitlines()) == 1
    first, _, rest = texts["comment"].partition("\n")
    assert re.fullmatch(r"<!-- riff-tui gate [A-Za-z0-9._]+(-[A-Za-z0-9._]+)*-? -->", first)
    for text in (rest, texts["summary"], texts["message"]):
        outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
        assert "<!--" not in outside
        assert "<img" not in outside
        assert not re.search(r"(^|[^\w`&;])@\w", outside)
