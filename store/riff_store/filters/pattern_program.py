"""Search texts for regular expressions: run as a program, since a search that never ends can only be killed.

The first line of stdin is a JSON list of regular expressions, each further one a list of pairs of the number of one and
the texts to search. Each is answered by a line that lists for each pair the places of the texts in which it was found.
"""

from __future__ import annotations

import json
import re
import signal
import sys

LONGEST_S = 10
"""How long one line may take; then the program is ended by the alarm."""


def main() -> None:
    """Answer each line until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the process that started it, never before
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    patterns = [re.compile(text) for text in json.loads(sys.stdin.buffer.readline())]
    for line in sys.stdin.buffer:
        signal.alarm(LONGEST_S)
        found = [
            [place for place, text in enumerate(texts) if patterns[number].search(text)]
            for number, texts in json.loads(line)
        ]
        signal.alarm(0)
        sys.stdout.buffer.write(json.dumps(found).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
