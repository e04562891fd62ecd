"""The history of a call once more: rules R6 to R8 of docs/eva.md, written from the rules alone.

It shares no code with what it checks, takes no shortcut and trusts its input, so that it can be read beside the
page: events are dictionaries, and so is the answer, with the keys of the context's JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Event: TypeAlias = dict[str, Any]
Entry: TypeAlias = dict[str, Any]
Map: TypeAlias = dict[int, Any]

AI, UI = "[assistant interrupts]", "[user interrupts]"
CBU, CBA = "[likely cut off by user]", "[likely cut off by assistant]"
CSO, LI, PT = "[speaker likely cut itself off]", "[likely interruption]", "[pause]"
GENERIC_ERROR = "I'm sorry, I encountered an error processing your request."


# 6. turns


class Pass:
    """One pass over the history; attributes have the names of the page's table."""

    def __init__(self, pipeline: str) -> None:
        self.pipeline = pipeline
        self.T = self.agent_audio_turn = self.user_audio_turn = 0
        self.agent_spoke = self.user_audio_in_turn = self.tools_in_turn = self.hold = False
        self.user_open = self.agent_open = self.answered = self.speech_in_session = False
        self.rollback = self.rollback_taken_by_stt = self.label_next_user = self.nudge_next = False
        self.parked: list[Event] = []
        self.parked_texts: set[str] = set()
        self.AIT: set[int] = set()
        self.UIT: set[int] = set()
        self.nudged: set[int] = set()
        self.starts: dict[tuple[str, int], list[float]] = {}
        self.ends: dict[tuple[str, int], list[float]] = {}
        self.lastkey: dict[str, tuple[str, int]] = {}
        self.session_end: float | None = None
        self.HU: Map = {}
        self.SU: Map = {}
        self.HA: Map = {}
        self.SA: Map = {}
        self.segs: dict[int, list[str]] = {}
        self.trace: list[Entry] = []

    def take(self, event: Event) -> None:
        kind, data = event["event_type"], event["data"]
        if event["source"] == "audit_log":
            self.audit(kind, data, event["timestamp_ms"])
        elif event["source"] == "pipecat":
            if kind in ("tts_text", "llm_response"):
                self.voice(data["frame"])
        elif kind == "audio_start":
            if data["user"] == "simulated_user":
                self.user_starts()
            else:
                self.agent_starts()
            key = self.lastkey[data["user"]] = (data["user"], self.T)
            self.starts.setdefault(key, []).append(data["audio_timestamp"])
        elif kind == "audio_end":
            self.audio_end(data["user"], data["audio_timestamp"])
        elif kind == "user_speech":
            self.user_speech(event)
        elif kind == "assistant_speech":
            self.assistant_speech(data["data"]["text"], event["timestamp_ms"])
        elif kind == "connection_state" and data["data"]["state"] == "session_ended":
            self.session_end = event["timestamp_ms"] / 1000

    def advance(self, *, from_audio: bool, ignore_hold: bool) -> None:
        if self.hold and not ignore_hold:
            self.hold = False
            if not from_audio:
                self.agent_spoke = False
                return
        if self.agent_spoke:
            self.T += 1
            self.agent_spoke = self.user_audio_in_turn = self.tools_in_turn = False

    def annotate(self, turn: int, role: str, kind: str, label: str) -> None:
        for entry in reversed(self.trace):
            if entry["turn_id"] != turn:
                return
            if entry.get("role") == role and entry["type"] == kind:
                entry["content"] += f" {label}"
                return

    def say(self, role: str, text: str, kind: str, turn: int, at: int | None, **marks: bool) -> None:
        timed = {} if at is None else {"timestamp": at}
        self.trace.append({"role": role, "content": text, **timed, "type": kind, "turn_id": turn, **marks})

    def audit(self, kind: str, data: Any, at: int) -> None:
        t = self.T
        if kind == "user":
            self.heard(data, at)
        elif kind == "assistant" and self.pipeline != "s2s":
            if t in self.AIT and not any(e.get("role") == "assistant" and e["turn_id"] == t for e in self.trace):
                data = f"{AI} {data}"
                self.annotate(t, "user", "transcribed" if self.pipeline == "cascade" else "intended", CBA)
            self.say("assistant", data, "intended", t, at, check=True, nudge=self.nudge_next)
            self.nudge_next = False
        elif kind == "turn_fallback":
            self.nudged.add(t)
            self.nudge_next = True
        elif kind in ("tool_call", "tool_response"):
            self.tools_in_turn = True
            is_call = kind == "tool_call"
            told = {"parameters": data["parameters"]} if is_call else {"tool_response": data.get("response")}
            self.trace.append({"tool_name": data["tool"], **told, "timestamp": at, "type": kind, "turn_id": t})

    def heard(self, text: str, at: int) -> None:
        if self.rollback:
            self.agent_spoke, self.rollback, self.rollback_taken_by_stt = True, False, True
        if self.user_open:
            self.agent_spoke = False
        self.advance(from_audio=False, ignore_hold=self.pipeline == "s2s")
        t = self.T
        if (self.HU.get(t) and t in self.UIT) or self.label_next_user:
            text = f"{UI} {text}"
            self.label_next_user = False
        if self.pipeline == "cascade":
            self.say("user", text, "transcribed", t, at)
        join(self.HU, t, text, f" {AI} " if t in self.AIT else " ")

    def voice(self, text: str) -> None:
        self.agent_spoke = True
        t, prior = self.T, self.SA.get(self.T)
        if prior and t in self.UIT:
            self.annotate(t, "assistant", "intended", CBU)
        elif prior and t in self.AIT:
            self.annotate(t, "assistant", "intended", CSO)
        if not prior and t in self.AIT:
            text = f"{AI} {text}"
        label = CBU if t in self.UIT else PT if self.tools_in_turn else CSO
        join(self.SA, t, text, f" {label} ")
        self.segs.setdefault(t, []).append(text)
        if text == GENERIC_ERROR:
            self.say("assistant", text, "intended", t, None)

    def user_starts(self) -> None:
        if self.agent_open:
            for texts in (self.SA, self.HA):
                if self.T in texts:
                    texts[self.T] += f" {CBU}"
            self.annotate(self.T, "assistant", "intended", CBU)
            self.label_next_user = True
        self.speech_in_session = False
        if self.rollback_taken_by_stt and self.agent_open:
            self.agent_spoke = False
        elif self.rollback:
            self.agent_spoke, self.rollback = True, False
        self.rollback_taken_by_stt = False
        self.advance(from_audio=True, ignore_hold=False)
        if self.label_next_user:
            self.UIT.add(self.T)
        self.user_open = self.user_audio_in_turn = True
        self.user_audio_turn = self.T
        self.answered = False
        for event in self.parked:
            self.take_speech(event)
        self.parked = []

    def agent_starts(self) -> None:
        self.agent_open = True
        self.agent_audio_turn = self.T
        if not self.user_open:
            self.answered = True
            self.agent_spoke = self.agent_spoke or self.pipeline == "s2s"
        if self.user_open and self.user_audio_in_turn:
            self.AIT.add(self.T)
            self.hold = self.hold or not self.tools_in_turn

    def audio_end(self, role: str, at: float) -> None:
        if role in self.lastkey:
            self.ends.setdefault(self.lastkey[role], []).append(at)
        if role == "assistant":
            self.agent_open = False
            return
        self.user_open = False
        if not self.speech_in_session and self.user_audio_in_turn:
            self.T -= 1
            self.user_audio_in_turn = False
            self.rollback = True

    def user_speech(self, event: Event) -> None:
        raw = event["data"]["data"]["text"]
        if not self.user_open and self.answered:
            self.parked.append(event)
            self.parked_texts.add(raw)
            self.speech_in_session = True
        elif raw in self.parked_texts:
            self.parked_texts.remove(raw)
        else:
            self.take_speech(event)

    def take_speech(self, event: Event) -> None:
        text, t = event["data"]["data"]["text"], self.user_audio_turn
        prior = self.SU.get(t)
        shown = f"{UI} {text}" if not prior and self.label_next_user else text
        join(self.SU, t, shown, f" {CSO} ")
        self.speech_in_session = True
        if self.pipeline == "cascade":
            return
        content = shown
        if prior and t in self.UIT:
            content = f"{UI} {shown}"
        elif self.label_next_user:
            content = f"{UI} {shown}"
            self.label_next_user = False
        self.say("user", content, "intended", t, event["timestamp_ms"])

    def assistant_speech(self, text: str, at: int) -> None:
        t = self.agent_audio_turn
        if t == self.T:
            self.agent_spoke = True
        if not self.HA.get(t) and t in self.AIT:
            text = f"{AI} {text}"
        label = UI if t in self.UIT else CSO if t in self.AIT else LI
        join(self.HA, t, text, f" {label} ")
        if self.pipeline == "s2s":
            self.say("assistant", text, "transcribed", t, at)


