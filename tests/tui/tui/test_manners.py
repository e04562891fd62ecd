"""How the explorer treats a terminal: it takes what that can do, and gives everything back however it ends."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.pty_terminal import ROOT, Terminal, foreign_controls, program
from tests.surface.explorer import TerminalWriter

PROGRAM = "from riff_tui.cli import main; main()"
REMOTE = {"SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"}
_COLOURS = re.compile(rb"\x1b\[([0-9;]*)m")
_SET = re.compile(rb"\x1b\[\?([0-9;]+)h")


def explorer(store: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> Terminal:
    return Terminal(["-c", PROGRAM, "ui", "--store", str(store), *arguments], environ=environ)


def colours(sent: bytes) -> set[str]:
    """Which kinds of colours were set: of the terminal's own sixteen, of 256, of all."""
    found = set()
    for each in _COLOURS.findall(sent):
        codes = each.decode().split(";")
        if "38" in codes or "48" in codes:
            found.add("256" if "5" in codes else "all")
        elif any(code.isdigit() and (30 <= int(code) <= 37 or 90 <= int(code) <= 97) for code in codes):
            found.add("own")
    return found


# Colours, pointer and signs


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({}, {"own"}),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, set()),
        ({"RIFF_TUI_THEME": "dark"}, {"256"}),
    ],
    ids=lambda value: " ".join(f"{name}={text}" for name, text in value.items()) if isinstance(value, dict) else "",
)
def test_colours_are_those_that_the_surroundings_ask_for(tiny: Path, environ: dict[str, str], found: set[str]) -> None:
    with explorer(tiny, "--fresh", environ=environ) as terminal:
        terminal.wait_for("? help")
        terminal.press("j", quiet=0.1)
        assert colours(bytes(terminal.sent)) == found
        assert re.search(rb"\x1b\[(?:[0-9]+;)*7[;m]", terminal.sent)


def test_over_ssh_the_terminals_own_colours_are_taken_whatever_was_chosen_before(tiny: Path) -> None:
    with explorer(tiny) as terminal:
        terminal.wait_for("? help")
        terminal.press("t")
        terminal.wait_for("theme: dark")
        terminal.press("Q")
        assert terminal.end() == 0
    for environ, found in ((REMOTE, {"own"}), ({}, {"256"})):
        with explorer(tiny, environ=environ) as terminal:
            terminal.wait_for("? help")
            assert colours(bytes(terminal.sent)) == found
    with explorer(tiny, "--theme", "dark", environ=REMOTE) as terminal:
        terminal.wait_for("? help")
        assert colours(bytes(terminal.sent)) == {"256"}


@pytest.mark.parametrize(
    ("arguments", "environ", "taken"),
    [((), {}, True), ((), REMOTE, False), (("--mouse",), REMOTE, True)],
    ids=["here", "over ssh", "over ssh with --mouse"],
)
def test_the_mouse_is_taken_where_it_is_near(
    tiny: Path, arguments: tuple[str, ...], environ: dict[str, str], taken: bool
) -> None:
    with explorer(tiny, *arguments, environ=environ) as terminal:
        terminal.wait_for("? help")
        assert (b"\x1b[?1000h" in terminal.sent) == taken
        assert (b"\x1b[?1003h" in terminal.sent) == taken


@pytest.mark.parametrize(
    ("arguments", "environ"),
    [((), {"PYTHONIOENCODING": "ascii"}), (("--ascii",), {})],
    ids=["encoding", "--ascii"],
)
def test_a_terminal_that_wants_ascii_gets_nothing_else(
    tiny: Path, arguments: tuple[str, ...], environ: dict[str, str]
) -> None:
    with explorer(tiny, *arguments, environ=environ) as terminal:
        terminal.wait_for("? help")
        for key in "3\rv?":
            terminal.press(key, quiet=0.1)
        assert terminal.sent.isascii()


def test_terminals_of_any_name_are_drawn_on_with_the_same_few_sequences(tiny: Path) -> None:
    with explorer(tiny, environ={"TERM": "vt220"}) as terminal:
        terminal.wait_for("? help")
        terminal.press("3\r", quiet=0.1)
        assert foreign_controls(bytes(terminal.sent)) == []
        terminal.send("Q")
        assert terminal.end() == 0


# No terminal


