"""Turn conversations of Dialogflow CX, JSON or rows of BigQuery on stdin, into flow transcripts on stdout."""

import sys
from collections import defaultdict

from shared import Call, camel, documents, plain, seconds


def conversations(values):  # the API's, a page of them, or rows of BigQuery, of which each is a turn
    rows = defaultdict(list)
    for value in values:
        if "conversations" in value:
            yield from conversations(value["conversations"])
        elif "interactions" in value:
            yield value
        elif name := value.get("conversationName") or value.get("conversation_name"):
            row = {key: plain(each) for key, each in camel(value, deep=False).items()}
            rows[name].append(row | {"createTime": (row.get("requestTime") or "").replace(" UTC", "Z")})
        else:
            sys.exit("no conversation: those of Dialogflow CX have interactions, rows of BigQuery a conversation_name")
    for name, found in rows.items():
        found.sort(key=lambda row: row.get("turnPosition", 0))
        yield {"name": name, "interactions": found}


def said(interaction):  # what the caller said and what the agent answered
    request, result = interaction.get("request", {}), interaction.get("response", {}).get("queryResult", {})
    asked = result.get("transcript") or result.get("text") or request.get("queryInput", {}).get("text", {}).get("text")
    texts = [line for each in result.get("responseMessages", []) for line in each.get("text", {}).get("text", [])]
    return interaction.get("requestUtterances") or asked, interaction.get("responseUtterances") or " ".join(texts)


for found in conversations(documents(sys.stdin.read())):
    call, slots, interactions = Call(), {}, found["interactions"]
    if all(each.get("createTime") for each in interactions):  # else the order of the list counts
        interactions.sort(key=lambda each: seconds(each["createTime"]))
    times = [each["createTime"] for each in interactions if each.get("createTime")]
    began = found.get("startTime") or next(iter(times), None)
    flow = "dialogflow"
    for number, interaction in enumerate(interactions):
        result = interaction.get("response", {}).get("queryResult", {})
        t = seconds(interaction["createTime"]) - seconds(began) if interaction.get("createTime") else None
        page, (asked, answer) = result.get("currentPage", {}).get("displayName"), said(interaction)
        flow = (result.get("currentFlow", {}).get("displayName") or flow) if number == 0 else flow
        if asked:
            call.say("caller", asked, t)
        if result.get("match", {}).get("matchType") == "NO_MATCH":  # in the page where it was said
            call.enter(call.state or page, t)
            call.events.append({"type": "guard_evaluated", "guard": "match", "error": "NO_MATCH", "t": t})
        call.enter(page, t)
        for slot, value in result.get("parameters", {}).items():
            if value is not None and slots.get(slot) != value:
                call.events.append({"type": "slot_filled", "slot": slot, "value": value, "state": call.state, "t": t})
                slots[slot] = value
        if answer:
            call.say("agent", answer, t)
    metrics = found.get("metrics", {})
    head = {"conversation_id": found["name"].rsplit("/", 1)[-1], "flow": flow, "started_at": began, "slots": slots}
    head |= {"duration_s": float(found["duration"].removesuffix("s"))} if found.get("duration") else {}
    if metrics.get("hasLiveAgentHandoff"):
        head |= {"stop_reason": "transfer", "final_state": "escalated"}
    elif metrics.get("hasEndInteraction"):
        head["stop_reason"] = "agent_hangup"
    print(call.line(**head))
