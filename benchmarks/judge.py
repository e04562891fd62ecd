"""Have many calls judged at once by an endpoint that thinks, beside what its thinking alone takes."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from benchmarks.load import transcript_file
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes
from riff_runner.judge.conversations import find_conversations
from riff_runner.judge.ledger import Ledger
from riff_runner.judge.session import Session
from riff_runner.judge.settings import judge_settings

AT_ONCE = 64
THINKS_S = 0.2


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Seconds from the first question to the last verdict that is kept, in batches of as many as there are at once."""
    calls = AT_ONCE * max(4, sizes.few // 400)
    transcripts = transcript_file(folder, calls + calls // 10)  # a few are errored, and not judged
    ideal = calls / AT_ONCE * THINKS_S
    with _endpoint() as url:
        (seconds,) = in_turns(partial(_judge, folder, transcripts, url, calls), rounds=min(3, sizes.rounds))
    note = f"{calls:,} calls, {AT_ONCE} at once, thinking {THINKS_S * 1000:.0f} ms, {calls / seconds:,.0f} a second"
    yield Ratio("judging ÷ the thinking of the endpoint", seconds, ideal, "s", Goal("<=", 1.25), note)


def _judge(folder: Path, transcripts: Path, url: str, calls: int) -> float:
    out = folder / "judged"
    shutil.rmtree(out, ignore_errors=True)
    described = {"kind": "openai", "base_url": url, "model": "thinking"}
    settings = judge_settings("thinking", {"thinking": described}, folder)
    ledger = Ledger("thinking", lambda run: out / run / "humanness-thinking.jsonl")
    session = Session(settings, find_conversations([transcripts]), ledger)
    with ledger:
        ledger.hold(session.runs())
        plan = session.plan(limit=calls)
        with timed() as watch:
            ended = session.run(plan, {}, at_once=AT_ONCE)
    assert (ended.error, ended.progress.scored) == (None, calls), ended
    return watch.seconds


@contextmanager
def _endpoint() -> Iterator[str]:
    """Serve a model from a process of its own while the block runs."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


def _serve(end: Connection) -> None:
    asyncio.run(_served(end))


async def _served(end: Connection) -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, backlog=AT_ONCE * 2)
    end.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    await server.serve_forever()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request on a connection with the same verdict, once that time has passed."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            await reader.readexactly(int(head.partition(b"content-length:")[2].partition(b"\r\n")[0]))
            await asyncio.sleep(THINKS_S)
            writer.write(_ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def _spelled() -> bytes:
    content = json.dumps({"score": 7, "evidence": [1], "reason": "It sounds like a person who listens."})
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
    body = json.dumps({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()
    return f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


_ANSWER = _spelled()
