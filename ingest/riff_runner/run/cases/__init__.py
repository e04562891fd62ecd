"""Decide which calls are made: scenarios, what their callers know, cases of kept calls."""
