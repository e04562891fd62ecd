"""What every test may rely on: no setting of the person who runs it gets in, and nothing of theirs is touched."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from tests.support.examples import ENOUGH, FEW
from tests.support.postgresql_server import Server, programs, running

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"

# Machines that run tests are busy at times, so how long an example takes proves nothing.
settings.register_profile("riff-tui", max_examples=FEW, deadline=None, print_blob=True)
# If it is enough that a test fails, nobody waits for the simplest example.
settings.register_profile(
    "first-failure", settings.get_profile("riff-tui"), max_examples=ENOUGH, phases=(Phase.explicit, Phase.generate)
)
settings.register_profile("long", settings.get_profile("riff-tui"), max_examples=20_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "riff-tui"))

# A shell that runs something in the background has it ignore interrupts, `nohup` the end of its terminal, and so would
# all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Programs that tests start are to run as they do for users, who hardly ever have this.
os.environ.pop("PYTHONUNBUFFERED", None)

_DISPLAY = {"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "SSH_CONNECTION", "TMUX"}
_SETTINGS = _DISPLAY | {"GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"}


# Hardly anything of what is imported and collected becomes garbage, so nobody looks for it before that is done.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import a share of the test modules before the others, so that a worker compiles it for all workers."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1 or session.config.args != session.config.getini("testpaths"):
        return
    first = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw"))
    for path in sorted((ROOT / "tests").rglob("test_*.py"))[first::workers]:
        with contextlib.suppress(Exception):  # what is wrong with a module is told where it is collected
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Search for garbage seldom, and never among what was collected: all of it lasts as long as the tests."""
    gc.collect()
    gc.freeze()
    gc.enable()
    # As `riff_tui.cli` has it for each command.
    gc.set_threshold(50_000)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield a folder for each test; `mktemp` would look through those of all tests before."""
    folder = tmp_path_factory.mktemp("homes")
    return (f"{folder}/{number}" for number in itertools.count())


@pytest.fixture
def tmp_path(_homes: Iterator[str]) -> Path:
    """An empty folder; that of pytest is numbered by a look through all others of its name, and tidied up."""
    folder = Path(next(_homes))
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def _own_surroundings(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[str]) -> None:
    """Start each test without settings from the environment and with empty user directories."""
    for name in [name for name in os.environ if name in _SETTINGS or name.startswith("RIFF_TUI_")]:
        monkeypatch.delenv(name)
    home = next(_homes)
    os.mkdir(home)
    monkeypatch.setenv("HOME", home)
    for name, folder in (
        ("XDG_DATA_HOME", "data"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "cache"),
    ):
        monkeypatch.setenv(name, f"{home}/{folder}")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real recordings beside the project; a test that asks for it is skipped where it is missing."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the recordings in ../shared/data")
    return SHARED_DATA


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of `riff-tui demo`, made once for the tests of all workers; nobody writes to it."""
    from tests.readme import demo_store

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    told, store = folder / "demo-is-whole", folder / "demo" / "demo.db"
    with (folder / "demo-lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            assert demo_store(folder) == store
            told.touch()
    return store


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server; a test that asks for it is skipped if none is installed."""
    bin = programs()
    if bin is None:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    pytest.importorskip("psycopg", reason="needs psycopg")
    with running(bin) as server:
        yield server
