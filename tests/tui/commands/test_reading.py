"""The interrupt key while a command reads: it ends at once, whatever the engine is busy with."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surface.tui import ExitCode

_READS = """
import sys, threading
from riff_tui import cli, command_line
from riff_tui.commands.reading import reading
from riff_tui.signals import ending_in_order
from tests.support.endless import ENDLESS, announced

def tell(begun):
    begun.wait()
    print("begun", flush=True)

def endless(arguments):
    with ending_in_order(), reading(sys.argv[1]) as store:
        threading.Thread(target=tell, args=(announced(store),), daemon=True).start()
        store.execute_sql(ENDLESS)

command_line.invoke = endless
sys.exit(cli.run([]))
"""


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, ExitCode.INTERRUPTED),
        (signal.SIGTERM, ExitCode.TERMINATED),
        (signal.SIGHUP, ExitCode.HUNG_UP),
    ],
)
def test_a_signal_ends_what_is_read(tiny: Path, number: signal.Signals, code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _READS, str(tiny)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        said = process.communicate(timeout=60)
    assert (process.returncode, *said) == (code, "", "")
