"""Turn logged events of Deepgram's Voice Agent into flow transcripts: deepgram.py LOG [LOG ...], a call each.

A line is an event, with a stamp before it (a time of day or a moment) or a time in it as TIMES names them, or neither.
"""

import json
import re
import sys
from pathlib import Path

from shared import Call, seconds

TIMES = ("t", "time", "timestamp", "received_at")
STAMP = re.compile(r"(\d{4}-\d\d-\d\d[T ])?(\d\d):(\d\d):(\d\d(?:[.,]\d+)?)(Z|[+-]\d\d:?\d\d)?")


def moment(before, event):
    given = next((event[key] for key in TIMES if event.get(key) is not None), None)
    if given is not None:
        return seconds(given)
    if not (stamp := STAMP.search(before)):
        return None
    if stamp[1]:
        return seconds(stamp[0].replace(",", "."))
    return int(stamp[2]) * 3600 + int(stamp[3]) * 60 + float(stamp[4].replace(",", "."))


for path in sys.argv[1:]:
    call, began, errors, found = Call(), None, [], 0
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        before, brace, rest = line.partition("{")
        try:
            event = json.loads(brace + rest)
        except ValueError:
            continue  # what else a program prints
        kind, at = event.get("type"), moment(before, event)
        began = at if began is None else began
        t = None if at is None else round((at - began) % 86400, 3)  # a call may go on past midnight
        found += kind in ("ConversationText", "LatencyReport", "FunctionCallRequest", "Welcome")
        if kind == "ConversationText" and event.get("content"):
            call.say("caller" if event.get("role") == "user" else "agent", event["content"], t)
        elif kind == "LatencyReport" and event.get("total_latency") is not None:  # of the answer before it
            answer = next((turn for turn in reversed(call.turns) if turn["role"] == "agent"), {})
            answer["latency_ms"] = answer.get("latency_ms") or round(event["total_latency"] * 1000, 3)
        elif kind == "FunctionCallRequest":
            for function in event.get("functions", []):
                call.use(function["name"], function.get("arguments"), t, function.get("id"))
        elif kind == "FunctionCallResponse":
            call.answer(event.get("id"), event.get("content"))
        elif kind == "Error":
            message = " ".join(filter(None, (event.get("code"), event.get("description"))))
            errors.append({"kind": "platform", "message": message, "t": t})
    if not found:
        sys.exit(f"{path}: no events of a voice agent; speech-to-text of Deepgram (results.channels) is no call")
    print(call.line(conversation_id=Path(path).stem, flow="deepgram", errors=errors))
