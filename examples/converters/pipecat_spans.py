"""Turn the spans that pipecat traces, OTLP in JSON on stdin, into flow transcripts on stdout."""

import json
import sys
from collections import defaultdict

from shared import spans

calls = defaultdict(list)  # a trace is a call
for span, known in spans(sys.stdin.read()):
    calls[span["traceId"]].append((int(span["startTimeUnixNano"]) / 1e9, span, known))

for trace, of_call in calls.items():
    of_call.sort(key=lambda each: each[0])
    start, name, model, ended, turns = of_call[0][0], trace, "(unknown)", 0, []
    latency = {span["spanId"]: known.get("turn.user_bot_latency_seconds") for _, span, known in of_call}
    for begin, span, known in of_call:
        ended = max(ended, int(span["endTimeUnixNano"]) / 1e9 - start)
        if span["name"] == "conversation":
            name = known.get("conversation.id", trace)
        if span["name"] == "stt" and known.get("transcript"):
            turns.append({"role": "caller", "text": known["transcript"], "t": begin - start})
        if span["name"] == "llm":
            model = known.get("gen_ai.request.model", model)
            if known.get("output"):  # its first answer in a turn is what the caller waited for
                wait = latency.pop(span.get("parentSpanId"), None)
                turn = {"role": "agent", "text": known["output"], "t": begin - start}
                turns.append(turn | {"latency_ms": None if wait is None else float(wait) * 1000})
    call = {"conversation_id": name, "flow": "traced", "agent_model": model, "duration_s": ended, "turns": turns}
    print(json.dumps(call))
