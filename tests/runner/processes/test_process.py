"""A program that speaks lines is a real process: it answers, dies, floods, hangs, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.programs import is_alive, is_gone, is_waiting, program
from tests.surface.runner import STDERR_KEPT, CannotStart, LineProcess, ProcessFailed, Program, Reaper, environment_of
from tests.surface.runner import process as process_module
from tests.surface.store import UsageError

STAYS = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
FOREVER = "while True: time.sleep(600)\n"


@contextlib.asynccontextmanager
async def running(source: str) -> AsyncIterator[LineProcess]:
    process = await LineProcess.start(program(source))
    try:
        yield process
    finally:
        await process.close()


async def failure_of(source: str) -> str:
    async with running(source) as process:
        try:
            while True:
                await process.receive()
        except ProcessFailed as failed:
            return str(failed)


async def test_messages_go_to_and_fro() -> None:
    async with running("for line in sys.stdin: tell(heard=json.loads(line), more=['ж', None])") as process:
        for text in ("one", "t'wo \n \u2028"):
            await process.send({"text": text})
            assert await process.receive() == {"heard": {"text": text}, "more": ["ж", None]}
        assert not process.has_message


async def test_large_messages_go_to_and_fro() -> None:
    text = "x" * 1_000_000
    async with running("for line in sys.stdin: tell(**json.loads(line))") as process:
        await process.send({"text": text})
        assert await process.receive() == {"text": text}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("sys.exit(3)", "it ended, exit status 3"),
        ("sys.exit('no back end\\n\\n')", "it ended, exit status 1: no back end"),
        ("raise ValueError('boom')", "it ended, exit status 1: ValueError: boom"),
        ("pass", "it ended, exit status 0"),
        ("os.kill(os.getpid(), 9)", "it ended, killed by SIGKILL"),
        ("tell(type='say'); sys.stderr.write('n' * 9_000_000 + '\\nlast'); sys.exit(2)", "exit status 2: last"),
        ("print('Loading model ...', flush=True); time.sleep(600)", "not a JSON object: 'Loading model ...'; what is"),
        (r"os.write(1, b'\xff\xfe{}\n')", "a line is not a JSON object: '��{}'"),
        ("sys.stdout.write('x' * 3_000_000); time.sleep(600)", "a line is longer than 1,048,576 bytes"),
        ("while True: sys.stdout.write('x' * 60_000)", "a line is longer than 1,048,576 bytes"),
        ("os.close(1); time.sleep(600)", "it closed its stdout"),
    ],
)
async def test_the_end_of_a_program_is_told_with_its_last_words(source: str, why: str) -> None:
    assert why in await failure_of(source)


async def test_a_program_that_floods_with_nothing_costs_no_memory() -> None:
    source = "for _ in range(16): os.write(2, b'x' * 65_536); os.write(1, b'\\n' * 65_536)\ntell(type='done')"
    async with running(source) as process:
        assert await process.receive() == {"type": "done"}
        assert len(process._channel.complained) <= STDERR_KEPT
        assert process._channel._waiting == 0


async def test_words_without_an_end_of_line_are_heard() -> None:
    async with running("""sys.stdout.write('{"type": "bye"}')""") as process:
        assert await process.receive() == {"type": "bye"}


async def test_a_program_that_floods_is_read_no_faster_than_it_is_listened_to(tmp_path: Path) -> None:
    told = tmp_path / "written"
    source = f"""
for n in range(200):
    tell(n=n, text='x' * 100_000)
    open({str(told)!r}, 'w').write(str(n))
"""
    async with running(source) as process:
        assert (await process.receive())["n"] == 0
        written, looks = 0, 0
        while looks < 5 and written < 199:  # until it can write no more
            await asyncio.sleep(0.1)
            before, written = written, int(told.read_text() or 0) if told.exists() else 0
            looks = looks + 1 if written == before and is_waiting(process._pid) else 0
        assert written < 50
        for n in range(1, 200):
            assert (await process.receive())["n"] == n


async def test_a_program_that_does_not_listen_holds_nobody_up() -> None:
    async with running("os.close(0); tell(type='ready'); time.sleep(600)") as process:
        assert await process.receive() == {"type": "ready"}
        async with asyncio.timeout(60):
            for _ in range(20):
                await process.send({"text": "x" * 1_000_000})


@pytest.mark.parametrize("stubborn", ["", STAYS], ids=["asked", "killed"])
@pytest.mark.parametrize("leader", [FOREVER, "sys.exit(0)"], ids=["stays", "leaves"])
async def test_nothing_of_the_group_is_left(stubborn: str, leader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "reaper", lambda: Reaper(None))  # which only Linux lets find processes
    source = f"""
{stubborn}
child = os.fork()
if child == 0:
    tell(child=os.getpid())
    {FOREVER}
