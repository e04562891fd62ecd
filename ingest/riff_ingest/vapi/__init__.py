"""Read the calls of Vapi: their records become conversations, and what its own judge said verdicts."""

REPORT = "end-of-call-report"
"""The kind of the message that tells of a call as a whole."""