def join(texts: Map, turn: int, text: str, between: str) -> None:
    texts[turn] = texts[turn] + between + text if texts.get(turn) else text


# 7. after the pass


def context_of(history: Sequence[Event], pipeline: str) -> dict[str, Any]:
    """Return what the context of a history has to be."""
    p = Pass(pipeline)
    for event in history:
        p.take(event)
    end = p.session_end if p.session_end is not None or not history else history[-1]["timestamp_ms"] / 1000
    audio: dict[str, Map] = {"simulated_user": {}, "assistant": {}}
    for (role, turn), starts in p.starts.items():
        ends = p.ends.get((role, turn), [])
        audio[role][turn] = [(start, ends[i] if i < len(ends) else end) for i, start in enumerate(starts)]
    user, agent = audio["simulated_user"], audio["assistant"]
    calls = [entry for entry in p.trace if entry.get("tool_name") and entry.get("parameters") is not None]
    answers = [entry for entry in p.trace if entry.get("tool_response") is not None]
    trace = labelled(grouped(checked(p)), p)
    counts = len(p.HA if pipeline == "s2s" else p.SA), len(p.HU)
    for heard, meant, sound in ((p.HU, p.SU, user), (p.HA, p.SA, agent)):
        for turn in {*heard, *meant, *sound}:
            heard.setdefault(turn, "")
            meant.setdefault(turn, "")
            sound.setdefault(turn, None)
    latency = {turn: round(agent[turn][0][0] - user[turn][-1][1], 6) for turn in user if user[turn] and agent.get(turn)}
    reconcile(trace, p)
    return {
        "transcribed_user_turns": p.HU,
        "intended_user_turns": p.SU,
        "transcribed_assistant_turns": p.HA,
        "intended_assistant_turns": p.SA,
        "audio_timestamps_user_turns": user,
        "audio_timestamps_assistant_turns": agent,
        "latency_assistant_turns": latency,
        "num_assistant_turns": counts[0],
        "num_user_turns": counts[1],
        "num_tool_calls": len(calls),
        "tool_called": [call["tool_name"].lower() for call in calls],
        "tool_params": [{"tool_name": call["tool_name"], "tool_parameters": call["parameters"]} for call in calls],
        "tool_responses": [{key: answer[key] for key in ("tool_name", "tool_response")} for answer in answers],
        "conversation_trace": trace,
        "assistant_interrupted_turns": p.AIT,
        "user_interrupted_turns": p.UIT,
        "fallback_turn_ids": p.nudged,
    }


