"""Turn an export of Langfuse into flow transcripts and scores: langfuse.py OBSERVATIONS SCORES DIRECTORY."""

import json
import sys
from collections import defaultdict
from datetime import datetime
from pathlib import Path


def seconds(moment):  # since the epoch; exports leave out that it is in UTC
    return datetime.fromisoformat(moment.removesuffix("Z") + "+00:00").timestamp()


def words(value):  # what stands in input and output is up to each team: say here where the words are
    if isinstance(value, list):  # messages, of which the last is new
        return words(value[-1]) if value and value[-1].get("role") != "tool" else ""
    return value.get("content") or "" if isinstance(value, dict) else str(value or "")


observations, scores = (list(map(json.loads, Path(path).read_text().splitlines())) for path in sys.argv[1:3])
calls, directory = defaultdict(list), Path(sys.argv[3])
call_of = {each["traceId"]: each.get("sessionId") or each["traceId"] for each in observations}
for each in observations:
    calls[call_of[each["traceId"]]].append(each)

with open(directory / "flow-transcripts-langfuse.jsonl", "w", encoding="utf-8") as file:
    for name, found in calls.items():
        found.sort(key=lambda each: each["startTime"])
        start, models, turns, tools = seconds(found[0]["startTime"]), [], [], []
        for each in found:
            t, end = seconds(each["startTime"]) - start, seconds(each["endTime"] or each["startTime"]) - start
            if each["type"] == "GENERATION":
                models += [each["model"]] if each.get("model") else []
                asked, answer = words(each["input"]), words(each["output"])
                turns += [{"role": "caller", "text": asked, "t": t}] if asked else []
                agent = {"role": "agent", "text": answer, "t": end, "latency_ms": (end - t) * 1000}
                turns += [agent] if answer else []
            if each["type"] == "TOOL":
                error = (each.get("statusMessage") or "failed") if each.get("level") == "ERROR" else None
                tools.append({"name": each["name"], "t": t, "arguments": each["input"], "error": error})
        call = {"conversation_id": name, "flow": found[0]["name"], "agent_model": (models or ["(unknown)"])[0]}
        call |= {"duration_s": end, "turns": turns, "tool_calls": tools}
        print(json.dumps(call), file=file)

with open(directory / "humanness-langfuse.jsonl", "w", encoding="utf-8") as file:
    for each in scores:  # this takes numbers for shares, from 0 to 1; text and categories are no scores
        score = None if each["dataType"] == "CATEGORICAL" or each["value"] is None else 10 * each["value"]
        call = each.get("sessionId") or call_of.get(each["traceId"])
        told = {"conversation_id": call, "judge": each["name"], "aspect": each["name"], "score": score}
        print(json.dumps(told | {"rationale": each.get("comment")}), file=file)
