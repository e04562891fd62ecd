"""Filters: their meaning, the one way to walk them, and what each of their terms asks of calls."""
