"""Whatever happens in a call, its context is what the rules say, told once more without our code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from riff_ingest.eva import process_history
from tests.support import eva_oracle
from tests.support.eva_events import (
    Happening,
    agent_ends,
    agent_starts,
    answered,
    called,
    caller_ends,
    caller_starts,
    caught,
    heard,
    meant,
    nudged,
    session_ended,
    voiced,
    wrote,
)
from tests.support.examples import examples
from tests.surface.ingest import LogLine, PipelineType
from tests.surface.ingest import logs_events_of as events_of

# Few texts, so that one is said again; some begin alike, hold labels, or lose and change letters in lower case.
TEXTS = (
    "Hello.",
    "I will look that up for you",
    "I will look that up for you right now, and then I call you back",
    "look that up",
    "",
    "…",
    "no[pause]no",
    f"{eva_oracle.UI} well",
    f"{eva_oracle.AI} let me see what I can do for you",
    "İzmir ΣΑΣ and a Straße that is long enough",
    "ΑΣ and a Straße that is ΣΑΣ.Α",
    "  two   blanks   in between of some words ",
    eva_oracle.GENERIC_ERROR,
)
SAYS: tuple[Callable[[float, str], Happening], ...] = (heard, wrote, voiced, meant, caught)
DOES: tuple[Callable[[float], Happening], ...] = (
    caller_starts, caller_ends, agent_starts, agent_ends, nudged, session_ended,
    lambda at: called(at, "Find_Slot", day="Tuesday"), lambda at: answered(at, "Find_Slot", {"free": 2}),
    lambda at: answered(at, "book", None), lambda at: voiced(at, "StartFrame#0", "turn_start"),
    lambda at: voiced(at, "Hello.", "llm_response"),
)  # fmt: skip

texts = st.sampled_from(TEXTS)
# What belongs together in a call that goes well, so that not every history is chaos.
caller_says = texts.map(
    lambda text: [caller_starts, lambda at: meant(at, text), caller_ends, lambda at: heard(at, text.lower())]
)
# The agent's voice is given a text at once, in two pieces, or not to its end.
agent_says = st.tuples(texts, st.sampled_from([0, 3, 22, 26, 27, 40]), st.booleans()).map(
    lambda each: [
        lambda at: wrote(at, each[0]), lambda at: voiced(at, each[0][: each[1]] or each[0]), agent_starts,
        *([lambda at: voiced(at, each[0][each[1] :])] if each[2] else []), lambda at: caught(at, each[0]), agent_ends,
    ]
)  # fmt: skip
single = st.one_of(
    st.tuples(st.sampled_from(SAYS), texts).map(lambda each: [lambda at: each[0](at, each[1])]),
    st.sampled_from(DOES).map(lambda does: [does]),
    st.lists(st.sampled_from(DOES[:4]), max_size=6),
)
scenes = st.lists(st.one_of(caller_says, agent_says, single, single, single), max_size=12)
moved = st.lists(st.tuples(st.integers(0, 40), st.integers(-4, 4)), max_size=6)


def history_of(scenes: list[list[Callable[[float], Happening]]], moved: list[tuple[int, int]]) -> list[Happening]:
    """Scenes one after the other, some events earlier or later than they would be; time may stand or run back."""
    steps = [step for scene in scenes for step in scene]
    for place, by in moved:
        if place < len(steps):
            steps.insert(max(0, place + by), steps.pop(place))
    return [step(0.7 * at - (0.9 if at % 5 == 4 else 0)) for at, step in enumerate(steps)]


def as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, set):
        return sorted(value)
    return [as_json(item) for item in value] if isinstance(value, list | tuple) else value


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.too_slow])
@given(scenes, moved, st.sampled_from(["cascade", "audio_llm", "s2s"]))
def test_a_context_is_what_the_rules_say(
    scenes: list[list[Callable[[float], Happening]]], moved: list[tuple[int, int]], pipeline: PipelineType
) -> None:
    history = history_of(scenes, moved)
    wanted = as_json(eva_oracle.context_of(history, pipeline))
    found = process_history(history, pipeline).to_dict()
    assert {key: found[key] for key in wanted} == wanted


kinds = st.sampled_from(["tts_text"] * 6 + ["turn_start", "turn_end", "llm_response", "transcript"])
frames = st.one_of(
    st.sampled_from(["How", "many", "rolls?"]),
    st.sampled_from(["How many", "How many rolls?", "many rolls?", "  ", ""]),
)
lines_of_the_framework = st.lists(
    st.tuples(kinds, st.integers(1, 6), frames).map(
        lambda line: {"type": line[0], "timestamp": line[1], "data": {"frame": line[2]}}
    ),
    max_size=12,
)


def framework(lines: Sequence[dict[str, Any]]) -> list[tuple[int, str, str]]:
    """Lines as (time, type, text): R5.2 a to f."""
    left = [line for line in lines if line["type"] in ("turn_start", "turn_end", "tts_text", "llm_response")]
    if any(line["type"] == "tts_text" for line in left):
        left = [line for line in left if line["type"] != "llm_response"]
        times = [line.get("timestamp") for line in left if line["type"] == "tts_text"]
        left = [line for line in left if not (is_sentence(line) and times.count(line.get("timestamp")) > 1)]
        left = [line for at, line in enumerate(left) if not (is_sentence(line) and words_follow(left, at))]
    runs: list[list[dict[str, Any]]] = []
    for line in left:
        if runs and runs[-1][0]["type"] == line["type"]:
            runs[-1].append(line)
        else:
            runs.append([line])
    between = {"tts_text": " "}
    return [
        (run[0].get("timestamp", 0), kind, between.get(kind, "").join(line["data"]["frame"] for line in run))
        for run in runs
        for kind in [run[0]["type"]]
    ]


def is_sentence(line: dict[str, Any]) -> bool:
    return line["type"] == "tts_text" and " " in line["data"]["frame"]


def words_follow(lines: Sequence[dict[str, Any]], at: int) -> bool:
    count = len(lines[at]["data"]["frame"].split())
    words = lines[at + 1 : at + 1 + count]
    if len(words) < count or any(word["type"] != "tts_text" or is_sentence(word) for word in words):
        return False
    return " ".join(word["data"]["frame"] for word in words) == str(lines[at]["data"]["frame"])


@given(lines_of_the_framework)
def test_previews_are_taken_out_as_the_rules_say(lines: list[dict[str, Any]]) -> None:
    known = [line for line in lines if line["type"] != "transcript"]
    found = events_of([LogLine(line["type"], line["timestamp"], line["data"]["frame"]) for line in known])
    assert [(each.timestamp_ms, each.event_type, each.data["frame"]) for each in found] == framework(lines)
