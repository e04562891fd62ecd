"""What the converters beside this file share: JSON in whatever form it was exported, times, and states of a call."""

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path


def camel(value, *, deep=True):  # the names of keys as APIs have them, also where an export wrote them in snake_case
    if isinstance(value, list):
        return [camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    names = {key: re.sub("_(.)", lambda found: found[1].upper(), key) for key in value}
    return {names[key]: camel(each) if deep else each for key, each in value.items()}


def documents(text):  # objects: one, or several behind each other or in lists, on as many lines as each takes
    place = 0
    while (place := re.compile(r"[\s\ufeff]*").match(text, place).end()) < len(text):
        found, place = json.JSONDecoder().raw_decode(text, place)
        yield from found if isinstance(found, list) else [found]


def of_file(path):
    return documents(Path(path).read_text(encoding="utf-8"))


def plain(value):  # exports have JSON in a text
    try:
        return json.loads(value) if isinstance(value, str) and value.strip()[:1] in ("[", "{") else value
    except ValueError:
        return value


def seconds(moment):  # since the epoch, of a number (also of milliseconds) or a text; without a zone it is in UTC
    if isinstance(moment, int | float):
        return moment / 1000 if moment > 1e11 else moment
    found = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def told(
    value,
):  # what an attribute of OTLP contains: whole numbers are texts there, lists and objects lists of their parts
    kind, found = next(iter(value.items()), ("", None))
    if kind == "kvlistValue":
        return {each["key"]: told(each["value"]) for each in found.get("values", [])}
    return [told(each) for each in found.get("values", [])] if kind == "arrayValue" else found


def spans(text):  # of OTLP, each with its attributes and those of its resource
    resources = [resource for each in map(camel, documents(text)) for resource in each.get("resourceSpans", ())]
    if not resources:
        sys.exit("no spans: OTLP in JSON has resourceSpans (or resource_spans)")
    for resource in resources:
        for span in (span for scope in resource.get("scopeSpans", ()) for span in scope.get("spans", ())):
            known = [*resource.get("resource", {}).get("attributes", []), *span.get("attributes", [])]
            yield span, {each["key"]: told(each.get("value", {})) for each in known}


class Call:  # collects a call in its order
    def __init__(self):
        self.turns, self.tools, self.events, self.state = [], [], [], None

    def enter(self, state, t=None):
        if state and state != self.state:
            if self.state:
                self.events.append({"type": "state_exited", "state": self.state, "to_state": state, "t": t})
            self.events.append({"type": "state_entered", "state": state, "t": t})
            self.state = state

    def say(self, role, text, t=None, latency_ms=None):
        turn = {"role": role, "text": text, "t": t, "state": self.state, "latency_ms": latency_ms}
        self.turns.append(turn)
        if role == "agent":
            self.events.append({"type": "turn_complete", "t": t, "latency_ms": latency_ms})
        return turn

    def use(self, name, arguments=None, t=None, key=None):
        self.tools.append({"name": name, "arguments": plain(arguments), "t": t, "state": self.state, "key": key})

    def answer(self, key, result=None, error=None):  # ids come back: it is of the last call that has no answer yet
        waiting = (tool for tool in reversed(self.tools) if tool["key"] == key and "result" not in tool)
        if key is not None and (tool := next(waiting, None)):
            tool |= {"result": plain(result), "error": error}

    def line(self, **head):  # without states the turns are enough
        tools = [{name: value for name, value in tool.items() if name != "key"} for tool in self.tools]
        events = {"events": self.events} if self.state else {}
        return json.dumps(head | {"turns": self.turns, "tool_calls": tools} | events)
