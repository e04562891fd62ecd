"""What draws on a page sends packets and nothing else, and ends with the server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.support.served_pages import surroundings
from tests.surface.tui import DRIVER

PRELUDE = b"__GANGLION__\n"
CHATTY = """
from textual.app import App
class Chatty(App):
    def on_mount(self):
        print("printed")
        import os, sys
        os.write(1, b"written")
        sys.__stdout__.write("said"); sys.__stdout__.flush()
        self.set_timer(0.05, self.exit)
Chatty().run(mouse=False)
"""


def test_what_anything_prints_is_no_packet() -> None:
    environ = {**surroundings(), "TEXTUAL_DRIVER": DRIVER}
    reads, writes = os.pipe()
    with open(reads) as server, open(writes, "w"):
        done = subprocess.run(
            [sys.executable, "-c", CHATTY], stdin=server, capture_output=True, env=environ, check=True
        )
    assert done.stdout.startswith(PRELUDE)
    left, kinds, drawn = done.stdout.removeprefix(PRELUDE), [], b""
    while left:
        size = int.from_bytes(left[1:5], "big")
        kinds.append(left[:1])
        drawn += left[5 : 5 + size]
        left = left[5 + size :]
    assert set(kinds) == {b"D", b"M"}
    assert b"\x1b[?1003l" in drawn, "the mouse was not wanted"
    assert b"written" in done.stderr
    assert b"said" in done.stderr


BUSY = """
import time
from textual.app import App
from riff_tui.tui.terminal import browser_driver
browser_driver.PATIENCE_S = 0.2
class Busy(App):
    def on_mount(self):
        time.sleep(600)
Busy().run()
"""


def test_the_end_of_the_server_ends_it_whatever_it_does() -> None:
    environ = {**surroundings(), "TEXTUAL_DRIVER": DRIVER, "PYTHONWARNINGS": "ignore"}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", BUSY], stdin=pipe, stdout=pipe, stderr=pipe, env=environ) as busy:
        assert busy.stdin is not None
        assert busy.stdout is not None
        assert busy.stdout.read(len(PRELUDE)) == PRELUDE
        busy.stdin.close()
        try:
            assert busy.wait(30) == -signal.SIGKILL
        finally:
            busy.kill()
