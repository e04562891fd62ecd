"""What a process really loads: the walls of pyproject.toml hold at run time, and quick commands stay quick."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.surface.tui import COMMANDS, views

SLOW = {"textual", "rich", "pydantic", "scipy", "numpy", "hypothesis", "zstandard", "multiprocessing", "asyncio"}
_RUN = "import sys\nfrom riff_tui.cli import run\ncode = run(sys.argv[1:])\n"
_HELP = "import sys\nfrom riff_tui.cli import run\nfor each in sys.argv[1:]:\n    run([*each.split(), '--help'])\n"
_TELL = "print(*sorted(sys.modules), sep='\\n', file=sys.stderr)"


def loaded(program: str, *arguments: str) -> set[str]:
    """The modules that a process of its own has loaded when it ends."""
    code = f"import sys\n{program}\n{_TELL}"
    finished = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(finished.stderr.splitlines())


def packages(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize("ingests", [False, True])
def test_help_loads_neither_the_explorer_nor_the_store(ingests: bool) -> None:
    commands = ["ingest"] if ingests else ["", *(command for command in COMMANDS if command != "ingest")]
    found = loaded(_HELP, *commands)
    names_sources = {"msgspec", "riff_ingest"} if ingests else set()
    assert not packages(found) & (SLOW | {"peewee", "msgspec", "riff_ingest"} - names_sources)
    assert "riff_store.database" not in found
    assert {"riff_tui.cli", "riff_tui.command_line"} <= found


def test_the_list_of_commands_and_what_shells_complete_load_no_command() -> None:
    completing = "from riff_tui.command_line import complete\ncomplete('bash', ['riff-tui '])"
    for program, arguments in ((_RUN, ["--help"]), (_RUN, ["moonshine"]), (completing, [])):
        assert not loaded(program, *arguments) & {f"riff_tui.commands.{module}" for module, _ in COMMANDS.values()}


@pytest.mark.parametrize("view", ["flows", "states", "worklist", "conversations"])
def test_a_dump_loads_what_it_prints_and_nothing_to_draw_with(tiny: Path, view: str) -> None:
    found = loaded(_RUN, "dump", view, "--store", str(tiny))
    assert not packages(found) & (SLOW | {"riff_ingest"})
    assert not any(name.startswith("riff_tui.tui") for name in found)
    assert "riff_store.write.writer" not in found


def test_a_dump_loads_one_question_one_view_and_one_format(tiny: Path) -> None:
    found = loaded(_RUN, "dump", "flows", "--format", "json", "--store", str(tiny))
    others = {view.name for view in views()} - {"flows"}
    # Its rows lead to segments, which are beside states.
    assert not found & {f"riff_tui.views.{name}" for name in others - {"states"}}
    # What to fix first is a state of the worklist.
    assert not found & {f"riff_store.queries.{name}" for name in others - {"states", "worklist"}}
    sinks = {name.rpartition(".")[2] for name in found if name.startswith("riff_tui.output.sinks.")}
    assert sinks == {"json", "parts"}
    assert not found & {"riff_tui.text.redaction", "msgspec", "shlex", "statistics"}


def test_a_dump_for_programs_asks_nothing_of_what_stands_above_rows(tiny: Path) -> None:
    found = loaded(_RUN, "dump", "flows", "--format", "csv", "--store", str(tiny))
    assert "riff_tui.output.sinks.csv" in found
    assert not found & {"hashlib", "platformdirs", "random", "shutil", "socket", "tempfile"}
    assert sum(name.startswith("riff_") for name in found) <= 71
    assert not found & {"riff_store.queries.worklist", "riff_store.queries.steps", "riff_tui.text.palette"}


def test_an_ingest_loads_no_view_and_nothing_to_draw_with(tiny: Path, tmp_path: Path) -> None:
    found = loaded(_RUN, "ingest", str(tiny.parent / "run-1"), "--store", str(tmp_path / "store.db"))
    assert not packages(found) & (SLOW - {"zstandard"})
    assert not any(name.startswith(("riff_tui.tui", "riff_tui.views", "riff_tui.output.sinks")) for name in found)


def test_the_explorer_loads_openssl_once_something_speaks_to_a_server() -> None:
    openssl = {"_hashlib", "_ssl", "ssl"}
    assert not loaded("import riff_tui.tui, hashlib, hmac, secrets") & {*openssl, "importlib.metadata", "numpy"}
    speaking = "import asyncio.base_events as it\nit.sslproto.SSLProtocol, it.ssl.SSLContext\n"
    assert {"_ssl", "ssl"} <= loaded(f"import riff_tui.tui, hashlib\nhashlib.sha256(), hashlib.sha3_512()\n{speaking}")


def test_the_store_stands_alone() -> None:
    folder = Path(__file__).parents[2] / "store"
    parts = [path.relative_to(folder).with_suffix("") for path in sorted(folder.glob("riff_store/**/[a-z]*.py"))]
    found = loaded("import " + ", ".join(".".join(part.parts) for part in parts))
    assert not packages(found) & {"riff_tui", "riff_ingest", "textual", "rich", "click", "scipy"}


def test_only_what_reads_arrays_loads_them() -> None:
    found = loaded(
        "import riff_store.write.writer, riff_store.health, riff_store.queries.flows, riff_store.queries.states"
    )
    assert "numpy" not in packages(found)


def test_ingest_knows_only_what_the_writer_takes() -> None:
    found = loaded("import riff_ingest.pipeline, riff_ingest.driver, riff_runner.simulate")
    assert not packages(found) & {"riff_tui", "textual", "rich", "click", "peewee"}
    taken = ("errors", "facts", "interaction", "measure", "metrics", "plugins", "scoring", "signals", "statement_limit")
    allowed = {f"riff_store.{name}" for name in (*taken, "transcript_columns", "vocabulary", "voice")}
    assert {name for name in found if name.startswith("riff_store.")} <= allowed


def test_views_know_answers_and_tables() -> None:
    views = sorted(path.stem for path in (Path(__file__).parents[2] / "riff_tui" / "views").glob("[a-z]*.py"))
    found = loaded("import " + ", ".join(f"riff_tui.views.{name}" for name in views))
    assert not packages(found) & {"textual", "rich", "click", "peewee", "sqlite3", "riff_ingest"}
    assert not any(name.startswith(("riff_tui.output.sinks", "riff_tui.tui", "riff_store.queries")) for name in found)
