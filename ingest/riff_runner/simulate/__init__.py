"""Simulate calls: a reference state machine, flows with planted weaknesses, and callers who find them."""
