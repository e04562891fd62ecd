"""Logs as Inspect AI writes them, of calls that are made up, and zip files as nobody should write them."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import zstandard

STORED, DEFLATE, ZSTD = 0, 8, 93
START = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


def at(seconds: float) -> str:
    """When something was, in seconds after the calls begin."""
    return (START + timedelta(seconds=seconds)).isoformat()


class Member(NamedTuple):
    """A member of a zip file; `says` replaces fields of its entry in the list of members."""

    name: str
    content: bytes
    method: int
    says: dict[str, int]


def member(name: str, content: Any, method: int = ZSTD, **says: int) -> Member:
    """A member that has JSON, or bytes as they are."""
    return Member(name, content if isinstance(content, bytes) else json.dumps(content).encode(), method, says)


def zip_of(members: Iterable[Member]) -> bytes:
    """The bytes of a zip file; what a member's own header holds besides differs from the list, as in real logs."""
    body, listed, count = b"", b"", 0
    for name, content, method, says in members:
        packed = _packed(content, method)
        entry = {"flags": 0, "method": method, "crc": zlib.crc32(content), "packed": len(packed), "size": len(content)}
        entry |= says
        encoded, extra = name.encode(), struct.pack("<HHI", 0xCAFE, 4, 7)
        common = struct.pack("<HHHHIIIH", entry["flags"], entry["method"], 0, 0x21, entry["crc"], entry["packed"],
                             entry["size"], len(encoded))  # fmt: skip
        listed += b"PK\x01\x02" + struct.pack("<HH", 45, 45) + common
        listed += struct.pack("<HHHHII", 0, 0, 0, 0, 0, entry.get("offset", len(body))) + encoded
        body += b"PK\x03\x04" + struct.pack("<H", 45) + common + struct.pack("<H", len(extra)) + encoded + extra
        body += packed
        count += 1
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(listed), len(body), 0)
    return body + listed + b"PK\x05\x06" + end


def _packed(content: bytes, method: int) -> bytes:
    if method == ZSTD:
        return zstandard.ZstdCompressor().compress(content)
    if method == DEFLATE:
        engine = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return engine.compress(content) + engine.flush()
    return content


def header(**fields: Any) -> dict[str, Any]:
    """The parts of a log of a viewing agent that are the same for all samples; `fields` replace those of `eval`."""
    spec = {
        "eval_id": "e1",
        "run_id": "r1",
        "created": at(0),
        "task": "viewing",
        "task_id": "t1",
        "dataset": {"samples": 2, "sample_ids": ["s1", "s2"]},
        "model": "acme/agent",
        "model_roles": {"user": {"model": "acme/caller"}, "grader": {"model": "acme/grader"}},
        "config": {"epochs": 1},
        "revision": {"type": "git", "origin": "git@example.org:acme/agent.git", "commit": "abc1234", "dirty": False},
        "scorers": [{"name": "includes", "options": {}}, {"name": "model_graded_qa", "options": {}}],
        "metadata": {"branch": "main"},
    }
    return {"version": 2, "status": "success", "eval": spec | fields, "plan": {"name": "plan", "steps": []}}


def says(role: str, content: Any, key: str | None = None, **fields: Any) -> dict[str, Any]:
    """A message; one without an id is as old versions wrote it."""
    return {"role": role, "content": content} | ({} if key is None else {"id": key}) | fields


def calls(key: str, function: str, *, content: str = "", call: str = "", **arguments: Any) -> dict[str, Any]:
    """A message of the agent that calls a tool."""
    called = {"id": call or f"c-{key}", "function": function, "arguments": arguments, "type": "function"}
    return says("assistant", content, key, source="generate", tool_calls=[called])


def answers(call: str, content: Any, **fields: Any) -> dict[str, Any]:
    """A message with what a tool gave back."""
    return says("tool", content, f"m-{call}", tool_call_id=call, **fields)


