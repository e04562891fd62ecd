"""Say when a score passes a call, and how few shared calls say nothing (docs/metrics.md, section 12)."""

from __future__ import annotations

FEWEST = 3
HUMAN = 5.0
"""From this humanness on a judge is taken to say that the call passes."""
PASSED = 10.0
"""The correctness of a call that passes."""
PERSON = "human:"
"""What the name of a judge begins with that is a person; the author follows."""
