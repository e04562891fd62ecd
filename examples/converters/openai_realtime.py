"""Turn logged events of OpenAI's Realtime API into flow transcripts: openai_realtime.py LOG [LOG ...], a call each.

They have no times, so the logger has to add one to each: "t" in seconds, or another of TIMES, also as a moment.
"""

import sys
from pathlib import Path

from shared import Call, of_file, seconds

TIMES = ("t", "time", "timestamp", "received_at", "logged_at")
HEARD = "conversation.item.input_audio_transcription.completed"
SPOKEN = ("response.audio_transcript.done", "response.output_audio_transcript.done", "response.output_text.done")
SOUNDS = ("response.audio.delta", "response.output_audio.delta")

for path in sys.argv[1:]:
    name, model, began, stopped = Path(path).stem, "(unknown)", None, None
    call, names, firsts, words, order = Call(), {}, {}, {}, {}
    for number, event in enumerate(of_file(path), 1):
        stamp = next((event[key] for key in TIMES if event.get(key) is not None), None)
        if stamp is None:
            sys.exit(f'{path}: event {number} has no time; have your logger add "t", in seconds, to each')
        t, kind, item = seconds(stamp), event.get("type"), event.get("item") or {}
        began = t if began is None else began
        if kind == "session.created":
            name, model = event["session"].get("id", name), event["session"].get("model", model)
        # The order is that of items as they first appear: words of the caller come late.
        if (id_ := event.get("item_id") or item.get("id")) is not None:
            order.setdefault(id_, t)
        if kind == "input_audio_buffer.speech_stopped":
            stopped = t
        if kind in SOUNDS and id_ not in firsts:
            firsts[id_], stopped = (t, stopped), None
        if item.get("type") == "function_call" and item.get("name"):
            names[item.get("call_id")] = item["name"]
        if kind == HEARD and event.get("transcript", "").strip():
            words[id_] = ("caller", event["transcript"].strip())
        elif kind in SPOKEN and (text := event.get("transcript") or event.get("text")):
            words[id_] = ("agent", text)
        elif kind == "response.function_call_arguments.done":
            tool = event.get("name") or names.get(event.get("call_id"), "(unnamed)")
            call.use(tool, event.get("arguments"), t - began, event.get("call_id"))
        elif kind == "conversation.item.create" and item.get("type") == "function_call_output":
            call.answer(item.get("call_id"), item.get("output"))
    for id_ in (each for each in sorted(order, key=order.get) if each in words):
        first, heard = firsts.get(id_, (order[id_], None))
        wait = None if heard is None else round((first - heard) * 1000, 3)
        call.say(*words[id_], round(first - began, 3), wait)
    print(call.line(conversation_id=name, flow="realtime", agent_model=model))
