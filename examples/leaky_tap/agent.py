"""Answer the phone of a plumber, over JSON lines on stdin and stdout (docs/protocol.md).

It has two flaws, on purpose. docs/worked-example.md finds them, fixed.py fixes them, hasty.py has others.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

TAP = re.compile(r"\b(kitchen|bathroom|shower|balcony)\b", re.IGNORECASE)
PHONE = re.compile(r"\b\d{3}-\d{3}-\d{4}\b")
DAY = re.compile(r"\b(?:next |this coming )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur)day\b")
EARLY = r"(?:nine|ten thirty|ten|eleven fifteen)(?: in the morning)?"
LATE = "(?:one|two thirty|three|four fifteen|quarter to five)"
TIME = re.compile(rf"\b(?:around {LATE}|{LATE} in the afternoon|{EARLY})\b", re.IGNORECASE)
HOURS = {"nine": 9, "ten": 10, "eleven": 11, "one": 1, "two": 2, "three": 3, "four": 4, "quarter to five": 4}
YES = re.compile(r"\b(yes|yep|right|correct|perfect)\b", re.IGNORECASE)
STEPS = {
    "which_tap": (("tap",), "Which tap is it?"),
    "which_unit": (("unit",), "Which unit are you in?"),
    "call_back": (("phone",), "What's the best number to reach you?"),
    "offer_visit": (("day", "time"), "We come from {opens}:00 to {closes}:00. Which day suits you, and what time?"),
    "read_back": ((), "Let me read that back: {tap}, {unit}, {day}, {time}. Is that right?"),
}


class Receptionist:
    """Keep one call: the state that it is in and what was heard."""

    name = "drip-and-sons"
    steps = STEPS
    unit = re.compile(r"(?<!-)\b(?:unit )?\d{2,3}\b(?!-)")

    def __init__(self) -> None:
        self.state = ""
        self.heard: dict[str, Any] = {}

    def hour(self, time: str) -> int:
        """Return the hour that a caller means."""
        return next(hour for word, hour in HOURS.items() if word in time.lower())

    def answer(self, message: dict[str, Any]) -> None:
        """Answer one message of the runner."""
        if message["type"] == "start":
            self.enter("greeting")
            send("ready", agent_model=self.name, states=True, say="Drip & Sons, good morning. What can we do for you?")
        elif message["type"] == "user":
            self.listen(message["text"])
            self.move(message["text"])
            self.speak()
        elif message["type"] == "end":
            send("bye", status=self.state if self.state == "visit_booked" else None)

    def listen(self, text: str) -> None:
        """Note what the caller said about anything that is still open."""
        for slot, form in {"tap": TAP, "unit": self.unit, "phone": PHONE, "day": DAY, "time": TIME}.items():
            if slot not in self.heard and (found := form.search(text)):
                self.note(slot, found[0])

    def note(self, slot: str, value: str) -> None:
        """Note the value of a slot."""
        self.heard[slot] = value
        tell("slot_filled", slot=slot, value=value, state=self.state)

    def move(self, text: str) -> None:
        """Go where the caller's words lead."""
        if self.state == "read_back":
            if YES.search(text):
                self.book()
            return
        self.go_on()

    def go_on(self) -> None:
        """Go on to the first step that something is open of."""
        names = list(self.steps)
        begun = names.index(self.state) if self.state in names else 0
        for step in names[begun:]:
            if step != self.state:
                self.enter(step)
            if not all(slot in self.heard for slot in self.steps[step][0]):
                return

    def book(self) -> None:
        """Book the visit, or offer others if nobody can come at that hour."""
        if self.heard["opens"] <= self.hour(self.heard["time"]) < self.heard["closes"]:
            self.enter("visit_booked")
        else:
            self.enter("offer_visit")
            self.go_on()

    def enter(self, state: str) -> None:
        """Leave one state for the next."""
        if self.state:
            tell("state_exited", state=self.state, to_state=state)
        self.state = state
        tell("state_entered", state=state)
        if state == "offer_visit":
            send("tool", id="1", name="free_visits", arguments={})
            hours = receive()["result"]
            self.heard |= {"opens": hours["from"], "closes": hours["to"]}

    def speak(self) -> None:
        """Report what the state asks for."""
        text = self.steps[self.state][1] if self.state in self.steps else "It's booked. Thank you for calling, goodbye."
        send("say", text=text.format_map(self.heard), final=True)


def receive() -> dict[str, Any]:
    """Wait for a message of the runner; the call is over if none comes."""
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    message: dict[str, Any] = json.loads(line)
    return message


def send(kind: str, **fields: Any) -> None:
    """Send a message to the runner."""
    print(json.dumps({"type": kind, **fields}), flush=True)


def tell(kind: str, **fields: Any) -> None:
    """Tell the runner of an event."""
    send("event", event={"type": kind, **fields})


def take_call(agent: Receptionist) -> None:
    """Answer everything that comes in one call."""
    message = receive()
    while True:
        agent.answer(message)
        if message["type"] == "end":
            return
        message = receive()


if __name__ == "__main__":
    take_call(Receptionist())
