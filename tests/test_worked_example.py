"""The worked example comes out as its page reports, and the chain of the README runs."""

from __future__ import annotations

import re
from pathlib import Path

from tests.readme import README, WORKED, Workplace, worked

PAGE = WORKED.read_text(encoding="utf-8")


def section(title: str, text: str = PAGE) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def test_the_worked_example_comes_out_as_its_page_says(tmp_path: Path) -> None:
    assert worked(PAGE, tmp_path) == PAGE, "`make readme` writes it anew"


def test_what_was_planted_stands_first() -> None:
    told = section("What to fix first?")
    roots = told.partition("Root-cause states\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[1] for line in roots] == ["leaky_tap/which_unit", "leaky_tap/offer_visit"]
    assert "Fix first: leaky_tap/which_unit. 21 of 40 calls fail there" in told
    assert causes(told) == [("which_unit", "dead end"), ("offer_visit", "loop")]


def test_what_is_wrong_with_calls_that_book_a_visit_is_found() -> None:
    told = section("Booked, and still wrong")
    assert "leaky_tap  40 calls, 40 completed\n" in told
    assert "Fix first (run=wednesday): leaky_tap/call_back. " in told
    assert causes(told) == [("call_back", "missing slot phone"), ("greeting", "wrong slot phone")]


def causes(told: str) -> list[tuple[str, str]]:
    """Return the state and what went wrong there of each cause that is shown."""
    return re.findall(r"^! *\d+ +\d+% +leaky_tap +(\w+) +(\w+(?: \w+)*)  ", told, re.MULTILINE)


def test_the_fixed_agent_is_better_beyond_chance_and_the_gate_keeps_it_so() -> None:
    assert re.search(
        r"^\+ leaky_tap +success_rate +newly passing ", section("Is it better, beyond chance?"), re.MULTILINE
    )
    passed, _, failed = section("Keep it so").partition("$ riff-tui gate --baseline tuesday --candidate monday\n")
    assert "exit code" not in passed
    assert failed.rstrip("`\n").endswith("exit code 3")


def test_a_call_that_broke_is_made_again() -> None:
    again = section("Is it better, beyond chance?").partition("scenario=unit-with-a-letter")[2]
    ends = re.findall(r"^. (\S+) .* (\w+) +(\w+) +\S+ +(?:yes|no) ", again, re.MULTILINE)
    assert ends == [
        ("monday-frozen", "hangup", "which_unit"),
        ("tuesday-frozen", "diverged", "offer_visit"),
        ("tuesday-open", "terminal", "visit_booked"),
    ]


def test_the_chain_of_the_readme_runs(tmp_path: Path) -> None:
    found = re.search(r"^```sh\n(riff-tui run .*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    lines = found[1].splitlines()
    assert [line.split()[1] for line in lines] == ["run", "run", "ingest", "compare", "judge"]
    place = Workplace.with_examples(tmp_path)
    settings = tmp_path / "settings.toml"
    settings.write_text(
        '[judges.gemini]\nkind = "replay"\npath = "examples/leaky_tap/recorded"\nrecorded_as = "rule"\n'
    )
    place.surroundings["RIFF_TUI_CONFIG"] = str(settings)
    said = [place.printed(command) for line in lines for command in line.split(" && ")]
    assert "exit code" not in "".join(said)
    assert re.search(r"^\+ leaky_tap +success_rate +newly passing ", said[3], re.MULTILINE)
    assert "40 scores" in said[-1]
