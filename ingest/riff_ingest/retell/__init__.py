"""Read the calls of Retell: their records become conversations, and what its own judge said verdicts."""
