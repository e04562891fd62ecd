"""Book apartment viewings as an agent for riff-tui: it reports in JSON lines what it does, one process a call."""

import json
import sys

STATES = {  # what it says in each state; the answer is the value of the slot before it
    "collect_contact": {"name": "Who is calling?", "phone": "Which number can we call?"},
    "collect_preferences": {"bedrooms": "How many bedrooms?", "move_in": "From when on?", "pets": "Any pets?"},
    "search_units": {"": "There is one that should suit you."},
    "collect_viewing_time": {"viewing_day": "Which day suits you?", "viewing_time": "At what time?"},
    "confirm_viewing": {"": "Shall I book that?"},
    "book_viewing": {},
    "viewing_booked": {"": "It is booked. Goodbye!"},
}


def tell(**message):
    print(json.dumps(message), flush=True)


def ask(**message):
    tell(**message)
    answer = json.loads(sys.stdin.readline())
    if answer["type"] == "end":
        sys.exit(tell(type="bye", status=state))
    return answer


sys.stdin.readline()  # what the call is about: its flow, scenario and tools
tell(type="event", event={"type": "state_entered", "state": (state := "greeting")})
ask(type="ready", agent_model="example-python", states=True)
for following, questions in STATES.items():
    tell(type="event", event={"type": "state_exited", "state": state, "to_state": following})
    tell(type="event", event={"type": "state_entered", "state": (state := following)})
    if state == "search_units":
        ask(type="tool", id="1", name="list_available_units", arguments={"bedrooms": "2"})
    for slot, question in questions.items():
        answer = ask(type="say", text=question)["text"]
        if slot:
            tell(type="event", event={"type": "slot_filled", "slot": slot, "value": answer, "state": state})