tell(parent=os.getpid())
{leader}
"""
    async with running(source) as process:
        told = {**await process.receive(), **await process.receive()}
    assert await is_gone(told["parent"])
    assert await is_gone(told["child"])


async def test_one_that_left_the_group_and_holds_the_pipes_holds_nobody_up_and_is_ended() -> None:
    source = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        tell(child=os.getpid())
        time.sleep(600)
    os._exit(0)
sys.exit(4)
"""
    process = await LineProcess.start(program(source))
    child = (await process.receive())["child"]
    with pytest.raises(ProcessFailed, match="exit status 4"):
        await process.receive()
    assert is_alive(child)
    await process.close()
    assert await is_gone(child)


async def test_a_program_that_ends_by_itself_is_given_the_time() -> None:
    async with running("tell(type='ready'); sys.stdin.read(); tell(type='bye')") as process:
        assert await process.receive() == {"type": "ready"}
        process.close_stdin()
        assert await process.receive() == {"type": "bye"}


@pytest.mark.parametrize("times", [1, 3])
async def test_who_is_cancelled_while_closing_leaves_nothing_behind(times: int) -> None:
    process = await LineProcess.start(program(f"{STAYS}tell(pid=os.getpid())\n{FOREVER}"))
    pid = (await process.receive())["pid"]
    closing = asyncio.create_task(process.close())
    for _ in range(times):
        await asyncio.sleep(0)
        closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert await is_gone(pid)
    await process.close()


async def test_a_program_sees_of_the_environment_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_KEY", "s3cret")
    monkeypatch.setenv("OTHER_KEY", "s3cret")
    monkeypatch.setenv("LC_TIME", "C")
    source = "tell(**dict(os.environ))"
    for names, seen in (((), None), (("AGENT_KEY",), "s3cret")):
        process = await LineProcess.start(program(source, env=names))
        told = await process.receive()
        await process.close()
        assert told.get("AGENT_KEY") == seen
        assert "OTHER_KEY" not in told
        assert told["LC_TIME"] == "C"
        assert told["PATH"] == os.environ["PATH"]
        assert "s3cret" not in repr(program(source, env=names))


def test_a_variable_that_is_asked_for_has_to_be_there() -> None:
    with pytest.raises(UsageError, match="--agent-env: there is no variable 'NO_SUCH' in the environment; set it"):
        environment_of(["NO_SUCH"], {"PATH": "/bin"}, option="--agent-env")


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("./agents/mine.sh", "--fast"), "mine.sh"),
        ((sys.executable, "-u", "agents/mine.py", "--fast"), "mine.py"),
        (("python3.13", "-m", "my.agent"), "my.agent"),
        (("uv", "run", "python", "mine.py"), "mine.py"),
        (("env", "MODE=1", "./mine"), "mine"),
        (("python3", "-c", "pass"), "python3"),
        (("node",), "node"),
    ],
)
def test_a_program_is_called_by_its_file(argv: tuple[str, ...], name: str) -> None:
    assert Program(argv, {}).name == name


def test_what_cannot_be_started_is_found_out_before(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    for argv, why in (
        (("no-such-program-anywhere",), "no-such-program-anywhere cannot be started: no such program on the PATH"),
        ((str(tmp_path / "missing"),), "missing cannot be started: no such file"),
        ((str(plain),), f"{plain} may not be executed; chmod"),
        ((str(tmp_path),), "cannot be started: no such file"),
    ):
        with pytest.raises(CannotStart, match=why):
            Program(argv, {"PATH": "/usr/bin:/bin"}).check()
    Program(("sh",), {"PATH": "/usr/bin:/bin"}).check()


async def test_what_the_system_does_not_run_is_told_with_its_words(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("no first line\n")
    script.chmod(0o755)
    with pytest.raises(CannotStart, match="script cannot be started: Exec format error"):
        await LineProcess.start(Program((str(script),), {}))
