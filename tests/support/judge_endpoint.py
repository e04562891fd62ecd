"""A real HTTP server on the loopback that plays an endpoint: well, badly, or as an honest but gullible judge."""

from __future__ import annotations

import json
import re
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATH = "/v1/chat/completions"


@dataclass(frozen=True)
class Asked:
    """One request: its headers, and the two messages in it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def rubric(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def call(self) -> str:
        return str(self.body["messages"][1]["content"])

    @property
    def turns(self) -> list[dict[str, Any]]:
        """Return what is in the evidence block."""
        found: list[dict[str, Any]] = json.loads(block(self.call))
        return found


@dataclass(frozen=True)
class Reply:
    """Describe what the server sends back; `promised` is the length it announces if that is a lie."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    promised: int | None = None
    delay: float = 0.0
    drip: float = 0.0


Behaviour = Callable[[Asked], Reply]


class Endpoint:
    """Keep what a test knows of the server: where it is, what it was asked, and how it behaves from now on."""

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self.lock = threading.Lock()
        self.under_way = 0
        self.url = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        endpoint = self.server.endpoint
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or b"{}")
        asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        with endpoint.lock:
            endpoint.asked.append(asked)
            endpoint.under_way += 1
            endpoint.most_at_once = max(endpoint.most_at_once, endpoint.under_way)
        try:
            reply = endpoint.behave(asked)
            time.sleep(reply.delay)
            self._send(reply)
        except OSError:
            self.close_connection = True  # the client has gone
        finally:
            with endpoint.lock:
                endpoint.under_way -= 1

    def do_GET(self) -> None:
        self.do_POST()

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) if reply.promised is None else reply.promised))
        self.end_headers()
        if reply.drip:
            for byte in reply.body:
                self.wfile.write(bytes((byte,)))
                time.sleep(reply.drip)
        else:
            self.wfile.write(reply.body)
        if reply.promised is not None:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.endpoint = endpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is not an error."""


@contextmanager
def serving(behave: Behaviour) -> Iterator[Endpoint]:
    """A server while the block runs."""
    endpoint = Endpoint(behave)
    server = _Server(endpoint)
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(content: Any, *, finish: str = "stop", usage: Any = None) -> Reply:
    """A chat completion with these words."""
    document = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "played",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050} if usage is None else usage,
    }
    return Reply(body=json.dumps(document).encode(), headers={"Content-Type": "application/json"})


def error(status: int, message: str = "no", headers: Mapping[str, str] | None = None, code: str | None = None) -> Reply:
    """An error as the API spells it."""
    body = json.dumps({"error": {"message": message, "type": "x", "code": code}}).encode()
    return Reply(status, body, {"Content-Type": "application/json", **(headers or {})})


def verdict(score: Any = 7, evidence: Any = (1,), reason: Any = "It sounds like a person.") -> str:
    """A verdict as a model spells it."""
    return json.dumps({"score": score, "evidence": list(evidence), "reason": reason})


def well(asked: Asked) -> Reply:
    """A good answer, different from call to call."""
    return completion(verdict(honest_score(asked), [turn["turn"] for turn in asked.turns[:1]]))


class Held:
    """A judge that answers its first calls, and the others once it is released."""

    def __init__(self, answered: int) -> None:
        self._left = answered
        self._lock = threading.Lock()
        self._released = threading.Event()

    def __call__(self, asked: Asked) -> Reply:
        with self._lock:
            self._left -= 1
            is_held = self._left < 0
        assert not is_held or self._released.wait(120)
        return well(asked)

    def release(self) -> None:
        """Answer all calls."""
        self._released.set()


def honest(asked: Asked) -> Reply:
    """An honest judge that repeats in its reason all that the others said."""
    said = " ".join(str(turn.get("text")) for turn in asked.turns if turn.get("speaker") != "agent")
    return completion(verdict(honest_score(asked), [], f"They said: {said}"))


def honest_score(asked: Asked) -> float:
    """A score from the words of the agent in the evidence block, and from nothing else."""
    said = [turn["text"] for turn in asked.turns if turn.get("speaker") == "agent"]
    words = sum(len(text.split()) for text in said)
    return round(10 * len(set(said)) / len(said) * min(1.0, words / (20 * len(said))), 2)


def block(call: str) -> str:
    """The evidence block as a careless reader finds it, who takes anything that looks like an end mark for one."""
    plain = "".join(character for character in call if unicodedata.category(character) != "Cf")
    plain = unicodedata.normalize("NFKC", plain)
    start = re.search(r"<<<\s*EVIDENCE[^>]*>>>", plain)
    assert start, plain
    end = re.compile(r"<{2,}\s*/?\s*END\b", re.IGNORECASE).search(plain, start.end())
    assert end, plain
    return plain[start.end() : end.start()].strip()
