"""Files as they should not be, made by hand: the list of reliability promise 8."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def record(name: str = "c-1", **fields: Any) -> dict[str, Any]:
    """A conversation as a line spells it."""
    return {
        "schema": "riff.flow-transcript/1",
        "conversation_id": name,
        "run_id": "nightly",
        "flow": "dental",
        "started_at": "2026-06-22T02:00:07Z",
        "completed": True,
        "stop_reason": "terminal",
        "final_state": "booked",
        "contract": {"success_terminals": ["booked"], "states": {"ask": {"segment": "collect"}}},
        "turns": [{"role": "agent", "text": "Grüezi, when?", "t": 0.0, "state": "ask", "latency_ms": 800}],
        "events": [
            {"type": "state_entered", "t": 0.0, "state": "ask"},
            {"type": "turn_complete", "t": 0.8, "latency_ms": 800},
            {"type": "state_exited", "t": 3.0, "state": "ask", "to_state": "booked", "reason": "done"},
        ],
        **fields,
    }


def text_of(*records: dict[str, Any]) -> str:
    """Lines of JSON, each with its end."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


FIRST, SECOND, THIRD = record("c-1"), record("c-2"), record("c-3")
GOOD = text_of(FIRST, SECOND, THIRD).encode()


def with_line(line: str | bytes) -> bytes:
    """A line between two good ones."""
    middle = line.encode() if isinstance(line, str) else line
    return text_of(FIRST).encode() + middle + b"\n" + text_of(THIRD).encode()


def with_value(name: str, value: str | bytes) -> bytes:
    """A good line with one more field, whose value is spelled out, between two good ones."""
    spelled = value.encode() if isinstance(value, str) else value
    return with_line(text_of(SECOND).encode().rstrip()[:-1] + b', "' + name.encode() + b'": ' + spelled + b"}")


def packed(data: bytes, level: int = 9) -> bytes:
    """Gzip, the same on every day; at level 0 nothing is compressed, so that a cut hits a known place."""
    return gzip.compress(data, level, mtime=0)


def bad_checksum(data: bytes) -> bytes:
    """Gzip whose checksum is another one."""
    whole = bytearray(packed(data))
    whole[-8] ^= 0xFF
    return bytes(whole)


def bomb(megabytes: int) -> bytes:
    """Gzip that unpacks to a thousand times its size."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([*(packer.compress((b" " * 1023 + b"\n") * 1024) for _ in range(megabytes)), packer.flush()])


ALL = ["c-1", "c-2", "c-3"]
OUTER = ["c-1", "c-3"]

FILES: dict[str, tuple[bytes, list[str], str | None]] = {
    # name: content, the conversations in it, how the one thing that is reported begins
    "byte-order-mark": (b"\xef\xbb\xbf" + GOOD, ALL, None),
    "byte-order-mark-inside": (with_line("\ufeff" + text_of(SECOND).rstrip()), ALL, None),
    "crlf": (GOOD.replace(b"\n", b"\r\n"), ALL, None),
    "lone-cr": (GOOD.replace(b"\n", b"\r"), ALL, None),
    "utf-16": (GOOD.decode().encode("utf-16"), ALL, None),
    "utf-16-be": (b"\xfe\xff" + GOOD.decode().encode("utf-16-be"), ALL, None),
    "utf-32": (GOOD.decode().encode("utf-32"), ALL, None),
    "latin-1": (GOOD.decode().encode("latin-1"), ALL, None),
    "blank-lines": (b"\n \n" + GOOD.replace(b"\n", b"\n\n\t\n"), ALL, None),
    "empty": (b"", [], None),
    "no-last-line-end": (GOOD.rstrip(), ALL, None),
    "truncated-last-line": (GOOD[:-40], ALL[:2], "line is not JSON: it ends too early"),
    "two-documents-on-a-line": (with_line('{"flow": "x"} {"flow": "y"}'), OUTER, "line is not JSON: more follows"),
    "scalar": (with_line("42"), OUTER, "line is not a JSON object"),
    "list": (with_line("[]"), OUTER, "line is not a JSON object"),
    "null": (with_line("null"), OUTER, "line is not a JSON object"),
    "nan": (with_value("duration_s", "NaN"), ALL, None),
    "infinite": (with_value("duration_s", "1e999"), ALL, None),
    "seventy-bits": (with_value("trial", str(2**70)), ALL, "trial is not a whole number"),
    "five-thousand-digits": (with_value("trial", "9" * 5000), ALL, None),
    "duplicate-keys": (with_value("flow", '"dental"'), ALL, None),
    "lone-surrogate": (with_value("persona", '"a\\ud800b"'), ALL, None),
    "nul-escaped": (with_value("persona", '"a\\u0000b"'), ALL, None),
    "nul-raw": (with_value("persona", '"a\0b"'), OUTER, "line is not JSON: a control character"),
    "nested-500": (with_value("slots", '{"x":' + "[" * 500 + "]" * 500 + "}"), ALL, None),
    "nested-100000": (with_value("slots", "[" * 100_000 + "]" * 100_000), OUTER, "line is nested too deeply"),
    "unclosed-100000": (with_line("[" * 100_000), OUTER, "line is "),
    "binary": (bytes(range(256)).replace(b"\n", b"").replace(b"\r", b""), [], "line is not JSON"),
    "gzip": (packed(GOOD), ALL, None),
    "gzip-in-two-parts": (packed(text_of(FIRST).encode()) + packed(text_of(SECOND, THIRD).encode()), ALL, None),
    "gzip-with-padding": (packed(GOOD) + b"\0" * 512, ALL, None),
    "gzip-truncated": (packed(GOOD, 0)[:-300], ALL[:2], "gzip data ends too early"),
    "gzip-bad-checksum": (bad_checksum(GOOD), ALL, "gzip data is damaged"),
    "gzip-and-junk": (packed(GOOD) + b"junk", ALL, "something that is not gzip"),
    "gzip-header-only": (packed(GOOD)[:12], [], "gzip data ends too early"),
    "gzip-no-gzip": (b"\x1f\x8bno", [], "gzip data is damaged"),
    "other-schema": (
        with_line(text_of(record("c-2", schema="riff.flow-transcript/2")).strip()),
        OUTER,
        "schema riff.flow-transcript/2 is not supported",
    ),
}


def write_all(directory: Path) -> list[Path]:
    """Every dirty file under a name that transcripts have, sorted."""
    paths = []
    for name, (data, _, _) in sorted(FILES.items()):
        path = directory / f"flow-transcripts-{name}.jsonl"
        path.write_bytes(data)
        paths.append(path)
    return paths


def write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    """A transcript file of these records."""
    path.write_text(text_of(*lines), encoding="utf-8")
    return path


ODD_NAMES = (
    b"with blank",
    b"new\nline",
    b"esc\x1b[2Jape",
    b"quo'te\"s",
    b"-leading-dash",
    b"not-utf8-\xff\xfe",
    "déjà-日本".encode(),
    b"semi;colon&$(x)",
)


def odd_directories(root: Path) -> list[Path]:
    """Directories with names that break things, each with one good transcript file."""
    made = []
    for name in ODD_NAMES:
        directory = root / os.fsdecode(name)
        directory.mkdir()
        write_lines(directory / f"flow-transcripts-{os.fsdecode(name)}.jsonl", [FIRST])
        made.append(directory)
    return made