def run_without(store: Path, redirections: str, environ: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and stderr of an explorer without some part of a terminal, as a shell starts it."""
    command = shlex.join([sys.executable, "-c", PROGRAM, "ui", "states", "--where", "n>3", "--store", str(store)])
    surroundings = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.environ.get("PYTHONPATH", "."), **(environ or {})}
    done = subprocess.run(
        ["sh", "-c", f"{command} {redirections}"],
        env=surroundings, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("redirections", ["", "< /dev/null", "<&-", "> /dev/null", "2>&1 >/dev/null | cat >&2; exit 2"])
def test_without_a_terminal_it_says_which_dump_prints_the_same(tiny: Path, redirections: str) -> None:
    code, said = run_without(tiny, redirections)
    assert code == 2
    assert said.startswith("riff-tui: error: the explorer needs a terminal")
    assert f"riff-tui dump states --where 'n>3' --store '{tiny}'" in said
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("environ", [{"TERM": "dumb"}, {"TERM": ""}], ids=["dumb", "none"])
def test_a_terminal_that_can_do_nothing_is_none(tiny: Path, environ: dict[str, str]) -> None:
    with explorer(tiny, environ=environ) as terminal:
        assert terminal.end() == 2
        assert b"riff-tui dump flows" in terminal.sent
        assert b"\x1b" not in terminal.sent


def test_it_is_drawn_on_stderr_so_stdout_may_go_elsewhere(tiny: Path, tmp_path: Path) -> None:
    code = f"import os, sys; os.dup2(os.open({str(tmp_path / 'out')!r}, os.O_CREAT | os.O_WRONLY), 1); {PROGRAM}"
    with Terminal(["-c", code, "ui", "--store", str(tiny)]) as terminal:
        terminal.wait_for("? help")
        terminal.press("q")
        assert terminal.end() == 0
    assert (tmp_path / "out").read_bytes() == b""


# Ends


def assert_given_back(terminal: Terminal) -> None:
    """Every mode that was set is unset, the cursor is seen, the other screen left once, the keyboard as before."""
    sent = bytes(terminal.sent)
    alive = {mode for found in _SET.findall(sent) for mode in found.split(b";")}
    for mode in alive - {b"7", b"25"}:
        assert sent.rfind(b"\x1b[?%bl" % mode) > sent.rfind(b"\x1b[?%bh" % mode), mode
    assert {b"1049", b"2004", b"1000", b"1003", b"1004", b"1006"} <= alive
    for mode in (b"7", b"25"):
        assert sent.rfind(b"\x1b[?%bh" % mode) > sent.rfind(b"\x1b[?%bl" % mode), mode
    assert sent.count(b"\x1b[?1049h") == sent.count(b"\x1b[?1049l")
    assert sent.count(b"\x1b[<u") >= 1
    assert terminal.is_as_before
    assert b"Traceback" not in sent


@pytest.mark.parametrize(
    ("number", "where"),
    [
        (signal.SIGTERM, ""),
        (signal.SIGHUP, ""),
        (signal.SIGINT, ""),
        (signal.SIGINT, "/flo"),
        (signal.SIGHUP, "y"),
        (signal.SIGTERM, "3v"),
    ],
    ids=["TERM", "HUP", "INT", "INT filter", "HUP dialog", "TERM graph"],
)
def test_a_signal_gives_everything_back_wherever_one_is(number: signal.Signals, where: str) -> None:
    with program("walk") as terminal:
        terminal.wait_for("? help")
        for key in where:
            terminal.press(key, quiet=0.1)
        terminal.signal(number)
        assert terminal.end() == 128 + number
        assert_given_back(terminal)


@pytest.mark.parametrize(("keys", "code"), [("q", 0), ("Q", 0), ("\x03", 130), ("\rQ", 0)])
def test_a_key_gives_everything_back(keys: str, code: int) -> None:
    with program("walk") as terminal:
        terminal.wait_for("? help")
        terminal.send(keys)
        assert terminal.end() == code
        assert_given_back(terminal)


def test_an_error_of_its_own_gives_everything_back_and_tells_no_callers_words(tiny: Path) -> None:
    breaks = (
        "import riff_tui.tui.widgets.line_table as table\n"
        "def broken(self, y):\n"
        "    words = 'what the caller said'\n"
        "    raise RuntimeError(words)\n"
        "table.LineTable.render_line = broken\n"
    )
    with Terminal(["-c", breaks + PROGRAM, "ui", "--fresh", "--debug", "--store", str(tiny)]) as terminal:
        assert terminal.end() == 1
        sent = bytes(terminal.sent)
        after = sent[sent.rindex(b"\x1b[?1049l") :]
        assert b"/tui/terminal/" in after
        assert b"riff-tui: error: unexpected RuntimeError" in after
        assert b"what the caller said" not in sent.replace(b"words = 'what the caller said'", b"")
        assert terminal.is_as_before


def test_a_terminal_that_hangs_up_ends_it() -> None:
    with program("walk") as terminal:
        terminal.wait_for("? help")
        terminal.hang_up()
        assert terminal.end() == 129


def test_a_terminal_without_a_size_is_drawn_on_once_and_ends_it() -> None:
    with program("walk", sized=False) as terminal:
        terminal.wait_for("? help")
        terminal.take()
        assert "score" in terminal.text
        terminal.hang_up()
        assert terminal.end() == 129


def test_nobody_waits_for_a_terminal_that_hung_up() -> None:
    master, slave = os.openpty()
    with os.fdopen(slave, "w") as terminal:
        os.close(master)
        writer = TerminalWriter(terminal)
        writer.start()
        for _ in range(100):  # more than the queue has room for
            writer.write("words")
        writer.stop()
        assert not writer.is_alive()
        os.dup2(os.open(os.devnull, os.O_WRONLY), slave)


def test_a_terminal_that_hangs_up_without_a_signal_ends_it_as_well(tmp_path: Path) -> None:
    leader = (
        "import pathlib, signal, subprocess, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "code = subprocess.call([sys.executable, '-m', 'tests.support.explorer_programs', 'walk'])\n"
        f"pathlib.Path({str(tmp_path / 'code')!r}).write_text(str(code))\n"
    )
    with Terminal(["-c", leader]) as terminal:
        terminal.wait_for("? help")
        terminal.hang_up()
        assert terminal.end() == 0
    assert (tmp_path / "code").read_text() == "129"


# Suspended, resized, inside others


def test_suspended_it_gives_the_terminal_back_and_takes_and_paints_it_again() -> None:
    with program("walk") as terminal:
        terminal.wait_for("? help")
        terminal.press("j")
        seen = terminal.lines
        terminal.take()
        terminal.signal(signal.SIGTSTP)
        terminal.wait(terminal.stopped, "the stop")
        terminal.take()
        assert_given_back(terminal)
        terminal.screen.reset()
        terminal.signal(signal.SIGCONT)
        terminal.wait_for("? help")
        terminal.take()
        assert terminal.lines == seen
        assert b"\x1b[?1049h" in terminal.sent
        assert len(terminal.press("k")) < 700
        terminal.press("q")
        assert terminal.end() == 0
        assert_given_back(terminal)


def test_continued_without_a_stop_that_it_saw_it_paints_again_and_ends_as_ever() -> None:
    with program("walk") as terminal:
        terminal.wait_for("? help")
        terminal.take()
        seen = terminal.lines
        for number in (signal.SIGSTOP, signal.SIGCONT) * 6:
            terminal.signal(number)
            if number == signal.SIGSTOP:
                terminal.wait(terminal.stopped, "the stop")
                terminal.screen.reset()
            else:
                terminal.wait_for("? help")
                terminal.take()
        assert terminal.lines == seen
        terminal.send("q")
        assert terminal.end() == 0
        assert_given_back(terminal)


def test_ctrl_z_stops_nothing_that_no_shell_could_continue() -> None:
    with program("walk") as terminal:
        terminal.wait_for("? help")
        terminal.press("\x1a")
        terminal.wait_for("no shell is behind it")
        assert not terminal.stopped()
        terminal.press("j")
        assert "? help" in terminal.text


@pytest.mark.parametrize(
    "over",
    ["", "?", "/", *(pytest.param(key, marks=pytest.mark.nightly) for key in ("\x10", "o", "y"))],
    ids=["rows", "help", "filter", "palette", "o", "y"],
)
def test_ctrl_z_goes_back_to_the_shell_and_fg_to_the_same_place_in_a_terminal_of_another_size(over: str) -> None:
    shell = "import os; os.execvp('sh', ['sh', '-i'])"
    with Terminal(["-c", shell], environ={"PS1": "shell> ", "ENV": ""}, cold=True) as terminal:
        terminal.wait_for("shell>")
        modes = terminal.modes
        terminal.send(f"{sys.executable} -m tests.support.explorer_programs walk\n")
        terminal.wait_for("? help")
        terminal.press(f"j{over}")
        terminal.send("\x1a")
        terminal.wait(lambda: b"topped" in terminal.sent, "the stop")
        terminal.wait(lambda: terminal.sent.endswith(b"shell> "), "the prompt")
        assert terminal.modes == modes
        sent = bytes(terminal.sent)
        assert sent.rindex(b"\x1b[?1049l") > sent.rindex(b"\x1b[?1049h")
        assert sent.rindex(b"\x1b[?25h") > sent.rindex(b"\x1b[?25l")
        terminal.send("echo in the $(echo shell)\n")
        terminal.wait_for("in the shell")
        terminal.screen.reset()
        terminal.resize(100, 30)
        terminal.send("fg\n")
        # Pastes are asked for once it takes keys again.
        terminal.wait(lambda: bytes(terminal.sent).rindex(b"\x1b[?2004h") > len(sent), "the explorer")
        assert bytes(terminal.sent).rindex(b"\x1b[?1049h") > len(sent)
        if over:
            terminal.press("\x1b")
        terminal.wait(lambda: "? help" in terminal.lines[29], "the hint line at the foot")
        terminal.wait(lambda: len(terminal.lines[0]) > 90, "the wider first line")
        assert "2 of 3" in terminal.lines[0]
        assert "shell>" not in terminal.text
        terminal.take(quiet=0.4)
        before = terminal.lines
        terminal.press("jk")
        # The hint line follows what was done.
        assert terminal.lines[:-1] == before[:-1]
        terminal.send("Q")
        terminal.wait(lambda: terminal.sent.endswith(b"shell> "), "the prompt")
        assert terminal.modes == modes
        terminal.send("exit 3\n")
        assert terminal.end() == 3


def test_a_storm_of_sizes_ends_with_the_screen_of_the_last_one() -> None:
    with program("walk", width=100, height=30) as terminal:
        terminal.wait_for("? help")
        terminal.press("3\r")
        terminal.take()
        seen = terminal.lines
        for step in range(80):
            terminal.resize(40 + step * 7 % 120, 6 + step * 5 % 40)
        terminal.resize(99, 30)
        terminal.take()
        terminal.resize(100, 30)
        terminal.wait(lambda: terminal.lines == seen)
        terminal.press("Q")
        assert terminal.end() == 0
        assert_given_back(terminal)


@pytest.mark.parametrize("size", [(59, 24), (1, 1)])
def test_too_small_it_says_so_and_grows_again(size: tuple[int, int]) -> None:
    with program("walk") as terminal:
        terminal.wait_for("? help")
        terminal.take()
        seen = terminal.lines
        terminal.resize(*size)
        terminal.take()
        said = "".join(terminal.lines).replace(" ", "")
        assert "riff-tuineeds60×10cells".startswith(said[:23])
        terminal.press("j3")
        terminal.resize(80, 24)
        terminal.wait_for("? help")
        terminal.press("\x1b")
        assert terminal.lines[0].split()[0] == seen[0].split()[0]


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[list[str]]:
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    command = ["tmux", "-S", str(tmp_path / "socket"), "-f", os.devnull]
    yield command
    subprocess.run([*command, "kill-server"], capture_output=True, check=False)


@pytest.mark.parametrize("name", ["tmux-256color", "screen-256color"])
def test_inside_tmux_it_shows_what_it_shows_elsewhere(tiny: Path, tmux: list[str], name: str, tmp_path: Path) -> None:
    def seen() -> list[str]:
        done = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True)
        return [line.rstrip() for line in done.stdout.split("\n")[:24]]

    def wait_for(text: str) -> None:
        ends = time.monotonic() + 120
        while text not in "\n".join(seen()):
            assert time.monotonic() < ends, "\n".join(seen())
            time.sleep(0.05)

    # Of an age that is the same a minute later.
    store = Path(shutil.copy(tiny, tmp_path / "old.db"))
    os.utime(store, ns=(0, 0))
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "store", "ingest"))
    run = shlex.join([sys.executable, "-c", PROGRAM, "ui", "--fresh", "--store", str(store)])
    start = f"printf 'before\\n'; cd {ROOT}; PYTHONPATH={paths} {run}; printf 'ended %s\\n' $?; sleep 600"
    settings = tmp_path / "tmux.conf"
    settings.write_text(f"set-option -g default-terminal {name}\n")
    begin = [*tmux[:-1], str(settings), "new-session", "-d", "-x", "80", "-y", "24", start]
    subprocess.run(begin, check=True, capture_output=True)
    wait_for("? help")
    with explorer(store, "--fresh") as terminal:
        terminal.wait_for("? help")
        terminal.take()
        elsewhere = terminal.lines
    assert seen() == elsewhere
    for key, shown in (("3", "⏎ state "), ("Enter", "v neighbours"), ("v", "v latencies")):
        subprocess.run([*tmux, "send-keys", key], check=True)
        wait_for(shown)
    subprocess.run([*tmux, "send-keys", "Q"], check=True)
    wait_for("ended 0")
    assert seen()[:2] == ["before", "ended 0"]
