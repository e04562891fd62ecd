"""Decide whether a candidate may take a baseline's place, and report it."""
