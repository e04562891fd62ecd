"""Speak JSON lines with child processes."""
