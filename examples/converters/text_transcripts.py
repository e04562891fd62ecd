"""Turn records of calls that have a transcript as text or a list, JSON on stdin, into flow transcripts on stdout.

Synthflow, GoHighLevel, Sarvam, Bolna, Fish Audio, Vogent and others write these. Set below what yours calls things.
"""

import re
import sys

from shared import Call, documents

SIDES = dict.fromkeys(("agent", "ai", "assistant", "bot"), "agent")
SIDES |= dict.fromkeys(("caller", "customer", "human", "user"), "caller")
NAMES = ("call_id", "callId", "conversation_id", "interaction_id", "execution_id", "uuid", "id", "_id")
FLOWS = ("flow", "agent_name", "agentName", "assistant_name", "model_id", "agent_id", "agentId")
WORDS = ("transcript", "transcription", "transcripts", "transcriptText", "messages", "items")
SPEAKERS, TEXTS = ("role", "speaker", "sender", "user"), ("text", "content", "message", "transcript")
BEGINS = ("started_at", "startedAt", "start_time", "created_at", "createdAt", "dateAdded")
ENDS = ("end_call_reason", "end_reason", "endReason", "hangup_reason", "disconnection_reason")


def first(record, keys):
    return next((record[key] for key in keys if record.get(key)), None)


def parted(text):  # a line that begins with a label begins a turn, and others go on with it
    labels = "|".join(map(re.escape, SIDES))
    begins = r"(?:^|(?<=\s))" if "\n" not in text.strip() else r"(?m)^\s*"
    parts = re.split(rf"(?i){begins}({labels})\s*:", text)
    return [{"role": role, "text": said.strip()} for role, said in zip(parts[1::2], parts[2::2], strict=True)]


for record in documents(sys.stdin.read()):
    name, given, call = first(record, NAMES), first(record, WORDS), Call()
    items = parted(given) if isinstance(given, str) else given or []
    speakers = {str(first(item, SPEAKERS)).lower() for item in items}
    if name is None or not items or not speakers <= SIDES.keys():
        unknown = ", ".join(sorted(speakers - SIDES.keys()))
        told = f"SIDES does not have these speakers: {unknown}" if unknown else "no words with a label that SIDES has"
        print(f"left out {name}: {told if name else 'no id'}", file=sys.stderr)
        continue
    for item in items:
        call.enter((item.get("nodeTransition") or {}).get("toNodeId"))
        if text := first(item, TEXTS):
            call.say(SIDES[str(first(item, SPEAKERS)).lower()], text)
    head = {"conversation_id": str(name), "flow": str(first(record, FLOWS) or "calls")}
    began = first(record, BEGINS)
    print(call.line(**head, stop_reason=first(record, ENDS), started_at=began if isinstance(began, str) else None))
