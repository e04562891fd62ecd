"""A state between its predecessors and successors, looked at as a whole."""

from __future__ import annotations

from tests.surface.store import Neighborhood, Predicate, Store, begun, completed


def neighborhood(store: Store, flow: str, state: str, calls: Predicate | None = None) -> Neighborhood:
    """All that is known of a state's surroundings, as the view of it asks for that in two steps."""
    with store.snapshot():
        return completed(store, begun(store, flow, state, calls), calls)