def checked(p: Pass) -> list[Entry]:
    kept = []
    for entry in p.trace:
        check, nudge = entry.pop("check", False), entry.pop("nudge", False)
        if check and p.pipeline != "s2s":
            content = spoken(entry["content"], p.segs.get(entry["turn_id"], []))
            if content is None and not nudge:
                continue
            entry["content"] = entry["content"] if content is None else content
        kept.append(entry)
    return kept


def bare(text: str) -> str:
    for label in (AI, UI, CBU, CBA, CSO, LI, PT):
        text = text.replace(label, "")
    return text


def n(text: str) -> str:
    return "".join(sign for sign in bare(text) if sign.isalnum()).lower()


def spoken(content: str, segments: Sequence[str]) -> str | None:
    a, said = n(content), [n(segment) for segment in segments if n(segment)]
    if not a or not said:
        return None
    if any(a in segment for segment in said) or a in "".join(said):
        return content
    words = bare(content).split()
    fitting = [
        k for k in range(1, len(words) + 1) if any(segment.startswith(n(" ".join(words[:k]))) for segment in said)
    ]
    if not fitting or len(n(" ".join(words[: fitting[-1]]))) < 20:
        return None
    return " ".join(content.split()[: fitting[-1]])


def grouped(trace: Sequence[Entry]) -> list[Entry]:
    found: list[Entry] = []
    for entry in trace:
        who = entry.get("role"), entry["turn_id"]
        if found and entry.get("role") and (found[-1].get("role"), found[-1]["turn_id"]) == who:
            found[-1]["content"] = " ".join(text for text in (found[-1]["content"], entry["content"]) if text)
        else:
            found.append(entry)
    return found


