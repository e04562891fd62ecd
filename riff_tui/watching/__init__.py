"""Watch a run while its calls are made: where it is, in words and as JSON."""