def model(message: dict[str, Any], began: float, took: float, *, waited: float = 0, **fields: Any) -> dict[str, Any]:
    """The event of a model that answered with a message, after waiting for a rate limit."""
    return {
        "event": "model",
        "timestamp": at(began),
        "completed": at(began + waited + took),
        "working_time": took,
        "output": {"choices": [{"message": message, "stop_reason": "stop"}]},
    } | fields


def tool(call: str, function: str, began: float, **fields: Any) -> dict[str, Any]:
    """The event of a tool that was called."""
    return {
        "event": "tool",
        "id": call,
        "function": function,
        "timestamp": at(began),
        "completed": at(began + 1),
    } | fields


def span(key: str, kind: str, name: str, parent: str | None = None) -> dict[str, Any]:
    """The event of a span that begins."""
    return {"event": "span_begin", "id": key, "type": kind, "name": name, "parent_id": parent, "timestamp": at(0)}


def sample(name: Any = "s1", epoch: Any = 1, **fields: Any) -> dict[str, Any]:
    """A sample of a call without a word, as far as no `fields` show more."""
    return {
        "id": name,
        "epoch": epoch,
        "input": "Hello",
        "target": "booked",
        "messages": [],
        "scores": {},
        "metadata": {"persona": "hurried"},
        "events": [],
        "attachments": {},
        "started_at": at(0),
        "completed_at": at(60),
        "total_time": 60.0,
    } | fields


def viewing(name: Any = "s1", epoch: Any = 1, **fields: Any) -> dict[str, Any]:
    """A sample in which a viewing is booked: the caller's model, a tool and the agent, with times."""
    wish = says("user", "I want to see the flat", "u1", source="input")
    ask = says("assistant", "Which day?", "a1", source="generate")
    day = says("user", "Tuesday", "u2")
    book = calls("a2", "book_viewing", day="Tuesday")
    done = says("assistant", [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Booked."}], "a3")
    events = [
        span("solve", "solver", "call"),
        model(ask, 1, 0.5, waited=3, span_id="solve"),
        model(says("assistant", "Tuesday", "x1"), 5, 0.25, role="user", span_id="solve"),
        model(book, 6, 1, span_id="solve"),
        tool("c-a2", "book_viewing", 7.5, result="ok", span_id="solve"),
        model(done, 9, 2, span_id="solve"),
        span("score", "scorer", "includes"),
        {"event": "score", "timestamp": at(12), "span_id": "score", "score": {"value": "C"}},
    ]
    given = {
        "messages": [says("system", "Be kind."), wish, ask, day, book, answers("c-a2", "ok"), done],
        "events": events,
        "scores": {
            "includes": {"value": "C", "explanation": "It says so."},
            "model_graded_qa": {"value": "P", "explanation": "Half of it."},
        },
    }
    return sample(name, epoch, **(given | fields))


def members(samples: Iterable[dict[str, Any]], method: int = ZSTD, **fields: Any) -> list[Member]:
    """The members of a log as they are written: the journal, the samples, their summaries, the header."""
    found, given = [], header(**fields)
    found.append(member("_journal/start.json", {key: given[key] for key in ("version", "eval", "plan")}, method))
    listed = list(samples)
    found += [member(f"samples/{each['id']}_epoch_{each['epoch']}.json", each, method) for each in listed]
    summaries = [{key: each.get(key) for key in ("id", "epoch", "scores", "error", "limit")} for each in listed]
    found.append(member("summaries.json", summaries, method))
    found.append(member("header.json", given, method))
    return found


def write_eval(path: Path, samples: Iterable[dict[str, Any]], method: int = ZSTD, **fields: Any) -> Path:
    """Write a log as a zip file."""
    path.write_bytes(zip_of(members(samples, method, **fields)))
    return path


def write_json(path: Path, samples: Iterable[dict[str, Any]], **fields: Any) -> Path:
    """Write a log as one JSON document."""
    path.write_text(json.dumps(header(**fields) | {"samples": list(samples)}), encoding="utf-8")
    return path
