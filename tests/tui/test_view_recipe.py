"""A view is added by the recipe of CONTRIBUTING.md, or by a distribution of somebody else, and by nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.recipes import ROOT, carry_out, python, recipe, riff_tui, several
from tests.surface.tui import FORMATS

TITLE = "Add a view"
IN_EXPLORER = """
from riff_tui.filters import Filter
from riff_tui.table import Row, Table
from riff_tui.tui.actions.help import help_lines
from riff_tui.tui.actions.registry import action
from riff_tui.tui.navigation.location import START, Location, crumbs, descend
from riff_tui.tui.navigation.stacks import choose
from riff_tui.tui.render.columns import count_text
from tests.support.controls import controls_at

here = choose(START, "personas")[-1]
row = Row("", {"persona": "angry", "n": 1}, where="persona=angry")
print(*crumbs((here, descend(here, Table("personas", "", (), [row]), row))))
once = choose((*START, Location("segments", scope=Filter("flow=dental"))), "personas")
print(repr(once[-1].scope.text), repr(choose(once, "personas")[-1].scope.text))
print(action("view:personas").keys, action("view:personas").group, here.view)
print(count_text(here, Table("personas", "", (), ()), None))
for line in help_lines(controls_at("personas"), 100):
    print("".join(text for text, _ in line))
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return carry_out(TITLE, tmp_path_factory.mktemp("recipe"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the installation of a distribution leaves that has the view and its query in one module."""
    files = recipe(TITLE)
    module = "\n".join(
        part.replace("from __future__ import annotations\n", "")
        for part in (
            files["store/riff_store/queries/personas.py"],
            files["riff_tui/views/personas.py"].replace(
                "from riff_store.queries.personas import", "from callers import"
            ),
        )
    )
    return installed(tmp_path_factory.mktemp("site"), "callers:SPEC", f"from __future__ import annotations\n{module}")


def installed(folder: Path, value: str, module: str) -> Path:
    """Leave in a folder what the installation of a distribution with one view leaves."""
    (folder / "callers-1.dist-info").mkdir(parents=True)
    (folder / "callers-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: callers\nVersion: 1\n")
    (folder / "callers-1.dist-info" / "entry_points.txt").write_text(f"[riff_tui.views]\ncallers = {value}\n")
    (folder / "callers.py").write_text(module)
    return folder


@pytest.fixture(params=["recipe", "distribution"])
def added(request: pytest.FixtureRequest, tree: Path, site: Path) -> tuple[Path, tuple[Path, ...]]:
    """A tree that has the view, and where distributions are found beside it."""
    return (tree, ()) if request.param == "recipe" else (ROOT, (site,))


def test_the_code_of_the_recipe_is_as_code_here_has_to_be(tree: Path) -> None:
    bin_folder = Path(sys.executable).parent
    for step in (["ruff", "check"], ["ruff", "format", "--check"]):
        done = subprocess.run(
            [bin_folder / step[0], *step[1:], *recipe(TITLE)], cwd=tree, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.nightly
def test_the_test_of_the_recipe_passes(tree: Path) -> None:
    done = python(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/store/queries/test_personas.py")
    assert done.returncode == 0, done.stdout


def test_a_new_view_is_dumped_in_every_format(added: tuple[Path, tuple[Path, ...]], tiny: Path) -> None:
    tree, path = added
    forms = [form.value for form in FORMATS]
    dumps = [("dump", "personas", "--store", str(tiny), "--format", form) for form in forms]
    for form, done in zip(forms, several(tree, dumps, path), strict=True):
        assert (form, done.returncode, done.stderr) == (form, 0, "")
        assert "hurried" in done.stdout, form


def test_its_rows_are_filtered_sorted_and_limited_by_its_columns(
    added: tuple[Path, tuple[Path, ...]], tiny: Path
) -> None:
    tree, path = added
    options = (
        (), ("--where", "errored_share>0"), ("--where", "hurr"), ("--sort", "-persona", "--limit", "1"),
        ("--where", "flow=weather"),
    )  # fmt: skip
    dump = ("dump", "personas", "--store", str(tiny))
    note, *answers = several(tree, [dump, *((*dump, "--format", "json", *each) for each in options)], path)
    assert [done.stderr for done in answers if done.returncode] == []
    assert "not counted in averages (patient " in note.stdout
    everything, often_errored, found, first, of_weather = (json.loads(done.stdout)["rows"] for done in answers)
    assert [row["persona"] for row in everything] == ["patient", None, "hurried"]
    assert often_errored == everything[:1]
    assert found == everything[2:]
    assert first == everything[:1]
    assert sum(int(str(row["n"])) for row in of_weather) == 10


def test_it_is_known_to_help_and_errors(added: tuple[Path, tuple[Path, ...]], tiny: Path) -> None:
    tree, path = added
    told, missed = several(tree, [("dump", "--help"), ("dump", "flws", "--store", str(tiny))], path)
    assert " personas," in " ".join(told.stdout.split())
    assert ", personas, " in missed.stderr


def test_the_recipe_is_in_the_docs(tree: Path) -> None:
    written = python(tree, "-c", "from tests.readme import *; print(view_rows(), key_rows())").stdout
    assert "| `personas` | Who called, and how many of their calls were errored. |" in written
    assert "| `@` | Who called, and how often that went wrong; press again for more. |" in written


def test_the_explorer_goes_to_it_by_its_key(added: tuple[Path, tuple[Path, ...]]) -> None:
    tree, path = added
    done = python(tree, "-c", IN_EXPLORER, path=path)
    walked, widened, first, count, *helped = done.stdout.splitlines()
    assert (walked, widened) == ("personas angry", "'flow=dental' ''"), done.stderr
    assert (first, count) == ("('@',) Go personas", "0 personas"), done.stderr
    text = " ".join(" ".join(helped).split())
    assert "Drill into a persona" in text
    assert " @ personas: Who called, and how often that went wrong" in text


def test_a_dump_of_another_view_loads_no_distribution(tiny: Path, tmp_path: Path) -> None:
    site = installed(tmp_path / "site", "callers:SPEC", "1 / 0")
    done = riff_tui(ROOT, "dump", "flows", "--store", str(tiny), path=(site,))
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("value", "module", "problem"),
    [
        ("callers:MISSING", "", "it fails with AttributeError"),
        ("callers:SPEC", "1 / 0", "it fails with ZeroDivisionError"),
        ("callers:SPEC", "raise SystemExit(7)", "it fails with SystemExit"),
        ("callers:SPEC", "SPEC = 1", "it is not a ViewSpec"),
        ("callers:SPEC", "from riff_tui.views.timeline import RUNS as SPEC", "the name runs is taken"),
    ],
)
def test_a_broken_distribution_is_told_of_and_stops_nothing(
    tiny: Path, tmp_path: Path, value: str, module: str, problem: str
) -> None:
    site = installed(tmp_path / "site", value, module)
    done, asked = several(ROOT, [("dump", "--help"), ("dump", "callers", "--store", str(tiny))], (site,))
    assert (done.returncode, done.stderr) == (0, f"view plug-in callers ({value}) is left out: {problem}\n")
    assert asked.returncode == 2
    assert "no view is called 'callers'" in asked.stderr


KEYS = """
from riff_tui.tui.actions.registry import action

print(action("sort").keys, action("view:worklist").keys, action("view:quit").keys, action("quit").keys)
print(action("quit").run is action("view:quit").run)
"""


@pytest.mark.parametrize("key", ["0", "ctrl+m", "s,q"])
def test_a_view_takes_neither_key_nor_action_from_another(tmp_path: Path, key: str) -> None:
    module = recipe(TITLE)["riff_tui/views/personas.py"].replace('key="@"', f'key="{key}"')
    site = installed(tmp_path / "site", "callers:SPEC", module.replace('name="personas"', 'name="quit"'))
    done = python(ROOT, "-c", KEYS, path=(site,))
    assert (done.stdout, done.stderr) == ("('s',) ('0',) () ('Q',)\nFalse\n", "")
