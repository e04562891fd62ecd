"""Turn GenAI spans, OTLP in JSON on stdin, into flow transcripts on stdout."""

import json
import sys
from collections import defaultdict

from shared import plain, spans

OPERATION, TALKS = "gen_ai.operation.name", {"chat", "generate_content", "text_completion"}


def words(messages, role):  # of the last message, where it is of this role
    last = (plain(messages) or [{}])[-1]
    parts = last.get("parts", []) if last.get("role") == role else []
    return " ".join(part["content"] for part in parts if part.get("type") == "text")


found = list(spans(sys.stdin.read()))
calls, named = defaultdict(list), {}  # a call is a conversation, which any span of a trace may name, else a trace
for span, known in found:
    if name := known.get("gen_ai.conversation.id"):
        named.setdefault(span["traceId"], name)
for span, known in found:
    name = known.get("gen_ai.conversation.id") or named.get(span["traceId"], span["traceId"])
    calls[name].append((int(span["startTimeUnixNano"]) / 1e9, int(span["endTimeUnixNano"]) / 1e9, span, known))

for name, of_call in calls.items():
    of_call.sort(key=lambda each: each[:2])
    start, state, model, turns, tools = of_call[0][0], "opening", None, [], []
    events = [{"type": "state_entered", "state": state, "t": 0}]
    talks = TALKS & {known.get(OPERATION) for *_, known in of_call}  # spans around these may have their words again
    for t, end, span, known in ((begin - start, end - start, span, known) for begin, end, span, known in of_call):
        model = model or known.get("gen_ai.request.model")
        if tool := known.get("gen_ai.tool.name"):  # the states are the tools that were called
            events.append({"type": "state_exited", "state": state, "to_state": tool, "t": t})
            events.append({"type": "state_entered", "state": (state := tool), "t": t})
            status = span.get("status", {})
            error = (status.get("message") or "failed") if status.get("code") in (2, "STATUS_CODE_ERROR") else None
            arguments = plain(known.get("gen_ai.tool.call.arguments"))
            tools.append({"name": tool, "t": t, "arguments": arguments, "error": error})
        if talks and known.get(OPERATION) not in talks:
            continue
        if said := words(known.get("gen_ai.input.messages"), "user"):
            turns.append({"role": "caller", "text": said, "t": t, "state": state})
        if said := words(known.get("gen_ai.output.messages"), "assistant"):
            wait = (end - turns[-1]["t"]) * 1000 if turns and turns[-1]["role"] == "caller" else None
            turns.append({"role": "agent", "text": said, "t": end, "state": state, "latency_ms": wait})
            events.append({"type": "turn_complete", "t": end, "latency_ms": wait})
    call = {"conversation_id": name, "flow": of_call[0][3].get("service.name", "traced"), "agent_model": model}
    call |= {"origin": "derived", "turns": turns, "events": events, "tool_calls": tools}
    print(json.dumps(call))
