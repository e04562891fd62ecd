"""Turn calls of Ultravox with their messages into flow transcripts: ultravox.py CALL MESSAGES [CALL MESSAGES ...]."""

import sys

from shared import Call, of_file

ERRORS = ("connection_error", "system_error")


def moment(span, end):  # "1.2s" since the call was created
    value = (span or {}).get(end)
    return float(value.removesuffix("s")) if value else None


if len(sys.argv) < 3 or len(sys.argv) % 2 == 0:
    sys.exit("ultravox.py needs two files: a call (/api/calls/{id}) and its messages (/api/calls/{id}/messages)")
for given, page in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    (about,), call, heard = of_file(given), Call(), None
    if "callId" not in about:
        sys.exit(f"{given} is no call: those of Ultravox have a callId")
    if about.get("endReason") == "unjoined":
        print(f"{given}: nobody joined the call", file=sys.stderr)
        continue
    # A page has its messages under results; one after the other they are the whole call.
    for message in (each for part in of_file(page) for each in part.get("results", [part])):
        kind, text = message.get("role", "").removeprefix("MESSAGE_ROLE_"), message.get("text") or ""
        begin, end = (moment(message.get("timespan"), each) for each in ("start", "end"))
        call.enter(message.get("callStageId"), begin)
        if kind == "USER" and text:
            call.say("caller", text, begin)
            heard = end
        elif kind == "AGENT" and text:
            wait = None if heard is None or begin is None or begin < heard else round((begin - heard) * 1000, 3)
            call.say("agent", text, begin, wait)
            heard = None
        elif kind == "TOOL_CALL":
            call.use(message.get("toolName") or "(unnamed)", text, begin, message.get("invocationId"))
        elif kind == "TOOL_RESULT":
            call.answer(message.get("invocationId"), text, message.get("errorDetails"))
    reason = about.get("endReason")
    head = {"conversation_id": about["callId"], "flow": (about.get("agent") or {}).get("name") or "ultravox"}
    head |= {"agent_model": about.get("model") or "(unknown)", "started_at": about.get("created")}
    if reason in ERRORS:
        head |= {"errored": True, "error": f"it ended with {reason}"}
    print(call.line(**head, stop_reason="error" if reason in ERRORS else reason))
