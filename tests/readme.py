"""What README.md and pages of docs/ show and do not say themselves: written again by `python -m tests.readme`.

A block of the language `console` has commands after `$ ` and below each what it printed from the demo's store. A last
line `…` says that there was more. The table of keys is that of the explorer's registry, that of limits their
description, that of what is read the registry of sources, those of metrics the list of metrics, and promises are those
that tests/promises/ describes.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.promises.page import with_promises
from tests.support.commands import riff_tui
from tests.support.flow_file_page import flow_file_page
from tests.support.json_page import json_page
from tests.surface.explorer import ACTIONS
from tests.surface.ingest import Limits, sources
from tests.surface.store import OF_CALLS, OF_STATES, Metric
from tests.surface.tui import ViewSpec, views

README = Path(__file__).resolve().parent.parent / "README.md"
DOCS = README.parent / "docs"
FORMATS = DOCS / "formats" / "index.md"
REFERENCE = DOCS / "reference.md"
METRICS = DOCS / "metrics.md"
PROMISES = DOCS / "promises.md"
JSON = DOCS / "json.md"
FLOW_FILE = DOCS / "flow-file.md"
PAGES = (README, *sorted(DOCS.rglob("*.md")))
WORKED = DOCS / "worked-example.md"
STARTS = tuple(page for page in PAGES if page.parent.name == "start")
EXAMPLES = README.parent / "examples"
FIXED = EXAMPLES / "leaky_tap" / "fixed.py"
MORE = "…"
_CLASS = re.compile(r"(?<=^```python\n)class .*?(?=^```$)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"(?<=^```)(sh|console)\n(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
_STORE = re.compile(r"^export RIFF_TUI_STORE=(\S+)$", re.MULTILINE)
_KEYS = re.compile(r"(?<=^\| keys \| action \|\n\|---\|---\|\n)(\|.*\n)*", re.MULTILINE)
_VIEWS = re.compile(r"(?<=^\| view \| shows \|\n\|---\|---\|\n)(\|.*\n)*", re.MULTILINE)
_SOURCES = re.compile(r"(?<=^\| `--as` \| what \| known by \|\n\|---\|---\|---\|\n)(\|.*\n)*", re.MULTILINE)
_LIMITS = re.compile(
    r"(?<=^\| key \| limits \| default \| at most \|\n\|---\|---\|---\|---\|\n)(\|.*\n)*", re.MULTILINE
)
_HEAD = r"(?<=^\| {} \|\n\|---\|---\|---\|---\|\n)(\|.*\n)*"
_STATES = re.compile(_HEAD.format(r"metric \| unit \| better \| of one call"), re.MULTILINE)
_ASPECTS = re.compile(_HEAD.format(r"aspect \| unit \| better \| what it is"), re.MULTILINE)
_LIMITS = re.compile(_HEAD.format(r"key \| limits \| default \| at most"), re.MULTILINE)
_PROGRAM = Path(sys.executable).parent / "riff-tui"


@dataclass(frozen=True)
class Example:
    """A command of a page and the lines that are below it."""

    command: str
    shown: tuple[str, ...]

    def cut(self, printed: str) -> tuple[str, ...]:
        """What a command printed, cut where the page cuts it."""
        lines = tuple(line.rstrip() for line in printed.splitlines())
        if MORE in self.shown:
            place = self.shown.index(MORE)
            return (*lines[:place], MORE)
        return lines


def examples(text: str) -> Iterator[Example]:
    """Every command that a page shows with its output."""
    for block in _BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.rstrip("\n").split("\n")
            yield Example(command, tuple(shown))


def demo_store(folder: Path) -> Path:
    """The store that `riff-tui demo` makes when nobody asks for anything else."""
    subprocess.run([_PROGRAM, "demo"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return folder / "demo" / "demo.db"


def printed(command: str, store: Path) -> str:
    """What a command prints from a store."""
    program, *arguments = shlex.split(command)
    assert program == "riff-tui", command
    done = riff_tui(*arguments, surroundings={**os.environ, "RIFF_TUI_STORE": str(store)})
    assert done.returncode == 0, done.stderr
    return done.stdout


class Workplace:
    """A directory in which the commands of a page run one after the other, with a store of its own."""

    def __init__(self, folder: Path, store: str) -> None:
        self._folder = folder.resolve()
        self.surroundings = {
            **os.environ,
            "PATH": f"{_PROGRAM.parent}{os.pathsep}{os.environ['PATH']}",
            "RIFF_TUI_STORE": store,
        }

    @classmethod
    def with_examples(cls, folder: Path) -> Workplace:
        """Return that of the worked example, with its agents and its judge."""
        place = cls(folder, "leaky.db")
        shutil.copytree(EXAMPLES, folder / "examples")
        place.surroundings["RIFF_TUI_CONFIG"] = "examples/leaky_tap/settings.toml"
        return place

    def run(self, script: str) -> None:
        """Run a script of the page's shell."""
        subprocess.run(["bash", "-euc", script], cwd=self._folder, env=self.surroundings, check=True)

    def printed(self, command: str) -> str:
        """What a command says on both streams, and below that how it ended if it did not end well."""
        program, *arguments = shlex.split(command)
        if program == "cat":
            return "".join((self._folder / name).read_text(encoding="utf-8") for name in arguments)
        assert program == "riff-tui", command
        done = riff_tui(*arguments, directory=self._folder, surroundings=self.surroundings, together=True)
        said = done.stdout.replace(f"{self._folder}/", "")
        return f"{said}exit code {done.returncode}\n" if done.returncode else said


