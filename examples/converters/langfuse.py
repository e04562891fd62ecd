"""Turn an export of Langfuse into flow transcripts and scores: langfuse.py OBSERVATIONS SCORES DIRECTORY."""

import json
import sys
from collections import defaultdict
from pathlib import Path

from shared import camel, of_file, plain, seconds


def words(value):  # what is in input and output is up to each team: say here where the words are
    if isinstance(value, list):  # messages, of which the last is new, or the parts of one
        if any("type" in each for each in value if isinstance(each, dict)):
            return " ".join(each["text"] for each in value if each.get("type") == "text")
        return words(value[-1]) if value else ""
    if not isinstance(value, dict):
        return str(value or "")
    return "" if value.get("role") == "tool" else words(value.get("messages") or value.get("content"))


observations, scores = ([camel(each, deep=False) for each in of_file(path)] for path in sys.argv[1:3])
calls, directory = defaultdict(list), Path(sys.argv[3])
if not all("traceId" in each for each in observations):
    sys.exit("no observations: those of Langfuse have a traceId (or trace_id)")
call_of = {each["traceId"]: each["traceId"] for each in observations}  # or a session, which any part of it may name
call_of |= {each["traceId"]: each["sessionId"] for each in observations if each.get("sessionId")}
for each in observations:
    calls[call_of[each["traceId"]]].append(each)

with open(directory / "flow-transcripts-langfuse.jsonl", "w", encoding="utf-8") as file:
    for name, found in calls.items():
        found.sort(key=lambda each: each["startTime"])
        start, last, models, turns, tools = seconds(found[0]["startTime"]), 0, [], [], []
        for each in found:
            t, end = seconds(each["startTime"]) - start, seconds(each.get("endTime") or each["startTime"]) - start
            given, last = plain(each.get("input")), max(last, end)
            if each["type"] == "GENERATION":
                model = each.get("model") or each.get("providedModelName")
                models += [model] if model else []
                asked, answer = words(given), words(plain(each.get("output")))
                turns += [{"role": "caller", "text": asked, "t": t}] if asked else []
                agent = {"role": "agent", "text": answer, "t": end, "latency_ms": (end - t) * 1000}
                turns += [agent] if answer else []
            if each["type"] == "TOOL":
                error = (each.get("statusMessage") or "failed") if each.get("level") == "ERROR" else None
                tools.append({"name": each["name"], "t": t, "arguments": given, "error": error})
        flow = found[0].get("traceName") or found[0]["name"]
        call = {"conversation_id": name, "flow": flow, "agent_model": (models or ["(unknown)"])[0]}
        call |= {"duration_s": last, "turns": turns, "tool_calls": tools}
        print(json.dumps(call), file=file)

# Numbers are shares from 0 to 1, unless one of a name is not: nobody knows its scale. Categories are no scores.
numbers = [each for each in scores if each.get("dataType") != "CATEGORICAL" and each.get("value") is not None]
odd = {each["name"] for each in numbers if not 0 <= each["value"] <= 1}
with open(directory / "humanness-langfuse.jsonl", "w", encoding="utf-8") as file:
    for each in scores:
        is_share = each.get("dataType") != "CATEGORICAL" and each.get("value") is not None and each["name"] not in odd
        told = {"judge": each["name"], "aspect": each["name"], "score": 10 * each["value"] if is_share else None}
        told |= {"rationale": each.get("comment") or each.get("stringValue")}
        if call := each.get("sessionId") or call_of.get(each.get("traceId")):
            print(json.dumps({"conversation_id": call} | told), file=file)
