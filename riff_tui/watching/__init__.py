"""Watch a run while its calls are made: where it stands, in words and as JSON."""