def worked(text: str, folder: Path) -> str:
    """The worked example with what its commands print now, and with what the fixed agent is now."""
    place = Workplace.with_examples(folder)
    code = FIXED.read_text(encoding="utf-8")
    fixed = code[code.index("class ") : code.index("\n\n\nif ")] + "\n"
    return _with_outputs(_CLASS.sub(lambda _: fixed, text), place.printed)


def started(text: str, folder: Path) -> str:
    """Return a page of docs/start/ with what its commands print in an empty directory, those before them run."""
    (store,) = _STORE.findall(text)
    place = Workplace(folder, store)

    def step(found: re.Match[str]) -> str:
        if found[1] == "sh":
            place.run(found[2])
            return found[0]
        return _with_outputs(f"```{found[0]}```", place.printed).removeprefix("```").removesuffix("```")

    return _STEP.sub(step, text)


def rewritten(text: str, store: Path) -> str:
    """A page with what its commands print now."""
    return with_views(_KEYS.sub(lambda _: key_rows(), _with_outputs(text, lambda command: printed(command, store))))


def _with_outputs(text: str, run: Callable[[str], str]) -> str:
    def block(found: re.Match[str]) -> str:
        parts = []
        for example in examples(f"```console\n{found[0]}```"):
            shown = example.cut(run(example.command))
            parts.append("\n".join([f"$ {example.command}", *shown]))
        return "\n\n".join(parts) + "\n"

    return _BLOCK.sub(block, text)


def key_rows() -> str:
    """The rows of the table of keys."""
    return "".join(f"| {_spelled(' '.join(each.keys))} | {each.help} |\n" for each in ACTIONS)


def view_rows() -> str:
    """Return the rows of the table of views."""
    return "".join(f"| `{spec.name}` | {_shown(spec)} |\n" for spec in views())


def _shown(spec: ViewSpec) -> str:
    return spec.help[0] if not spec.command else f"{spec.help[0]} `{spec.command}` prints it."


def with_views(text: str) -> str:
    """Return a page with the views that there are."""
    return _VIEWS.sub(lambda _: view_rows(), text)


def source_rows() -> str:
    """The rows of the table of what is read."""
    return "".join(f"| `{source.kind}` | {source.title} | {source.known_by} |\n" for source in sources())


def with_sources(text: str) -> str:
    """docs/formats/index.md with the sources that there are."""
    return _SOURCES.sub(lambda _: source_rows(), text)


def limit_rows() -> str:
    """The rows of the table of limits."""
    return "".join(
        f"| `{limit.name}` | {limit.metadata['meaning']} | {limit.default:,} {limit.metadata['unit']} "
        f"| {limit.metadata['highest']:,} |\n"
        for limit in dataclasses.fields(Limits)
    )


def with_limits(text: str) -> str:
    """docs/reference.md with the limits that there are."""
    return _LIMITS.sub(lambda _: limit_rows(), text)


def metric_rows(metrics: Iterable[Metric]) -> str:
    """The rows of a table of metrics."""
    return "".join(
        f"| `{metric.key}` | {metric.unit} | {metric.better or '·'} | {metric.definition} |\n" for metric in metrics
    )


def with_metrics(text: str) -> str:
    """docs/metrics.md with the metrics that there are."""
    text = _STATES.sub(lambda _: metric_rows(OF_STATES.values()), text)
    return _ASPECTS.sub(lambda _: metric_rows(OF_CALLS.values()), text)


def _spelled(keys: str) -> str:
    return " ".join(f"`{key}`" for key in keys.split(" "))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        demo = demo_store(Path(made))
        for page in PAGES:
            text = page.read_text(encoding="utf-8")
            if page in (WORKED, *STARTS):
                (place := Path(made) / page.stem).mkdir()
                written = (worked if page == WORKED else started)(text, place)
            else:
                written = rewritten(text, demo)
            page.write_text(written, encoding="utf-8")
    METRICS.write_text(with_metrics(METRICS.read_text(encoding="utf-8")), encoding="utf-8")
    REFERENCE.write_text(with_limits(REFERENCE.read_text(encoding="utf-8")), encoding="utf-8")
    FORMATS.write_text(with_sources(FORMATS.read_text(encoding="utf-8")), encoding="utf-8")
    JSON.write_text(json_page(), encoding="utf-8")
    FLOW_FILE.write_text(flow_file_page(), encoding="utf-8")
    PROMISES.write_text(with_promises(PROMISES.read_text(encoding="utf-8")), encoding="utf-8")
