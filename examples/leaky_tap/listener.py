"""Score how human an agent sounds by one rule: an agent that asks the same again and again is a machine.

Use it in place of a model: `riff-tui judge` gives it the prompt on stdin and reads a verdict.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def spoken(prompt: str) -> list[dict[str, Any]]:
    """Return the turns of the call in a prompt, which has a line for each."""
    return [json.loads(line.rstrip(",")) for line in prompt.splitlines() if line.startswith('{"turn":')]


def verdict(turns: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the score, with the turns in which the agent said what it had said before."""
    heard: set[str] = set()
    again = []
    for turn in turns:
        if turn.get("speaker") == "agent":
            if turn["text"] in heard:
                again.append(turn["turn"])
            heard.add(turn["text"])
    said = f"Says the same {len(again) + 1} times over." if again else "Asks for one thing after the other."
    return {"score": max(1, 9 - len(again)), "evidence": again[:3] or [turns[0]["turn"]], "reason": said}


if __name__ == "__main__":
    print(json.dumps(verdict(spoken(sys.stdin.read()))))
