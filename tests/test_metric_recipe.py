"""An aspect of calls is added by the recipe of CONTRIBUTING.md, and by nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.recipes import carry_out, python, recipe, riff_tui, several

TITLE = "Add a metric"
SHOWN = {
    "dump flows --format json": '"agent_share":',
    "dump flows --where agent_share>0.99 --format csv": "flow,",
    "dump flows --by run,flow --where talk>0.5 --sort agent_share --format csv": "dental",
    "dump conversations --where talk<0.5 --sort -agent_share --format csv": "c-",
    "dump effects --aspect agent_share": "Units: agent_share share",
    "compare before after --format csv": "agent_share",
    "compare before after --where aspect=agent_share --format csv": "differs",
    "export --where aspect=agent_share -o -": "agent_share",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return carry_out(TITLE, tmp_path_factory.mktemp("recipe"))


@pytest.fixture(scope="module")
def store(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two runs of calls, in the second of which the agent talks more."""
    folder = tmp_path_factory.mktemp("calls")
    for run, words in (("before", 1), ("after", 4)):
        lines = []
        for number in range(1, 16):  # enough for any number of metrics that are tested at once
            said = [{"role": "caller", "text": "a b"}, {"role": "agent", "text": "well " * (words + number % 3)}]
            task = {"scenario": f"s-{number}", "persona": "p", "agent_model": "m", "flow": "dental"}
            lines.append(json.dumps({"run_id": run, "conversation_id": f"c-{number}", "turns": said, **task}))
        (folder / f"flow-transcripts-{run}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = riff_tui(tree, "ingest", str(folder), "--store", str(folder / "calls.db"))
    assert done.returncode == 0, done.stderr
    return str(folder / "calls.db")


def test_the_code_of_the_recipe_is_as_code_here_has_to_be(tree: Path) -> None:
    ruff = Path(sys.executable).parent / "ruff"
    for step in (["check"], ["format", "--check"]):
        done = subprocess.run([ruff, *step, *recipe(TITLE)], cwd=tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_the_tests_of_the_recipe_and_of_the_list_pass(tree: Path) -> None:
    tests = ("tests/ingest/test_agent_share.py", "tests/store/test_metrics.py")
    done = python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout


def test_a_new_aspect_is_known_everywhere(tree: Path, store: str) -> None:
    answers = several(tree, [(*asked.split(), "--store", store) for asked in SHOWN])
    for (asked, shown), done in zip(SHOWN.items(), answers, strict=True):
        assert (asked, done.returncode) == (asked, 0), done.stderr
        assert shown in done.stdout, asked


def test_a_new_aspect_is_a_column_that_can_be_chosen(tree: Path) -> None:
    program = "from riff_tui.views.flows import SPEC; print(*[c.key for c in SPEC.columns if not c.shown])"
    assert "agent_share" in python(tree, "-c", program).stdout.split()


def test_a_new_aspect_is_in_the_docs(tree: Path) -> None:
    program = "from tests.readme import METRICS, with_metrics; print(with_metrics(METRICS.read_text(encoding='utf-8')))"
    done = python(tree, "-c", program)
    assert "| `agent_share` | share | · | words of the agent ÷ words of both |" in done.stdout