def labelled(trace: list[Entry], p: Pass) -> list[Entry]:
    for role, label, turns in (("assistant", AI, p.AIT), ("user", UI, p.UIT)):
        for turn in turns:
            own = [entry for entry in trace if entry.get("role") == role and entry["turn_id"] == turn]
            looked_at = own[:1] if role == "assistant" else own
            if own and not any(entry["content"].startswith(label) for entry in looked_at):
                own[0]["content"] = f"{label} {own[0]['content']}"
    return trace


# 8. both ends


def reconcile(trace: list[Entry], p: Pass) -> None:
    if not trace:
        if p.SA.get(0):
            trace.append({"role": "assistant", "content": p.SA[0], "type": "intended", "turn_id": 0})
        return
    if trace[0].get("role") == "user" and trace[0]["turn_id"] > 0:
        greet(trace, p)
    if not p.SU:
        return
    u, last = max(p.SU), trace[-1]
    if u > last["turn_id"]:
        trace.append({"role": "user", "content": p.SU[u], "type": "intended", "turn_id": u})
    else:
        close(trace, last, p)
    p.HU[u] = p.HU.get(u) or p.SU[u]


def greet(trace: list[Entry], p: Pass) -> None:
    for at, entry in enumerate(trace):
        if entry.get("role") == "assistant" and entry["turn_id"] == 0:
            trace.insert(0, trace.pop(at))
            return
    kind = "intended" if p.SA.get(0) else "transcribed"
    content = p.SA.get(0) or p.HA.get(0) or None
    trace.insert(0, {"role": "assistant", "content": content, "type": kind, "turn_id": 0})


def close(trace: list[Entry], last: Entry, p: Pass) -> None:
    if last.get("role") == "assistant":
        x = last["turn_id"]
        last["content"] += f" {CSO}"
    else:
        x = max(p.SA, default=None)
        if x is None or x < last["turn_id"] or not p.SA[x]:
            return
        if any(entry.get("role") == "assistant" and entry["turn_id"] == x for entry in trace):
            return
        trace.append({"role": "assistant", "content": f"{p.SA[x]} {CSO}", "type": "intended", "turn_id": x})
    if p.SA.get(x) and p.pipeline != "s2s":
        p.SA[x] += f" {CSO}"
    p.HA[x] = f"{p.HA[x]} {CSO}" if p.HA.get(x) else p.SA.get(x)
