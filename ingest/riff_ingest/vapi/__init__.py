"""Read the calls of Vapi: their records become conversations, and what its own judge said verdicts."""
