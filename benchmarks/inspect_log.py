"""How quickly a log of Inspect AI gets in, packed and not, against a bare decode of its document."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.ours import ingest_paths
from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes
from tests.support import inspect_logs as logs

TURNS = 30
_TALK = "please the flat on monday is to be seen at ten with a key that the agent keeps in the office"
_WORDS = _TALK.split()
_numbers = count()


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios of the ingest of a log of many samples, in both of its forms."""
    samples = [_sample(number) for number in range(sizes.records)]
    document = logs.write_json(folder / "log.json", samples)
    packed = logs.write_eval(folder / "log.eval", samples)
    for path in (packed, document):
        ours, bare = in_turns(partial(_ingest, path, folder), partial(_decode, document), rounds=sizes.rounds)
        what = f"ingest of a log of Inspect AI ({path.suffix}) ÷ json.loads of its document"
        note = f"{sizes.records} samples, {document.stat().st_size // 1_000_000} MB of JSON"
        yield Ratio(what, ours, bare, "s", Goal("<=", 3.0), note)


def _ingest(path: Path, folder: Path) -> float:
    store = folder / f"inspect-{next(_numbers)}.db"
    try:
        with timed() as watch:
            ingest_paths([path], store, with_text=True)
        return watch.seconds
    finally:
        store.unlink(missing_ok=True)


def _decode(document: Path) -> float:
    with timed() as watch:
        json.loads(document.read_bytes())
    return watch.seconds


def _sample(number: int) -> dict[str, Any]:
    """A sample as long and as wordy as real ones: what is passed over is the most of it."""
    dice = random.Random(number)
    offered = [{"name": f"tool_{place}", "description": _said(dice, 40)} for place in range(6)]
    messages, events = [logs.says("system", _said(dice, 800))], [logs.span("solve", "solver", "call")]
    for turn in range(TURNS):
        at = 5.0 * turn
        call, answer = (
            logs.calls(f"c{turn}", f"tool_{turn % 6}", day="x"),
            logs.says("assistant", _said(dice, 40), f"a{turn}"),
        )
        messages += [
            logs.says("user", _said(dice, 20), f"u{turn}"),
            call,
            logs.answers(f"c-c{turn}", _said(dice, 30)),
            answer,
        ]
        raw = {"request": {"messages": messages[-8:]}, "response": {"content": _said(dice, 40)}}
        events += [
            logs.model(call, at, 0.5, span_id="solve", tools=offered, input=[], call=raw),
            logs.tool(f"c-c{turn}", f"tool_{turn % 6}", at + 1, span_id="solve", result="ok"),
            logs.model(answer, at + 2, 0.7, span_id="solve", tools=offered, input=[], call=raw),
            {"event": "state", "changes": [{"op": "add", "path": "/messages/1", "value": answer}]},
        ]
    scores = {name: {"value": dice.choice("CI"), "explanation": _said(dice, 30)} for name in ("includes", "rubric")}
    return logs.sample(f"s{number}", messages=messages, events=events, scores=scores)


def _said(dice: random.Random, words: int) -> str:
    return " ".join(dice.choices(_WORDS, k=words))
