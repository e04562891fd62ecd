"""Whatever a record holds, wherever it stands: no number, token, signature or secret of a caller gets into a store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import (
    bland_calls,
    elevenlabs_calls,
    livekit_reports,
    pipecat_runs,
    rasa_trackers,
    retell_calls,
    vapi_calls,
)
from tests.support.spots import spots, with_value_at
from tests.surface.ingest import ReadContext, ingest, source_of
from tests.surface.store import Transcripts, Writer, open_store

NUMBER, SECRET, PIN = "+4915112345678", "hunter2-swordfish", "48213"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
LINK = "https://s3.example/x?X-Amz-Signature=SIGSIGSIG"
SAID = f"I am at 0151 12345678, {NUMBER}, 15112345678; {TOKEN} Bearer abcdefgh12345 {LINK}"
OWN = f"{SECRET} and {PIN}, https://rec.example/of-this-call"
NEEDLES = ("12345678", "c2lnbmF0dXJl", "abcdefgh12345", "SIGSIGSIG", SECRET, PIN, "of-this-call")

LINES = {"type": "twilio", "external_number": NUMBER, "agent_number": "+15550100001", "call_sid": "CA1"}
VARIABLES = {"secret__word": SECRET, "secret__pin": int(PIN), "system__caller_id": NUMBER, "plant": "fern"}


def elevenlabs(call: dict[str, Any]) -> dict[str, Any]:
    metadata = {**call["metadata"], "phone_call": LINES}
    return call | {"metadata": metadata, "conversation_initiation_client_data": {"dynamic_variables": VARIABLES}}


def history() -> dict[str, Any]:
    return {"job_id": "J1", "room_name": f"call-{NUMBER}", "session_history": {"items": livekit_reports.history()}}


def pathway_events() -> list[dict[str, Any]]:
    events = bland_calls.events()
    events[-1]["payload"]["body"]["phone"] = NUMBER
    return events


RECORDS: list[tuple[str, Any, str]] = [
    (
        "retell",
        retell_calls.a_day_of_calls()[0]
        | {"from_number": NUMBER, "access_token": SECRET, "recording_url": "https://rec.example/of-this-call"},
        SAID + SECRET,
    ),
    ("vapi", vapi_calls.squad_call() | {"customer": {"number": NUMBER}}, SAID),
    ("vapi", vapi_calls.report(vapi_calls.vapi_call() | {"customer": {"number": NUMBER}}), SAID),
    ("elevenlabs", elevenlabs(elevenlabs_calls.plant_desk()), f"{SAID} {SECRET} and {PIN}."),
    ("elevenlabs", elevenlabs_calls.hook(elevenlabs(elevenlabs_calls.plain())), f"{SAID} {SECRET} and {PIN}."),
    ("elevenlabs", elevenlabs_calls.simulated(), f"{NUMBER} {TOKEN} {LINK}"),
    ("livekit", livekit_reports.handed_over() | {"room": f"call-{NUMBER}"}, SAID),
    ("livekit-history", history(), SAID),
    ("pipecat", pipecat_runs.simulation(), f"{NUMBER} {TOKEN} {LINK}"),
    ("bland", bland_calls.call() | {"to": NUMBER, "recording_url": "https://rec.example/of-this-call"}, SAID),
    ("bland", pathway_events(), SAID),
    ("rasa", rasa_trackers.forms() | {"sender_id": f"whatsapp:{NUMBER}"}, SAID),
]
IDS = ("id", "call_id", "conversation_id", "job_id", "kind", "sender_id", "test_run_id")
"""What names a call is kept as it is; a kind of pipecat's is compared alone."""
WORDS = ("role", "type", "status", "event", "tool_name", "request_id", "toolCallId", "tool_call_id", "result_type",
         "event_type", "user")  # fmt: skip
"""What has to stay a word of the platform for a record to be read as far as can be."""
KNOWN = (
    "number",
    "from_number",
    "external_number",
    "to",
    "phone",
    "room",
    "room_name",
    "secret__word",
    "system__caller_id",
)
LINKS = ("access_token", "recording_url")


def texts(record: Any) -> list[tuple[tuple[Any, ...], str]]:
    """The texts of a record with their places, but for those that name a call and what is private."""
    found = []
    for spot in spots(record):
        value = record
        for key in spot:
            value = value[key]
        if isinstance(value, str) and spot[-1] not in (*IDS, *KNOWN, *LINKS):
            found.append((spot, value))
    return found


def is_word(spot: tuple[Any, ...], value: str) -> bool:
    return spot[-1] in WORDS or value.startswith(("{", "["))


def with_secrets(record: Any, said: str) -> Any:
    for spot, value in texts(record):
        if not is_word(spot, value):
            record = with_value_at(record, spot, f"{value} {said}")
    return record


@pytest.mark.parametrize(
    ("kind", "record", "said"), RECORDS, ids=[f"{kind} {at}" for at, (kind, *_) in enumerate(RECORDS)]
)
def test_no_text_of_a_record_brings_any_of_it_along(tmp_path: Path, kind: str, record: Any, said: str) -> None:
    source = source_of(kind)
    assert source is not None
    path = tmp_path / "a.json"
    changed = [with_value_at(record, spot, f"so {said}") for spot, value in texts(record) if is_word(spot, value)]
    for each in (with_secrets(record, said), *changed):
        path.write_text(json.dumps(each))
        found = repr(list(source.items(path, ReadContext())))
        assert [needle for needle in NEEDLES if needle in found] == []


def test_no_byte_of_a_store_has_any_of_it(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for at, (kind, record, said) in enumerate(RECORDS):
        own = with_secrets(record, said)
        for spot in [each for each in spots(own) if each[-1] in ("id", "call_id", "conversation_id", "job_id")]:
            own = with_value_at(own, spot, f"call {at}")
        (folder / f"{kind}-{at}").mkdir(parents=True)
        (folder / f"{kind}-{at}" / "calls.json").write_text(json.dumps(own))
    # With so many others a dictionary for transcripts is made.
    others = (
        {"conversation_id": f"c{at}", "flow": "f", "turns": [{"role": "agent", "text": "Hi"}]} for at in range(600)
    )
    (folder / "flow-transcripts-a.jsonl").write_text("\n".join(map(json.dumps, others)))
    with open_store(str(tmp_path / "s.db"), write=True, create=True) as store:
        summary = ingest([folder], Writer(store))
        assert sum(result.conversations for result in summary.results) == 600 + len(RECORDS)
        kept = list(store.execute_sql("SELECT body, dictionary_id FROM transcript"))
        assert any(dictionary is not None for _, dictionary in kept)
        reader = Transcripts(store)
        unpacked = b"\n".join(reader.text(*each) for each in kept)
        assert b"[number]" in unpacked
        dictionaries = b"".join(body for (body,) in store.execute_sql("SELECT body FROM text_dictionary"))
    data = unpacked + dictionaries + (tmp_path / "s.db").read_bytes()
    assert [needle for needle in NEEDLES if needle.encode() in data] == []
