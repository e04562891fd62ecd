"""Turn GenAI spans, OTLP in JSON on stdin, into flow transcripts on stdout."""

import json
import sys
from collections import defaultdict

from shared import camel, documents


def attributes(holder):
    return {each["key"]: next(iter(each["value"].values()), None) for each in holder.get("attributes", [])}


def words(messages, role):  # of the last message, where it is of this role
    last = json.loads(messages or "[{}]")[-1]
    parts = last.get("parts", []) if last.get("role") == role else []
    return " ".join(part["content"] for part in parts if part["type"] == "text")


resources = [resource for each in map(camel, documents(sys.stdin.read())) for resource in each.get("resourceSpans", ())]
if not resources:
    sys.exit("no spans: OTLP in JSON has resourceSpans (or resource_spans)")
calls, named = defaultdict(list), {}  # a call is a conversation, which the first span of its trace names, else a trace
for resource in resources:
    for span in (span for scope in resource["scopeSpans"] for span in scope["spans"]):
        known = attributes(resource.get("resource", {})) | attributes(span)
        name = named.setdefault(span["traceId"], known.get("gen_ai.conversation.id", span["traceId"]))
        calls[name].append((int(span["startTimeUnixNano"]) / 1e9, int(span["endTimeUnixNano"]) / 1e9, span, known))

for name, spans in calls.items():
    spans.sort(key=lambda each: each[:2])
    start, state, model, turns, tools = spans[0][0], "opening", None, [], []
    events = [{"type": "state_entered", "state": state, "t": 0}]
    for t, end, span, known in ((begin - start, end - start, span, known) for begin, end, span, known in spans):
        model = model or known.get("gen_ai.request.model")
        if tool := known.get("gen_ai.tool.name"):  # the states are the tools that were called
            events.append({"type": "state_exited", "state": state, "to_state": tool, "t": t})
            events.append({"type": "state_entered", "state": (state := tool), "t": t})
            error = "failed" if span.get("status", {}).get("code") == 2 else None
            arguments = json.loads(known.get("gen_ai.tool.call.arguments", "null"))
            tools.append({"name": tool, "t": t, "arguments": arguments, "error": error})
        if said := words(known.get("gen_ai.input.messages"), "user"):
            turns.append({"role": "caller", "text": said, "t": t, "state": state})
        if said := words(known.get("gen_ai.output.messages"), "assistant"):
            wait = (end - turns[-1]["t"]) * 1000 if turns and turns[-1]["role"] == "caller" else None
            turns.append({"role": "agent", "text": said, "t": end, "state": state, "latency_ms": wait})
            events.append({"type": "turn_complete", "t": end, "latency_ms": wait})
    call = {"conversation_id": name, "flow": spans[0][3].get("service.name", "traced"), "agent_model": model}
    call |= {"origin": "derived", "turns": turns, "events": events, "tool_calls": tools}
    print(json.dumps(call))
